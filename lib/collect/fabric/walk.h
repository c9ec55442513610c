/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discovers the nodes and cables of a network from a port of this host, with directed routes: it does not depend on LIDs. */
#ifndef RD_COLLECT_WALK_H
#define RD_COLLECT_WALK_H

#include "collect/fabric/sweep.h"

#define RD_SMP_DATA 64

/* Attributes are as on the wire; all zeros without a response. */
struct rd_walk_port {
	struct rd_walk_node *peer; /* at the other end of the cable; NULL: none was found */
	unsigned peer_port;
	uint64_t guid;	     /* NodeInfo:PortGUID; 0: the port was not reached from its neighbour */
	bool known;	     /* `info`, its PortInfo, was read */
	bool lost;	     /* its PortInfo was queried, without a response */
	bool peer_unreached; /* its link is up, but the node behind it did not respond, or not as a node does */
	uint8_t info[RD_SMP_DATA], extended[RD_SMP_DATA];
};

struct rd_walk_node {
	uint64_t guid;		   /* unambiguous */
	uint64_t reported_guid;	   /* in its NodeInfo, if a different device has the same; else 0 */
	struct rd_walk_node *twin; /* the next device that reports this GUID */
	unsigned kind, n_ports;	   /* enum rd_node_kind */
	uint8_t info[RD_SMP_DATA], switch_info[RD_SMP_DATA], description[RD_SMP_DATA];
	bool switch_info_lost, description_lost; /* queried, without a response */
	struct rd_mad_route route;
	size_t index;		    /* in rd_walk.nodes */
	uint32_t gate;		    /* of a datagram to it: see struct rd_sweep_query */
	size_t n_routes;	    /* routes to other nodes that continue from this one */
	struct rd_walk_node *via;   /* the node before it on the route; NULL: the local node */
	struct rd_walk_port *ports; /* n_ports + 1, by number */
};

struct rd_walk {
	struct rd_walk_node **nodes; /* in the order of discovery, the local node first */
	size_t n, cap;
	unsigned self_port;
	struct rd_walk_stats stats;
	uint64_t duration_ns;
};

/*
 * Where two devices report the same node GUID, the second one has a made-up one, beginning with 0xffff. They are distinguished by what
 * no device can have: two neighbours at one port, or two values in NodeInfo. Both places are queried again before, because a cable may
 * just have been moved.
 *
 * Queries each cable once: NodeInfo of the neighbour contains the number of the port that received the query. Nodes that do not
 * respond are omitted: `peer_unreached` is set where they are connected. If queries were lost that got a response when retried, what
 * is missing in the end is queried once more. limits->per_switch is the number of datagrams in flight to or through each switch
 * except the first, as far as the walk knows what it will meet; with it, routes are spread over the switches that they could take,
 * and losses halve limits->window.
 * -errno if the local port fails or does not respond. Call rd_walk_deinit in any case.
 */
int rd_walk_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_walk *walk, struct rd_err *err);
void rd_walk_deinit(struct rd_walk *walk);

#endif
