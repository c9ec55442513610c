/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map: which NICs are near which accelerators. */

#include "analyse/compare/compare.h"
#include "analyse/nccl/nccl.h"
#include "analyse/nicmap/nicmap.h"
#include "analyse/shared/distance.h"
#include "analyse/shared/symmetry.h"
#include "check/shared/check.h"
#include "cmd/datafile.h"
#include "collect/host/host.h"
#include "collect/net/netstate.h"
#include "collect/snapshot/snapshot.h"
#include "diagnose/findings/findings.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"
#include "view/view.h"

/* The rules of topo-check that concern what nic-map shows. */
static const char *const map_rules[] = { "profile-gpu",	       "profile-nic", "profile-value", "gpu-missing",
					 "nic-missing",	       "port-state",  "ib-no-sm",      "link-layer-uniform",
					 "port-speed-uniform", "gid-usable",  "gid-v2",	       "roce-lag-affinity" };

/* Runs the same rules as topo-check, so that a finding has the same id and severity in both. Unknown results are shown only if a
 * profile requires them. */
static void run_rules(struct nicmap *nm, const struct rd_profile *profile, const struct rd_findings *differences,
		      struct rd_findings *ret)
{
	_cleanup_free_ bool *selected = rd_alloc(rd_n_checks + 1, sizeof(*selected));
	_cleanup_(rd_symmetry_deinit) struct rd_symmetry symmetry = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings all = { 0 };
	const struct rd_check_input in = {
		.host = &nm->host,
		.ports = &nm->map.ports,
		.map = &nm->map,
		.symmetry = &symmetry,
		.profile = profile,
		.differences = differences,
		.unread = &nm->report.errors,
	};

	rd_symmetry_find(&nm->map.ports, &symmetry);
	for (size_t i = 0; i < rd_n_checks; i++)
		for (size_t m = 0; m < RD_ARRAY_SIZE(map_rules); m++)
			selected[i] |= strcmp(rd_checks[i]->id, map_rules[m]) == 0;
	rd_checks_run(&in, selected, &all);
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].severity == RD_SEV_UNKNOWN ? strncmp(all.v[i].id, "profile-", strlen("profile-")) == 0 :
							  all.v[i].severity > RD_SEV_OK)
			rd_finding_copy(ret, &all.v[i]);
}

static int judge_host(const char *path, struct rd_source *source, struct nicmap *nm, struct rd_err *err)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 }, self = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings differences = { 0 };
	int r = path ? rd_profile_load(path, &profile, err) : 0;

	if (r < 0)
		return r;
	if (path) {
		struct rd_port_views ports = nm->map.ports;
		_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };

		rd_collect_netstate(source, &nm->host, &net, NULL);
		ports.net = &net;
		rd_profile_of(&ports, NULL, false, &self);
		rd_profile_compare(&profile, &self, &differences);
	}
	run_rules(nm, path ? &profile : NULL, path ? &differences : NULL, &nm->map.findings);
	rd_diagnose(&nm->host, path ? &profile : NULL, rd_profile_day(nm->report.time), &nm->map.findings);
	rd_findings_select(&nm->host, &nm->shown, &nm->map.findings);
	return 0;
}

/* A profile also contains links, PCI registers and partition keys. */
static unsigned profile_of(const struct nicmap_opts *opts)
{
	return opts->profile ? RD_COLLECT_PCI | RD_COLLECT_IB : 0;
}

int nicmap_load(const struct rd_ctx *ctx, struct rd_source *source, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	const struct rd_sysfs fs = { .src = source, .errors = &nm->report.errors };
	_cleanup_bytes_ struct rd_bytes xml = { 0 };
	int r;

	*nm = (struct nicmap){ 0 };
	rd_output_init(ctx, &nm->report);
	if (rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL) == 0)
		r = rd_collect_nccl_xml(ctx->globals.from ?: RD_SOURCE_NCCL_XML, (char *)xml.data, xml.size, &nm->host,
					err);
	else
		r = rd_collect_host(source, what | profile_of(opts), &nm->host, fs.errors, err) ?:
			    rd_host_within_bounds(&nm->host, err);
	if (r < 0)
		return r;
	rd_collect_gpu_memory(&fs, &nm->system);
	nm->incomplete = rd_output_incomplete(ctx, &nm->report, false);
	/* On a host without RDMA devices, that is what to report. */
	if (nm->host.n_ibdevs > 0)
		r = rd_selection_make(&nm->host, opts->devices, &nm->shown, err);
	if (r < 0)
		return r;
	rd_nicmap_analyse(&nm->host, nicmap_system(nm), (unsigned)opts->pes, &nm->map);
	return judge_host(opts->profile, source, nm, err);
}

void nicmap_deinit(struct nicmap *nm)
{
	rd_report_deinit(&nm->report);
	rd_selection_deinit(&nm->shown);
	rd_nicmap_deinit(&nm->map);
	rd_system_deinit(&nm->system);
	rd_host_deinit(&nm->host);
}

int nicmap_print(struct rd_ctx *ctx, struct nicmap *nm, const struct rd_section *const *sections, size_t n)
{
	return ctx->globals.json ? rd_output_print(ctx, &nm->report) : rd_output_tables(ctx, &nm->report, sections, n);
}

void nicmap_judge(struct nicmap *nm)
{
	nm->report.status = nm->incomplete ? RD_EXIT_UNKNOWN : rd_report_judge(&nm->report);
}

/* Devices; the matrix has as many lines and columns. */
#define MATRIX_MAX 512

/* JSON documents have pairs instead. */
static bool shows_matrix(const struct rd_ctx *ctx, const struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;

	if (ctx->globals.json || opts->matrix)
		return !ctx->globals.json;
	return !opts->pairs && !opts->gids && !opts->assignment && !opts->stacks && !ctx->globals.style.columns &&
	       !ctx->globals.style.raw && nm->host.n_gpus > 0;
}

/* NICs, accelerators and distances; with -o or --raw the NICs alone, for scripts. */
static int show_all(struct rd_ctx *ctx, struct nicmap *nm, const struct rd_section *matrix)
{
	const struct nicmap_opts *opts = ctx->state;
	const char *only = opts->pairs	    ? "pairs" :
			   opts->gids	    ? "gids" :
			   opts->assignment ? "assignments" :
			   opts->stacks	    ? "stacks" :
					      NULL;
	const struct rd_section *sections[3] = {
		opts->matrix ? matrix : rd_report_section(&nm->report, only ?: "nics"),
	};
	size_t n = 1;

	if (!opts->matrix && !only && !ctx->globals.style.columns && !ctx->globals.style.raw && nm->host.n_gpus > 0) {
		sections[n++] = rd_report_section(&nm->report, "gpus");
		if (matrix && matrix->n > 0)
			sections[n++] = matrix;
	}
	return nicmap_print(ctx, nm, sections, n);
}

static int show_tables(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	size_t n = nm->host.n_gpus + nm->host.n_ibdevs;
	_cleanup_(rd_matrix_deinit) struct rd_matrix matrix = { 0 };
	struct rd_err err = { 0 };

	for (size_t i = 0; i < rd_n_library_rules; i++)
		rd_verbose(ctx, "rules of %s: %s, %s", rd_library_rules[i].library, rd_library_rules[i].release,
			   rd_library_rules[i].source);
	rd_report_nicmap(&nm->report, &nm->host, &nm->map, &nm->shown);
	if (opts->gids)
		rd_report_gids(&nm->report, &nm->map.ports, &nm->shown);
	if (opts->assignment) {
		rd_findings_select(&nm->host, &nm->shown, &nm->map.backup_findings);
		rd_report_add_findings(&nm->report, &nm->map.backup_findings);
	}
	/* The JSON document has it as an object. */
	if (opts->assignment && !ctx->globals.json)
		rd_report_assignment(&nm->report, &nm->host, &nm->map);
	if (opts->pairs && !ctx->globals.json)
		rd_report_paths(&nm->report, "pairs", &nm->host, &nm->map, &nm->shown);
	if (opts->stacks && !ctx->globals.json)
		rd_report_stacks(&nm->report, &nm->host, &nm->map);
	/* Findings about the stacks appear only with --stacks: most hosts do not run them. */
	if (opts->stacks) {
		rd_findings_select(&nm->host, &nm->shown, &nm->map.stacks.findings);
		rd_report_add_findings(&nm->report, &nm->map.stacks.findings);
	}
	if (shows_matrix(ctx, nm) && n > MATRIX_MAX) {
		rd_err_set(&err, E2BIG, "--matrix", "too many devices: %zu, at most %d", n, MATRIX_MAX);
		rd_err_hint(&err, "list the pairs instead: rdmadiag nic-map --pairs");
		if (opts->matrix)
			return rd_fail(ctx, &err);
		rd_warn(ctx, "matrix omitted: %s", err.message);
	} else if (shows_matrix(ctx, nm)) {
		rd_matrix_build(&matrix, &nm->host, &nm->map, rd_distance_pci);
	}
	if (opts->fail || opts->profile)
		nicmap_judge(nm);
	if (opts->assignment)
		rd_report_assignment_notes(&nm->report, &nm->map);
	if (!nm->host.from_topology_file) {
		rd_collect_userspace(&(struct rd_sysfs){ .src = ctx->source }, &nm->system);
		rd_report_given_note(&nm->report, &nm->system);
	}
	return show_all(ctx, nm, matrix.section);
}

/* An accelerator by its number ("0", "GPU0") or PCI address; -1: not found. */
static int find_gpu(const struct rd_host *host, const char *name)
{
	const char *digits = strncasecmp(name, "gpu", 3) == 0 ? name + 3 : name;
	int gpu = rd_host_gpu_at(host, rd_host_find_pci(host, name));
	uint32_t number;

	if (gpu >= 0)
		return gpu;
	return rd_parse_u32(digits, RD_DECIMAL, INT32_MAX, &number) == 0 && number < host->n_gpus ? (int)number : -1;
}

/* The PCI function of a NIC given by device name, interface name, number ("NIC3") or PCI address; -1: not found. */
static int find_nic(const struct rd_host *host, const char *name)
{
	int ibdev = rd_host_find_ibdev(host, name), netdev;
	uint32_t number;

	if (ibdev < 0 && strncasecmp(name, "nic", 3) == 0 &&
	    rd_parse_u32(name + 3, RD_DECIMAL, INT32_MAX, &number) == 0 && number < host->n_ibdevs)
		ibdev = (int)number;
	if (ibdev >= 0)
		return host->ibdevs[ibdev].pci;
	netdev = rd_host_find_netdev(host, name);
	return netdev >= 0 ? host->netdevs[netdev].pci : rd_host_find_pci(host, name);
}

static int show_path(struct rd_ctx *ctx, struct nicmap *nm, const char *gpu_name, const char *nic_name)
{
	int gpu = find_gpu(&nm->host, gpu_name), nic = find_nic(&nm->host, nic_name);
	_cleanup_free_ int *bridges = NULL;
	const struct rd_section *section;
	_cleanup_(rd_report_deinit) struct rd_report page = { 0 };
	struct rd_err err = { 0 };
	const char *why = NULL, *path;
	size_t n, top;
	int from;

	if (gpu < 0 || nic < 0) {
		rd_err_set(&err, ENODEV, gpu < 0 ? gpu_name : nic_name, "no such %s with a PCI function",
			   gpu < 0 ? "accelerator" : "NIC");
		rd_err_hint(&err, "rdmadiag nic-map");
		return rd_fail(ctx, &err);
	}
	from = nm->host.gpus[gpu].pci;
	path = rd_path_name(rd_distance_pci(&nm->host, from, nic, &why));
	rd_distance_bridges(&nm->host, from, nic, &bridges, &n, &top);
	rd_report_nicmap(&nm->report, &nm->host, &nm->map, &nm->shown);
	rd_report_bridges(&nm->report, &nm->host, from, nic, bridges, n, top);
	section = rd_report_section(&nm->report, "bridges");
	if (ctx->globals.json)
		return rd_output_print(ctx, &nm->report);
	/* Findings about the rest of the host do not belong here. */
	rd_report_path_headline(&page, &nm->host, from, nic, path, why);
	return rd_output_tables(ctx, &page, &section, 1);
}

/* nic-map --live */

struct live {
	struct rd_ctx *ctx;
	bool gpus; /* they are the body, and NICs the top */
	bool switched;
};

static int due_ms(void *arg)
{
	const struct live *live = arg;
	const struct nicmap_opts *opts = live->ctx->state;

	return rd_ticks_left_ms(&opts->repeat.ticks);
}

static char *headline_of(const struct nicmap *nm)
{
	size_t warnings = rd_findings_count(&nm->report.findings, RD_SEV_WARNING) +
			  rd_findings_count(&nm->report.findings, RD_SEV_CRITICAL);
	char when[RD_CLOCK_SIZE];

	return rd_text("nic-map  %s  %s  %zu NICs, %zu accelerators, %zu warnings", nm->report.host ?: "-",
		       rd_clock(nm->report.time, when), nm->host.n_ibdevs, nm->host.n_gpus, warnings);
}

static int load_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	struct nicmap_opts *opts = live->ctx->state;
	struct rd_section *nics, *gpus;
	_cleanup_(nicmap_deinit) struct nicmap nm = { 0 };
	int r;

	if (!rd_repeat_next(&opts->repeat))
		return 1;
	r = nicmap_load(live->ctx, live->ctx->source, 0, &nm, err);
	if (!r) {
		rd_report_nicmap(&nm.report, &nm.host, &nm.map, &nm.shown);
		/* The first two. */
		nics = rd_report_take(&nm.report, 0);
		gpus = rd_report_take(&nm.report, 0);
		page->body = live->gpus ? gpus : nics;
		page->top = live->gpus ? nics : gpus;
		page->reselected = live->switched;
		live->switched = false;
		if (page->top->n == 0) {
			rd_section_destroy(page->top);
			page->top = NULL;
		}
		page->headline = headline_of(&nm);
		page->alarm = rd_findings_alarm(&nm.report.findings, &page->alarm_severity);
	}
	return r;
}

static int handle_key(void *arg, int key)
{
	struct live *live = arg;

	if (key != 'g')
		return 0;
	live->gpus = !live->gpus;
	live->switched = true;
	return 1;
}

static int run_live(struct rd_ctx *ctx)
{
	static const int keys[] = { RD_NIC_IBDEV, RD_NIC_PORT, RD_NIC_PCI, -1 };
	static const char *const help[] = { "g        accelerators below NICs, or NICs below accelerators", NULL };
	static const struct rd_view_ops ops = {
		.look = load_page, .due = due_ms, .keys = keys, .detail = rd_view_values, .key = handle_key, .help = help
	};
	struct live live = { .ctx = ctx };
	struct nicmap_opts *opts = ctx->state;
	struct rd_err err = { 0 };

	rd_repeat_begin(&opts->repeat, NICMAP_INTERVAL);
	return rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
}

#define PES_MAX 4096

static int nicmap_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;

	if (opts->path && argc != 1)
		return rd_err_set(err, EINVAL, "--path", "requires a GPU and a NIC");
	if (opts->compare && argc < 1)
		return rd_err_set(err, EINVAL, "--compare", "requires at least one bundle");
	if (argc > 0 && (opts->env || opts->check_env || opts->against || opts->nccl_xml))
		return rd_err_set(err, EINVAL, argv[0],
				  "unexpected operand: --env, --check-env, --against and --nccl-xml take no devices");
	return 0;
}

static int no_rdma(struct rd_ctx *ctx, struct nicmap *nm)
{
	struct rd_err err;

	rd_no_rdma(ctx, nm->host.rdma_error, &err);
	if (!ctx->globals.json)
		return rd_fail(ctx, &err);
	/* Accelerators are still worth listing. */
	rd_errlist_add(&nm->report.errors, &err);
	nm->report.status = RD_EXIT_UNKNOWN;
	rd_report_nicmap(&nm->report, &nm->host, &nm->map, &nm->shown);
	return rd_output_print(ctx, &nm->report);
}

static int show_selected(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv)
{
	const struct nicmap_opts *opts = ctx->state;
	struct rd_err err;

	if (opts->compare)
		return nicmap_compare(ctx, nm, argc, argv);
	if (nm->host.n_ibdevs == 0 && !opts->profile)
		return no_rdma(ctx, nm);
	/* Output that selects devices for other programs, and verdicts, may be wrong then. */
	if (nm->incomplete && (opts->env || opts->nccl_xml || opts->check_env || opts->against)) {
		rd_err_set(&err, ENODATA, "nic-map",
			   "not all of this host could be read, and the result could be wrong");
		return rd_fail(ctx, &err);
	}
	if (opts->against)
		return nicmap_against(ctx, nm);
	if (opts->nccl_xml) {
		_cleanup_buf_ struct rd_buf out = { 0 };

		rd_nccl_xml_write(&nm->host, &out);
		rd_out(&out);
		return RD_EXIT_OK;
	}
	if (opts->check_env)
		return nicmap_check_env(ctx, nm);
	if (opts->env)
		return nicmap_show_env(ctx, nm);
	return opts->path ? show_path(ctx, nm, opts->path, argv[0]) : show_tables(ctx, nm);
}

struct operands {
	int n;
	char **v;
};

static unsigned what_of(const struct rd_ctx *ctx)
{
	const struct nicmap_opts *opts = ctx->state;
	/* The largest MTU is a hidden column and a JSON key. */
	bool whole = ctx->globals.json || ctx->globals.style.columns;

	return (opts->path ? RD_COLLECT_ACS : 0) |
	       (opts->gids || opts->check_env || opts->against ? RD_COLLECT_ALL_GIDS : 0) |
	       (whole ? RD_COLLECT_VERBS : 0);
}

static int read_and_show(struct rd_ctx *ctx, void *arg)
{
	const struct nicmap_opts *opts = ctx->state;
	const struct operands *operands = arg;
	struct rd_err err = { 0 };
	_cleanup_(nicmap_deinit) struct nicmap nm;
	int r = nicmap_load(ctx, ctx->source, what_of(ctx), &nm, &err);

	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_repeat_head(ctx, &opts->repeat, nm.report.time);
		r = show_selected(ctx, &nm, operands->n, operands->v);
	}
	return r;
}

static int nicmap_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct nicmap_opts *opts = ctx->state;
	struct operands operands = { argc, argv };
	_cleanup_free_ char *devices = NULL;
	struct rd_err err = { 0 };

	if (opts->compare)
		ctx->schema = "rdmadiag/nic-map-compare/1";
	if (!opts->path && !opts->compare && rd_devices(ctx, opts->devices, argv, false, &devices, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	if (devices)
		opts->devices = devices;
	return opts->live ? run_live(ctx) : rd_repeat(ctx, &opts->repeat, NICMAP_INTERVAL, read_and_show, &operands);
}

static int record_host(struct rd_source *source, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	int r = rd_collect_host(source, what, &nm->host, &nm->report.errors, err) ?:
										    rd_host_within_bounds(&nm->host, err);

	if (!r)
		rd_collect_gpu_memory(&(struct rd_sysfs){ .src = source }, &nm->system);
	return r;
}

static int nicmap_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes xml = { 0 };
	_cleanup_(nicmap_deinit) struct nicmap nm = { 0 };

	/* Nothing else is known about such a host. */
	return rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL) == 0 ?
		       0 :
		       record_host(source, RD_COLLECT_ACS | RD_COLLECT_ALL_GIDS | RD_COLLECT_VERBS, &nm, err);
}

static void nicmap_read(const struct rd_ctx *ctx, struct rd_source *source)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	_cleanup_(rd_facts_deinit) struct rd_facts facts = { 0 };
	_cleanup_(nicmap_deinit) struct nicmap nm = { 0 };
	struct rd_err err;

	if (record_host(source, what_of(ctx) | profile_of(opts), &nm, &err) == 0) {
		rd_collect_userspace(&(struct rd_sysfs){ .src = source }, &nm.system);
		if (opts->profile || opts->check_env)
			rd_collect_netstate(source, &nm.host, &net, NULL);
	}
	if (opts->compare)
		rd_snapshot_collect(source, &facts, &err);
}

static const struct rd_opt nicmap_opts[] = {
	{ "device", 0, "DEVICE,...",
	  "only list these devices, ports or interfaces, and findings about them (same as operands)", "ibdev",
	  RD_TEXT(nicmap_opts, devices) },
	{ "matrix", 0, NULL, "print only the matrix of distances, with CPU and NUMA affinity",
	  RD_FLAG(nicmap_opts, matrix) },
	{ "gids", 0, NULL, "print the GID tables of all ports", RD_FLAG(nicmap_opts, gids) },
	{ "assignment", 0, NULL, "list the NICs that NCCL and NVSHMEM select for each GPU, why, and the backup",
	  RD_FLAG(nicmap_opts, assignment) },
	{ "env", 0, "LIBRARY", "print variables for eval: nccl, nvshmem, ucx, mooncake, nixl, libfabric, all",
	  "nccl|nvshmem|ucx|mooncake|nixl|libfabric|all", RD_WORD(nicmap_opts, env) },
	{ "check-env", 0, NULL, "show what each variable set here does on this host, and what is wrong",
	  RD_FLAG(nicmap_opts, check_env) },
	{ "pid", 'p', "PID", "with --check-env: check the variables of this process", "pid",
	  RD_NUMBER(nicmap_opts, pid, 1, RD_PID_MAX) },
	{ "compare", 0, NULL, "show how the bundles that follow differ from this host", NULL, RD_NEEDS_FOREIGN_OPERANDS,
	  RD_FLAG(nicmap_opts, compare) },
	{ "live", 'w', NULL, "show the table on the full screen, updated, with changes highlighted", NULL,
	  RD_NEEDS_TERMINAL, RD_FLAG(nicmap_opts, live) },
	{ "path", 0, "GPU", "list the bridges between GPU and the NIC operand: link, width, ACS",
	  RD_TEXT(nicmap_opts, path) },
	{ "pairs", 0, NULL, "list each pair of GPU and NIC: distances, and whether GPUDirect is used",
	  RD_FLAG(nicmap_opts, pairs) },
	{ "stacks", 0, NULL, "list the NICs, GID and transport that Mooncake, NIXL and libfabric select",
	  RD_FLAG(nicmap_opts, stacks) },
	{ "pes", 0, "N", "number of NVSHMEM processes on the host (default: one per GPU)",
	  RD_NUMBER(nicmap_opts, pes, 1, PES_MAX) },
	{ "env-file", 0, "FILE", "with --check-env: check the variables in FILE, NAME=VALUE lines", "file",
	  RD_NEEDS_FOREIGN_FILE, RD_TEXT(nicmap_opts, env_file) },
	{ "against", 0, "FILE", "compare the prediction with the log of a run, or with a topology dumped by NCCL",
	  "file", RD_NEEDS_FOREIGN_FILE, RD_TEXT(nicmap_opts, against) },
	{ "nccl-xml", 0, NULL, "write an NCCL topology file (NCCL_TOPO_FILE) for this host",
	  RD_FLAG(nicmap_opts, nccl_xml) },
	{ "profile", 0, "FILE", "show what differs from a profile of topo-check --learn, missing devices first", "file",
	  RD_NEEDS_FOREIGN_FILE, RD_TEXT(nicmap_opts, profile) },
	{ "fail", 0, NULL, "exit 1 or 2 if there are warnings or worse", RD_FLAG(nicmap_opts, fail) },
	RD_REPEAT_OPTS(nicmap_opts, repeat),
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_ONE_OF, "matrix pairs gids assignment stacks path env check-env nccl-xml against compare live" },
	{ RD_EXCLUDES, "device", "path env check-env nccl-xml against compare",
	  "each applies to the whole host, or takes operands of its own" },
	{ RD_REQUIRES, "pid env-file", "check-env" },
	{ RD_EXCLUDES, "pid", "env-file" },
	{ RD_EXCLUDES, "interval count", "compare", "bundles do not change" },
	{ RD_EXCLUDES, "interval count", "env nccl-xml", "another program reads the output, once" },
	{ RD_EXCLUDES, "interval count", "against", "the file does not change" },
	{ RD_EXCLUDES, "live", "json" },
	{ RD_EXCLUDES, "nccl-xml", "json", "the output is XML" },
	{ 0 },
};

const struct rd_cmd rd_cmd_nic_map = {
	.name = "nic-map",
	.summary = "show NICs, GPUs and the distances between them",
	.question = "Which NIC does a GPU use",
	.operands = "[DEVICE... | NIC | BUNDLE...]",
	.opts = nicmap_opts,
	.rules = rules,
	.description =
		"Lists RDMA devices with port, interface, PCI address, NUMA node, state, rate and the GID to use;\n"
		"accelerators; and the distance between them in the terms of nvidia-smi topo -m: PIX (one\n"
		"switch), PXB (several), PHB (through a host bridge), NODE (through host bridges of one NUMA node),\n"
		"SYS (between NUMA nodes). Everything is read from sysfs and procfs: no GPU library is needed.\n"
		"With --from it reads a bundle, a bare sysfs tree or an NCCL topology file.\n",
	.examples = "  rdmadiag nic-map\n"
		    "  rdmadiag nic-map --gids mlx5_3\n"
		    "  rdmadiag nic-map --path GPU0 mlx5_3\n"
		    "  eval \"$(rdmadiag nic-map --env nccl)\"\n"
		    "  rdmadiag nic-map --check-env --pid 4711\n"
		    "  rdmadiag nic-map --against nccl.log\n"
		    "  rdmadiag --from host17.tar.zst nic-map --json\n",
	.columns = rd_nic_columns,
	.n_columns = RD_NIC_COLUMNS,
	.topologies = true,
	.state_size = sizeof(struct nicmap_opts),
	.check = nicmap_check,
	.record = nicmap_record,
	.read = nicmap_read,
	.run = nicmap_run,
};
