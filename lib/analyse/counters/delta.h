/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What moved between two samples. */
#ifndef RD_ANALYSE_DELTA_H
#define RD_ANALYSE_DELTA_H

#include "model/counters/counter.h"

/* No port of today makes more events a second than this: 400 million packets, about 1.6 Tbit/s of full ones. */
#define RD_EVENTS_PER_SECOND 4e8

/*
 * One counter. `bits` counts for RD_SATURATES and RD_WRAPS; `most` is how many events there can have been at the most
 * (UINT64_MAX: not known).
 *
 * Saturating: a counter at its end has had at least what was missing to it. A counter that is less than before was reset
 * by somebody, and has had at least what it shows now. Wrapping: there is no way to reset one but to register the device
 * anew, which the samples tell apart, so one that is less than before went through 0; where `most` does not rule it out, it
 * may have gone round more often, and the delta is a lower bound. A counter of unknown width that stands at the end of a
 * usual width (4, 8, 16, 32 bits) is taken for one that may be saturated.
 */
struct rd_delta rd_delta_of(enum rd_overflow overflow, unsigned bits, uint64_t before, uint64_t now, uint64_t most);

/* A set with its sample: a moment. */
struct rd_moment {
	const struct rd_counter_set *set;
	const struct rd_counter_sample *sample;
};

/*
 * Deltas of all counters of `now`, found in `before` by device, port, interface, group and name; `ret` has room for
 * now->set->n. Reboot, another device under the name (GUID), and a device that was registered anew make them unknown, and
 * say so. Where the moments were taken from the same set, nothing is searched.
 */
void rd_deltas(const struct rd_moment *before, const struct rd_moment *now, struct rd_delta *ret);

/* Seconds between the two: by the monotonic clock where both are of one boot, else by the wall clock; 0: not known. */
double rd_moments_seconds(const struct rd_moment *before, const struct rd_moment *now);

#endif
