/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples at whole multiples of an interval of the wall clock, so that several hosts sample at the same time, without drift:
 * a slow sample does not delay the next. */
#ifndef RD_CMD_REPEAT_H
#define RD_CMD_REPEAT_H

#include "cmd/cmd.h"

struct rd_ticks {
	uint64_t interval_ns;
	uint64_t next_ns;  /* of CLOCK_REALTIME; 0 before the first */
	uint64_t missed;   /* ticks that had passed before the wait for them began */
	uint64_t late_ns;  /* delay of the last wakeup */
	int64_t offset_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC when the next tick was chosen */
};

#define RD_TICKS_LEAST 0.1 /* seconds, of -i */
#define RD_TICKS_MOST 86400.0

void rd_ticks_init(struct rd_ticks *ticks, double seconds);

/* The next tick after `now_ns`; counts missed ticks. After the clock was set back or far ahead it starts over and counts none. */
uint64_t rd_ticks_next(struct rd_ticks *ticks, uint64_t now_ns);

/* A sample begins now: the next tick is the one after it. */
void rd_ticks_advance(struct rd_ticks *ticks);

/* Milliseconds until the next tick, for poll; 0: it is due. The first tick is due immediately. */
int rd_ticks_left_ms(const struct rd_ticks *ticks);

/* Waits for the next tick. 0, or -EINTR on a signal. */
int rd_ticks_wait(struct rd_ticks *ticks);

/* The same; meanwhile lets `meanwhile` work for `ms` at most, ten times per second, or again at once if it returns true. */
int rd_ticks_wait_doing(struct rd_ticks *ticks, bool (*meanwhile)(void *arg, unsigned ms), void *arg);

#define RD_CLOCK_SIZE 9

/* A CLOCK_REALTIME time as "14:02:59" in the local time zone; "-" for 0. Returns `buf`, of RD_CLOCK_SIZE. */
const char *rd_clock(uint64_t realtime_ns, char *buf);

/* From now on the first SIGINT, SIGTERM or SIGHUP ends the wait, so that the output can be completed; the second ends the
 * program. */
void rd_ticks_catch_signals(void);

/* Whether such a signal arrived. */
bool rd_ticks_stopped(void);

/* ---- Options -i and -c */

struct rd_repeat {
	double seconds;	     /* 0: not given */
	unsigned long count; /* 0: not given */
	unsigned long looks; /* samples taken */
	struct rd_ticks ticks;
	/* Called ten times per second between samples of this host, for work that must not wait so long; may be NULL. See
	 * rd_ticks_wait_doing. */
	bool (*meanwhile)(void *arg, unsigned ms);
};

/* Rows of a command's option table: `member` of `struct state` is a struct rd_repeat. */
#define RD_REPEAT_OPTS(state, member)                                                                      \
	{ "interval", 'i', "SECONDS", "repeat every SECONDS",                                              \
	  RD_SECONDS(state, member.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },                              \
	{                                                                                                  \
		"count", 'c', "N", "exit after N samples", RD_NUMBER(state, member.count, 1, RD_COUNT_MAX) \
	}

static inline bool rd_repeat_wanted(const struct rd_repeat *repeat)
{
	return repeat->seconds > 0 || repeat->count;
}

/* For a view, which waits itself: samples every `seconds`, or at the interval of -i. */
static inline void rd_repeat_begin(struct rd_repeat *repeat, double seconds)
{
	rd_ticks_init(&repeat->ticks, repeat->seconds > 0 ? repeat->seconds : seconds);
}

/* Whether another sample is due under -c; it begins now. */
bool rd_repeat_next(struct rd_repeat *repeat);

/* Takes and prints one sample. An exit code, or negative if that failed and was reported. */
typedef int rd_look_fn(struct rd_ctx *ctx, void *arg);

/*
 * Calls `look` once. With -i or -c calls it at whole multiples of the interval (`seconds` if only -c was given), or for each
 * sample of a bundle, until the count is reached, a call fails, the reader closes the pipe or a signal arrives. JSON is then one
 * line per sample. Returns the last exit code.
 */
int rd_repeat(struct rd_ctx *ctx, struct rd_repeat *repeat, double seconds, rd_look_fn *look, void *arg);

/* The heading of one of several samples: its time, and an empty line before all but the first. */
void rd_repeat_head(const struct rd_ctx *ctx, const struct rd_repeat *repeat, uint64_t realtime_ns);

#endif
