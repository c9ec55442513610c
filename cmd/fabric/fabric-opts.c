/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: options, and the files given by them. */
#include <errno.h>

#include "base/number.h"
#include "cmd/datafile.h"
#include "cmd/table.h"
#include "collect/fabric/pma.h"
#include "collect/fabric/topology.h"
#include "fabric-cmd.h"

#define SHARDS_MAX 1000000

int fabric_read_topology(const char *path, struct rd_fabric *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_read_local(path, &bytes, err);

	return r < 0 ? r : rd_topology_parse(path, (const char *)bytes.data, bytes.size, ret, err);
}

static int read_limits(struct fabric_session *s, struct rd_err *err)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	_cleanup_bytes_ struct rd_bytes own = { 0 };
	int r = rd_table_read_all("fabric-thresholds", &table, err);

	rd_fabric_limits_init(&s->limits);
	for (size_t i = table.n; i-- > 0 && !r;)
		r = rd_fabric_limits_parse(table.v[i].path, (const char *)table.v[i].bytes.data, table.v[i].bytes.size,
					   &s->limits, err);
	if (!r && s->cmd->thresholds) {
		r = rd_read_local(s->cmd->thresholds, &own, err);
		if (!r)
			r = rd_fabric_limits_parse(s->cmd->thresholds, (const char *)own.data, own.size, &s->limits,
						   err);
	}
	return r;
}

static int parse_shard(struct fabric_session *s, struct rd_err *err)
{
	const char *at = s->cmd->shard;
	uint32_t k, n;

	if (rd_take_u32(&at, RD_DECIMAL, SHARDS_MAX, &k) < 0 || *at++ != '/' ||
	    rd_parse_u32(at, RD_DECIMAL, SHARDS_MAX, &n) < 0 || k < 1 || k > n) {
		rd_err_set(err, EINVAL, "--shard", "invalid share '%s': expected K/N", s->cmd->shard);
		rd_err_hint(err, "K is from 1 to N: --shard 3/8");
		return -EINVAL;
	}
	s->shard_k = k;
	s->shard_n = n;
	return 0;
}

int fabric_session_init(struct rd_ctx *ctx, struct fabric_session *s, struct rd_err *err)
{
	struct fabric_cmd *cmd = ctx->state;
	_cleanup_bytes_ struct rd_bytes hosts = { 0 };
	int r;

	*s = (struct fabric_session){ .ctx = ctx, .cmd = cmd, .shard = -1 };
	r = read_limits(s, err);
	if (!r && cmd->shard)
		r = parse_shard(s, err);
	if (!r && cmd->compare)
		r = fabric_read_topology(cmd->compare, &s->plan, err);
	if (!r && cmd->shards) {
		r = rd_read_local(cmd->shards, &hosts, err);
		if (!r)
			r = rd_hostfile_parse(cmd->shards, (const char *)hosts.data, hosts.size, &s->hosts, &s->n_hosts,
					      err);
	}
	return r;
}

void fabric_session_deinit(struct fabric_session *s)
{
	rd_fabric_history_deinit(&s->history);
	fabric_end(&s->run);
	rd_fabric_limits_deinit(&s->limits);
	rd_fabric_deinit(&s->plan);
	rd_shards_deinit(&s->shards);
	rd_fabric_latches_deinit(&s->latches);
	rd_hostfile_free(s->hosts, s->n_hosts);
}

static int take_subsets(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct fabric_cmd *cmd = state;
	uint64_t mask;

	(void)opt;
	cmd->engine.subsets = arg;
	return rd_pma_subsets(arg, &mask, err);
}

/* --path A takes B as an operand. */
static int check_operands(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	if (((struct fabric_cmd *)ctx->state)->path)
		return argc == 1 ? 0 : rd_err_set(err, EINVAL, "--path", "expected two ports: --path A B");
	if (((struct fabric_cmd *)ctx->state)->merge)
		return argc > 0 ? 0 : rd_err_set(err, EINVAL, "--merge", "expected files: --merge FILE...");
	return argc > 0 ?
		       rd_err_set(err, EINVAL, argv[0],
				  "--fabric takes no device or port: select the local port with --port DEVICE/PORT") :
		       0;
}

static const struct rd_opt options[] = {
	{ "all", 0, NULL, "also list ports without errors or changes", RD_FLAG(fabric_cmd, all) },
	{ "interval", 'i', "SECONDS", "sweep every SECONDS (at least 0.1), and show rates",
	  RD_SECONDS(fabric_cmd, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "end after N sweeps", RD_NUMBER(fabric_cmd, repeat.count, 1, RD_COUNT_MAX) },
	{ "live", 'w', NULL, "interactive view of traffic, increasing errors and ports waiting for credits", NULL,
	  RD_NEEDS_TERMINAL, RD_FLAG(fabric_cmd, live) },
	{ "record", 0, "FILE", "write each sweep to FILE: .csv, a row for each port; .jsonl, what changed", "file",
	  RD_NEEDS_OUTPUT, RD_TEXT(fabric_cmd, record) },
	{ "thresholds", 0, "FILE", "also read thresholds from FILE; they override the default ones", "file",
	  RD_NEEDS_OWN_FILE, RD_TEXT(fabric_cmd, thresholds) },
	{ "compare", 0, "FILE", "compare the network with a saved topology", "file", RD_NEEDS_FOREIGN_FILE,
	  RD_TEXT(fabric_cmd, compare) },
	{ "save-topology", 0, "FILE", "write the topology to FILE and exit", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(fabric_cmd, save_topology) },
	{ "path", 0, "A B", "show the route from port A to port B and back, with its counters: names, GUIDs or LIDs",
	  NULL, RD_TEXT(fabric_cmd, path) },
	{ "routes", 0, NULL, "check that each pair of adapters has a route, and how evenly routes lie over links",
	  RD_FLAG(fabric_cmd, routes) },
	{ "fabric", 0, NULL, "read every port of the InfiniBand network instead of the ports of this host", NULL,
	  RD_NEEDS_PORTS },
	{ "record-size", 0, "MB", "with --record FILE.csv: begin a new file when it exceeds MB megabytes (default 128)",
	  RD_NUMBER(fabric_cmd, record_mb, 1, 256) },
	{ "fail", 0, NULL, "exit 1 or 2 on warnings or critical findings (always on with --fabric)" },
	{ "merge", 0, NULL, "put together what several hosts read, from their JSON documents", NULL,
	  RD_NEEDS_FOREIGN_OPERANDS, RD_FLAG(fabric_cmd, merge) },
	{ "topology", 0, "FILE", "with --plan or --compare: read the topology from FILE instead of the network", "file",
	  RD_NEEDS_FOREIGN_FILE, RD_TEXT(fabric_cmd, topology) },
	{ "shard", 0, "K/N", "read only share K of N", RD_TEXT(fabric_cmd, shard) },
	{ "shards", 0, "FILE", "divide the ports among the hosts listed in FILE", "file", RD_NEEDS_OWN_FILE,
	  RD_TEXT(fabric_cmd, shards) },
	{ "plan", 0, NULL, "with --shard or --shards: print the share of each host and exit",
	  RD_FLAG(fabric_cmd, plan) },
	{ "port", 0, "DEVICE/PORT", "send queries from this port (default: the first that is up)", "ibdev",
	  RD_TEXT(fabric_cmd, engine.port) },
	{ "subsets", 0, "LIST", "groups of attributes to read, separated by commas",
	  "counters|extended|rcv-errors|xmit-discards|op-rcv|flow-control|vl|vl-wait|congestion|sl|all",
	  RD_TAKES(take_subsets) },
	{ "node-name-map", 0, "FILE", "read node names from FILE, a node-name-map as used by infiniband-diags", "file",
	  RD_NEEDS_OWN_FILE, RD_TEXT(fabric_cmd, engine.node_name_map) },
	{ "window", 0, "N", "MADs in flight (default 64)",
	  RD_NUMBER(fabric_cmd, engine.window, 1, RD_SWEEP_WINDOW_MAX) },
	{ "mad-timeout", 0, "MS", "response timeout in milliseconds (default 100)",
	  RD_NUMBER(fabric_cmd, engine.timeout_ms, 1, 60000) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_EXCLUDES, "shard", "shards" },
	{ RD_REQUIRES, "plan", "shard shards", "it prints their shares" },
	{ RD_REQUIRES, "topology", "plan compare" },
	{ RD_ONE_OF, "plan save-topology path routes merge" },
	{ RD_EXCLUDES, "path routes", "shard shards topology compare live record count openmetrics textfile" },
	{ RD_EXCLUDES, "routes", "interval" },
	{ RD_EXCLUDES, "merge",
	  "shard topology compare interval count live record port subsets window mad-timeout "
	  "node-name-map from openmetrics textfile",
	  "it reads files, not a network" },
	{ RD_EXCLUDES, "plan save-topology", "interval live record" },
	{ RD_EXCLUDES, "topology", "interval live record", "a saved topology does not change" },
	{ RD_REQUIRES, "record-size", "record" },
	{ RD_REQUIRES, "count", "interval live record" },
	{ RD_EXCLUDES, "live", "json openmetrics textfile", "it writes no output" },
	{ RD_EXCLUDES, "openmetrics", "interval live record",
	  "it prints the metrics once; use --textfile, which is written after each sweep" },
	{ 0 },
};

const struct rd_cmd rd_cmd_fabric = {
	.name = "counters",
	.option = "fabric",
	.operands = "[B | FILE...]",
	.summary = "read the counters of all ports of the InfiniBand network, and report faults",
	.question = "Which link or switch of the network is bad",
	.opts = options,
	.rules = rules,
	.description =
		"Reads the counters of every switch and adapter of the network with performance management datagrams (MADs),\n"
		"and reports faults: errors, links below their speed or width, agents that do not respond, differences from\n"
		"a saved topology. Exit status: 2 critical findings, 1 warnings, else 0; 3 if no verdict was possible.\n",
	.examples = "  rdmadiag counters --fabric\n"
		    "  rdmadiag counters --fabric --save-topology saved; rdmadiag counters --fabric --compare saved\n"
		    "  rdmadiag counters --fabric --live\n",
	.columns = rd_fabric_columns,
	.n_columns = RD_FABRIC_COLUMNS,
	.metrics = true,
	.state_size = sizeof(struct fabric_cmd),
	.check = check_operands,
	.run = fabric_run,
};
