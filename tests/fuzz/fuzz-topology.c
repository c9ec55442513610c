/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topology files and ibnetdiscover's output, lists of hosts, tables of thresholds; what is read is also compared, divided and
 * written. */
#include "fuzz.h"

#include "analyse/fabric/fabric.h"
#include "analyse/shares/fabric-shard.h"
#include "collect/fabric/fabric.h"

static void whole_topology(const char *text, size_t size)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_fabric one = { 0 }, two = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_shards shards;
	struct rd_err err;

	if (rd_topology_parse("seed", text, size, &one, &err) < 0)
		return;
	rd_topology_write(&one, &out);
	if (rd_topology_parse("written", out.data, out.len, &two, &err) < 0 || two.n_nodes != one.n_nodes)
		abort();
	rd_fabric_compare(&one, &two, &findings);
	if (findings.n > 0)
		abort();
	rd_shards_divide(&one, NULL, 3, &shards);
	rd_shards_deinit(&shards);
	rd_findings_deinit(&findings);
	rd_fabric_deinit(&one);
	rd_fabric_deinit(&two);
}

/* What a process that parses a topology file returns, if the file has taken it over. */
static void build(const uint8_t *data, size_t size)
{
	struct rd_bytes bytes = { 0 };
	struct rd_fabric fabric;
	struct rd_err err;

	rd_bytes_copy(data, size, &bytes);
	if (rd_topology_build("read", &bytes, &fabric, &err) == 0)
		rd_fabric_deinit(&fabric);
	rd_bytes_deinit(&bytes);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_fabric_limits limits = { 0 };
	const char *text = (const char *)data;
	struct rd_err err;
	_cleanup_(rd_texts_deinit) struct rd_texts names = { 0 };

	whole_topology(text, size);
	build(data, size);
	rd_hostfile_parse("seed", text, size, &names, &err);
	rd_fabric_limits_init(&limits);
	rd_fabric_limits_parse("seed", text, size, &limits, &err);
}
