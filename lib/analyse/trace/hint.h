/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to look at next, from a table that the people who run clusters can extend (data/hints). */
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
 * Parses `text` (NUL-terminated, `size` bytes). A line holds three patterns (as of a shell: * ? [ ]) and a hint:
 *     VERB ERRNO ORIGIN hint to the end of the line
 * ORIGIN is held against the function it began in, without a compiler's suffix, or, if it has a colon, against
 * "module:function". A verb that is not known is "-". Lines that begin with # and empty ones are comments. `name` is for
 * messages: a line that is no good is left out and noted. What a table parsed before has comes first. -EFBIG with `err` filled.
 */
int rd_hints_parse(const char *name, const char *text, size_t size, struct rd_hints *ret, struct rd_errlist *notes,
		   struct rd_err *err);
void rd_hints_deinit(struct rd_hints *hints);

/* The hint of the first line that fits a settled event; NULL if none does. Owned by the hints. */
const char *rd_hint_find(const struct rd_hints *hints, const struct rd_event *event, const struct rd_fnset *set);

#endif
