/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map: who sits next to whom. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/opts.h"
#include "collect/host.h"
#include "nicmap.h"
#include "report/report-nicmap.h"

#define PES_MAX 4096

static int take_env(const char *arg, struct nicmap_opts *opts, struct rd_err *err)
{
	static const char *const known[] = { "nccl", "nvshmem", "ucx", "mooncake", "nixl", "libfabric", "all" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (strcmp(arg, known[i]) == 0)
			opts->env = known[i];
	if (opts->env)
		return 0;
	rd_err_set(err, EINVAL, "--env", "\"%s\" is no library that is known here", arg);
	rd_err_hint(err, "nccl, nvshmem, ucx, mooncake, nixl, libfabric or all");
	return -EINVAL;
}

static int take_value(const struct rd_opt *opt, const char *arg, struct nicmap_opts *opts, struct rd_err *err)
{
	const char *name = opt->name;

	if (strcmp(name, "pes") == 0)
		return rd_opt_number("--pes", arg, 1, PES_MAX, &opts->pes, err);
	if (strcmp(name, "pid") == 0)
		return rd_opt_number("--pid", arg, 1, RD_PID_MAX, &opts->pid, err);
	if (strcmp(name, "env") == 0)
		return take_env(arg, opts, err);
	if (strcmp(name, "env-file") == 0)
		opts->env_file = arg;
	else if (strcmp(name, "against") == 0)
		opts->against = arg;
	else if (strcmp(name, "profile") == 0)
		opts->profile = arg;
	else if (strcmp(name, "path") == 0)
		opts->path = arg;
	return rd_repeat_option(&opts->repeat, opt, arg, err);
}

static int nicmap_option(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct nicmap_opts *opts = ctx->state;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "matrix", &opts->matrix },	     { "gids", &opts->gids },	    { "pairs", &opts->pairs },
		{ "assignment", &opts->assignment }, { "fail", &opts->fail },	    { "nccl-xml", &opts->nccl_xml },
		{ "check-env", &opts->check_env },   { "compare", &opts->compare }, { "live", &opts->live },
		{ "stacks", &opts->stacks },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(flags); i++)
		if (strcmp(opt->name, flags[i].name) == 0)
			*flags[i].flag = true;
	return arg ? take_value(opt, arg, opts, err) : 0;
}

/* What is asked must be one thing, and have its operands. */
static int nicmap_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	int modes = opts->matrix + opts->pairs + opts->gids + opts->assignment + opts->stacks + opts->nccl_xml +
		    opts->check_env + opts->compare + (opts->env != NULL) + (opts->path != NULL) +
		    (opts->against != NULL) + opts->live;

	if (modes > 1)
		return rd_err_set(err, EINVAL, "nic-map",
				  "of --matrix, --pairs, --gids, --assignment, --stacks, --path, --env, "
				  "--check-env, --nccl-xml, --against, --compare and --live only one can be had");
	if ((opts->pid || opts->env_file) && !opts->check_env)
		return rd_err_set(err, EINVAL, opts->pid ? "--pid" : "--env-file", "goes with --check-env");
	if (opts->pid && opts->env_file)
		return rd_err_set(err, EINVAL, "--check-env", "takes --pid or --env-file, not both");
	if (rd_repeat_wanted(&opts->repeat) && opts->compare)
		return rd_err_set(err, EINVAL, "--interval, --count", "do not go with --compare: bundles do not change");
	if (rd_repeat_wanted(&opts->repeat) && (opts->env || opts->nccl_xml))
		return rd_err_set(err, EINVAL, "--interval, --count",
				  "do not go with %s: what reads it takes one answer",
				  opts->env ? "--env" : "--nccl-xml");
	if (rd_repeat_wanted(&opts->repeat) && opts->against)
		return rd_err_set(err, EINVAL, "--interval, --count",
				  "do not go with --against: the file does not change");
	if (opts->path && argc != 1)
		return rd_err_set(err, EINVAL, "--path", "needs an accelerator and a NIC");
	if (opts->compare && argc < 1)
		return rd_err_set(err, EINVAL, "--compare", "needs at least one bundle");
	if (!opts->path && !opts->compare && argc > 0)
		return rd_err_set(err, EINVAL, argv[0], "nic-map takes options only");
	if (opts->live && ctx->globals.json)
		return rd_err_set(err, EINVAL, "--live", "is for people: leave out --json");
	if (opts->nccl_xml && ctx->globals.json)
		return rd_err_set(err, EINVAL, "--nccl-xml", "writes XML, not JSON");
	return 0;
}

static int no_rdma(struct rd_ctx *ctx, struct nicmap *nm)
{
	struct rd_err err;

	rd_no_rdma(nm->host.rdma_error, &err);
	if (!ctx->globals.json)
		return rd_fail(ctx, &err);
	/* Accelerators are still worth listing. */
	rd_errlist_add(&nm->report.errors, &err);
	nm->report.status = RD_EXIT_UNKNOWN;
	rd_report_nicmap(&nm->report, &nm->host, &nm->map);
	return rd_answer_print(ctx, &nm->report);
}

/* What names devices for others to use, or judges by what there is, is wrong where something was not seen. */
static int refuse(struct rd_ctx *ctx)
{
	struct rd_err err;

	rd_err_set(&err, ENODATA, "nic-map", "no answer, because it could be wrong: not all of this host could be read");
	return rd_fail(ctx, &err);
}

static int show(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv)
{
	const struct nicmap_opts *opts = ctx->state;

	if (opts->compare)
		return nicmap_compare(ctx, nm, argc, argv);
	if (nm->host.n_ibdevs == 0 && !opts->profile)
		return no_rdma(ctx, nm);
	if (nm->incomplete && (opts->env || opts->nccl_xml || opts->check_env || opts->against))
		return refuse(ctx);
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

static int look(struct rd_ctx *ctx, void *arg)
{
	const struct nicmap_opts *opts = ctx->state;
	const struct operands *operands = arg;
	/* The largest MTU is a column that is hidden, and a key. */
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
		r = show(ctx, &nm, operands->n, operands->v);
	}
	nicmap_deinit(&nm);
	return r;
}

static int nicmap_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct nicmap_opts *opts = ctx->state;
	struct operands operands = { argc, argv };

	return opts->live ? nicmap_live(ctx) : rd_repeat(ctx, &opts->repeat, NICMAP_INTERVAL, look, &operands);
}

static int nicmap_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes xml = { 0 };
	struct rd_host host = { 0 };
	struct rd_errlist errors = { 0 };
	struct rd_system system = { 0 };
	int r = rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL);

	/* Nothing else is known of such a host. */
	if (r == 0)
		return 0;
	r = nicmap_read(source, RD_COLLECT_ACS | RD_COLLECT_ALL_GIDS | RD_COLLECT_VERBS, &host, &system, &errors, err);

	rd_errlist_deinit(&errors);
	rd_system_deinit(&system);
	rd_host_deinit(&host);
	return r;
}

static const struct rd_opt nicmap_opts[] = {
	{ "matrix", 0, NULL, "only the matrix of distances, with CPU and NUMA affinity", NULL },
	{ "pairs", 0, NULL, "each GPU with each NIC: distance by each rule, whether GPUDirect is used, why not", NULL },
	{ "path", 0, "GPU", "every bridge between GPU and the NIC that follows: link, width, ACS", NULL },
	{ "gids", 0, NULL, "the whole GID table of every port", NULL },
	{ "assignment", 0, NULL, "which NIC NCCL and NVSHMEM give each GPU, why, and its backup", NULL },
	{ "stacks", 0, NULL, "the NICs, GID and transport that Mooncake, NIXL and libfabric take", NULL },
	{ "pes", 0, "N", "NVSHMEM processes on the host (default: one a GPU)", NULL },
	{ "env", 0, "LIBRARY", "print variables for eval: nccl, nvshmem, ucx, mooncake, nixl, libfabric, all",
	  "nccl|nvshmem|ucx|mooncake|nixl|libfabric|all" },
	{ "check-env", 0, NULL, "say what each variable set here comes to on this host, and what is wrong", NULL },
	{ "pid", 0, "PID", "with --check-env: those of this process", "pid", RD_NEEDS_PROCESS },
	{ "env-file", 0, "FILE", "with --check-env: those in this file, NAME=VALUE lines", "file",
	  RD_NEEDS_FOREIGN_FILE },
	{ "against", 0, "FILE", "hold the prediction against the log of a run, or the topology that NCCL dumped",
	  "file", RD_NEEDS_FOREIGN_FILE },
	{ "nccl-xml", 0, NULL, "write an NCCL topology file (NCCL_TOPO_FILE) for this host", NULL },
	{ "compare", 0, NULL, "say where the bundles that follow differ from this host", NULL,
	  RD_NEEDS_FOREIGN_OPERANDS },
	{ "profile", 0, "FILE", "say what differs from a profile of topo-check --learn, missing devices first", "file",
	  RD_NEEDS_FOREIGN_FILE },
	{ "fail", 0, NULL, "exit 1 or 2 when there are warnings or worse", NULL },
	{ "live", 'w', NULL, "the table on the whole screen, kept up to date, changes marked", NULL, RD_NEEDS_TERMINAL },
	RD_REPEAT_OPTS,
	{ 0 },
};

const struct rd_cmd rd_cmd_nic_map = {
	.name = "nic-map",
	.summary = "which NIC, port, interface, slot and socket, next to which GPU",
	.operands = "[NIC | BUNDLE…]",
	.opts = nicmap_opts,
	.description =
		"Lists RDMA devices with port, interface, PCI address, NUMA node, state, rate and the GID to use;\n"
		"accelerators; and the distance between them in the terms of nvidia-smi topo -m: PIX (one\n"
		"switch), PXB (several), PHB (over a host bridge), NODE (over host bridges of one NUMA node),\n"
		"SYS (between NUMA nodes). Everything is read from sysfs and procfs: no GPU library is needed.\n"
		"With --from it reads a bundle, a bare sysfs tree or an NCCL topology file.\n",
	.examples = "  rdmadiag nic-map\n"
		    "  rdmadiag nic-map --path GPU0 mlx5_3\n"
		    "  eval \"$(rdmadiag nic-map --env nccl)\"\n"
		    "  rdmadiag nic-map --check-env --pid 4711\n"
		    "  rdmadiag nic-map --against nccl.log\n"
		    "  rdmadiag --from host17.tar.zst nic-map --json\n",
	.columns = rd_nic_columns,
	.n_columns = RD_NIC_COLUMNS,
	.topologies = true,
	.state_size = sizeof(struct nicmap_opts),
	.option = nicmap_option,
	.check = nicmap_check,
	.record = nicmap_record,
	.run = nicmap_run,
};
