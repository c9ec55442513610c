/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The graph of direct calls over all modules: the references in each file, joined by exported symbols. */
#include <string.h>

#include "base/memory.h"
#include "trace/select/sel.h"

struct export
{
	const char *name;
	uint32_t fn;
};

struct exports {
	struct export *v;
	size_t n, cap;
};

static int compare_exports(const void *a, const void *b)
{
	return strcmp(((const struct export *)a)->name, ((const struct export *)b)->name);
}

static void add_export(struct exports *exports, const char *name, uint32_t fn)
{
	*RD_ADD(exports->v, exports->n, exports->cap) = (struct export){ name, fn };
}

/* Any function of a module without a file may be an exported symbol. */
static void read_exports(const struct rd_sel *sel, struct exports *ret)
{
	for (size_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		for (size_t i = 0; i < mod->elf.n_funcs; i++)
			if (mod->elf.funcs[i].global)
				add_export(ret, mod->elf.funcs[i].name, mod->fn_of[i]);
		for (uint32_t i = 0; !sel->set->modules[m].file_matches && i < mod->n_fns; i++)
			add_export(ret, sel->set->fns[mod->first_fn + i].name, mod->first_fn + i);
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_exports);
}

static uint32_t find_export(const struct exports *exports, const char *name)
{
	struct export key = { .name = name }, *e;

	if (!exports->n)
		return RD_ELF_NONE;
	e = bsearch(&key, exports->v, exports->n, sizeof(key), compare_exports);
	return e ? e->fn : RD_ELF_NONE;
}

static void add_edge(struct rd_sel_edge **v, size_t *n, size_t *cap, uint32_t from, uint32_t to)
{
	rd_reserve(v, cap, *n + 1, sizeof(**v));
	(*v)[(*n)++] = (struct rd_sel_edge){ from, to };
}

static void add_module_edges(struct rd_sel *sel, uint32_t m, const struct exports *exports)
{
	const struct rd_sel_mod *mod = &sel->mods[m];

	for (size_t i = 0; i < mod->elf.n_refs; i++) {
		const struct rd_elf_ref *ref = &mod->elf.refs[i];
		uint32_t from = mod->fn_of[ref->from], to;

		to = ref->extern_name ? find_export(exports, ref->extern_name) : mod->fn_of[ref->to];
		if (to == RD_ELF_NONE)
			continue;
		if (ref->kind == RD_ELF_CALL)
			add_edge(&sel->edges, &sel->n_edges, &sel->cap_edges, from, to);
		else
			add_edge(&sel->takes, &sel->n_takes, &sel->cap_takes, from, to);
	}
}

static int compare_edges(const void *a, const void *b)
{
	const struct rd_sel_edge *x = a, *y = b;

	return RD_CMP(x->from, y->from) ?: RD_CMP(x->to, y->to);
}

void rd_sel_build_graph(struct rd_sel *sel)
{
	struct exports exports = { 0 };
	size_t n_fns = sel->set->n_fns;

	read_exports(sel, &exports);
	for (uint32_t m = 0; m < sel->set->n_modules; m++)
		add_module_edges(sel, m, &exports);
	free(exports.v);
	sel->edge_first = rd_alloc(n_fns + 1, sizeof(*sel->edge_first));
	if (sel->n_edges)
		qsort(sel->edges, sel->n_edges, sizeof(*sel->edges), compare_edges);
	for (size_t i = 0; i < sel->n_edges; i++)
		sel->edge_first[sel->edges[i].from + 1]++;
	for (size_t i = 0; i < n_fns; i++)
		sel->edge_first[i + 1] += sel->edge_first[i];
}

void rd_sel_reach(const struct rd_sel *sel, uint32_t start, const bool *skip, bool *seen, uint32_t *stack)
{
	size_t depth = 0;

	if (seen[start])
		return;
	seen[start] = true;
	stack[depth++] = start;
	while (depth) {
		uint32_t fn = stack[--depth];

		for (uint32_t e = sel->edge_first[fn]; e < sel->edge_first[fn + 1]; e++) {
			uint32_t to = sel->edges[e].to;

			if (seen[to] || skip[to])
				continue;
			seen[to] = true;
			stack[depth++] = to;
		}
	}
}
