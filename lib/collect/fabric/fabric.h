/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads an InfiniBand network with MADs. */

#ifndef RD_COLLECT_FABRIC_H
#define RD_COLLECT_FABRIC_H

#include "collect/fabric/sweep.h"
#include "model/fabric/fabric.h"
#include "source/shared/mad.h"

/* A port of this host, as reported by libibumad. */
struct rd_mad_port {
	char ibdev[64];
	unsigned port;
	uint64_t node_guid, port_guid;
	unsigned lid, lmc, sm_lid, state, physical_state, rate_gbps;
	char link_layer[32]; /* "InfiniBand", "Ethernet"; empty: not reported by the kernel */
};

/* Lists the ports; the caller frees *ret. -ENODEV if there are none. */
int rd_collect_mad_ports(struct rd_source *src, struct rd_mad_port **ret, size_t *n, struct rd_err *err);

/* Discovers the network from a port of this host and fills `fabric`. `attributes`: mask of rd_pma_attributes to read later. */
int rd_collect_fabric(struct rd_mads *mads, const struct rd_mad_port *from, const struct rd_sweep_limits *limits,
		      uint64_t attributes, struct rd_fabric *fabric, struct rd_err *err);

/* Queries NodeInfo of the nodes with `asked` at the LIDs of their ports; sets `responds` of those that respond with their own GUID. Both
 * are per node. A response does not depend on the route of a walk: the node is there. */
int rd_fabric_probe(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		    const bool *asked, bool *responds, struct rd_err *err);

/*
 * Queries the state of ports, of at most 128, whose link may be down since the discovery: their LinkDownedCounter increased, or
 * is at its maximum. Their neighbours are queried, too. Sets `lost` and `mute` of these ports, and fabric->changed if the state of
 * one is another one than at the discovery. -errno if the local port failed.
 */
int rd_fabric_check_links(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err);

/* Follows the route to each node (of at most 256) that did not respond in the latest sweep although the walk found it, and back; sets
 * `blocked` of all nodes. `known_lids`: the walk is later than the silence, so that a switch without a route to a LID lacks it. -errno if
 * the local port failed. */
int rd_fabric_trace_silent(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool known_lids,
			   struct rd_fabric *fabric, struct rd_err *err);

/* SMInfo of the subnet manager. */
struct rd_sm_info {
	bool known; /* it responded */
	uint64_t guid;
	uint32_t activity; /* ActCount: increases with whatever it does */
	unsigned state;	   /* 3: master */
	bool stalled;	   /* activity has not increased since the previous query; set by the caller */
};

/* Queries the subnet manager at a LID. -errno if the local port failed. */
int rd_fabric_query_sm(struct rd_mads *mads, const struct rd_sweep_limits *limits, uint16_t lid, struct rd_sm_info *ret,
		       struct rd_err *err);

/* Takes names from a node-name-map: lines of GUID and "name", as in infiniband-diags and opensm. Counts invalid lines in
 * `ret_bad`. */
void rd_fabric_name_nodes(struct rd_fabric *fabric, const char *text, size_t *ret_bad);

/*
 * Queries the counters of the selected ports. A port of which all responses arrived is fresh and has new values, and the previous
 * ones as `before`; other ports keep their values. The model is updated after all queries have ended. `verify`: also query
 * NodeInfo of each LID, to detect LIDs that were assigned to a different node.
 */
int rd_fabric_sweep(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool verify, struct rd_fabric *fabric,
		    struct rd_err *err);

/* Queries PortSamplesControl:Tick of every switch, without retries, for rd_fabric_wait_share. Unknown if a switch does not respond.
 * Adapters are not queried: their Tick is not documented. */
int rd_fabric_query_ticks(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err);

/* Parses "counters,extended" or "all" into a mask of rd_pma_attributes; NULL: RD_PMA_DEFAULT_SUBSETS. -EINVAL with the valid names in the hint. */
int rd_pma_subsets(const char *list, uint64_t *ret, struct rd_err *err);

/* Number of values that a port has if these attributes are read. */
size_t rd_pma_n_values(uint64_t attributes);

/* Decodes the counters of a response into `values`, `n` of them; an existing value of a wider field stays. Fields that are not
 * valid according to the node's ClassPortInfo stay unknown. */
void rd_pma_decode(size_t attribute, const uint8_t *mad, const struct rd_fabric_node *node, struct rd_pma_value *values,
		   size_t n);

/* Reads the linear forwarding tables of switches. */

/*
 * Queries SwitchInfo of all switches, then those blocks of their tables that have one of the LIDs (NULL: any LID of the fabric).
 * SMPs are routed by LID; what gets no response is queried again with directed routes, which do not depend on the tables. What neither reaches stays unread. -errno only if the local port failed.
 */
int rd_routes_read(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		   const uint16_t *lids, size_t n_lids, struct rd_routes *routes, struct rd_err *err);

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
