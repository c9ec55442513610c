/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: nodes and links by kind. */
#include <string.h>

#include "base/text.h"
#include "model/fabric/fabric.h"
#include "report/fabric/report-fabric.h"

enum { CEN_SWITCHES, CEN_ADAPTERS, CEN_ROUTERS, CEN_AGGREGATION, CEN_LINKS, CEN_UNKNOWN, CEN_RATES, CEN_COLUMNS };
enum { RATE_NAME, RATE_LINKS, RATE_UPLINKS, RATE_RARE, RATE_EXAMPLE, RATE_COLUMNS };
static const struct rd_column census_columns[CEN_COLUMNS], rate_columns[RATE_COLUMNS];

/* "leaf3 port 17, to node5 port 1"; owned by the caller. */
static char *link_text(const struct rd_fabric *fabric, size_t index)
{
	const struct rd_fabric_port *port = &fabric->ports[index], *peer = &fabric->ports[port->peer];

	return rd_text("%s port %u, to %s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number,
		       rd_fabric_name(&fabric->nodes[peer->node]), peer->number);
}

static struct rd_section *make_rates(const struct rd_fabric *fabric, const struct rd_fabric_census *census)
{
	struct rd_section *section = rd_section_create("links_by_rate", rate_columns, RATE_COLUMNS);

	for (size_t i = 0; i < census->n_rates; i++) {
		const struct rd_fabric_rate *rate = &census->rates[i];
		_cleanup_free_ char *name = rd_text("%ux %s", rate->width, rd_link_speed_name(rate->speed));
		_cleanup_free_ char *example = link_text(fabric, rate->example);
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, RATE_NAME, name);
		rd_row_uint(row, RATE_LINKS, rate->links);
		rd_row_uint(row, RATE_UPLINKS, rate->uplinks);
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
	rd_row_uint(row, CEN_SWITCHES, census.switches);
	rd_row_uint(row, CEN_ADAPTERS, census.adapters);
	rd_row_uint(row, CEN_ROUTERS, census.routers);
	rd_row_uint(row, CEN_AGGREGATION, census.aggregation_nodes);
	rd_row_uint(row, CEN_LINKS, census.links);
	rd_row_uint(row, CEN_UNKNOWN, census.unknown);
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
			_cleanup_free_ char *example = link_text(fabric, rate->example);

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
