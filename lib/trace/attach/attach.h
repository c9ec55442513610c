/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks on kernel functions, each with the first of four backends that works for it. Used only in the holder process: the hooks are
 * detached when its file descriptors are closed.
 */
#ifndef RD_TRACE_ATTACH_H
#define RD_TRACE_ATTACH_H

#include <linux/types.h>

#include "bpf/record.h"
#include "model/trace/held.h"
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
	 * types. -errno. */
	int (*load)(struct rd_attach *attach, bool tracing, bool kprobes, char *log);
	/* Stores the properties of each selected function in a map for the programs. -errno. */
	int (*describe)(const struct rd_attach *attach);
	/* Whether a function gets that hook with that backend. */
	bool (*applies)(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend,
			enum rd_hook hook);
	/* Tells other readers of the maps that the programs are switched off. NULL: there are none. */
	void (*ending)(const struct rd_attach *attach);
	void (*unload)(void *skel);
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

/* --- internal --- */

/* Take ownership of the descriptor of a link, and of an attached program. */
void rd_attach_keep_link(struct rd_attach *attach, int fd, uint32_t module);
void rd_attach_keep_prog(struct rd_attach *attach, int fd, uint32_t module);

/* Determines by test programs which backends this kernel supports. */
void rd_attach_probe(struct rd_attach *attach);

/* Creates the record of the owner of the hooks. -errno. */
int rd_attach_create_record(struct rd_attach *attach);

/* Marks programs for loading as templates; tracing programs need a function of vmlinux to be verified against. -errno. */
int rd_programs_autoload(struct bpf_program *const programs[RD_HOOK_COUNT], bool tracing);
/* Runs a program once, in the context of this process. -errno. */
int rd_programs_run(const struct bpf_program *program);

#endif
