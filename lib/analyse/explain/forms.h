/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of what lines of logs mean, which sites can extend (data/explain). */
#ifndef RD_ANALYSE_EXPLAIN_FORMS_H
#define RD_ANALYSE_EXPLAIN_FORMS_H

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

#endif
