/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the forms of lines: all patterns at once, by four bytes of each. */
#ifndef RD_ANALYSE_EXPLAIN_MATCH_H
#define RD_ANALYSE_EXPLAIN_MATCH_H

#include "model/explain/explain.h"

/* Longer lines are cut. */
#define RD_LOG_LINE_MAX 8192

/* A value in a line; not copied. */
struct rd_log_value {
	enum rd_log_field field;
	const char *table; /* of codes; NULL: none */
	const char *text;
	size_t size;
	RD_FIELD(uint64_t) number;
};
#define RD_LOG_VALUES 32

struct rd_log_match {
	const struct rd_log_form *form;
	const struct rd_log_form *err; /* the errno whose name or text is in the line; NULL: none */
	struct rd_log_value v[RD_LOG_VALUES];
	size_t n;
};

/* Makes the index of all patterns, after the last table was read. */
void rd_log_forms_index(struct rd_log_forms *forms);

/*
 * The first place in `text` (`size` bytes, the last one a newline) that may belong to a line of a form: its offset; `size` if there is none. For skipping lines
 * without looking at each.
 */
size_t rd_log_skip(const struct rd_log_forms *forms, const char *text, size_t size);

/* The form of a line (NUL-terminated, without newline) with the most literal text, and its values; false: of no form. */
bool rd_log_match(const struct rd_log_forms *forms, const char *line, struct rd_log_match *ret);

/* Sets the number of a value if all of `text` is one: "12", "-12", "0x1f". */
void rd_log_take_number(const char *text, struct rd_log_value *ret);

/* The host in the prefix of a line, of syslog or of libraries ("host:pid:tid"); 0: none is recognized, else its size. */
size_t rd_log_host(const char *line, const char **ret);

#endif
