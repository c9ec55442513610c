/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries nodes at their LIDs, which does not depend on the directed routes of a walk. */
#include "base/memory.h"
#include "collect/fabric/fabric.h"
#include "model/fabric/fabric.h"
#include "source/shared/libibmad.h"

#include <errno.h>
#include <string.h>

#define CLASS_SMI 0x01
#define SMP_DATA_AT 64
#define DOUBTFUL_MAX 128 /* ports queried after a sweep, each with its neighbour */

struct probe {
	const struct rd_fabric *fabric;
	size_t *nodes; /* per query */
	bool *responds;
};

static bool take_node_info(void *arg, const struct rd_sweep_result *result)
{
	struct probe *probe = arg;
	size_t node = probe->nodes[result->query];
	uint8_t info[IB_SMP_DATA_SIZE];

	if (result->error)
		return true;
	memcpy(info, result->mad + SMP_DATA_AT, sizeof(info));
	if (rd_libibmad.mad_get_field64(info, 0, IB_NODE_GUID_F) == rd_fabric_reported_guid(&probe->fabric->nodes[node]))
		probe->responds[node] = true;
	return true;
}

/* Whether the query before is for the same LID of the same node: the ports of a switch share one. */
static bool is_queried(const struct rd_sweep_query *queries, const size_t *nodes, size_t n,
		       const struct rd_fabric_port *port)
{
	return n > 0 && nodes[n - 1] == port->node && queries[n - 1].dest.lid == port->lid;
}

int rd_fabric_probe(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		    const bool *asked, bool *responds, struct rd_err *err)
{
	_cleanup_free_ struct rd_sweep_query *queries = rd_alloc(fabric->n_ports + 1, sizeof(*queries));
	_cleanup_free_ size_t *nodes = rd_alloc(fabric->n_ports + 1, sizeof(*nodes));
	struct probe probe = { fabric, nodes, responds };
	struct rd_sweep_callbacks callbacks = { .done = take_node_info, .arg = &probe };
	struct rd_sweep_stats stats;
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!asked[port->node] || port->lid < IB_MIN_UCAST_LID || port->lid > IB_MAX_UCAST_LID ||
		    is_queried(queries, nodes, n, port))
			continue;
		queries[n] = (struct rd_sweep_query){
			.dest.lid = port->lid,
			.mad_class = CLASS_SMI,
			.attribute = IB_ATTR_NODE_INFO,
			.lid = n,
		};
		nodes[n++] = port->node;
	}
	return n ? rd_sweep_run(mads, limits, queries, n, n, &callbacks, &stats, err) : 0;
}

static bool take_sm_info(void *arg, const struct rd_sweep_result *result)
{
	struct rd_sm_info *sm = arg;
	uint8_t info[IB_SMP_DATA_SIZE];

	if (result->error)
		return true;
	memcpy(info, result->mad + SMP_DATA_AT, sizeof(info));
	sm->known = true;
	sm->guid = rd_libibmad.mad_get_field64(info, 0, IB_SMINFO_GUID_F);
	sm->activity = rd_libibmad.mad_get_field(info, 0, IB_SMINFO_ACT_F);
	sm->state = rd_libibmad.mad_get_field(info, 0, IB_SMINFO_STATE_F);
	return true;
}

int rd_fabric_query_sm(struct rd_mads *mads, const struct rd_sweep_limits *limits, uint16_t lid, struct rd_sm_info *ret,
		       struct rd_err *err)
{
	struct rd_sweep_query query = { .dest.lid = lid, .mad_class = CLASS_SMI, .attribute = IB_ATTR_SMINFO };
	struct rd_sweep_callbacks callbacks = { .done = take_sm_info, .arg = ret };
	struct rd_sweep_stats stats;

	*ret = (struct rd_sm_info){ 0 };
	return rd_sweep_run(mads, limits, &query, 1, 1, &callbacks, &stats, err);
}

struct states {
	struct rd_fabric *fabric;
	const size_t *ports; /* per query */
	bool *responds;	     /* per query */
};

static bool take_port_info(void *arg, const struct rd_sweep_result *result)
{
	struct states *states = arg;
	struct rd_fabric_port *port = &states->fabric->ports[states->ports[result->query]];
	uint8_t info[IB_SMP_DATA_SIZE];
	unsigned state;

	if (result->error)
		return true;
	states->responds[result->query] = true;
	memcpy(info, result->mad + SMP_DATA_AT, sizeof(info));
	state = rd_libibmad.mad_get_field(info, 0, IB_PORT_STATE_F);
	port->lost = state == RD_LINK_DOWN && port->state > RD_LINK_DOWN;
	if (state >= RD_LINK_DOWN && (state == RD_LINK_DOWN) != (port->state == RD_LINK_DOWN))
		states->fabric->changed = true;
	return true;
}

/* Whether the link of the port may be down since the discovery: it counted that, or cannot count it another time. */
static bool is_doubtful(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	struct rd_pma_value value;
	uint64_t delta;
	double seconds;

	if (port->lost)
		return true;
	if (!port->fresh || !rd_fabric_value(fabric, port, RD_C_LINK_DOWNED, &value))
		return false;
	/* It was cleared, and has counted since. */
	if (value.v > 0 && port->before && port->before_ns && port->before[RD_C_LINK_DOWNED].v > value.v)
		return true;
	return rd_pma_saturated(&value) ||
	       (rd_fabric_delta(fabric, port, RD_C_LINK_DOWNED, &delta, &seconds) && delta > 0);
}

static void add_state_query(const struct rd_fabric *fabric, size_t port, struct rd_sweep_query *query)
{
	*query = (struct rd_sweep_query){ .dest.lid = fabric->ports[port].lid,
					  .mad_class = CLASS_SMI,
					  .attribute = IB_ATTR_PORT_INFO,
					  .modifier = fabric->ports[port].number,
					  .optional = true };
}

int rd_fabric_check_links(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err)
{
	struct rd_sweep_query queries[DOUBTFUL_MAX * 2];
	bool responds[DOUBTFUL_MAX * 2] = { false };
	size_t ports[DOUBTFUL_MAX * 2], n = 0;
	struct states states = { fabric, ports, responds };
	struct rd_sweep_callbacks callbacks = { .done = take_port_info, .arg = &states };
	struct rd_sweep_limits short_limits = *limits;
	struct rd_sweep_stats stats;
	int r;

	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].mute = false;
	for (size_t i = 0; i < fabric->n_ports && n + 2 <= DOUBTFUL_MAX * 2; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_GONE || !port->lid || !is_doubtful(fabric, port))
			continue;
		ports[n++] = i;
		if (port->peer != RD_NONE && fabric->ports[port->peer].lid)
			ports[n++] = port->peer;
	}
	for (size_t i = 0; i < n; i++) {
		add_state_query(fabric, ports[i], &queries[i]);
		queries[i].lid = i;
	}
	short_limits.retries = limits->retries > 1 ? 1 : limits->retries;
	r = n ? rd_sweep_run(mads, &short_limits, queries, n, n, &callbacks, &stats, err) : 0;
	/* A port that does not respond has lost its link if the other end says so. */
	for (size_t i = 0; i < n && !r; i++) {
		struct rd_fabric_port *port = &fabric->ports[ports[i]];

		port->mute = !responds[i];
		if (port->mute && port->peer != RD_NONE)
			port->lost = fabric->ports[port->peer].lost;
	}
	return r;
}
