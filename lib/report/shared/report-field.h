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

/* Cells of a row, for RD_ROW: text, unknown if NULL; numbers; fields, which may be unknown; a sub-section, of which the row takes
 * ownership. */
#define RD_UNKNOWN_CELL ((struct rd_cell){ .known = RD_ABSENT })
#define RD_STR(text) rd_cell_text(text)
#define RD_BORROW(text) rd_cell_borrowed(text) /* see rd_row_borrow */
#define RD_UINT(n) ((struct rd_cell){ .known = RD_OK, .type = RD_T_UINT, .u = (n) })
#define RD_POSITIVE(n) ((n) ? RD_UINT(n) : RD_UNKNOWN_CELL) /* 0: unknown */
#define RD_INT(n) ((struct rd_cell){ .known = RD_OK, .type = RD_T_INT, .i = (n) })
#define RD_DOUBLE(n) ((struct rd_cell){ .known = RD_OK, .type = RD_T_DOUBLE, .d = (n) })
#define RD_BOOL(is) ((struct rd_cell){ .known = RD_OK, .type = RD_T_BOOL, .b = (is) })
#define RD_UINT_OF(field) ((struct rd_cell){ .known = (field).known, .type = RD_T_UINT, .u = (field).v })
#define RD_DOUBLE_OF(field) ((struct rd_cell){ .known = (field).known, .type = RD_T_DOUBLE, .d = (field).v })
#define RD_BOOL_OF(field) ((struct rd_cell){ .known = (field).known, .type = RD_T_BOOL, .b = (field).v })
#define RD_SUB(section) rd_cell_sub(section)
static inline struct rd_cell rd_cell_text(const char *text)
{
	return (struct rd_cell){ .known = text ? RD_OK : RD_ABSENT, .type = RD_T_STR, .s = (char *)text };
}

static inline struct rd_cell rd_cell_borrowed(const char *text)
{
	struct rd_cell cell = rd_cell_text(text);

	cell.borrowed = text;
	return cell;
}

static inline struct rd_cell rd_cell_sub(struct rd_section *sub)
{
	return (struct rd_cell){ .known = sub ? RD_OK : RD_ABSENT, .type = RD_T_ROWS, .sub = sub };
}

/* Adds a row with these cells, in the order of the columns; those left out at the end are unknown. Returns the row. */
#define RD_ROW(section, ...)                                             \
	rd_section_put(section, (const struct rd_cell[]){ __VA_ARGS__ }, \
		       sizeof((const struct rd_cell[]){ __VA_ARGS__ }) / sizeof(struct rd_cell))
struct rd_row *rd_section_put(struct rd_section *section, const struct rd_cell *cells, size_t n);
/* The same into a row of unknown cells. */
#define RD_CELLS(row, ...)                                       \
	rd_row_put(row, (const struct rd_cell[]){ __VA_ARGS__ }, \
		   sizeof((const struct rd_cell[]){ __VA_ARGS__ }) / sizeof(struct rd_cell))
void rd_row_put(struct rd_row *row, const struct rd_cell *cells, size_t n);

/* A section with these columns and one row of these cells. */
#define RD_OBJECT(key, columns, ...)                                                         \
	rd_section_of_row(RD_SECTION(key, columns), (const struct rd_cell[]){ __VA_ARGS__ }, \
			  sizeof((const struct rd_cell[]){ __VA_ARGS__ }) / sizeof(struct rd_cell))
static inline struct rd_section *rd_section_of_row(struct rd_section *section, const struct rd_cell *cells, size_t n)
{
	rd_section_put(section, cells, n);
	return section;
}

/* A GID of 16 bytes, as in sysfs; as the IP address that it contains. */
void rd_row_gid(struct rd_row *row, size_t column, const uint8_t *raw);
void rd_row_gid_ip(struct rd_row *row, size_t column, const uint8_t *raw);

#endif
