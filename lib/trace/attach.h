/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks on kernel functions, by whichever of the kernel's four ways works for each. Used inside the holder process only:
 * what is attached goes away with the file descriptors of whoever called this.
 */
#ifndef RD_TRACE_ATTACH_H
#define RD_TRACE_ATTACH_H

#include <linux/types.h>

#include "bpf/record.h"
#include "bpf/trace.h"
#include "trace/session.h"

struct trace_bpf;

/* The three places of a hook, each with a program of its own. */
enum rd_hook {
	RD_HOOK_LEAVE,	    /* exit of a function on the way */
	RD_HOOK_LEAVE_ROOT, /* exit of a root */
	RD_HOOK_ENTER_ROOT,
	RD_HOOK_OBJECT, /* entry of a core function that takes a queue pair; only where exits do not see arguments */
	RD_HOOK_COUNT,
};

struct rd_attach {
	struct rd_fnset *set;
	const struct rd_session_opts *opts;
	struct trace_bpf *skel;
	bool works[RD_BACKEND_COUNT]; /* found by trying */
	bool read_kernel;	      /* programs may read kernel memory */
	bool preemptible;	      /* tasks are preempted inside the kernel, or it is not known */
	int *btf_fds;		      /* per module; -1: not opened */
	int kprobe_type;	      /* perf event type of kprobes; -1: the kernel has none */
	int *links;		      /* file descriptors */
	size_t n_links, cap_links;
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

/* Times that the kernel could not run a hook, by its own count. -ENODATA where this kernel does not count all kinds that
 * are in use: `missed` is then what is known, a lower bound. */
int rd_attach_missed(const struct rd_attach *attach, uint64_t *missed);

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

/* The order in which ways are tried for a function, ended by RD_BACKEND_NONE, and why (caller frees `reason`). */
void rd_attach_choose(const struct rd_attach *attach, size_t functions, enum rd_backend order[RD_BACKEND_COUNT],
		      char **reason);

/* File descriptor of a module's BTF in the kernel, 0 for vmlinux; -errno. Kept open in `attach`. */
int rd_attach_btf_fd(struct rd_attach *attach, uint32_t module);

/* Takes a link's file descriptor over. */
int rd_attach_keep(struct rd_attach *attach, int fd);

#endif
