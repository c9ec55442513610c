/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks on kernel functions, by whichever of the kernel's four ways works for each. Used inside the holder process only:
 * what is attached goes away with the file descriptors of whoever called this.
 */
#ifndef RD_TRACE_ATTACH_H
#define RD_TRACE_ATTACH_H

#include <linux/types.h>

#include "bpf/record.h"
#include "model/trace/held.h"
#include "trace/attach/session.h"

struct bpf_program;

/* The places of a hook, each with a program of its own. */
enum rd_hook {
	RD_HOOK_LEAVE,	    /* exit of a function on the way */
	RD_HOOK_LEAVE_ROOT, /* exit of a root */
	RD_HOOK_ENTER_ROOT,
	RD_HOOK_OBJECT, /* entry of a function that takes an object worth noting */
	RD_HOOK_COUNT,
};

/* What the command is handed by the holder. */
enum rd_fd {
	RD_FD_RING,
	RD_FD_COUNTS, /* what is counted in the kernel; its key and value are the object's own */
	RD_FD_TOTALS, /* struct rd_totals per CPU */
	RD_FD_SWITCH, /* the map that holds the on switch */
	RD_FD_COUNT,
};

struct rd_attach;

/* A BPF object of ours, once it is loaded: templates for each hook, and what it shares with the command. */
struct rd_programs {
	const struct rd_programs_ops *ops;
	void *skel;
	struct bpf_program *tracing[RD_HOOK_COUNT], *kprobe[RD_HOOK_COUNT]; /* NULL: none for that hook */
	int fds[RD_FD_COUNT];
	volatile bool *on;
	size_t on_at; /* where in its map */
};

struct rd_programs_ops {
	/* Opens and loads the object and fills attach->programs but for `ops`; programs of kinds that are not wanted
	 * stay out. -errno. */
	int (*load)(struct rd_attach *attach, bool tracing, bool kprobes);
	/* Tells the programs of each selected function what they have to know of it. -errno. */
	int (*describe)(const struct rd_attach *attach);
	/* Whether a function gets that hook if it is hooked by that way. */
	bool (*applies)(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend,
			enum rd_hook hook);
	void (*unload)(void *skel);
	bool object_optional; /* a function whose object hook cannot be had is hooked all the same */
};

extern const struct rd_programs_ops rd_programs_errno; /* attach-errno.c */
extern const struct rd_programs_ops rd_programs_qp;    /* attach-qp.c */

struct rd_attach {
	struct rd_fnset *set;
	const struct rd_session_opts *opts;
	struct rd_programs programs;
	bool works[RD_BACKEND_COUNT]; /* found by trying */
	bool read_kernel;	      /* programs may read kernel memory */
	bool preemptible;	      /* tasks are preempted inside the kernel, or it is not known */
	int *btf_fds;		      /* per module; -1: not opened */
	int kprobe_type;	      /* perf event type of kprobes; -1: the kernel has none */
	int *links;		      /* file descriptors */
	size_t n_links, cap_links;
	int *progs; /* of the programs that were loaded beside the templates: what the kernel counted is asked of them */
	size_t n_progs, cap_progs;
	size_t max_files;				   /* descriptors that this process may have */
	bool progs_closed;				   /* some: there were too few descriptors to keep them */
	struct rd_hold_record owner;			   /* as others find it */
	int owner_map;					   /* its map; -1: none yet */
	size_t done, total;				   /* functions, for progress */
	uint8_t *backends;				   /* per function: enum rd_backend; what came of it */
	int (*tick)(void *arg, size_t done, size_t total); /* not 0: give up */
	void *tick_arg;
	struct rd_errlist *notes;
};

/* Loads the programs and finds out what this kernel can do. `backends` has one byte per function and stays the caller's. */
int rd_attach_open(struct rd_attach *attach, struct rd_fnset *set, const struct rd_session_opts *opts,
		   uint8_t *backends, struct rd_errlist *notes, struct rd_err *err);

/* Attaches to the selected functions and then switches the programs on. `reason` (caller frees) says why these ways.
 * -EINTR when the tick said so. Fails only when nothing could be attached. */
int rd_attach_run(struct rd_attach *attach, char **reason, struct rd_err *err);

/* What the kernel has counted of our programs. */
struct rd_attach_counts {
	uint64_t missed;       /* times that it could not run a hook */
	uint64_t run_ns, runs; /* of the programs, while run statistics were on */
	bool all_missed; /* false: this kernel does not count all kinds that are in use; `missed` is a lower bound */
	bool all_runs;	 /* false: the other two are not all of it; set only where run statistics were on all along */
};
void rd_attach_count(const struct rd_attach *attach, struct rd_attach_counts *ret);

/* Writes into the record how far this trace is, and by what its functions are hooked. */
void rd_attach_tell(struct rd_attach *attach, enum rd_hold_state state);

/* Switches the programs off, then lets go of all hooks, which can take a minute on kernels before 7. */
void rd_attach_close(struct rd_attach *attach);

/* --- between the files of this part --- */

/* One way of hooking. Attaches `hook` to n functions; marks none. All or nothing: on an error none is attached. */
typedef int rd_attach_fn(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n);
int rd_attach_fexit(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n);
int rd_attach_fexit_multi(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n);
int rd_attach_kprobe_multi(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n);
int rd_attach_kprobe(struct rd_attach *attach, enum rd_hook hook, const uint32_t *fns, size_t n);

/* Finds out by trying which of them this kernel has. */
void rd_attach_probe(struct rd_attach *attach);

/* Creates the record of whose hooks these are. -errno. */
int rd_attach_own(struct rd_attach *attach);
/* Has a program carry it. What cannot be found by it is not to be attached: -errno. */
int rd_attach_mark(const struct rd_attach *attach, int prog);
/* The same for those templates that are attached themselves. */
int rd_attach_mark_templates(const struct rd_attach *attach);

/* The order in which ways are tried for a function, ended by RD_BACKEND_NONE, and why (caller frees `reason`). */
void rd_attach_choose(const struct rd_attach *attach, size_t functions, enum rd_backend order[RD_BACKEND_COUNT],
		      char **reason);

/* Has the programs of a kind loaded as templates: which want a function of vmlinux to be checked against. -errno. */
int rd_programs_autoload(struct bpf_program *const *programs, size_t n, bool tracing);

#endif
