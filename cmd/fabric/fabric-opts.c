/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: options, and the files that they name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cmd/datafile.h"
#include "cmd/opts.h"
#include "cmd/table.h"
#include "collect/topology.h"
#include "fabric-cmd.h"

#define SHARDS_MAX 1000000

int fabric_cmd_option(struct fabric_cmd *cmd, const char *name, const char *arg, struct rd_err *err)
{
	const struct {
		const char *name;
		const char **text;
		bool *flag;
		bool shared;
	} plain[] = {
		{ "fabric", NULL, &cmd->on, false },
		{ "all", NULL, &cmd->all, false },
		{ "plan", NULL, &cmd->plan, false },
		{ "compare", &cmd->compare, NULL, false },
		{ "save-topology", &cmd->save_topology, NULL, false },
		{ "topology", &cmd->topology, NULL, false },
		{ "shard", &cmd->shard, NULL, false },
		{ "shards", &cmd->shards, NULL, false },
		{ "live", NULL, &cmd->live, true },
		{ "fail", NULL, &cmd->fail, true },
		{ "record", &cmd->record, NULL, true },
		{ "thresholds", &cmd->thresholds, NULL, true },
	};
	int r;

	for (size_t i = 0; i < RD_ARRAY_SIZE(plain); i++) {
		if (strcmp(plain[i].name, name) != 0)
			continue;
		if (plain[i].flag)
			*plain[i].flag = true;
		else
			*plain[i].text = arg;
		if (!plain[i].shared && plain[i].flag != &cmd->on)
			cmd->used = plain[i].name;
		return !plain[i].shared;
	}
	if (strcmp(name, "interval") == 0)
		return rd_ticks_parse(arg, &cmd->interval, err);
	if (strcmp(name, "count") == 0)
		return rd_opt_number("--count", arg, 1, RD_COUNT_MAX, &cmd->count, err);
	r = fabric_option(&cmd->engine, name, arg, err);
	if (r > 0)
		cmd->used = name;
	return r;
}

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
		rd_err_set(err, EINVAL, "--shard", "\"%s\" is no share", s->cmd->shard);
		rd_err_hint(err, "K/N, from 1/N to N/N: --shard 3/8");
		return -EINVAL;
	}
	s->shard_k = k;
	s->shard_n = n;
	return 0;
}

int fabric_session_init(struct rd_ctx *ctx, const struct fabric_cmd *cmd, struct fabric_session *s, struct rd_err *err)
{
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
	fabric_end(&s->run);
	rd_fabric_limits_deinit(&s->limits);
	rd_fabric_deinit(&s->plan);
	rd_shards_deinit(&s->shards);
	rd_hostfile_free(s->hosts, s->n_hosts);
}
