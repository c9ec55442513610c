/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: nodes and links by kind, statistics of the sweep, the plan of shares, what files of shares cover, and metrics. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric.h"
#include "report/fabric/report-fabric.h"

enum { CEN_SWITCHES, CEN_ADAPTERS, CEN_ROUTERS, CEN_AGGREGATION, CEN_LINKS, CEN_UNKNOWN, CEN_RATES, CEN_COLUMNS };
enum { RATE_NAME, RATE_LINKS, RATE_UPLINKS, RATE_RARE, RATE_EXAMPLE, RATE_COLUMNS };
/* clang-format off */
static const struct rd_column census_columns[CEN_COLUMNS] = {
	[CEN_SWITCHES] = { .key = "switches", .type = RD_T_UINT, .help = "switches" },
	[CEN_ADAPTERS] = { .key = "adapters", .type = RD_T_UINT, .help = "channel adapters, without aggregation nodes" },
	[CEN_ROUTERS] = { .key = "routers", .type = RD_T_UINT, .help = "routers" },
	[CEN_AGGREGATION] = { .key = "aggregation_nodes", .type = RD_T_UINT, .help = "aggregation nodes (SHARP) inside switches" },
	[CEN_LINKS] = { .key = "links", .type = RD_T_UINT, .help = "links between two nodes that were found" },
	[CEN_UNKNOWN] = { .key = "links_unknown", .type = RD_T_UINT, .help = "of these, links whose width or speed is unknown" },
	[CEN_RATES] = { .key = "links_by_rate", .type = RD_T_ROWS, .help = "links by width and speed, most links first" },
};

static const struct rd_column rate_columns[RATE_COLUMNS] = {
	[RATE_NAME] = { .key = "rate", .type = RD_T_STR, .help = "lanes and speed" },
	[RATE_LINKS] = { .key = "links", .type = RD_T_UINT, .help = "links of this rate" },
	[RATE_UPLINKS] = { .key = "switch_links", .type = RD_T_UINT, .help = "of these, links between switches" },
	[RATE_RARE] = { .key = "rare", .type = RD_T_BOOL, .help = "at most three links, and at most one of twenty, have this rate" },
	[RATE_EXAMPLE] = { .key = "example", .type = RD_T_STR, .help = "one of the links" },
};
/* clang-format on */

static struct rd_section *make_rates(const struct rd_fabric *fabric, const struct rd_fabric_census *census)
{
	struct rd_section *section = rd_section_create("links_by_rate", rate_columns, RATE_COLUMNS);

	for (size_t i = 0; i < census->n_rates; i++) {
		const struct rd_fabric_rate *rate = &census->rates[i];
		_cleanup_free_ char *name = rd_text("%ux %s", rate->width, rd_link_speed_name(rate->speed));
		_cleanup_free_ char *example = rd_fabric_cable_text(fabric, &fabric->ports[rate->example]);
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, RATE_NAME, name);
		RD_ROW_UINTS(row, RATE_LINKS, rate->links, rate->uplinks);
		rd_row_bool(row, RATE_RARE, rd_fabric_rate_is_rare(census, rate));
		rd_row_str(row, RATE_EXAMPLE, example);
	}
	return section;
}

struct rd_section *rd_report_fabric_census(const struct rd_fabric *fabric)
{
	struct rd_section *section = rd_section_create("census", census_columns, CEN_COLUMNS);
	struct rd_row *row = rd_section_add(section);
	struct rd_fabric_census census;

	rd_fabric_take_census(fabric, &census);
	RD_ROW_UINTS(row, CEN_SWITCHES, census.switches, census.adapters, census.routers, census.aggregation_nodes,
		     census.links, census.unknown);
	rd_row_sub(row, CEN_RATES, make_rates(fabric, &census));
	return section;
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

			rd_buf_str(&line, " (");
			rd_buf_safe(&line, example, strlen(example));
			rd_buf_str(&line, rate->links > 1 ? ", ...)" : ")");
		}
	}
	if (census.unknown > 0)
		rd_buf_printf(&line, "%s%zu unknown", census.n_rates > 0 ? ", " : ": ", census.unknown);
	rd_buf_str(out, line.data);
	rd_buf_str(out, "\n");
}

/* ---- the sweep */

enum { SPREAD_MIN, SPREAD_MEDIAN, SPREAD_P99, SPREAD_MAX, SPREAD_COLUMNS };

enum {
	SW_NODES,
	SW_PORTS,
	SW_FRESH,
	SW_PARTIAL,
	SW_SENT,
	SW_RECEIVED,
	SW_RETRIES,
	SW_TIMEOUTS,
	SW_STRAY,
	SW_MALFORMED,
	SW_REFUSED,
	SW_SKIPPED,
	SW_WINDOW,
	SW_PER_LID,
	SW_DISCOVERY,
	SW_WALK_SENT,
	SW_WALK_RETRIES,
	SW_WALK_LOST,
	SW_WALK_PORTS,
	SW_WALK_NODES,
	SW_DURATION,
	SW_PER_MAD,
	SW_PER_SWEEP,
	SW_MISSED,
	SW_COLUMNS
};
enum { SH_HOST, SH_INDEX, SH_OF, SH_PORTS, SH_ALL_PORTS, SH_TOPOLOGY, SH_COLUMNS };
enum {
	TOP_IBDEV,
	TOP_PORT,
	TOP_SM_LID,
	TOP_CHANGES,
	TOP_CENSUS,
	TOP_SWEEP,
	TOP_SHARD,
	TOP_LATCHES_DROPPED,
	TOP_COLUMNS
};
enum { BA_TOPOLOGY, BA_PORTS, BA_LATENCY, BA_KIND, BA_ATTRIBUTES, BA_WINDOW, BA_PER_LID, BA_COLUMNS };
enum { PL_INDEX, PL_HOST, PL_FOUND, PL_PORTS, PL_SHARE, PL_OWN, PL_LEAF, PL_AGENTS, PL_SECONDS, PL_COLUMNS };

/* clang-format off */
static const struct rd_column spread_columns[SPREAD_COLUMNS] = {
	[SPREAD_MIN] = { .key = "min", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
	[SPREAD_MEDIAN] = { .key = "median", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
	[SPREAD_P99] = { .key = "p99", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
	[SPREAD_MAX] = { .key = "max", .type = RD_T_DOUBLE, .help = "seconds", .decimals = 6 },
};

static const struct rd_column sweep_columns[SW_COLUMNS] = {
	[SW_NODES] = { .key = "nodes", .type = RD_T_UINT, .help = "nodes discovered" },
	[SW_PORTS] = { .key = "ports", .type = RD_T_UINT, .help = "ports queried" },
	[SW_FRESH] = { .key = "fresh", .type = RD_T_UINT, .help = "ports that were read completely" },
	[SW_PARTIAL] = { .key = "partial", .type = RD_T_UINT, .help = "ports of which an attribute could not be read" },
	[SW_SENT] = { .key = "mads_sent", .type = RD_T_UINT, .help = "MADs sent, retries included" },
	[SW_RECEIVED] = { .key = "mads_received", .type = RD_T_UINT, .help = "responses received" },
	[SW_RETRIES] = { .key = "retries", .type = RD_T_UINT, .help = "MADs that were retries" },
	[SW_TIMEOUTS] = { .key = "timeouts", .type = RD_T_UINT, .help = "MADs without a response" },
	[SW_STRAY] = { .key = "stray", .type = RD_T_UINT, .help = "duplicate and late responses, dropped" },
	[SW_MALFORMED] = { .key = "malformed", .type = RD_T_UINT, .help = "responses that do not match their query" },
	[SW_REFUSED] = { .key = "refused", .type = RD_T_UINT, .help = "responses with an error status" },
	[SW_SKIPPED] = { .key = "skipped", .type = RD_T_UINT, .help = "queries not sent: the port or LID did not respond before" },
	[SW_WINDOW] = { .key = "window", .type = RD_T_UINT, .help = "limit of MADs in flight" },
	[SW_PER_LID] = { .key = "per_lid_window", .type = RD_T_UINT, .help = "limit of MADs in flight to one LID" },
	[SW_DISCOVERY] = { .key = "discovery_seconds", .type = RD_T_DOUBLE, .help = "duration of the discovery", .decimals = 6 },
	[SW_WALK_SENT] = { .key = "discovery_mads_sent", .type = RD_T_UINT, .help = "MADs sent by the discovery, retries included" },
	[SW_WALK_RETRIES] = { .key = "discovery_retries", .type = RD_T_UINT, .help = "of these, retries" },
	[SW_WALK_LOST] = { .key = "discovery_lost", .type = RD_T_UINT, .help = "queries of the discovery without a response to any try" },
	[SW_WALK_PORTS] = { .key = "ports_not_reached", .type = RD_T_UINT, .help = "ports with a link, behind which no node responded to the discovery" },
	[SW_WALK_NODES] = { .key = "nodes_not_reached", .type = RD_T_UINT, .help = "nodes known before that the latest discovery did not reach" },
	[SW_DURATION] = { .key = "duration_seconds", .type = RD_T_DOUBLE, .help = "duration of the sweep", .decimals = 6 },
	[SW_PER_MAD] = { .key = "per_mad", .type = RD_T_OBJECT, .help = "response time of a MAD, in seconds" },
	[SW_PER_SWEEP] = { .key = "per_sweep", .type = RD_T_OBJECT, .help = "duration of the sweeps so far, in seconds" },
	[SW_MISSED] = { .key = "missed_ticks", .type = RD_T_UINT, .help = "intervals skipped because the previous sweep was still in progress" },
};

static const struct rd_column shard_columns[SH_COLUMNS] = {
	[SH_HOST] = { .key = "host", .type = RD_T_STR, .help = "host in the list" },
	[SH_INDEX] = { .key = "index", .type = RD_T_UINT, .help = "number of the share, from 1" },
	[SH_OF] = { .key = "of", .type = RD_T_UINT, .help = "number of shares" },
	[SH_PORTS] = { .key = "ports", .type = RD_T_UINT, .help = "ports in the share" },
	[SH_ALL_PORTS] = { .key = "all_ports", .type = RD_T_UINT, .help = "ports of all shares" },
	[SH_TOPOLOGY] = { .key = "topology", .type = RD_T_STR, .help = "hash of the divided ports, links and hosts: hosts with the same value compute the same shares" },
};

static const struct rd_column top_columns[TOP_COLUMNS] = {
	[TOP_IBDEV] = { .key = "ibdev", .type = RD_T_STR, .help = "local device that sends the queries" },
	[TOP_PORT] = { .key = "port", .type = RD_T_UINT, .help = "port of that device" },
	[TOP_SM_LID] = { .key = "sm_lid", .type = RD_T_UINT, .help = "LID of the subnet manager" },
	[TOP_CHANGES] = { .key = "changes_only", .type = RD_T_BOOL, .help = "the ports are those of which a value changed since the previous document, with these values" },
	[TOP_CENSUS] = { .key = "census", .type = RD_T_OBJECT, .help = "nodes and links by kind" },
	[TOP_SWEEP] = { .key = "sweep", .type = RD_T_OBJECT, .help = "statistics of the sweep" },
	[TOP_SHARD] = { .key = "shard", .type = RD_T_OBJECT, .help = "share of this host" },
	[TOP_LATCHES_DROPPED] = { .key = "latched_dropped", .type = RD_T_UINT, .help = "findings that latched lacks for lack of room, counted at each sweep" },
};

static const struct rd_column basis_columns[BA_COLUMNS] = {
	[BA_TOPOLOGY] = { .key = "topology", .type = RD_T_STR, .help = "hash of the divided ports, links and hosts: hosts with the same value compute the same shares" },
	[BA_PORTS] = { .key = "ports", .type = RD_T_UINT, .help = "ports read by all hosts together" },
	[BA_LATENCY] = { .key = "latency_seconds", .type = RD_T_DOUBLE, .help = "response time of a MAD, in seconds", .decimals = 6 },
	[BA_KIND] = { .key = "latency_kind", .type = RD_T_STR, .help = "measured in this network, or assumed" },
	[BA_ATTRIBUTES] = { .key = "attributes", .type = RD_T_UINT, .help = "attributes read per port" },
	[BA_WINDOW] = { .key = "window", .type = RD_T_UINT, .help = "limit of MADs in flight" },
	[BA_PER_LID] = { .key = "per_lid_window", .type = RD_T_UINT, .help = "limit of MADs in flight to one LID" },
};

static const struct rd_column plan_columns[PL_COLUMNS] = {
	[PL_INDEX] = { .key = "index", .title = "SHARE", .type = RD_T_UINT, .help = "number of the share, from 1" },
	[PL_HOST] = { .key = "host", .title = "HOST", .type = RD_T_STR, .help = "host in the list" },
	[PL_FOUND] = { .key = "found", .title = "FOUND", .type = RD_T_BOOL, .help = "has an adapter with a link; if not, its share is not covered" },
	[PL_PORTS] = { .key = "ports", .title = "PORTS", .type = RD_T_UINT, .help = "ports that the host reads" },
	[PL_SHARE] = { .key = "share", .title = "OF-ALL", .type = RD_T_SHARE, .help = "share of all ports" },
	[PL_OWN] = { .key = "own", .title = "OWN", .type = RD_T_UINT, .help = "of these, ports of its own adapters" },
	[PL_LEAF] = { .key = "leaf", .title = "LEAF", .type = RD_T_UINT, .help = "of these, ports of its leaf switches and of adapters attached there" },
	[PL_AGENTS] = { .key = "agents", .title = "LIDS", .type = RD_T_UINT, .help = "LIDs that the host queries" },
	[PL_SECONDS] = { .key = "predicted_seconds", .title = "SECONDS", .type = RD_T_DOUBLE, .help = "predicted duration of a sweep that reads every attribute of every port, in seconds; without --subsets, a healthy network takes a fraction", .decimals = 3 },
};
/* clang-format on */

static struct rd_section *make_spread(const char *key, const struct rd_fabric_spread *spread)
{
	struct rd_section *section = rd_section_create(key, spread_columns, SPREAD_COLUMNS);
	struct rd_row *row = rd_section_add(section);

	if (spread->n == 0)
		return section;
	rd_row_double(row, SPREAD_MIN, spread->min);
	rd_row_double(row, SPREAD_MEDIAN, spread->median);
	rd_row_double(row, SPREAD_P99, spread->p99);
	rd_row_double(row, SPREAD_MAX, spread->max);
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

static void count_ports(const struct rd_fabric *fabric, size_t *queried, size_t *fresh, size_t *partial)
{
	*queried = *fresh = *partial = 0;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		*queried += fabric->ports[i].selected && fabric->ports[i].presence != RD_PORT_GONE;
		*fresh += fabric->ports[i].fresh && !fabric->ports[i].error;
		*partial += fabric->ports[i].fresh && fabric->ports[i].error;
	}
}

static struct rd_section *make_sweep(const struct rd_fabric_shown *shown)
{
	const struct rd_fabric *fabric = shown->fabric;
	const struct rd_sweep_stats *s = &fabric->sweep;
	struct rd_fabric_spread mads = { (double)s->latency_min_ns / 1e9, (double)s->latency_median_ns / 1e9,
					 (double)s->latency_p99_ns / 1e9, (double)s->latency_max_ns / 1e9,
					 (size_t)s->latencies };
	struct rd_section *section = rd_section_create("sweep", sweep_columns, SW_COLUMNS);
	struct rd_row *row = rd_section_add(section);
	size_t queried, fresh, partial;
	size_t ports = 0, nodes = 0;

	count_ports(fabric, &queried, &fresh, &partial);
	RD_ROW_UINTS(row, SW_NODES, count_nodes(fabric), queried, fresh, partial, s->sent, s->received, s->retries,
		     s->timeouts, s->stray, s->malformed, s->refused, s->skipped, s->window, s->per_lid_window);
	rd_row_double(row, SW_DISCOVERY, (double)fabric->discovery_ns / 1e9);
	RD_ROW_UINTS(row, SW_WALK_SENT, fabric->walk.sent, fabric->walk.retries, fabric->walk.lost);
	/* What the latest discovery did not see. */
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_UNREACHED)
			nodes += i == 0 || fabric->ports[i - 1].node != port->node ||
				 fabric->ports[i - 1].presence != RD_PORT_UNREACHED;
		else
			ports += port->peer_unreached && port->presence != RD_PORT_GONE;
	}
	RD_ROW_UINTS(row, SW_WALK_PORTS, ports, nodes);
	rd_row_double(row, SW_DURATION, (double)s->duration_ns / 1e9);
	rd_row_sub(row, SW_PER_MAD, make_spread("per_mad", &mads));
	rd_row_sub(row, SW_PER_SWEEP, make_spread("per_sweep", &shown->sweeps));
	rd_row_uint(row, SW_MISSED, shown->missed);
	return section;
}

static struct rd_section *make_shard(const struct rd_fabric_shown *shown)
{
	struct rd_section *section = rd_section_create("shard", shard_columns, SH_COLUMNS);
	struct rd_row *row = rd_section_add(section);
	const struct rd_shard *shard = &shown->shards->v[shown->shard];

	rd_row_str(row, SH_HOST, shard->host);
	RD_ROW_UINTS(row, SH_INDEX, shown->shard + 1, shown->shards->n, shard->ports, shown->shards->ports);
	rd_row_hex64(row, SH_TOPOLOGY, shown->shards->topology);
	return section;
}

void rd_report_fabric_sweep(struct rd_report *report, const struct rd_fabric_shown *shown)
{
	struct rd_section *top = rd_section_create("fabric", top_columns, TOP_COLUMNS);
	struct rd_row *row = rd_section_add(top);

	rd_row_str(row, TOP_IBDEV, shown->fabric->ibdev[0] ? shown->fabric->ibdev : NULL);
	if (shown->fabric->port)
		rd_row_uint(row, TOP_PORT, shown->fabric->port);
	if (shown->fabric->sm_lid)
		rd_row_uint(row, TOP_SM_LID, shown->fabric->sm_lid);
	rd_row_bool(row, TOP_CHANGES, shown->changes);
	rd_row_sub(row, TOP_CENSUS, rd_report_fabric_census(shown->fabric));
	rd_row_sub(row, TOP_SWEEP, make_sweep(shown));
	if (shown->shards)
		rd_row_sub(row, TOP_SHARD, make_shard(shown));
	if (shown->latches_dropped.known == RD_OK)
		rd_row_uint(row, TOP_LATCHES_DROPPED, shown->latches_dropped.v);
	report->scalars = top;
}

/* ---- the plan */

void rd_report_plan(struct rd_report *report, const struct rd_shards *shards, const struct rd_plan_basis *basis)
{
	struct rd_section *top = rd_section_create("basis", basis_columns, BA_COLUMNS);
	struct rd_row *head = rd_section_add(top);
	struct rd_section *section = rd_section_create("plan", plan_columns, PL_COLUMNS);

	rd_row_hex64(head, BA_TOPOLOGY, shards->topology);
	rd_row_uint(head, BA_PORTS, shards->ports);
	rd_row_double(head, BA_LATENCY, basis->latency);
	rd_row_str(head, BA_KIND, basis->measured ? "measured" : "assumed");
	RD_ROW_UINTS(head, BA_ATTRIBUTES, basis->attributes, basis->window, basis->per_lid);
	report->scalars = top;
	for (size_t i = 0; i < shards->n; i++) {
		const struct rd_shard *shard = &shards->v[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_uint(row, PL_INDEX, i + 1);
		rd_row_str(row, PL_HOST, shard->host);
		if (shard->host)
			rd_row_bool(row, PL_FOUND, shard->found);
		rd_row_uint(row, PL_PORTS, shard->ports);
		if (shards->ports)
			rd_row_double(row, PL_SHARE, (double)shard->ports / (double)shards->ports);
		RD_ROW_UINTS(row, PL_OWN, shard->own, shard->leaf, shard->agents);
		if (shard->seconds > 0)
			rd_row_double(row, PL_SECONDS, shard->seconds);
		if (shard->host && !shard->found)
			rd_row_severity(row, RD_SEV_WARNING);
	}
	rd_report_add(report, section);
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
					     { "kind", kind ? kind : "unknown" } };

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
	enum rd_pma_kind kind = rd_pma_counters[counter].kind;
	bool data = kind == RD_PMA_DATA;
	struct rd_metric *family = NULL;
	char name[64];

	if (shown->nonzero && kind != RD_PMA_ERROR && kind != RD_PMA_DROP)
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
	size_t queried, fresh, partial;

	count_ports(shown->fabric, &queried, &fresh, &partial);
	for (size_t i = 0; i < shown->fabric->n_values; i++)
		add_counter(m, shown, i);
	add_ports(m, shown);
	add_findings(m, &report->findings);
	add_nodes(m, shown->fabric);
	rd_metric_uint(rd_metrics_family(m, "fabric_nodes", RD_METRIC_GAUGE, NULL, "Nodes discovered"),
		       count_nodes(shown->fabric), NULL, 0);
	rd_metric_uint(rd_metrics_family(m, "fabric_ports", RD_METRIC_GAUGE, NULL, "Ports whose counters are read"),
		       queried, NULL, 0);
	rd_metric_uint(rd_metrics_family(m, "fabric_sweep_timeouts", RD_METRIC_GAUGE, NULL,
					 "MADs without a response in the latest sweep, retries included"),
		       s->timeouts, NULL, 0);
	rd_metric_double(rd_metrics_family(m, "fabric_sweep_duration", RD_METRIC_GAUGE, "seconds",
					   "Duration of the latest sweep"),
			 (double)s->duration_ns / 1e9, NULL, 0);
}

/* ---- files of shares */

enum { CO_SHARES, CO_MISSING, CO_PORTS, CO_FRESH, CO_UNREAD, CO_UNCOVERED, CO_DUPLICATES, CO_COLUMNS };
enum { MERGE_COVERAGE, MERGE_OLDEST, MERGE_NEWEST, MERGE_SKEW, MERGE_TOPOLOGY, MERGE_COLUMNS };
enum {
	FILE_HOST,
	FILE_INDEX,
	FILE_OF,
	FILE_TIME,
	FILE_BEHIND,
	FILE_PORTS,
	FILE_FOUND,
	FILE_TOPOLOGY,
	FILE_FILE,
	FILE_COLUMNS
};

/* clang-format off */
static const struct rd_column coverage_columns[CO_COLUMNS] = {
	[CO_SHARES] = { .key = "shares", .type = RD_T_UINT, .help = "shares into which the ports are divided" },
	[CO_MISSING] = { .key = "shares_missing", .type = RD_T_UINT, .help = "of these, shares that no file has" },
	[CO_PORTS] = { .key = "ports", .type = RD_T_UINT, .help = "ports in the files, each once" },
	[CO_FRESH] = { .key = "fresh", .type = RD_T_UINT, .help = "of these, read by the latest sweep of their host" },
	[CO_UNREAD] = { .key = "unread", .type = RD_T_UINT, .help = "of these, not read by it" },
	[CO_UNCOVERED] = { .key = "ports_missing", .type = RD_T_UINT, .help = "ports of the missing shares" },
	[CO_DUPLICATES] = { .key = "duplicates", .type = RD_T_UINT, .help = "readings that were dropped, because another file has a newer one of the port" },
};

static const struct rd_column merge_columns[MERGE_COLUMNS] = {
	[MERGE_COVERAGE] = { .key = "coverage", .type = RD_T_OBJECT, .help = "what the files cover" },
	[MERGE_OLDEST] = { .key = "oldest", .type = RD_T_TIME, .help = "time of the oldest share" },
	[MERGE_NEWEST] = { .key = "newest", .type = RD_T_TIME, .help = "time of the newest share" },
	[MERGE_SKEW] = { .key = "skew_seconds", .type = RD_T_DOUBLE, .help = "between these", .decimals = 3 },
	[MERGE_TOPOLOGY] = { .key = "topology", .type = RD_T_STR, .help = "hash of the topology of most shares" },
};

static const struct rd_column file_columns[FILE_COLUMNS] = {
	[FILE_HOST] = { .key = "host", .title = "HOST", .type = RD_T_STR, .help = "host that read the share" },
	[FILE_INDEX] = { .key = "index", .title = "SHARE", .type = RD_T_UINT, .help = "number of the share, from 1" },
	[FILE_OF] = { .key = "of", .title = "OF", .type = RD_T_UINT, .help = "number of shares" },
	[FILE_TIME] = { .key = "time", .title = "TIME", .type = RD_T_TIME, .help = "time of the sweep, by the clock of the host" },
	[FILE_BEHIND] = { .key = "behind_seconds", .title = "BEHIND", .type = RD_T_DOUBLE, .help = "before the newest share", .decimals = 3 },
	[FILE_PORTS] = { .key = "ports", .title = "PORTS", .type = RD_T_UINT, .help = "ports of the share" },
	[FILE_FOUND] = { .key = "found", .title = "FOUND", .type = RD_T_UINT, .help = "ports in the file" },
	[FILE_TOPOLOGY] = { .key = "topology", .title = "TOPOLOGY", .type = RD_T_STR, .help = "hash of what was divided" },
	[FILE_FILE] = { .key = "file", .title = "FILE", .type = RD_T_STR, .help = "name of the file" },
};
/* clang-format on */

static struct rd_section *make_coverage(const struct rd_merge *merge)
{
	struct rd_section *section = rd_section_create("coverage", coverage_columns, CO_COLUMNS);
	struct rd_row *row = rd_section_add(section);

	if (merge->shares > 0) {
		RD_ROW_UINTS(row, CO_SHARES, merge->shares, merge->missing);
	}
	RD_ROW_UINTS(row, CO_PORTS, merge->ports, merge->fresh, merge->ports - merge->fresh);
	if (merge->uncovered.known)
		rd_row_uint(row, CO_UNCOVERED, merge->uncovered.v);
	rd_row_uint(row, CO_DUPLICATES, merge->duplicates);
	return section;
}

static struct rd_section *make_shares(const struct rd_share_files *files, const struct rd_merge *merge)
{
	struct rd_section *section = rd_section_create("shares", file_columns, FILE_COLUMNS);

	for (size_t i = 0; i < files->n; i++) {
		const struct rd_share *share = &files->v[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, FILE_HOST, share->host);
		if (share->index > 0) {
			RD_ROW_UINTS(row, FILE_INDEX, share->index, share->of);
		}
		rd_row_uint(row, FILE_TIME, share->time_ns);
		rd_row_double(row, FILE_BEHIND, (double)(merge->newest_ns - share->time_ns) / 1e9);
		RD_ROW_UINTS(row, FILE_PORTS, share->ports, share->found);
		if (share->topology.known)
			rd_row_hex64(row, FILE_TOPOLOGY, share->topology.v);
		rd_row_str(row, FILE_FILE, share->file);
	}
	return section;
}

void rd_report_fabric_merge(struct rd_report *report, const struct rd_share_files *files, const struct rd_merge *merge)
{
	struct rd_section *top = rd_section_create("merge", merge_columns, MERGE_COLUMNS);
	struct rd_row *row = rd_section_add(top);

	rd_row_sub(row, MERGE_COVERAGE, make_coverage(merge));
	RD_ROW_UINTS(row, MERGE_OLDEST, merge->oldest_ns, merge->newest_ns);
	rd_row_double(row, MERGE_SKEW, (double)(merge->newest_ns - merge->oldest_ns) / 1e9);
	if (merge->shares > 0)
		rd_row_hex64(row, MERGE_TOPOLOGY, merge->topology);
	report->scalars = top;
	rd_report_add(report, make_shares(files, merge));
}
