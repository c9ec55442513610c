/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options -i and -c. */
#ifndef RD_CMD_REPEAT_H
#define RD_CMD_REPEAT_H

#include "cmd.h"
#include "ticks.h"

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
