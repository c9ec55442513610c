/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinguishes nodes that a walk did not reach from nodes that it shows to be missing. */
#ifndef RD_ANALYSE_FABRIC_REACH_H
#define RD_ANALYSE_FABRIC_REACH_H

#include "model/fabric/fabric.h"

enum rd_reach {
	RD_REACH_FOUND,
	RD_REACH_UNKNOWN, /* not found, but the walk did not see the place where it was connected */
	RD_REACH_MISSING, /* not found, and what it was connected to was read: link down, or a different node */
};

/* Whether the latest walk got no response from something that it knows to exist: a port, or the node behind a link that is up. */
bool rd_fabric_is_incomplete(const struct rd_fabric *fabric);

/* Whether the walk could not see what is connected to the port: its PortInfo, or the node behind it, did not respond. */
bool rd_fabric_is_unsure(const struct rd_fabric_port *port);

/* Whether no discovery found a link at the port, and the latest one saw that it is down. */
bool rd_fabric_has_no_link(const struct rd_fabric_port *port);

/*
 * For each node of `known`, an earlier or a saved topology: was it found in `now`? A node that was connected to one that is not
 * reached may be behind it, so it is UNKNOWN as well; one whose cables all led to nodes that are MISSING is MISSING. Returns an array
 * of known->n_nodes, to be freed. Linear in the number of ports.
 */
enum rd_reach *rd_fabric_reach(const struct rd_fabric *known, const struct rd_fabric *now);

#endif
