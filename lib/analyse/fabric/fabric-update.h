/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of nodes, ports and their counters from one discovery of a network to the next. */

#ifndef RD_ANALYSE_FABRIC_UPDATE_H
#define RD_ANALYSE_FABRIC_UPDATE_H

#include "model/fabric/fabric.h"

enum rd_reach {
	RD_REACH_FOUND,
	RD_REACH_UNKNOWN, /* not found, but the walk did not see the place where it was connected */
	RD_REACH_MISSING, /* not found, and what it was connected to was read: link down, or a different node */
};

/*
 * For each node of `known`, an earlier or a saved topology: was it found in `now`? A node that was connected to one that is not
 * reached may be behind it, so it is UNKNOWN as well; one whose cables all led to nodes that are MISSING is MISSING. Returns an array
 * of known->n_nodes, to be freed. Linear in the number of ports.
 */
enum rd_reach *rd_fabric_reach(const struct rd_fabric *known, const struct rd_fabric *now);

/* Carries counters over to a new discovery of a network, and classifies what changed. */

/*
 * `now` is the result of a new discovery, without counters; `before` is the previous state, and `reach` the result of rd_fabric_reach
 * for it, where nodes that respond at their LID are UNKNOWN instead of MISSING. Moves the counters of ports that are in both into
 * `now`, sets the presence of each port, and adds ports that were not found: those of nodes that are UNKNOWN remain, with their cables,
 * as UNREACHED; those that disappeared are added as GONE, a day after their last values or with a different node at their cable no more. Nodes are
 * matched by GUID, ports by node and number. Afterwards `before` may only be deinitialised.
 */
void rd_fabric_update(struct rd_fabric *before, const enum rd_reach *reach, struct rd_fabric *now);

#endif
