/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether every pair of adapters has a route, and how evenly routes lie over links. */
#ifndef RD_ANALYSE_FABRIC_ROUTES_H
#define RD_ANALYSE_FABRIC_ROUTES_H

#include "analyse/fabric/fabric-path.h"

/* Links of a switch that share destinations: parallel links to one neighbour, or all uplinks of a leaf. */
struct rd_route_group {
	size_t node;
	size_t neighbour; /* index of a node; RD_NONE: uplinks */
	unsigned links;
	uint64_t lids; /* LIDs of adapters and routers that are routed over them */
	uint64_t least, most;
	size_t busiest; /* index of the port with `most` */
	bool uneven;
};

struct rd_routes_verdict {
	/* Of ports of adapters and routers that are behind a switch: from a port to each LID of the others. */
	uint64_t sources, destinations; /* ports; LIDs */
	uint64_t pairs, by_end[RD_ROUTE_ENDS];
	struct rd_route_group *groups; /* owned */
	size_t n, cap;
};

/*
 * Follows the tables from each switch with a source to each destination LID; switches that an earlier source passed on the way to
 * the same LID are not followed again, so the time is proportional to switches times LIDs. Adds one finding per switch and kind of
 * fault, at the first switch where the route fails, and one for all uneven groups: a group is uneven if its busiest link carries
 * twice the mean and there are at least four LIDs more than links.
 */
void rd_routes_judge(const struct rd_fabric *fabric, const struct rd_routes *routes, struct rd_routes_verdict *verdict,
		     struct rd_findings *findings);
/* The part of it that groups links and adds the finding on uneven ones. */
void rd_routes_balance(const struct rd_fabric *fabric, const struct rd_routes *routes,
		       struct rd_routes_verdict *verdict, struct rd_findings *findings);
void rd_routes_verdict_deinit(struct rd_routes_verdict *verdict);

#endif
