// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/kernel/kernel.h"

/* "rdma_rxe 204800 0 - Live 0xffffffffc0a00000 (OE)": name, bytes, references, users, state, address, taints. */
static void add_line(struct rd_kmods *mods, char *line)
{
	char *save = NULL, *name = strtok_r(line, " ", &save), *size = strtok_r(NULL, " ", &save);
	char *refs = strtok_r(NULL, " ", &save), *users = strtok_r(NULL, " ", &save);
	struct rd_kmod mod = { 0 };
	const char *field;

	if (!name || !size || !refs || !users)
		return;
	mod.name = rd_dup(name);
	while ((field = strtok_r(NULL, " ", &save)))
		if (field[0] == '(')
			mod.out_of_tree = strchr(field, 'O') != NULL;
	save = NULL;
	for (char *user = strtok_r(users, ",", &save); user; user = strtok_r(NULL, ",", &save))
		/* "-": no user; "[permanent]": not a module. */
		if (user[0] != '-' && user[0] != '[')
			rd_texts_add(&mod.users, user);
	*RD_ADD(mods->v, mods->n, mods->cap) = mod;
}

int rd_kmods_read(struct rd_source *src, struct rd_kmods *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	struct rd_kmods mods = { 0 };
	char *save = NULL;
	int rc = rd_read_file(src, "/proc/modules", &text, err);

	if (rc)
		return rc;
	for (char *line = strtok_r((char *)text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add_line(&mods, line);
	if (mods.n == 0 && text.size > 0)
		return rd_err_set(err, EBADMSG, "/proc/modules", "not a list of modules");
	*ret = mods;
	return 0;
}

void rd_kmods_deinit(struct rd_kmods *mods)
{
	for (size_t i = 0; i < mods->n; i++) {
		rd_texts_deinit(&mods->v[i].users);
		free(mods->v[i].name);
	}
	free(mods->v);
	*mods = (struct rd_kmods){ 0 };
}

int rd_kmods_find(const struct rd_kmods *mods, const char *name)
{
	for (size_t i = 0; i < mods->n; i++)
		if (!strcmp(mods->v[i].name, name))
			return (int)i;
	return -1;
}

void rd_kmods_mark_users(const struct rd_kmods *mods, int start, bool *marked)
{
	marked[start] = true;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < mods->n; i++)
			for (size_t j = 0; marked[i] && j < mods->v[i].users.n; j++) {
				int user = rd_kmods_find(mods, mods->v[i].users.v[j]);

				if (user < 0 || marked[user])
					continue;
				marked[user] = true;
				again = true;
			}
	}
}

int rd_moddep_read(struct rd_source *src, const char *release, struct rd_moddep *ret, struct rd_err *err)
{
	static const char *const roots[] = { "/lib/modules", "/usr/lib/modules" };
	int rc = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(roots); i++) {
		_cleanup_free_ char *dir = rd_text("%s/%s", roots[i], release), *path = rd_text("%s/modules.dep", dir);
		int r = rd_read_file(src, path, &ret->text, i ? NULL : err);

		if (!r) {
			ret->dir = RD_TAKE(dir);
			return 0;
		}
		rc = rc ? rc : r; /* the error is that of the first */
	}
	return rc;
}

void rd_moddep_deinit(struct rd_moddep *dep)
{
	rd_bytes_deinit(&dep->text);
	free(dep->dir);
	*dep = (struct rd_moddep){ 0 };
}

/* Whether a path such as "…/name.ko" or "…/name.ko.xz", of `size` bytes, is a file of that module. */
static bool is_file_of(const char *path, size_t size, const char *name)
{
	const char *slash = memrchr(path, '/', size), *base = slash ? slash + 1 : path;
	size_t left = size - (size_t)(base - path), len = strlen(name);

	if (left < len + 3)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((base[i] == '-' ? '_' : base[i]) != (name[i] == '-' ? '_' : name[i]))
			return false;
	return !strncmp(base + len, ".ko", 3) && (left == len + 3 || base[len + 3] == '.');
}

char *rd_moddep_path(const struct rd_moddep *dep, const char *name, size_t nth)
{
	const char *line = (const char *)dep->text.data, *end = line + dep->text.size;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line)), *colon;

		next = next ? next : end;
		colon = memchr(line, ':', (size_t)(next - line));
		if (colon && is_file_of(line, (size_t)(colon - line), name) && !nth--)
			return line[0] == '/' ? rd_dup_part(line, (size_t)(colon - line)) :
						rd_text("%s/%.*s", dep->dir, (int)(colon - line), line);
		line = next + 1;
	}
	return NULL;
}

typedef bool want_fn(void *arg, const char *module);

/* Cuts "[module]" off the end of a line and returns the module; NULL if the line names none. */
static char *cut_module(char *line)
{
	char *open = strrchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	if (!open || !close || open == line)
		return NULL;
	*close = 0;
	*open = 0;
	for (char *p = open - 1; p >= line && (*p == ' ' || *p == '\t'); p--)
		*p = 0;
	return open + 1;
}

/* "ffffffffc0a01000 t ib_create_cq\t[ib_core]", without a module if it is of the kernel itself */
static void add_symbol(struct rd_ksyms *syms, char *line, want_fn *want, void *arg)
{
	char *module = cut_module(line);
	const char *at = line;
	uint64_t addr;

	if (rd_take_uint(&at, RD_HEX, UINT64_MAX, &addr) < 0 || at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) ||
	    at[2] != ' ' || !at[3])
		return;
	if (want ? module && want(arg, module) : addr != 0)
		*RD_ADD(syms->v, syms->n, syms->cap) = (struct rd_ksym){ addr, rd_dup(at + 3), rd_dup_if(module) };
}

/* "ib_create_cq [ib_core]" */
static void add_filter(struct rd_ksyms *syms, char *line, want_fn *want, void *arg)
{
	char *module = cut_module(line);

	if (module && line[0] && want(arg, module))
		*RD_ADD(syms->v, syms->n, syms->cap) = (struct rd_ksym){ 0, rd_dup(line), rd_dup(module) };
}

static int read_lines(struct rd_source *src, const char *path, want_fn *want, void *arg,
		      void (*add)(struct rd_ksyms *, char *, want_fn *, void *), struct rd_ksyms *ret,
		      struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes text = { 0 };
	struct rd_ksyms syms = { 0 };
	int rc = rd_read_file(src, path, &text, err);

	if (rc)
		return rc;
	for (char *rest = (char *)text.data, *line; (line = strsep(&rest, "\n")) && (*line || rest);)
		add(&syms, line, want, arg);
	rd_sort(syms.v, syms.n, sizeof(*syms.v), rd_compare_u64);
	*ret = syms;
	return 0;
}

int rd_ksyms_read(struct rd_source *src, want_fn *want, void *arg, struct rd_ksyms *ret, struct rd_err *err)
{
	return read_lines(src, "/proc/kallsyms", want, arg, add_symbol, ret, err);
}

int rd_ksyms_read_filter(struct rd_source *src, want_fn *want, void *arg, struct rd_ksyms *ret, struct rd_err *err)
{
	int rc = read_lines(src, "/sys/kernel/tracing/available_filter_functions", want, arg, add_filter, ret, err);

	return rc != -ENOENT ? rc :
			       read_lines(src, "/sys/kernel/debug/tracing/available_filter_functions", want, arg,
					  add_filter, ret, err);
}
