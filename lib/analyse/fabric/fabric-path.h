/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The route of packets from a port to a LID, by the linear forwarding tables. */
#ifndef RD_ANALYSE_FABRIC_PATH_H
#define RD_ANALYSE_FABRIC_PATH_H

#include "model/fabric/routes.h"
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

#endif
