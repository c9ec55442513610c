/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/remark.h"

#include <errno.h>

static void release(const struct rd_remark *remark)
{
	free(remark->subject);
	free(remark->observed);
	free(remark->expected);
	free(remark->fix);
}

int rd_remark_add(struct rd_remarks *list, const struct rd_remark *remark)
{
	if (remark->subject && rd_grow(&list->v, &list->cap, list->n + 1, sizeof(*list->v)) == 0) {
		list->v[list->n++] = *remark;
		return 0;
	}
	release(remark);
	return -ENOMEM;
}

void rd_remarks_deinit(struct rd_remarks *remarks)
{
	for (size_t i = 0; i < remarks->n; i++)
		release(&remarks->v[i]);
	free(remarks->v);
	*remarks = (struct rd_remarks){ 0 };
}
