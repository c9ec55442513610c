/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of qp-state. */
#ifndef RD_CMD_QP_H
#define RD_CMD_QP_H

#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"
#include "analyse/shared/meaning.h"
#include "cmd/repeat.h"
#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"
#include "model/shared/finding.h"
#include "model/trace/fnset.h"
#include "trace/attach/session.h"

/* --timeouts, --join, --entropy */
struct qp_ask {
	bool timeouts, join;
	struct rd_timeouts values;
	unsigned links; /* --entropy; 0: not given */
};

struct qp_opts {
	struct rd_qp_filter filter;
	struct qp_ask ask;
	bool grouped, summary, fail, trace, live, failover, no_probe;
	enum rd_qp_by by;
	double stuck; /* seconds in INIT or RTR; 0: default */
	struct rd_repeat repeat;
	double duration;      /* seconds to record; 0: until stopped */
	unsigned long events; /* to record; 0: all */
};

/* Looks at what drivers fill in while this process lists queue pairs: their peers and timers. */
struct qp_probe {
	struct rd_fnset set;
	struct rd_session *session; /* NULL: not attached */
	struct rd_source *source;
};

/* Successive samples: two show what one cannot. Zero it before the first sample; always deinit it. */
struct qp_history {
	bool repeated;		   /* another sample follows, which needs the counters of this one */
	struct rd_qp_track *track; /* the recorder's if `recorded`; else owned */
	bool recorded;
	struct qp_probe probe;
	enum rd_probe missed; /* why nothing is seen of what drivers fill in */
	struct qp_counted {
		char ibdev[64];
		struct rd_qp_counts counts;
		double bytes;	    /* sent and received; below 0: unknown */
	} * counted;		    /* at the last sample, by device */
	struct rd_qp_doubt *doubts; /* of each of them */
	bool wants_gbps;
	double *gbps; /* of each of them, since the sample before; below 0: unknown */
	size_t n_counted;
	struct rd_meanings meanings;	/* read when counters are first needed */
	struct rd_qp_counters counters; /* those of `meanings` that are evidence */
	struct qp_down {
		char ibdev[64];
		uint32_t port;
	} * down; /* ports that were DOWN or INIT at the last sample */
	size_t n_down;
	uint64_t sample_ns; /* CLOCK_MONOTONIC of the last sample; 0: none */
};
void qp_history_deinit(struct qp_history *history);

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
void qp_sample_deinit(struct qp_sample *sample);

/* Reads whatever options can need, for a recording. */
int qp_record(struct rd_source *source, struct rd_err *err);

/* The keys of the columns that are useful for this grouping, separated by commas. */
const char *qp_group_columns(enum rd_qp_by by);

/* Prints read errors on standard error, unless they are part of a JSON document. */
void qp_warn_errors(const struct rd_ctx *ctx, const struct qp_sample *sample);

/* --live: returns the exit code. */
int qp_live(struct rd_ctx *ctx);

/* --trace: returns the exit code. */
int qp_record_events(struct rd_ctx *ctx);

/* --join only reads bundles. Returns the exit code. */
int qp_join(struct rd_ctx *ctx, int argc, char **argv);

/*
 * Attaches to ib_query_qp for what `source`, a live one, reads from now on, if it has queue pairs of a driver that is known to fill in
 * something. `probe` is zeroed; always end it. RD_PROBE_ON also if there is nothing to see; else why nothing will be seen, and -v has
 * more.
 */
enum rd_probe qp_probe_start(const struct rd_ctx *ctx, struct rd_source *source, struct qp_probe *probe);

/* Detaches, in the background. The source must still be open. */
void qp_probe_end(struct qp_probe *probe);

#endif
