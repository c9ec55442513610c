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

static int by_gravity(const void *a, const void *b, void *arg)
{
	static const int rank[] = {
		[RD_REMARK_CRITICAL] = 0, [RD_REMARK_WARNING] = 1, [RD_REMARK_UNKNOWN] = 2, [RD_REMARK_OK] = 3
	};
	const struct rd_remark *v = arg, *x = &v[*(const size_t *)a], *y = &v[*(const size_t *)b];

	if (x->gravity != y->gravity)
		return rank[x->gravity] - rank[y->gravity];
	return (x > y) - (x < y); /* else in the order they were found */
}

int rd_remarks_sort(struct rd_remarks *remarks)
{
	_cleanup_free_ size_t *order = calloc(remarks->n + 1, sizeof(*order));
	struct rd_remark *sorted = calloc(remarks->n + 1, sizeof(*sorted));

	if (!order || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < remarks->n; i++)
		order[i] = i;
	qsort_r(order, remarks->n, sizeof(*order), by_gravity, remarks->v);
	for (size_t i = 0; i < remarks->n; i++)
		sorted[i] = remarks->v[order[i]];
	free(remarks->v);
	remarks->v = sorted;
	remarks->cap = remarks->n + 1;
	return 0;
}
