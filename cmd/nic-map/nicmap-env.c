/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --env and --check-env. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/env/envcheck.h"
#include "analyse/stacks/stacks.h"
#include "cmd/datafile.h"
#include "collect/net/netstate.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"

/* Device names are foreign input, and a shell evaluates the output. */
static void add_quoted(struct rd_buf *out, const char *value)
{
	const char *end = value + strlen(value);

	rd_buf_str(out, "'");
	for (size_t n; value < end; value += n ? n : 1) {
		n = rd_plain_next(value, (size_t)(end - value));
		if (*value == '\'')
			rd_buf_str(out, "'\\''");
		else
			rd_buf_add(out, value, n);
	}
	rd_buf_str(out, "'");
}

/* NIXL has no variables of its own that select NICs, only those of UCX. */
static bool is_of(const char *wanted, const char *library)
{
	return strcmp(wanted, "all") == 0 || strcmp(wanted, library) == 0 ||
	       (strcmp(wanted, "nixl") == 0 && strcmp(library, "ucx") == 0);
}

static size_t add_variables(const struct rd_env *env, const char *wanted, struct rd_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < env->n; i++) {
		if (!is_of(wanted, env->v[i].library))
			continue;
		rd_buf_printf(out, "export %s=", env->v[i].name);
		add_quoted(out, env->v[i].value);
		rd_buf_str(out, "\n");
		n++;
	}
	return n;
}

/* Comments come last: `eval` without quotes makes one line of all. */
static void add_notes(const struct nicmap *nm, const char *wanted, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf notes = { 0 };
	rd_stack_env_notes(&nm->map, wanted, &notes);
	for (const char *at = notes.data; at && *at;) {
		const char *end = strchr(at, '\n');

		rd_buf_str(out, "# ");
		rd_buf_safe(out, at, end ? (size_t)(end - at) : strlen(at));
		rd_buf_str(out, "\n");
		at = end ? end + 1 : NULL;
	}
}

/* EFA takes no list of NICs, but libfabric can be kept from falling back to TCP. */
static bool add_efa(const struct nicmap *nm, const char *wanted, struct rd_buf *out)
{
	struct rd_env env = { 0 };
	bool any;

	if (strcmp(wanted, "libfabric") != 0)
		return false;
	rd_stack_env_efa(&nm->host, &env);
	any = add_variables(&env, wanted, out) > 0;
	rd_env_deinit(&env);
	return any;
}

int nicmap_show_env(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };
	bool refused = rd_env_refused(&nm->map.ports, &err);

	if (ctx->globals.json) {
		rd_report_nicmap(&nm->report, &nm->host, &nm->map, &nm->shown);
		if (refused) {
			rd_errlist_add(&nm->report.errors, &err);
			nm->report.status = RD_EXIT_UNKNOWN;
		}
		return rd_output_print(ctx, &nm->report);
	}
	if (refused && !add_efa(nm, opts->env, &out))
		return rd_fail(ctx, &err);
	if (!refused && add_variables(&nm->map.env, opts->env, &out) == 0) {
		if (strcmp(opts->env, "libfabric") == 0)
			rd_err_set(
				&err, ENODEV, "--env libfabric",
				"no variable can list the compute NICs: FI_VERBS_DEVICE_NAME matches prefixes and would also select NICs that "
				"are not compute NICs; FI_VERBS_IFACE needs an address on each interface");
		else
			rd_err_set(&err, ENODEV, "--env", "no variable known for this library");
		return rd_fail(ctx, &err);
	}
	if (!refused)
		add_notes(nm, opts->env, &out);
	rd_out(&out);
	return RD_EXIT_OK;
}

/* A file without any variable is probably the wrong file; an empty one may be the output of grep. */
static bool has_variables(const struct rd_bytes *bytes)
{
	return bytes->size == 0 || (!memchr(bytes->data, '\0', bytes->size) && memchr(bytes->data, '=', bytes->size));
}

static int read_text(struct rd_ctx *ctx, struct rd_bytes *bytes, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%lu/environ", opts->pid);
	r = opts->pid ? rd_read_file(ctx->source, path, bytes, err) : rd_read_local(opts->env_file, bytes, err);
	if (r == -EACCES)
		rd_err_hint(err, "only the owner of the process and root can read its environment");
	if (r == -ENOENT && opts->pid)
		rd_err_hint(err, "the process has exited, or is in another PID namespace");
	if (r < 0)
		return r;
	if (opts->env_file && !has_variables(bytes))
		return rd_err_set(err, EINVAL, opts->env_file, "contains no NAME=VALUE line");
	return 0;
}

/* As the library sees it: quotes are kept. */
static int add_variable(const char *variable, struct rd_effects *effects)
{
	char *copy = rd_dup(variable);

	return rd_effects_own(effects, copy, strlen(copy), '\0');
}

static int check_added(int r, struct rd_err *err)
{
	if (r == -E2BIG)
		return rd_err_set(err, E2BIG, "environment",
				  "not checked: more than %d variables of " RD_ENV_LIBRARIES
				  ", or a variable longer than %zu KiB",
				  RD_EFFECTS_MAX, RD_EFFECT_BYTES >> 10);
	return r;
}

static int read_variables(struct rd_ctx *ctx, struct rd_effects *effects, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	struct rd_bytes bytes = { 0 };
	int r = 0;

	if (!opts->pid && !opts->env_file) {
		for (char **var = environ; *var && !r; var++)
			r = add_variable(*var, effects);
		return check_added(r, err);
	}
	r = read_text(ctx, &bytes, err);
	if (r < 0) {
		rd_bytes_deinit(&bytes);
		return r;
	}
	effects->first_wins = opts->pid != 0;
	if (bytes.data)
		r = rd_effects_own(effects, (char *)bytes.data, bytes.size, opts->pid ? '\0' : '\n');
	return check_added(r, err);
}

/* Whose variables are checked; caller frees. */
static char *where_set(const struct nicmap_opts *opts)
{
	if (opts->pid)
		return rd_text("process %lu", opts->pid);
	return rd_dup(opts->env_file ? opts->env_file : "the environment of this command");
}

/* NCCL's choice of NICs with these variables. Returns for how many accelerators it differs from the choice without. */
static size_t add_assignments(struct nicmap *nm, const struct rd_effects *effects)
{
	_cleanup_free_ bool *allowed = rd_alloc(nm->host.n_ports + 1, sizeof(*allowed));
	struct rd_nccl_settings settings;
	struct rd_nicmap with = { 0 };
	size_t differ = 0;

	if (rd_env_nccl_settings(&nm->host, effects, allowed, &settings))
		rd_env_assign(&nm->host, nm->host.from_topology_file ? NULL : &nm->system, &settings, &with);
	/* No rows if nothing changes. */
	rd_report_env_assignments(&nm->report, &nm->host, &with, &nm->map, &differ);
	rd_nicmap_deinit(&with);
	return differ;
}

int nicmap_check_env(struct rd_ctx *ctx, struct nicmap *nm)
{
	_cleanup_free_ char *where = where_set(ctx->state);
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	struct rd_effects effects = { 0 };
	struct rd_err err = { 0 };
	size_t tables = 0, differ;
	int r = read_variables(ctx, &effects, &err);

	if (r < 0) {
		rd_effects_deinit(&effects);
		return rd_fail(ctx, &err);
	}
	if (!nm->host.from_topology_file)
		rd_collect_netstate(ctx->source, &nm->host, &net, NULL);
	nm->map.ports.net = &net;
	rd_envcheck(&nm->map.ports, &effects, &nm->report.findings);
	rd_report_envcheck(&nm->report, &effects);
	if (!ctx->globals.style.columns)
		rd_report_env_headline(&nm->report, &effects, where);
	differ = add_assignments(nm, &effects);
	/* Without -v, no second table if nothing changes. */
	if (effects.n > 0 || ctx->globals.style.raw)
		tables = differ > 0 || ctx->globals.verbose ? nm->report.n_sections : 1;
	rd_effects_deinit(&effects);
	nicmap_judge(nm);
	return nicmap_print(ctx, nm, (const struct rd_section *const *)nm->report.sections, tables);
}
