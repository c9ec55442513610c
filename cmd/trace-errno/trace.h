/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of trace-errno: options, filters, the traced command, the event loop, the output. */
#ifndef RD_CMD_TRACE_H
#define RD_CMD_TRACE_H

#include <time.h>

#include "cmd/cmd.h"

#include "collect/kernel/kernel.h"
#include "trace-child.h"
#include "trace/attach/session.h"

/* About 1400 functions are selected with all drivers of a distribution loaded, 350 to 550 on a host with one NIC. */
#define TRACE_MAX_HOOKS 2000
#define TRACE_MAX_UNREAD 300 /* seconds */

struct trace_opts {
	double duration;	 /* seconds; 0: until stopped */
	uint64_t events;	 /* 0: all */
	uint64_t ring;		 /* bytes; 0: the default */
	uint32_t pid;		 /* 0: all */
	int err;		 /* positive; 0: all */
	const char *backend;	 /* NULL, "auto": chosen by cost */
	unsigned long max_hooks; /* functions; 0: TRACE_MAX_HOOKS */
	double max_cpu;		 /* percent of one processor; 0: no limit */
	double max_unread;	 /* seconds; 0: no limit, if the option was given */
	const char *user, *comm, *cgroup, *device, *function;
	bool keep_privs, benign, stack, user_stack, summary, list, status, detach_all, run_stats, deepen, live, service;
	const char *record;	/* a bundle to write; NULL: none */
	const char *log;	/* of --service; NULL: standard output */
	const char *black_box;	/* directory; NULL: none */
	unsigned freeze_on;	/* bits of enum trace_freeze */
	unsigned long log_size; /* MiB; 0: 64 */
	double report;		/* seconds; 0: 15 */
};

/* Hints, symbols and user stacks for events; see trace-names.c. */
struct trace_names;
struct trace_causes;
struct trace_extend;
struct rd_qp_event;
struct rd_verb;

/* The event shown last, to which equal ones are added: "same, x9". */
struct trace_fold {
	bool any;
	uint32_t pid, dev, qpn;
	uint64_t verb;
	int err, origin;
	char *cause;	  /* NULL: unknown */
	uint64_t more;	  /* equal events since */
	uint64_t printed; /* CLOCK_MONOTONIC, ns: when they were last reported */
};

struct trace {
	struct rd_ctx *ctx;
	const struct trace_opts *opts;
	struct rd_source *ring; /* reads the ring buffer; NULL: ctx->source does */
	struct rd_fnset set;
	struct rd_errlist notes; /* what failed, and what is missing because of it */
	struct rd_trace_facts *facts;
	struct trace_names *names;
	struct rd_session *session;
	struct trace_user user;
	struct trace_child child;
	int signals;		   /* signalfd */
	uint64_t started, stopped; /* CLOCK_MONOTONIC, ns */
	uint64_t shown, hidden, benign, invalid;
	struct rd_count *benign_counts; /* delivered events that are benign */
	size_t n_benign_counts, cap_benign_counts;
	bool interrupted, headed;
	struct trace_fold fold;
	struct trace_causes *causes; /* NULL: no causes are shown */
	const void *raw;	     /* the record of the event that is handled */
	size_t raw_size;
	enum rd_host_read host;	    /* what the cause of the latest event was found with */
	bool replayed;		    /* from a bundle: `host` is given */
	struct rd_source *recorder; /* of --record; NULL: nothing is recorded */
	uint64_t recorded;	    /* events */
	uint64_t recorded_at;	    /* CLOCK_REALTIME, ns: of the summary; 0: it is not recorded */
	size_t recorded_functions;  /* that were hooked when the set was recorded */
	bool record_failed;
	struct trace_extend *extend;
	size_t n_known;		     /* functions of the set that the hooks were prepared for */
	enum rd_early_end early_end; /* the holder has ended the trace */
	struct rd_err why_early;
	/* Takes events instead of showing them; NULL: they are shown. */
	void (*sink)(void *arg, struct trace *trace, struct rd_event *event);
	/* Called before the facts of the host are read for an event; NULL: there is nothing to do. */
	void (*record)(void *arg, const struct rd_event *event, unsigned facts);
	void *sink_arg;
};

/* CLOCK_MONOTONIC, ns. */
static inline uint64_t trace_now(const struct trace *trace)
{
	return trace->ctx->source->ops->now(trace->ctx->source, CLOCK_MONOTONIC);
}

/* trace-service.c: --service, after the hooks are attached. Returns the exit code, or -errno with err filled. */
int trace_service(struct trace *trace, struct rd_err *err);

/* cmd-trace-errno.c: attaches the hooks, then lets the command run. -errno with err filled. */
int trace_start(struct trace *trace, char **argv, struct rd_err *err);

/* cmd-trace-errno.c: traces until the end. trace->set and trace->facts belong to the trace. -errno with err filled. */
int trace_run(struct trace *trace, char **argv, struct rd_err *err);
void trace_deinit(struct trace *trace);

/* probe-calls.c, for cmd-audit.c: calls that fail on purpose. */
#define PROBES 14

const char *probe_name(size_t i); /* what each call does */

/* What the process that calls passes on, in order. */
struct probe_result {
	uint32_t probe;
	int32_t err; /* 0: the call did not fail; -1: it could not be tried */
};

/* cmd-audit.c */
extern const struct rd_cmd rd_cmd_trace_audit;

/* trace-status.c: --status and --detach-all. Returns the exit code. */
int trace_status(struct trace *trace);

/* cmd-trace-errno.c: checks before anything is attached. */
int trace_have_rdma(struct rd_source *src, struct rd_err *err);
int trace_have_privileges(struct rd_source *src, const char *command, struct rd_err *err);
/* Adds a hint to an error that has none. */
void trace_explain(struct rd_source *src, const char *command, struct rd_err *err);
/* Filters and the list of benign failures. *match and *benign are freed by the caller, after the hooks are attached. */
int trace_session_opts(struct trace *trace, struct rd_session_opts *ret, bool **match, struct rd_benign_rule **benign,
		       struct rd_err *err);

/* trace-names.c: verb, chain, job, symbols, benign, hint. */
int trace_names_create(struct trace *trace, struct rd_err *err);
void trace_names_destroy(struct trace_names *names);
void trace_names_judge(struct trace *trace, struct rd_event *event); /* what decides whether it is shown */
/* The origin of the failures that the kernel counts for `counted`: that of the events with the same chain. */
int trace_names_origin(const struct trace_names *names, uint32_t chain_id, int counted);
void trace_names_explain(struct trace *trace, struct rd_event *event);	/* the cause, and whether it repeats */
void trace_names_complete(struct trace *trace, struct rd_event *event); /* the rest */

/* trace-causes.c */
void trace_causes_create(struct trace *trace, struct rd_source *facts); /* `facts` must outlive it */
void trace_causes_destroy(struct trace_causes *causes);
void trace_causes_find(struct trace *trace, struct rd_event *event); /* fills event->why */

/* trace-record.c: --record. Returns the source from which causes are read, or whether no further event can be recorded. */
struct rd_source *trace_record_start(struct trace *trace);
bool trace_record_full(const struct trace *trace);
void trace_record_next(struct trace *trace); /* before the cause of an event is looked for */
void trace_record_event(struct trace *trace, const struct rd_event *event);
int trace_record_save(struct trace *trace, const struct rd_trace_summary *summary, struct rd_err *err);

/* The same: --from. Shows the events of the bundle. */
int trace_replay(struct trace *trace, struct rd_err *err);

#define TRACE_FUNCTIONS RD_SOURCE_TRACE "/functions"
#define TRACE_EVENTS RD_SOURCE_TRACE "/events"
#define TRACE_SUMMARY RD_SOURCE_TRACE "/summary"

/* trace-box.c: why a black box is written. */
enum trace_freeze {
	TRACE_FREEZE_QP_ERR,
	TRACE_FREEZE_ASYNC_FATAL,
	TRACE_FREEZE_LINK_DOWN,
	TRACE_FREEZE_CRASH_LOOP,
	TRACE_FREEZE_ASKED, /* SIGUSR1 */
};

#define TRACE_LANE ((size_t)512 << 10)
struct trace_lane {
	bool newer; /* index */
	size_t used[2];
	uint8_t v[2][TRACE_LANE / 2];
};

/* In memory that the processes of the service share. */
struct trace_box {
	unsigned wanted; /* bits of enum trace_freeze; 0: there is no box */
	struct trace_lane failures, qps;
	uint64_t due; /* CLOCK_MONOTONIC, ns: when it is packed; 0: nothing happened */
	uint64_t day; /* likewise: since when those of today are counted */
	unsigned today;
	size_t size; /* of the bundle that is to be written; 0: none */
	uint8_t bundle[4 * TRACE_LANE];
	char path[4096]; /* as struct rd_recent_file.box */
	bool written;	 /* `path` has changed */
};

/* Of the worker: recorders (source/record/record.h) with the counters of ports, the older one first; NULL: none yet. */
struct trace_readings {
	struct rd_source *v[2];
	uint64_t due;		  /* CLOCK_MONOTONIC, ns: when the next one is made */
	void (*fetch)(void *arg); /* has the opener record counters, so that `host` has them */
	void *arg;
	struct rd_source *host;
};

/* In the supervisor, before the worker starts. -errno with err filled. */
int trace_box_start(struct trace_box *box, const struct trace *trace, struct rd_err *err);
/* What happened at `now` (CLOCK_MONOTONIC). Always 0, for callers that return the result. */
int trace_box_trigger(struct trace_box *box, enum trace_freeze what, uint64_t now);
/* In the worker. An event that was logged; an event of the recorder. */
void trace_box_failure(struct trace_box *box, const struct trace *trace, const struct rd_event *event);
void trace_box_qp(struct trace_box *box, const struct rd_qp_event *event, const void *raw);
/* In the opener: appends what rd_source_guard_pack does, of a guard that has read the counters. */
void trace_box_record_counters(struct rd_source *live, struct rd_buf *out);
/* In the worker, all the time: reads counters, and makes the bundle of what is kept, if these are due. */
void trace_box_pack(struct trace *trace, struct trace_box *box, struct trace_readings *readings, uint64_t now);
/* In the supervisor: writes the bundle that was packed. */
void trace_box_write(const struct trace *trace, struct trace_box *box, uint64_t realtime);

/* trace-notice.c: sd_notify(3). */
void trace_notify(const char *state);
/* Adds failures; `loop` may be NULL. Returns their kind, owned by the file. */
struct rd_recent_failure *trace_recent_add(struct rd_recent_file *file, const struct rd_failure_count *where,
					   const struct rd_event *event, uint64_t count,
					   const struct rd_crash_loop *loop);
/* In the worker: replaces RD_SOURCE_RECENT. `valid_ns`: how long, if no other follows. */
void trace_recent_write(const struct trace *trace, struct rd_recent_file *file, struct trace_box *box,
			uint64_t valid_ns);

/* trace-extend.c: hooks that are added while the trace runs. */
void trace_extend_create(struct trace *trace);
void trace_extend_destroy(struct trace_extend *extend);
void trace_extend_notice(struct trace *trace); /* modules that were loaded; to be called before an event is judged */
/* The modules that were loaded, are not traced yet, and may have returned the errno of this event; NULL: none. */
const char *trace_extend_missing(const struct trace *trace, const struct rd_event *event);
void trace_extend_below(struct trace *trace, const struct rd_event *event); /* --deepen: what to hook next */
/* Whether modules were loaded since the last step: it may add functions to the set. */
bool trace_extend_due(const struct trace *trace);
/* Hooks the functions of a module again that were released, if it is still there. */
void trace_extend_again(struct trace *trace, uint32_t module);
/* Adds hooks, and reports those that were added. */
void trace_extend_step(struct trace *trace);

/* trace-loop.c: a signalfd, or -errno with err filled. `session`: a command may have its own. */
int trace_signals_open(bool session, struct rd_err *err);
/* Whether a signal requests the end of the trace. Also passes signals on to the command. */
bool trace_signalled(struct trace *trace);
/* Until the end of the trace. */
int trace_loop(struct trace *trace, struct rd_err *err);
/* After the trace: waits until the command has ended, if there is one. */
void trace_wait_for_command(struct trace *trace);

/* trace-live.c: the view, until q or the end of the trace. -errno with err filled. */
int trace_live(struct trace *trace, struct rd_err *err);

/* The kernel's counts, with names. `verbs` keeps the text that *ret refers to; the caller frees both. */
void trace_counts(struct trace *trace, struct rd_origin_count **ret, struct rd_verb **verbs, size_t *n);

/* trace-loop.c: shows an event that was judged. -errno, -EPIPE. */
int trace_show(struct trace *trace, struct rd_event *event);

/* trace-loop.c: reads events up to the end of what there is. 1: there were some; 0: none; -errno. */
int trace_drain(struct trace *trace, struct rd_err *err);
int trace_progress(void *arg, size_t done, size_t total);
/* The summary: table, JSON line, closing line. Returns the exit code. */
int trace_finish(struct trace *trace);

#endif
