/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map: which NICs are near which accelerators. */
#include <errno.h>

#include "collect/host/host.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"

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

/* Output that selects devices for other programs, and verdicts, may be wrong if part of the host could not be read. */
static int refuse_incomplete(struct rd_ctx *ctx)
{
	struct rd_err err;

	rd_err_set(&err, ENODATA, "nic-map", "not all of this host could be read, and the result could be wrong");
	return rd_fail(ctx, &err);
}

static int show_selected(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv)
{
	const struct nicmap_opts *opts = ctx->state;

	if (opts->compare)
		return nicmap_compare(ctx, nm, argc, argv);
	if (nm->host.n_ibdevs == 0 && !opts->profile)
		return no_rdma(ctx, nm);
	if (nm->incomplete && (opts->env || opts->nccl_xml || opts->check_env || opts->against))
		return refuse_incomplete(ctx);
	if (opts->against)
		return nicmap_against(ctx, nm);
	if (opts->nccl_xml)
		return nicmap_show_xml(ctx, nm);
	if (opts->check_env)
		return nicmap_check_env(ctx, nm);
	if (opts->env)
		return nicmap_show_env(ctx, nm);
	if (opts->path)
		return nicmap_show_path(ctx, nm, opts->path, argv[0]);
	return nicmap_show(ctx, nm);
}

struct operands {
	int n;
	char **v;
};

static int read_and_show(struct rd_ctx *ctx, void *arg)
{
	const struct nicmap_opts *opts = ctx->state;
	const struct operands *operands = arg;
	/* The largest MTU is a hidden column and a JSON key. */
	bool whole = ctx->globals.json || ctx->globals.style.columns;
	unsigned what = (opts->path ? RD_COLLECT_ACS : 0) | (opts->gids ? RD_COLLECT_ALL_GIDS : 0) |
			(whole ? RD_COLLECT_VERBS : 0);
	struct rd_err err = { 0 };
	struct nicmap nm;
	int r = nicmap_load(ctx, ctx->source, what, &nm, &err);

	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_repeat_head(ctx, &opts->repeat, nm.report.time);
		r = show_selected(ctx, &nm, operands->n, operands->v);
	}
	nicmap_deinit(&nm);
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
	return opts->live ? nicmap_live(ctx) : rd_repeat(ctx, &opts->repeat, NICMAP_INTERVAL, read_and_show, &operands);
}

static int nicmap_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes xml = { 0 };
	struct rd_host host = { 0 };
	struct rd_errlist errors = { 0 };
	struct rd_system system = { 0 };
	int r = rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL);

	/* Nothing else is known about such a host. */
	if (r == 0)
		return 0;
	r = nicmap_read(source, RD_COLLECT_ACS | RD_COLLECT_ALL_GIDS | RD_COLLECT_VERBS, &host, &system, &errors, err);

	rd_errlist_deinit(&errors);
	rd_system_deinit(&system);
	rd_host_deinit(&host);
	return r;
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
	{ "pid", 'p', "PID", "with --check-env: check the variables of this process", "pid", RD_NEEDS_PROCESS,
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
	.run = nicmap_run,
};
