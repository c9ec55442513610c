// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/trace/audit-modules.h"

#include <string.h>

#include "analyse/trace/audit.h"
#include "base/memory.h"

bool rd_audit_is_comparable(const struct rd_audit_side *x, const struct rd_audit_side *y, const char *module)
{
	int m = rd_audit_module_find(x->set, module), other = rd_audit_module_find(y->set, module);

	return m >= 0 && other >= 0 && !x->set->modules[m].stripped && !y->set->modules[other].stripped;
}

bool rd_audit_is_unequal(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module)
{
	int was = rd_audit_module_find(a->set, module), is = rd_audit_module_find(b->set, module);

	return was >= 0 && is >= 0 &&
	       (a->set->modules[was].has_btf != b->set->modules[is].has_btf ||
		a->set->modules[was].has_file != b->set->modules[is].has_file);
}

bool rd_audit_is_stripped(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module)
{
	return rd_audit_module_find(a->set, module) >= 0 && rd_audit_module_find(b->set, module) >= 0 &&
	       !rd_audit_is_comparable(a, b, module);
}

bool *rd_audit_find_unsure(const struct rd_audit_side *side, const struct rd_audit_side *other)
{
	bool *unsure = rd_alloc(side->set->n + 1, sizeof(*unsure));
	_cleanup_free_ uint32_t *queue = rd_alloc(side->set->n + 1, sizeof(*queue));
	size_t n = 0;

	for (uint32_t i = 0; i < side->set->n; i++) {
		unsure[i] = rd_audit_is_unequal(side, other, side->set->fns[i].module) ||
			    rd_audit_is_stripped(side, other, side->set->fns[i].module);
		if (unsure[i])
			queue[n++] = i;
	}
	for (size_t at = 0; at < n; at++) {
		size_t first, n_calls = rd_audit_edges(side, queue[at], false, &first);

		for (size_t k = first; k < first + n_calls; k++)
			if (!unsure[side->calls[k].to]) {
				unsure[side->calls[k].to] = true;
				queue[n++] = side->calls[k].to;
			}
	}
	return unsure;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the functions of a module, sorted; not owned. Caller frees the array. */
static const char **names_of(const struct rd_audit_set *set, const char *module, size_t *n)
{
	const char **names = rd_alloc(set->n + 1, sizeof(*names));

	*n = 0;
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->fns[i].module, module))
			names[(*n)++] = set->fns[i].function;
	qsort(names, *n, sizeof(*names), compare_texts);
	return names;
}

bool rd_audit_is_renamed_module(const struct rd_audit_set *baseline, const struct rd_audit_set *now, const char *module)
{
	size_t n, n_was, same;
	_cleanup_free_ const char **names = names_of(now, module, &n);
	bool renamed = false;

	for (size_t m = 0; m < baseline->n_modules && !renamed; m++) {
		const char **was;

		if (rd_audit_module_find(now, baseline->modules[m].name) >= 0)
			continue;
		was = names_of(baseline, baseline->modules[m].name, &n_was);
		same = 0;
		for (size_t i = 0; i < n_was; i++)
			same += bsearch(&was[i], names, n, sizeof(*names), compare_texts) != NULL;
		renamed = same > n_was / 2;
		free(was);
	}
	return renamed;
}
