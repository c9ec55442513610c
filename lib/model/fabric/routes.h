/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linear forwarding tables: the egress port of each switch for each LID (InfiniBand Architecture Specification, volume 1,
 * LinearForwardingTable). A route depends on the switch and the destination LID only, not on the source. With adaptive routing a
 * switch may use other ports, too: whether it is on is in vendor-specific attributes, so it is unknown here.
 */
#ifndef RD_MODEL_FABRIC_ROUTES_H
#define RD_MODEL_FABRIC_ROUTES_H

#include "model/fabric/fabric.h"

#define RD_LID_MAX 0xbfff /* unicast */
#define RD_ROUTE_BLOCK 64 /* LIDs of a LinearForwardingTable attribute */
#define RD_ROUTE_BLOCKS ((RD_LID_MAX + 1) / RD_ROUTE_BLOCK)
#define RD_ROUTE_NONE 255 /* entry: packets are discarded */
#define RD_ROUTE_UNREAD (-1)

struct rd_route_table {
	RD_FIELD(uint16_t)
	top; /* SwitchInfo:LinearFDBTop, the last LID that has an entry; unknown: SwitchInfo was not read */
	/* Entries of block I are at blocks[I]; owned. NULL: not read. NULL: no block was read. */
	uint8_t **blocks;
	bool partial; /* SwitchInfo, or a block that was queried, was not read */
};

struct rd_routes {
	struct rd_route_table *tables; /* per node; those of switches are filled */
	size_t n_nodes;
	size_t n_switches, n_unread; /* switches; those of which the table is partial */
	size_t *first;		     /* per node: index of its first port; n_ports of the fabric if it has none */
	size_t *owners;		     /* per LID: index of a port that has it; RD_NONE */
	uint64_t mads_sent, timeouts;
	uint64_t duration_ns;
};

/* Prepares empty tables, and finds the owners of LIDs. The fabric must not change while the routes are in use. */
void rd_routes_init(const struct rd_fabric *fabric, struct rd_routes *routes);
void rd_routes_deinit(struct rd_routes *routes);

/* The block of entries to fill; allocated if needed. */
uint8_t *rd_routes_block(struct rd_routes *routes, size_t node, size_t block);

/* The entry of a switch for a LID: the egress port, 0 for the switch itself, RD_ROUTE_NONE also beyond the end of the table, or
 * RD_ROUTE_UNREAD. */
int rd_routes_egress(const struct rd_routes *routes, size_t node, uint16_t lid);

/* Index of a port by its number; RD_NONE. In constant time if the ports of the node are known without gaps. */
size_t rd_routes_port(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t node, unsigned number);

/* Whether the LID is one of the port: base LID to base LID + 2^LMC - 1. All ports of a switch have the LID of the switch. */
static inline bool rd_port_has_lid(const struct rd_fabric_port *port, uint16_t lid)
{
	return port->lid && lid >= port->lid && lid - port->lid < 1 << port->lmc;
}

#endif
