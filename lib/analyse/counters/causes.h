/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_CAUSES_H
#define RD_ANALYSE_CAUSES_H

#include "analyse/counters/delta.h"
#include "model/shared/cause.h"

/*
 * Derives causes from deltas over `seconds`. Link errors are judged per bit received, not by their number; counters that only
 * follow others (flushed work requests) are not a cause by themselves. Causes are ranked by severity, then confidence, then the
 * size of the increase. Findings hold each cause, ports of `before` (NULL: unknown) that are missing now, and what could not be
 * determined.
 */
void rd_causes_find(const struct rd_moment *before, const struct rd_moment *now, const struct rd_delta *deltas,
		    double seconds, struct rd_causes *ret);

/* Findings of one sample: error counters at their maximum, of the ports that are `wanted`. */
void rd_saturated_find(const struct rd_moment *now, const bool *wanted, struct rd_findings *findings);

#endif
