// SPDX-License-Identifier: GPL-2.0-or-later
/* What to check next, from a table that sites can extend (data/hints). */
#include "analyse/trace/trace.h"

#include <fnmatch.h>

#define HINTS_MAX 10000

struct rd_hint {
	const char *verb, *err, *origin, *text;
};

void rd_hints_deinit(struct rd_hints *hints)
{
	rd_texts_deinit(&hints->texts);
	free(hints->v);
	memset(hints, 0, sizeof(*hints));
}

static int add_line(struct rd_hints *hints, char *line)
{
	char *words[3];

	if (rd_words(&line, words, 3) < 3 || !*(line = rd_trim(line)))
		return -EINVAL;
	if (hints->n == HINTS_MAX)
		return -EFBIG;
	*RD_ADD(hints->v, hints->n, hints->cap) = (struct rd_hint){ words[0], words[1], words[2], line };
	return 0;
}

int rd_hints_parse(const char *name, const char *text, size_t size, struct rd_hints *ret, struct rd_errlist *notes,
		   struct rd_err *err)
{
	struct rd_lines lines;
	char *line;
	int r = rd_lines_init_table(&lines, &ret->texts, "hints", name, text, size, err);

	while (!r && (line = rd_lines_next(&lines))) {
		struct rd_err note = { 0 };

		r = add_line(ret, line);
		if (r == -EINVAL) {
			r = 0;
			rd_lines_err(&lines, &note, EINVAL, ": expected VERB ERRNO ORIGIN HINT");
			rd_errlist_add(notes, &note);
		} else if (r < 0) {
			rd_lines_err(&lines, err, -r, ": too many hints");
		}
	}
	return r;
}

const char *rd_hint_find(const struct rd_hints *hints, const struct rd_event *ev, const struct rd_fnset *set)
{
	const char *verb = ev->verb ?: "-", *err = rd_errno_name(ev->err);
	char function[256] = "-", with_module[512] = "-";

	if (ev->origin >= 0 && (size_t)ev->origin < set->n_fns) {
		const struct rd_fn *fn = &set->fns[ev->origin];

		snprintf(function, sizeof(function), "%.*s", (int)strcspn(fn->name, "."), fn->name);
		snprintf(with_module, sizeof(with_module), "%s:%s",
			 fn->module < set->n_modules ? set->modules[fn->module].name : "-", function);
	}
	for (size_t i = 0; i < hints->n; i++) {
		const struct rd_hint *h = &hints->v[i];

		if (!fnmatch(h->verb, verb, 0) && !fnmatch(h->err, err ?: "-", 0) &&
		    !fnmatch(h->origin, strchr(h->origin, ':') ? with_module : function, 0))
			return h->text;
	}
	return NULL;
}
