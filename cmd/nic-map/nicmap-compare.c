/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nic-map compares with a host: variables (--env, --check-env), runs (--against) and other hosts (--compare). */

#include "analyse/compare/compare.h"
#include "analyse/env/envcheck.h"
#include "analyse/run/against.h"
#include "analyse/shared/distance.h"
#include "analyse/stacks/stacks.h"
#include "base/fix.h"
#include "cmd/bundles/bundles.h"
#include "cmd/datafile.h"
#include "collect/host/host.h"
#include "collect/nccl/runlog.h"
#include "collect/net/netstate.h"
#include "collect/snapshot/snapshot.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"

/* nic-map --env and --check-env. */

/* Device names are foreign input, and a shell evaluates the output. */
static void add_quoted(struct rd_buf *out, const char *value)
{
	const char *end = value + strlen(value);

	rd_buf_str(out, "'");
	for (size_t n; value < end; value += n ?: 1) {
		n = rd_plain_next(value, (size_t)(end - value));
		if (*value == '\'')
			rd_buf_str(out, "'\\''");
		else
			rd_buf_add(out, value, n);
	}
	rd_buf_str(out, "'");
}

static size_t add_variables(const struct rd_env *env, const char *wanted, struct rd_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < env->n; i++) {
		const char *library = env->v[i].library;

		/* NIXL has no variables of its own that select NICs, only those of UCX. */
		if (strcmp(wanted, "all") != 0 && strcmp(wanted, library) != 0 &&
		    (strcmp(wanted, "nixl") != 0 || strcmp(library, "ucx") != 0))
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
	_cleanup_(rd_env_deinit) struct rd_env env = { 0 };

	if (strcmp(wanted, "libfabric") != 0)
		return false;
	rd_stack_env_efa(&nm->host, &env);
	return add_variables(&env, wanted, out) > 0;
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
	/* A file without any variable is probably the wrong file; an empty one may be the output of grep. */
	if (opts->env_file && bytes->size > 0 &&
	    (memchr(bytes->data, '\0', bytes->size) || !memchr(bytes->data, '=', bytes->size)))
		return rd_err_set(err, EINVAL, opts->env_file, "contains no NAME=VALUE line");
	return 0;
}

static int read_variables(struct rd_ctx *ctx, struct rd_effects *effects, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	struct rd_bytes bytes = { 0 };
	int r = 0;

	if (opts->pid || opts->env_file) {
		r = read_text(ctx, &bytes, err);
		if (r < 0) {
			rd_bytes_deinit(&bytes);
			return r;
		}
		effects->first_wins = opts->pid != 0;
		if (bytes.data)
			r = rd_effects_own(effects, (char *)bytes.data, bytes.size, opts->pid ? '\0' : '\n');
	} else {
		/* As the library sees it: quotes are kept. */
		for (char **var = environ; *var && !r; var++)
			r = rd_effects_own(effects, rd_dup(*var), strlen(*var), '\0');
	}
	if (r == -E2BIG)
		return rd_err_set(err, E2BIG, "environment",
				  "not checked: more than %d variables of " RD_ENV_LIBRARIES
				  ", or a variable longer than %zu KiB",
				  RD_EFFECTS_MAX, RD_EFFECT_BYTES >> 10);
	return r;
}

/* NCCL's choice of NICs with these variables. Returns for how many accelerators it differs from the choice without. */
static size_t add_assignments(struct nicmap *nm, const struct rd_effects *effects)
{
	_cleanup_free_ bool *allowed = rd_alloc(nm->host.n_ports + 1, sizeof(*allowed));
	struct rd_nccl_settings settings;
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap with = { 0 };
	size_t differ = 0;

	if (rd_env_nccl_settings(&nm->host, effects, allowed, &settings)) {
		rd_distance_fill(&nm->host, &with);
		rd_nccl_fill(&nm->host, nicmap_system(nm), &settings, &with);
	}
	/* No rows if nothing changes. */
	rd_report_env_assignments(&nm->report, &nm->host, &with, &nm->map, &differ);
	return differ;
}

int nicmap_check_env(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_free_ char *where = opts->pid ? rd_text("process %lu", opts->pid) :
						 rd_dup(opts->env_file ?: "the environment of this command");
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	_cleanup_(rd_effects_deinit) struct rd_effects effects = { 0 };
	struct rd_err err = { 0 };
	size_t tables = 0, differ;
	int r = read_variables(ctx, &effects, &err);

	if (r < 0)
		return rd_fail(ctx, &err);
	if (!nm->host.from_topology_file)
		rd_collect_netstate(ctx->source, &nm->host, &net, NULL);
	nm->map.ports.net = &net;
	nm->map.ports.system = nicmap_system(nm);
	rd_envcheck(&nm->map.ports, &effects, &nm->report.findings);
	rd_report_envcheck(&nm->report, &effects);
	if (!ctx->globals.style.columns)
		rd_report_env_headline(&nm->report, &effects, where);
	differ = add_assignments(nm, &effects);
	/* Without -v, no second table if nothing changes. */
	if (effects.n > 0 || ctx->globals.style.raw)
		tables = differ > 0 || ctx->globals.verbose ? nm->report.n_sections : 1;
	nicmap_judge(nm);
	return nicmap_print(ctx, nm, (const struct rd_section *const *)nm->report.sections, tables);
}

/* nic-map --against */

/* Rows of a table without -v. */
#define ROWS_MAX 40
/* Hosts named in the error if the log has no lines of this host. */
#define NAMES_MAX 6

/* The file, and the result of the comparison. */
struct comparison {
	struct rd_against_what what;
	struct rd_against against;
	struct rd_runlog log;
	char version[48];
	bool cut;
};

/* Whether the file is XML: the first tag may follow blanks and a byte order mark. */
static bool is_xml(const struct rd_bytes *bytes)
{
	const char *at = (const char *)bytes->data;
	size_t size = bytes->size;

	if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) {
		at += 3;
		size -= 3;
	}
	while (size > 0 && strchr(" \t\r\n", *at) && *at) {
		at++;
		size--;
	}
	return size > 0 && *at == '<' && memchr(at, '>', size) &&
	       (strncmp(at, "<system", 7) == 0 || strncmp(at, "<?xml", 5) == 0 || strncmp(at, "<!", 2) == 0);
}

/* The lines of this host, else of the only host. `nameless`: lines that name no host, if they can only be of that one
 * (Mooncake's beside NCCL's); NULL: none. */
static const struct rd_run_host *choose_host(const struct rd_runlog *log, const char *name,
					     const struct rd_run_host **nameless)
{
	const struct rd_run_host *found = rd_runlog_find(log, name), *only = NULL;
	size_t named = 0;

	*nameless = NULL;
	for (size_t i = 0; i < log->n; i++)
		if (*log->v[i].name) {
			named++;
			only = &log->v[i];
		} else {
			*nameless = &log->v[i];
		}
	if (named == 0) {
		found = *nameless;
		*nameless = NULL;
	} else if (named == 1) {
		found = only;
	} else {
		*nameless = NULL;
	}
	return found;
}

static int compare_log(const struct nicmap *nm, const struct rd_bytes *bytes, struct comparison *cmp, struct rd_err *err)
{
	struct rd_runlog *log = &cmp->log;
	const struct rd_run_host *run, *nameless;
	int r = rd_runlog_parse(cmp->what.file, (const char *)bytes->data, bytes->size, log, err);

	if (r < 0)
		return r;
	cmp->what.kind = "log";
	cmp->cut = log->cut;
	run = choose_host(log, nm->report.host, &nameless);
	if (!run) {
		_cleanup_buf_ struct rd_buf names = { 0 };

		for (size_t i = 0; i < log->n && i < NAMES_MAX; i++)
			rd_buf_printf(&names, "%s%s", names.len ? ", " : "",
				      *log->v[i].name ? log->v[i].name : "an unnamed host");
		rd_err_set(err, ENOENT, cmp->what.file, "contains lines of %zu hosts (%s%s), but not of %s", log->n,
			   names.data ?: "", log->n > NAMES_MAX ? " ..." : "",
			   nm->report.host && *nm->report.host ? nm->report.host : "this host");
		return rd_err_hint(err, "grep '%s:' %s >one.log; rdmadiag nic-map --against one.log",
				   *log->v[0].name ? log->v[0].name : "HOST", cmp->what.file);
	}
	cmp->what.run_host = *run->name ? run->name : NULL;
	snprintf(cmp->version, sizeof(cmp->version), "%u.%u.%u", log->version[0], log->version[1], log->version[2]);
	cmp->what.version = log->version[0] ? cmp->version : NULL;
	rd_against_log(&nm->host, nicmap_system(nm), &nm->map, log, run, nm->report.host, &cmp->against);
	if (nameless)
		rd_against_log(&nm->host, nicmap_system(nm), &nm->map, log, nameless, nm->report.host, &cmp->against);
	return 0;
}

static int compare_topology(const struct nicmap *nm, const struct rd_bytes *bytes, struct comparison *cmp,
			    struct rd_err *err)
{
	_cleanup_(rd_host_deinit) struct rd_host file = { 0 };
	int r = rd_collect_nccl_xml(cmp->what.file, (const char *)bytes->data, bytes->size, &file, err) ?:
			rd_runlog_topology(cmp->what.file, (const char *)bytes->data, bytes->size, &cmp->log, err);

	if (!r) {
		cmp->what.kind = "topology";
		cmp->cut = cmp->log.cut;
		rd_against_topology(&nm->host, &nm->map, &file, &cmp->log.v[0], &cmp->against);
	}
	return r;
}

static int print_table(struct rd_ctx *ctx, struct nicmap *nm, const struct comparison *cmp)
{
	const struct rd_table_style *style = &ctx->globals.style;
	size_t left_out, most = ctx->globals.verbose || style->raw || style->columns ? SIZE_MAX : ROWS_MAX;
	_cleanup_section_ struct rd_section *section = rd_report_against_table(&cmp->against, most, &left_out);
	const struct rd_section *const sections[] = { section };

	if (!style->columns)
		rd_report_against_headline(&nm->report, &cmp->what, &cmp->against, cmp->log.rccl);
	if (left_out > 0)
		rd_report_note(&nm->report, "%zu more row%s: -v shows all", left_out, left_out == 1 ? "" : "s");
	return nicmap_print(ctx, nm, sections, 1);
}

static int print_result(struct rd_ctx *ctx, struct nicmap *nm, const struct comparison *cmp)
{
	const struct rd_against *against = &cmp->against;
	struct rd_err err = { 0 };

	rd_report_against(&nm->report, &cmp->what, against);
	/* Findings about the host itself do not belong here. */
	rd_findings_deinit(&nm->report.findings);
	rd_report_add_findings(&nm->report, &against->findings);
	if (cmp->cut)
		rd_warn(ctx, "%s: too many devices, processes or channels; the rest is ignored", cmp->what.file);
	nicmap_judge(nm);
	if (against->n_of[RD_VERDICT_SAME] + against->n_of[RD_VERDICT_DIFFERS] == 0) {
		const struct rd_finding *first = against->findings.n > 0 ? &against->findings.v[0] : NULL;
		_cleanup_free_ char *fix = first ? rd_fix_line(first->fix) : NULL;

		nm->report.status = RD_EXIT_UNKNOWN;
		rd_err_set(&err, ENODATA, cmp->what.file, "contains nothing that can be compared with this host%s%s",
			   first ? ": " : "", first ? (first->observed ?: first->why) : "");
		rd_err_hint(&err, "%s", fix ?: "run the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET");
		rd_errlist_add(&nm->report.errors, &err);
		if (!ctx->globals.json && against->n == 0)
			return rd_fail(ctx, &err);
	}
	return ctx->globals.json ? rd_output_print(ctx, &nm->report) : print_table(ctx, nm, cmp);
}

int nicmap_against(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct comparison cmp = { .what = { .file = opts->against } };
	struct rd_err err = { 0 };
	int r = rd_read_local(opts->against, &bytes, &err);

	if (!r && bytes.size == 0)
		r = rd_err_set(&err, ENODATA, opts->against, "file is empty");
	if (!r)
		r = is_xml(&bytes) ? compare_topology(nm, &bytes, &cmp, &err) : compare_log(nm, &bytes, &cmp, &err);
	r = r < 0 ? rd_fail(ctx, &err) : print_result(ctx, nm, &cmp);
	rd_against_deinit(&cmp.against);
	rd_runlog_deinit(&cmp.log);
	return r;
}

/* nic-map --compare */

/* The hosts, this one first. Only what is compared is kept: a struct rd_host takes 300 kB. */
struct fleet {
	struct rd_compared *v;
	size_t n;
};

static int add_host(struct fleet *fleet, const struct nicmap *nm, struct rd_source *source, const char *path,
		    struct rd_err *err)
{
	_cleanup_(rd_facts_deinit) struct rd_facts facts = { 0 };
	const char *name = nm->report.host && *nm->report.host ? nm->report.host : path ? rd_basename(path) : "here";
	_cleanup_free_ char *distinct = NULL;
	int r = rd_snapshot_collect(source, &facts, err);

	/* Hosts of one name, or one host at two times: the name alone would not say which. */
	for (size_t i = 0; i < fleet->n && path && !distinct; i++)
		if (strcmp(fleet->v[i].name, name) == 0)
			distinct = rd_text("%s (%s)", name, rd_basename(path));
	rd_compared_take(distinct ? distinct : name, &nm->host, &nm->map, &facts, &fleet->v[fleet->n++]);
	return r;
}

static int read_other(struct rd_ctx *ctx, const char *path, struct fleet *fleet, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_ctx other = *ctx;
	struct nicmap nm;
	int r = rd_source_bundle_open(path, &source, err);

	if (r < 0)
		return r;
	other.source = source;
	other.globals.from = path;
	r = nicmap_load(&other, source, 0, &nm, err) ?: add_host(fleet, &nm, source, path, err);
	nicmap_deinit(&nm);
	return r;
}

static int compare_fleet(struct rd_ctx *ctx, struct nicmap *nm, const struct fleet *fleet)
{
	/* A host without RDMA device, on which bundles are compared, is not itself compared. */
	const struct rd_table_style *style = &ctx->globals.style;
	size_t first = nm->host.n_ibdevs == 0, n = fleet->n - first, left_out = 0;
	bool json = ctx->globals.json, all = json || ctx->globals.verbose;
	_cleanup_(rd_comparison_deinit) struct rd_comparison found = { 0 };

	rd_compare(fleet->v + first, n, &found);
	rd_report_rails(&nm->report, fleet->v + first, n, found.rails, all, all ? SIZE_MAX : ROWS_MAX, &left_out);
	rd_report_add_findings(&nm->report, &found.findings);
	nicmap_judge(nm);
	if (!style->columns)
		rd_report_compare_headline(&nm->report, n);
	if (left_out > 0)
		rd_report_note(&nm->report, "%zu more rows differ: -v shows all", left_out);
	/* Hosts without accelerators have no rails: a heading without rows says nothing, but to scripts. */
	return nicmap_print(ctx, nm, (const struct rd_section *const *)nm->report.sections,
			    nm->report.sections[0]->n > 0 || ctx->globals.rows_only);
}

int nicmap_compare(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv)
{
	struct fleet fleet = { .v = rd_alloc((size_t)argc + 1, sizeof(*fleet.v)) };
	struct rd_progress progress = { 0 };
	struct rd_err err = { 0 };
	int r = 0;

	if (nm->host.n_ibdevs == 0 && argc < 2) {
		free(fleet.v);
		rd_err_set(&err, ENODEV, "/sys/class/infiniband", RD_NO_RDMA_DEVICE " on this host to compare with");
		rd_err_hint(&err, "give two bundles");
		return rd_fail(ctx, &err);
	}
	r = add_host(&fleet, nm, ctx->source, ctx->globals.from, &err);
	for (int i = 0; !r && i < argc; i++) {
		rd_progress_show(&progress, "bundle", (size_t)i + 1, (size_t)argc);
		r = read_other(ctx, argv[i], &fleet, &err);
	}
	rd_progress_end(&progress);
	r = r < 0 ? rd_fail(ctx, &err) : compare_fleet(ctx, nm, &fleet);
	for (size_t i = 0; i < fleet.n; i++)
		rd_compared_deinit(&fleet.v[i]);
	free(fleet.v);
	return r;
}
