/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a command: sections of columns and rows, findings, errors. Tables, JSON documents, metrics pages and live views
 * are all rendered from it.
 */
#ifndef RD_REPORT_H
#define RD_REPORT_H

#include "base/text.h"
#include "model/shared/finding.h"
#include "model/trace/fnset.h"
#include "report/shared/metrics.h"

enum rd_type {
	RD_T_STR,
	RD_T_UINT,
	RD_T_INT,
	RD_T_DOUBLE,
	RD_T_SHARE, /* a DOUBLE, 0 to 1 (above 1 is possible): a bar in a view, percent in a table, a number in JSON */
	RD_T_BOOL,
	RD_T_TIME,   /* ns since the epoch: RFC 3339 in JSON, local time in a table */
	RD_T_OBJECT, /* a section of exactly one row: a JSON object */
	RD_T_ROWS,   /* a section: a JSON list of objects */
	RD_T_MAP,    /* a section of two columns, name and number: a JSON object keyed by name */
	RD_T_STRS,   /* a section of one column: a JSON list of plain values */
	RD_T_SPARK,  /* a section of one column of shares, oldest first: a sparkline in a view, else as STRS */
};

/* What a view on a narrow terminal may do with the texts of a column. */
enum rd_fit {
	RD_FIT_WHOLE,
	RD_FIT_NAME, /* shorten them in what they have in common */
	RD_FIT_TEXT, /* cut them off at the end */
};

struct rd_column {
	const char *key;   /* the JSON name, with the unit as suffix if any */
	const char *title; /* in a table; NULL: shown in tables only with -o */
	enum rd_type type;
	const char *help; /* one line, for --help and the man page */
	int decimals;	  /* of a DOUBLE */
	bool hidden;	  /* has a title, but is shown only with -o */
	enum rd_fit fit;
	bool scaled;   /* a view writes large numbers as "7.5 M" */
	uint8_t spare; /* left out of a view on a narrow terminal: those with the highest number first; 0: never */
};

struct rd_cell {
	enum rd_known known;
	enum rd_type type : 8; /* the column's */
	bool borrowed;	       /* `s` is not owned */
	union {
		char *s; /* owned, unless borrowed; not to be changed */
		uint64_t u;
		int64_t i;
		double d;
		bool b;
		struct rd_section *sub; /* owned */
	};
};

struct rd_row {
	struct rd_cell *cells; /* one per column of the section */
	size_t n_cells;
	enum rd_severity severity; /* colours the row if RD_SEV_UNKNOWN or worse */
	bool over;		   /* was so, but is not any more: dimmed in a view */
};

/* Fills row `i` of a made section; the cells are unknown before. */
typedef void rd_row_fn(const void *arg, size_t i, struct rd_row *row);

/* Rows are stored, or made: a section with thousands of rows, each of which is read once or twice, holds one of them at a time. Read
 * them with rd_section_row unless the section is known to be stored. */
struct rd_section {
	const char *key;		 /* static */
	const struct rd_column *columns; /* static */
	size_t n_columns;
	struct rd_row *rows; /* NULL if made */
	size_t n, cap;
	rd_row_fn *make;     /* NULL: stored */
	void *arg;	     /* of `make`; owned */
	struct rd_row *made; /* the row that was read last; NULL if stored */
	bool sparse;	     /* documents have no member for a cell without a value */
};

struct rd_report {
	const char *schema; /* "rdmadiag/trace-errno/1" */
	char *host;
	uint64_t time;	    /* ns since the epoch */
	const char *source; /* "live" or "bundle" */
	RD_FIELD(uint64_t) read_at;
	struct rd_section *scalars;   /* single values at the top of a document (`seconds`, `events`), as one row;
				     * NULL: none */
	struct rd_section **sections; /* owned */
	size_t n_sections, cap_sections;
	struct rd_findings findings;
	struct rd_errlist errors;
	/* Shown as text only: documents lack them. */
	char *headline; /* owned; NULL: none */
	char *perfdata; /* owned: performance data of monitoring plugins, behind the headline; NULL: none */
	const struct rd_findings *results; /* not owned: findings, and what passed or was skipped; NULL: findings only */
	struct rd_texts notes;		   /* lines below the tables */
	struct rd_metrics metrics; /* metrics for monitoring systems; filled with --openmetrics and --textfile */
	int status;		   /* the exit code, 0..3 */
};

/* Creates a section with these static columns. */
struct rd_section *rd_section_create(const char *key, const struct rd_column *columns, size_t n_columns);
#define RD_SECTION(key, columns) rd_section_create(key, columns, RD_ARRAY_SIZE(columns))
/* Creates a section of `n` rows that are made when they are read. `arg`: freed with the section; what it points to must outlive the
 * section. */
struct rd_section *rd_section_create_made(const char *key, const struct rd_column *columns, size_t n_columns, size_t n,
					  rd_row_fn *make, void *arg);
void rd_section_destroy(struct rd_section *section);
static inline void rd_section_destroyp(struct rd_section **section)
{
	rd_section_destroy(*section);
}
#define _cleanup_section_ __attribute__((cleanup(rd_section_destroyp)))

/* Row `i` (below section->n) of any section. The pointer is valid until another row of the section is read. */
const struct rd_row *rd_section_row(const struct rd_section *section, size_t i);

/* Makes all rows of a made section and stores them: it no longer needs what its rows are made from. */
void rd_section_store(struct rd_section *section);

/* Adds a row of unknown cells. The pointer is valid until the next row is added. */
struct rd_row *rd_section_add(struct rd_section *section);

/* Cells of a row: text, unknown if NULL; numbers; fields, which may be unknown; a sub-section, of which the row takes ownership.
 * The row copies a text, but not a borrowed one: that must outlive the section, unless rd_section_store copies it. */
#define RD_UNKNOWN_CELL ((struct rd_cell){ .known = RD_ABSENT })
#define RD_STR(text) rd_cell_text(text)
#define RD_BORROW(text) rd_cell_borrowed(text)
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

/* Sets a cell of a row, by the index of the column. A value that does not have the type of the column (UINT also fits TIME) leaves the
 * cell unknown. */
void rd_row_set(struct rd_row *row, size_t column, struct rd_cell value);

/* The commands of a fix in this column, its advice in the next. */
void rd_row_fix(struct rd_row *row, size_t column, const char *fix);

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

void rd_report_init(struct rd_report *report, const char *schema);
void rd_report_deinit(struct rd_report *report);

/* Adds a line below the tables. */
void rd_report_note(struct rd_report *report, const char *fmt, ...) RD_PRINTF(2, 3);

/* Takes ownership of the section, and returns it. */
struct rd_section *rd_report_add(struct rd_report *report, struct rd_section *section);

/* Takes section `i` out of the report. */
struct rd_section *rd_report_take(struct rd_report *report, size_t i);

/* Adds the metrics of every page: exit code, findings by severity, errors, time, version. Each has `command` as a label, so that
 * the pages of several commands can be combined. */
void rd_metrics_add_report(struct rd_metrics *metrics, const struct rd_report *report, const char *command,
			   const char *version);

/* Adds a sample to the family for each row of the section whose column `value` is known. Its labels are the columns `columns`
 * (at most 8, terminated by -1), named by their keys. */
void rd_metrics_add_section(struct rd_metric *family, const struct rd_section *section, size_t value,
			    const int *columns);

/* Adds copies of the findings. */
void rd_report_add_findings(struct rd_report *report, const struct rd_findings *findings);

/* One line about the worst finding that stands, the first of several: "critical: mlx5_0/1: port is not ACTIVE; DOWN", escaped; NULL: none is
 * a warning or critical. The caller frees it. */
char *rd_findings_alarm(const struct rd_findings *findings, enum rd_severity *ret_severity);

/* The exit code of the findings: 2 if any is critical, else 1 if any is a warning, else 0. Muted findings do not count. */
int rd_report_judge(const struct rd_report *report);

/* The map "backends": hooked functions by backend. */
struct rd_section *rd_report_backends(const size_t per_backend[RD_BACKEND_COUNT]);

/* The name of a negative errno, or its number, written to `digits`, if it has no name. RD_ERRNO has a place for them that lasts as long
 * as the block. */
#define RD_ERRNO_WORD 16
#define RD_ERRNO(err) rd_errno_word(err, (char[RD_ERRNO_WORD]){ 0 })
const char *rd_errno_word(int err, char *digits);

#endif
