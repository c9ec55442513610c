/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to check next, from a table that sites can extend (data/hints). */
#ifndef RD_ANALYSE_HINT_H
#define RD_ANALYSE_HINT_H

#include "base/err.h"
#include "base/text.h"
#include "model/trace/event.h"
#include "model/trace/fnset.h"

struct rd_hints {
	struct rd_texts texts; /* the fields and hints point into them */
	struct rd_hint *v;
	size_t n, cap;
};

/*
 * Parses `text` (NUL-terminated, `size` bytes). A line has three glob patterns (* ? [ ]) and a hint:
 *     VERB ERRNO ORIGIN hint to the end of the line
 * ORIGIN is matched against the function of the origin, without a suffix added by the compiler, or, if it has a colon, against
 * "module:function". An unknown verb is "-". Lines that begin with # and empty lines are ignored. `name` is for messages: invalid
 * lines are skipped, with a note. Tables parsed earlier take precedence. -EFBIG with `err` filled.
 */
int rd_hints_parse(const char *name, const char *text, size_t size, struct rd_hints *ret, struct rd_errlist *notes,
		   struct rd_err *err);
void rd_hints_deinit(struct rd_hints *hints);

/* The hint of the first line that matches a settled event; NULL if there is none. Owned by the hints. */
const char *rd_hint_find(const struct rd_hints *hints, const struct rd_event *event, const struct rd_fnset *set);

#endif
