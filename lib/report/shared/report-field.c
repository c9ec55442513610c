/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/shared/report-field.h"

#include <string.h>

#include "model/host/host.h"

static void set_gid(struct rd_row *row, size_t column, const uint8_t *raw,
		    void (*text_of)(const struct rd_gid *, char *))
{
	struct rd_gid gid;
	char text[64];

	memcpy(gid.raw, raw, sizeof(gid.raw));
	text_of(&gid, text);
	rd_row_str(row, column, text);
}

void rd_row_gid(struct rd_row *row, size_t column, const uint8_t *raw)
{
	set_gid(row, column, raw, rd_gid_text);
}

void rd_row_gid_ip(struct rd_row *row, size_t column, const uint8_t *raw)
{
	set_gid(row, column, raw, rd_gid_ip);
}
