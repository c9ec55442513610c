/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a port carries, of whichever counters its driver has for it. */
#ifndef RD_ANALYSE_RATES_H
#define RD_ANALYSE_RATES_H

#include "model/counters/counter.h"
#include "model/counters/rates.h"
#include "model/shared/finding.h"

/* Finds out by their topics which counters to take. The set must outlive it. */
void rd_rates_init(struct rd_rates *rates, const struct rd_counter_set *set);
void rd_rates_deinit(struct rd_rates *rates);

/* Devices have come or gone: takes over what was usual of the ports that both sets have. */
void rd_rates_carry(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_rates *old,
		    const struct rd_counter_set *old_set);

/*
 * Rates of an interval of `seconds` by the deltas of all counters (rd_deltas). A counter that may have made more than its
 * delta gives no rate: what cannot be told is not shown as less than it was.
 */
void rd_rates_update(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_delta *deltas,
		     double seconds);

/*
 * Ports that carried traffic until this interval and carry (nearly) none now, while the host as a whole goes on, or whose
 * port is no longer active; and who took their traffic over. Each loss is said once. Call it behind rd_rates_update.
 */
void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings);

#endif
