/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric/share.h"

#include <stdlib.h>

void rd_share_files_deinit(struct rd_share_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		rd_findings_deinit(&files->v[i].findings);
	RD_FREE(files->v, files->rows, files->seen);
	rd_texts_deinit(&files->texts);
	*files = (struct rd_share_files){ 0 };
}
