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

#endif
