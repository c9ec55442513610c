// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of a kernel that is not booted, as the paths of a host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "trace/select/unbooted-priv.h"
#include "trace/select/unbooted.h"

void rd_unbooted_close(struct rd_source *src)
{
	struct unbooted *u = (struct unbooted *)src;

	for (size_t i = 0; i < u->n_mods; i++) {
		free(u->mods[i].name);
		free(u->mods[i].path);
		rd_bytes_deinit(&u->mods[i].file);
	}
	free(u->mods);
	rd_bytes_deinit(&u->image);
	rd_bytes_deinit(&u->btf);
	free(u->image_path);
	free(u->release);
	free(u);
}

struct kmod *rd_unbooted_find(struct unbooted *u, const char *name, size_t len)
{
	for (size_t i = 0; i < u->n_mods; i++)
		if (strlen(u->mods[i].name) == len && !strncmp(u->mods[i].name, name, len))
			return &u->mods[i];
	return NULL;
}

const char *rd_unbooted_next_info(const struct kmod *mod, const char *field, size_t *at)
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

const char *rd_unbooted_info(const struct kmod *mod, const char *field)
{
	size_t at = 0;
	const char *value = rd_unbooted_next_info(mod, field, &at);

	return value ? value : "";
}

bool rd_unbooted_lists(const char *list, const char *name)
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

static void add_users(struct unbooted *u, const struct kmod *mod, struct rd_buf *out)
{
	bool any = false;

	for (size_t i = 0; i < u->n_mods; i++)
		if (!u->mods[i].hidden && rd_unbooted_lists(rd_unbooted_info(&u->mods[i], "depends"), mod->name)) {
			rd_buf_str(out, u->mods[i].name);
			rd_buf_str(out, ",");
			any = true;
		}
	if (!any)
		rd_buf_str(out, "-");
}

/* As /proc/modules would be if all were loaded. */
static void list_modules(struct unbooted *u, struct rd_buf *out)
{
	for (size_t i = 0; i < u->n_mods; i++) {
		if (u->mods[i].hidden)
			continue;
		rd_buf_printf(out, "%s %zu 0 ", u->mods[i].name, u->mods[i].file.size);
		add_users(u, &u->mods[i], out);
		rd_buf_printf(out, " Live 0x0%s\n", *rd_unbooted_info(&u->mods[i], "intree") ? "" : " (O)");
	}
}

/* As modules.dep, which packages do not contain. The path of a module is absolute there. */
static void list_files(const struct unbooted *u, struct rd_buf *out)
{
	for (size_t i = 0; i < u->n_mods; i++)
		rd_buf_printf(out, "%s%s:\n", u->mods[i].path[0] == '/' ? "" : "/", u->mods[i].path);
}

/* A module file, by the path that list_files() has. */
static const struct kmod *mod_at(const struct unbooted *u, const char *path)
{
	for (size_t i = 0; i < u->n_mods; i++) {
		const char *own = u->mods[i].path;

		if (!strcmp(own, path) || (own[0] != '/' && path[0] == '/' && !strcmp(own, path + 1)))
			return &u->mods[i];
	}
	return NULL;
}

/* The module and what follows it in "PREFIX<module>REST". */
static const struct kmod *mod_below(struct unbooted *u, const char *path, const char *prefix, const char *rest)
{
	size_t len = strlen(prefix), name;

	if (strncmp(path, prefix, len) != 0)
		return NULL;
	name = strcspn(path + len, "/");
	return strcmp(path + len + name, rest) ? NULL : rd_unbooted_find(u, path + len, name);
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
		list_files(u, &text);
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
		return *rd_unbooted_info(mod, "version") ?
			       rd_bytes_copy(rd_unbooted_info(mod, "version"), strlen(rd_unbooted_info(mod, "version")),
					     ret) :
			       none(err, path);
	mod = mod_at(u, path);
	return mod ? rd_bytes_copy(mod->file.data, mod->file.size, ret) : none(err, path);
}

/* Whether the module has drivers for devices of a bus: aliases such as "pci:v000015B3d*". Those of protocols have no colon. */
static bool drives(const struct kmod *mod)
{
	const char *alias;

	for (size_t at = 0; (alias = rd_unbooted_next_info(mod, "alias", &at));)
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
	(void)src, (void)clock;
	return 0;
}

const struct rd_source_ops rd_unbooted_ops = {
	.name = "live",
	.get = unbooted_get,
	.now = no_clock,
	.close = rd_unbooted_close,
};

void rd_unbooted_hide(struct rd_source *src, const char *module)
{
	struct kmod *mod = rd_unbooted_find((struct unbooted *)src, module, strlen(module));

	if (mod)
		mod->hidden = true;
}
