/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets cells from facts that may be unknown; unknown facts leave the cell empty. */
#ifndef RD_REPORT_FIELD_H
#define RD_REPORT_FIELD_H

#include "report/shared/report.h"

/* `field`: an RD_FIELD of numbers. */
#define RD_ROW_UINT(row, column, field)                      \
	do {                                                 \
		if ((field).known == RD_OK)                  \
			rd_row_uint(row, column, (field).v); \
	} while (0)
#define RD_ROW_DOUBLE(row, column, field)                      \
	do {                                                   \
		if ((field).known == RD_OK)                    \
			rd_row_double(row, column, (field).v); \
	} while (0)

/* A GID of 16 bytes, as in sysfs; as the IP address that it contains. */
void rd_row_gid(struct rd_row *row, size_t column, const uint8_t *raw);
void rd_row_gid_ip(struct rd_row *row, size_t column, const uint8_t *raw);

#endif
