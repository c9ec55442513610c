/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --path and --routes. */
#include "report/fabric/report-fabric.h"

/* clang-format off */
static const struct rd_column hop_columns[] = {
	{ .key = "direction", .title = "WAY", .type = RD_T_STR, .help = "forward, back" },
	{ .key = "hop", .title = "HOP", .type = RD_T_UINT, .help = "number of cables passed" },
	{ .key = "node", .title = "NODE", .type = RD_T_STR, .help = "name from the node-name-map, else the node description" },
	{ .key = "node_guid", .title = "GUID", .type = RD_T_STR, .help = "node GUID", .hidden = true },
	{ .key = "kind", .title = "KIND", .type = RD_T_STR, .help = "ca, switch, router", .hidden = true },
	{ .key = "in_port", .title = "IN", .type = RD_T_UINT, .help = "ingress port" },
	{ .key = "out_port", .title = "OUT", .type = RD_T_UINT, .help = "egress port" },
	{ .key = "link", .title = "LINK", .type = RD_T_STR, .help = "lanes and speed of the egress port" },
	{ .key = "link_gbps", .title = "GBPS", .type = RD_T_DOUBLE, .help = "data rate of that link, Gbit/s", .decimals = 1, .hidden = true },
	{ .key = "state", .title = "STATE", .type = RD_T_STR, .help = "of the egress port: DOWN, INIT, ARMED, ACTIVE" },
	{ .key = "xmit_gbps", .title = "XMIT", .type = RD_T_DOUBLE, .help = "data sent by the egress port, Gbit/s", .decimals = 2, .hidden = true },
	{ .key = "wait_share", .title = "WAIT", .type = RD_T_SHARE, .help = "share of time in which the egress port had data to send but no credits; with -i", .hidden = true },
	{ .key = "xmit_wait_ticks", .title = "WAITED", .type = RD_T_UINT, .help = "PortXmitWait of the egress port, in ticks of the device" },
	{ .key = "error_counters", .title = "ERRORS", .type = RD_T_STR, .help = "error counters of the egress port that are not 0" },
	{ .key = "in_wait_share", .title = "IN-WAIT", .type = RD_T_SHARE, .help = "the same as wait_share, of the ingress port: for the other direction", .hidden = true },
	{ .key = "in_xmit_wait_ticks", .title = "IN-WAITED", .type = RD_T_UINT, .help = "PortXmitWait of the ingress port", .hidden = true },
	{ .key = "in_error_counters", .title = "IN-ERRORS", .type = RD_T_STR, .help = "error counters of the ingress port that are not 0" },
};

static const struct rd_column end_columns[] = {
	{ .key = "node", .type = RD_T_STR, .help = "node name" },
	{ .key = "node_guid", .type = RD_T_STR, .help = "node GUID" },
	{ .key = "port", .type = RD_T_UINT, .help = "port number" },
	{ .key = "lid", .type = RD_T_UINT, .help = "LID that the route leads to" },
	{ .key = "lids", .type = RD_T_UINT, .help = "number of LIDs of the port: each may have another route" },
};

static const struct rd_column path_columns[] = {
	{ .key = "from", .type = RD_T_OBJECT, .help = "source port" },
	{ .key = "to", .type = RD_T_OBJECT, .help = "destination port" },
	{ .key = "forward", .type = RD_T_STR, .help = "arrives, unknown, missing, dead-end, astray, loop" },
	{ .key = "back", .type = RD_T_STR, .help = "the same for the way back" },
	{ .key = "same_way", .type = RD_T_BOOL, .help = "the way back passes the same ports" },
	{ .key = "adaptive_routing", .type = RD_T_BOOL, .help = "whether switches may choose other ports: unknown" },
};

static const struct rd_column group_columns[] = {
	{ .key = "node", .title = "SWITCH", .type = RD_T_STR, .help = "switch" },
	{ .key = "node_guid", .title = "GUID", .type = RD_T_STR, .help = "node GUID", .hidden = true },
	{ .key = "to", .title = "TO", .type = RD_T_STR, .help = "neighbour with several links, or all uplinks of a leaf" },
	{ .key = "links", .title = "LINKS", .type = RD_T_UINT, .help = "number of links" },
	{ .key = "lids", .title = "LIDS", .type = RD_T_UINT, .help = "LIDs of adapters routed over them" },
	{ .key = "mean", .title = "MEAN", .type = RD_T_DOUBLE, .help = "LIDs per link", .decimals = 1 },
	{ .key = "least", .title = "LEAST", .type = RD_T_UINT, .help = "LIDs of the link with the fewest" },
	{ .key = "most", .title = "MOST", .type = RD_T_UINT, .help = "LIDs of the link with the most" },
	{ .key = "busiest_port", .title = "PORT", .type = RD_T_UINT, .help = "port of that link" },
	{ .key = "uneven", .title = "UNEVEN", .type = RD_T_BOOL, .help = "that link has twice the mean or more" },
};

static const struct rd_column pairs_columns[] = {
	{ .key = "sources", .type = RD_T_UINT, .help = "ports of adapters and routers with an ACTIVE link to a switch" },
	{ .key = "destinations", .type = RD_T_UINT, .help = "their LIDs" },
	{ .key = "pairs", .type = RD_T_UINT, .help = "of a source and a LID of another port" },
	{ .key = "routed", .type = RD_T_UINT, .help = "pairs whose route arrives" },
	{ .key = "failing", .type = RD_T_UINT, .help = "pairs whose route does not arrive" },
	{ .key = "unknown", .type = RD_T_UINT, .help = "pairs whose route passes a table that was not read" },
};

static const struct rd_column read_columns[] = {
	{ .key = "switches", .type = RD_T_UINT, .help = "number of switches" },
	{ .key = "unread", .type = RD_T_UINT, .help = "switches whose table was not, or only partly, read" },
	{ .key = "mads_sent", .type = RD_T_UINT, .help = "MADs sent to read tables" },
	{ .key = "timeouts", .type = RD_T_UINT, .help = "of these without response" },
	{ .key = "duration_seconds", .type = RD_T_DOUBLE, .help = "time of reading", .decimals = 3 },
};

static const struct rd_column routes_columns[] = {
	{ .key = "pairs", .type = RD_T_OBJECT, .help = "pairs of adapters" },
	{ .key = "tables", .type = RD_T_OBJECT, .help = "forwarding tables" },
	{ .key = "adaptive_routing", .type = RD_T_BOOL, .help = "whether switches may choose other ports: unknown" },
};
/* clang-format on */

/* Of one port of a hop: its errors, to be freed, and how long it waited, as a share and in ticks. Unknown unless it was read. */
static char *read_counters(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct rd_cell waits[2])
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_pma_value value;
	uint64_t rise;
	double share;

	waits[0] = waits[1] = RD_UNKNOWN_CELL;
	if (!port || !port->fresh)
		return NULL;
	rd_fabric_errors_text(fabric, port, &text, &rise);
	if (rd_fabric_wait_share(fabric, port, &share))
		waits[0] = RD_DOUBLE(share);
	if (rd_fabric_value(fabric, port, RD_C_XMIT_WAIT, &value))
		waits[1] = RD_UINT(value.v);
	return rd_dup(text.len ? text.data : "none");
}

static void add_hop(const struct rd_fabric *fabric, const struct rd_path *path, size_t i, const char *direction,
		    struct rd_section *section)
{
	const struct rd_path_hop *hop = &path->hops[i];
	const struct rd_fabric_node *node = &fabric->nodes[hop->node];
	const struct rd_fabric_port *in = hop->in == RD_NONE ? NULL : &fabric->ports[hop->in];
	const struct rd_fabric_port *out = hop->out == RD_NONE ? NULL : &fabric->ports[hop->out];
	const char *speed = out ? rd_link_speed_name(out->speed_active) : NULL;
	bool rated = speed && out->width_active;
	struct rd_cell in_waits[2], out_waits[2];
	_cleanup_free_ char *guid = rd_text("0x%016" PRIx64, node->guid);
	_cleanup_free_ char *link = rated ? rd_text("%ux %s", out->width_active, speed) : NULL;
	_cleanup_free_ char *in_errors = read_counters(fabric, in, in_waits);
	_cleanup_free_ char *out_errors = read_counters(fabric, out, out_waits);
	double gbps;
	bool sent = out && out->fresh && rd_fabric_gbps(fabric, out, RD_C_XMIT_DATA, &gbps);
	struct rd_row *row = RD_ROW(section, RD_STR(direction), RD_UINT(i), RD_STR(rd_fabric_name(node)), RD_STR(guid),
				    RD_STR(rd_node_kind_name(node->kind)), in ? RD_UINT(in->number) : RD_UNKNOWN_CELL,
				    out ? RD_UINT(out->number) : RD_UNKNOWN_CELL, RD_STR(link),
				    rated ? RD_DOUBLE(rd_fabric_link_gbps(out)) : RD_UNKNOWN_CELL,
				    RD_STR(out ? rd_link_state_name(out->state) : NULL),
				    sent ? RD_DOUBLE(gbps) : RD_UNKNOWN_CELL, out_waits[0], out_waits[1],
				    RD_STR(out_errors), in_waits[0], in_waits[1], RD_STR(in_errors));

	if ((in_errors && strcmp(in_errors, "none") != 0) || (out_errors && strcmp(out_errors, "none") != 0))
		row->severity = RD_SEV_WARNING;
}

static struct rd_section *make_end(const char *key, const struct rd_fabric *fabric, size_t at, uint16_t lid)
{
	struct rd_section *section = RD_SECTION(key, end_columns);
	const struct rd_fabric_port *port = &fabric->ports[at];
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	_cleanup_free_ char *guid = rd_text("0x%016" PRIx64, node->guid);

	RD_ROW(section, RD_STR(rd_fabric_name(node)), RD_STR(guid),
	       RD_UINT(node->kind == RD_NODE_SWITCH ? 0 : port->number), RD_UINT(lid),
	       RD_UINT(UINT64_C(1) << port->lmc));
	return section;
}

void rd_report_path(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_path paths[2],
		    const bool *same_way)
{
	static const char *const ends[RD_ROUTE_ENDS] = {
		[RD_ROUTE_ARRIVES] = "arrives",	  [RD_ROUTE_UNKNOWN] = "unknown", [RD_ROUTE_MISSING] = "missing",
		[RD_ROUTE_DEAD_END] = "dead-end", [RD_ROUTE_ASTRAY] = "astray",	  [RD_ROUTE_LOOPS] = "loop",
	};
	struct rd_section *section = rd_report_add(report, RD_SECTION("path", hop_columns));

	report->scalars =
		RD_OBJECT("scalars", path_columns, RD_SUB(make_end("from", fabric, paths[1].to, paths[1].lid)),
			  RD_SUB(make_end("to", fabric, paths[0].to, paths[0].lid)), RD_STR(ends[paths[0].end]),
			  RD_STR(ends[paths[1].end]), same_way ? RD_BOOL(*same_way) : RD_UNKNOWN_CELL);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < paths[i].n; j++)
			add_hop(fabric, &paths[i], j, i ? "back" : "forward", section);
}

void rd_report_routes(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_routes *routes,
		      const struct rd_routes_verdict *verdict, bool all)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("routes", group_columns));
	struct rd_section *pairs = RD_SECTION("pairs", pairs_columns);
	struct rd_section *tables = RD_SECTION("tables", read_columns);

	RD_ROW(pairs, RD_UINT(verdict->sources), RD_UINT(verdict->destinations), RD_UINT(verdict->pairs),
	       RD_UINT(verdict->by_end[RD_ROUTE_ARRIVES]), RD_UINT(rd_routes_failing(verdict)),
	       RD_UINT(verdict->by_end[RD_ROUTE_UNKNOWN]));
	RD_ROW(tables, RD_UINT(routes->n_switches), RD_UINT(routes->n_unread), RD_UINT(routes->mads_sent),
	       RD_UINT(routes->timeouts), RD_DOUBLE((double)routes->duration_ns / 1e9));
	report->scalars = RD_OBJECT("scalars", routes_columns, RD_SUB(pairs), RD_SUB(tables));
	for (size_t i = 0; i < verdict->n; i++) {
		const struct rd_route_group *group = &verdict->groups[i];
		const struct rd_fabric_node *node = &fabric->nodes[group->node];
		_cleanup_free_ char *guid = rd_text("0x%016" PRIx64, node->guid);
		const char *to = group->neighbour == RD_NONE ? "uplinks" :
							       rd_fabric_name(&fabric->nodes[group->neighbour]);
		struct rd_row *row;

		if (!group->uneven && !all)
			continue;
		row = RD_ROW(section, RD_STR(rd_fabric_name(node)), RD_STR(guid), RD_STR(to), RD_UINT(group->links),
			     RD_UINT(group->lids), RD_DOUBLE((double)group->lids / group->links), RD_UINT(group->least),
			     RD_UINT(group->most), RD_UINT(fabric->ports[group->busiest].number),
			     RD_BOOL(group->uneven));
		if (group->uneven)
			row->severity = RD_SEV_WARNING;
	}
}
