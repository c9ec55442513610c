/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the command counters. */
#ifndef RD_CMD_COUNTERS_H
#define RD_CMD_COUNTERS_H

#include "analyse/counters/delta.h"
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

/* Reads the table of meanings. The caller releases `c` in any case; `opts` must outlive it. */
void counters_init(struct rd_ctx *ctx, const struct counters_opts *opts, struct counters *c);
void counters_deinit(struct counters *c);

/* Reads a sample from `source` into c->now. If devices were added or removed at the previous sample, finds the counters again. */
int counters_sample(struct counters *c, struct rd_source *source, struct rd_err *err);

/* Fills c->before from a saved JSON document or a bundle (its first sample): --since. */
int counters_read_since(struct counters *c, const char *path, struct rd_err *err);

/* Whether --group and --filter select a counter, --device and operands a port; whether one of their names matches the port. */
bool counters_match(const struct counters *c, const struct rd_counter *counter);
bool counters_port_matches(const struct counters *c, const struct rd_counter_port *port);
bool counters_port_named(const struct rd_counter_port *port, const char *name);

/* Whether only what tells of errors and congestion is listed: in a table for people, unless they choose. */
bool counters_brief(const struct counters *c);

/* Computes deltas from `before` to `now`, causes, and which counters to show. */
int counters_conclude(struct counters *c, struct rd_err *err);

/* For other commands: reads from a source with a deadline all that counters_since reads. */
void counters_read_ahead(struct rd_source *source, void *unused);

/* For other commands: reads a sample, compares it with the saved one at `path`, and returns the findings. */
int counters_since(struct rd_ctx *ctx, const char *path, struct rd_findings *ret, struct rd_err *err);

/* Whether counters can be compared: the table of meanings has which ones wrap or saturate. -errno with the error of reading it. */
int counters_need_meanings(const struct counters *c, struct rd_err *err);

/* Turns `now` into `before`: the next sample is compared with this one. */
void counters_keep_before(struct counters *c);

/* Fills the report with the results of counters_conclude. */
void counters_report(struct counters *c, struct rd_report *report);

/* The exit code that results from the findings. */
int counters_judge(const struct rd_report *report);

/* Both return an exit code. The first prints findings and the table; with --json the document. */
int counters_print(struct counters *c, const struct rd_report *report);
int counters_explain(struct counters *c, const char *name);

#endif
