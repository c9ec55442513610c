/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks on kernel functions, each with the first of four backends that works for it. Used only in the holder process: the hooks are
 * detached when its file descriptors are closed.
 */
#ifndef RD_TRACE_ATTACH_H
#define RD_TRACE_ATTACH_H

#include <linux/types.h>
#include <time.h>

#include "bpf/record.h"
#include "source/opener/child.h"
#include "trace/attach/session.h"

struct bpf_program;

/* The hook points, each with its own program. */
enum rd_hook {
	RD_HOOK_LEAVE,	    /* exit of a function other than a root */
	RD_HOOK_LEAVE_ROOT, /* exit of a root */
	RD_HOOK_ENTER_ROOT,
	RD_HOOK_OBJECT, /* entry of a function with a QP or device argument */
	RD_HOOK_NOTE,	/* entry of a function whose arguments are noted, even if it is not traced: rd_fn.notes */
	RD_HOOK_COUNT,
};

/* File descriptors that the holder passes to the command. */
enum rd_fd {
	RD_FD_RING,
	RD_FD_COUNTS, /* map of counts; key and value depend on the BPF object */
	RD_FD_TOTALS, /* struct rd_totals per CPU */
	RD_FD_SWITCH, /* the map that holds the on switch */
	RD_FD_SHARED, /* first of the maps of trace-errno that hooks added later share */
	RD_FD_FNS = RD_FD_SHARED,
	RD_FD_THREADS,
	RD_FD_LAYOUTS,
	RD_FD_BENIGN,
	RD_FD_OWNER, /* the record of the owner */
	RD_FD_COUNT,
};

struct rd_attach;

/* A program that the kernel refused to load, and what its verifier said. */
struct rd_refusal {
	char program[32];
	char reason[160]; /* "instruction 153: R2 unbounded memory access"; empty: it said nothing */
	char *log;	  /* whole; owned */
};
#define RD_VERIFIER_LOG (4 << 20) /* bytes, of which those that are not written cost nothing */

/* Fills reason from log. */
void rd_refusal_explain(struct rd_refusal *refusal);

/* Types of the functions of a program, for its copies. */
struct rd_program_types {
	const struct bpf_program *prog;
	void *func_info; /* n records of `size` bytes, struct bpf_func_info; owned */
	uint32_t n, size;
	int btf; /* file descriptor of the BTF that they refer to; owned by the BPF object */
};

/* A loaded BPF object: templates for each hook, and the maps shared with the command. */
struct rd_programs {
	const struct rd_programs_ops *ops;
	void *skel;
	struct bpf_program *tracing[RD_HOOK_COUNT], *kprobe[RD_HOOK_COUNT]; /* NULL: none for that hook */
	int fds[RD_FD_COUNT];
	volatile bool *on;
	size_t on_at;			  /* offset in its map */
	size_t loads_at;		  /* in the same map: of struct rd_module_loads; SIZE_MAX: none */
	struct bpf_program *loads;	  /* notes modules that are loaded; NULL: none */
	struct bpf_program *unload_asked; /* notes modules that are to be unloaded; NULL: none */
	size_t unloads_at;		  /* in the map of the switch: of struct rd_module_unloads */
	struct rd_program_types types[2 * RD_HOOK_COUNT]; /* of the templates */
	size_t n_types;
};

struct rd_programs_ops {
	/* Opens and loads the object and fills attach->programs except `ops`; loads only programs of the requested
	 * types. -errno; the caller unloads what was opened. */
	int (*load)(struct rd_attach *attach, bool tracing, bool kprobes, char *log);
	/* Stores the properties of each selected function in a map for the programs. -errno. NULL: they need none. */
	int (*describe)(const struct rd_attach *attach);
	/* Whether a function gets that hook with that backend. */
	bool (*applies)(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend,
			enum rd_hook hook);
	/* Tells other readers of the maps that the programs are switched off. NULL: there are none. */
	void (*ending)(const struct rd_attach *attach);
	bool object_optional; /* a function is hooked even if its object hook fails */
	bool brief; /* attached for a moment, so with what attaches fastest: kprobes are loaded alone, others only if that fails */
};

extern const struct rd_programs_ops rd_programs_errno; /* attach-errno.c */
extern const struct rd_programs_ops rd_programs_qp;    /* attach-qp.c */
extern const struct rd_programs_ops rd_programs_query; /* attach-qp.c */

/* A file descriptor of a link or a program, which keeps the module of its functions from being unloaded. */
struct rd_held_fd {
	int fd;
	uint32_t module; /* index in the set; RD_NO_MODULE: of several, or of none */
};
#define RD_NO_MODULE UINT32_MAX

/* Counters of our programs, kept by the kernel. */
struct rd_attach_counts {
	uint64_t missed;       /* calls for which the kernel could not run the hook */
	uint64_t run_ns, runs; /* of the programs, while run statistics were on */
	bool all_missed; /* false: the kernel does not count misses of all link types in use; `missed` is a lower bound */
	bool all_runs;	 /* false: run_ns and runs are incomplete; true only if run statistics were on all the time */
};

struct rd_attach {
	struct rd_fnset *set;
	const struct rd_session_opts *opts;
	struct rd_programs programs;
	struct rd_refusal refusal;    /* of the full programs */
	bool works[RD_BACKEND_COUNT]; /* determined by loading test programs */
	bool read_kernel;	      /* programs may read kernel memory */
	bool preemptible;	      /* the kernel is preemptible, or it is unknown */
	int *btf_fds;		      /* per module; -1: not opened */
	int kprobe_type;	      /* perf event type of kprobes; -1: the kernel has none */
	struct rd_held_fd *links;
	size_t n_links, cap_links;
	struct rd_held_fd *progs; /* programs that were loaded in addition to the templates; for reading their counters */
	size_t n_progs, cap_progs;
	struct rd_attach_counts released; /* of programs and links that were released */
	size_t max_files;		  /* limit on descriptors of this process */
	bool progs_closed;		  /* some, for lack of descriptors */
	size_t added[RD_BACKEND_COUNT];	  /* functions whose hooks another process attached: rd_attach_add */
	struct rd_hold_record owner;	  /* contents of owner_map */
	int owner_map;			  /* map of the record; -1: none yet */
	size_t done, total;		  /* functions, for progress */
	uint8_t *backends;		  /* per function: enum rd_backend; the result */
	int (*tick)(void *arg, size_t done, size_t total); /* returns other than 0 to cancel */
	void *tick_arg;
	struct rd_errlist *notes;
};

/* Loads the programs and determines which backends work. `backends` has one byte per function and is owned by the caller. */
int rd_attach_open(struct rd_attach *attach, struct rd_fnset *set, const struct rd_session_opts *opts,
		   uint8_t *backends, struct rd_errlist *notes, struct rd_err *err);

/* Attaches to the selected functions and then switches the programs on. `reason` (caller frees): why these backends.
 * -EINTR if the tick cancelled. Fails only if nothing could be attached. */
int rd_attach_run(struct rd_attach *attach, char **reason, struct rd_err *err);

/* Takes over hooks that another process attached: links, then programs, with their modules. Owns the descriptors. */
void rd_attach_add(struct rd_attach *attach, const int *fds, const uint32_t *modules, size_t n_links, size_t n_progs);

/* Detaches the hooks of one module, so that it can be unloaded. */
void rd_attach_release(struct rd_attach *attach, uint32_t module);

void rd_attach_count(const struct rd_attach *attach, struct rd_attach_counts *ret);

/* Updates the record: state, and functions per backend. */
void rd_attach_update_record(struct rd_attach *attach, enum rd_hold_state state);

/* Disables the programs, then detaches all hooks, which can take a minute on kernels before 7. */
void rd_attach_close(struct rd_attach *attach);

/* ---- internal */

/* Takes ownership of the descriptor of an attached program. */
void rd_attach_keep_prog(struct rd_attach *attach, int fd, uint32_t module);

/* Determines by test programs which backends this kernel supports. */
void rd_attach_probe(struct rd_attach *attach);

/* Creates the record of the owner of the hooks. -errno. */
int rd_attach_create_record(struct rd_attach *attach);

/* Marks programs for loading as templates; tracing programs need a function of vmlinux to be verified against. -errno. */
int rd_programs_autoload(const struct rd_programs *programs, bool tracing, bool kprobes);
/* Runs a program once, in the context of this process. -errno. */
int rd_programs_run(const struct bpf_program *program);

/*
 * The process that owns the hooks. The command forks it before the first hook exists and communicates with it over a socket. When
 * the command has ended, for any reason, the holder disables the programs and detaches the hooks, however long that takes. It does
 * the same on SIGTERM, when events are not read, and when the programs use too much CPU; then it reports the reason. When the
 * holder is killed, the kernel closes its descriptors, which detaches the hooks as well.
 */

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

struct rd_msg {
	enum rd_msg_type type;
	enum rd_early_end why;
	/* done, total; READY: offsets in the map of the switch: of it, and of the loaded modules; HOOKS: links, programs; RELEASE: module */
	uint64_t a, b;
	uint64_t unloads_at;		      /* READY: offset in the same map */
	uint32_t functions[RD_BACKEND_COUNT]; /* HOOKS, RELEASE: that were hooked */
	uint32_t modules[RD_FDS_MAX];	      /* HOOKS: of each link and program */
	struct rd_attach_counts counts;
	double seconds;
	struct rd_err err;
	char text[256]; /* reason */
};

/* One message, with descriptors on READY and HOOKS. Returns 0, -EPIPE if the peer has closed, or -errno. The receiver expects n_fds
 * descriptors on READY, and a + b on HOOKS; `fds` has place for RD_FDS_MAX, or is NULL if neither is expected. */
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
