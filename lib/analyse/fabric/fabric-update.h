/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of a network since it was last walked over. */
#ifndef RD_FABRIC_UPDATE_H
#define RD_FABRIC_UPDATE_H

#include "model/fabric/fabric.h"

/*
 * `now` is what a new walk found, without counters; `before` what was known. Moves the counters of the ports that are in
 * both into `now`, says of each port what became of it, and takes those that are gone along, once: a port that was GONE
 * before and is not back is forgotten. Nodes and ports are the same if GUID and number are. `before` is then only to be
 * deinitialised.
 */
void rd_fabric_update(struct rd_fabric *before, struct rd_fabric *now);

#endif
