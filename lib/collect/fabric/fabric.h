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

#endif
