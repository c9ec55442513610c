/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --path and --routes */
#ifndef RD_REPORT_ROUTES_H
#define RD_REPORT_ROUTES_H

#include "model/fabric/fabric.h"
#include "report/shared/report.h"

/* A node on a path; ports are indices, RD_NONE: none. */
struct rd_shown_hop {
	size_t node, in, out;
};

struct rd_shown_path {
	const char *direction; /* "forward", "back"; static */
	const struct rd_shown_hop *hops;
	size_t n;
	size_t from, to; /* indices of ports */
	uint16_t lid;
	const char *end; /* "arrives", "missing" …; static */
};

/* Section path: a row per node and direction; as scalars both ends of the path and how it ends. `same_way`: whether the way back passes
 * the same ports; NULL: unknown. */
void rd_report_path(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_shown_path paths[2],
		    const bool *same_way);

/* A group of links of a switch: see struct rd_route_group. */
struct rd_shown_group {
	size_t node, neighbour; /* indices of nodes; neighbour RD_NONE: uplinks */
	unsigned links;
	uint64_t lids, least, most;
	size_t busiest; /* index of a port */
	bool uneven;
};

struct rd_shown_routes {
	uint64_t sources, destinations, pairs, routed, failing, unknown;
	const struct rd_shown_group *groups;
	size_t n;
};

/* Section routes: a row per group; as scalars the pairs, and what was read. */
void rd_report_routes(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_routes *routes,
		      const struct rd_shown_routes *shown);

#endif
