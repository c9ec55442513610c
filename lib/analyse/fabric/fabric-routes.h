/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes by the forwarding tables of switches: of one pair of ports, of all, and how evenly they lie over links. */

#ifndef RD_ANALYSE_FABRIC_ROUTES_H
#define RD_ANALYSE_FABRIC_ROUTES_H

#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

enum rd_route_end {
	RD_ROUTE_ARRIVES,
	RD_ROUTE_UNKNOWN,  /* the table or the egress port of the switch, or what is behind it, was not read */
	RD_ROUTE_MISSING,  /* no entry for the LID, or one that is not a port of the switch */
	RD_ROUTE_DEAD_END, /* the egress port is down */
	RD_ROUTE_ASTRAY,   /* ends at another adapter or router, or at another port of the right one */
	RD_ROUTE_LOOPS,	   /* returns to a switch that it passed */
	RD_ROUTE_ENDS,
	RD_ROUTE_CONTINUES = RD_ROUTE_ENDS,
};

/* What happens to a packet at a node. */
struct rd_route_step {
	enum rd_route_end end; /* CONTINUES: `next` is the port at the other end of the cable */
	int entry;	       /* of the table; RD_ROUTE_UNREAD: unknown, or not a switch */
	size_t out, next;      /* indices of ports; RD_NONE */
};

/* `at`: index of a node, `in`: the port that the packet came in, RD_NONE: it starts there. `to`: a port that has the LID. */
struct rd_route_step rd_route_step(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t at, size_t in,
				   size_t to, uint16_t lid);

struct rd_path_hop {
	size_t node;
	size_t in, out; /* indices of ports; RD_NONE: none */
};

struct rd_path {
	struct rd_path_hop *hops; /* owned; the first is the source, the last where it ends */
	size_t n, cap;
	size_t to; /* index of the destination port */
	uint16_t lid;
	enum rd_route_end end;
	int entry; /* of the table of the last node */
};

/* From a port to a LID that the port `to` has. */
void rd_path_find(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t from, size_t to, uint16_t lid,
		  struct rd_path *path);
void rd_path_deinit(struct rd_path *path);

/* Whether the way back passes the same ports in reverse. Both arrive. */
bool rd_path_is_reverse(const struct rd_path *path, const struct rd_path *back);

/* What is wrong, as a clause: "no route at leaf 3 for LID 17". NULL if it arrives. The caller frees it. */
char *rd_path_fault(const struct rd_fabric *fabric, const struct rd_path *path);

/* Adds a finding unless the path arrives: critical, or unknown. */
void rd_path_judge(const struct rd_fabric *fabric, const struct rd_path *path, struct rd_findings *findings);

/* A finding without texts for a kind of end; `id` NULL: ARRIVES. */
struct rd_finding rd_route_finding(enum rd_route_end end);

/* A copy of the ports of the paths, their peers and nodes: to judge them alone. Values are shared with `fabric`; free the result with
 * rd_path_free_part. */
void rd_path_part(const struct rd_fabric *fabric, const struct rd_path *const *paths, size_t n, struct rd_fabric *ret);
void rd_path_free_part(struct rd_fabric *part);

/* Whether every pair of adapters has a route, and how evenly routes lie over links. */

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

/*
 * The ports that an operator may mean: by LID (decimal), by node or port GUID (0x…), else by name, from the node-name-map or the
 * node description: equal, else with the text as its first words, else with the text as prefix; with "/N" at the end only port N.
 * Of an adapter, ports with a cable, or all if none has one; of a switch, its first port. Returns their number; the caller frees
 * *ret, which holds at most `max`.
 */
size_t rd_fabric_find_ports(const struct rd_fabric *fabric, const char *text, size_t max, size_t **ret);

#endif
