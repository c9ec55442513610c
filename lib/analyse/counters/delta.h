/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Increases of counters between two samples. */
#ifndef RD_ANALYSE_DELTA_H
#define RD_ANALYSE_DELTA_H

#include "model/counters/counter.h"

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
struct rd_moment {
	const struct rd_counter_set *set;
	const struct rd_counter_sample *sample;
};

/*
 * Deltas of all counters of `now`, matched with `before` by device, port, interface, group and name; `ret` has space for
 * now->set->n. After a reboot, with a different device under the name (GUID), or if the device was registered again, they are
 * unknown, with a note. If both moments use the same set, nothing is searched.
 */
void rd_deltas(const struct rd_moment *before, const struct rd_moment *now, struct rd_delta *ret);

/* Seconds between the two: by the monotonic clock if both are from the same boot, else by the wall clock; 0: unknown. */
double rd_moments_seconds(const struct rd_moment *before, const struct rd_moment *now);

#endif
