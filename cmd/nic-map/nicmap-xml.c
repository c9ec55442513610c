/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --nccl-xml */
#include "analyse/nccl/nccl-xml.h"
#include "nicmap.h"

int nicmap_show_xml(struct rd_ctx *ctx, struct nicmap *nm)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	(void)ctx;
	rd_nccl_xml_write(&nm->host, &out);
	rd_out(&out);
	return RD_EXIT_OK;
}
