/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running trace: hooks on the selected functions, owned by a separate holder process, so that they are reliably detached
 * however the command ends.
 */
#ifndef RD_TRACE_SESSION_H
#define RD_TRACE_SESSION_H

#include "model/rdma/qp.h"
#include "model/trace/event.h"
#include "model/trace/held.h"
#include "source/shared/source.h"

#define RD_FILTER_DEVS_MAX 16

struct rd_qp_watch;
struct rd_query_config;

struct rd_session_opts {
	enum rd_backend backend; /* RD_BACKEND_NONE: auto, by cost */
	double seconds;		 /* planned duration of the trace; 0: unknown */
	bool endless;		 /* it runs until it is stopped */
	bool service;		 /* --service: hooks can be released by module */
	uint32_t ring_bytes;	 /* a power of two and a multiple of the page size; 0: 256 KiB */
	bool kernel_stack, user_stack;

	/* Filters, applied in the kernel: events that do not pass are neither delivered nor counted. */
	uint32_t pid;			   /* in the PID namespace of this process; 0: all */
	bool descendants;		   /* only processes below this one */
	const char *comm;		   /* whole name, at most 15 characters; NULL: all */
	uint64_t cgroup_id;		   /* only this cgroup and those below it; 0: all */
	int err;			   /* positive errno; 0: all */
	uint32_t devs[RD_FILTER_DEVS_MAX]; /* kernel dev_t of character devices */
	const char *ibdev;    /* name of the device, for calls that do not use the device file of a device */
	size_t n_devs;	      /* 0: all */
	const bool *fn_match; /* per function id: only events with such a function in their chain; NULL: all */

	/* Failures that are expected from healthy programs, and whether they are only counted. */
	const struct rd_benign_rule *benign;
	size_t n_benign;
	bool drop_benign;

	/* Use the recorder of queue pairs instead of the programs of trace-errno; filters do not apply. NULL: no. */
	const struct rd_qp_watch *qp;
	/* Instead: use those that look at the queries of one thread. Their map, of query_entries, is rd_session_ring_fd. NULL: no. */
	const struct rd_query_config *query;
	uint32_t query_entries;

	/* Set by rd_session_extend: the maps of the running trace, and the number of functions that it knew. */
	const int *share;
	size_t n_known;

	/* When the holder detaches the hooks by itself. */
	double max_percent; /* CPU use of the programs in percent of one CPU, over two seconds; 0: no limit. Enforced
			     * while run statistics are on */
	double max_silence; /* seconds without rd_session_reading; 0: no limit */
	bool run_stats;	    /* enable run statistics for all programs of the host until the end of the trace */

	/* Called about ten times a second while hooks are being attached, with the number of functions done and in total.
	 * A value other than 0 cancels the trace: rd_session_start then returns -EINTR. May be NULL. */
	int (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
	/* Called with each line of the end of the verifier's log, if the kernel refused a program. May be NULL. */
	void (*log)(void *arg, const char *line);
	void *log_arg;
};

/* Result of attaching. Strings are owned by the struct. */
struct rd_session_info {
	size_t per_backend[RD_BACKEND_COUNT]; /* functions */
	size_t functions;		      /* sum of these */
	char *reason;			      /* why these backends, for -v */
	double attach_seconds;
};

struct rd_session;

/*
 * Hooks set->fns[].selected and sets their .backend. Functions that could not be hooked, and the consequence, go to
 * `notes`; the trace continues with the others. -EPERM, -ENOTSUP … with `err` filled if nothing works.
 */
int rd_session_start(struct rd_fnset *set, const struct rd_session_opts *opts, struct rd_session **ret,
		     struct rd_errlist *notes, struct rd_err *err);

const struct rd_session_info *rd_session_info(const struct rd_session *session);

/* The number of modules that were loaded into the kernel since the start, RDMA or not; *at_ns: CLOCK_MONOTONIC time of the last. Costs
 * no system call. 0 also if that is unknown. */
uint64_t rd_session_loads(const struct rd_session *session, uint64_t *at_ns);

/* Modules that somebody wanted to unload since *seen, which is set; of opts->service. `ret` has room for RD_UNLOADS names of
 * RD_UNLOAD_NAME bytes (bpf/trace.h). Returns their number; further ones were overwritten. Costs no system call. */
size_t rd_session_unloads(const struct rd_session *session, uint64_t *seen, char (*ret)[64]);

/* Detaches the hooks of a module, of opts->service, in the background. Returns of how many functions. */
size_t rd_session_release(struct rd_session *session, struct rd_fnset *set, uint32_t module);

/*
 * Starts to hook further functions of the set, those with add[i], in the background; further than those of rd_session_start, if
 * modules were loaded since. One at a time: -EBUSY while rd_session_extended reports nothing. `opts`: as for rd_session_start.
 */
int rd_session_extend(struct rd_session *session, struct rd_fnset *set, const bool *add,
		      const struct rd_session_opts *opts, struct rd_err *err);

/* Whether that has ended, reported once. *added: the functions that are hooked now, and have their .backend set; `notes` about
 * the others; `err`: why there are none. To be called when rd_session_holder_fd is readable. */
bool rd_session_extended(struct rd_session *session, struct rd_fnset *set, size_t *added, struct rd_errlist *notes,
			 struct rd_err *err);

/* The ring buffer map, for rd_source_live_set_ring. */
int rd_session_ring_fd(const struct rd_session *session);

/* Becomes readable when the result of rd_session_ended_early or rd_session_extended may have changed. */
int rd_session_holder_fd(const struct rd_session *session);

/* Whether the hooks were detached without rd_session_stop, and why (`err`; not changed otherwise). */
enum rd_early_end rd_session_ended_early(struct rd_session *session, struct rd_err *err);

/* To be called whenever events have been read: informs the holder that the reader is alive. */
void rd_session_reading(struct rd_session *session);

/* The exact counts so far; caller frees *ret. Sorted by count, greatest first. */
void rd_session_counts(struct rd_session *session, struct rd_count **ret, size_t *n);
int rd_session_totals(struct rd_session *session, struct rd_trace_totals *ret, struct rd_err *err);

/* Counts of the recorder: calls of modify_qp per new state (of RD_QP_ENDS) and power of two of their duration in ns. */
int rd_session_durations(struct rd_session *session, uint64_t ret[RD_QP_ENDS][RD_QP_DURATIONS], struct rd_err *err);

/* Disables the hooks immediately; the holder detaches them in the background. Counts and totals can still be read. */
void rd_session_stop(struct rd_session *session);

void rd_session_destroy(struct rd_session *session);

/* ---- the attached traces of all users of this host, and how to detach them */

/*
 * Walks all BPF objects of the host, which requires CAP_SYS_ADMIN: -EPERM with `err` filled means that the attached traces are
 * unknown. Finds only programs with our record; names are not used. The caller frees with rd_held_list_deinit.
 */
int rd_holders_list(struct rd_source *src, struct rd_held_list *ret, struct rd_err *err);

/* Requests the holder to disable its programs and detach its hooks, as at the end of its command. Returns immediately. -EPERM: the
 * trace of another user; -ESRCH: the process has ended or is not visible. */
int rd_holders_detach(struct rd_source *src, const struct rd_held *held, struct rd_err *err);

/* Requests a trace of --service to write its black box. Returns immediately. -ESRCH: not visible, or ended. */
int rd_holders_freeze(struct rd_source *src, const struct rd_held *held, struct rd_err *err);

/* ---- for tests */

/* The processes of `src` with the name of a holder; caller frees *ret. */
int rd_holders_processes(struct rd_source *src, struct rd_holder_proc **ret, size_t *n, struct rd_err *err);

/* Whether `value`, the contents of a map named RD_HOLD_MAP, is a valid record; copied to `ret`, with NUL-terminated strings. */
bool rd_hold_record_read(const void *value, size_t size, struct rd_hold_record *ret);

/* Whether kernel.bpf_stats_enabled is set; unknown if it is not readable. */
void rd_holders_run_stats(struct rd_source *src, struct rd_held_list *ret);

#endif
