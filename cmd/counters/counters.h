/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the command counters. */
#ifndef RD_CMD_COUNTERS_H
#define RD_CMD_COUNTERS_H

#include "analyse/counters/counters.h"
#include "analyse/shared/meaning.h"
#include "cmd/repeat.h"
#include "collect/counters/counters.h"
#include "report/counters/report-counters.h"

struct counters_opts {
	bool all, nonzero, changed, fail;
	unsigned groups; /* bits 1 << enum rd_counter_group; 0: all */
	bool live;
	const char *devices; /* see rd_port_fits; or NETDEV; separated by commas. NULL: all */
	const char *filter, *save, *since, *thresholds, *explain, *record, *until;
	struct rd_repeat repeat;
};

/* A sample with its set. */
struct counters_moment {
	struct rd_counter_set *set; /* of a reader, or `own`; NULL: no sample yet */
	struct rd_counter_set own;
	struct rd_counter_sample sample;
};

struct counters {
	struct rd_ctx *ctx;
	const struct counters_opts *opts;
	struct rd_meanings meanings;
	int rdma_error;			  /* as in struct rd_host */
	struct rd_counter_reader *reader; /* NULL: none yet */
	struct rd_counter_reader *old;	  /* the reader that `before` may belong to */
	bool stale;			  /* devices were added or removed: the next sample requires another reader */
	struct counters_moment now, before;
	struct rd_delta *deltas; /* as many as `now` has counters; NULL: no earlier sample */
	double seconds;
	bool *selected; /* by --filter, --nonzero, --changed and device, and by counters_brief */
	struct rd_causes causes;
	struct rd_errlist errors;
	struct rd_err table; /* code: the table of meanings could not be read completely */
};

/* Reads a sample from `source` into c->now. If devices were added or removed at the previous sample, finds the counters again. */
int counters_sample(struct counters *c, struct rd_source *source, struct rd_err *err);

/* Whether --group and --filter select a counter, --device and operands a port; whether one of their names matches the port. */
bool counters_match(const struct counters *c, const struct rd_counter *counter);
bool counters_port_matches(const struct counters *c, const struct rd_counter_port *port);

/* For other commands: reads from a source with a deadline all that counters_since reads. */
void counters_read_ahead(struct rd_source *source, void *unused);

/* For other commands: reads a sample, compares it with the saved one at `path`, and returns the findings. */
int counters_since(struct rd_ctx *ctx, const char *path, struct rd_findings *ret, struct rd_err *err);

/* Whether counters can be compared: the table of meanings has which ones wrap or saturate. -errno with the error of reading it. */
int counters_need_meanings(const struct counters *c, struct rd_err *err);

/* Turns `now` into `before`: the next sample is compared with this one. */
void counters_keep_before(struct counters *c);

/* Repeated counters: rates, the view, recordings, waiting for a condition. */

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

/*
 * counters-record.c. The suffix of the name selects the format; another name or a file that is not a recording in this format is
 * refused (-EINVAL, -EEXIST), links are not followed. The file is closed by the caller; NULL is allowed.
 */
struct counters_file;
int counters_file_open(struct rd_ctx *ctx, const char *path, struct counters_file **ret, struct rd_err *err);
void counters_file_close(struct counters_file *file);

/* Adds the last sample. Write errors are reported. */
void counters_file_add(struct counters_file *file, const struct counters_watch *w);

/* Ends the file. -ENOSPC if samples were lost. */
int counters_file_finish(struct counters_file *file, struct rd_err *err);

/* counters-watch.c: -i, --record, --until, --textfile. Returns the exit code. */
int counters_watch(struct counters *c);

/* counters-live.c */
int counters_live(struct counters *c);

#endif
