/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: ports, and what repeated sweeps found. */
#include <time.h>

#include "base/fix.h"
#include "report/fabric/report-fabric.h"

/* clang-format off */
static const struct rd_column map_columns[] = {
	{ .key = "name", .title = "COUNTER", .type = RD_T_STR, .help = "name in the InfiniBand specification" },
	{ .key = "value", .title = "VALUE", .type = RD_T_UINT, .help = "value as read" },
};

static const struct rd_column peer_columns[] = {
	{ .key = "node_guid", .type = RD_T_STR, .help = "node GUID" },
	{ .key = "node", .type = RD_T_STR, .help = "node name" },
	{ .key = "lid", .type = RD_T_UINT, .help = "LID of the node's management agents" },
	{ .key = "port", .type = RD_T_UINT, .help = "port number" },
};

const struct rd_column rd_fabric_columns[RD_FABRIC_COLUMNS] = {
	[RD_FAB_NODE] = { .key = "node", .title = "NODE", .type = RD_T_STR, .help = "name from the node-name-map, else the node description", .fit = RD_FIT_NAME },
	[RD_FAB_PORT] = { .key = "port", .title = "PORT", .type = RD_T_UINT, .help = "port number" },
	[RD_FAB_GUID] = { .key = "node_guid", .title = "GUID", .type = RD_T_STR, .help = "node GUID", .hidden = true },
	[RD_FAB_LID] = { .key = "lid", .title = "LID", .type = RD_T_UINT, .help = "LID of the node's management agents", .hidden = true },
	[RD_FAB_KIND] = { .key = "kind", .title = "KIND", .type = RD_T_STR, .help = "ca, switch, router", .hidden = true },
	[RD_FAB_STATE] = { .key = "state", .title = "STATE", .type = RD_T_STR, .help = "DOWN, INIT, ARMED, ACTIVE", .hidden = true },
	[RD_FAB_LINK] = { .key = "link", .title = "LINK", .type = RD_T_STR, .help = "lanes and speed in use", .spare = 7 },
	[RD_FAB_GBPS] = { .key = "link_gbps", .title = "GBPS", .type = RD_T_DOUBLE, .help = "data rate of the link, Gbit/s", .decimals = 1, .hidden = true },
	[RD_FAB_PEER] = { .key = "peer", .type = RD_T_OBJECT, .help = "port at the other end of the cable" },
	[RD_FAB_PEER_LABEL] = { .key = "peer_label", .title = "CABLE", .type = RD_T_STR, .help = "node and port at the other end of the cable", .fit = RD_FIT_NAME, .spare = 8 },
	[RD_FAB_CHANGE] = { .key = "presence", .title = "CHANGE", .type = RD_T_STR, .help = "present, new, replaced, moved (LID changed), gone, unreached (by the latest discovery)", .hidden = true },
	[RD_FAB_FRESH] = { .key = "fresh", .title = "FRESH", .type = RD_T_BOOL, .help = "read in the latest sweep; if not, the values are old", .spare = 6 },
	[RD_FAB_AGE] = { .key = "age_seconds", .title = "AGE", .type = RD_T_DOUBLE, .help = "age of the values", .decimals = 1, .hidden = true },
	[RD_FAB_ERROR] = { .key = "error", .title = "ERROR", .type = RD_T_STR, .help = "why the port, or an attribute of it, could not be read", .spare = 5 },
	[RD_FAB_INTERVAL] = { .key = "interval_seconds", .title = "SECONDS", .type = RD_T_DOUBLE, .help = "time between the two readings used for rates", .decimals = 3, .hidden = true },
	[RD_FAB_XMIT] = { .key = "xmit_gbps", .title = "XMIT", .type = RD_T_DOUBLE, .help = "data sent, Gbit/s", .decimals = 2, .spare = 2 },
	[RD_FAB_RCV] = { .key = "rcv_gbps", .title = "RCV", .type = RD_T_DOUBLE, .help = "data received, Gbit/s", .decimals = 2, .spare = 3 },
	[RD_FAB_USE] = { .key = "xmit_share", .title = "USE", .type = RD_T_SHARE, .help = "data sent, as a share of the data rate of the link", .spare = 4 },
	[RD_FAB_WAIT] = { .key = "wait_share", .title = "WAIT", .type = RD_T_SHARE, .help = "share of time in which the port had data to send but no credits", .spare = 1 },
	[RD_FAB_WAIT_TICKS] = { .key = "wait_ticks_per_second", .title = "TICKS", .type = RD_T_DOUBLE, .help = "PortXmitWait per second, in ticks of the device", .decimals = 0, .hidden = true, .spare = 1 },
	[RD_FAB_RISE] = { .key = "new_errors", .title = "NEW", .type = RD_T_UINT, .help = "errors since the previous sweep" },
	[RD_FAB_ERRORS] = { .key = "error_counters", .title = "ERRORS", .type = RD_T_STR, .help = "error counters that are not 0", .fit = RD_FIT_TEXT },
	[RD_FAB_COUNTERS] = { .key = "counters", .type = RD_T_MAP, .help = "all counters, by their names in the InfiniBand specification" },
	[RD_FAB_DELTAS] = { .key = "deltas", .type = RD_T_MAP, .help = "increase of each counter since the previous sweep" },
};
/* clang-format on */

static const char *const changes[] = {
	[RD_PORT_PRESENT] = "present", [RD_PORT_NEW] = "new",	[RD_PORT_REPLACED] = "replaced",
	[RD_PORT_MOVED] = "moved",     [RD_PORT_GONE] = "gone", [RD_PORT_UNREACHED] = "unreached",
};

/* Whether the counter is read: JSON has no member for others, and null for one that is read but unknown. */
static bool is_read(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter)
{
	struct rd_pma_value value;

	return rd_fabric_value(fabric, port, counter, &value) ||
	       fabric->attributes >> rd_pma_counters[counter].attribute & 1;
}

/* Of a port that was read before. */
static bool has_changed(const struct rd_fabric_port *port, size_t counter)
{
	return port->values[counter].v != port->before[counter].v ||
	       port->values[counter].bits != port->before[counter].bits;
}

/* Whether a document of changes has the port: what was not read has no values that could be the same. */
static bool is_changed(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	bool changed = !port->fresh || port->error || !port->before || !port->before_ns;

	for (size_t i = 0; i < fabric->n_values && !changed; i++)
		changed = has_changed(port, i);
	return changed;
}

static struct rd_section *make_counters(const struct rd_fabric *fabric, const struct rd_fabric_port *port, bool deltas,
					bool moved)
{
	struct rd_section *section = RD_SECTION("counters", map_columns);

	for (size_t i = 0; i < fabric->n_values; i++) {
		struct rd_pma_value value;
		bool known;

		if (!is_read(fabric, port, i) || (moved && port->fresh && port->before && !has_changed(port, i)))
			continue;
		known = deltas ? rd_fabric_delta(fabric, port, i, &value.v, NULL) :
				 rd_fabric_value(fabric, port, i, &value);
		RD_ROW(section, RD_STR(rd_pma_counters[i].name), known ? RD_UINT(value.v) : RD_UNKNOWN_CELL);
	}
	return section;
}

static struct rd_section *make_peer(const struct rd_fabric *fabric, const struct rd_fabric_port *peer)
{
	_cleanup_free_ char *guid = rd_text("0x%016" PRIx64, fabric->nodes[peer->node].guid);

	return RD_OBJECT("peer", peer_columns, RD_STR(guid), RD_STR(rd_fabric_name(&fabric->nodes[peer->node])),
			 RD_POSITIVE(peer->lid), RD_UINT(peer->number));
}

bool rd_fabric_errors_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct rd_buf *out,
			   uint64_t *ret_rise)
{
	bool known = false;

	*ret_rise = 0;
	for (size_t i = 0; i < fabric->n_values; i++) {
		struct rd_pma_value value;
		uint64_t delta = 0;

		if (!rd_pma_is_fault(i) || !rd_fabric_value(fabric, port, i, &value))
			continue;
		known |= rd_fabric_delta(fabric, port, i, &delta, NULL);
		*ret_rise += delta;
		if (value.v == 0)
			continue;
		rd_buf_printf(out, "%s%s %s%" PRIu64, out->len ? ", " : "", rd_pma_counters[i].name,
			      rd_pma_saturated(&value) ? ">=" : "", value.v);
		if (delta)
			rd_buf_printf(out, " (+%" PRIu64 ")", delta);
	}
	return known;
}

void rd_fabric_read_error(const struct rd_fabric_port *port, struct rd_buf *out)
{
	/* One attribute is missing, or all. */
	const char *attribute = port->fresh ? rd_pma_attribute_name(port->error_attribute) : NULL;

	if (!port->error && !port->error_status)
		return;
	if (attribute)
		rd_buf_printf(out, "%s: ", attribute);
	if (port->error_status)
		rd_buf_printf(out, "status 0x%04x", (unsigned)port->error_status);
	else
		rd_buf_str(out, rd_errno_name(port->error) ?: "unknown");
}

static void add_rates(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct rd_row *row)
{
	double xmit, rcv, share, seconds, gbps = rd_fabric_link_gbps(port);
	uint64_t ticks;

	if (!port->fresh)
		return;
	if (port->before_ns && port->read_ns > port->before_ns)
		rd_row_set(row, RD_FAB_INTERVAL, RD_DOUBLE((double)(port->read_ns - port->before_ns) / 1e9));
	if (rd_fabric_gbps(fabric, port, RD_C_XMIT_DATA, &xmit)) {
		rd_row_set(row, RD_FAB_XMIT, RD_DOUBLE(xmit));
		if (gbps > 0)
			rd_row_set(row, RD_FAB_USE, RD_DOUBLE(xmit / gbps));
	}
	if (rd_fabric_gbps(fabric, port, RD_C_RCV_DATA, &rcv))
		rd_row_set(row, RD_FAB_RCV, RD_DOUBLE(rcv));
	if (rd_fabric_wait_share(fabric, port, &share))
		rd_row_set(row, RD_FAB_WAIT, RD_DOUBLE(share));
	if (rd_fabric_delta(fabric, port, RD_C_XMIT_WAIT, &ticks, &seconds))
		rd_row_set(row, RD_FAB_WAIT_TICKS, RD_DOUBLE((double)ticks / seconds));
}

static void add_state(const struct rd_fabric_port *port, uint64_t now_ns, bool all, struct rd_row *row)
{
	_cleanup_buf_ struct rd_buf error = { 0 };
	const char *speed = rd_link_speed_name(port->speed_active);
	char text[64];

	if (all) {
		rd_row_set(row, RD_FAB_STATE, RD_BORROW(rd_link_state_name(port->state)));
		rd_row_set(row, RD_FAB_CHANGE, RD_BORROW(changes[port->presence]));
	}
	if (all && port->width_active && speed) {
		snprintf(text, sizeof(text), "%ux %s", port->width_active, speed);
		rd_row_set(row, RD_FAB_LINK, RD_STR(text));
		rd_row_set(row, RD_FAB_GBPS, RD_DOUBLE(rd_fabric_link_gbps(port)));
	}
	rd_row_set(row, RD_FAB_FRESH, RD_BOOL(port->fresh));
	if (port->read_ns && now_ns >= port->read_ns)
		rd_row_set(row, RD_FAB_AGE, RD_DOUBLE((double)(now_ns - port->read_ns) / 1e9));
	rd_fabric_read_error(port, &error);
	if (error.len)
		rd_row_set(row, RD_FAB_ERROR, RD_STR(error.data));
	if (!port->fresh || port->error)
		row->severity = RD_SEV_WARNING;
}

/* The ports of a section, whose rows are made when they are read: documents of 100,000 ports then cost the memory of one row. */
struct shown_ports {
	struct rd_fabric_shown shown;
	size_t n;
	size_t ports[]; /* indices */
};

static void make_port(const void *arg, size_t i, struct rd_row *row)
{
	const struct shown_ports *ports = arg;
	const struct rd_fabric *fabric = ports->shown.fabric;
	const struct rd_fabric_port *port = &fabric->ports[ports->ports[i]];
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];
	_cleanup_buf_ struct rd_buf text = { 0 };
	_cleanup_free_ char *guid = rd_text("0x%016" PRIx64, node->guid);
	bool all = !ports->shown.changes;
	uint64_t rise;

	rd_row_set(row, RD_FAB_PORT, RD_UINT(port->number));
	rd_row_set(row, RD_FAB_GUID, RD_STR(guid));
	if (all) {
		_cleanup_free_ char *label =
			peer ? rd_text("%s/%u", rd_fabric_name(&fabric->nodes[peer->node]), peer->number) : NULL;

		rd_row_set(row, RD_FAB_NODE, RD_STR(rd_fabric_name(node)));
		if (port->lid)
			rd_row_set(row, RD_FAB_LID, RD_UINT(port->lid));
		rd_row_set(row, RD_FAB_KIND, RD_BORROW(rd_node_kind_name(node->kind)));
		rd_row_set(row, RD_FAB_PEER_LABEL, RD_STR(label));
	}
	add_state(port, ports->shown.now_ns, all, row);
	add_rates(fabric, port, row);
	if (rd_fabric_errors_text(fabric, port, &text, &rise))
		rd_row_set(row, RD_FAB_RISE, RD_UINT(rise));
	if (text.len)
		rd_row_set(row, RD_FAB_ERRORS, RD_STR(text.data));
	if (rise)
		row->severity = RD_SEV_WARNING;
	if (!ports->shown.values)
		return;
	if (peer && all)
		rd_row_set(row, RD_FAB_PEER, RD_SUB(make_peer(fabric, peer)));
	if (all || port->fresh)
		rd_row_set(row, RD_FAB_COUNTERS, RD_SUB(make_counters(fabric, port, false, !all)));
	/* Those of changes follow from the document before. */
	if (port->before_ns && port->fresh && all)
		rd_row_set(row, RD_FAB_DELTAS, RD_SUB(make_counters(fabric, port, true, false)));
}

void rd_report_fabric_ports(struct rd_report *report, const struct rd_fabric_shown *shown)
{
	const struct rd_fabric *fabric = shown->fabric;
	struct shown_ports *ports = rd_alloc(1, sizeof(*ports) + fabric->n_ports * sizeof(*ports->ports));
	struct rd_section *section;

	ports->shown = *shown;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		size_t at = shown->order ? shown->order[i] : i;
		const struct rd_fabric_port *port = &fabric->ports[at];

		if ((shown->picked ? shown->picked[at] : port->selected || port->presence == RD_PORT_GONE) &&
		    !(shown->changes && !is_changed(fabric, port)))
			ports->ports[ports->n++] = at;
	}
	section = rd_section_create_made("ports", rd_fabric_columns, RD_FABRIC_COLUMNS, ports->n, make_port, ports);
	section->sparse = shown->changes;
	rd_report_add(report, section);
}

struct rd_section *rd_report_fabric_port(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return make_counters(fabric, port, false, false);
}

/* ---- what repeated sweeps found, and when */

/* clang-format off */
static const struct rd_column latch_columns[] = {
	{ .key = "id", .type = RD_T_STR, .help = "kind of finding" },
	{ .key = "severity", .type = RD_T_STR, .help = "warning, critical" },
	{ .key = "current", .type = RD_T_BOOL, .help = "found by the latest sweep" },
	{ .key = "first_seen", .type = RD_T_TIME, .help = "first sweep that found it" },
	{ .key = "last_seen", .type = RD_T_TIME, .help = "last sweep that found it" },
	{ .key = "looks", .type = RD_T_UINT, .help = "number of sweeps that found it" },
	{ .key = "subject", .type = RD_T_STR, .help = "node, port or cable" },
	{ .key = "title", .type = RD_T_STR, .help = "fault" },
	{ .key = "observed", .type = RD_T_STR, .help = "values of the last sweep that found it" },
	{ .key = "fix", .type = RD_T_STR, .help = "commands that fix it" },
	{ .key = "advice", .type = RD_T_STR, .help = "what else to do" },
};

static const struct rd_column seen_columns[] = {
	{ .key = "state", .title = "FINDING", .type = RD_T_STR, .help = "severity; was: no longer found" },
	{ .key = "last_seen", .title = "LAST", .type = RD_T_STR, .help = "last sweep that found it", .spare = 1 },
	{ .key = "looks", .title = "SWEEPS", .type = RD_T_UINT, .help = "number of sweeps that found it", .spare = 2 },
	{ .key = "subject", .title = "WHERE", .type = RD_T_STR, .help = "node or port", .fit = RD_FIT_NAME },
	{ .key = "port", .title = "PORT", .type = RD_T_UINT, .help = "port number" },
	{ .key = "peer", .title = "PEER", .type = RD_T_STR, .help = "node and port at the other end of the cable", .fit = RD_FIT_NAME, .spare = 3 },
	{ .key = "observed", .title = "WHAT", .type = RD_T_STR, .help = "values, else the fault", .fit = RD_FIT_TEXT },
};
/* clang-format on */

void rd_report_fabric_latched(struct rd_report *report, const struct rd_fabric_latch *const *ranked, size_t n)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("latched", latch_columns));

	for (size_t i = 0; i < n; i++) {
		const struct rd_fabric_latch *latch = ranked[i];
		_cleanup_free_ char *fix = rd_fix_commands(latch->fix), *advice = rd_fix_advice(latch->fix);

		RD_ROW(section, RD_STR(latch->id), RD_STR(rd_severity_name(latch->severity)), RD_BOOL(latch->current),
		       RD_UINT(latch->looks.first_ns), RD_UINT(latch->looks.last_ns), RD_UINT(latch->looks.n),
		       RD_STR(latch->subject), RD_STR(latch->title), RD_STR(latch->observed), RD_STR(fix),
		       RD_STR(advice));
	}
}

struct rd_section *rd_report_fabric_seen(const struct rd_fabric_latch *const *ranked, size_t n)
{
	struct rd_section *section = RD_SECTION("seen", seen_columns);

	for (size_t i = 0; i < n; i++) {
		const struct rd_fabric_latch *latch = ranked[i];
		const char *to = strstr(latch->subject, ", to "), *at;
		_cleanup_free_ char *end =
			rd_dup_part(latch->subject, to ? (size_t)(to - latch->subject) : strlen(latch->subject));
		time_t seconds = (time_t)(latch->looks.last_ns / 1000000000u);
		char state[32], last[16] = "";
		uint32_t number = 0;
		struct rd_row *row;
		bool port = false;
		struct tm tm;
		char *guid;

		if (latch->cleared)
			continue;
		snprintf(state, sizeof(state), "%s%s", latch->current ? "" : "was ", rd_severity_name(latch->severity));
		/* The wall clock of the local time zone. */
		if (localtime_r(&seconds, &tm))
			strftime(last, sizeof(last), "%H:%M:%S", &tm);
		/* Of a cable, "leaf3 port 17, to node5 port 1", the end that is named first, and the other where there is room. The number has a
		 * column of its own, as names may be shortened. */
		guid = strstr(end, " (0x");
		if (guid && end[strlen(end) - 1] == ')')
			*guid = '\0'; /* behind the name of a node */
		for (at = end + strlen(end); at > end && at[-1] != ' ';)
			at--;
		if (at - end > 6 && strncmp(at - 6, " port ", 6) == 0 &&
		    rd_parse_u32(at, RD_DECIMAL, 255, &number) == 0) {
			port = true;
			end[at - end - 6] = '\0';
		}
		row = RD_ROW(section, RD_STR(state), RD_STR(*last ? last : NULL), RD_UINT(latch->looks.n), RD_STR(end),
			     port ? RD_UINT(number) : RD_UNKNOWN_CELL, RD_STR(to ? to + strlen(", to ") : NULL),
			     RD_STR(latch->observed ?: latch->title));
		row->severity = latch->severity;
		row->over = !latch->current;
	}
	return section;
}
