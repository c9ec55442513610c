/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes, ports, counters and forwarding tables of an InfiniBand network. */

#include "model/fabric/fabric.h"

static void node_deinit(struct rd_fabric_node *node)
{
	RD_FREE(node->description, node->name, node->sums);
}

void rd_fabric_deinit(struct rd_fabric *fabric)
{
	for (size_t i = 0; i < fabric->n_nodes; i++)
		node_deinit(&fabric->nodes[i]);
	for (size_t i = 0; i < fabric->n_ports; i++)
		RD_FREE(fabric->ports[i].values, fabric->ports[i].before);
	RD_FREE(fabric->nodes, fabric->ports);
	*fabric = (struct rd_fabric){ 0 };
}

struct rd_fabric_node *rd_fabric_add_node(struct rd_fabric *fabric, uint64_t guid, enum rd_node_kind kind,
					  unsigned n_ports, const char *description)
{
	struct rd_fabric_node *node = RD_ADD(fabric->nodes, fabric->n_nodes, fabric->cap_nodes);

	*node = (struct rd_fabric_node){
		.guid = guid, .kind = kind, .n_ports = n_ports, .description = rd_dup(description)
	};
	return node;
}

void rd_fabric_sort_nodes(struct rd_fabric *fabric)
{
	size_t n = 0;

	rd_sort(fabric->nodes, fabric->n_nodes, sizeof(*fabric->nodes), rd_compare_u64);
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (n && fabric->nodes[n - 1].guid == fabric->nodes[i].guid)
			node_deinit(&fabric->nodes[i]);
		else
			fabric->nodes[n++] = fabric->nodes[i];
	fabric->n_nodes = n;
}

struct rd_fabric_port *rd_fabric_add_port(struct rd_fabric *fabric, uint64_t guid, unsigned number)
{
	size_t node = rd_fabric_find_node(fabric, guid);
	struct rd_fabric_port *port;

	if (node == RD_NONE)
		return NULL;
	port = RD_ADD(fabric->ports, fabric->n_ports, fabric->cap_ports);
	*port = (struct rd_fabric_port){ .node = node, .number = number, .peer = RD_NONE };
	return port;
}

static int compare_ports(const void *a, const void *b)
{
	const struct rd_fabric_port *x = a, *y = b;

	return RD_CMP(x->node, y->node) ?: RD_CMP(x->number, y->number);
}

void rd_fabric_index_ports(struct rd_fabric *fabric)
{
	for (size_t node = 0, at = 0; node < fabric->n_nodes; node++) {
		fabric->nodes[node].first = at;
		while (at < fabric->n_ports && fabric->ports[at].node == node)
			at++;
		fabric->nodes[node].end = at;
	}
}

void rd_fabric_sort_ports(struct rd_fabric *fabric)
{
	size_t n = 0;

	rd_sort(fabric->ports, fabric->n_ports, sizeof(*fabric->ports), compare_ports);
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (n && compare_ports(&fabric->ports[n - 1], &fabric->ports[i]) == 0)
			RD_FREE(fabric->ports[i].values, fabric->ports[i].before);
		else
			fabric->ports[n++] = fabric->ports[i];
	fabric->n_ports = n;
	rd_fabric_index_ports(fabric);
}

size_t rd_fabric_find_node(const struct rd_fabric *fabric, uint64_t guid)
{
	const struct rd_fabric_node *node = rd_find_u64(fabric->nodes, fabric->n_nodes, sizeof(*fabric->nodes), guid);

	return node ? (size_t)(node - fabric->nodes) : RD_NONE;
}

size_t rd_fabric_find_port(const struct rd_fabric *fabric, uint64_t guid, unsigned number)
{
	const struct rd_fabric_port key = { .node = rd_fabric_find_node(fabric, guid), .number = number };
	size_t at = rd_lower_bound(&key, fabric->ports, fabric->n_ports, sizeof(key), compare_ports);

	return at < fabric->n_ports && compare_ports(&fabric->ports[at], &key) == 0 ? at : RD_NONE;
}

size_t rd_pma_find_counter(const char *name)
{
	for (size_t i = 0; i < RD_PMA_COUNTERS; i++)
		if (strcmp(rd_pma_counters[i].name, name) == 0)
			return i;
	return RD_NONE;
}

size_t rd_pma_find_attribute(unsigned id)
{
	for (size_t i = 0; i < rd_pma_n_attributes; i++)
		if (rd_pma_attributes[i].id == id)
			return i;
	return RD_NONE;
}

const char *rd_pma_attribute_name(unsigned id)
{
	size_t at = rd_pma_find_attribute(id);

	if (id == 1)
		return "ClassPortInfo";
	return at == RD_NONE ? NULL : rd_pma_attributes[at].name;
}

/* Signalling rate of a lane, and its data rate without 8b/10b, 64b/66b or forward error correction, in Gbit/s: InfiniBand
 * Architecture Specification, volume 2. */
static const struct {
	const char *name;
	double gbps, data_gbps;
} speeds[RD_SPEEDS] = {
	[RD_SPEED_SDR] = { "SDR", 2.5, 2 },
	[RD_SPEED_DDR] = { "DDR", 5, 4 },
	[RD_SPEED_QDR] = { "QDR", 10, 8 },
	[RD_SPEED_FDR10] = { "FDR10", 10.3125, 10 },
	[RD_SPEED_FDR] = { "FDR", 14.0625, 14.0625 * 64 / 66 },
	[RD_SPEED_EDR] = { "EDR", 25.78125, 25 },
	[RD_SPEED_HDR] = { "HDR", 53.125, 50 },
	[RD_SPEED_NDR] = { "NDR", 106.25, 100 },
	[RD_SPEED_XDR] = { "XDR", 212.5, 200 },
};

const char *rd_node_kind_name(unsigned kind)
{
	static const char *const kinds[] = {
		[RD_NODE_CA] = "ca", [RD_NODE_SWITCH] = "switch", [RD_NODE_ROUTER] = "router"
	};

	return kind < RD_ARRAY_SIZE(kinds) ? kinds[kind] : NULL;
}

const char *rd_link_state_name(unsigned state)
{
	static const char *const states[] = {
		[RD_LINK_DOWN] = "DOWN", [RD_LINK_INIT] = "INIT", [RD_LINK_ARMED] = "ARMED", [RD_LINK_ACTIVE] = "ACTIVE"
	};

	return state < RD_ARRAY_SIZE(states) ? states[state] : NULL;
}

const char *rd_link_speed_name(unsigned speed)
{
	return speed < RD_SPEEDS ? speeds[speed].name : NULL;
}

unsigned rd_fabric_number_of(const char *(*name)(unsigned), unsigned most, const char *text)
{
	for (unsigned i = 1; text && i <= most; i++)
		if (strcmp(text, name(i)) == 0)
			return i;
	return 0;
}

unsigned rd_link_fastest(unsigned mask)
{
	for (unsigned speed = RD_SPEEDS - 1; speed > RD_SPEED_UNKNOWN; speed--)
		if (mask >> speed & 1)
			return speed;
	return RD_SPEED_UNKNOWN;
}

double rd_link_lane_gbps(unsigned speed)
{
	return speed < RD_SPEEDS ? speeds[speed].gbps : 0;
}

double rd_link_data_gbps(unsigned speed)
{
	return speed < RD_SPEEDS ? speeds[speed].data_gbps : 0;
}

enum {
	COUNTERS,
	EXTENDED,
	RCV_ERRORS,
	DISCARDS,
	OP_RCV,
	FLOW_CTL,
	RCV_CON,
	XMIT_CON,
	VL_PACKETS,
	VL_DATA,
	VL_FLOW,
	VL_WAIT,
	SW_CONG,
	SL_FECN,
	SL_BECN,
	VL_TIME,
	XMIT_SL,
	RCV_SL,
};

const struct rd_pma_attribute rd_pma_attributes[] = {
	[COUNTERS] = { 0x12, "PortCounters", "counters" },
	[EXTENDED] = { 0x1d, "PortCountersExtended", "extended" },
	[RCV_ERRORS] = { 0x15, "PortRcvErrorDetails", "rcv-errors" },
	[DISCARDS] = { 0x16, "PortXmitDiscardDetails", "xmit-discards" },
	[OP_RCV] = { 0x17, "PortOpRcvCounters", "op-rcv" },
	[FLOW_CTL] = { 0x18, "PortFlowCtlCounters", "flow-control" },
	[RCV_CON] = { 0x31, "PortRcvConCtrl", "congestion" },
	[XMIT_CON] = { 0x34, "PortXmitConCtrl", "congestion" },
	[VL_PACKETS] = { 0x19, "PortVLOpPackets", "vl" },
	[VL_DATA] = { 0x1a, "PortVLOpData", "vl" },
	[VL_FLOW] = { 0x1b, "PortVLXmitFlowCtlUpdateErrors", "flow-control" },
	[VL_WAIT] = { 0x1c, "PortVLXmitWaitCounters", "vl-wait" },
	[SW_CONG] = { 0x30, "SwPortVLCongestion", "congestion" },
	[SL_FECN] = { 0x32, "PortSLRcvFECN", "congestion" },
	[SL_BECN] = { 0x33, "PortSLRcvBECN", "congestion" },
	[VL_TIME] = { 0x35, "PortVLXmitTimeCong", "congestion" },
	[XMIT_SL] = { 0x36, "PortXmitDataSL", "sl" },
	[RCV_SL] = { 0x37, "PortRcvDataSL", "sl" },
};
const size_t rd_pma_n_attributes = RD_ARRAY_SIZE(rd_pma_attributes);

/* One for each virtual lane or service level. The specification counts the congested time of the 15 data VLs only. */
#define ONE(name, number, kind, attr)   \
	{                               \
		name number, kind, attr \
	}
#define FOUR(name, a, b, c, d, kind, attr) \
	ONE(name, a, kind, attr), ONE(name, b, kind, attr), ONE(name, c, kind, attr), ONE(name, d, kind, attr)
#define FIFTEEN(name, kind, attr)                                                               \
	FOUR(name, "0", "1", "2", "3", kind, attr), FOUR(name, "4", "5", "6", "7", kind, attr), \
		FOUR(name, "8", "9", "10", "11", kind, attr), ONE(name, "12", kind, attr),      \
		ONE(name, "13", kind, attr), ONE(name, "14", kind, attr)
#define SIXTEEN(name, kind, attr) FIFTEEN(name, kind, attr), ONE(name, "15", kind, attr)

/* Counters of the default subsets come first: a port has values up to the last counter that is read. */
const struct rd_pma_counter rd_pma_counters[] = {
	[RD_C_SYMBOL_ERROR] = { "SymbolErrorCounter", RD_PMA_ERROR, COUNTERS },
	[RD_C_LINK_ERROR_RECOVERY] = { "LinkErrorRecoveryCounter", RD_PMA_ERROR, COUNTERS },
	[RD_C_LINK_DOWNED] = { "LinkDownedCounter", RD_PMA_ERROR, COUNTERS },
	[RD_C_RCV_ERRORS] = { "PortRcvErrors", RD_PMA_ERROR, COUNTERS },
	[RD_C_RCV_REMOTE_PHYSICAL_ERRORS] = { "PortRcvRemotePhysicalErrors", RD_PMA_ERROR, COUNTERS },
	[RD_C_RCV_SWITCH_RELAY_ERRORS] = { "PortRcvSwitchRelayErrors", RD_PMA_NOTE, COUNTERS },
	[RD_C_XMIT_DISCARDS] = { "PortXmitDiscards", RD_PMA_DROP, COUNTERS },
	[RD_C_XMIT_CONSTRAINT_ERRORS] = { "PortXmitConstraintErrors", RD_PMA_ERROR, COUNTERS },
	[RD_C_RCV_CONSTRAINT_ERRORS] = { "PortRcvConstraintErrors", RD_PMA_ERROR, COUNTERS },
	[RD_C_LOCAL_LINK_INTEGRITY_ERRORS] = { "LocalLinkIntegrityErrors", RD_PMA_ERROR, COUNTERS },
	[RD_C_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = { "ExcessiveBufferOverrunErrors", RD_PMA_ERROR, COUNTERS },
	[RD_C_VL15_DROPPED] = { "VL15Dropped", RD_PMA_DROP, COUNTERS },
	[RD_C_QP1_DROPPED] = { "QP1Dropped", RD_PMA_DROP, COUNTERS },
	[RD_C_XMIT_WAIT] = { "PortXmitWait", RD_PMA_WAIT, COUNTERS },
	[RD_C_XMIT_DATA] = { "PortXmitData", RD_PMA_DATA, COUNTERS },
	[RD_C_RCV_DATA] = { "PortRcvData", RD_PMA_DATA, COUNTERS },
	[RD_C_XMIT_PKTS] = { "PortXmitPkts", RD_PMA_PACKETS, COUNTERS },
	[RD_C_RCV_PKTS] = { "PortRcvPkts", RD_PMA_PACKETS, COUNTERS },
	[RD_C_UNICAST_XMIT_PKTS] = { "PortUnicastXmitPkts", RD_PMA_PACKETS, EXTENDED },
	[RD_C_UNICAST_RCV_PKTS] = { "PortUnicastRcvPkts", RD_PMA_PACKETS, EXTENDED },
	[RD_C_MULTICAST_XMIT_PKTS] = { "PortMulticastXmitPkts", RD_PMA_PACKETS, EXTENDED },
	[RD_C_MULTICAST_RCV_PKTS] = { "PortMulticastRcvPkts", RD_PMA_PACKETS, EXTENDED },
	[RD_C_LOCAL_PHYSICAL_ERRORS] = { "PortLocalPhysicalErrors", RD_PMA_ERROR, RCV_ERRORS },
	[RD_C_MALFORMED_PACKET_ERRORS] = { "PortMalformedPacketErrors", RD_PMA_ERROR, RCV_ERRORS },
	[RD_C_BUFFER_OVERRUN_ERRORS] = { "PortBufferOverrunErrors", RD_PMA_ERROR, RCV_ERRORS },
	[RD_C_DLID_MAPPING_ERRORS] = { "PortDLIDMappingErrors", RD_PMA_ERROR, RCV_ERRORS },
	[RD_C_VL_MAPPING_ERRORS] = { "PortVLMappingErrors", RD_PMA_ERROR, RCV_ERRORS },
	[RD_C_LOOPING_ERRORS] = { "PortLoopingErrors", RD_PMA_ERROR, RCV_ERRORS },
	[RD_C_INACTIVE_DISCARDS] = { "PortInactiveDiscards", RD_PMA_DROP, DISCARDS },
	[RD_C_NEIGHBOR_MTU_DISCARDS] = { "PortNeighborMTUDiscards", RD_PMA_DROP, DISCARDS },
	[RD_C_SW_LIFETIME_LIMIT_DISCARDS] = { "PortSwLifetimeLimitDiscards", RD_PMA_DROP, DISCARDS },
	[RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS] = { "PortSwHOQLifetimeLimitDiscards", RD_PMA_DROP, DISCARDS },
	[RD_C_OP_RCV_PKTS] = { "PortOpRcvPkts", RD_PMA_PACKETS, OP_RCV },
	[RD_C_OP_RCV_DATA] = { "PortOpRcvData", RD_PMA_DATA, OP_RCV },
	[RD_C_XMIT_FLOW_PKTS] = { "PortXmitFlowPkts", RD_PMA_PACKETS, FLOW_CTL },
	[RD_C_RCV_FLOW_PKTS] = { "PortRcvFlowPkts", RD_PMA_PACKETS, FLOW_CTL },
	[RD_C_PKT_RCV_FECN] = { "PortPktRcvFECN", RD_PMA_NOTE, RCV_CON },
	[RD_C_PKT_RCV_BECN] = { "PortPktRcvBECN", RD_PMA_NOTE, RCV_CON },
	[RD_C_XMIT_TIME_CONG] = { "PortXmitTimeCong", RD_PMA_WAIT, XMIT_CON },
	[RD_C_VL_OP_PACKETS_0] = SIXTEEN("PortVLOpPackets", RD_PMA_PACKETS, VL_PACKETS),
	[RD_C_VL_OP_DATA_0] = SIXTEEN("PortVLOpData", RD_PMA_DATA, VL_DATA),
	[RD_C_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_0] = SIXTEEN("PortVLXmitFlowCtlUpdateErrors", RD_PMA_ERROR, VL_FLOW),
	[RD_C_VL_XMIT_WAIT_0] = SIXTEEN("PortVLXmitWait", RD_PMA_WAIT, VL_WAIT),
	[RD_C_SW_PORT_VL_CONGESTION_0] = SIXTEEN("SWPortVLCongestion", RD_PMA_NOTE, SW_CONG),
	[RD_C_SL_RCV_FECN_0] = SIXTEEN("PortSLRcvFECN", RD_PMA_NOTE, SL_FECN),
	[RD_C_SL_RCV_BECN_0] = SIXTEEN("PortSLRcvBECN", RD_PMA_NOTE, SL_BECN),
	[RD_C_VL_XMIT_TIME_CONG_0] = FIFTEEN("PortVLXmitTimeCong", RD_PMA_WAIT, VL_TIME),
	[RD_C_XMIT_DATA_SL_0] = SIXTEEN("PortXmitDataSL", RD_PMA_DATA, XMIT_SL),
	[RD_C_RCV_DATA_SL_0] = SIXTEEN("PortRcvDataSL", RD_PMA_DATA, RCV_SL),
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(rd_fabric_name(*(struct rd_fabric_node *const *)a),
		      rd_fabric_name(*(struct rd_fabric_node *const *)b));
}

void rd_fabric_tell_apart(struct rd_fabric *fabric)
{
	_cleanup_free_ struct rd_fabric_node **nodes = rd_alloc(fabric->n_nodes + 1, sizeof(*nodes));
	_cleanup_free_ bool *same = rd_alloc(fabric->n_nodes + 1, sizeof(*same));
	_cleanup_free_ bool *there = rd_alloc(fabric->n_nodes + 1, sizeof(*there));
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++)
		there[fabric->ports[i].node] |= fabric->ports[i].presence != RD_PORT_GONE;
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (there[i])
			nodes[n++] = &fabric->nodes[i];
	qsort(nodes, n, sizeof(*nodes), compare_names);
	for (size_t i = 1; i < n; i++)
		if (compare_names(&nodes[i - 1], &nodes[i]) == 0)
			same[i - 1] = same[i] = true;
	for (size_t i = 0; i < n; i++) {
		const char *name = rd_fabric_name(nodes[i]);
		char *unique;

		if (!same[i])
			continue;
		unique = rd_text("%s%s0x%016" PRIx64, name, *name ? " " : "", nodes[i]->guid);
		free(nodes[i]->name);
		nodes[i]->name = unique;
	}
}

/* ---- how many nodes and links of each kind */

bool rd_fabric_is_aggregation(const struct rd_fabric_node *node)
{
	return node->kind == RD_NODE_CA && strstr(node->description, "Aggregation Node");
}

static int most_first(const void *a, const void *b)
{
	const struct rd_fabric_rate *x = a, *y = b;

	return RD_CMP(y->links, x->links) ?: RD_CMP(x->example, y->example);
}

void rd_fabric_take_census(const struct rd_fabric *fabric, struct rd_fabric_census *ret)
{
	size_t last = RD_NONE;

	*ret = (struct rd_fabric_census){ 0 };
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_GONE)
			continue;
		/* Ports are sorted by node. */
		if (port->node != last) {
			const struct rd_fabric_node *node = &fabric->nodes[port->node];

			if (node->kind == RD_NODE_SWITCH)
				ret->switches++;
			else if (node->kind == RD_NODE_ROUTER)
				ret->routers++;
			else if (rd_fabric_is_aggregation(node))
				ret->aggregation_nodes++;
			else
				ret->adapters++;
		}
		last = port->node;
		if (port->peer != RD_NONE && i < port->peer) {
			const struct rd_fabric_port *peer = &fabric->ports[port->peer];
			size_t at = 0;

			ret->links++;
			while (at < ret->n_rates && (ret->rates[at].width != port->width_active ||
						     ret->rates[at].speed != port->speed_active))
				at++;
			if (!port->width_active || !port->speed_active || at == RD_CENSUS_RATES) {
				ret->unknown++;
				continue;
			}
			if (at == ret->n_rates)
				ret->rates[ret->n_rates++] = (struct rd_fabric_rate){ .width = port->width_active,
										      .speed = port->speed_active,
										      .example = i };
			ret->rates[at].links++;
			ret->rates[at].uplinks += fabric->nodes[port->node].kind == RD_NODE_SWITCH &&
						  fabric->nodes[peer->node].kind == RD_NODE_SWITCH;
		}
	}
	qsort(ret->rates, ret->n_rates, sizeof(*ret->rates), most_first);
}

bool rd_fabric_rate_is_rare(const struct rd_fabric_census *census, const struct rd_fabric_rate *rate)
{
	return rate->links <= 3 && rate->links * 20 <= census->links;
}

/* ---- rates from two readings */

#define TICK_OF_PORT 7 /* counts octets of the whole port, not of one lane */

bool rd_fabric_value(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter,
		     struct rd_pma_value *ret)
{
	if (!port->values || counter >= fabric->n_values || port->values[counter].bits == 0)
		return false;
	*ret = port->values[counter];
	return true;
}

bool rd_fabric_delta(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, uint64_t *delta,
		     double *seconds)
{
	struct rd_pma_value now, before;

	if (!rd_fabric_value(fabric, port, counter, &now) || !port->before || port->before_ns == 0 ||
	    port->read_ns <= port->before_ns)
		return false;
	before = port->before[counter];
	if (before.bits != now.bits || now.v < before.v || rd_pma_saturated(&now))
		return false;
	*delta = now.v - before.v;
	if (seconds)
		*seconds = (double)(port->read_ns - port->before_ns) / 1e9;
	return true;
}

double rd_fabric_link_gbps(const struct rd_fabric_port *port)
{
	return port->width_active * rd_link_data_gbps(port->speed_active);
}

bool rd_fabric_gbps(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, double *ret)
{
	uint64_t delta;
	double seconds;

	if (!rd_fabric_delta(fabric, port, counter, &delta, &seconds))
		return false;
	*ret = (double)delta * 4 * 8 / seconds / 1e9;
	return true;
}

bool rd_fabric_wait_share(const struct rd_fabric *fabric, const struct rd_fabric_port *port, double *ret)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	double seconds, octets, gbps = rd_fabric_link_gbps(port), share;
	uint64_t ticks;

	if (node->tick.known != RD_OK || gbps <= 0 || !rd_fabric_delta(fabric, port, RD_C_XMIT_WAIT, &ticks, &seconds))
		return false;
	octets = node->tick.v + 1.0;
	if (node->tick.v != TICK_OF_PORT)
		octets *= port->width_active;
	share = (double)ticks * octets * 8 / (gbps * 1e9 * seconds);
	*ret = share > 1 ? 1 : share;
	return true;
}

/* ---- forwarding tables */

void rd_routes_init(const struct rd_fabric *fabric, struct rd_routes *routes)
{
	*routes = (struct rd_routes){ .n_nodes = fabric->n_nodes };
	routes->tables = rd_alloc(fabric->n_nodes + 1, sizeof(*routes->tables));
	routes->owners = rd_alloc(RD_LID_MAX + 1, sizeof(*routes->owners));
	for (size_t i = 0; i < fabric->n_nodes; i++)
		routes->n_switches += fabric->nodes[i].kind == RD_NODE_SWITCH;
	for (size_t i = 0; i <= RD_LID_MAX; i++)
		routes->owners[i] = RD_NONE;
	for (size_t i = fabric->n_ports; i-- > 0;) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_GONE || !port->lid)
			continue;
		for (size_t lid = port->lid; lid <= RD_LID_MAX && lid - port->lid < (size_t)1 << port->lmc; lid++)
			routes->owners[lid] = i;
	}
}

void rd_routes_deinit(struct rd_routes *routes)
{
	for (size_t i = 0; routes->tables && i < routes->n_nodes; i++) {
		for (size_t j = 0; routes->tables[i].blocks && j < RD_ROUTE_BLOCKS; j++)
			free(routes->tables[i].blocks[j]);
		free(routes->tables[i].blocks);
	}
	RD_FREE(routes->tables, routes->owners);
	*routes = (struct rd_routes){ 0 };
}

uint8_t *rd_routes_block(struct rd_routes *routes, size_t node, size_t block)
{
	struct rd_route_table *table = &routes->tables[node];

	if (!table->blocks)
		table->blocks = rd_alloc(RD_ROUTE_BLOCKS, sizeof(*table->blocks));
	if (!table->blocks[block])
		table->blocks[block] = rd_alloc(RD_ROUTE_BLOCK, 1);
	return table->blocks[block];
}

int rd_routes_egress(const struct rd_routes *routes, size_t node, uint16_t lid)
{
	const struct rd_route_table *table = &routes->tables[node];
	size_t block = lid / RD_ROUTE_BLOCK;

	if (lid > RD_LID_MAX || (table->top.known == RD_OK && lid > table->top.v))
		return RD_ROUTE_NONE;
	if (table->top.known != RD_OK || !table->blocks || !table->blocks[block])
		return RD_ROUTE_UNREAD;
	return table->blocks[block][lid % RD_ROUTE_BLOCK];
}

/* ---- names, and what the discovery did not see */

char *rd_fabric_port_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return rd_text("%s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number);
}

const struct rd_fabric_port *rd_fabric_neighbour(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	size_t at = port->peer;

	if (at == RD_NONE && port->was_guid)
		at = rd_fabric_find_port(fabric, port->was_guid, port->was_port);
	return at == RD_NONE ? NULL : &fabric->ports[at];
}

char *rd_fabric_cable_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = rd_fabric_neighbour(fabric, port);

	if (!peer)
		return rd_fabric_port_text(fabric, port);
	return rd_text("%s port %u, to %s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number,
		       rd_fabric_name(&fabric->nodes[peer->node]), peer->number);
}

char *rd_fabric_node_text(const struct rd_fabric_node *node)
{
	_cleanup_free_ char *guid = rd_text("0x%016" PRIx64, node->guid);
	const char *name = rd_fabric_name(node);

	/* A name that others have, too, contains it already. */
	return strstr(name, guid) ? rd_dup(name) : rd_text("%s (%s)", name, guid);
}

void rd_finding_at_node(struct rd_finding *finding, const struct rd_fabric_node *node)
{
	finding->subject = rd_fabric_node_text(node);
	finding->node_guid = node->guid;
}

void rd_finding_at_port(struct rd_finding *finding, const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	finding->subject = rd_fabric_cable_text(fabric, port);
	finding->node_guid = fabric->nodes[port->node].guid;
	finding->port = port->number;
}

bool rd_fabric_is_unsure(const struct rd_fabric_port *port)
{
	return port->unread || port->peer_unreached || port->presence == RD_PORT_UNREACHED;
}

bool rd_fabric_has_no_link(const struct rd_fabric_port *port)
{
	return port->peer == RD_NONE && !port->was_guid && port->state == RD_LINK_DOWN && !rd_fabric_is_unsure(port);
}

bool rd_fabric_is_incomplete(const struct rd_fabric *fabric)
{
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].unread)
			return true;
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (rd_fabric_is_unsure(&fabric->ports[i]))
			return true;
	return false;
}
