/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Increases of counters between two samples. */
#ifndef RD_ANALYSE_DELTA_H
#define RD_ANALYSE_DELTA_H

#include "model/counters/counter.h"
#include "model/shared/finding.h"

/* Upper bound of events per second on current ports: 400 million packets, about 1.6 Tbit/s of full-size ones. */
#define RD_EVENTS_PER_SECOND 4e8

/*
 * The increase of one counter. `bits` applies to RD_SATURATES and RD_WRAPS; `most` is the largest possible number of events
 * (UINT64_MAX: unknown).
 *
 * Saturating: a counter at its maximum has counted at least the difference to it. A counter that is smaller than before was
 * reset, and has counted at least its current value. Wrapping: only registering the device again resets such a counter, and
 * the samples show that, so a smaller value means that it wrapped; unless `most` rules it out, it may have wrapped more than
 * once, and the delta is a lower bound. Only a counter that is known to stay at its maximum can be saturated: others (an index,
 * a gauge) can have such a value, too.
 */
struct rd_delta rd_delta_of(enum rd_overflow overflow, unsigned bits, uint64_t before, uint64_t now, uint64_t most);

/* A set of counters with a sample of it. */
struct rd_counted {
	const struct rd_counter_set *set;
	const struct rd_counter_sample *sample;
};

/*
 * Deltas of all counters of `now`, matched with `before` by device, port, interface, group and name; `ret` has space for
 * now->set->n. After a reboot, with a different device under the name (GUID), or if the device was registered again, they are
 * unknown, with a note. If both moments use the same set, nothing is searched.
 */
void rd_deltas(const struct rd_counted *before, const struct rd_counted *now, struct rd_delta *ret);

/* Seconds between the two: by the monotonic clock if both are from the same boot, else by the wall clock; 0: unknown. */
double rd_moments_seconds(const struct rd_counted *before, const struct rd_counted *now);

/* Traffic of a port, from the counters that its driver has. */

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
 * or the port is no longer active, and the port that took the traffic over, at once or after all were silent for as long as queue
 * pairs retry. Each loss is reported once, and once more when another port takes over. Call it after rd_rates_update.
 */
void rd_rates_findings(struct rd_rates *rates, const struct rd_counter_set *set, const struct rd_counter_sample *now,
		       struct rd_findings *findings);

#endif
