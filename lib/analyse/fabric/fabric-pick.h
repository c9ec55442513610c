/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of thousands of ports to show. */
#ifndef RD_ANALYSE_FABRIC_PICK_H
#define RD_ANALYSE_FABRIC_PICK_H

#include "model/fabric/fabric.h"

/* By what ports are put in order, greatest first. */
enum rd_fabric_order {
	RD_FABRIC_BY_NODE, /* as they stand */
	RD_FABRIC_BY_TRAFFIC,
	RD_FABRIC_BY_ERRORS, /* those that came since the sweep before, then those that stand */
	RD_FABRIC_BY_WAIT,   /* share of the time, else ticks */
};

/* Marks the ports that are worth a look: errors, not fresh, come or gone. */
void rd_fabric_pick_notable(const struct rd_fabric *fabric, bool *picked);

/* Marks those of which something changed since the sweep before (errors that rose, not fresh, come or gone) and the `busiest`
 * that send most. */
void rd_fabric_pick_moving(const struct rd_fabric *fabric, size_t busiest, bool *picked);

/* Indices of all ports, in order. Caller frees. */
size_t *rd_fabric_sort_by(const struct rd_fabric *fabric, enum rd_fabric_order order);

#endif
