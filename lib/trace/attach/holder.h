/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that owns the hooks. The command forks it before the first hook exists and communicates with it over a socket. When
 * the command has ended, for any reason, the holder disables the programs and detaches the hooks, however long that takes. It does
 * the same on SIGTERM, when events are not read, and when the programs use too much CPU; then it reports the reason. When the
 * holder is killed, the kernel closes its descriptors, which detaches the hooks as well.
 */
#ifndef RD_TRACE_HOLDER_H
#define RD_TRACE_HOLDER_H

#include "trace/attach/attach.h"

#define RD_HOLDER_NAME "rdmadiag-hold"

enum rd_msg_type {
	RD_MSG_PROGRESS,   /* holder: done of total */
	RD_MSG_NOTE,	   /* holder: an error that does not end the trace */
	RD_MSG_LOG,	   /* holder: a line of the verifier's log */
	RD_MSG_FAILED,	   /* holder: an error that ends the trace */
	RD_MSG_READY,	   /* holder: attached; carries the file descriptors */
	RD_MSG_READING,	   /* command: events are being read */
	RD_MSG_GET_COUNTS, /* command: request for counts */
	RD_MSG_COUNTS,	   /* holder: counters of the kernel */
	RD_MSG_EARLY_END,  /* holder: detaches the hooks early; reason and last counts */
	RD_MSG_STOP,	   /* command: detach the hooks */
	RD_MSG_ADDED,	   /* process that adds hooks: done */
	RD_MSG_RELEASE, /* command: detach the hooks of a module; its index, and how many functions of it had hooks */
	RD_MSG_HOOKS, /* process that adds hooks, passed on by the command: links and programs to take over; their number */
};

/* Descriptors in one message. */
#define RD_MSG_FDS 64

struct rd_msg {
	enum rd_msg_type type;
	enum rd_early_end why;
	/* done, total; READY: offsets in the map of the switch: of it, and of the loaded modules; HOOKS: links, programs; RELEASE: module */
	uint64_t a, b;
	uint64_t unloads_at;		      /* READY: offset in the same map */
	uint32_t functions[RD_BACKEND_COUNT]; /* HOOKS, RELEASE: that were hooked */
	uint32_t modules[RD_MSG_FDS];	      /* HOOKS: of each link and program */
	struct rd_attach_counts counts;
	double seconds;
	struct rd_err err;
	char text[256]; /* reason */
};

/* One message, with descriptors on READY and HOOKS. Returns 0, -EPIPE if the peer has closed, or -errno. The receiver expects n_fds
 * descriptors on READY, and a + b on HOOKS; `fds` has place for RD_MSG_FDS, or is NULL if neither is expected. */
int rd_msg_send(int sock, const struct rd_msg *msg, const int *fds, size_t n_fds);
int rd_msg_recv(int sock, struct rd_msg *msg, int *fds, size_t n_fds, int timeout_ms);

/* ---- when a holder detaches by itself: pure functions */

/* The CPU share is measured over at least this time. */
#define RD_WATCH_WINDOW_NS UINT64_C(2000000000)

struct rd_watch {
	double max_percent;	 /* of one CPU; 0: no limit */
	uint64_t max_silence_ns; /* time without a sign of the reader; 0: no limit */
	uint64_t heard_ns;	 /* time of the last sign of the reader */
	bool measuring;		 /* a window has begun at since_* */
	uint64_t since_ns, since_run_ns;
	double percent, highest; /* in the last window; highest of all */
};

/* A reading. `run_ns`: total run time of the programs on all CPUs; `counted`: whether run statistics are on. */
struct rd_watch_reading {
	uint64_t now_ns, run_ns;
	bool counted;
};

/* Whether run times are to be read again, which costs one system call per program. */
bool rd_watch_due(const struct rd_watch *watch, uint64_t now_ns);

/* RD_EARLY_END_NOT, RD_EARLY_END_UNREAD or RD_EARLY_END_CPU. A window in which run statistics were off at times is ignored. */
enum rd_early_end rd_watch_step(struct rd_watch *watch, const struct rd_watch_reading *reading);

/* Checks only for RD_EARLY_END_UNREAD. */
enum rd_early_end rd_watch_reader(const struct rd_watch *watch, uint64_t now_ns);

/* Runs the holder; never returns. `backends` is memory shared with the command: one byte per function. */
_Noreturn void rd_holder_run(int sock, struct rd_fnset *set, const struct rd_session_opts *opts, uint8_t *backends);

/*
 * Starts a process that adds hooks to a trace (opts->share), to the functions of add[set->n_fns], and passes them on through `sock`.
 * Functions with a backend in `backends` have hooks already. Returns the PID of a child that ends at once, for waitpid(), or -1
 * and errno.
 */
pid_t rd_adder_start(int sock, struct rd_fnset *set, const bool *add, const struct rd_session_opts *opts,
		     uint8_t *backends);

#endif
