/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network: what became of it from one discovery to the next, its faults, and its routes. */
#ifndef RD_ANALYSE_FABRIC_H
#define RD_ANALYSE_FABRIC_H

#include "base/buf.h"
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

#define RD_HISTORY_HOUR_NS (UINT64_C(3600) * 1000000000)
#define RD_HISTORY_TIMES \
	12 /* increases of a counter kept with their own times; more are merged with their neighbours */
#define RD_HISTORY_MAX 100000 /* counters that increased in the last hour; more are not kept: 20 MB */

struct rd_history_time {
	uint64_t ns, count;
};

/* A counter of a port that increased; or a node that restarted. */
struct rd_history_entry {
	uint64_t guid;
	uint32_t port;
	uint16_t counter;
	uint16_t n;
	struct rd_history_time v[RD_HISTORY_TIMES]; /* oldest first */
};

struct rd_fabric_history {
	struct rd_history_entry *v; /* sorted by node, port, counter */
	size_t n, cap;
	uint64_t swept_ns; /* of the latest sweep in it */
};

void rd_fabric_history_deinit(struct rd_fabric_history *history);

/* Adds the increases that the latest sweep found, and forgets what is older than an hour. A sweep counts once. */
void rd_fabric_history_add(struct rd_fabric_history *history, const struct rd_fabric *fabric);

/* Increase of a counter within the last hour; of the latest sweep only if `history` is NULL. 0: none, or unknown. */
uint64_t rd_fabric_history_sum(const struct rd_fabric_history *history, const struct rd_fabric *fabric,
			       const struct rd_fabric_port *port, size_t counter);

/*
 * The part of that sum that was counted around a loss of the link: within RD_HISTORY_LOSS_NS of an increase of the LinkDownedCounter of
 * the port or of `peer`, the port at its other end (NULL: none), if a node at either end restarted in the RD_HISTORY_BOOT_NS after
 * it, and of that restart, which may be discovered one sweep later; drops also in between. Or so near to the discovery of a node at
 * either end that was not there before, or of the first link of either port. `still`: the link is not up again; from the loss on. 0 if it is more than
 * RD_HISTORY_LOSS_ERRORS errors, which a link that is lost, or trained, does not receive; and if `history` is NULL.
 */
#define RD_HISTORY_LOSS_NS (UINT64_C(30) * 1000000000)
#define RD_HISTORY_BOOT_NS (UINT64_C(900) * 1000000000)
#define RD_HISTORY_LOSS_ERRORS 1000
uint64_t rd_fabric_history_lost(const struct rd_fabric_history *history, const struct rd_fabric *fabric,
				const struct rd_fabric_port *port, const struct rd_fabric_port *peer, size_t counter,
				bool still);

/* Whether the node was found again, or its counters restarted from zero, within the last hour. */
bool rd_fabric_history_restarted(const struct rd_fabric_history *history, uint64_t guid);

/* Remembers the findings of repeated sweeps. */

void rd_fabric_latches_deinit(struct rd_fabric_latches *latches);

/*
 * Adds the findings of a sweep that are warnings or critical, and not muted. `now_ns`: CLOCK_REALTIME. If there are more
 * than RD_LATCHES_MAX, those that are least severe are dropped and counted; of equal severity those that are over, the oldest
 * first.
 */
void rd_fabric_latch(struct rd_fabric_latches *latches, const struct rd_findings *findings, uint64_t now_ns);

/* Marks those that are over as cleared. */
void rd_fabric_latches_clear(struct rd_fabric_latches *latches);

/* All latches, worst first: by severity, then current ones, then by harm. Caller frees the array only. */
const struct rd_fabric_latch **rd_fabric_latches_ranked(const struct rd_fabric_latches *latches);

/* Number of latches of this severity, those that are current or those that are over; cleared ones do not count. */
size_t rd_fabric_latches_count(const struct rd_fabric_latches *latches, enum rd_severity severity, bool current);

/* Finds faults of a fabric: errors above their thresholds, saturated counters, links below what both ends support, agents that
 * do not respond, nodes that appeared or disappeared. */

/* Thresholds of a counter; negative: none. */
struct rd_fabric_limit {
	double total, warning, critical; /* warning and critical: increase per hour */
};

struct rd_fabric_limits {
	struct rd_fabric_limit v[RD_PMA_COUNTERS + 1]; /* one per counter, then XmitWaitPercent */
};

/* Sets no thresholds. */
void rd_fabric_limits_init(struct rd_fabric_limits *limits);

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
 * reach (rd_fabric_reach) is counted in a finding that it is unknown.
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

/* Routes by the forwarding tables of switches: of one pair of ports, of all, and how evenly they lie over links. */

/* From a port to a LID that the port `to` has. */
void rd_path_find(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t from, size_t to, uint16_t lid,
		  struct rd_path *path);
void rd_path_deinit(struct rd_path *path);

/* Whether the way back passes the same ports in reverse. Both arrive. */
bool rd_path_is_reverse(const struct rd_path *path, const struct rd_path *back);

/* What is wrong, as a clause: "no route at leaf 3 for LID 17". NULL if it arrives. The caller frees it. */
char *rd_path_fault(const struct rd_fabric *fabric, const struct rd_path *path);

/* Adds a finding unless the path arrives: critical, or unknown. */
void rd_path_judge(const struct rd_fabric *fabric, const struct rd_path *path, struct rd_findings *findings);

/* A copy of the ports of the paths, their peers and nodes: to judge them alone. Values are shared with `fabric`; free the result with
 * rd_path_free_part. */
void rd_path_part(const struct rd_fabric *fabric, const struct rd_path *const *paths, size_t n, struct rd_fabric *ret);
void rd_path_free_part(struct rd_fabric *part);

/*
 * Follows the tables from each switch with a source to each destination LID; switches that an earlier source passed on the way to
 * the same LID are not followed again, so the time is proportional to switches times LIDs. Adds one finding per switch and kind of
 * fault, at the first switch where the route fails, and one for all uneven groups: a group is uneven if its busiest link carries
 * twice the mean and there are at least four LIDs more than links.
 */
void rd_routes_judge(const struct rd_fabric *fabric, const struct rd_routes *routes, struct rd_routes_verdict *verdict,
		     struct rd_findings *findings);
void rd_routes_verdict_deinit(struct rd_routes_verdict *verdict);

/*
 * The ports that an operator may mean: by LID (decimal), by node or port GUID (0x…), else by name, from the node-name-map or the
 * node description: equal, else with the text as its first words, else with the text as prefix; with "/N" at the end only port N.
 * Of an adapter, ports with a cable, or all if none has one; of a switch, its first port. Returns their number; the caller frees
 * *ret, which holds at most `max`.
 */
size_t rd_fabric_find_ports(const struct rd_fabric *fabric, const char *text, size_t max, size_t **ret);

#endif
