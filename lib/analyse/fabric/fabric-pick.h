/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects and sorts the ports to show, of thousands. */
#ifndef RD_ANALYSE_FABRIC_PICK_H
#define RD_ANALYSE_FABRIC_PICK_H

#include "model/fabric/fabric.h"

/* Sort keys of ports, greatest first. */
enum rd_fabric_order {
	RD_FABRIC_BY_NODE, /* in the order of struct rd_fabric */
	RD_FABRIC_BY_TRAFFIC,
	RD_FABRIC_BY_ERRORS, /* increase since the previous sweep, then totals */
	RD_FABRIC_BY_WAIT,   /* share of time, else ticks */
};

/* Marks ports with errors, that are not fresh, that appeared or disappeared. */
void rd_fabric_pick_faulty(const struct rd_fabric *fabric, bool *picked);

/* Marks ports that changed since the previous sweep (errors increased, not fresh, appeared or disappeared), and of the `busiest`
 * ports that sent most those that sent at all. */
void rd_fabric_pick_changed(const struct rd_fabric *fabric, size_t busiest, bool *picked);

/* Indices of all ports, sorted. Caller frees. */
size_t *rd_fabric_sort_by(const struct rd_fabric *fabric, enum rd_fabric_order order);

#endif
