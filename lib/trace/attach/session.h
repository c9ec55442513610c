/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running trace: hooks on the selected functions, kept by a holder process of its own so that they go away quickly and
 * surely whatever becomes of the command.
 */
#ifndef RD_TRACE_SESSION_H
#define RD_TRACE_SESSION_H

#include "base/err.h"
#include "model/rdma/qp-event.h"
#include "model/trace/event.h"
#include "model/trace/fnset.h"

#define RD_FILTER_DEVS_MAX 16

struct rd_qp_watch;

struct rd_session_opts {
	enum rd_backend backend; /* RD_BACKEND_NONE: auto, chosen by cost */
	double seconds;		 /* how long the trace is meant to run; 0: until it is stopped */
	uint32_t ring_bytes;	 /* a power of two and a multiple of the page size; 0: 256 KiB */
	bool kernel_stack, user_stack;

	/* Filters, applied in the kernel: events that do not pass are neither delivered nor counted. */
	uint32_t pid;			   /* as this process sees it; 0: all */
	bool descendants;		   /* only processes below this one */
	const char *comm;		   /* whole name, at most 15 characters; NULL: all */
	uint64_t cgroup_id;		   /* only this cgroup and those below it; 0: all */
	int err;			   /* positive errno; 0: all */
	uint32_t devs[RD_FILTER_DEVS_MAX]; /* kernel dev_t of character devices */
	const char *ibdev;    /* the device's name, for calls that come through no device file of its own */
	size_t n_devs;	      /* 0: all */
	const bool *fn_match; /* per function id: only events with such a function in their chain; NULL: all */

	/* The recorder of queue pairs instead of trace-errno's programs; none of the filters applies. NULL: no. */
	const struct rd_qp_watch *qp;

	/* When the holder lets go by itself. */
	double max_percent; /* programs that take more of one processor than this, over two seconds; 0: no limit. Watched
			     * while run statistics are on */
	double max_silence; /* seconds without rd_session_reading; 0: no limit */
	bool run_stats;	    /* switch run statistics on, for all programs of the host, until the end of the trace */

	/* Called about ten times a second while hooks are being attached, with how many of how many functions are done.
	 * A value other than 0 gives the trace up: rd_session_start then returns -EINTR. NULL: nobody asks. */
	int (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

/* What came of the attaching. Strings owned by the struct. */
struct rd_session_info {
	size_t per_backend[RD_BACKEND_COUNT]; /* functions */
	size_t functions;		      /* sum of these */
	char *reason;			      /* why these backends, for -v */
	double attach_seconds;
};

struct rd_session;

/*
 * Attaches to set->fns[].selected and sets their .backend. What could not be attached, and what that loses, goes to
 * `notes`; the trace goes on with the rest. -EPERM, -ENOTSUP … with `err` filled when nothing works.
 */
int rd_session_start(struct rd_fnset *set, const struct rd_session_opts *opts, struct rd_session **ret,
		     struct rd_errlist *notes, struct rd_err *err);

const struct rd_session_info *rd_session_info(const struct rd_session *session);

/* The ring buffer map, for rd_source_live_set_ring. */
int rd_session_ring_fd(const struct rd_session *session);

/* Becomes readable when rd_session_let_go has something to say. */
int rd_session_holder_fd(const struct rd_session *session);

/* Whether the hooks were taken away although nobody called rd_session_stop, and why (`err`; untouched where they were not). */
enum rd_let_go rd_session_let_go(struct rd_session *session, struct rd_err *err);

/* To be called whenever events have been read: a sign to the holder that somebody still does. */
void rd_session_reading(struct rd_session *session);

/* The exact counts so far; caller frees *ret. Sorted by count, greatest first. */
int rd_session_counts(struct rd_session *session, struct rd_count **ret, size_t *n, struct rd_err *err);
int rd_session_totals(struct rd_session *session, struct rd_trace_totals *ret, struct rd_err *err);

/* What the recorder counted: calls of modify_qp by new state (of RD_QP_ENDS) and power of two of their nanoseconds. */
int rd_session_durations(struct rd_session *session, uint64_t ret[RD_QP_ENDS][RD_QP_DURATIONS], struct rd_err *err);

/* Switches the hooks off (at once) and has the holder take them away (which it does after we are gone). Counts and totals
 * can still be read. */
void rd_session_stop(struct rd_session *session);

void rd_session_destroy(struct rd_session *session);

#endif
