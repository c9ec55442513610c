/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds faults of a fabric: errors above their thresholds, saturated counters, links below what both ends support, agents that
 * do not respond, nodes that appeared or disappeared. */

#ifndef RD_ANALYSE_FABRIC_JUDGE_H
#define RD_ANALYSE_FABRIC_JUDGE_H

#include "analyse/fabric/fabric-update.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/* Thresholds of a counter; negative: none. */
struct rd_fabric_limit {
	double total, warning, critical; /* warning and critical: increase per hour */
};

struct rd_fabric_limits {
	struct rd_fabric_limit *v; /* one per counter (rd_pma_n_counters), then XmitWaitPercent */
};

/* Sets no thresholds. */
void rd_fabric_limits_init(struct rd_fabric_limits *limits);
void rd_fabric_limits_deinit(struct rd_fabric_limits *limits);

/* Adds a table in the format of data/fabric-thresholds; it overrides what is set. -EBADMSG with the number of an invalid line,
 * -EFBIG above a megabyte. */
int rd_fabric_limits_parse(const char *name, const char *text, size_t size, struct rd_fabric_limits *limits,
			   struct rd_err *err);

/* Adds findings: one per cause. `history`: increases of earlier sweeps; NULL: only those of the latest are known. */
void rd_fabric_judge(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
		     const struct rd_fabric_history *history, struct rd_findings *findings);

/* Adds a finding if the latest walk is incomplete: what it did not reach, and how much. */
void rd_fabric_judge_walk(const struct rd_fabric *fabric, struct rd_findings *findings);

/* After a comparison with a saved topology that covers the whole network: links that switches lack there as well, and adapters that
 * are at the same switch there, are notes. */
void rd_fabric_accept_uplinks(struct rd_findings *findings);

/*
 * Congestion trees. A port waits for credits because its neighbour does not empty its receive buffer: the neighbour is a slow
 * receiver, or a switch whose own egress ports wait or are saturated. So a wait is followed from port to port until the neighbour
 * does not wait: the root.
 */

/*
 * Adds one finding, fabric-congested, for each tree of ports whose wait share exceeds XmitWaitPercent: its subject is the root, its
 * severity that of the port that waits longest. Where several egress ports of a switch wait, a port before it is attributed to the
 * one that waits longest: counters do not show which packets wait for which port.
 */
void rd_fabric_judge_trees(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
			   struct rd_findings *findings);

/* Compares a fabric with its saved topology: nodes and cables that are missing, extra, moved, replaced or slower. */

/*
 * Nodes are matched by GUID, cables by the ports at both ends. A node that is not in the saved topology, and is at the cable of a missing
 * node of the same kind, is its replacement: its cables are compared with those of the missing node. Cables of a missing or
 * extra node are not reported; a moved cable is reported once, at the end that stayed. What the latest walk did not
 * reach (fabric-reach.h) is counted in a finding that it is unknown.
 */
void rd_fabric_compare(const struct rd_fabric *plan, const struct rd_fabric *now, struct rd_findings *findings);

/* The order of findings about a network, by harm, and of its ports; which of them are shown. */

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
