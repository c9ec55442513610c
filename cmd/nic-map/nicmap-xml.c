/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --nccl-xml */
#include <errno.h>

#include "analyse/nccl-xml.h"
#include "nicmap.h"

int nicmap_show_xml(struct rd_ctx *ctx, struct nicmap *nm)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err;

	if (rd_nccl_xml_write(&nm->host, &out) < 0) {
		rd_err_set(&err, ENOMEM, "--nccl-xml", "no memory for the file");
		return rd_fail(ctx, &err);
	}
	rd_out(&out);
	return RD_EXIT_OK;
}
