/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of one module: from its file and the section addresses, or from kallsyms and available_filter_functions. */
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "trace/select/rules.h"
#include "trace/select/sel.h"

struct entry {
	struct rd_fn fn;
	uint32_t elf_func; /* RD_ELF_NONE: not from a file */
};

static int compare_entries(const void *a, const void *b)
{
	const struct rd_fn *x = a, *y = b;

	return RD_CMP(x->addr, y->addr) ?: strcmp(x->name, y->name);
}

/* Address of a section; 0 if the kernel hides it. Needs CAP_SYSLOG or kptr_restrict=0. */
static uint64_t section_address(struct rd_sel *sel, const char *module, const char *section)
{
	_cleanup_free_ char *text = NULL;
	uint64_t address;

	if (strchr(section, '/') || rd_read_textf(sel->src, &text, NULL, "/sys/module/%s/sections/%s", module, section))
		return 0;
	return rd_parse_uint(text, RD_HEX, UINT64_MAX, &address) < 0 ? 0 : address;
}

/* NOKPROBE_SYMBOL() puts the address of a function into a section, from which the kernel makes its list of refused functions. */
static void mark_no_kprobe(const struct rd_elf *elf, struct entry *v)
{
	for (size_t i = 0; i < elf->n_ptrs; i++) {
		const struct rd_elf_ptr *ptr = &elf->ptrs[i];

		if (ptr->to != RD_ELF_NONE && !strcmp(elf->sections[ptr->section].name, RD_ELF_NOKPROBE))
			v[ptr->to].fn.no_kprobe = true;
	}
}

static struct entry *from_elf(struct rd_sel *sel, uint32_t m, size_t *n)
{
	const struct rd_elf *elf = &sel->mods[m].elf;
	struct entry *v = rd_alloc(elf->n_funcs, sizeof(*v));
	uint32_t section = RD_ELF_NONE;
	uint64_t base = 0;

	for (*n = 0; *n < elf->n_funcs; (*n)++) {
		const struct rd_elf_sym *f = &elf->funcs[*n];
		struct entry *e = &v[*n];

		if (f->section != section) {
			section = f->section;
			base = section_address(sel, sel->set->modules[m].name, elf->sections[section].name);
		}
		e->elf_func = *n;
		e->fn = (struct rd_fn){ .addr = base ? base + f->offset : 0,
					.in_filter = f->traced,
					.size = (uint32_t)f->size };
		memcpy(e->fn.errnos, f->errnos, sizeof(e->fn.errnos));
		memcpy(e->fn.loaded, f->loaded, sizeof(e->fn.loaded));
		e->fn.indirect = f->indirect;
		e->fn.name = rd_dup(f->name);
	}
	mark_no_kprobe(elf, v);
	return v;
}

static bool lacks_file(void *arg, const char *module)
{
	const struct rd_sel *sel = arg;

	for (size_t i = 0; i < sel->set->n_modules; i++)
		if (!strcmp(sel->set->modules[i].name, module))
			return !sel->set->modules[i].file_matches;
	return false;
}

static int compare_ksyms(const void *a, const void *b)
{
	const struct rd_ksym *x = a, *y = b;

	return strcmp(x->module, y->module) ?: strcmp(x->name, y->name);
}

static void read_lists(struct rd_sel *sel)
{
	struct rd_err err = { 0 };

	if (sel->ksyms_read)
		return;
	sel->ksyms_read = true;
	if (rd_ksyms_read(sel->src, lacks_file, sel, &sel->ksyms, &err))
		rd_errlist_add(sel->notes, &err);
	if (rd_ksyms_read_filter(sel->src, lacks_file, sel, &sel->filter, &err)) {
		rd_err_hint(&err, "which functions can be hooked is unknown until attaching");
		rd_errlist_add(sel->notes, &err);
	}
	if (sel->filter.n)
		qsort(sel->filter.v, sel->filter.n, sizeof(*sel->filter.v), compare_ksyms);
}

static struct entry *from_lists(struct rd_sel *sel, uint32_t m, size_t *n)
{
	const char *module = sel->set->modules[m].name;
	struct entry *v;

	read_lists(sel);
	v = rd_alloc(sel->ksyms.n, sizeof(*v));
	for (size_t i = 0; i < sel->ksyms.n; i++) {
		struct rd_ksym *sym = &sel->ksyms.v[i];

		if (strcmp(sym->module, module) != 0 || !strncmp(sym->name, "__pfx_", 6) ||
		    !strncmp(sym->name, "__cfi_", 6))
			continue;
		v[*n].elf_func = RD_ELF_NONE;
		v[*n].fn = (struct rd_fn){ .name = rd_dup(sym->name), .addr = sym->addr };
		v[(*n)++].fn.in_filter = sel->filter.n &&
					 bsearch(sym, sel->filter.v, sel->filter.n, sizeof(*sym), compare_ksyms);
	}
	return v;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(struct rd_fn *const *)a)->name, (*(struct rd_fn *const *)b)->name);
}

static void mark_ambiguous(struct rd_fn *fns, size_t n)
{
	_cleanup_free_ struct rd_fn **v = rd_alloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = &fns[i];
	qsort(v, n, sizeof(*v), compare_names);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(v[i - 1]->name, v[i]->name))
			v[i - 1]->ambiguous = v[i]->ambiguous = true;
}

static void describe_function(const struct rd_sel *sel, uint32_t m, struct rd_fn *fn)
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	size_t len = rd_rules_bare_length(fn->name);
	_cleanup_free_ char *bare = NULL;

	fn->module = m;
	fn->nargs = 0xff;
	fn->qp_arg = fn->dev_arg = -1;
	fn->suffixed = fn->name[len] != 0;
	fn->rule = RD_RULE_NOT_REACHED;
	bare = rd_dup_part(fn->name, len);
	if (!sel->set->modules[m].has_btf)
		return;
	fn->btf_id = rd_btf_find_func(&mod->btf, bare);
	if (fn->btf_id)
		rd_btf_describe(&mod->btf, fn->btf_id, fn);
	/* A clone has lost or reordered arguments: of the BTF information, only the return type applies to it. */
	if (fn->suffixed) {
		fn->btf_id = 0;
		fn->args_ok = false;
		fn->nargs = 0xff;
		fn->qp_arg = fn->dev_arg = -1;
	}
}

static void set_attachable(const struct rd_sel *sel, struct rd_fn *fn)
{
	bool address = fn->addr || !fn->ambiguous;

	if (!fn->in_filter)
		return;
	if (sel->set->modules[fn->module].has_btf && fn->btf_id && fn->args_ok && !fn->ambiguous)
		fn->attachable |= 1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_FEXIT_MULTI;
	if (address)
		fn->attachable |= 1 << RD_BACKEND_KPROBE_MULTI | (fn->no_kprobe ? 0 : 1 << RD_BACKEND_KPROBE);
}

static void add_entries(struct rd_sel *sel, uint32_t m, struct entry *v, size_t n)
{
	struct rd_sel_mod *mod = &sel->mods[m];
	struct rd_fnset *set = sel->set;

	rd_reserve(&set->fns, &set->cap_fns, set->n_fns + n, sizeof(*set->fns));
	mod->fn_of = rd_alloc(mod->elf.n_funcs, sizeof(*mod->fn_of));
	if (n)
		qsort(v, n, sizeof(*v), compare_entries);
	mod->first_fn = (uint32_t)set->n_fns;
	mod->n_fns = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		if (v[i].elf_func != RD_ELF_NONE)
			mod->fn_of[v[i].elf_func] = (uint32_t)set->n_fns;
		set->fns[set->n_fns++] = v[i].fn;
	}
	mark_ambiguous(set->fns + mod->first_fn, n);
	for (size_t i = 0; i < n; i++) {
		describe_function(sel, m, &set->fns[mod->first_fn + i]);
		set_attachable(sel, &set->fns[mod->first_fn + i]);
	}
}

void rd_sel_add_functions(struct rd_sel *sel, uint32_t m)
{
	_cleanup_free_ struct entry *v = NULL;
	size_t n = 0;

	v = sel->set->modules[m].file_matches ? from_elf(sel, m, &n) : from_lists(sel, m, &n);
	add_entries(sel, m, v, n);
}
