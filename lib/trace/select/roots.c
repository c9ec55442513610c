// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Roots: functions that verbs call through pointers, which a call graph does not show, in tables of the core and of drivers.
 * A table is recognized by its type: a data object of the size of the struct, with all function pointers at offsets of members of
 * matching type.
 */

#include "trace/select/sel.h"

/* The tables of write(2) commands of the core, found by name because kernels without BTF provide nothing else. */
#define WRITE_TABLE "uverbs_def_write_intf"
#define UCMA_TABLE "ucma_cmd_table"

/* Adds a root; `alone`: see struct rd_root. */
static void add_root(struct rd_sel *sel, uint32_t fn, const char *via, bool alone)
{
	struct rd_fnset *set = sel->set;

	for (size_t i = 0; i < set->n_roots; i++)
		if (set->roots[i].fn == fn && !strcmp(set->roots[i].via, via))
			return;
	*RD_ADD(set->roots, set->n_roots, set->cap_roots) =
		(struct rd_root){ .fn = fn, .alone = alone, .via = rd_dup(via) };
}

/* Adds a function of an ops member that is not a root; the rule also applies to functions reachable only from it. */
static void add_excluded(struct rd_sel *sel, uint32_t fn, enum rd_rule rule)
{
	sel->set->fns[fn].member = true;
	*RD_ADD(sel->excluded, sel->n_excluded, sel->cap_excluded) = (struct rd_sel_excluded){ fn, rule };
}

/*
 * A function that a rule leaves out becomes a root all the same if hooking it costs nothing that matters: queries, which are rare,
 * and destruction of objects that are rarely destroyed. `name` is the word for it: an ops member, or the function itself.
 */
static void add_or_exclude(struct rd_sel *sel, uint32_t fn, const char *name, const char *via, enum rd_rule rule)
{
	if (rule == RD_RULE_SELECTED)
		add_root(sel, fn, via, false);
	else if ((rule == RD_RULE_QUERY && !strncmp(name, "query_", 6)) ||
		 (rule == RD_RULE_CLEANUP && rd_rules_rare(name)))
		add_root(sel, fn, via, true);
	else
		add_excluded(sel, fn, rule);
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

static bool matches_layout(const struct rd_sel_mod *mod, const struct layout *layout, const struct rd_elf_sym *object)
{
	size_t first, n, local = 0;

	if (!layout->type || object->size != layout->size)
		return false;
	n = rd_elf_object_ptrs(&mod->elf, object, &first);
	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;
		uint32_t id;

		if (!rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			return false;
		if (p->extern_name)
			continue;
		/* A function without BTF matches every function pointer. */
		id = mod->btf.end ? rd_btf_find_func(&mod->btf, mod->elf.funcs[p->to].name) : 0;
		if (!rd_btf_is_func_ptr(layout->btf, member.type) ||
		    (id && !rd_btf_points_to(layout->btf, member.type, &mod->btf, id)))
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

/* The functions in a table of callbacks (`struct name`). `rule_of` decides about each member; NULL: the table is a type of user
 * objects, of which only the callback that destroys one counts. That is named for the object, its member is not. */
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
		if (!rule_of && strcmp(member.name, "destroy_object") != 0)
			continue;
		rule = rule_of ? rule_of(member.name) : RD_RULE_CLEANUP;
		snprintf(via, sizeof(via), "%s.%s", name, member.name);
		add_or_exclude(sel, mod->fn_of[p->to], rule_of ? member.name : sel->set->fns[mod->fn_of[p->to]].name,
			       via, rule);
	}
}

static void add_entry_point(struct rd_sel *sel, uint32_t fn, const char *member, enum rd_entry entry)
{
	char via[64];

	if (fn == RD_ELF_NONE)
		return;
	sel->set->fns[fn].entry = entry;
	snprintf(via, sizeof(via), "file_operations.%s", member);
	add_root(sel, fn, via, false);
}

/* uverbs has write, ioctl and mmap; rdma_ucm has a write and its command table. */
static void roots_of_file_operations(struct rd_sel *sel, uint32_t m, const struct layout *layout,
				     const struct rd_elf_sym *object)
{
	enum { WRITE, IOCTL, COMPAT_IOCTL, MMAP, OPEN, MEMBERS };
	static const char *const names[MEMBERS] = { "write", "unlocked_ioctl", "compat_ioctl", "mmap", "open" };
	static const enum rd_entry entries[MEMBERS] = { RD_ENTRY_NONE, RD_ENTRY_UVERBS_IOCTL, RD_ENTRY_UVERBS_IOCTL,
							RD_ENTRY_UVERBS_MMAP, RD_ENTRY_UVERBS_OPEN };
	const struct rd_sel_mod *mod = &sel->mods[m];
	uint32_t fns[MEMBERS]; /* RD_ELF_NONE: not in this module */
	size_t first, n = rd_elf_object_ptrs(&mod->elf, object, &first);

	memset(fns, 0xff, sizeof(fns));
	for (size_t i = first; i < first + n; i++) {
		const struct rd_elf_ptr *p = &mod->elf.ptrs[i];
		struct rd_btf_member member;

		if (!rd_btf_member_at(layout->btf, layout->type, p->offset - object->offset, &member))
			continue;
		for (size_t k = 0; k < MEMBERS; k++)
			if (!strcmp(member.name, names[k]))
				fns[k] = p->extern_name ? RD_ELF_NONE : mod->fn_of[p->to];
	}
	for (size_t i = 0; i < mod->elf.n_objects; i++)
		if (!strcmp(mod->elf.objects[i].name, UCMA_TABLE)) {
			add_entry_point(sel, fns[WRITE], names[WRITE], RD_ENTRY_UCMA_WRITE);
			return;
		}
	/* Device files of drivers, of umad and similar do not lead to verbs: their functions would cause no events. */
	if (sel->set->modules[m].has_ops || fns[WRITE] == RD_ELF_NONE || fns[IOCTL] == RD_ELF_NONE ||
	    fns[MMAP] == RD_ELF_NONE)
		return;
	for (size_t k = IOCTL; k < MEMBERS; k++)
		add_entry_point(sel, fns[k], names[k], entries[k]);
	/* Soft drivers ring their doorbells through write(2) on a uverbs file. */
	add_excluded(sel, fns[WRITE], RD_RULE_DATA_PATH);
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
			add_excluded(sel, fn, rule);
		else
			add_root(sel, fn, via, rule != RD_RULE_SELECTED);
	}
}

/* Classes of user objects: their callbacks create or look up the object of a verb. Posting looks up its queue as well. */
static enum rd_rule rule_of_class_member(const char *name)
{
	return strncmp(name, "lookup", 6) == 0 ? RD_RULE_DATA_PATH : rd_rules_name(name);
}

/* Handlers of ioctl methods and write commands: recognized by the name from the kernel macro, by the table of the core, or by
 * the function type that both have. */
static void add_handler(struct rd_sel *sel, uint32_t fn, bool in_write_table)
{
	struct rd_fn *f = &sel->set->fns[fn];
	/* The kernel macro for ioctl methods generates handler names such as ib_uverbs_handler_UVERBS_METHOD_QP_CREATE; drivers use
	 * their own words before and after "_handler_". */
	const char *macro = strstr(f->name, "_handler_");
	bool ioctl = macro && macro > f->name && macro[9] >= 'A' && macro[9] <= 'Z';
	bool of_core = !strncmp(f->name, "ib_uverbs_", 10), alone;
	enum rd_rule rule;

	if (!ioctl && !in_write_table &&
	    !(f->btf_id && rd_btf_takes_only(&sel->mods[f->module].btf, f->btf_id, "uverbs_attr_bundle")))
		return;
	/* Without a module file the table is not available: helpers have the same type, but not the prefix of the core. */
	if (!ioctl && !sel->set->modules[f->module].file_matches && !of_core)
		return;
	rule = rd_rules_name(f->name);
	/* A handler that a rule leaves out is selected alone: of an ioctl, if it is called rarely; of a write command, always, because
	 * programs that use ioctls never call it. A handler that many methods share does not have the prefix of the core. */
	alone = rule != RD_RULE_DATA_PATH &&
		(ioctl ? rule == RD_RULE_QUERY || rd_rules_rare(f->name) : in_write_table || of_core);
	if (rule != RD_RULE_SELECTED && !alone) {
		add_excluded(sel, fn, rule);
		return;
	}
	if (!ioctl)
		f->entry = RD_ENTRY_WRITE_HANDLER;
	add_root(sel, fn, ioctl ? "ioctl handler" : "write handler", rule != RD_RULE_SELECTED);
}

/*
 * What queries and the destruction of rarely destroyed objects lead to in the RDMA core. Rules leave out functions that read or
 * clean up, because programs that work call some of them all the time; these are called so rarely that hooks cost nothing that
 * matters, and without them the caller would be taken for the origin. Drivers are not followed: of theirs, only the members of
 * ib_device_ops are such roots.
 */

static bool in_core(const struct rd_sel *sel, uint32_t fn)
{
	const struct rd_module *module = &sel->set->modules[sel->set->fns[fn].module];

	return module->rdma && !module->has_ops;
}

/* Sets seen[n_fns] of the functions reachable from `start` by direct calls, without those with `skip` set (NULL: none). `stack`
 * has n_fns elements. */
static void reach(const struct rd_sel *sel, uint32_t start, const bool *skip, bool *seen, uint32_t *stack)
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

			if (seen[to] || (skip && skip[to]))
				continue;
			seen[to] = true;
			stack[depth++] = to;
		}
	}
}

/* They become roots that are selected alone. */
static void add_alone(struct rd_sel *sel)
{
	struct rd_fnset *set = sel->set;
	size_t n_roots = set->n_roots, n = set->n_fns + 1;
	_cleanup_free_ bool *outside = rd_alloc(n, 1); /* functions of drivers, which are not followed */
	/* Reached from what destroys memory regions, memory windows and address handles. */
	_cleanup_free_ bool *frequent = rd_alloc(n, 1), *seen = rd_alloc(n, 1);
	_cleanup_free_ uint32_t *stack = rd_alloc(n, sizeof(*stack));

	/* Functions that clean up in the core, but not for a rare object: what they call is called frequently. */
	for (uint32_t i = 0; i < set->n_fns; i++)
		outside[i] = !in_core(sel, i);
	for (size_t i = 0; i < sel->n_excluded; i++)
		if (sel->excluded[i].rule == RD_RULE_CLEANUP || sel->excluded[i].rule == RD_RULE_DATA_PATH)
			reach(sel, sel->excluded[i].fn, outside, frequent, stack);
	for (size_t i = 0; i < n_roots; i++)
		if (set->roots[i].alone && in_core(sel, set->roots[i].fn))
			reach(sel, set->roots[i].fn, outside, seen, stack);
	for (uint32_t i = 0; i < set->n_fns; i++) {
		enum rd_rule rule = seen[i] && !frequent[i] ? rd_rules_name(set->fns[i].name) : RD_RULE_SELECTED;

		if (rule == RD_RULE_QUERY || (rule == RD_RULE_CLEANUP && rd_rules_rare(set->fns[i].name)))
			add_root(sel, i, rule == RD_RULE_QUERY ? "query" : "destruction", true);
	}
}

void rd_sel_find_roots(struct rd_sel *sel)
{
	/* The entry points of the core, for modules without a file. */
	static const struct {
		const char *name, *member;
		enum rd_entry entry;
	} entries[] = {
		{ "ib_uverbs_ioctl", "unlocked_ioctl", RD_ENTRY_UVERBS_IOCTL },
		{ "ib_uverbs_mmap", "mmap", RD_ENTRY_UVERBS_MMAP },
		{ "ib_uverbs_open", "open", RD_ENTRY_UVERBS_OPEN },
		{ "ucma_write", "write", RD_ENTRY_UCMA_WRITE },
	};
	struct layout device = find_layout(sel, "ib_device_ops"), class = find_layout(sel, "uverbs_obj_type_class");
	struct layout type = find_layout(sel, "uverbs_obj_idr_type");
	struct layout file = { 0 };

	if (sel->base.end) {
		file = (struct layout){ .btf = &sel->base };
		file.type = rd_btf_find(&sel->base, "file_operations", BTF_KIND_STRUCT);
		file.size = file.type ? rd_btf_size(&sel->base, file.type) : 0;
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
				roots_of_table(sel, m, "uverbs_obj_idr_type", &type, object, NULL);
		}
		for (uint32_t i = mod->first_fn; !sel->set->modules[m].file_matches && i < mod->first_fn + mod->n_fns;
		     i++) {
			for (size_t d = 0; d < RD_ARRAY_SIZE(entries); d++)
				if (!strcmp(sel->set->fns[i].name, entries[d].name))
					add_entry_point(sel, i, entries[d].member, entries[d].entry);
			add_handler(sel, i, false);
		}
		if (!sel->set->modules[m].file_matches)
			continue;
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
	add_alone(sel);
}

/* The rule for each function: selected because verbs reach it, or left out and why. */

struct work {
	enum rd_rule *by_name; /* per function */
	bool *skip;	       /* not followed from roots */
	bool *seen;
	uint32_t *stack;
};

static void find_roots_of_functions(struct rd_sel *sel, struct work *w)
{
	struct rd_fnset *set = sel->set;

	for (uint32_t r = 0; r < set->n_roots; r++) {
		memset(w->seen, 0, set->n_fns);
		if (set->roots[r].alone)
			w->seen[set->roots[r].fn] = true;
		else
			reach(sel, set->roots[r].fn, w->skip, w->seen, w->stack);
		for (size_t i = 0; i < set->n_fns; i++) {
			struct rd_fn *fn = &set->fns[i];
			/* Doubled when the count is a power of two. */
			size_t cap = fn->n_roots;

			if (!w->seen[i])
				continue;
			if (!(cap & (cap - 1)))
				rd_reserve(&fn->roots, &cap, cap + 1, sizeof(*fn->roots));
			fn->roots[fn->n_roots++] = r;
		}
	}
}

/*
 * In the kernel, "inline" implies notrace: in a module whose functions ftrace can hook, a function that it cannot hook is an
 * out-of-line copy of an inline function, usually from a header. Functions that it calls are still followed.
 */
static void leave_out_inline(const struct rd_sel *sel, struct work *w)
{
	for (size_t m = 0; m < sel->set->n_modules; m++) {
		uint32_t first = sel->mods[m].first_fn, end = first + sel->mods[m].n_fns;
		bool traced = false;

		for (uint32_t i = first; i < end; i++)
			traced = traced || sel->set->fns[i].in_filter;
		for (uint32_t i = first; traced && i < end; i++)
			if (!sel->set->fns[i].in_filter && w->by_name[i] == RD_RULE_SELECTED)
				w->by_name[i] = RD_RULE_COMMON;
	}
}

static enum rd_rule rule_of(const struct rd_sel *sel, const struct work *w, size_t i)
{
	const struct rd_fn *fn = &sel->set->fns[i];
	const struct rd_module *module = &sel->set->modules[fn->module];

	if (fn->entry != RD_ENTRY_NONE)
		return RD_RULE_ENTRY;
	if (w->by_name[i] != RD_RULE_SELECTED)
		return w->by_name[i];
	/* Without a module file there is no call graph: selected by name and type. */
	if (!fn->n_roots && !(module->rdma && !module->file_matches && rd_rules_changes(fn->name)))
		return RD_RULE_NOT_REACHED;
	return fn->ret == RD_RET_UNKNOWN || fn->ret == RD_RET_INT || fn->ret == RD_RET_LONG || fn->ret == RD_RET_PTR ?
		       RD_RULE_SELECTED :
		       RD_RULE_RETURN;
}

/* Marks in w->seen the functions of one rule, and all functions reachable from them. */
static void reach_excluded(struct rd_sel *sel, struct work *w, enum rd_rule rule, const bool *skip)
{
	memset(w->seen, 0, sel->set->n_fns);
	for (size_t i = 0; i < sel->n_excluded; i++)
		if (sel->excluded[i].rule == rule)
			reach(sel, sel->excluded[i].fn, skip, w->seen, w->stack);
}

/*
 * Callbacks that are set up when a queue pair, completion queue or receive queue is created (tasks, timers, completion handlers)
 * run on the data path, in threads other than that of the verb: their errors do not reach a caller.
 */
static void add_queue_callbacks(struct rd_sel *sel, struct work *w)
{
	static const char *const makers[] = { "ib_device_ops.create_qp", "ib_device_ops.create_cq",
					      "ib_device_ops.create_srq" };

	memset(w->seen, 0, sel->set->n_fns);
	for (size_t i = 0; i < sel->set->n_roots; i++)
		for (size_t j = 0; j < RD_ARRAY_SIZE(makers); j++)
			if (!strcmp(sel->set->roots[i].via, makers[j]))
				reach(sel, sel->set->roots[i].fn, w->skip, w->seen, w->stack);
	for (size_t i = 0; i < sel->n_takes; i++)
		if (w->seen[sel->takes[i].from] && w->by_name[sel->takes[i].to] == RD_RULE_SELECTED)
			add_excluded(sel, sel->takes[i].to, RD_RULE_DATA_PATH);
}

/*
 * Functions reachable from posting and polling run on the data path, even if verbs reach them too: the doorbell of a soft driver
 * is a write(2), and a hook there would slow it down. Roots are not followed: drivers modify a queue pair after a failed post.
 */
static void leave_out_data_path(struct rd_sel *sel, struct work *w)
{
	for (size_t i = 0; i < sel->set->n_roots; i++)
		w->skip[sel->set->roots[i].fn] = true;
	reach_excluded(sel, w, RD_RULE_DATA_PATH, w->skip);
	for (size_t i = 0; i < sel->set->n_fns; i++)
		if (w->seen[i] && w->by_name[i] == RD_RULE_SELECTED)
			w->by_name[i] = RD_RULE_DATA_PATH;
	for (size_t i = 0; i < sel->set->n_roots; i++)
		for (size_t e = 0; sel->set->roots[i].alone && e < sel->n_edges; e++)
			if (sel->edges[e].to == sel->set->roots[i].fn && w->seen[sel->edges[e].from])
				w->by_name[sel->edges[e].to] = RD_RULE_DATA_PATH;
}

/* Gives functions that no root reaches the rule of the functions that reach them. */
static void inherit_rule(struct rd_sel *sel, struct work *w, enum rd_rule rule)
{
	struct rd_fnset *set = sel->set;

	reach_excluded(sel, w, rule, NULL);
	for (uint32_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].rule == rule)
			reach(sel, i, NULL, w->seen, w->stack);
	for (size_t i = 0; i < set->n_fns; i++)
		if (w->seen[i] && set->fns[i].rule == RD_RULE_NOT_REACHED)
			set->fns[i].rule = rule;
}

/* Rules by name, overridden for known roots and ops members. */
static void judge_names(struct rd_sel *sel, struct work *w)
{
	struct rd_fnset *set = sel->set;

	for (size_t i = 0; i < set->n_fns; i++) {
		w->by_name[i] = rd_rules_name(set->fns[i].name);
		/* With a call graph, posting is known by its ops members; a name alone may belong to a function of a verb. */
		if (w->by_name[i] == RD_RULE_DATA_PATH && set->modules[set->fns[i].module].file_matches)
			w->by_name[i] = RD_RULE_SELECTED;
	}
	for (size_t i = 0; i < sel->n_excluded; i++)
		if (w->by_name[sel->excluded[i].fn] == RD_RULE_SELECTED)
			w->by_name[sel->excluded[i].fn] = sel->excluded[i].rule;
	for (size_t i = 0; i < set->n_roots; i++)
		w->by_name[set->roots[i].fn] = RD_RULE_SELECTED;
	/* A cold part is left out, but its calls are calls of its function. */
	for (size_t i = 0; i < set->n_fns; i++)
		w->skip[i] = w->by_name[i] != RD_RULE_SELECTED && w->by_name[i] != RD_RULE_COLD;
	for (size_t i = 0; i < set->n_roots; i++)
		w->skip[set->roots[i].fn] |= set->roots[i].alone;
}

void rd_sel_judge(struct rd_sel *sel)
{
	static const enum rd_rule inherited[] = { RD_RULE_DATA_PATH, RD_RULE_QUERY, RD_RULE_CLEANUP,
						  RD_RULE_DIAGNOSTIC };
	struct rd_fnset *set = sel->set;
	size_t n = set->n_fns + 1;
	struct work w = {
		.by_name = rd_alloc(n, sizeof(*w.by_name)),
		.skip = rd_alloc(n, 1),
		.seen = rd_alloc(n, 1),
		.stack = rd_alloc(n, sizeof(*w.stack)),
	};

	judge_names(sel, &w);
	find_roots_of_functions(sel, &w);
	add_queue_callbacks(sel, &w);
	leave_out_data_path(sel, &w);
	leave_out_inline(sel, &w);
	for (size_t i = 0; i < set->n_fns; i++) {
		set->fns[i].rule = rule_of(sel, &w, i);
		set->fns[i].selected = set->fns[i].rule <= RD_RULE_ENTRY;
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(inherited); i++)
		inherit_rule(sel, &w, inherited[i]);
	RD_FREE(w.by_name, w.skip, w.seen, w.stack);
}
