// SPDX-License-Identifier: GPL-2.0-or-later
/* The graph of direct calls over all modules: the references in each file, joined by exported symbols. */

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

static int compare_edges(const void *a, const void *b)
{
	const struct rd_sel_edge *x = a, *y = b;

	return RD_CMP(x->from, y->from) ?: RD_CMP(x->to, y->to);
}

/* Where the edges of each function begin. */
static void index_edges(struct rd_sel *sel)
{
	free(sel->edge_first);
	sel->edge_first = rd_alloc(sel->set->n_fns + 1, sizeof(*sel->edge_first));
	for (size_t i = 0; i < sel->n_edges; i++)
		sel->edge_first[sel->edges[i].from + 1]++;
	for (size_t i = 0; i < sel->set->n_fns; i++)
		sel->edge_first[i + 1] += sel->edge_first[i];
}

void rd_sel_build_graph(struct rd_sel *sel)
{
	struct exports exports = { 0 };

	/* Any function of a module without a file may be an exported symbol. */
	for (size_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		for (size_t i = 0; i < mod->elf.n_funcs; i++)
			if (mod->elf.funcs[i].global)
				*RD_ADD(exports.v, exports.n, exports.cap) =
					(struct export){ mod->elf.funcs[i].name, mod->fn_of[i] };
		for (uint32_t i = 0; !sel->set->modules[m].file_matches && i < mod->n_fns; i++)
			*RD_ADD(exports.v, exports.n, exports.cap) =
				(struct export){ sel->set->fns[mod->first_fn + i].name, mod->first_fn + i };
	}
	rd_sort(exports.v, exports.n, sizeof(*exports.v), rd_compare_texts);
	for (uint32_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		for (size_t i = 0; i < mod->elf.n_refs; i++) {
			const struct rd_elf_ref *ref = &mod->elf.refs[i];
			uint32_t from = mod->fn_of[ref->from], to;
			const struct export key = { .name = ref->extern_name }, *found = NULL;

			if (key.name && exports.n)
				found = bsearch(&key, exports.v, exports.n, sizeof(key), rd_compare_texts);
			to = found ? found->fn : key.name ? RD_ELF_NONE : mod->fn_of[ref->to];
			if (to == RD_ELF_NONE)
				continue;
			if (ref->kind == RD_ELF_CALL)
				*RD_ADD(sel->edges, sel->n_edges, sel->cap_edges) = (struct rd_sel_edge){ from, to };
			else
				*RD_ADD(sel->takes, sel->n_takes, sel->cap_takes) = (struct rd_sel_edge){ from, to };
		}
	}
	free(exports.v);
	rd_sort(sel->edges, sel->n_edges, sizeof(*sel->edges), compare_edges);
	index_edges(sel);
}

/* Which functions of the set each function calls: an errno that it returned may be theirs. */

/* Calls of `from`, which is the function itself or its cold part. */
static void add_calls_of(struct rd_sel *sel, uint32_t from, uint32_t self, size_t *cap)
{
	struct rd_fn *fn = &sel->set->fns[self];

	for (uint32_t e = sel->edge_first[from]; e < sel->edge_first[from + 1]; e++) {
		uint32_t to = sel->edges[e].to, known;
		const struct rd_fn *called = &sel->set->fns[to];

		if (to == self || to == from)
			continue;
		if (called->rule == RD_RULE_COLD && from == self) {
			/* What a cold part contains, its function contains. */
			for (size_t i = 0; i < RD_ARRAY_SIZE(fn->errnos); i++) {
				fn->errnos[i] |= called->errnos[i];
				fn->loaded[i] |= called->loaded[i];
			}
			fn->indirect |= called->indirect;
			fn->outside |= called->outside;
			add_calls_of(sel, to, self, cap);
		} else if (called->rule != RD_RULE_COLD &&
			   (called->ret == RD_RET_INT || called->ret == RD_RET_LONG || called->ret == RD_RET_PTR ||
			    called->ret == RD_RET_UNKNOWN)) {
			for (known = 0; known < fn->n_calls && fn->calls[known] != to;)
				known++;
			if (known < fn->n_calls)
				continue;
			rd_reserve(&fn->calls, cap, fn->n_calls + 1u, sizeof(*fn->calls));
			fn->calls[fn->n_calls++] = to;
		}
	}
}

/* Functions of the kernel image that return an int, but never an errno: names that begin so. */
static const char no_errno[] =
	"_printk printk snprintf scnprintf sprintf vsnprintf str mem _find find_ cpumask_ bitmap_ __bitmap_ "
	"_raw_ queue_ cancel_ del_timer timer_delete mod_timer __sw_hweight try_wait wake_up_process "
	"__cond_resched prepare_to_wait refcount_ kref_ rcu_ __ratelimit ___ratelimit net_ratelimit "
	"work_busy idr_is_empty in6_dev_ __ipv6_addr_type signal_pending __mutex_trylock mutex_trylock "
	"down_read_trylock down_write_trylock vlan_dev_vlan_id hash_ sort __dynamic_ _dev_ dev_printk";

/* True also for a function that the BTF does not describe, except that those written in assembler return no errno. */
static bool returns_errno(const struct rd_btf *base, const char *name)
{
	uint32_t id = rd_btf_find_func(base, name);
	struct rd_fn fn = { 0 };

	for (const char *begin = no_errno; *begin; begin += strspn(begin, " ")) {
		size_t n = strcspn(begin, " ");

		if (!strncmp(name, begin, n))
			return false;
		begin += n;
	}
	if (!id)
		return false;
	rd_btf_describe(base, id, &fn);
	return fn.ret == RD_RET_INT || fn.ret == RD_RET_LONG;
}

void rd_sel_note_calls(struct rd_sel *sel)
{
	struct rd_fnset *set = sel->set;

	for (size_t i = 0; i < sel->n_takes; i++)
		set->fns[sel->takes[i].to].taken = true;
	rd_btf_index(&sel->base);
	for (uint32_t m = 0; m < set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		/* Whose address is in a table other than that of NOKPROBE_SYMBOL(). */
		for (size_t i = 0; i < mod->elf.n_ptrs; i++) {
			const struct rd_elf_ptr *ptr = &mod->elf.ptrs[i];

			if (ptr->to != RD_ELF_NONE && mod->fn_of[ptr->to] != RD_ELF_NONE &&
			    strcmp(rd_elf_section_name(&mod->elf, ptr->section), RD_ELF_NOKPROBE) != 0)
				set->fns[mod->fn_of[ptr->to]].taken = true;
		}
		for (size_t i = 0; i < mod->elf.n_refs; i++) {
			const struct rd_elf_ref *ref = &mod->elf.refs[i];
			uint32_t from = mod->fn_of[ref->from];

			if (from != RD_ELF_NONE && ref->extern_name && ref->kind == RD_ELF_CALL &&
			    (!sel->base.end || returns_errno(&sel->base, ref->extern_name)))
				set->fns[from].outside = true;
		}
	}
	index_edges(sel); /* functions have been removed */
	for (uint32_t i = 0; i < set->n_fns; i++) {
		struct rd_fn *fn = &set->fns[i];
		size_t cap = 0;

		fn->calls_known = set->modules[fn->module].file_matches;
		add_calls_of(sel, i, i, &cap);
		rd_sort(fn->calls, fn->n_calls, sizeof(*fn->calls), rd_compare_u32);
	}
}
