/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of what lines of logs mean, which sites can extend (data/explain); reads logs, and keeps the lines that are recognized: each
 * form about the same objects once, with a count. */
#ifndef RD_ANALYSE_EXPLAIN_LOG_H
#define RD_ANALYSE_EXPLAIN_LOG_H

#include "base/buf.h"
#include "base/err.h"
#include "model/explain/explain.h"

/*
 * Adds the stanzas of `text` (NUL-terminated, `size` bytes, at most RD_TABLE_BYTES: else -EFBIG with `err` filled), in the format that the
 * head of data/explain describes. `name` is for messages: what cannot be read is skipped, with a note. A form or code of a table that was
 * read earlier takes precedence over one with the same name.
 */
int rd_log_forms_parse(const char *name, const char *text, size_t size, struct rd_log_forms *ret,
		       struct rd_errlist *notes, struct rd_err *err);

/* The code of a table with this value; with this name or alias, ignoring case; or whose name or alias is in `text`, the longest. NULL: none. */
const struct rd_log_form *rd_log_code(const struct rd_log_forms *forms, const char *table, uint64_t value);
const struct rd_log_form *rd_log_code_named(const struct rd_log_forms *forms, const char *table, const char *name);
const struct rd_log_form *rd_log_code_in(const struct rd_log_forms *forms, const char *table, const char *text);

/* Whether there is such a table. */
bool rd_log_has_table(const struct rd_log_forms *forms, const char *table);

/* The form, or code of any table, with this name; NULL: none. */
const struct rd_log_form *rd_log_form_named(const struct rd_log_forms *forms, const char *name);

/* Longer lines are cut. */
#define RD_LOG_LINE_MAX 8192

struct rd_log_reader {
	const struct rd_log_forms *forms; /* with an index */
	struct rd_log *log;
	const char *file; /* NULL: none */
	unsigned files;	  /* number of the file, from 0 */
	/* For log.c: */
	size_t number;	    /* of the line */
	struct rd_buf part; /* the beginning of a line whose end is not read yet */
	size_t last;	    /* index of the line that was recognized last, plus 1; 0: none */
	size_t last_number;
};

/* Makes the index of all patterns, after the last table was read. */
void rd_log_forms_index(struct rd_log_forms *forms);

/* Begins the next file; NULL: operands or standard input. The name must outlive the log. */
void rd_log_begin(struct rd_log_reader *reader, const char *file);

/* Reads the next `size` bytes of the file. */
void rd_log_feed(struct rd_log_reader *reader, const char *text, size_t size);

/* Ends the file, whose last line may have no newline. */
void rd_log_end(struct rd_log_reader *reader);

/* Sets ranks, and puts failures first, after the last file. */
void rd_log_sort(struct rd_log *log);

/* Adds what a word means: "status=12", "errno=ENOMEM", "IBV_WC_RNR_RETRY_EXC_ERR", the name of a form. False: nothing known. */
bool rd_log_add_word(struct rd_log_reader *reader, const char *word);

/* The host in the prefix of a line, of syslog or of libraries ("host:pid:tid"); 0: none is recognized, else its size. */
size_t rd_log_host(const char *line, const char **ret);

/* The first character of a text in which loggers of containers may have escaped some as JSON does; used: of how many it is. */
char rd_log_char(const char *text, size_t size, size_t *used);

/* `text` with the values of the line in place of "{field}". NULL: one of them is unknown. Caller frees. */
char *rd_log_fill(const struct rd_log_line *line, const char *text);

#endif
