/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where verbs come in through pointers, which no call graph shows: tables of the core and of the drivers. A table is
 * known by its type: an object of the size that BTF gives a struct, all of whose pointers to functions sit where that
 * struct has members of their kind.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/select/rules.h"
#include "trace/select/sel.h"

/* The core's tables of write(2) commands: kernels without BTF offer nothing but these names. */
#define WRITE_TABLE "uverbs_def_write_intf"
#define UCMA_TABLE "ucma_cmd_table"

static int nomem(struct rd_sel *sel)
{
	return rd_err_set(sel->err, ENOMEM, NULL, "choosing the functions to watch");
}

static int add_root(struct rd_sel *sel, uint32_t fn, const char *via)
{
	struct rd_fnset *set = sel->set;
	struct rd_root root = { .fn = fn };

	for (size_t i = 0; i < set->n_roots; i++)
		if (set->roots[i].fn == fn && !strcmp(set->roots[i].via, via))
			return 0;
	if (rd_grow(&set->roots, &set->cap_roots, set->n_roots + 1, sizeof(root)))
		return nomem(sel);
	root.via = strdup(via);
	if (!root.via)
		return nomem(sel);
	set->roots[set->n_roots++] = root;
	return 0;
}

int rd_sel_add_aside(struct rd_sel *sel, uint32_t fn, enum rd_rule rule)
{
	if (rd_grow(&sel->aside, &sel->cap_aside, sel->n_aside + 1, sizeof(*sel->aside)) ||
	    rd_grow(&sel->aside_rule, &sel->cap_aside_rule, sel->n_aside + 1, sizeof(*sel->aside_rule)))
		return nomem(sel);
	sel->aside[sel->n_aside] = fn;
	sel->aside_rule[sel->n_aside++] = rule;
	return 0;
}

/* A struct as some BTF describes it. */
struct layout {
	const struct rd_btf *btf;
	uint32_t type; /* 0: not known */
	uint64_t size;
};

/* The first module whose own functions use the struct says what it looks like. */
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

/* What a pointer in such a struct may point to. A function that BTF does not describe may be anything. */
static bool fits_member(const struct rd_sel_mod *mod, const struct layout *layout, const struct rd_btf_member *member,
			uint32_t elf_func)
{
	uint32_t id = mod->btf.btf ? rd_btf_find_func(&mod->btf, mod->elf.funcs[elf_func].name) : 0;

	return rd_btf_is_func_ptr(layout->btf, member->type) &&
	       (!id || rd_btf_points_to(layout->btf, member->type, &mod->btf, id));
}

static bool fits_layout(const struct rd_sel_mod *mod, const struct layout *layout, const struct rd_elf_sym *object)
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
		if (!fits_member(mod, layout, &member, p->to))
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
			sel->set->modules[m].has_ops = fits_layout(mod, &layout, &mod->elf.objects[i]);
	}
}

/* The functions that a table of callbacks (`struct name`) points to. `rule_of` says what is done with a member. */
static int roots_of_table(struct rd_sel *sel, uint32_t m, const char *name, const struct layout *layout,
			  const struct rd_elf_sym *object, enum rd_rule (*rule_of)(const char *member))
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;
		enum rd_rule rule;
		char via[96];
		int rc;

		if (p->extern_name || !rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			continue;
		rule = rule_of(member.name);
		snprintf(via, sizeof(via), "%s.%s", name, member.name);
		rc = rule == RD_RULE_SELECTED ? add_root(sel, mod->fn_of[p->to], via) :
						rd_sel_add_aside(sel, mod->fn_of[p->to], rule);
		if (rc)
			return rc;
	}
	return 0;
}

/* How the core's file operations are told apart: uverbs has all three, rdma_ucm a write and its command table. */
struct file_doors {
	uint32_t write, ioctl, compat_ioctl, mmap, open; /* RD_ELF_NONE: none of this module */
};

static struct file_doors read_file_doors(const struct rd_sel_mod *mod, const struct layout *layout,
					 const struct rd_elf_sym *object)
{
	struct file_doors doors = { RD_ELF_NONE, RD_ELF_NONE, RD_ELF_NONE, RD_ELF_NONE, RD_ELF_NONE };
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;
		uint32_t fn;

		if (!rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			continue;
		fn = p->extern_name ? RD_ELF_NONE : mod->fn_of[p->to];
		if (!strcmp(member.name, "write"))
			doors.write = fn;
		else if (!strcmp(member.name, "unlocked_ioctl"))
			doors.ioctl = fn;
		else if (!strcmp(member.name, "compat_ioctl"))
			doors.compat_ioctl = fn;
		else if (!strcmp(member.name, "mmap"))
			doors.mmap = fn;
		else if (!strcmp(member.name, "open"))
			doors.open = fn;
	}
	return doors;
}

static int add_door(struct rd_sel *sel, uint32_t fn, const char *member, enum rd_entry entry)
{
	char via[64];

	if (fn == RD_ELF_NONE)
		return 0;
	if (entry != RD_ENTRY_NONE)
		sel->set->fns[fn].entry = entry;
	snprintf(via, sizeof(via), "file_operations.%s", member);
	return add_root(sel, fn, via);
}

static bool has_object(const struct rd_sel_mod *mod, const char *name)
{
	for (size_t i = 0; i < mod->elf.n_objects; i++)
		if (!strcmp(mod->elf.objects[i].name, name))
			return true;
	return false;
}

static int roots_of_file_operations(struct rd_sel *sel, uint32_t m, const struct layout *layout,
				    const struct rd_elf_sym *object)
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	struct file_doors doors = read_file_doors(mod, layout, object);
	bool ucma = has_object(mod, UCMA_TABLE);
	/* Device files of drivers, of management datagrams and the like are no way to verbs: no event would come of
	 * what is behind them. */
	bool uverbs = !ucma && !sel->set->modules[m].has_ops && doors.write != RD_ELF_NONE &&
		      doors.ioctl != RD_ELF_NONE && doors.mmap != RD_ELF_NONE;
	int rc = 0;

	if (ucma)
		return add_door(sel, doors.write, "write", RD_ENTRY_UCMA_WRITE);
	if (!uverbs)
		return 0;
	rc = add_door(sel, doors.ioctl, "unlocked_ioctl", RD_ENTRY_UVERBS_IOCTL);
	if (!rc)
		rc = add_door(sel, doors.compat_ioctl, "compat_ioctl", RD_ENTRY_UVERBS_IOCTL);
	if (!rc)
		rc = add_door(sel, doors.mmap, "mmap", RD_ENTRY_UVERBS_MMAP);
	if (!rc)
		rc = add_door(sel, doors.open, "open", RD_ENTRY_UVERBS_OPEN);
	/* Soft drivers ring their doorbells through write(2) of an uverbs file. */
	if (!rc)
		rc = rd_sel_add_aside(sel, doors.write, RD_RULE_DATA_PATH);
	return rc;
}

static int roots_of_ucma(struct rd_sel *sel, uint32_t m, const struct rd_elf_sym *object)
{
	const struct rd_sel_mod *mod = &sel->mods[m];
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		uint32_t fn;
		enum rd_rule rule;
		char via[64];
		int rc;

		if (p->extern_name)
			continue;
		fn = mod->fn_of[p->to];
		rule = rd_rules_name(sel->set->fns[fn].name);
		snprintf(via, sizeof(via), "rdma_ucm command %u", (unsigned)((p->offset - object->offset) / 8));
		rc = rule == RD_RULE_SELECTED ? add_root(sel, fn, via) : rd_sel_add_aside(sel, fn, rule);
		if (rc)
			return rc;
	}
	return 0;
}

/* The classes of user objects, whose callbacks make the object a verb works on, or look it up: posting looks its queue
 * up, too. */
static enum rd_rule rule_of_class_member(const char *name)
{
	return strncmp(name, "lookup", 6) == 0 ? RD_RULE_DATA_PATH : rd_rules_name(name);
}

/* The kernel's macro for ioctl methods names each handler: ib_uverbs_handler_UVERBS_METHOD_QP_CREATE; a driver has its own
 * words before and after "_handler_". */
static bool is_ioctl_handler(const char *name)
{
	const char *p = strstr(name, "_handler_");

	return p && p > name && p[9] >= 'A' && p[9] <= 'Z';
}

/* Handlers of ioctl methods and write commands: named so by the core's macro, listed in the core's table, or of the
 * one type that both have. */
static int add_handler(struct rd_sel *sel, uint32_t fn, bool in_write_table)
{
	struct rd_fn *f = &sel->set->fns[fn];
	bool ioctl = is_ioctl_handler(f->name);
	enum rd_rule rule;

	if (!ioctl && !in_write_table &&
	    !(f->btf_id && rd_btf_takes_only(&sel->mods[f->module].btf, f->btf_id, "uverbs_attr_bundle")))
		return 0;
	/* Without a file, that a table lists it is not known: helpers have the same type, but not the core's prefix. */
	if (!ioctl && !sel->set->modules[f->module].file_matches && strncmp(f->name, "ib_uverbs_", 10) != 0)
		return 0;
	rule = rd_rules_name(f->name);
	if (rule != RD_RULE_SELECTED)
		return rd_sel_add_aside(sel, fn, rule);
	if (!ioctl)
		f->entry = RD_ENTRY_WRITE_HANDLER;
	return add_root(sel, fn, ioctl ? "ioctl handler" : "write handler");
}

static int roots_of_handlers(struct rd_sel *sel, uint32_t m)
{
	const struct rd_sel_mod *mod = &sel->mods[m];

	for (size_t i = 0; i < mod->elf.n_ptrs; i++) {
		int rc = mod->elf.ptrs[i].extern_name ? 0 : add_handler(sel, mod->fn_of[mod->elf.ptrs[i].to], false);

		if (rc)
			return rc;
	}
	for (size_t o = 0; o < mod->elf.n_objects; o++) {
		size_t first, n;

		if (strcmp(mod->elf.objects[o].name, WRITE_TABLE) != 0)
			continue;
		n = rd_elf_object_ptrs(&mod->elf, &mod->elf.objects[o], &first);
		for (size_t i = first; i < first + n; i++)
			if (!mod->elf.ptrs[i].extern_name && add_handler(sel, mod->fn_of[mod->elf.ptrs[i].to], true))
				return -ENOMEM;
	}
	return 0;
}

/* The core's doors by name, where there is no file to find them in. */
static int roots_by_name(struct rd_sel *sel, uint32_t m)
{
	static const struct {
		const char *name, *member;
		enum rd_entry entry;
	} doors[] = {
		{ "ib_uverbs_ioctl", "unlocked_ioctl", RD_ENTRY_UVERBS_IOCTL },
		{ "ib_uverbs_mmap", "mmap", RD_ENTRY_UVERBS_MMAP },
		{ "ib_uverbs_open", "open", RD_ENTRY_UVERBS_OPEN },
		{ "ucma_write", "write", RD_ENTRY_UCMA_WRITE },
	};
	const struct rd_sel_mod *mod = &sel->mods[m];

	for (uint32_t i = mod->first_fn; i < mod->first_fn + mod->n_fns; i++) {
		int rc = 0;

		for (size_t d = 0; d < RD_ARRAY_SIZE(doors) && !rc; d++)
			if (!strcmp(sel->set->fns[i].name, doors[d].name))
				rc = add_door(sel, i, doors[d].member, doors[d].entry);
		if (!rc)
			rc = add_handler(sel, i, false);
		if (rc)
			return rc;
	}
	return 0;
}

int rd_sel_find_roots(struct rd_sel *sel)
{
	struct layout device = find_layout(sel, "ib_device_ops"), class = find_layout(sel, "uverbs_obj_type_class");
	struct layout file = { 0 };
	struct rd_btf vmlinux = { .btf = sel->base, .first = 1 };
	int rc = 0;

	if (sel->base) {
		file = (struct layout){ .btf = &vmlinux };
		file.type = rd_btf_find_struct(&vmlinux, "file_operations");
		file.size = file.type ? rd_btf_size(&vmlinux, file.type) : 0;
	}
	for (uint32_t m = 0; !rc && m < sel->set->n_modules; m++) {
		const struct rd_sel_mod *mod = &sel->mods[m];

		if (!sel->set->modules[m].rdma)
			continue;
		for (size_t i = 0; !rc && i < mod->elf.n_objects; i++) {
			const struct rd_elf_sym *object = &mod->elf.objects[i];

			if (!strcmp(object->name, UCMA_TABLE))
				rc = roots_of_ucma(sel, m, object);
			else if (fits_layout(mod, &device, object))
				rc = roots_of_table(sel, m, "ib_device_ops", &device, object, rd_rules_member);
			else if (fits_layout(mod, &file, object))
				rc = roots_of_file_operations(sel, m, &file, object);
			else if (fits_layout(mod, &class, object))
				rc = roots_of_table(sel, m, "uverbs_obj_type_class", &class, object,
						    rule_of_class_member);
		}
		if (!rc && sel->set->modules[m].file_matches)
			rc = roots_of_handlers(sel, m);
		else if (!rc)
			rc = roots_by_name(sel, m);
	}
	return rc;
}
