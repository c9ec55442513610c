/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traffic of a port, from the counters that its driver has. */
#ifndef RD_ANALYSE_RATES_H
#define RD_ANALYSE_RATES_H

#include "model/counters/counter.h"
#include "model/counters/rates.h"
#include "model/shared/finding.h"

/* Selects the counters by their topics. The set must outlive `rates`. */
void rd_rates_init(struct rd_rates *rates, const struct rd_counter_set *set);
void rd_rates_deinit(struct rd_rates *rates);

/* After devices were added or removed: copies the usual rates of the ports that are in both sets. */
void rd_rates_carry(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_rates *old,
		    const struct rd_counter_set *old_set);

/*
 * Rates of an interval of `seconds` from the deltas of all counters (rd_deltas). A counter whose delta is only a lower bound
 * gives no rate: an unknown rate must not look like a low one.
 */
void rd_rates_update(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_delta *deltas,
		     double seconds);

/*
 * Reports ports that carried traffic until this interval and carry (nearly) none now, if the host as a whole still has traffic
 * or the port is no longer active, and the port that took the traffic over. Each loss is reported once. Call it after
 * rd_rates_update.
 */
void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings);

#endif
