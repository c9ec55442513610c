/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries counters over to a new discovery of a network, and classifies what changed. */
#ifndef RD_FABRIC_UPDATE_H
#define RD_FABRIC_UPDATE_H

#include "analyse/fabric/fabric-reach.h"

/*
 * `now` is the result of a new discovery, without counters; `before` is the previous state, and `reach` the result of rd_fabric_reach
 * for it, where nodes that respond at their LID are UNKNOWN instead of MISSING. Moves the counters of ports that are in both into
 * `now`, sets the presence of each port, and adds ports that were not found: those of nodes that are UNKNOWN remain, with their cables,
 * as UNREACHED; those that disappeared are added as GONE, a day after their last values or with a different node at their cable no more. Nodes are
 * matched by GUID, ports by node and number. Afterwards `before` may only be deinitialised.
 */
void rd_fabric_update(struct rd_fabric *before, const enum rd_reach *reach, struct rd_fabric *now);

#endif
