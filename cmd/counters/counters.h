/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of counters share. */
#ifndef RD_CMD_COUNTERS_H
#define RD_CMD_COUNTERS_H

#include "analyse/counters/delta.h"
#include "analyse/shared/meaning.h"
#include "cmd/repeat.h"
#include "collect/counters/counters.h"
#include "report/counters/report-counters.h"

struct counters_opts {
	bool nonzero, changed, fail;
	unsigned groups; /* bits 1 << enum rd_counter_group; 0: all */
	bool live;
	const char *devices; /* see rd_port_fits; or NETDEV; with commas between. NULL: all */
	const char *filter, *save, *since, *thresholds, *explain, *record, *until;
	struct rd_repeat repeat;
};

/* A moment with what it belongs to. */
struct counters_moment {
	struct rd_counter_set *set; /* a reader's, or `own`; NULL: there was no look yet */
	struct rd_counter_set own;
	struct rd_counter_sample sample;
};

struct counters {
	struct rd_ctx *ctx;
	const struct counters_opts *opts;
	struct rd_meanings meanings;
	int rdma_error;			  /* as in struct rd_host */
	struct rd_counter_reader *reader; /* NULL: none yet */
	struct rd_counter_reader *old;	  /* what `before` may belong to */
	bool stale;			  /* devices have come or gone: the next look needs another reader */
	struct counters_moment now, before;
	struct rd_delta *deltas; /* as many as now has counters; NULL: there is nothing to compare with */
	double seconds;
	bool *chosen; /* by --filter, --nonzero, --changed and device */
	struct rd_causes causes;
	struct rd_errlist errors;
	struct rd_err table; /* code: not all of the table of meanings could be read */
};

/* Reads the table of meanings. `c` is zeroed before, and to be released in any case; `opts` must outlive it. */
void counters_init(struct rd_ctx *ctx, const struct counters_opts *opts, struct counters *c);
void counters_deinit(struct counters *c);

/* Looks at `source`, into c->now. Where devices have come or gone at the look before, finds out anew what there is. */
int counters_look(struct counters *c, struct rd_source *source, struct rd_err *err);

/* Fills c->before from a saved JSON document or a bundle (its first sample): --since. */
int counters_read_since(struct counters *c, const char *path, struct rd_err *err);

/* Whether --group and --filter pick a counter, --device and operands a port; whether a name of these is the port's. */
bool counters_fits(const struct counters *c, const struct rd_counter *counter);
bool counters_port_fits(const struct counters *c, const struct rd_counter_port *port);
bool counters_port_named(const struct rd_counter_port *port, const char *name);

/* Deltas of `now` against `before`, causes, and what is to be shown. */
int counters_conclude(struct counters *c, struct rd_err *err);

/* For other commands: asks of a source under a deadline all that counters_since asks. */
void counters_read_ahead(struct rd_source *source, void *unused);

/* For other commands: looks once, compares with the saved sample at `path`, and hands over what is to be said of it. */
int counters_since(struct rd_ctx *ctx, const char *path, struct rd_findings *ret, struct rd_err *err);

/* Whether counters can be compared: which wrap, and which stop at their end, stands in the table of meanings. -errno with what
 * kept us from reading it. */
int counters_need_meanings(const struct counters *c, struct rd_err *err);

/* Makes `before` of `now`: the next look is compared with this one. */
void counters_turn(struct counters *c);

/* Fills the report with what was concluded. */
void counters_report(struct counters *c, struct rd_report *report);

/* The exit code that the findings amount to. */
int counters_judge(const struct rd_report *report);

/* Each an exit code. The first prints what is wrong above the table; with --json the document. */
int counters_print(struct counters *c, const struct rd_report *report);
int counters_explain(struct counters *c, const char *name);

#endif
