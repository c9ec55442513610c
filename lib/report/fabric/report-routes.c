/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --path and --routes. */
#include "report/fabric/report-fabric.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/fabric/fabric.h"

enum {
	HOP_DIRECTION,
	HOP_NUMBER,
	HOP_NODE,
	HOP_GUID,
	HOP_KIND,
	HOP_IN,
	HOP_OUT,
	HOP_LINK,
	HOP_GBPS,
	HOP_STATE,
	HOP_XMIT,
	HOP_WAIT,
	HOP_WAITED,
	HOP_ERRORS,
	HOP_IN_WAIT,
	HOP_IN_WAITED,
	HOP_IN_ERRORS,
	HOP_COLUMNS
};
enum { END_NODE, END_GUID, END_PORT, END_LID, END_LIDS, END_COLUMNS };
enum { PATH_FROM, PATH_TO, PATH_FORWARD, PATH_BACK, PATH_SAME, PATH_ADAPTIVE, PATH_COLUMNS };
enum {
	GROUP_NODE,
	GROUP_GUID,
	GROUP_TO,
	GROUP_LINKS,
	GROUP_LIDS,
	GROUP_MEAN,
	GROUP_LEAST,
	GROUP_MOST,
	GROUP_BUSIEST,
	GROUP_UNEVEN,
	GROUP_COLUMNS
};
enum { PAIRS_SOURCES, PAIRS_DESTINATIONS, PAIRS_ALL, PAIRS_ROUTED, PAIRS_FAILING, PAIRS_UNKNOWN, PAIRS_COLUMNS };
enum { READ_SWITCHES, READ_UNREAD, READ_SENT, READ_TIMEOUTS, READ_SECONDS, READ_COLUMNS };
enum { ROUTES_PAIRS, ROUTES_TABLES, ROUTES_ADAPTIVE, ROUTES_COLUMNS };

/* clang-format off */
static const struct rd_column hop_columns[HOP_COLUMNS] = {
	[HOP_DIRECTION] = { .key = "direction", .title = "WAY", .type = RD_T_STR, .help = "forward, back" },
	[HOP_NUMBER] = { .key = "hop", .title = "HOP", .type = RD_T_UINT, .help = "number of cables passed" },
	[HOP_NODE] = { .key = "node", .title = "NODE", .type = RD_T_STR, .help = "name from the node-name-map, else the node description" },
	[HOP_GUID] = { .key = "node_guid", .title = "GUID", .type = RD_T_STR, .help = "node GUID", .hidden = true },
	[HOP_KIND] = { .key = "kind", .title = "KIND", .type = RD_T_STR, .help = "ca, switch, router", .hidden = true },
	[HOP_IN] = { .key = "in_port", .title = "IN", .type = RD_T_UINT, .help = "ingress port" },
	[HOP_OUT] = { .key = "out_port", .title = "OUT", .type = RD_T_UINT, .help = "egress port" },
	[HOP_LINK] = { .key = "link", .title = "LINK", .type = RD_T_STR, .help = "lanes and speed of the egress port" },
	[HOP_GBPS] = { .key = "link_gbps", .title = "GBPS", .type = RD_T_DOUBLE, .help = "data rate of that link, Gbit/s", .decimals = 1, .hidden = true },
	[HOP_STATE] = { .key = "state", .title = "STATE", .type = RD_T_STR, .help = "of the egress port: DOWN, INIT, ARMED, ACTIVE" },
	[HOP_XMIT] = { .key = "xmit_gbps", .title = "XMIT", .type = RD_T_DOUBLE, .help = "data sent by the egress port, Gbit/s", .decimals = 2, .hidden = true },
	[HOP_WAIT] = { .key = "wait_share", .title = "WAIT", .type = RD_T_SHARE, .help = "share of time in which the egress port had data to send but no credits; with -i", .hidden = true },
	[HOP_WAITED] = { .key = "xmit_wait_ticks", .title = "WAITED", .type = RD_T_UINT, .help = "PortXmitWait of the egress port, in ticks of the device" },
	[HOP_ERRORS] = { .key = "error_counters", .title = "ERRORS", .type = RD_T_STR, .help = "error counters of the egress port that are not 0" },
	[HOP_IN_WAIT] = { .key = "in_wait_share", .title = "IN-WAIT", .type = RD_T_SHARE, .help = "the same as wait_share, of the ingress port: for the other direction", .hidden = true },
	[HOP_IN_WAITED] = { .key = "in_xmit_wait_ticks", .title = "IN-WAITED", .type = RD_T_UINT, .help = "PortXmitWait of the ingress port", .hidden = true },
	[HOP_IN_ERRORS] = { .key = "in_error_counters", .title = "IN-ERRORS", .type = RD_T_STR, .help = "error counters of the ingress port that are not 0" },
};

static const struct rd_column end_columns[END_COLUMNS] = {
	[END_NODE] = { .key = "node", .type = RD_T_STR, .help = "node name" },
	[END_GUID] = { .key = "node_guid", .type = RD_T_STR, .help = "node GUID" },
	[END_PORT] = { .key = "port", .type = RD_T_UINT, .help = "port number" },
	[END_LID] = { .key = "lid", .type = RD_T_UINT, .help = "LID that the route leads to" },
	[END_LIDS] = { .key = "lids", .type = RD_T_UINT, .help = "number of LIDs of the port: each may have another route" },
};

static const struct rd_column path_columns[PATH_COLUMNS] = {
	[PATH_FROM] = { .key = "from", .type = RD_T_OBJECT, .help = "source port" },
	[PATH_TO] = { .key = "to", .type = RD_T_OBJECT, .help = "destination port" },
	[PATH_FORWARD] = { .key = "forward", .type = RD_T_STR, .help = "arrives, unknown, missing, dead-end, astray, loop" },
	[PATH_BACK] = { .key = "back", .type = RD_T_STR, .help = "the same for the way back" },
	[PATH_SAME] = { .key = "same_way", .type = RD_T_BOOL, .help = "the way back passes the same ports" },
	[PATH_ADAPTIVE] = { .key = "adaptive_routing", .type = RD_T_BOOL, .help = "whether switches may choose other ports: unknown" },
};

static const struct rd_column group_columns[GROUP_COLUMNS] = {
	[GROUP_NODE] = { .key = "node", .title = "SWITCH", .type = RD_T_STR, .help = "switch" },
	[GROUP_GUID] = { .key = "node_guid", .title = "GUID", .type = RD_T_STR, .help = "node GUID", .hidden = true },
	[GROUP_TO] = { .key = "to", .title = "TO", .type = RD_T_STR, .help = "neighbour with several links, or all uplinks of a leaf" },
	[GROUP_LINKS] = { .key = "links", .title = "LINKS", .type = RD_T_UINT, .help = "number of links" },
	[GROUP_LIDS] = { .key = "lids", .title = "LIDS", .type = RD_T_UINT, .help = "LIDs of adapters routed over them" },
	[GROUP_MEAN] = { .key = "mean", .title = "MEAN", .type = RD_T_DOUBLE, .help = "LIDs per link", .decimals = 1 },
	[GROUP_LEAST] = { .key = "least", .title = "LEAST", .type = RD_T_UINT, .help = "LIDs of the link with the fewest" },
	[GROUP_MOST] = { .key = "most", .title = "MOST", .type = RD_T_UINT, .help = "LIDs of the link with the most" },
	[GROUP_BUSIEST] = { .key = "busiest_port", .title = "PORT", .type = RD_T_UINT, .help = "port of that link" },
	[GROUP_UNEVEN] = { .key = "uneven", .title = "UNEVEN", .type = RD_T_BOOL, .help = "that link has twice the mean or more" },
};

static const struct rd_column pairs_columns[PAIRS_COLUMNS] = {
	[PAIRS_SOURCES] = { .key = "sources", .type = RD_T_UINT, .help = "ports of adapters and routers with an ACTIVE link to a switch" },
	[PAIRS_DESTINATIONS] = { .key = "destinations", .type = RD_T_UINT, .help = "their LIDs" },
	[PAIRS_ALL] = { .key = "pairs", .type = RD_T_UINT, .help = "of a source and a LID of another port" },
	[PAIRS_ROUTED] = { .key = "routed", .type = RD_T_UINT, .help = "pairs whose route arrives" },
	[PAIRS_FAILING] = { .key = "failing", .type = RD_T_UINT, .help = "pairs whose route does not arrive" },
	[PAIRS_UNKNOWN] = { .key = "unknown", .type = RD_T_UINT, .help = "pairs whose route passes a table that was not read" },
};

static const struct rd_column read_columns[READ_COLUMNS] = {
	[READ_SWITCHES] = { .key = "switches", .type = RD_T_UINT, .help = "number of switches" },
	[READ_UNREAD] = { .key = "unread", .type = RD_T_UINT, .help = "switches whose table was not, or only partly, read" },
	[READ_SENT] = { .key = "mads_sent", .type = RD_T_UINT, .help = "MADs sent to read tables" },
	[READ_TIMEOUTS] = { .key = "timeouts", .type = RD_T_UINT, .help = "of these without response" },
	[READ_SECONDS] = { .key = "duration_seconds", .type = RD_T_DOUBLE, .help = "time of reading", .decimals = 3 },
};

static const struct rd_column routes_columns[ROUTES_COLUMNS] = {
	[ROUTES_PAIRS] = { .key = "pairs", .type = RD_T_OBJECT, .help = "pairs of adapters" },
	[ROUTES_TABLES] = { .key = "tables", .type = RD_T_OBJECT, .help = "forwarding tables" },
	[ROUTES_ADAPTIVE] = { .key = "adaptive_routing", .type = RD_T_BOOL, .help = "whether switches may choose other ports: unknown" },
};
/* clang-format on */

/* Errors and waiting of one port of the hop; unknown unless it was read. */
static void add_counters(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct rd_row *row,
			 size_t errors, size_t wait, size_t waited)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_pma_value value;
	uint64_t rise;
	double share;

	if (!port->fresh)
		return;
	rd_fabric_errors_text(fabric, port, &text, &rise);
	rd_row_str(row, errors, text.len ? text.data : "none");
	if (text.len)
		rd_row_severity(row, RD_SEV_WARNING);
	if (rd_fabric_wait_share(fabric, port, &share))
		rd_row_double(row, wait, share);
	if (rd_fabric_value(fabric, port, RD_C_XMIT_WAIT, &value))
		rd_row_uint(row, waited, value.v);
}

static void add_hop(const struct rd_fabric *fabric, const struct rd_path *path, size_t i, const char *direction,
		    struct rd_section *section)
{
	const struct rd_path_hop *hop = &path->hops[i];
	const struct rd_fabric_node *node = &fabric->nodes[hop->node];
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, HOP_DIRECTION, direction);
	rd_row_uint(row, HOP_NUMBER, i);
	rd_row_str(row, HOP_NODE, rd_fabric_name(node));
	rd_row_hex64(row, HOP_GUID, node->guid);
	rd_row_str(row, HOP_KIND, rd_node_kind_name(node->kind));
	if (hop->in != RD_NONE) {
		rd_row_uint(row, HOP_IN, fabric->ports[hop->in].number);
		add_counters(fabric, &fabric->ports[hop->in], row, HOP_IN_ERRORS, HOP_IN_WAIT, HOP_IN_WAITED);
	}
	if (hop->out != RD_NONE) {
		const struct rd_fabric_port *port = &fabric->ports[hop->out];
		const char *speed = rd_link_speed_name(port->speed_active);
		char text[64];
		double gbps;

		rd_row_uint(row, HOP_OUT, port->number);
		rd_row_str(row, HOP_STATE, rd_link_state_name(port->state));
		if (port->width_active && speed) {
			snprintf(text, sizeof(text), "%ux %s", port->width_active, speed);
			rd_row_str(row, HOP_LINK, text);
			rd_row_double(row, HOP_GBPS, rd_fabric_link_gbps(port));
		}
		if (port->fresh && rd_fabric_gbps(fabric, port, RD_C_XMIT_DATA, &gbps))
			rd_row_double(row, HOP_XMIT, gbps);
		add_counters(fabric, port, row, HOP_ERRORS, HOP_WAIT, HOP_WAITED);
	}
}

static struct rd_section *make_end(const char *key, const struct rd_fabric *fabric, size_t at, uint16_t lid)
{
	struct rd_section *section = rd_section_create(key, end_columns, END_COLUMNS);
	const struct rd_fabric_port *port = &fabric->ports[at];
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, END_NODE, rd_fabric_name(node));
	rd_row_hex64(row, END_GUID, node->guid);
	RD_ROW_UINTS(row, END_PORT, node->kind == RD_NODE_SWITCH ? 0 : port->number, lid, UINT64_C(1) << port->lmc);
	return section;
}

void rd_report_path(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_path paths[2],
		    const bool *same_way)
{
	static const char *const ends[RD_ROUTE_ENDS] = {
		[RD_ROUTE_ARRIVES] = "arrives",	  [RD_ROUTE_UNKNOWN] = "unknown", [RD_ROUTE_MISSING] = "missing",
		[RD_ROUTE_DEAD_END] = "dead-end", [RD_ROUTE_ASTRAY] = "astray",	  [RD_ROUTE_LOOPS] = "loop",
	};
	struct rd_section *section = rd_section_create("path", hop_columns, HOP_COLUMNS);
	struct rd_section *top = rd_section_create("scalars", path_columns, PATH_COLUMNS);
	struct rd_row *row = rd_section_add(top);

	rd_row_sub(row, PATH_FROM, make_end("from", fabric, paths[1].to, paths[1].lid));
	rd_row_sub(row, PATH_TO, make_end("to", fabric, paths[0].to, paths[0].lid));
	rd_row_str(row, PATH_FORWARD, ends[paths[0].end]);
	rd_row_str(row, PATH_BACK, ends[paths[1].end]);
	if (same_way)
		rd_row_bool(row, PATH_SAME, *same_way);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < paths[i].n; j++)
			add_hop(fabric, &paths[i], j, i ? "back" : "forward", section);
	report->scalars = top;
	rd_report_add(report, section);
}

void rd_report_routes(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_routes *routes,
		      const struct rd_routes_verdict *verdict, bool all)
{
	struct rd_section *section = rd_section_create("routes", group_columns, GROUP_COLUMNS);
	struct rd_section *top = rd_section_create("scalars", routes_columns, ROUTES_COLUMNS);
	struct rd_section *pairs = rd_section_create("pairs", pairs_columns, PAIRS_COLUMNS);
	struct rd_section *tables = rd_section_create("tables", read_columns, READ_COLUMNS);
	struct rd_row *row = rd_section_add(pairs);

	RD_ROW_UINTS(row, PAIRS_SOURCES, verdict->sources, verdict->destinations, verdict->pairs,
		     verdict->by_end[RD_ROUTE_ARRIVES], rd_routes_failing(verdict), verdict->by_end[RD_ROUTE_UNKNOWN]);
	row = rd_section_add(tables);
	RD_ROW_UINTS(row, READ_SWITCHES, routes->n_switches, routes->n_unread, routes->mads_sent, routes->timeouts);
	rd_row_double(row, READ_SECONDS, (double)routes->duration_ns / 1e9);
	row = rd_section_add(top);
	rd_row_sub(row, ROUTES_PAIRS, pairs);
	rd_row_sub(row, ROUTES_TABLES, tables);
	for (size_t i = 0; i < verdict->n; i++) {
		const struct rd_route_group *group = &verdict->groups[i];
		struct rd_row *line;

		if (!group->uneven && !all)
			continue;
		line = rd_section_add(section);
		rd_row_str(line, GROUP_NODE, rd_fabric_name(&fabric->nodes[group->node]));
		rd_row_hex64(line, GROUP_GUID, fabric->nodes[group->node].guid);
		rd_row_str(line, GROUP_TO,
			   group->neighbour == RD_NONE ? "uplinks" : rd_fabric_name(&fabric->nodes[group->neighbour]));
		RD_ROW_UINTS(line, GROUP_LINKS, group->links, group->lids);
		rd_row_double(line, GROUP_MEAN, (double)group->lids / group->links);
		RD_ROW_UINTS(line, GROUP_LEAST, group->least, group->most, fabric->ports[group->busiest].number);
		rd_row_bool(line, GROUP_UNEVEN, group->uneven);
		if (group->uneven)
			rd_row_severity(line, RD_SEV_WARNING);
	}
	report->scalars = top;
	rd_report_add(report, section);
}
