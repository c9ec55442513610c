/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: nodes and links by kind, statistics of the sweep, the plan of shares, what files of shares cover, and metrics. */

#include "report/fabric/report-fabric.h"

/* clang-format off */
static const struct rd_column census_columns[] = {
	{ .key = "switches", .type = RD_T_UINT, .help = "switches" },
	{ .key = "adapters", .type = RD_T_UINT, .help = "channel adapters, without aggregation nodes" },
	{ .key = "routers", .type = RD_T_UINT, .help = "routers" },
	{ .key = "aggregation_nodes", .type = RD_T_UINT, .help = "aggregation nodes (SHARP) inside switches" },
	{ .key = "links", .type = RD_T_UINT, .help = "links between two nodes that were found" },
	{ .key = "links_unknown", .type = RD_T_UINT, .help = "of these, links whose width or speed is unknown" },
	{ .key = "links_by_rate", .type = RD_T_ROWS, .help = "links by width and speed, most links first" },
};

static const struct rd_column rate_columns[] = {
	{ .key = "rate", .type = RD_T_STR, .help = "lanes and speed" },
	{ .key = "links", .type = RD_T_UINT, .help = "links of this rate" },
	{ .key = "switch_links", .type = RD_T_UINT, .help = "of these, links between switches" },
	{ .key = "rare", .type = RD_T_BOOL, .help = "at most three links, and at most one of twenty, have this rate" },
	{ .key = "example", .type = RD_T_STR, .help = "one of the links" },
};
/* clang-format on */

static struct rd_section *make_rates(const struct rd_fabric *fabric, const struct rd_fabric_census *census)
{
	struct rd_section *section = RD_SECTION("links_by_rate", rate_columns);

	for (size_t i = 0; i < census->n_rates; i++) {
		const struct rd_fabric_rate *rate = &census->rates[i];
		_cleanup_free_ char *name = rd_text("%ux %s", rate->width, rd_link_speed_name(rate->speed));
		_cleanup_free_ char *example = rd_fabric_cable_text(fabric, &fabric->ports[rate->example]);

		RD_ROW(section, RD_STR(name), RD_UINT(rate->links), RD_UINT(rate->uplinks),
		       RD_BOOL(rd_fabric_rate_is_rare(census, rate)), RD_STR(example));
	}
	return section;
}

static struct rd_section *make_census(const struct rd_fabric *fabric)
{
	struct rd_fabric_census census;

	rd_fabric_take_census(fabric, &census);
	return RD_OBJECT("census", census_columns, RD_UINT(census.switches), RD_UINT(census.adapters),
			 RD_UINT(census.routers), RD_UINT(census.aggregation_nodes), RD_UINT(census.links),
			 RD_UINT(census.unknown), RD_SUB(make_rates(fabric, &census)));
}

static void add_count(struct rd_buf *out, size_t n, const char *one, const char *several, bool always)
{
	if (n > 0 || always)
		rd_buf_printf(out, "%s%zu %s", out->len ? ", " : "", n, n == 1 ? one : several);
}

void rd_report_fabric_census_line(const struct rd_fabric *fabric, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf line = { 0 };
	struct rd_fabric_census census;

	rd_fabric_take_census(fabric, &census);
	add_count(&line, census.switches, "switch", "switches", true);
	add_count(&line, census.adapters, "adapter", "adapters", true);
	add_count(&line, census.routers, "router", "routers", false);
	add_count(&line, census.aggregation_nodes, "aggregation node", "aggregation nodes", false);
	add_count(&line, census.links, "link", "links", true);
	for (size_t i = 0; i < census.n_rates; i++) {
		const struct rd_fabric_rate *rate = &census.rates[i];

		rd_buf_printf(&line, "%s%zu of %ux %s", i > 0 ? ", " : ": ", rate->links, rate->width,
			      rd_link_speed_name(rate->speed));
		if (rd_fabric_rate_is_rare(&census, rate)) {
			_cleanup_free_ char *example = rd_fabric_cable_text(fabric, &fabric->ports[rate->example]);

			rd_buf_part(&line, " (", example);
			rd_buf_str(&line, rate->links > 1 ? ", ...)" : ")");
		}
	}
	if (census.unknown > 0)
		rd_buf_printf(&line, "%s%zu unknown", census.n_rates > 0 ? ", " : ": ", census.unknown);
	rd_buf_str(out, line.data);
	rd_buf_str(out, "\n");
}

/* ---- the sweep */

/* clang-format off */
static const struct rd_column spread_columns[] = {
	{ .key = "min", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
	{ .key = "median", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
	{ .key = "p99", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
	{ .key = "max", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
};

static const struct rd_column sweep_columns[] = {
	{ .key = "nodes", .type = RD_T_UINT, .help = "nodes discovered" },
	{ .key = "ports", .type = RD_T_UINT, .help = "ports queried" },
	{ .key = "fresh", .type = RD_T_UINT, .help = "ports that were read completely" },
	{ .key = "partial", .type = RD_T_UINT, .help = "ports of which an attribute could not be read" },
	{ .key = "mads_sent", .type = RD_T_UINT, .help = "MADs sent, retries included" },
	{ .key = "mads_received", .type = RD_T_UINT, .help = "responses received" },
	{ .key = "retries", .type = RD_T_UINT, .help = "MADs that were retries" },
	{ .key = "timeouts", .type = RD_T_UINT, .help = "MADs without a response" },
	{ .key = "stray", .type = RD_T_UINT, .help = "duplicate and late responses, dropped" },
	{ .key = "malformed", .type = RD_T_UINT, .help = "responses that do not match their query" },
	{ .key = "refused", .type = RD_T_UINT, .help = "responses with an error status" },
	{ .key = "skipped", .type = RD_T_UINT, .help = "queries not sent: the port or LID did not respond before" },
	{ .key = "window", .type = RD_T_UINT, .help = "limit of MADs in flight" },
	{ .key = "per_lid_window", .type = RD_T_UINT, .help = "limit of MADs in flight to one LID" },
	{ .key = "discovery_seconds", .type = RD_T_DOUBLE, .help = "duration of the discovery", .decimals = 6 },
	{ .key = "discovery_mads_sent", .type = RD_T_UINT, .help = "MADs sent by the discovery, retries included" },
	{ .key = "discovery_retries", .type = RD_T_UINT, .help = "of these, retries" },
	{ .key = "discovery_lost", .type = RD_T_UINT, .help = "queries of the discovery without a response to any try" },
	{ .key = "ports_not_reached", .type = RD_T_UINT, .help = "ports with a link, behind which no node responded to the discovery" },
	{ .key = "nodes_not_reached", .type = RD_T_UINT, .help = "nodes known before that the latest discovery did not reach" },
	{ .key = "duration_seconds", .type = RD_T_DOUBLE, .help = "duration of the sweep", .decimals = 6 },
	{ .key = "per_mad", .type = RD_T_OBJECT, .help = "response time of a MAD, in seconds" },
	{ .key = "per_sweep", .type = RD_T_OBJECT, .help = "duration of the sweeps so far, in seconds" },
	{ .key = "missed_ticks", .type = RD_T_UINT, .help = "intervals skipped because the previous sweep was still in progress" },
};

static const struct rd_column shard_columns[] = {
	{ .key = "host", .type = RD_T_STR, .help = "host in the list" },
	{ .key = "index", .type = RD_T_UINT, .help = "number of the share, from 1" },
	{ .key = "of", .type = RD_T_UINT, .help = "number of shares" },
	{ .key = "ports", .type = RD_T_UINT, .help = "ports in the share" },
	{ .key = "all_ports", .type = RD_T_UINT, .help = "ports of all shares" },
	{ .key = "topology", .type = RD_T_STR, .help = "hash of the divided ports, links and hosts: hosts with the same value compute the same shares" },
};

static const struct rd_column top_columns[] = {
	{ .key = "ibdev", .type = RD_T_STR, .help = "local device that sends the queries" },
	{ .key = "port", .type = RD_T_UINT, .help = "port of that device" },
	{ .key = "sm_lid", .type = RD_T_UINT, .help = "LID of the subnet manager" },
	{ .key = "changes_only", .type = RD_T_BOOL, .help = "the ports are those of which a value changed since the previous document, with these values" },
	{ .key = "census", .type = RD_T_OBJECT, .help = "nodes and links by kind" },
	{ .key = "sweep", .type = RD_T_OBJECT, .help = "statistics of the sweep" },
	{ .key = "shard", .type = RD_T_OBJECT, .help = "share of this host" },
	{ .key = "latched_dropped", .type = RD_T_UINT, .help = "findings that latched lacks for lack of room, counted at each sweep" },
};

static const struct rd_column basis_columns[] = {
	{ .key = "topology", .type = RD_T_STR, .help = "hash of the divided ports, links and hosts: hosts with the same value compute the same shares" },
	{ .key = "ports", .type = RD_T_UINT, .help = "ports read by all hosts together" },
	{ .key = "latency_seconds", .type = RD_T_DOUBLE, .help = "response time of a MAD, in seconds", .decimals = 6 },
	{ .key = "latency_kind", .type = RD_T_STR, .help = "measured in this network, or assumed" },
	{ .key = "attributes", .type = RD_T_UINT, .help = "attributes read per port" },
	{ .key = "window", .type = RD_T_UINT, .help = "limit of MADs in flight" },
	{ .key = "per_lid_window", .type = RD_T_UINT, .help = "limit of MADs in flight to one LID" },
};

static const struct rd_column plan_columns[] = {
	{ .key = "index", .title = "SHARE", .type = RD_T_UINT, .help = "number of the share, from 1" },
	{ .key = "host", .title = "HOST", .type = RD_T_STR, .help = "host in the list" },
	{ .key = "found", .title = "FOUND", .type = RD_T_BOOL, .help = "has an adapter with a link; if not, its share is not covered" },
	{ .key = "ports", .title = "PORTS", .type = RD_T_UINT, .help = "ports that the host reads" },
	{ .key = "share", .title = "OF-ALL", .type = RD_T_SHARE, .help = "share of all ports" },
	{ .key = "own", .title = "OWN", .type = RD_T_UINT, .help = "of these, ports of its own adapters" },
	{ .key = "leaf", .title = "LEAF", .type = RD_T_UINT, .help = "of these, ports of its leaf switches and of adapters attached there" },
	{ .key = "agents", .title = "LIDS", .type = RD_T_UINT, .help = "LIDs that the host queries" },
	{ .key = "predicted_seconds", .title = "SECONDS", .type = RD_T_DOUBLE, .help = "predicted duration of a sweep that reads every attribute of every port, in seconds; without --subsets, a healthy network takes a fraction", .decimals = 3 },
};
/* clang-format on */

static struct rd_section *make_spread(const char *key, const struct rd_fabric_spread *spread)
{
	struct rd_section *section = RD_SECTION(key, spread_columns);

	if (spread->n == 0)
		rd_section_add(section);
	else
		RD_ROW(section, RD_DOUBLE(spread->min), RD_DOUBLE(spread->median), RD_DOUBLE(spread->p99),
		       RD_DOUBLE(spread->max));
	return section;
}

static size_t count_nodes(const struct rd_fabric *fabric)
{
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++)
		n += fabric->ports[i].presence != RD_PORT_GONE &&
		     (i == 0 || fabric->ports[i].node != fabric->ports[i - 1].node);
	return n;
}

struct rd_fabric_tally rd_fabric_count_ports(const struct rd_fabric *fabric)
{
	struct rd_fabric_tally tally = { 0 };

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		tally.selected += port->selected;
		tally.queried += port->selected && port->presence != RD_PORT_GONE;
		tally.fresh += port->fresh;
		tally.partial += port->fresh && port->error;
	}
	return tally;
}

static struct rd_section *make_sweep(const struct rd_fabric_shown *shown)
{
	const struct rd_fabric *fabric = shown->fabric;
	const struct rd_sweep_stats *s = &fabric->sweep;
	struct rd_fabric_spread mads = { (double)s->latency_min_ns / 1e9, (double)s->latency_median_ns / 1e9,
					 (double)s->latency_p99_ns / 1e9, (double)s->latency_max_ns / 1e9,
					 (size_t)s->latencies };
	struct rd_section *section = RD_SECTION("sweep", sweep_columns);
	struct rd_fabric_tally tally = rd_fabric_count_ports(fabric);
	size_t ports = 0, nodes = 0;

	/* What the latest discovery did not see. */
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_UNREACHED)
			nodes += i == 0 || fabric->ports[i - 1].node != port->node ||
				 fabric->ports[i - 1].presence != RD_PORT_UNREACHED;
		else
			ports += port->peer_unreached && port->presence != RD_PORT_GONE;
	}
	RD_ROW(section, RD_UINT(count_nodes(fabric)), RD_UINT(tally.queried), RD_UINT(tally.fresh - tally.partial),
	       RD_UINT(tally.partial), RD_UINT(s->sent), RD_UINT(s->received), RD_UINT(s->retries),
	       RD_UINT(s->timeouts), RD_UINT(s->stray), RD_UINT(s->malformed), RD_UINT(s->refused), RD_UINT(s->skipped),
	       RD_UINT(s->window), RD_UINT(s->per_lid_window), RD_DOUBLE((double)fabric->discovery_ns / 1e9),
	       RD_UINT(fabric->walk.sent), RD_UINT(fabric->walk.retries), RD_UINT(fabric->walk.lost), RD_UINT(ports),
	       RD_UINT(nodes), RD_DOUBLE((double)s->duration_ns / 1e9), RD_SUB(make_spread("per_mad", &mads)),
	       RD_SUB(make_spread("per_sweep", &shown->sweeps)), RD_UINT(shown->missed));
	return section;
}

static struct rd_section *make_shard(const struct rd_fabric_shown *shown)
{
	const struct rd_shard *shard = &shown->shards->v[shown->shard];
	_cleanup_free_ char *topology = rd_text("0x%016" PRIx64, shown->shards->topology);

	return RD_OBJECT("shard", shard_columns, RD_STR(shard->host), RD_UINT(shown->shard + 1),
			 RD_UINT(shown->shards->n), RD_UINT(shard->ports), RD_UINT(shown->shards->ports),
			 RD_STR(topology));
}

void rd_report_fabric_sweep(struct rd_report *report, const struct rd_fabric_shown *shown)
{
	const struct rd_fabric *fabric = shown->fabric;

	report->scalars = RD_OBJECT("fabric", top_columns, RD_STR(fabric->ibdev[0] ? fabric->ibdev : NULL),
				    RD_POSITIVE(fabric->port), RD_POSITIVE(fabric->sm_lid), RD_BOOL(shown->changes),
				    RD_SUB(make_census(fabric)), RD_SUB(make_sweep(shown)),
				    shown->shards ? RD_SUB(make_shard(shown)) : RD_UNKNOWN_CELL,
				    RD_UINT_OF(shown->latches_dropped));
}

/* ---- the plan */

void rd_report_plan(struct rd_report *report, const struct rd_shards *shards, const struct rd_plan_basis *basis)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("plan", plan_columns));
	_cleanup_free_ char *topology = rd_text("0x%016" PRIx64, shards->topology);

	report->scalars = RD_OBJECT("basis", basis_columns, RD_STR(topology), RD_UINT(shards->ports),
				    RD_DOUBLE(basis->latency), RD_STR(basis->measured ? "measured" : "assumed"),
				    RD_UINT(basis->attributes), RD_UINT(basis->window), RD_UINT(basis->per_lid));
	for (size_t i = 0; i < shards->n; i++) {
		const struct rd_shard *shard = &shards->v[i];
		struct rd_row *row = RD_ROW(
			section, RD_UINT(i + 1), RD_STR(shard->host),
			shard->host ? RD_BOOL(shard->found) : RD_UNKNOWN_CELL, RD_UINT(shard->ports),
			shards->ports ? RD_DOUBLE((double)shard->ports / (double)shards->ports) : RD_UNKNOWN_CELL,
			RD_UINT(shard->own), RD_UINT(shard->leaf), RD_UINT(shard->agents),
			shard->seconds > 0 ? RD_DOUBLE(shard->seconds) : RD_UNKNOWN_CELL);

		if (shard->host && !shard->found)
			row->severity = RD_SEV_WARNING;
	}
}

/* ---- metrics */

#define PORT_LABELS 2

/* What identifies a port, and stays when its node gets another name. `labels` refer to `text`. */
struct port_text {
	char guid[24], number[8];
};

static void label_port(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct port_text *text,
		       struct rd_label *labels)
{
	snprintf(text->guid, sizeof(text->guid), "0x%016" PRIx64, fabric->nodes[port->node].guid);
	snprintf(text->number, sizeof(text->number), "%u", port->number);
	labels[0] = (struct rd_label){ "node_guid", text->guid };
	labels[1] = (struct rd_label){ "port", text->number };
}

/* The name and kind of each node that is there. */
static void add_nodes(struct rd_metrics *metrics, const struct rd_fabric *fabric)
{
	_cleanup_free_ bool *named = rd_alloc(fabric->n_nodes + 1, sizeof(*named));
	struct rd_metric *info = rd_metrics_family(metrics, "fabric_node_info", RD_METRIC_GAUGE, NULL,
						   "Always 1; the name and kind of a node are labels");

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		const struct rd_fabric_node *node = &fabric->nodes[port->node];
		const char *kind = rd_node_kind_name(node->kind);
		char guid[24];
		struct rd_label labels[] = { { "node_guid", guid },
					     { "node", rd_fabric_name(node) },
					     { "kind", kind ?: "unknown" } };

		if (port->presence == RD_PORT_GONE || named[port->node])
			continue;
		named[port->node] = true;
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, node->guid);
		rd_metric_uint(info, 1, labels, RD_ARRAY_SIZE(labels));
	}
}

/* A counter, of all ports that are fresh. Data counters count units of four octets. */
static void add_counter(struct rd_metrics *metrics, const struct rd_fabric_shown *shown, size_t counter)
{
	const struct rd_fabric *fabric = shown->fabric;
	bool data = rd_pma_counters[counter].kind == RD_PMA_DATA;
	struct rd_metric *family = NULL;
	char name[64];

	if (shown->nonzero && !rd_pma_is_fault(counter))
		return;
	/* OpenMetrics names do not contain the type. */
	snprintf(name, sizeof(name), "fabric_%s", rd_pma_counters[counter].name);
	if (strlen(name) > strlen("Counter") && strcmp(name + strlen(name) - strlen("Counter"), "Counter") == 0)
		name[strlen(name) - strlen("Counter")] = '\0';
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		struct rd_label labels[PORT_LABELS];
		struct rd_pma_value value;
		struct port_text text = { 0 };

		if (!port->fresh || port->presence == RD_PORT_GONE || !rd_fabric_value(fabric, port, counter, &value) ||
		    (shown->nonzero && value.v == 0))
			continue;
		if (!family)
			family = rd_metrics_family(metrics, name, RD_METRIC_COUNTER, data ? "bytes" : NULL,
						   rd_pma_counters[counter].name);
		label_port(fabric, port, &text, labels);
		rd_metric_uint(family, data ? value.v * 4 : value.v, labels, PORT_LABELS);
	}
}

enum port_family { FRESH, AGE, STATE, WIDTH, SPEED, PEER, PORT_FAMILIES };

static void add_ports(struct rd_metrics *metrics, const struct rd_fabric_shown *shown)
{
	static const struct {
		const char *name, *unit, *help;
	} families[PORT_FAMILIES] = {
		[FRESH] = { "fabric_port_fresh", NULL, "1: all counters of the port were read in the latest sweep" },
		[AGE] = { "fabric_port_age", "seconds", "Age of the counter values of a port" },
		[STATE] = { "fabric_port_state", NULL, "PortState: 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE" },
		[WIDTH] = { "fabric_link_width", NULL, "Lanes in use" },
		[SPEED] = { "fabric_link_gbps", NULL, "Data rate of the link in each direction, Gbit/s" },
		[PEER] = { "fabric_link_info", NULL, "Always 1; the port at the other end of the cable is in labels" },
	};
	struct rd_metric *m[PORT_FAMILIES];

	for (size_t i = 0; i < PORT_FAMILIES; i++)
		m[i] = rd_metrics_family(metrics, families[i].name, RD_METRIC_GAUGE, families[i].unit, families[i].help);
	for (size_t i = 0; i < shown->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &shown->fabric->ports[i];
		struct port_text text = { 0 }, to = { 0 };
		struct rd_label labels[2 * PORT_LABELS];

		if (!port->selected || port->presence == RD_PORT_GONE)
			continue;
		label_port(shown->fabric, port, &text, labels);
		if (!shown->nonzero || !port->fresh)
			rd_metric_uint(m[FRESH], port->fresh, labels, PORT_LABELS);
		if (!shown->nonzero && port->read_ns && shown->now_ns >= port->read_ns)
			rd_metric_double(m[AGE], (double)(shown->now_ns - port->read_ns) / 1e9, labels, PORT_LABELS);
		if (port->state)
			rd_metric_uint(m[STATE], port->state, labels, PORT_LABELS);
		if (port->peer == RD_NONE)
			continue;
		if (port->width_active)
			rd_metric_uint(m[WIDTH], port->width_active, labels, PORT_LABELS);
		if (port->speed_active)
			rd_metric_double(m[SPEED], rd_fabric_link_gbps(port), labels, PORT_LABELS);
		label_port(shown->fabric, &shown->fabric->ports[port->peer], &to, labels + PORT_LABELS);
		labels[PORT_LABELS].name = "peer_guid";
		labels[PORT_LABELS + 1].name = "peer_port";
		rd_metric_uint(m[PEER], 1, labels, 2 * PORT_LABELS);
	}
}

/* With the labels of a port, so that they can be joined. */
static void add_findings(struct rd_metrics *metrics, const struct rd_findings *findings)
{
	struct rd_metric *family = rd_metrics_family(metrics, "fabric_finding", RD_METRIC_GAUGE, NULL,
						     "Always 1; a finding, and its port or node, are in labels");

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];
		_cleanup_free_ char *guid = rd_text(finding->node_guid ? "0x%016" PRIx64 : "", finding->node_guid);
		_cleanup_free_ char *number = rd_text(finding->port ? "%u" : "", finding->port);
		const struct rd_label labels[] = { { "id", finding->id },
						   { "severity", rd_severity_name(finding->severity) },
						   { "node_guid", guid },
						   { "port", number } };

		if (rd_finding_stands(finding))
			rd_metric_uint(family, 1, labels, RD_ARRAY_SIZE(labels));
	}
}

void rd_report_fabric_metrics(struct rd_report *report, const struct rd_fabric_shown *shown)
{
	const struct rd_sweep_stats *s = &shown->fabric->sweep;
	struct rd_metrics *m = &report->metrics;

	for (size_t i = 0; i < shown->fabric->n_values; i++)
		add_counter(m, shown, i);
	add_ports(m, shown);
	add_findings(m, &report->findings);
	add_nodes(m, shown->fabric);
	rd_metric_uint(rd_metrics_family(m, "fabric_nodes", RD_METRIC_GAUGE, NULL, "Nodes discovered"),
		       count_nodes(shown->fabric), NULL, 0);
	rd_metric_uint(rd_metrics_family(m, "fabric_ports", RD_METRIC_GAUGE, NULL, "Ports whose counters are read"),
		       rd_fabric_count_ports(shown->fabric).queried, NULL, 0);
	rd_metric_uint(rd_metrics_family(m, "fabric_sweep_timeouts", RD_METRIC_GAUGE, NULL,
					 "MADs without a response in the latest sweep, retries included"),
		       s->timeouts, NULL, 0);
	rd_metric_double(rd_metrics_family(m, "fabric_sweep_duration", RD_METRIC_GAUGE, "seconds",
					   "Duration of the latest sweep"),
			 (double)s->duration_ns / 1e9, NULL, 0);
}

/* ---- files of shares */

/* clang-format off */
static const struct rd_column coverage_columns[] = {
	{ .key = "shares", .type = RD_T_UINT, .help = "shares into which the ports are divided" },
	{ .key = "shares_missing", .type = RD_T_UINT, .help = "of these, shares that no file has" },
	{ .key = "ports", .type = RD_T_UINT, .help = "ports in the files, each once" },
	{ .key = "fresh", .type = RD_T_UINT, .help = "of these, read by the latest sweep of their host" },
	{ .key = "unread", .type = RD_T_UINT, .help = "of these, not read by it" },
	{ .key = "ports_missing", .type = RD_T_UINT, .help = "ports of the missing shares" },
	{ .key = "duplicates", .type = RD_T_UINT, .help = "readings that were dropped, because another file has a newer one of the port" },
};

static const struct rd_column merge_columns[] = {
	{ .key = "coverage", .type = RD_T_OBJECT, .help = "what the files cover" },
	{ .key = "oldest", .type = RD_T_TIME, .help = "time of the oldest share" },
	{ .key = "newest", .type = RD_T_TIME, .help = "time of the newest share" },
	{ .key = "skew_seconds", .type = RD_T_DOUBLE, .help = "between these", .decimals = 3 },
	{ .key = "topology", .type = RD_T_STR, .help = "hash of the topology of most shares" },
};

static const struct rd_column file_columns[] = {
	{ .key = "host", .title = "HOST", .type = RD_T_STR, .help = "host that read the share" },
	{ .key = "index", .title = "SHARE", .type = RD_T_UINT, .help = "number of the share, from 1" },
	{ .key = "of", .title = "OF", .type = RD_T_UINT, .help = "number of shares" },
	{ .key = "time", .title = "TIME", .type = RD_T_TIME, .help = "time of the sweep, by the clock of the host" },
	{ .key = "behind_seconds", .title = "BEHIND", .type = RD_T_DOUBLE, .help = "before the newest share", .decimals = 3 },
	{ .key = "ports", .title = "PORTS", .type = RD_T_UINT, .help = "ports of the share" },
	{ .key = "found", .title = "FOUND", .type = RD_T_UINT, .help = "ports in the file" },
	{ .key = "topology", .title = "TOPOLOGY", .type = RD_T_STR, .help = "hash of what was divided" },
	{ .key = "file", .title = "FILE", .type = RD_T_STR, .help = "name of the file" },
};
/* clang-format on */

static struct rd_section *make_coverage(const struct rd_merge *merge)
{
	return RD_OBJECT("coverage", coverage_columns, RD_POSITIVE(merge->shares),
			 merge->shares ? RD_UINT(merge->missing) : RD_UNKNOWN_CELL, RD_UINT(merge->ports),
			 RD_UINT(merge->fresh), RD_UINT(merge->ports - merge->fresh), RD_UINT_OF(merge->uncovered),
			 RD_UINT(merge->duplicates));
}

static struct rd_section *make_shares(const struct rd_share_files *files, const struct rd_merge *merge)
{
	struct rd_section *section = RD_SECTION("shares", file_columns);

	for (size_t i = 0; i < files->n; i++) {
		const struct rd_share *share = &files->v[i];
		_cleanup_free_ char *topology = share->topology.known ? rd_text("0x%016" PRIx64, share->topology.v) :
									NULL;

		RD_ROW(section, RD_STR(share->host), RD_POSITIVE(share->index),
		       share->index ? RD_UINT(share->of) : RD_UNKNOWN_CELL, RD_UINT(share->time_ns),
		       RD_DOUBLE((double)(merge->newest_ns - share->time_ns) / 1e9), RD_UINT(share->ports),
		       RD_UINT(share->found), RD_STR(topology), RD_STR(share->file));
	}
	return section;
}

void rd_report_fabric_merge(struct rd_report *report, const struct rd_share_files *files, const struct rd_merge *merge)
{
	_cleanup_free_ char *topology = merge->shares ? rd_text("0x%016" PRIx64, merge->topology) : NULL;

	report->scalars = RD_OBJECT("merge", merge_columns, RD_SUB(make_coverage(merge)), RD_UINT(merge->oldest_ns),
				    RD_UINT(merge->newest_ns),
				    RD_DOUBLE((double)(merge->newest_ns - merge->oldest_ns) / 1e9), RD_STR(topology));
	rd_report_add(report, make_shares(files, merge));
}
