/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters again and again: rates, the view, recordings, waiting for something to happen. */
#ifndef RD_CMD_COUNTERS_WATCH_H
#define RD_CMD_COUNTERS_WATCH_H

#include "analyse/counters/rates.h"
#include "cmd/ticks.h"
#include "counters.h"

struct counters_watch {
	struct counters *c;
	const struct rd_counter_set *set; /* which the rest belongs to; NULL: no look yet */
	struct rd_rates rates;
	bool *chosen;		     /* of the set's counters, by --group, --filter and device */
	bool *ports;		     /* those that have such a counter */
	struct rd_findings findings; /* of the last interval */
	struct rd_findings events;   /* of all intervals, the first thousand */
	struct rd_ticks ticks;
	bool interval; /* there are deltas: not so at the first look, and where nothing is there to compare with */
	/* The first look at this set, for what came of it all. */
	struct rd_counter_sample first;
};

void counters_watch_init(struct counters_watch *w, struct counters *c, double seconds);
void counters_watch_deinit(struct counters_watch *w);

/* Looks once more: c->now, c->deltas, c->seconds, rates and findings are those of the interval since the look before. */
int counters_advance(struct counters_watch *w, struct rd_err *err);

/* counters-watch.c: -i, --record, --until, --textfile. Returns the exit code. */
int counters_watch(struct counters *c);

/* counters-live.c */
int counters_live(struct counters *c);

/* counters-until.c */
struct counters_until;
int counters_until_create(const char *condition, struct counters_until **ret, struct rd_err *err);
void counters_until_destroy(struct counters_until *until);
/* Says what the last interval brought. 1: it has happened, 0: not yet, or -errno. */
int counters_until_check(struct counters_until *until, const struct counters_watch *w, struct rd_err *err);

/* counters-record.c */
struct counters_file;
int counters_file_open(struct rd_ctx *ctx, const char *path, struct counters_file **ret, struct rd_err *err);
void counters_file_close(struct counters_file *file);
/* Adds the last look. What cannot be written is told. */
void counters_file_add(struct counters_file *file, const struct counters_watch *w);
/* The end: -errno with `err` filled if anything is missing in the file. */
int counters_file_finish(struct counters_file *file, struct rd_err *err);

#endif
