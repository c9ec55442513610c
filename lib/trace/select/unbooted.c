// SPDX-License-Identifier: GPL-2.0-or-later
/* A kernel that is not booted: its files, and a source that shows them as the paths of a host. */
#include "trace/select/select.h"

#include <elf.h>

#include "source/package/package.h"
#include "trace/select/elfmod.h"

/* With symbols, 800 MB. */
#define IMAGE_LIMIT ((size_t)2 << 30)

/* Documentation/arch/x86/boot.rst: offsets in the setup header. */
#define SETUP_SECTS 0x1f1
#define SETUP_MAGIC 0x202 /* "HdrS" */
#define SETUP_VERSION 0x206
#define SETUP_PAYLOAD 0x248 /* offset behind the setup sectors, and length */
#define SECTOR 512
#define HAS_PAYLOAD 0x208

/* Documentation/bpf/btf.rst: struct btf_header, version 1. */
static const uint8_t btf_magic[] = { 0x9f, 0xeb, 1, 0, 24, 0, 0, 0 };
#define BTF_HEADER 24

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int unpack(const struct rd_bytes *image, struct rd_bytes *ret, struct rd_err *err)
{
	struct rd_bytes payload = *image, shorter;
	const uint8_t *p = image->data;
	size_t start = 0, length = 0;
	int r = -EBADMSG;
	bool is_part;

	/* The compressed kernel in a bzImage; without one, the whole file. */
	if (image->size >= SETUP_PAYLOAD + 8 && !memcmp(p + SETUP_MAGIC, "HdrS", 4) &&
	    (p[SETUP_VERSION] | p[SETUP_VERSION + 1] << 8) >= HAS_PAYLOAD) {
		start = ((p[SETUP_SECTS] ? p[SETUP_SECTS] : 4) + 1) * (size_t)SECTOR + u32_at(p + SETUP_PAYLOAD);
		length = u32_at(p + SETUP_PAYLOAD + 4);
	}
	is_part = start && start <= image->size && length <= image->size - start;
	if (is_part)
		payload = (struct rd_bytes){ .data = image->data + start, .size = length };
	shorter = payload;

	/* The kernel appends the unpacked size to what it compressed, except to gzip, which has it already. */
	if (is_part && payload.size > 4) {
		shorter.size -= 4;
		r = rd_unpack(&shorter, IMAGE_LIMIT, ret, NULL);
	}
	if (r)
		r = rd_unpack(&payload, IMAGE_LIMIT, ret, err);
	if (r)
		return rd_err_set(err, -r, NULL, "cannot decompress the kernel image");
	/* The payload of x86 is an ELF file. rd_unpack() copies what it does not know, such as LZO. */
	if (is_part && (ret->size < SELFMAG || memcmp(ret->data, ELFMAG, SELFMAG) != 0))
		return rd_err_set(err, EBADMSG, NULL,
				  "kernel image is compressed, but not by gzip, bzip2, lz4, xz or zstd");
	return 0;
}

int rd_image_btf(const struct rd_bytes *image, const char *release, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes kernel = { 0 };
	const uint8_t *best = NULL, *at;
	size_t best_size = 0, left;
	char text[160];
	int r = unpack(image, &kernel, err), len;

	if (r)
		return r;
	len = snprintf(text, sizeof(text), "Linux version %s ", release);
	if (len <= 0 || (size_t)len >= sizeof(text) || !memmem(kernel.data, kernel.size, text, (size_t)len))
		return rd_err_set(err, ENOEXEC, NULL, "kernel image of another release than %s", release);
	/* Sections are not needed, and an Image of arm64 has none. Only that of vmlinux is large. */
	for (at = kernel.data, left = kernel.size; (at = memmem(at, left, btf_magic, sizeof(btf_magic)));) {
		uint64_t types, strings;

		left = kernel.size - (size_t)(at - kernel.data);
		/* The types, then as many bytes of strings, of which the first is empty. */
		types = left < BTF_HEADER ? 0 : u32_at(at + 12);
		strings = left < BTF_HEADER ? 0 : u32_at(at + 20);
		if (types && strings && !u32_at(at + 8) && u32_at(at + 16) == types &&
		    BTF_HEADER + types + strings <= left && !at[BTF_HEADER + types] &&
		    BTF_HEADER + types + strings > best_size) {
			best = at;
			best_size = BTF_HEADER + types + strings;
		}
		at += sizeof(btf_magic);
		left -= sizeof(btf_magic);
	}
	if (!best)
		return rd_err_set(err, ENOENT, NULL, "kernel image without type information (BTF)");
	return rd_bytes_copy(best, best_size, ret);
}

/* A part of a module file. */
struct part {
	const uint8_t *data;
	size_t size;
};

struct kmod {
	char *name;
	char *path;
	bool hidden;
	int rank;	      /* of the path, among modules of the same name */
	struct rd_bytes file; /* unpacked */
	struct part modinfo, btf, build_id;
};

struct unbooted {
	struct rd_source source;
	struct rd_errlist *notes;
	struct kmod *mods;
	size_t n_mods, cap_mods;
	struct rd_bytes image; /* compressed */
	char *image_path;
	struct rd_bytes btf; /* of vmlinux */
	char *release;
	/* While reading: */
	int input;    /* rank of the path that is being read */
	bool missing; /* only modules that others depend on and that are not there yet */
};

static void deinit_mod(struct kmod *mod)
{
	RD_FREE(mod->name, mod->path);
	rd_bytes_deinit(&mod->file);
}

static void unbooted_close(struct rd_source *src)
{
	struct unbooted *u = (struct unbooted *)src;

	for (size_t i = 0; i < u->n_mods; i++)
		deinit_mod(&u->mods[i]);
	rd_bytes_deinit(&u->image);
	rd_bytes_deinit(&u->btf);
	RD_FREE(u->mods, u->image_path, u->release, u);
}

/* The module of that name, of `len` bytes; NULL: not found. */
static struct kmod *find_mod(struct unbooted *u, const char *name, size_t len)
{
	for (size_t i = 0; i < u->n_mods; i++)
		if (strlen(u->mods[i].name) == len && !strncmp(u->mods[i].name, name, len))
			return &u->mods[i];
	return NULL;
}

/* The value of a field of .modinfo ("name=value", each ended by NUL), the first after *at; NULL: not found. */
static const char *next_info(const struct kmod *mod, const char *field, size_t *at)
{
	const char *text = (const char *)mod->modinfo.data;
	size_t len = strlen(field);

	while (*at < mod->modinfo.size) {
		const char *entry = text + *at, *end = memchr(entry, 0, mod->modinfo.size - *at);

		if (!end)
			return NULL;
		*at += (size_t)(end - entry) + 1;
		if (!strncmp(entry, field, len) && entry[len] == '=')
			return entry + len + 1;
	}
	return NULL;
}

/* The first value of a field; "": not found. */
static const char *info_of(const struct kmod *mod, const char *field)
{
	size_t at = 0;
	const char *value = next_info(mod, field, &at);

	return value ? value : "";
}

/* Whether the comma-separated list contains the name. */
static bool lists_module(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t n = strcspn(at, ",");

		if (n != len)
			continue;
		for (n = 0; n < len && (at[n] == '-' ? '_' : at[n]) == name[n];)
			n++;
		if (n == len)
			return true;
	}
	return false;
}

static int none(struct rd_err *err, const char *path)
{
	return rd_err_set(err, ENOENT, path, "not in the files of this kernel");
}

/* As /proc/modules would be if all were loaded. */
static void list_modules(struct unbooted *u, struct rd_buf *out)
{
	for (size_t i = 0; i < u->n_mods; i++) {
		const struct kmod *mod = &u->mods[i];
		bool used = false;

		if (mod->hidden)
			continue;
		rd_buf_printf(out, "%s %zu 0 ", mod->name, mod->file.size);
		for (size_t user = 0; user < u->n_mods; user++)
			if (!u->mods[user].hidden && lists_module(info_of(&u->mods[user], "depends"), mod->name)) {
				rd_buf_printf(out, "%s,", u->mods[user].name);
				used = true;
			}
		rd_buf_printf(out, "%s Live 0x0%s\n", used ? "" : "-", *info_of(mod, "intree") ? "" : " (O)");
	}
}

/* The module and what follows it in "PREFIX<module>REST". */
static const struct kmod *mod_below(struct unbooted *u, const char *path, const char *prefix, const char *rest)
{
	size_t len = strlen(prefix), name;

	if (strncmp(path, prefix, len) != 0)
		return NULL;
	name = strcspn(path + len, "/");
	return strcmp(path + len + name, rest) ? NULL : find_mod(u, path + len, name);
}

static int unbooted_read(struct unbooted *u, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf text = RD_BUF_CHECKED;
	const struct kmod *mod;
	char dep[320];

	snprintf(dep, sizeof(dep), "/lib/modules/%s/modules.dep", u->release);
	if (!strcmp(path, "/proc/modules"))
		list_modules(u, &text);
	else if (!strcmp(path, "/proc/sys/kernel/osrelease"))
		rd_buf_str(&text, u->release);
	else if (!strcmp(path, dep))
		/* Packages do not contain it. The path of a module is absolute there. */
		for (size_t i = 0; i < u->n_mods; i++)
			rd_buf_printf(&text, "%s%s:\n", u->mods[i].path[0] == '/' ? "" : "/", u->mods[i].path);
	if (text.failed)
		return rd_err_set(err, ENOMEM, path, "no memory to list %zu modules", u->n_mods);
	if (text.len)
		return rd_bytes_copy(text.data, text.len, ret);
	if (!strcmp(path, "/sys/kernel/btf/vmlinux"))
		return u->btf.data ? rd_bytes_copy(u->btf.data, u->btf.size, ret) : none(err, path);
	mod = mod_below(u, path, "/sys/kernel/btf/", "");
	if (mod)
		return u->btf.data && mod->btf.data ? rd_bytes_copy(mod->btf.data, mod->btf.size, ret) :
						      none(err, path);
	mod = mod_below(u, path, "/sys/module/", "/notes/.note.gnu.build-id");
	if (mod)
		return mod->build_id.data ? rd_bytes_copy(mod->build_id.data, mod->build_id.size, ret) :
					    none(err, path);
	/* All that matters is that there is an address: it tells functions of one name apart. */
	if (!strncmp(path, "/sys/module/", 12) && strstr(path, "/sections/"))
		return rd_bytes_copy("0x1000", 6, ret);
	mod = mod_below(u, path, "/sys/module/", "/version");
	if (mod)
		return *info_of(mod, "version") ?
			       rd_bytes_copy(info_of(mod, "version"), strlen(info_of(mod, "version")), ret) :
			       none(err, path);
	/* A module file, by its path in modules.dep. */
	for (mod = u->mods; mod < u->mods + u->n_mods; mod++)
		if (!strcmp(mod->path, path) || (mod->path[0] != '/' && path[0] == '/' && !strcmp(mod->path, path + 1)))
			return rd_bytes_copy(mod->file.data, mod->file.size, ret);
	return none(err, path);
}

/* Whether it has drivers for devices of a bus: then it has aliases such as "pci:v000015B3d*". Those of protocols have no colon. */
static bool drives(const struct kmod *mod)
{
	const char *alias;

	for (size_t at = 0; (alias = next_info(mod, "alias", &at));)
		if (alias[strcspn(alias, ":-")] == ':')
			return true;
	return false;
}

static int unbooted_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct unbooted *u = (struct unbooted *)src;
	const struct kmod *mod;

	switch ((enum rd_op)query->op) {
	case RD_OP_READ:
		return unbooted_read(u, query->data, &ret->bytes, err);
	case RD_OP_LIST:
		mod = mod_below(u, query->data, "/sys/module/", "/drivers");
		return mod && drives(mod) ? rd_bytes_copy(mod->name, strlen(mod->name) + 1, &ret->bytes) :
					    none(err, query->data);
	case RD_OP_NETLINK:
		return rd_err_set(err, EOPNOTSUPP, "netlink", "the kernel is not booted");
	default:
		return none(err, query->data);
	}
}

static uint64_t no_clock(struct rd_source *src, int clock)
{
	return 0;
}

static const struct rd_source_ops ops = {
	.name = "live",
	.get = unbooted_get,
	.now = no_clock,
	.close = unbooted_close,
};

void rd_unbooted_hide(struct rd_source *src, const char *module)
{
	struct kmod *mod = find_mod((struct unbooted *)src, module, strlen(module));

	if (mod)
		mod->hidden = true;
}

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

/* Whether the path is that of a module of the kernel itself, and not only below some directory that is named so. */
static bool is_in_tree(const char *path)
{
	static const char *const tops[] = { "arch/", "block/", "crypto/", "drivers/",  "fs/",	 "kernel/",
					    "lib/",  "mm/",    "net/",	  "security/", "sound/", "virt/" };

	while ((path = strstr(path, "/kernel/"))) {
		path += strlen("/kernel/");
		for (size_t i = 0; i < RD_ARRAY_SIZE(tops); i++)
			if (rd_starts_with(path, tops[i]))
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
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	/* An image. The debug symbols in usr/lib/debug are far larger, and have the same BTF. */
	if (!name)
		return !u->missing && (!strncmp(base, "vmlinuz", 7) || !strncmp(base, "vmlinux", 7)) &&
		       !strstr(path, "/debug/") && !strstr(base, ".py") && !strstr(base, ".h");
	for (size_t i = 0; u->missing && i < u->n_mods; i++)
		if (lists_module(info_of(&u->mods[i], "depends"), name))
			return !find_mod(u, name, strlen(name));
	return !u->missing && (strstr(path, "/infiniband/") || !is_in_tree(path));
}

static struct part part_of(const struct rd_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->n_sections; i++)
		if (!strcmp(rd_elf_section_name(elf, i), name) && elf->sections[i].sh_type != SHT_NOBITS)
			return (struct part){ elf->data + elf->sections[i].sh_offset, elf->sections[i].sh_size };
	return (struct part){ 0 };
}

static int takes(void *arg, const char *path, struct rd_bytes *bytes, struct rd_err *err)
{
	struct unbooted *u = arg;
	_cleanup_free_ char *name = module_name(path);
	/* In the order of depmod.d(5) that distributions ship: updates, extra, the kernel's own, weak-updates. */
	struct kmod mod = { .rank = 4 * u->input + (strstr(path, "/updates/")	   ? 3 :
						    strstr(path, "/extra/")	   ? 2 :
						    strstr(path, "/weak-updates/") ? 0 :
										     1) };
	struct kmod *old = name ? find_mod(u, name, strlen(name)) : NULL;
	_cleanup_(rd_elf_deinit) struct rd_elf elf = { 0 };
	int r;

	if (!name) {
		rd_bytes_deinit(&u->image);
		u->image = RD_TAKE(*bytes);
		free(u->image_path);
		u->image_path = rd_dup(path);
		return 0;
	}
	if (old && old->rank > mod.rank)
		return 0;
	r = rd_unpack(bytes, MODULE_LIMIT, &mod.file, err);
	if (!r)
		r = rd_elf_init(&elf, mod.file.data, mod.file.size, err);
	if (r) {
		rd_bytes_deinit(&mod.file);
		return rd_err_set(err, -r, path, "cannot read the module file");
	}
	mod.modinfo = part_of(&elf, ".modinfo");
	mod.build_id = part_of(&elf, ".note.gnu.build-id");
	/* With a base of its own, its types do not refer to those of vmlinux. */
	if (!part_of(&elf, ".BTF.base").data)
		mod.btf = part_of(&elf, ".BTF");
	mod.name = rd_dup(name);
	mod.path = rd_dup(path);
	if (old) {
		deinit_mod(old);
		*old = mod;
	} else {
		*RD_ADD(u->mods, u->n_mods, u->cap_mods) = mod;
	}
	return 0;
}

static int nothing(const char *path, struct rd_err *err)
{
	rd_err_set(err, ENODEV, path, "contains no RDMA kernel module");
	return rd_err_hint(
		err,
		"give the package or directory with the modules of the kernel; some distributions have them in a package "
		"of their own: linux-modules, kernel-modules");
}

/* "6.12.107+deb13-amd64 SMP preempt mod_unload modversions": the release that the module was built for. Caller frees. */
static char *release_of(const struct kmod *mod)
{
	const char *magic = info_of(mod, "vermagic");

	return rd_dup_part(magic, strcspn(magic, " "));
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

static void find_btf(struct unbooted *u, const char *const *paths, size_t n)
{
	struct rd_source *live __attribute__((cleanup(rd_source_closep))) = NULL;
	_cleanup_free_ char *running = NULL;
	struct rd_err err = { 0 };

	for (size_t i = n; i--;)
		find_image(u, paths[i]);
	/* That of the running kernel, if it is the one. */
	if (!u->image.data && !rd_source_live_open(NULL, &live, NULL) &&
	    !rd_read_textf(live, &running, NULL, "/proc/sys/kernel/osrelease") && !strcmp(running, u->release) &&
	    !rd_read_file(live, "/sys/kernel/btf/vmlinux", &u->btf, NULL))
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
	/* Modules of this host that the paths lack, such as ib_core beside a driver. */
	if (!r && !find_mod(u, "ib_core", 7)) {
		_cleanup_free_ char *release = release_of(&u->mods[0]);
		char dir[320];

		if (!*release || strchr(release, '/'))
			return nothing(paths[0], err);
		snprintf(dir, sizeof(dir), "/lib/modules/%s", release);
		if (read_path(u, dir, 0, false, err) || read_path(u, dir, 0, true, err)) {
			rd_err_set(err, ENODEV, paths[0],
				   "ib_core of kernel %s not found, neither there nor in /lib/modules/%s", release,
				   release);
			return rd_err_hint(err, "add the package or directory with the modules of this kernel: "
						"--kernel-package FILE or --modules PATH");
		}
	}
	for (size_t i = 0; !r && i < n; i++)
		r = read_path(u, paths[i], (int)i + 1, true, err);
	if (r)
		return r;
	if (!find_mod(u, "ib_core", 7))
		return nothing(paths[0], err);
	u->release = release_of(find_mod(u, "ib_core", 7));
	/* The types of a module refer by number to those of the kernel that it was built for. */
	for (struct kmod *mod = u->mods; mod < u->mods + u->n_mods; mod++) {
		_cleanup_free_ char *release = release_of(mod);
		struct rd_err other = { 0 };

		if (!strcmp(release, u->release))
			continue;
		mod->btf = (struct part){ 0 };
		rd_err_set(&other, ENOEXEC, mod->path, "module was built for kernel %s, not for %s", release,
			   u->release);
		rd_err_hint(&other, "a kernel loads only modules that were built for it: give the module of kernel %s",
			    u->release);
		rd_errlist_add(u->notes, &other);
	}
	find_btf(u, paths, n);
	return 0;
}

int rd_unbooted_open(const char *const *paths, size_t n, struct rd_source **ret, struct rd_errlist *notes,
		     struct rd_err *err)
{
	struct unbooted *u = rd_alloc(1, sizeof(*u));
	int r;

	u->source.ops = &ops;
	u->notes = notes;
	r = read_all(u, paths, n, err);
	if (r)
		unbooted_close(&u->source);
	else
		*ret = &u->source;
	return r;
}
