/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An InfiniBand network from its datagrams. */
#ifndef RD_COLLECT_FABRIC_H
#define RD_COLLECT_FABRIC_H

#include "collect/fabric/sweep.h"
#include "model/fabric/fabric.h"
#include "source/shared/mad.h"

/* A port of this host, as the userspace MAD library knows it. */
struct rd_mad_port {
	char ibdev[64];
	unsigned port;
	uint64_t node_guid, port_guid;
	unsigned lid, lmc, sm_lid, state, physical_state, rate_gbps;
	char link_layer[32]; /* "InfiniBand", "Ethernet"; empty: the kernel does not say */
};

/* Lists them; caller frees *ret. -ENODEV where there are none. */
int rd_collect_mad_ports(struct rd_source *src, struct rd_mad_port **ret, size_t *n, struct rd_err *err);

/* Walks over the network from a port of this host and fills `fabric`. `asked`: what its ports are to be asked. */
int rd_collect_fabric(struct rd_mads *mads, const struct rd_mad_port *from, const struct rd_sweep_limits *limits,
		      uint64_t asked, struct rd_fabric *fabric, struct rd_err *err);

/* Takes names from a node-name-map: lines of GUID and "name", as infiniband-diags and opensm have them. Lines that are
 * neither that nor comments are counted in `ret_bad`. */
void rd_fabric_name_nodes(struct rd_fabric *fabric, const char *text, size_t *ret_bad);

/*
 * Asks the selected ports of the network for their counters and takes the answers into the model: a port whose every answer
 * came is fresh, has new values, and keeps the old ones as `before`; another keeps what it had. Not before all agents were
 * heard or given up. `verify`: also asks each LID which node it is, which finds LIDs that were given to others.
 */
int rd_fabric_sweep(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool verify, struct rd_fabric *fabric,
		    struct rd_err *err);

/* Asks every switch, once, in what ticks its ports count waiting: for shares of time. Who does not answer stays unknown. Of
 * adapters nobody says what it would mean. */
int rd_fabric_ask_ticks(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			struct rd_err *err);

#endif
