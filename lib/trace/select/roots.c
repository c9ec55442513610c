/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roots: functions that verbs call through pointers, which a call graph does not show, in tables of the core and of drivers.
 * A table is recognized by its type: a data object of the size of the struct, with all function pointers at offsets of members of
 * matching type.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "trace/select/rules.h"
#include "trace/select/sel.h"

/* The tables of write(2) commands of the core, found by name because kernels without BTF provide nothing else. */
#define WRITE_TABLE "uverbs_def_write_intf"
#define UCMA_TABLE "ucma_cmd_table"

void rd_sel_add_root(struct rd_sel *sel, uint32_t fn, const char *via, bool alone)
{
	struct rd_fnset *set = sel->set;

	for (size_t i = 0; i < set->n_roots; i++)
		if (set->roots[i].fn == fn && !strcmp(set->roots[i].via, via))
			return;
	*RD_ADD(set->roots, set->n_roots, set->cap_roots) =
		(struct rd_root){ .fn = fn, .alone = alone, .via = rd_dup(via) };
}

/*
 * A function that a rule leaves out becomes a root all the same if hooking it costs nothing that matters: queries, which are rare,
 * and destruction of objects that are rarely destroyed. `name` is the word for it: an ops member, or the function itself.
 */
static void add_or_exclude(struct rd_sel *sel, uint32_t fn, const char *name, const char *via, enum rd_rule rule)
{
	if (rule == RD_RULE_SELECTED)
		rd_sel_add_root(sel, fn, via, false);
	else if ((rule == RD_RULE_QUERY && !strncmp(name, "query_", 6)) ||
		 (rule == RD_RULE_CLEANUP && rd_rules_rare(name)))
		rd_sel_add_root(sel, fn, via, true);
	else
		rd_sel_add_excluded(sel, fn, rule);
}

void rd_sel_add_excluded(struct rd_sel *sel, uint32_t fn, enum rd_rule rule)
{
	rd_reserve(&sel->excluded, &sel->cap_excluded, sel->n_excluded + 1, sizeof(*sel->excluded));
	rd_reserve(&sel->excluded_rule, &sel->cap_excluded_rule, sel->n_excluded + 1, sizeof(*sel->excluded_rule));
	sel->set->fns[fn].member = true;
	sel->excluded[sel->n_excluded] = fn;
	sel->excluded_rule[sel->n_excluded++] = rule;
}

/* A struct as described by BTF. */
struct layout {
	const struct rd_btf *btf;
	uint32_t type; /* 0: unknown */
	uint64_t size;
};

/* The layout from the first module whose own functions use the struct. */
static struct layout find_layout(const struct rd_sel *sel, const char *name)
{
	struct layout layout = { 0 };

	for (size_t m = 0; m < sel->set->n_modules && !layout.type; m++)
		if (sel->set->modules[m].has_btf && sel->set->modules[m].rdma) {
			layout.btf = &sel->mods[m].btf;
			layout.type = rd_btf_find_struct(layout.btf, name);
		}
	if (layout.type)
		layout.size = rd_btf_size(layout.btf, layout.type);
	return layout;
}

/* Whether a member can point to a function. A function without BTF matches every function pointer. */
static bool matches_member(const struct rd_sel_mod *mod, const struct layout *layout,
			   const struct rd_btf_member *member, uint32_t elf_func)
{
	uint32_t id = mod->btf.btf ? rd_btf_find_func(&mod->btf, mod->elf.funcs[elf_func].name) : 0;

	return rd_btf_is_func_ptr(layout->btf, member->type) &&
	       (!id || rd_btf_points_to(layout->btf, member->type, &mod->btf, id));
}

static bool matches_layout(const struct rd_sel_mod *mod, const struct layout *layout, const struct rd_elf_sym *object)
{
	size_t first, n, local = 0;

	if (!layout->type || object->size != layout->size)
		return false;
	n = rd_elf_object_ptrs(&mod->elf, object, &first);
	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;

		if (!rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			return false;
		if (p->extern_name)
			continue;
		if (!matches_member(mod, layout, &member, p->to))
			return false;
		local++;
	}
	return local > 0;
}

void rd_sel_find_drivers(struct rd_sel *sel)
{
	struct layout layout = find_layout(sel, "ib_device_ops");

	for (size_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		for (size_t i = 0; i < mod->elf.n_objects && !sel->set->modules[m].has_ops; i++)
			sel->set->modules[m].has_ops = matches_layout(mod, &layout, &mod->elf.objects[i]);
	}
}

/* The functions in a table of callbacks (`struct name`). `rule_of` decides about each member. */
static void roots_of_table(struct rd_sel *sel, uint32_t m, const char *name, const struct layout *layout,
			   const struct rd_elf_sym *object, enum rd_rule (*rule_of)(const char *member))
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;
		enum rd_rule rule;
		char via[96];

		if (p->extern_name || !rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			continue;
		rule = rule_of(member.name);
		snprintf(via, sizeof(via), "%s.%s", name, member.name);
		add_or_exclude(sel, mod->fn_of[p->to], member.name, via, rule);
	}
}

/* Entry points in file operations. uverbs has write, ioctl and mmap; rdma_ucm has a write and its command table. */
struct file_entries {
	uint32_t write, ioctl, compat_ioctl, mmap, open; /* RD_ELF_NONE: not in this module */
};

static struct file_entries read_file_entries(const struct rd_sel_mod *mod, const struct layout *layout,
					     const struct rd_elf_sym *object)
{
	struct file_entries entries = { RD_ELF_NONE, RD_ELF_NONE, RD_ELF_NONE, RD_ELF_NONE, RD_ELF_NONE };
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;
		uint32_t fn;

		if (!rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			continue;
		fn = p->extern_name ? RD_ELF_NONE : mod->fn_of[p->to];
		if (!strcmp(member.name, "write"))
			entries.write = fn;
		else if (!strcmp(member.name, "unlocked_ioctl"))
			entries.ioctl = fn;
		else if (!strcmp(member.name, "compat_ioctl"))
			entries.compat_ioctl = fn;
		else if (!strcmp(member.name, "mmap"))
			entries.mmap = fn;
		else if (!strcmp(member.name, "open"))
			entries.open = fn;
	}
	return entries;
}

static void add_entry_point(struct rd_sel *sel, uint32_t fn, const char *member, enum rd_entry entry)
{
	char via[64];

	if (fn == RD_ELF_NONE)
		return;
	if (entry != RD_ENTRY_NONE)
		sel->set->fns[fn].entry = entry;
	snprintf(via, sizeof(via), "file_operations.%s", member);
	rd_sel_add_root(sel, fn, via, false);
}

static bool has_object(const struct rd_sel_mod *mod, const char *name)
{
	for (size_t i = 0; i < mod->elf.n_objects; i++)
		if (!strcmp(mod->elf.objects[i].name, name))
			return true;
	return false;
}

static void roots_of_file_operations(struct rd_sel *sel, uint32_t m, const struct layout *layout,
				     const struct rd_elf_sym *object)
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	struct file_entries entries = read_file_entries(mod, layout, object);
	bool ucma = has_object(mod, UCMA_TABLE);
	/* Device files of drivers, of umad and similar do not lead to verbs: their functions would cause no
	 * events. */
	bool uverbs = !ucma && !sel->set->modules[m].has_ops && entries.write != RD_ELF_NONE &&
		      entries.ioctl != RD_ELF_NONE && entries.mmap != RD_ELF_NONE;

	if (ucma)
		add_entry_point(sel, entries.write, "write", RD_ENTRY_UCMA_WRITE);
	if (!uverbs)
		return;
	add_entry_point(sel, entries.ioctl, "unlocked_ioctl", RD_ENTRY_UVERBS_IOCTL);
	add_entry_point(sel, entries.compat_ioctl, "compat_ioctl", RD_ENTRY_UVERBS_IOCTL);
	add_entry_point(sel, entries.mmap, "mmap", RD_ENTRY_UVERBS_MMAP);
	add_entry_point(sel, entries.open, "open", RD_ENTRY_UVERBS_OPEN);
	/* Soft drivers ring their doorbells through write(2) on a uverbs file. */
	rd_sel_add_excluded(sel, entries.write, RD_RULE_DATA_PATH);
}

static void roots_of_ucma(struct rd_sel *sel, uint32_t m, const struct rd_elf_sym *object)
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		uint32_t fn;
		enum rd_rule rule;
		char via[64];

		if (p->extern_name)
			continue;
		fn = mod->fn_of[p->to];
		rule = rd_rules_name(sel->set->fns[fn].name);
		snprintf(via, sizeof(via), "rdma_ucm command %u", (unsigned)((p->offset - object->offset) / 8));
		/* Commands of rdma_cm are rare. */
		if (rule == RD_RULE_DATA_PATH)
			rd_sel_add_excluded(sel, fn, rule);
		else
			rd_sel_add_root(sel, fn, via, rule != RD_RULE_SELECTED);
	}
}

/* Types of user objects: the callback that destroys one. It is named for the object, its member is not. */
static void roots_of_object_type(struct rd_sel *sel, uint32_t m, const struct layout *layout,
				 const struct rd_elf_sym *object)
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;

		if (p->extern_name ||
		    !rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member) ||
		    strcmp(member.name, "destroy_object") != 0)
			continue;
		add_or_exclude(sel, mod->fn_of[p->to], sel->set->fns[mod->fn_of[p->to]].name,
			       "uverbs_obj_idr_type.destroy_object", RD_RULE_CLEANUP);
	}
}

/* Classes of user objects: their callbacks create or look up the object of a verb. Posting looks up its queue as well. */
static enum rd_rule rule_of_class_member(const char *name)
{
	return strncmp(name, "lookup", 6) == 0 ? RD_RULE_DATA_PATH : rd_rules_name(name);
}

/* The kernel macro for ioctl methods generates handler names such as ib_uverbs_handler_UVERBS_METHOD_QP_CREATE; drivers use
 * their own words before and after "_handler_". */
static bool is_ioctl_handler(const char *name)
{
	const char *p = strstr(name, "_handler_");

	return p && p > name && p[9] >= 'A' && p[9] <= 'Z';
}

/* Whether a handler that a rule leaves out is selected alone: of an ioctl, if it is called rarely; of a write command, always,
 * because programs that use ioctls never call it. A handler that many methods share does not have the prefix of the core. */
static bool may_be_alone(const char *name, enum rd_rule rule, bool ioctl, bool in_write_table)
{
	if (rule == RD_RULE_DATA_PATH)
		return false;
	if (ioctl)
		return rule == RD_RULE_QUERY || rd_rules_rare(name);
	return in_write_table || !strncmp(name, "ib_uverbs_", 10);
}

/* Handlers of ioctl methods and write commands: recognized by the name from the kernel macro, by the table of the core, or by
 * the function type that both have. */
static void add_handler(struct rd_sel *sel, uint32_t fn, bool in_write_table)
{
	struct rd_fn *f = &sel->set->fns[fn];
	bool ioctl = is_ioctl_handler(f->name);
	enum rd_rule rule;

	if (!ioctl && !in_write_table &&
	    !(f->btf_id && rd_btf_takes_only(&sel->mods[f->module].btf, f->btf_id, "uverbs_attr_bundle")))
		return;
	/* Without a module file the table is not available: helpers have the same type, but not the prefix of the core. */
	if (!ioctl && !sel->set->modules[f->module].file_matches && strncmp(f->name, "ib_uverbs_", 10) != 0)
		return;
	rule = rd_rules_name(f->name);
	if (rule != RD_RULE_SELECTED && !may_be_alone(f->name, rule, ioctl, in_write_table)) {
		rd_sel_add_excluded(sel, fn, rule);
		return;
	}
	if (!ioctl)
		f->entry = RD_ENTRY_WRITE_HANDLER;
	rd_sel_add_root(sel, fn, ioctl ? "ioctl handler" : "write handler", rule != RD_RULE_SELECTED);
}

static void roots_of_handlers(struct rd_sel *sel, uint32_t m)
{
	const struct rd_sel_mod *mod = &sel->mods[m];

	for (size_t i = 0; i < mod->elf.n_ptrs; i++)
		if (!mod->elf.ptrs[i].extern_name)
			add_handler(sel, mod->fn_of[mod->elf.ptrs[i].to], false);
	for (size_t o = 0; o < mod->elf.n_objects; o++) {
		size_t first, n;

		if (strcmp(mod->elf.objects[o].name, WRITE_TABLE) != 0)
			continue;
		n = rd_elf_object_ptrs(&mod->elf, &mod->elf.objects[o], &first);
		for (size_t i = first; i < first + n; i++)
			if (!mod->elf.ptrs[i].extern_name)
				add_handler(sel, mod->fn_of[mod->elf.ptrs[i].to], true);
	}
}

/* The entry points of the core by name, for modules without a file. */
static void roots_by_name(struct rd_sel *sel, uint32_t m)
{
	static const struct {
		const char *name, *member;
		enum rd_entry entry;
	} entries[] = {
		{ "ib_uverbs_ioctl", "unlocked_ioctl", RD_ENTRY_UVERBS_IOCTL },
		{ "ib_uverbs_mmap", "mmap", RD_ENTRY_UVERBS_MMAP },
		{ "ib_uverbs_open", "open", RD_ENTRY_UVERBS_OPEN },
		{ "ucma_write", "write", RD_ENTRY_UCMA_WRITE },
	};
	const struct rd_sel_mod *mod = &sel->mods[m];

	for (uint32_t i = mod->first_fn; i < mod->first_fn + mod->n_fns; i++) {
		for (size_t d = 0; d < RD_ARRAY_SIZE(entries); d++)
			if (!strcmp(sel->set->fns[i].name, entries[d].name))
				add_entry_point(sel, i, entries[d].member, entries[d].entry);
		add_handler(sel, i, false);
	}
}

void rd_sel_find_roots(struct rd_sel *sel)
{
	struct layout device = find_layout(sel, "ib_device_ops"), class = find_layout(sel, "uverbs_obj_type_class");
	struct layout type = find_layout(sel, "uverbs_obj_idr_type");
	struct layout file = { 0 };
	struct rd_btf vmlinux = { .btf = sel->base, .first = 1 };

	if (sel->base) {
		file = (struct layout){ .btf = &vmlinux };
		file.type = rd_btf_find_struct(&vmlinux, "file_operations");
		file.size = file.type ? rd_btf_size(&vmlinux, file.type) : 0;
	}
	for (uint32_t m = 0; m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		if (!sel->set->modules[m].rdma)
			continue;
		for (size_t i = 0; i < mod->elf.n_objects; i++) {
			const struct rd_elf_sym *object = &mod->elf.objects[i];

			if (!strcmp(object->name, UCMA_TABLE))
				roots_of_ucma(sel, m, object);
			else if (matches_layout(mod, &device, object))
				roots_of_table(sel, m, "ib_device_ops", &device, object, rd_rules_member);
			else if (matches_layout(mod, &file, object))
				roots_of_file_operations(sel, m, &file, object);
			else if (matches_layout(mod, &class, object))
				roots_of_table(sel, m, "uverbs_obj_type_class", &class, object, rule_of_class_member);
			else if (!sel->set->modules[m].has_ops && matches_layout(mod, &type, object))
				roots_of_object_type(sel, m, &type, object);
		}
		if (sel->set->modules[m].file_matches)
			roots_of_handlers(sel, m);
		else
			roots_by_name(sel, m);
	}
}
