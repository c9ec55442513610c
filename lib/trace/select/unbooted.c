// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/select/unbooted.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "source/package/package.h"
#include "trace/select/elfmod.h"
#include "trace/select/image.h"
#include "trace/select/unbooted-priv.h"

#define MODULE_LIMIT ((size_t)256 << 20)

/* The name of the module in a file: "…/mlx5-ib.ko.xz" is mlx5_ib. NULL: not a module file. Caller frees. */
static char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *ko = strstr(base, ".ko");
	char *name;

	if (!ko || ko == base ||
	    (strcmp(ko, ".ko") && strcmp(ko, ".ko.xz") && strcmp(ko, ".ko.zst") && strcmp(ko, ".ko.gz")))
		return NULL;
	name = rd_dup_part(base, (size_t)(ko - base));
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static bool is_needed(struct unbooted *u, const char *name)
{
	if (rd_unbooted_find(u, name, strlen(name)))
		return false;
	for (size_t i = 0; i < u->n_mods; i++)
		if (rd_unbooted_lists(rd_unbooted_info(&u->mods[i], "depends"), name))
			return true;
	return false;
}

static bool is_image(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	/* The debug symbols in usr/lib/debug are far larger, and have the same BTF. */
	return (!strncmp(base, "vmlinuz", 7) || !strncmp(base, "vmlinux", 7)) && !strstr(path, "/debug/") &&
	       !strstr(base, ".py") && !strstr(base, ".h");
}

/* Whether the path is that of a module of the kernel itself, and not only below some directory that is named so. */
static bool is_in_tree(const char *path)
{
	static const char *const tops[] = { "arch/", "block/", "crypto/", "drivers/",  "fs/",	 "kernel/",
					    "lib/",  "mm/",    "net/",	  "security/", "sound/", "virt/" };

	while ((path = strstr(path, "/kernel/"))) {
		path += strlen("/kernel/");
		for (size_t i = 0; i < RD_ARRAY_SIZE(tops); i++)
			if (!strncmp(path, tops[i], strlen(tops[i])))
				return true;
		path--;
	}
	return false;
}

/*
 * In-tree modules outside the directory infiniband are not RDMA modules, and read only if one of those depends on them. Others, of
 * packages with drivers, can be anywhere.
 */
static bool wants(void *arg, const char *path)
{
	struct unbooted *u = arg;
	_cleanup_free_ char *name = module_name(path);

	if (!name)
		return !u->missing && is_image(path);
	if (u->missing)
		return is_needed(u, name);
	return strstr(path, "/infiniband/") || !is_in_tree(path);
}

/* In the order of depmod.d(5) that distributions ship: updates, extra, the kernel's own, weak-updates. */
static int rank_of(const struct unbooted *u, const char *path)
{
	return 4 * u->input + (strstr(path, "/updates/")      ? 3 :
			       strstr(path, "/extra/")	      ? 2 :
			       strstr(path, "/weak-updates/") ? 0 :
								1);
}

static struct part part_of(const struct rd_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (!strcmp(elf->sections[i].name, name) && elf->sections[i].type != SHT_NOBITS)
			return (struct part){ elf->data + elf->sections[i].offset, elf->sections[i].size };
	return (struct part){ 0 };
}

static int read_parts(struct kmod *mod, struct rd_err *err)
{
	struct rd_elf elf;
	int r = rd_elf_init(&elf, mod->file.data, mod->file.size, err);

	if (r)
		return r;
	mod->modinfo = part_of(&elf, ".modinfo");
	mod->build_id = part_of(&elf, ".note.gnu.build-id");
	/* With a base of its own, its types do not refer to those of vmlinux. */
	if (!part_of(&elf, ".BTF.base").data)
		mod->btf = part_of(&elf, ".BTF");
	rd_elf_deinit(&elf);
	return 0;
}

static int take_module(struct unbooted *u, char *name, const char *path, struct rd_bytes *bytes, struct rd_err *err)
{
	struct kmod mod = { .rank = rank_of(u, path) }, *old = rd_unbooted_find(u, name, strlen(name));
	int r;

	if (old && old->rank > mod.rank)
		return 0;
	r = rd_unpack(bytes, MODULE_LIMIT, &mod.file, err);
	if (!r)
		r = read_parts(&mod, err);
	if (r) {
		rd_bytes_deinit(&mod.file);
		return rd_err_set(err, -r, path, "cannot read the module file");
	}
	mod.name = rd_dup(name);
	mod.path = rd_dup(path);
	if (old) {
		free(old->name);
		free(old->path);
		rd_bytes_deinit(&old->file);
		*old = mod;
		return 0;
	}
	*RD_ADD(u->mods, u->n_mods, u->cap_mods) = mod;
	return 0;
}

static int takes(void *arg, const char *path, struct rd_bytes *bytes, struct rd_err *err)
{
	struct unbooted *u = arg;
	_cleanup_free_ char *name = module_name(path);

	if (name)
		return take_module(u, name, path, bytes, err);
	rd_bytes_deinit(&u->image);
	u->image = *bytes;
	*bytes = (struct rd_bytes){ 0 };
	free(u->image_path);
	u->image_path = rd_dup(path);
	return 0;
}

static int nothing(const char *path, struct rd_err *err)
{
	rd_err_set(err, ENODEV, path, "contains no RDMA kernel module");
	rd_err_hint(
		err,
		"give the package or directory with the modules of the kernel; some distributions have them in a package "
		"of their own: linux-modules, kernel-modules");
	return -ENODEV;
}

static int no_core(const char *path, const char *release, struct rd_err *err)
{
	rd_err_set(err, ENODEV, path, "ib_core of kernel %s not found, neither there nor in /lib/modules/%s", release,
		   release);
	rd_err_hint(
		err,
		"add the package or directory with the modules of this kernel: --kernel-package FILE or --modules PATH");
	return -ENODEV;
}

/* "6.12.107+deb13-amd64 SMP preempt mod_unload modversions": the release that the module was built for. Caller frees. */
static char *release_of(const struct kmod *mod)
{
	const char *magic = rd_unbooted_info(mod, "vermagic");

	return rd_dup_part(magic, strcspn(magic, " "));
}

/* The types of a module refer by number to those of the kernel that it was built for. */
static void check_release(struct unbooted *u, struct kmod *mod)
{
	_cleanup_free_ char *release = release_of(mod);
	struct rd_err err = { 0 };

	if (!strcmp(release, u->release))
		return;
	mod->btf = (struct part){ 0 };
	rd_err_set(&err, ENOEXEC, mod->path, "module was built for kernel %s, not for %s", release, u->release);
	rd_err_hint(&err, "a kernel loads only modules that were built for it: give the module of kernel %s",
		    u->release);
	rd_errlist_add(u->notes, &err);
}

/* All that is wanted in one path; `input` ranks it above those with a lower number. */
static int read_path(struct unbooted *u, const char *path, int input, bool missing, struct rd_err *err)
{
	struct rd_err local = { 0 };
	int r;

	u->input = input;
	u->missing = missing;
	r = rd_package_read(path, wants, takes, u, &local);
	/* A file that was taken already. */
	if (missing && r == -EBADMSG)
		return 0;
	if (r)
		*err = local;
	return r;
}

/* Modules of this host that the paths lack, such as ib_core beside a driver. */
static int read_host(struct unbooted *u, const char *path, struct rd_err *err)
{
	_cleanup_free_ char *release = u->n_mods ? release_of(&u->mods[0]) : NULL;
	char dir[320];

	if (!release || !*release || strchr(release, '/'))
		return nothing(path, err);
	snprintf(dir, sizeof(dir), "/lib/modules/%s", release);
	return read_path(u, dir, 0, false, err) || read_path(u, dir, 0, true, err) ? no_core(path, release, err) : 0;
}

static bool read_image(struct unbooted *u, const char *root, const char *format)
{
	struct rd_source *live __attribute__((cleanup(rd_source_closep))) = NULL;
	char path[320];

	snprintf(path, sizeof(path), format, u->release);
	if (u->image.data || rd_source_live_open(root, &live, NULL) || rd_read_file(live, path, &u->image, NULL))
		return u->image.data;
	u->image_path = rd_text("%s%s", strcmp(root, "/") ? root : "", path);
	return true;
}

/* The image that belongs to modules in a directory: beside them, or in /boot of the same root. */
static void find_image(struct unbooted *u, const char *path)
{
	const char *at = strstr(path, "/lib/modules/");
	_cleanup_free_ char *root = NULL;

	if (!at)
		return;
	root = rd_dup_part(path, (size_t)(at - path));
	if (root[0] && strlen(root) >= 4 && !strcmp(root + strlen(root) - 4, "/usr"))
		root[strlen(root) - 4] = '\0';
	if (!read_image(u, root[0] ? root : "/", "/boot/vmlinuz-%s"))
		read_image(u, root[0] ? root : "/", "/lib/modules/%s/vmlinuz");
}

/* BTF of the running kernel, if it is the one. */
static bool is_running(struct unbooted *u)
{
	struct rd_source *live __attribute__((cleanup(rd_source_closep))) = NULL;
	_cleanup_free_ char *release = NULL;

	return !rd_source_live_open(NULL, &live, NULL) &&
	       !rd_read_textf(live, &release, NULL, "/proc/sys/kernel/osrelease") && !strcmp(release, u->release) &&
	       !rd_read_file(live, "/sys/kernel/btf/vmlinux", &u->btf, NULL);
}

static void find_btf(struct unbooted *u, const char *const *paths, size_t n)
{
	struct rd_err err = { 0 };

	for (size_t i = n; i--;)
		find_image(u, paths[i]);
	if (!u->image.data && is_running(u))
		return;
	if (!u->image.data)
		read_image(u, "/", "/boot/vmlinuz-%s");
	if (!u->image.data)
		rd_err_set(&err, ENOENT, u->release,
			   "image of this kernel (vmlinuz) not found: no type information (BTF)");
	else if (rd_image_btf(&u->image, u->release, &u->btf, &err))
		snprintf(err.object, sizeof(err.object), "%s", u->image_path);
	rd_bytes_deinit(&u->image);
	if (u->btf.data)
		return;
	rd_err_hint(&err,
		    "add the package or directory with vmlinuz: without BTF, the entry points of drivers are not found, "
		    "and return types are guessed");
	rd_errlist_add(u->notes, &err);
}

static int read_all(struct unbooted *u, const char *const *paths, size_t n, struct rd_err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = read_path(u, paths[i], (int)i + 1, false, err);
	if (!r && !u->n_mods)
		return nothing(paths[0], err);
	if (!r && !rd_unbooted_find(u, "ib_core", 7))
		r = read_host(u, paths[0], err);
	for (size_t i = 0; !r && i < n; i++)
		r = read_path(u, paths[i], (int)i + 1, true, err);
	if (r)
		return r;
	if (!rd_unbooted_find(u, "ib_core", 7))
		return nothing(paths[0], err);
	u->release = release_of(rd_unbooted_find(u, "ib_core", 7));
	for (size_t i = 0; i < u->n_mods; i++)
		check_release(u, &u->mods[i]);
	find_btf(u, paths, n);
	return 0;
}

int rd_unbooted_open(const char *const *paths, size_t n, struct rd_source **ret, struct rd_errlist *notes,
		     struct rd_err *err)
{
	struct unbooted *u = rd_alloc(1, sizeof(*u));
	int r;

	u->source.ops = &rd_unbooted_ops;
	u->notes = notes;
	r = read_all(u, paths, n, err);
	if (r)
		rd_unbooted_close(&u->source);
	else
		*ret = &u->source;
	return r;
}
