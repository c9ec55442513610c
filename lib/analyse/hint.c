// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/hint.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define TEXT_MAX (1024 * 1024)
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

static bool parse_line(char *line, struct rd_hint *ret)
{
	ret->verb = rd_word(&line);
	ret->err = ret->verb ? rd_word(&line) : NULL;
	ret->origin = ret->err ? rd_word(&line) : NULL;
	if (!ret->origin)
		return false;
	ret->text = rd_trim(line);
	return *ret->text;
}

static int add_line(struct rd_hints *hints, char *line)
{
	struct rd_hint hint;

	if (!parse_line(line, &hint))
		return -EINVAL;
	if (hints->n == HINTS_MAX)
		return -EFBIG;
	rd_reserve(&hints->v, &hints->cap, hints->n + 1, sizeof(*hints->v));
	hints->v[hints->n++] = hint;
	return 0;
}

int rd_hints_parse(const char *name, const char *text, size_t size, struct rd_hints *ret, struct rd_errlist *notes,
		   struct rd_err *err)
{
	unsigned number = 0;
	char *line, *rest;

	if (size > TEXT_MAX)
		return rd_err_set(err, EFBIG, name, "a table of hints has at most %d bytes", TEXT_MAX);
	rest = rd_texts_keep(&ret->texts, text, size);
	while ((line = rd_line(&rest, &number))) {
		struct rd_err note = { 0 };
		int r = add_line(ret, line);

		if (r == -EINVAL) {
			rd_err_set(&note, EINVAL, name, "line %u is not VERB ERRNO ORIGIN and a hint", number);
			rd_errlist_add(notes, &note);
		} else if (r) {
			return rd_err_set(err, -r, name, "line %u: cannot keep more hints", number);
		}
	}
	return 0;
}

const char *rd_hint_find(const struct rd_hints *hints, const struct rd_event *ev, const struct rd_fnset *set)
{
	const char *verb = ev->verb ? ev->verb : "-", *err = rd_errno_name(ev->err);
	char function[256] = "-", with_module[512] = "-";

	if (ev->origin >= 0 && (size_t)ev->origin < set->n_fns) {
		const struct rd_fn *fn = &set->fns[ev->origin];

		snprintf(function, sizeof(function), "%.*s", (int)strcspn(fn->name, "."), fn->name);
		snprintf(with_module, sizeof(with_module), "%s:%s",
			 fn->module < set->n_modules ? set->modules[fn->module].name : "-", function);
	}
	for (size_t i = 0; i < hints->n; i++) {
		const struct rd_hint *h = &hints->v[i];

		if (!fnmatch(h->verb, verb, 0) && !fnmatch(h->err, err ? err : "-", 0) &&
		    !fnmatch(h->origin, strchr(h->origin, ':') ? with_module : function, 0))
			return h->text;
	}
	return NULL;
}
