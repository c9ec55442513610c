/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state's parts. */
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
	double stuck; /* seconds in INIT or RTR; 0: as usual */
	struct rd_repeat repeat;
	double duration;      /* seconds to record; 0: until stopped */
	unsigned long events; /* to record; 0: all */
};

/* One look. */
struct qp_look {
	struct rd_res res;
	struct rd_qp_views views; /* of `res`, which is beside them: a look stays where it is */
	bool *chosen;		  /* by the filter; res.n_qps entries */
	struct rd_findings findings;
	struct rd_report report;
};

/* Reads what the options need from `source`, joins, judges and chooses. `history`: of the looks
 * before. What it leaves is to be released in any case. */
int qp_load(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history, struct qp_look *look,
	    struct rd_err *err);
void qp_look_deinit(struct qp_look *look);

/* Fills the report of a look: queue pairs and summary, and what the options add. */
void qp_fill(const struct rd_ctx *ctx, struct qp_look *look);

/* Says on standard error what could not be read, where that is not in a document. */
void qp_say_errors(const struct rd_ctx *ctx, const struct qp_look *look);

/* Prints it. */
int qp_show(struct rd_ctx *ctx, struct qp_look *look);

/* -i and --live: exit codes. */
int qp_repeat(struct rd_ctx *ctx);
int qp_live(struct rd_ctx *ctx);

/* --trace: the exit code. */
int qp_record_events(struct rd_ctx *ctx);

#endif
