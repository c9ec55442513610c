/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeating at whole multiples of an interval by the wall clock, so that several hosts look at the same moments, without
 * drift: a look that took long shifts no other. */
#ifndef RD_CMD_TICKS_H
#define RD_CMD_TICKS_H

#include "base/base.h"
#include "base/err.h"

struct rd_ticks {
	uint64_t interval_ns;
	uint64_t next_ns; /* of CLOCK_REALTIME; 0 before the first */
	uint64_t missed;  /* ticks that had passed before they were waited for */
	uint64_t late_ns; /* how far behind its tick the last one woke */
};

#define RD_TICKS_LEAST 0.1 /* seconds, of -i */
#define RD_TICKS_MOST 86400.0

void rd_ticks_init(struct rd_ticks *ticks, double seconds);

/* Which tick is next when it is now `now_ns`; counts those that were missed. A clock that was set back or far ahead begins
 * anew and counts none. */
uint64_t rd_ticks_next(struct rd_ticks *ticks, uint64_t now_ns);

/* A look begins now: the next tick is the one after it. */
void rd_ticks_advance(struct rd_ticks *ticks);

/* Milliseconds until the next one, for poll; 0: it is due. Begins with one that is due at once. */
int rd_ticks_left_ms(const struct rd_ticks *ticks);

/* Waits for the next tick. 0, or -EINTR when a signal came. */
int rd_ticks_wait(struct rd_ticks *ticks);

/* The same, with `meanwhile` called ten times a second. */
int rd_ticks_wait_doing(struct rd_ticks *ticks, void (*meanwhile)(void *arg), void *arg);

#define RD_CLOCK_SIZE 9

/* "14:02:59" of a time of CLOCK_REALTIME, here; "-" for 0, which is no time. Returns `buf`, of RD_CLOCK_SIZE. */
const char *rd_clock(uint64_t realtime_ns, char *buf);

/* From now on the first signal that asks for the end (SIGINT, SIGTERM, SIGHUP) ends the waiting, so that what is left can be
 * written; the second ends the program. */
void rd_ticks_catch_signals(void);

/* Whether such a signal came. */
bool rd_ticks_stopped(void);

#endif
