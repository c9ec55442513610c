/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remembers the findings of repeated sweeps. */
#ifndef RD_ANALYSE_FABRIC_LATCH_H
#define RD_ANALYSE_FABRIC_LATCH_H

#include "model/fabric/fabric-latch.h"

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
