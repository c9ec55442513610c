/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a loaded module: found through modules.dep, decompressed, and compared with the loaded module by build-id. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "trace/select/sel.h"

/* The largest modules (GPU drivers) have about 50 MiB with debug information. */
#define MODULE_LIMIT ((size_t)256 << 20)
#define MAX_THREADS 7

static int nomem(struct rd_sel *sel, const char *object)
{
	return rd_err_set(sel->err, ENOMEM, object, "cannot select the functions to trace");
}

/* Whether the file has the build-id of the loaded module. False if either has none. */
static bool same_build(struct rd_sel *sel, const char *name, const struct rd_elf *elf)
{
	_cleanup_bytes_ struct rd_bytes note = { 0 };
	size_t loaded_size, file_size;
	const uint8_t *loaded, *file;
	char path[160];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	if (rd_read_file(sel->src, path, &note, NULL))
		return false;
	loaded = rd_elf_note_build_id(note.data, note.size, &loaded_size);
	file = rd_elf_build_id(elf, &file_size);
	return loaded && file && loaded_size == file_size && !memcmp(loaded, file, file_size);
}

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

static void candidates_deinit(struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		rd_bytes_deinit(&c->v[i].packed);
		rd_bytes_deinit(&c->v[i].bytes);
		rd_elf_deinit(&c->v[i].elf);
	}
	free(c->v);
}

/* Everything that needs only the bytes of the file. Does not access other candidates, so it runs in any thread. */
static void parse_candidate(struct candidate *c)
{
	if (c->rc)
		return;
	c->rc = rd_unpack(&c->packed, MODULE_LIMIT, &c->bytes, &c->err);
	rd_bytes_deinit(&c->packed);
	if (!c->rc)
		c->rc = rd_elf_init(&c->elf, c->bytes.data, c->bytes.size, &c->err);
	if (!c->rc)
		rd_elf_read_refs(&c->elf);
}

static void *parse_thread(void *arg)
{
	struct candidates *c = arg;

	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
		parse_candidate(&c->v[i]);
	return NULL;
}

/* Decompression takes most of the time, and modules are independent of each other. */
static void parse_all(struct candidates *c)
{
	pthread_t threads[MAX_THREADS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = 0;

	while (n < MAX_THREADS && (long)n + 1 < cpus && n + 1 < c->n) {
		if (pthread_create(&threads[n], NULL, parse_thread, c))
			break;
		n++;
	}
	parse_thread(c);
	while (n)
		pthread_join(threads[--n], NULL);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	/* Largest first, because they take longest. */
	return RD_CMP(y->packed.size, x->packed.size) ?: RD_CMP(x->module, y->module);
}

/* The nth file of each module, from `first` on, whose file is not found yet. */
static void find_candidates(struct rd_sel *sel, uint32_t first, size_t nth, struct candidates *ret)
{
	for (uint32_t m = first; m < sel->set->n_modules; m++) {
		struct candidate c = { .module = m };

		if (sel->set->modules[m].file_matches)
			continue;
		c.path = rd_moddep_path(&sel->dep, sel->set->modules[m].name, nth);
		if (!c.path)
			continue;
		c.rc = rd_read_file(sel->src, c.path, &c.packed, &c.err);
		*RD_ADD(ret->v, ret->n, ret->cap) = c;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_candidates);
}

static int take_candidate(struct rd_sel *sel, struct candidate *c)
{
	struct rd_module *module = &sel->set->modules[c->module];
	struct rd_sel_mod *mod = &sel->mods[c->module];

	if (c->rc) {
		mod->why = "cannot read its file";
		if (!c->err.object[0])
			snprintf(c->err.object, sizeof(c->err.object), "%s", c->path);
		rd_errlist_add(sel->notes, &c->err);
		return c->rc == -ENOMEM ? c->rc : 0;
	}
	if (!same_build(sel, module->name, &c->elf)) {
		mod->why = "its file is from a different build";
		return 0;
	}
	mod->elf = c->elf;
	mod->file = c->bytes;
	c->elf = (struct rd_elf){ 0 };
	c->bytes = (struct rd_bytes){ 0 };
	module->path = RD_TAKE(c->path);
	module->file_matches = true;
	return 0;
}

static int find_files(struct rd_sel *sel, uint32_t first)
{
	for (size_t nth = 0;; nth++) {
		struct candidates c = { 0 };
		bool none;
		int rc = 0;

		find_candidates(sel, first, nth, &c);
		parse_all(&c);
		for (size_t i = 0; !rc && i < c.n; i++)
			rc = take_candidate(sel, &c.v[i]);
		none = !c.n;
		candidates_deinit(&c);
		if (rc || none)
			return rc ? nomem(sel, NULL) : 0;
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

static int find_btf(struct rd_sel *sel, struct rd_module *module, struct rd_sel_mod *mod)
{
	struct rd_err err = { 0 };
	int rc = sel->base ? rd_btf_read_module(sel->src, sel->base, module->name, &mod->btf, &err) : -ENOENT;

	module->has_btf = !rc;
	if (rc == -ENOMEM)
		return nomem(sel, module->name);
	if (rc && rc != -ENOENT)
		rd_errlist_add(sel->notes, &err);
	return 0;
}

static void note_unnamed(struct rd_sel *sel, struct rd_module *module)
{
	struct rd_err err = { 0 };

	module->note =
		rd_text("symbols of %u or more functions were removed from its file: these functions are not known",
			module->unnamed);
	rd_err_set(&err, ENODATA, module->path, "%s", module->note);
	rd_errlist_add(sel->notes, &err);
}

static void note_missing(struct rd_sel *sel, struct rd_module *module, const char *why)
{
	const char *loss;
	struct rd_err err = { 0 };

	if (module->file_matches && module->has_btf) {
		if (module->unnamed)
			note_unnamed(sel, module);
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

uint64_t rd_sel_instance(struct rd_source *src, const char *module)
{
	uint64_t inode = 0;
	char path[160];

	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s", module) >= sizeof(path) ||
	    rd_stat(src, RD_OP_INO, path, &inode, NULL))
		return 0;
	return inode;
}

static void add_module(struct rd_sel *sel, const char *name, bool rdma)
{
	size_t i = sel->set->n_modules;

	rd_reserve(&sel->set->modules, &sel->set->cap_modules, i + 1, sizeof(*sel->set->modules));
	rd_reserve(&sel->mods, &sel->cap_mods, i + 1, sizeof(*sel->mods));
	sel->set->modules[i] =
		(struct rd_module){ .name = rd_dup(name), .rdma = rdma, .instance = rd_sel_instance(sel->src, name) };
	rd_read_textf(sel->src, &sel->set->modules[i].version, NULL, "/sys/module/%s/version", name);
	sel->mods[i] = (struct rd_sel_mod){ .why = "file not found" };
	sel->set->n_modules++;
}

int rd_sel_load_modules(struct rd_sel *sel, const bool *which, bool rdma)
{
	uint32_t first = (uint32_t)sel->set->n_modules;
	int rc;

	for (size_t i = 0; i < sel->kmods.n; i++)
		if (which[i])
			add_module(sel, sel->kmods.v[i].name, rdma);
	rc = find_files(sel, first);
	for (uint32_t m = first; !rc && m < sel->set->n_modules; m++) {
		rc = find_btf(sel, &sel->set->modules[m], &sel->mods[m]);
		if (!rc && sel->set->modules[m].file_matches)
			count_unnamed(&sel->set->modules[m], &sel->mods[m]);
		if (!rc)
			note_missing(sel, &sel->set->modules[m], sel->mods[m].why);
	}
	return rc;
}
