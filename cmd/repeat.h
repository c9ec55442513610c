/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -i and -c. */
#ifndef RD_CMD_REPEAT_H
#define RD_CMD_REPEAT_H

#include "cmd.h"
#include "ticks.h"

struct rd_repeat {
	double seconds;	     /* 0: not said */
	unsigned long count; /* 0: not said */
	unsigned long looks; /* that are done */
	struct rd_ticks ticks;
	/* Called ten times a second between looks at this host, for what must not wait so long; may be NULL. */
	void (*meanwhile)(void *arg);
};

/* Rows of a command's option table: `member` of `struct state` is a struct rd_repeat. */
#define RD_REPEAT_OPTS(state, member)                                                                   \
	{ "interval", 'i', "SECONDS", "look again every SECONDS",                                       \
	  RD_SECONDS(state, member.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },                           \
	{                                                                                               \
		"count", 'c', "N", "end after N looks", RD_NUMBER(state, member.count, 1, RD_COUNT_MAX) \
	}

static inline bool rd_repeat_wanted(const struct rd_repeat *repeat)
{
	return repeat->seconds > 0 || repeat->count;
}

/* For a view, which waits by itself: looks every so many seconds, or as -i said. */
static inline void rd_repeat_begin(struct rd_repeat *repeat, double seconds)
{
	rd_ticks_init(&repeat->ticks, repeat->seconds > 0 ? repeat->seconds : seconds);
}

/* Whether there is another look to take, which begins now. */
bool rd_repeat_next(struct rd_repeat *repeat);

/* Prints what is seen in one look. An exit code, or negative where that failed, and was said. */
typedef int rd_look_fn(struct rd_ctx *ctx, void *arg);

/*
 * Looks once; where -i or -c was said, on this host at whole multiples of the interval (`seconds` if only -c was) and in a
 * bundle at each of its samples, until the count is reached, a look fails, nobody reads or a signal asks for the end. JSON
 * then is a line for each. Returns the last exit code.
 */
int rd_repeat(struct rd_ctx *ctx, struct rd_repeat *repeat, double seconds, rd_look_fn *look, void *arg);

/* Above the tables of a look that is one of several: its time, and an empty line before all but the first. */
void rd_repeat_head(const struct rd_ctx *ctx, const struct rd_repeat *repeat, uint64_t realtime_ns);

#endif
