/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a loaded module: found through modules.dep, unpacked, and held against the loaded one by build-id. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/sel.h"

/* The largest modules (GPU drivers) have some 50 MiB with their debug information. */
#define MODULE_LIMIT ((size_t)256 << 20)

static int nomem(struct rd_sel *sel, const char *object)
{
	return rd_err_set(sel->err, ENOMEM, object, "choosing the functions to watch");
}

/* Whether the file's build-id is that of the loaded module. Without one on either side there is no telling. */
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

/* Tries one file. 0: it is the loaded module's; 1: it is not. */
static int try_file(struct rd_sel *sel, const char *name, const char *path, struct rd_sel_mod *mod, const char **why)
{
	_cleanup_bytes_ struct rd_bytes packed = { 0 }, bytes = { 0 };
	struct rd_err err = { 0 };
	struct rd_elf elf;
	int rc;

	rc = rd_read_file(sel->src, path, &packed, &err);
	if (!rc)
		rc = rd_unpack(&packed, MODULE_LIMIT, &bytes, &err);
	if (!rc)
		rc = rd_elf_init(&elf, bytes.data, bytes.size, &err);
	if (rc) {
		*why = "its file could not be read";
		if (!err.object[0])
			snprintf(err.object, sizeof(err.object), "%s", path);
		rd_errlist_add(sel->notes, &err);
		return rc == -ENOMEM ? rc : 1;
	}
	if (!same_build(sel, name, &elf)) {
		rd_elf_deinit(&elf);
		*why = "its file is of another build";
		return 1;
	}
	mod->elf = elf;
	mod->file = bytes;
	bytes = (struct rd_bytes){ 0 };
	return 0;
}

static int find_file(struct rd_sel *sel, struct rd_module *module, struct rd_sel_mod *mod, const char **why)
{
	*why = "its file was not found";
	for (size_t nth = 0;; nth++) {
		_cleanup_free_ char *path = NULL;
		int rc = rd_moddep_path(&sel->dep, module->name, nth, &path);

		if (rc == -ENOENT)
			return 0;
		if (!rc)
			rc = try_file(sel, module->name, path, mod, why);
		if (rc < 0)
			return nomem(sel, module->name);
		if (!rc) {
			module->path = RD_TAKE(path);
			module->file_matches = true;
			return 0;
		}
	}
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

static int note_losses(struct rd_sel *sel, struct rd_module *module, const char *why)
{
	const char *loss;
	struct rd_err err = { 0 };
	int rc;

	if (module->file_matches && module->has_btf)
		return 0;
	if (module->file_matches) {
		why = "it has no type information (BTF)";
		loss = "what its functions return is guessed, and only probes by address can watch them";
	} else if (module->has_btf) {
		loss = "no call graph: its functions are chosen by type and name, and reached-from is not known";
	} else {
		loss = "and it has no type information (BTF): its functions are chosen by name alone";
	}
	rc = asprintf(&module->note, "%s: %s", why, loss);
	if (rc < 0) {
		module->note = NULL;
		return nomem(sel, module->name);
	}
	rd_err_set(&err, ENOENT, module->name, "%s", module->note);
	rd_errlist_add(sel->notes, &err);
	return 0;
}

int rd_sel_load_module(struct rd_sel *sel, const char *name, bool rdma)
{
	struct rd_module *module;
	struct rd_sel_mod *mod;
	const char *why = NULL;
	size_t i = sel->set->n_modules;
	int rc;

	if (rd_grow(&sel->set->modules, &sel->set->cap_modules, i + 1, sizeof(*module)) ||
	    rd_grow(&sel->mods, &sel->cap_mods, i + 1, sizeof(*mod)))
		return nomem(sel, name);
	module = &sel->set->modules[i];
	mod = &sel->mods[i];
	*module = (struct rd_module){ .name = strdup(name), .rdma = rdma };
	*mod = (struct rd_sel_mod){ 0 };
	sel->set->n_modules++;
	if (!module->name)
		return nomem(sel, name);
	rc = find_file(sel, module, mod, &why);
	if (!rc)
		rc = find_btf(sel, module, mod);
	if (!rc && module->file_matches)
		rc = rd_elf_read_refs(&mod->elf, sel->err);
	if (!rc)
		rc = note_losses(sel, module, why);
	return rc;
}
