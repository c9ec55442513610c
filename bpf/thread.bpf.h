/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracing programs keep: their settings, the maps, a thread on its way through the kernel. */
#ifndef RD_BPF_THREAD_H
#define RD_BPF_THREAD_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include "record.h"
#include "totals.bpf.h"
#include "trace.h"

#define MAX_ERRNO 4095
#define HEADER_SIZE __builtin_offsetof(struct rd_rec, chain)

/* Types of the running kernel, read through its own BTF: only the fields that are used. Same on 5.10 to 7.2. */
struct task_struct {
	__u32 tgid;
	struct task_struct *real_parent;
} __attribute__((preserve_access_index));

struct inode {
	unsigned int i_rdev;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
} __attribute__((preserve_access_index));

/* Knobs that do not change after loading. */
const volatile struct rd_trace_config cfg = {};

/* Set by user space. On: calls are followed. Off at first, so that no call is seen half while hooks are being added, and
 * at the end, when taking them away may need a minute. */
volatile bool on = false;

/* The process that asked for the trace, as the initial pid namespace numbers it: written by `whoami`. */
volatile __u32 command = 0;

#define THREAD_IN_CALL 1
#define THREAD_USED 2 /* what a call leaves behind that met a failure is still there */

/* A thread on its way through the kernel. */
struct thread {
	__u32 state;  /* THREAD_*: 0 between calls, after one that met no failure */
	bool matched; /* a function that the user named is in the chain */
	__u16 branch; /* where in the chain the present branch begins */
	__u16 n_kstack;
	__u64 sp;				/* the caller's stack pointer at the last exit in the chain */
	struct rd_rec_link earlier[RD_EARLIER]; /* branches before the present one, newest first: origin, last errno */
	__u64 args[2];				/* of the root */
	volatile __u64 frame;			/* scratch of caller_sp() */
	struct rd_rec rec;
	__u64 kstack[RD_STACK_SLOTS];
	__u64 ustack[RD_STACK_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space: as many as there are functions */
	__type(key, __u32);
	__type(value, __u32);
} fns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RD_COUNTS_MAX);
	__type(key, struct rd_count_key);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline __u32 fn_info(__u32 fn)
{
	__u32 *info = bpf_map_lookup_elem(&fns, &fn);

	return info ? *info : 0;
}

#endif
