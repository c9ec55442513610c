/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of qp-state. */
#ifndef RD_CMD_QP_H
#define RD_CMD_QP_H

#include "analyse/qp/qp-filter.h"
#include "cmd/repeat.h"
#include "model/rdma/qp-groups.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"
#include "qp-ask.h"
#include "qp-history.h"

struct qp_opts {
	struct rd_qp_filter filter;
	struct qp_ask ask;
	bool grouped, summary, fail, trace, live;
	enum rd_qp_by by;
	double stuck; /* seconds in INIT or RTR; 0: default */
	struct rd_repeat repeat;
	double duration;      /* seconds to record; 0: until stopped */
	unsigned long events; /* to record; 0: all */
};

/* One sample. */
struct qp_sample {
	struct rd_res res;
	struct rd_qp_views views; /* of `res` above: do not move or copy a sample */
	bool *chosen;		  /* selected by the filter; res.n_qps entries */
	bool incomplete;	  /* what the options name was not found, or is unknown: exit 3 */
	struct rd_findings findings;
	struct rd_report report;
};

/* Reads what the options need from `source`, links, judges and filters. `history`: of the previous samples. Always deinit
 * the sample, also on failure. */
int qp_load(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history, struct qp_sample *sample,
	    struct rd_err *err);
/* Reads the libraries of processes that may own queue pairs which the kernel does not list. */
void qp_read_libraries(struct rd_source *source, struct rd_res *res);
void qp_sample_deinit(struct qp_sample *sample);

/* Fills the report of a sample: queue pairs, summary, and sections of the options. */
void qp_fill(const struct rd_ctx *ctx, struct qp_sample *sample);

/* The keys of the columns that are useful for this grouping, separated by commas. */
const char *qp_group_columns(enum rd_qp_by by);

/* Prints read errors on standard error, unless they are part of a JSON document. */
void qp_warn_errors(const struct rd_ctx *ctx, const struct qp_sample *sample);

/* Prints the report. Returns the exit code. */
int qp_show(struct rd_ctx *ctx, struct qp_sample *sample);

/* -i and --live: return exit codes. */
int qp_repeat(struct rd_ctx *ctx);
int qp_live(struct rd_ctx *ctx);

/* --trace: returns the exit code. */
int qp_record_events(struct rd_ctx *ctx);

#endif
