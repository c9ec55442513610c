/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeated counters: rates, the view, recordings, waiting for a condition. */
#ifndef RD_CMD_COUNTERS_WATCH_H
#define RD_CMD_COUNTERS_WATCH_H

#include "analyse/counters/rates.h"
#include "cmd/ticks.h"
#include "counters.h"

struct counters_watch {
	struct counters *c;
	const struct rd_counter_set *set; /* the set that the rest belongs to; NULL: no sample yet */
	struct rd_rates rates;
	bool *selected;		     /* of the counters of the set: selected by --group, --filter and device */
	bool *ports;		     /* of its ports: selected by device */
	struct rd_findings findings; /* of the last interval */
	struct rd_findings events;   /* of all intervals, at most a thousand */
	struct rd_ticks ticks;
	bool interval; /* there are deltas: false for the first sample, or without an earlier one to compare with */
	/* The first sample of this set, for the summary. */
	struct rd_counter_sample first;
};

void counters_watch_init(struct counters_watch *w, struct counters *c, double seconds);
void counters_watch_deinit(struct counters_watch *w);

/* Takes the next sample: c->now, c->deltas, c->seconds, rates and findings are those of the interval since the previous one. */
int counters_advance(struct counters_watch *w, struct rd_err *err);

/* counters-watch.c: -i, --record, --until, --textfile. Returns the exit code. */
int counters_watch(struct counters *c);

/* counters-live.c */
int counters_live(struct counters *c);

/* counters-until.c */
struct counters_until;
int counters_until_create(const char *condition, struct counters_until **ret, struct rd_err *err);
void counters_until_destroy(struct counters_until *until);
/* Prints the increases of the last interval. 1: the condition is met, 0: not yet, or -errno. */
int counters_until_check(struct counters_until *until, const struct counters_watch *w, struct rd_err *err);

/* counters-record.c */
struct counters_file;
int counters_file_open(struct rd_ctx *ctx, const char *path, struct counters_file **ret, struct rd_err *err);
void counters_file_close(struct counters_file *file);
/* Adds the last sample. Write errors are reported. */
void counters_file_add(struct counters_file *file, const struct counters_watch *w);
/* Ends the file: -errno with `err` filled if samples are missing in it. */
int counters_file_finish(struct counters_file *file, struct rd_err *err);

#endif
