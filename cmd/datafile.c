/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "datafile.h"

#include <limits.h>

#include "check/shared/check.h"
#include "source/bundle/bundle.h"
#include "source/guard/source-guard.h"

/* NULL: there is no deadline. */
static struct rd_source *local_guard;

void rd_local_guard(struct rd_source *guard)
{
	local_guard = guard;
}

int rd_local_host(struct rd_source **opened, struct rd_source **ret, struct rd_err *err)
{
	int r = local_guard ? 0 : rd_source_live_open(NULL, opened, err);

	*ret = local_guard ?: *opened;
	return r;
}

int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err)
{
	const struct rd_bytes *input = rd_is_standard_input(name) ? rd_standard_input() : NULL;
	_cleanup_(rd_source_closep) struct rd_source *opened = NULL;
	_cleanup_free_ char *path = rd_whole_path(name);
	struct rd_source *host;
	int r;

	if (input)
		return rd_bytes_copy(input->data, input->size, ret);
	if (!path)
		return rd_err_set(err, errno, name, "cannot determine the working directory");
	r = rd_local_host(&opened, &host, err);
	return r < 0 ? r : rd_read_file(host, path, ret, err);
}

int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	int r;

	if (!local_guard)
		return rd_source_bundle_open(path, ret, err);
	bundle = rd_source_guard_open_bundle(path, rd_source_guard_left(local_guard));
	rd_source_guard_ahead(bundle, fn, NULL);
	rd_source_guard_join(local_guard, bundle);
	r = rd_source_guard_ready(bundle, err);
	if (!r)
		*ret = RD_TAKE(bundle);
	return r;
}

#define SITE_FOLDER RD_SYSCONFDIR "/rdmadiag"
#define FILES_MAX 256

/* Directories of tables relative to the program, which may be installed anywhere, or run from the build tree. */
static const char *const relative_folders[] = { "../share/rdmadiag", "../data" };

/* The tables of data/, compiled into the program, so that the binary alone can be copied to a host. The Makefile lists these files as
 * dependencies of the object. */
#define TABLE(symbol, file)                   \
	__asm__(".section .rodata\n"          \
		"table_" #symbol ":\n"        \
		".incbin \"data/" file "\"\n" \
		"table_" #symbol "_end:\n"    \
		".previous\n");               \
	extern const char table_##symbol[], table_##symbol##_end[]

TABLE(counters, "counters");
TABLE(explain, "explain");
TABLE(explain_jobs, "explain-jobs");
TABLE(explain_kernel, "explain-kernel");
TABLE(explain_services, "explain-services");
TABLE(fabric_thresholds, "fabric-thresholds");
TABLE(hints, "hints");
TABLE(thresholds, "thresholds");
TABLE(versions, "versions");

static const struct {
	const char *name, *begin, *end;
} builtin[] = {
	{ "counters", table_counters, table_counters_end },
	{ "explain", table_explain, table_explain_end },
	{ "explain-jobs", table_explain_jobs, table_explain_jobs_end },
	{ "explain-kernel", table_explain_kernel, table_explain_kernel_end },
	{ "explain-services", table_explain_services, table_explain_services_end },
	{ "fabric-thresholds", table_fabric_thresholds, table_fabric_thresholds_end },
	{ "hints", table_hints, table_hints_end },
	{ "thresholds", table_thresholds, table_thresholds_end },
	{ "versions", table_versions, table_versions_end },
};

/* A copy of the table `name`, freed by the caller. False: there is no such table. */
static bool copy_builtin(const char *name, struct rd_bytes *ret)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(builtin); i++) {
		if (strcmp(name, builtin[i].name) != 0)
			continue;
		rd_bytes_copy(builtin[i].begin, (size_t)(builtin[i].end - builtin[i].begin), ret);
		return true;
	}
	return false;
}

void rd_table_deinit(struct rd_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->v[i].path);
		rd_bytes_deinit(&table->v[i].bytes);
	}
	free(table->v);
	*table = (struct rd_table){ 0 };
}

static void add_part(struct rd_table *table, char *path, struct rd_bytes bytes)
{
	*RD_ADD(table->v, table->n, table->cap) = (struct rd_table_part){ .path = path, .bytes = bytes };
}

/* A missing directory, or a file in its place, counts as empty. */
static bool is_absent(int r)
{
	return r == -ENOENT || r == -ENOTDIR;
}

/* Returns whether the file exists. */
static bool add_file(struct rd_source *host, const char *path, struct rd_table *table, struct rd_errlist *errors)
{
	struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };
	int r = rd_read_file(host, path, &bytes, &err);

	if (r == 0)
		add_part(table, rd_dup(path), bytes);
	else if (!is_absent(r))
		rd_errlist_add(errors, &err);
	return !is_absent(r);
}

static bool is_conf(const char *name)
{
	size_t length = strlen(name);

	return *name != '.' && length > 5 && strcmp(name + length - 5, ".conf") == 0;
}

/* Returns whether the directory exists. */
static bool list_folder(struct rd_source *host, const char *folder, struct rd_texts *ret, struct rd_errlist *errors)
{
	struct rd_err err = { 0 };
	int r = rd_list_dir(host, folder, ret, &err);

	if (r < 0 && !is_absent(r))
		rd_errlist_add(errors, &err);
	return !is_absent(r);
}

static void add_folder(struct rd_source *host, const char *folder, struct rd_table *table, struct rd_errlist *errors)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	struct rd_err err = { 0 };
	size_t n = 0;

	list_folder(host, folder, &names, errors);
	for (size_t i = names.n; i-- > 0;) {
		_cleanup_free_ char *path = rd_text("%s/%s", folder, names.v[i]);

		if (!is_conf(names.v[i]))
			continue;
		if (++n > FILES_MAX) {
			rd_err_set(&err, E2BIG, folder, "more than %d files: the others are ignored", FILES_MAX);
			rd_errlist_add(errors, &err);
			break;
		}
		add_file(host, path, table, errors);
	}
}

/* Returns whether the directory exists. */
static bool add_site(struct rd_source *host, const char *folder, const char *name, struct rd_table *table,
		     struct rd_errlist *errors)
{
	_cleanup_free_ char *several = rd_text("%s/%s.d", folder, name), *one = rd_text("%s/%s", folder, name);
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (!list_folder(host, folder, &names, errors))
		return false;
	if (rd_texts_has(&names, strrchr(several, '/') + 1))
		add_folder(host, several, table, errors);
	if (rd_texts_has(&names, name))
		add_file(host, one, table, errors);
	return true;
}

/* As an absolute path, since files of the host are opened from its root. NULL: not set. Caller frees. */
static char *site_of_user(void)
{
	const char *folder = secure_getenv("RDMADIAG_DATADIR");
	char here[PATH_MAX];

	if (!folder || !*folder)
		return NULL;
	return *folder == '/' || !getcwd(here, sizeof(here)) ? rd_dup(folder) : rd_text("%s/%s", here, folder);
}

static void add_shipped(struct rd_source *host, const char *name, struct rd_table *table, struct rd_errlist *errors)
{
	_cleanup_free_ char *exe = NULL;
	struct rd_bytes copy = { 0 };
	bool found = false;
	const char *slash;

	rd_read_link(host, "/proc/self/exe", &exe, NULL);
	slash = exe ? strrchr(exe, '/') : NULL;
	for (size_t i = 0; !found && i <= RD_ARRAY_SIZE(relative_folders); i++) {
		_cleanup_free_ char *path = i < RD_ARRAY_SIZE(relative_folders) ?
						    rd_text("%.*s/%s/%s", slash ? (int)(slash - exe) : 0, exe ?: "",
							    relative_folders[i], name) :
						    rd_text(RD_DATADIR "/%s", name);

		found = add_file(host, path, table, errors);
	}
	if (!found && copy_builtin(name, &copy))
		add_part(table, rd_text("%s (built in)", name), copy);
}

void rd_table_read(const char *name, struct rd_table *ret, struct rd_errlist *errors)
{
	_cleanup_(rd_source_closep) struct rd_source *opened = NULL;
	_cleanup_free_ char *of_user = site_of_user();
	size_t failed = errors->n;
	struct rd_source *host;
	struct rd_err err = { 0 };

	if (rd_local_host(&opened, &host, &err) < 0) {
		rd_errlist_add(errors, &err);
		return;
	}
	if (of_user && !add_site(host, of_user, name, ret, errors)) {
		rd_err_set(&err, ENOENT, of_user, "no such directory (set by RDMADIAG_DATADIR)");
		rd_errlist_add(errors, &err);
	}
	add_site(host, SITE_FOLDER, name, ret, errors);
	add_shipped(host, name, ret, errors);
	if (ret->n == 0 && errors->n == failed) {
		rd_err_set(&err, ENOENT, name, "no such file or table");
		rd_errlist_add(errors, &err);
	}
}

int rd_table_read_all(const char *name, struct rd_table *ret, struct rd_err *err)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };

	rd_table_read(name, ret, &errors);
	if (errors.n == 0)
		return 0;
	*err = errors.v[0];
	return -err->code;
}

/* KIND.d/NAME.conf in the site's directories. */
static int read_site(const char *kind, const char *name, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_free_ char *of_user = site_of_user();
	const char *const folders[] = { of_user, SITE_FOLDER };
	_cleanup_(rd_source_closep) struct rd_source *opened = NULL;
	struct rd_source *host;
	int r = rd_local_host(&opened, &host, err);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < RD_ARRAY_SIZE(folders) && is_absent(r); i++) {
		_cleanup_free_ char *path = rd_text("%s/%s.d/%s.conf", folders[i] ? folders[i] : "", kind, name);

		if (folders[i])
			r = rd_read_file(host, path, ret, err);
	}
	return r;
}

int rd_table_read_named(const char *kind, const char *name, struct rd_bytes *ret, struct rd_err *err)
{
	int r = rd_read_local(name, ret, err);

	if (r != -ENOENT || strchr(name, '/'))
		return r;
	r = read_site(kind, name, ret, err);
	if (is_absent(r))
		return rd_err_set(err, ENOENT, name, "no such file, and no " SITE_FOLDER "/%s.d/%s.conf", kind, name);
	return r;
}

void rd_tables_read_ahead(const char *const *names, size_t n, bool forms)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(builtin); i++) {
		_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
		_cleanup_(rd_table_deinit) struct rd_table table = { 0 };

		if (forms || strncmp(builtin[i].name, "explain", strlen("explain")) != 0)
			rd_table_read(builtin[i].name, &table, &errors);
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		if (!strchr(names[i], '/'))
			read_site("profiles", names[i], &bytes, NULL);
	}
}

int rd_read_meanings(struct rd_meanings *ret, struct rd_errlist *errors, struct rd_err *err)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	struct rd_err too_large = { 0 };
	int r = rd_table_read_all("counters", &table, err);

	if (r < 0)
		rd_errlist_add(errors, err);
	for (size_t i = 0; i < table.n; i++)
		if (rd_meanings_parse(table.v[i].path, (char *)table.v[i].bytes.data, table.v[i].bytes.size, ret,
				      errors, &too_large) < 0)
			rd_errlist_add(errors, &too_large);
	return r;
}

static bool exists(const char *id)
{
	return rd_check_find(id) != NULL;
}

int rd_profile_load(const char *path, struct rd_profile *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	return RD_FIRST(rd_table_read_named("profiles", path, &bytes, err),
			rd_profile_parse((char *)bytes.data, bytes.size, path, ret, err),
			rd_profile_check_ignores(ret, exists, path, err));
}
