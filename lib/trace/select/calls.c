/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions of the set each function calls: an errno that it returned may be theirs. */
#include <string.h>

#include "base/memory.h"
#include "trace/select/sel.h"

static bool may_return_errno(const struct rd_fn *fn)
{
	return fn->ret == RD_RET_INT || fn->ret == RD_RET_LONG || fn->ret == RD_RET_PTR || fn->ret == RD_RET_UNKNOWN;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void add_call(struct rd_fn *fn, size_t *cap, uint32_t to)
{
	for (uint32_t i = 0; i < fn->n_calls; i++)
		if (fn->calls[i] == to)
			return;
	rd_reserve(&fn->calls, cap, fn->n_calls + 1u, sizeof(*fn->calls));
	fn->calls[fn->n_calls++] = to;
}

/* What a cold part contains, its function contains. */
static void take_code(struct rd_fn *fn, const struct rd_fn *cold)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(fn->errnos); i++) {
		fn->errnos[i] |= cold->errnos[i];
		fn->loaded[i] |= cold->loaded[i];
	}
	fn->indirect |= cold->indirect;
	fn->outside |= cold->outside;
}

/* Calls of `from`, which is the function itself or its cold part. */
static void add_calls_of(struct rd_sel *sel, const uint32_t *first, uint32_t from, uint32_t self, size_t *cap)
{
	struct rd_fnset *set = sel->set;

	for (uint32_t e = first[from]; e < first[from + 1]; e++) {
		uint32_t to = sel->edges[e].to;

		if (to == self || to == from)
			continue;
		if (set->fns[to].rule == RD_RULE_COLD && from == self) {
			take_code(&set->fns[self], &set->fns[to]);
			add_calls_of(sel, first, to, self, cap);
		} else if (set->fns[to].rule != RD_RULE_COLD && may_return_errno(&set->fns[to])) {
			add_call(&set->fns[self], cap, to);
		}
	}
}

/* Functions of the kernel image that return an int, but never an errno: names that begin so. */
static const char *const no_errno[] = { "_printk",
					"printk",
					"snprintf",
					"scnprintf",
					"sprintf",
					"vsnprintf",
					"str",
					"mem",
					"_find",
					"find_",
					"cpumask_",
					"bitmap_",
					"__bitmap_",
					"_raw_",
					"queue_",
					"cancel_",
					"del_timer",
					"timer_delete",
					"mod_timer",
					"__sw_hweight",
					"try_wait",
					"wake_up_process",
					"__cond_resched",
					"prepare_to_wait",
					"refcount_",
					"kref_",
					"rcu_",
					"__ratelimit",
					"___ratelimit",
					"net_ratelimit",
					"work_busy",
					"idr_is_empty",
					"in6_dev_",
					"__ipv6_addr_type",
					"signal_pending",
					"__mutex_trylock",
					"mutex_trylock",
					"down_read_trylock",
					"down_write_trylock",
					"vlan_dev_vlan_id",
					"hash_",
					"sort",
					"__dynamic_",
					"_dev_",
					"dev_printk" };

/* True also for a function that the BTF does not describe, except that those written in assembler return no errno. */
static bool returns_errno(const struct rd_btf *base, const char *name)
{
	uint32_t id = rd_btf_find_func(base, name);
	struct rd_fn fn = { 0 };

	for (size_t i = 0; i < RD_ARRAY_SIZE(no_errno); i++)
		if (!strncmp(name, no_errno[i], strlen(no_errno[i])))
			return false;
	if (!id)
		return false;
	rd_btf_describe(base, id, &fn);
	return fn.ret == RD_RET_INT || fn.ret == RD_RET_LONG;
}

static void note_outside(struct rd_sel *sel)
{
	struct rd_btf base = { 0 };

	if (sel->base)
		rd_btf_index_base(sel->base, &base);
	for (uint32_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		for (size_t i = 0; i < mod->elf.n_refs; i++) {
			const struct rd_elf_ref *ref = &mod->elf.refs[i];
			uint32_t from = mod->fn_of[ref->from];

			if (from != RD_ELF_NONE && ref->extern_name && ref->kind == RD_ELF_CALL &&
			    (!sel->base || returns_errno(&base, ref->extern_name)))
				sel->set->fns[from].outside = true;
		}
	}
	free(base.funcs);
}

/* Whose address is in code, or in a table other than that of NOKPROBE_SYMBOL(). */
static void note_taken(struct rd_sel *sel)
{
	for (size_t i = 0; i < sel->n_takes; i++)
		sel->set->fns[sel->takes[i].to].taken = true;
	for (uint32_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		for (size_t i = 0; i < mod->elf.n_ptrs; i++) {
			const struct rd_elf_ptr *ptr = &mod->elf.ptrs[i];

			if (ptr->to != RD_ELF_NONE && mod->fn_of[ptr->to] != RD_ELF_NONE &&
			    strcmp(mod->elf.sections[ptr->section].name, RD_ELF_NOKPROBE) != 0)
				sel->set->fns[mod->fn_of[ptr->to]].taken = true;
		}
	}
}

void rd_sel_note_calls(struct rd_sel *sel)
{
	struct rd_fnset *set = sel->set;
	_cleanup_free_ uint32_t *first = rd_alloc(set->n_fns + 2, sizeof(*first));

	note_taken(sel);
	note_outside(sel);
	for (size_t i = 0; i < sel->n_edges; i++)
		first[sel->edges[i].from + 1]++;
	for (size_t i = 0; i < set->n_fns; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < set->n_fns; i++) {
		struct rd_fn *fn = &set->fns[i];
		size_t cap = 0;

		fn->calls_known = set->modules[fn->module].file_matches;
		add_calls_of(sel, first, i, i, &cap);
		if (fn->n_calls)
			qsort(fn->calls, fn->n_calls, sizeof(*fn->calls), compare_ids);
	}
}
