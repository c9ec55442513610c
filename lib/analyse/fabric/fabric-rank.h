/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of findings about a network, by harm, and of its ports; which of them are shown. */

#ifndef RD_ANALYSE_FABRIC_RANK_H
#define RD_ANALYSE_FABRIC_RANK_H

#include "base/buf.h"
#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/* Kinds of faults, the most harmful first. */
enum rd_fabric_harm {
	RD_HARM_UNRANKED, /* the rank follows from id and severity */
	RD_HARM_ALONE,
	RD_HARM_DUPLICATE,
	RD_HARM_SWITCH_GONE,
	RD_HARM_UPLINK_FLAPPING,
	RD_HARM_ADAPTER_GONE,
	RD_HARM_ROUTE,
	RD_HARM_LINK_DOWN,
	RD_HARM_LINK_SLOW,
	RD_HARM_FLAPPING,
	RD_HARM_ERRORS,
	RD_HARM_CONGESTED,
	RD_HARM_UNREAD,
	RD_HARM_SATURATED,
	RD_HARM_OTHER,
	RD_HARM_NOTE,
	RD_HARMS
};

/* Value for the `harm` of a finding. `degree`: orders findings of a kind, the largest first, e.g. errors per hour. */
double rd_fabric_harm(enum rd_fabric_harm kind, double degree);

/* Order: by harm, notes last, then consequences and muted findings. Stable. Sets `harm` where it is 0. */
void rd_fabric_rank(struct rd_findings *findings);

/*
 * Moves findings that a list of about `most` shows to the front, in the same order, and returns their number: the first `most`,
 * the first of each kind, and all differences from a saved topology.
 */
size_t rd_fabric_rank_shown(struct rd_findings *findings, size_t most);

/* "12 more: 9 error counters above their threshold, 3 port waits for credits": kinds of the findings from `from`. */
void rd_fabric_rank_rest(const struct rd_findings *findings, size_t from, struct rd_buf *out);

/* Selects and sorts the ports to show, of thousands. */

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
