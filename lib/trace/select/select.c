// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the functions to trace: loads the modules, each with its file (found through modules.dep, decompressed, and compared with
 * the loaded module by build-id), their functions and the offsets of their structures.
 */
#include "trace/select/select.h"

#include <pthread.h>
#include <stdatomic.h>

#include "trace/select/sel.h"

/* The largest modules (GPU drivers) have about 50 MiB with debug information. */
#define MODULE_LIMIT ((size_t)256 << 20)
#define MAX_THREADS 7

/* A file that may be the file of a module. */
struct candidate {
	uint32_t module;
	char *path;
	struct rd_bytes packed, bytes;
	struct rd_elf elf;
	struct rd_err err;
	int rc;
};

struct candidates {
	struct candidate *v;
	size_t n, cap;
	atomic_size_t next; /* the first that is not processed yet */
};

/* Everything that needs only the bytes of files. */
static void *parse_thread(void *arg)
{
	struct candidates *c = arg;

	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;) {
		struct candidate *one = &c->v[i];

		if (one->rc)
			continue;
		one->rc = rd_unpack(&one->packed, MODULE_LIMIT, &one->bytes, &one->err);
		rd_bytes_deinit(&one->packed);
		if (!one->rc)
			one->rc = rd_elf_init(&one->elf, one->bytes.data, one->bytes.size, &one->err);
		if (!one->rc)
			rd_elf_read_refs(&one->elf);
	}
	return NULL;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	/* Largest first, because they take longest. */
	return RD_CMP(y->packed.size, x->packed.size) ?: RD_CMP(x->module, y->module);
}

/* Whether the file has the build-id of the loaded module. False if either has none. */
static bool is_loaded_build(struct rd_sel *sel, const char *name, const struct rd_elf *elf)
{
	_cleanup_bytes_ struct rd_bytes note = { 0 };
	const uint8_t *loaded, *file;
	size_t loaded_size, file_size;
	char path[160];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	if (rd_read_file(sel->src, path, &note, NULL))
		return false;
	loaded = rd_elf_note_build_id(note.data, note.size, &loaded_size);
	file = rd_elf_build_id(elf, &file_size);
	return loaded && file && loaded_size == file_size && !memcmp(loaded, file, file_size);
}

/* The files of the modules from `first` on: the nth file of each by modules.dep, until one is that of the loaded module. */
static int find_files(struct rd_sel *sel, uint32_t first)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (size_t nth = 0;; nth++) {
		pthread_t threads[MAX_THREADS];
		struct candidates c = { 0 };
		size_t n = 0, all;
		int rc = 0;

		for (uint32_t m = first; m < sel->set->n_modules; m++) {
			struct candidate one = { .module = m };

			if (sel->set->modules[m].file_matches)
				continue;
			one.path = rd_moddep_path(&sel->dep, sel->set->modules[m].name, nth);
			if (!one.path)
				continue;
			one.rc = rd_read_file(sel->src, one.path, &one.packed, &one.err);
			*RD_ADD(c.v, c.n, c.cap) = one;
		}
		rd_sort(c.v, c.n, sizeof(*c.v), compare_candidates);
		/* Decompression takes most of the time, and modules are independent of each other. */
		while (n < MAX_THREADS && (long)n + 1 < cpus && n + 1 < c.n &&
		       !pthread_create(&threads[n], NULL, parse_thread, &c))
			n++;
		parse_thread(&c);
		while (n)
			pthread_join(threads[--n], NULL);
		for (struct candidate *one = c.v; one < c.v + c.n; one++) {
			struct rd_module *module = &sel->set->modules[one->module];
			struct rd_sel_mod *mod = &sel->mods[one->module];

			if (!rc && one->rc) {
				mod->why = "cannot read its file";
				if (!one->err.object[0])
					snprintf(one->err.object, sizeof(one->err.object), "%s", one->path);
				rd_errlist_add(sel->notes, &one->err);
				rc = one->rc == -ENOMEM ? one->rc : 0;
			} else if (!rc && !is_loaded_build(sel, module->name, &one->elf)) {
				mod->why = "its file is from a different build";
			} else if (!rc) {
				mod->elf = one->elf;
				mod->file = one->bytes;
				one->elf = (struct rd_elf){ 0 };
				one->bytes = (struct rd_bytes){ 0 };
				module->path = RD_TAKE(one->path);
				module->file_matches = true;
			}
			free(one->path);
			rd_bytes_deinit(&one->packed);
			rd_bytes_deinit(&one->bytes);
			rd_elf_deinit(&one->elf);
		}
		all = c.n;
		free(c.v);
		if (rc)
			return rd_err_set(sel->err, ENOMEM, NULL, "cannot select the functions to trace");
		if (!all)
			return 0;
	}
}

static int compare_bare(const void *a, const void *b)
{
	return rd_fn_compare_bare(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Functions that the types of a module describe, but no symbol of its file names. Without types: functions with an ftrace site, if
 * these are too many to be overridden weak functions, whose code is left without a symbol.
 */
static void count_unnamed(struct rd_module *module, const struct rd_sel_mod *mod)
{
	const struct rd_elf *elf = &mod->elf;
	_cleanup_free_ const char **names = rd_alloc(elf->n_symtab, sizeof(*names));
	size_t n = 0;

	if (!module->has_btf && elf->unnamed > elf->n_funcs / 8)
		module->unnamed = (uint32_t)elf->unnamed;
	for (size_t i = 0; i < elf->n_symtab; i++) {
		const char *name = rd_elf_defined_func(elf, &elf->symtab[i]);

		if (name)
			names[n++] = name;
	}
	qsort(names, n, sizeof(*names), compare_bare);
	for (size_t i = 0; i < mod->btf.n_funcs; i++)
		module->unnamed += !bsearch(&mod->btf.funcs[i].name, names, n, sizeof(*names), compare_bare);
}

static void note_missing(struct rd_sel *sel, struct rd_module *module, const char *why)
{
	const char *loss;
	struct rd_err err = { 0 };

	if (module->file_matches && module->has_btf) {
		if (!module->unnamed)
			return;
		module->note = rd_text(
			"symbols of %u or more functions were removed from its file: these functions are not known",
			module->unnamed);
		rd_err_set(&err, ENODATA, module->path, "%s", module->note);
		rd_errlist_add(sel->notes, &err);
		return;
	}
	if (module->file_matches) {
		why = "no type information (BTF)";
		loss = ": return types are guessed, and only kprobes can hook its functions";
	} else if (module->has_btf) {
		loss = ": no call graph: functions are selected by type and name, so some are missing and some "
		       "may be on the data path";
	} else {
		loss = ", and no type information (BTF): functions are selected by name alone, so some are "
		       "missing and some may be on the data path";
	}
	module->note = rd_text("%s%s", why, loss);
	rd_err_set(&err, ENOENT, module->name, "%s", module->note);
	rd_errlist_add(sel->notes, &err);
}

/* rd_module.instance. */
static uint64_t instance_of(struct rd_source *src, const char *module)
{
	uint64_t inode = 0;
	char path[160];

	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s", module) >= sizeof(path) ||
	    rd_stat(src, RD_OP_INO, path, &inode, NULL))
		return 0;
	return inode;
}

/* Adds the modules with which[index in kmods], with their files and BTF; notes what is missing. */
static int load_modules(struct rd_sel *sel, const bool *which, bool rdma)
{
	uint32_t first = (uint32_t)sel->set->n_modules;
	int rc;

	for (size_t i = 0; i < sel->kmods.n; i++)
		if (which[i]) {
			const char *name = sel->kmods.v[i].name;
			size_t m = sel->set->n_modules++;

			rd_reserve(&sel->set->modules, &sel->set->cap_modules, m + 1, sizeof(*sel->set->modules));
			rd_reserve(&sel->mods, &sel->cap_mods, m + 1, sizeof(*sel->mods));
			sel->set->modules[m] = (struct rd_module){ .name = rd_dup(name),
								   .rdma = rdma,
								   .instance = instance_of(sel->src, name) };
			rd_read_textf(sel->src, &sel->set->modules[m].version, NULL, "/sys/module/%s/version", name);
			sel->mods[m] = (struct rd_sel_mod){ .why = "file not found" };
		}
	rc = find_files(sel, first);
	for (uint32_t m = first; !rc && m < sel->set->n_modules; m++) {
		struct rd_module *module = &sel->set->modules[m];
		struct rd_err err = { 0 };
		int none = sel->base.end ?
				   rd_btf_read_module(sel->src, &sel->base, module->name, &sel->mods[m].btf, &err) :
				   -ENOENT;

		module->has_btf = !none;
		if (none == -ENOMEM)
			return rd_err_set(sel->err, ENOMEM, module->name, "cannot select the functions to trace");
		if (none && none != -ENOENT)
			rd_errlist_add(sel->notes, &err);
		if (module->file_matches)
			count_unnamed(module, &sel->mods[m]);
		note_missing(sel, module, sel->mods[m].why);
	}
	return rc;
}

/* ---- the functions of a module: from its file and the section addresses, or from kallsyms and available_filter_functions */

struct entry {
	struct rd_fn fn;
	uint32_t elf_func; /* RD_ELF_NONE: not from a file */
};

static int compare_entries(const void *a, const void *b)
{
	const struct rd_fn *x = a, *y = b;

	return RD_CMP(x->addr, y->addr) ?: strcmp(x->name, y->name);
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
			_cleanup_free_ char *text = NULL;
			const char *name = rd_elf_section_name(elf, f->section);

			section = f->section;
			/* Hidden by the kernel without CAP_SYSLOG or kptr_restrict=0. */
			if (strchr(name, '/') ||
			    rd_read_textf(sel->src, &text, NULL, "/sys/module/%s/sections/%s",
					  sel->set->modules[m].name, name) ||
			    rd_parse_uint(text, RD_HEX, UINT64_MAX, &base) < 0)
				base = 0;
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
	/* NOKPROBE_SYMBOL() puts the address of a function into a section, from which the kernel makes its list of refused functions. */
	for (size_t i = 0; i < elf->n_ptrs; i++) {
		const struct rd_elf_ptr *ptr = &elf->ptrs[i];

		if (ptr->to != RD_ELF_NONE && !strcmp(rd_elf_section_name(elf, ptr->section), RD_ELF_NOKPROBE))
			v[ptr->to].fn.no_kprobe = true;
	}
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

static struct entry *from_lists(struct rd_sel *sel, uint32_t m, size_t *n)
{
	const char *module = sel->set->modules[m].name;
	struct rd_err err = { 0 };
	struct entry *v;

	if (!sel->ksyms_read && rd_ksyms_read(sel->src, lacks_file, sel, &sel->ksyms, &err))
		rd_errlist_add(sel->notes, &err);
	if (!sel->ksyms_read && rd_ksyms_read_filter(sel->src, lacks_file, sel, &sel->filter, &err)) {
		rd_err_hint(&err, "which functions can be hooked is unknown until attaching");
		rd_errlist_add(sel->notes, &err);
	}
	if (!sel->ksyms_read)
		rd_sort(sel->filter.v, sel->filter.n, sizeof(*sel->filter.v), compare_ksyms);
	sel->ksyms_read = true;
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

static void add_functions(struct rd_sel *sel, uint32_t m)
{
	struct rd_sel_mod *mod = &sel->mods[m];
	struct rd_fnset *set = sel->set;
	size_t n = 0;
	_cleanup_free_ struct entry *v = set->modules[m].file_matches ? from_elf(sel, m, &n) : from_lists(sel, m, &n);
	_cleanup_free_ struct rd_fn **by_name = rd_alloc(n, sizeof(*by_name));
	struct rd_fn *first;

	rd_reserve(&set->fns, &set->cap_fns, set->n_fns + n, sizeof(*set->fns));
	mod->fn_of = rd_alloc(mod->elf.n_funcs, sizeof(*mod->fn_of));
	rd_sort(v, n, sizeof(*v), compare_entries);
	mod->first_fn = (uint32_t)set->n_fns;
	mod->n_fns = (uint32_t)n;
	first = set->fns + set->n_fns;
	for (size_t i = 0; i < n; i++) {
		if (v[i].elf_func != RD_ELF_NONE)
			mod->fn_of[v[i].elf_func] = (uint32_t)set->n_fns;
		by_name[i] = &set->fns[set->n_fns];
		set->fns[set->n_fns++] = v[i].fn;
	}
	qsort(by_name, n, sizeof(*by_name), compare_names);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(by_name[i - 1]->name, by_name[i]->name))
			by_name[i - 1]->ambiguous = by_name[i]->ambiguous = true;
	for (struct rd_fn *fn = first; fn < first + n; fn++) {
		size_t len = strcspn(fn->name, ".");
		_cleanup_free_ char *bare = rd_dup_part(fn->name, len);
		bool has_btf = set->modules[m].has_btf;

		fn->module = m;
		fn->qp_arg = fn->dev_arg = -1;
		fn->suffixed = fn->name[len] != 0;
		fn->rule = RD_RULE_NOT_REACHED;
		fn->btf_id = has_btf ? rd_btf_find_func(&mod->btf, bare) : 0;
		if (fn->btf_id)
			rd_btf_describe(&mod->btf, fn->btf_id, fn);
		/* A clone has lost or reordered arguments: of the BTF information, only the return type applies to it. */
		if (fn->suffixed) {
			fn->btf_id = 0;
			fn->args_ok = false;
			fn->qp_arg = fn->dev_arg = -1;
		}
		if (!fn->in_filter)
			continue;
		if (has_btf && fn->btf_id && fn->args_ok && !fn->ambiguous)
			fn->attachable |= 1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_FEXIT_MULTI;
		if (fn->addr || !fn->ambiguous)
			fn->attachable |= 1 << RD_BACKEND_KPROBE_MULTI | (fn->no_kprobe ? 0 : 1 << RD_BACKEND_KPROBE);
	}
}

/* ---- offsets in structures of the RDMA core, from the BTF of the loaded modules, and functions whose arguments are worth noting */

#define MODIFY_QP_IS_OK "ib_modify_qp_is_ok"

int rd_sel_offset(const struct rd_btf *btf, uint32_t type, const char *path, uint64_t size)
{
	struct rd_btf_member m = { .type = type };
	int sum = 0;

	for (;;) {
		size_t n = strcspn(path, ".>");
		_cleanup_free_ char *name = rd_dup_part(path, n);

		if (!m.type || !rd_btf_member(btf, m.type, name, &m))
			return -1;
		sum += m.offset;
		if (!path[n])
			return !size || rd_btf_size(btf, m.type) == size ? sum : -1;
		if (path[n] == '>') {
			m.type = rd_btf_pointee(btf, m.type);
			sum = 0;
		}
		path += n + 1;
	}
}

static void find_offsets(struct rd_sel *sel)
{
	static const char *const cores[] = { "ib_core", "ib_uverbs", "rdma_cm" };
	static const struct {
		const char *type, *path; /* rows of one type are adjacent */
		size_t to;
	} rows[] = {
		{ "ib_qp", "qp_num", offsetof(struct rd_offsets, qp_num) },
		{ "ib_qp", "port", offsetof(struct rd_offsets, qp_port) },
		{ "ib_qp", "qp_type", offsetof(struct rd_offsets, qp_type) },
		{ "ib_qp", "device", offsetof(struct rd_offsets, qp_device) },
		{ "ib_qp", "qp_num", offsetof(struct rd_offsets, objects[4].number) },
		{ "ib_qp", "usecnt", offsetof(struct rd_offsets, objects[4].users) },
		{ "ib_device", "name", offsetof(struct rd_offsets, ibdev_name) },
		{ "uverbs_attr_bundle", "ucore.inbuf", offsetof(struct rd_offsets, bundle_in) },
		{ "uverbs_attr_bundle", "ucore.inlen", offsetof(struct rd_offsets, bundle_in_len) },
		{ "uverbs_attr_bundle", "ufile", offsetof(struct rd_offsets, bundle_ufile) },
		{ "uverbs_attr_bundle", "ufile>idr.xa_head", offsetof(struct rd_offsets, ufile_idr) },
		{ "uverbs_attr_bundle", "ufile>device", offsetof(struct rd_offsets, ufile_device) },
		{ "uverbs_attr_bundle", "ufile>device>dev.devt", offsetof(struct rd_offsets, uverbs_dev_devt) },
		{ "uverbs_attr_bundle", "uobject>object", offsetof(struct rd_offsets, uobject_object) },
		{ "uverbs_attr_bundle", "uobject>usecnt", offsetof(struct rd_offsets, uobject_usecnt) },
		{ "uverbs_attr_bundle", "uobject>uapi_object", offsetof(struct rd_offsets, uobject_api) },
		{ "uverbs_attr_bundle", "uobject>uapi_object>id", offsetof(struct rd_offsets, api_id) },
		{ "ib_pd", "res.id", offsetof(struct rd_offsets, objects[1].number) },
		{ "ib_pd", "usecnt", offsetof(struct rd_offsets, objects[1].users) },
		{ "ib_cq", "res.id", offsetof(struct rd_offsets, objects[3].number) },
		{ "ib_cq", "usecnt", offsetof(struct rd_offsets, objects[3].users) },
		{ "ib_srq", "res.id", offsetof(struct rd_offsets, objects[5].number) },
		{ "ib_srq", "usecnt", offsetof(struct rd_offsets, objects[5].users) },
		{ "ib_mr", "res.id", offsetof(struct rd_offsets, objects[7].number) },
		{ "ib_mr", "usecnt", offsetof(struct rd_offsets, objects[7].users) },
		{ "ib_xrcd", "res.id", offsetof(struct rd_offsets, objects[10].number) },
		{ "ib_xrcd", "usecnt", offsetof(struct rd_offsets, objects[10].users) },
		{ "ib_wq", "res.id", offsetof(struct rd_offsets, objects[12].number) },
		{ "ib_wq", "usecnt", offsetof(struct rd_offsets, objects[12].users) },
	};
	struct rd_offsets *off = &sel->set->off;

	memset(off, 0xff, sizeof(*off)); /* -1: unknown */
	for (size_t i = 0; i < RD_ARRAY_SIZE(cores); i++)
		for (size_t m = 0; m < sel->set->n_modules; m++) {
			const struct rd_btf *btf = &sel->mods[m].btf;
			const char *found = "";
			uint32_t type = 0;

			if (!sel->set->modules[m].has_btf || strcmp(sel->set->modules[m].name, cores[i]) != 0)
				continue;
			for (size_t r = 0; r < RD_ARRAY_SIZE(rows); r++) {
				int *to = (int *)((char *)off + rows[r].to);

				if (*to >= 0)
					continue;
				if (strcmp(found, rows[r].type) != 0)
					type = rd_btf_find_struct(btf, rows[r].type);
				found = rows[r].type;
				*to = rd_sel_offset(btf, type, rows[r].path, 0);
			}
			/* The private part of a rdma_cm_id begins with it. */
			type = off->cm_state < 0 ? rd_btf_find_struct(btf, "rdma_id_private") : 0;
			if (type && !rd_sel_offset(btf, type, "id", 0))
				off->cm_state = rd_sel_offset(btf, type, "state", 0);
		}
	for (size_t i = 0; i < sel->set->n_fns; i++) {
		struct rd_fn *fn = &sel->set->fns[i];
		const struct rd_module *module = &sel->set->modules[fn->module];

		if (!module->rdma || module->has_ops || !fn->attachable)
			continue;
		if (!strcmp(fn->name, MODIFY_QP_IS_OK))
			fn->notes |= RD_NOTE_QP;
		else if (fn->selected && fn->btf_id && off->cm_state >= 0 &&
			 rd_btf_takes_first(&sel->mods[fn->module].btf, fn->btf_id, "rdma_cm_id"))
			fn->notes |= RD_NOTE_CM;
	}
}

/* Reads what all modules need. Only the list of modules is mandatory. */
static int read_common(struct rd_sel *sel)
{
	/* Types and functions that the kernel has only if it was configured with the backend. */
	static const struct {
		enum rd_backend backend;
		const char *name;
		uint32_t kind;
	} signs[] = {
		{ RD_BACKEND_FEXIT, "register_ftrace_direct", BTF_KIND_FUNC },
		{ RD_BACKEND_FEXIT_MULTI, "bpf_tracing_multi_link", BTF_KIND_STRUCT },
		{ RD_BACKEND_KPROBE_MULTI, "bpf_kprobe_multi_link", BTF_KIND_STRUCT },
		{ RD_BACKEND_KPROBE, "trace_kprobe", BTF_KIND_STRUCT },
	};
	struct rd_err err = { 0 };
	int rc;

	rc = rd_kmods_read(sel->src, &sel->kmods, sel->err);
	if (rc)
		return rc;
	rc = rd_read_textf(sel->src, &sel->set->kernel, &err, "/proc/sys/kernel/osrelease");
	if (!rc)
		rc = rd_moddep_read(sel->src, sel->set->kernel, &sel->dep, &err);
	if (rc == -ENOMEM)
		return rd_err_set(sel->err, ENOMEM, NULL, "cannot select the functions to trace");
	if (rc) {
		rd_err_hint(&err, "in a container, mount the host's /lib/modules");
		rd_errlist_add(sel->notes, &err);
	}
	rc = rd_btf_read_base(sel->src, &sel->base, &err);
	if (rc == -ENOMEM)
		return rd_err_set(sel->err, ENOMEM, NULL, "cannot select the functions to trace");
	if (rc)
		rd_errlist_add(sel->notes, &err);
	/* Attaching does not depend on it. */
	sel->set->backends = sel->base.end ? 0 : UINT8_MAX;
	for (size_t i = 0; sel->base.end && i < RD_ARRAY_SIZE(signs); i++)
		if (rd_btf_find(&sel->base, signs[i].name, signs[i].kind))
			sel->set->backends |= (uint8_t)(1u << signs[i].backend);
	return 0;
}

/*
 * A module that an RDMA driver depends on is the core driver of that vendor if it has device drivers itself; others (tunnels,
 * libraries) are common kernel code.
 */
static bool is_core_driver(const struct rd_sel *sel, const struct rd_kmod *mod)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	bool below = false;
	char path[160];

	for (size_t i = 0; i < sel->set->n_modules; i++)
		if (!strcmp(sel->set->modules[i].name, mod->name))
			return false;
	for (size_t i = 0; i < sel->set->n_modules && !below; i++)
		below = sel->set->modules[i].has_ops && rd_texts_has(&mod->users, sel->set->modules[i].name);
	if (!below)
		return false;
	snprintf(path, sizeof(path), "/sys/module/%s/drivers", mod->name);
	return !rd_list_dir(sel->src, path, &names, NULL) && names.n;
}

/* The RDMA modules, then the core drivers below them. */
static int load_all(struct rd_sel *sel)
{
	int core = rd_kmods_find(&sel->kmods, "ib_core"), rc;
	_cleanup_free_ bool *rdma = NULL, *lower = rd_alloc(sel->kmods.n, sizeof(*lower));

	if (core < 0) {
		_cleanup_texts_ struct rd_texts names = { 0 };
		bool built_in = !rd_list_dir(sel->src, "/sys/module/ib_core", &names, NULL);

		rd_err_set(sel->err, ENODEV, "ib_core",
			   built_in ? "RDMA is built into this kernel; only modules can be traced" : RD_NO_RDMA_MODULE);
		if (!built_in)
			rd_err_hint(sel->err, "load a driver, for example: modprobe rdma_rxe");
		return -ENODEV;
	}
	rdma = rd_alloc(sel->kmods.n, sizeof(*rdma));
	rd_kmods_mark_users(&sel->kmods, core, rdma);
	rc = load_modules(sel, rdma, true);
	if (rc)
		return rc;
	rd_sel_find_drivers(sel);
	for (size_t i = 0; i < sel->kmods.n; i++)
		lower[i] = is_core_driver(sel, &sel->kmods.v[i]);
	return load_modules(sel, lower, false);
}

/* Without the edges of functions that were removed. Returns their number. */
static size_t move_edges(struct rd_sel_edge *v, size_t n, const uint32_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rd_sel_edge edge = { moved[v[i].from], moved[v[i].to] };

		if (edge.from != UINT32_MAX && edge.to != UINT32_MAX)
			v[kept++] = edge;
	}
	return kept;
}

/* Removes functions of core drivers that are not reachable from verbs. The order is kept, so indices only decrease. */
static void drop_unreached(struct rd_sel *sel)
{
	struct rd_fnset *set = sel->set;
	_cleanup_free_ uint32_t *moved = rd_alloc(set->n_fns, sizeof(*moved));
	uint32_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++) {
		if (!set->modules[set->fns[i].module].rdma && !set->fns[i].n_roots) {
			RD_FREE(set->fns[i].name, set->fns[i].roots);
			moved[i] = UINT32_MAX;
			continue;
		}
		moved[i] = n;
		set->fns[n++] = set->fns[i];
	}
	set->n_fns = n;
	for (size_t i = 0; i < set->n_roots; i++)
		set->roots[i].fn = moved[set->roots[i].fn];
	sel->n_edges = move_edges(sel->edges, sel->n_edges, moved);
	sel->n_takes = move_edges(sel->takes, sel->n_takes, moved);
	for (size_t m = 0; m < set->n_modules; m++)
		for (size_t i = 0; i < sel->mods[m].elf.n_funcs; i++)
			sel->mods[m].fn_of[i] = moved[sel->mods[m].fn_of[i]];
}

int rd_select_then(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err,
		   rd_sel_then_fn *then, void *arg)
{
	struct rd_fnset set = { 0 };
	struct rd_sel sel = { .src = src, .set = &set, .notes = notes, .err = err };
	int rc;

	rc = read_common(&sel);
	if (!rc)
		rc = load_all(&sel);
	if (!rc) {
		for (uint32_t m = 0; m < set.n_modules; m++)
			add_functions(&sel, m);
		rd_sel_build_graph(&sel);
		rd_sel_find_roots(&sel);
		rd_sel_judge(&sel);
		find_offsets(&sel);
		drop_unreached(&sel);
		rd_sel_note_calls(&sel);
	}
	if (!rc && then)
		rc = then(&sel, arg);
	for (size_t i = 0; i < set.n_modules; i++) {
		rd_elf_deinit(&sel.mods[i].elf);
		rd_btf_deinit(&sel.mods[i].btf);
		rd_bytes_deinit(&sel.mods[i].file);
		free(sel.mods[i].fn_of);
	}
	rd_btf_deinit(&sel.base);
	rd_kmods_deinit(&sel.kmods);
	rd_moddep_deinit(&sel.dep);
	rd_ksyms_deinit(&sel.ksyms);
	rd_ksyms_deinit(&sel.filter);
	RD_FREE(sel.mods, sel.edges, sel.takes, sel.edge_first, sel.excluded);
	if (rc) {
		rd_fnset_deinit(&set);
		return rc;
	}
	*ret = set;
	return 0;
}

int rd_select(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err)
{
	return rd_select_then(src, ret, notes, err, NULL, NULL);
}

int rd_select_news(struct rd_source *src, const struct rd_fnset *set, struct rd_texts *ret, struct rd_err *err)
{
	_cleanup_(rd_kmods_deinit) struct rd_kmods mods = { 0 };
	_cleanup_free_ bool *rdma = NULL;
	int r = rd_kmods_read(src, &mods, err), core = r ? -1 : rd_kmods_find(&mods, "ib_core");

	if (r || core < 0)
		return r;
	rdma = rd_alloc(mods.n, sizeof(*rdma));
	rd_kmods_mark_users(&mods, core, rdma);
	for (size_t i = 0; i < mods.n; i++) {
		if (!rdma[i] || rd_fnset_module(set, mods.v[i].name, instance_of(src, mods.v[i].name)) >= 0)
			continue;
		rd_texts_add(ret, mods.v[i].name);
	}
	return 0;
}
