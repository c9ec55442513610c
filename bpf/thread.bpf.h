/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the BPF programs: configuration, maps, and the call of a thread in the kernel. */
#ifndef RD_BPF_THREAD_H
#define RD_BPF_THREAD_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include "kernel.bpf.h"
#include "record.h"
#include "totals.bpf.h"
#include "trace.h"

/*
 * A function that the verifier checks once for each program, whatever its arguments, instead of at each call with what is known
 * there. Its arguments are numbers and a struct thread that may be NULL. Some kernels also check those that no program calls: each
 * that reads kernel memory tests cfg.read_kernel itself.
 */
#define GLOBAL __noinline

#define MAX_ERRNO 4095
#define HEADER_SIZE __builtin_offsetof(struct rd_rec, chain)

/* Configuration that does not change after loading. */
const volatile struct rd_trace_config cfg = {};

/* TASK_FIELD(task, mm, locked_vm): what lies behind pointers of a task. Through BTF that is permitted even where programs may not
 * read kernel memory, but for each such pointer the verifier of Linux 6.2 and later searches the types of the kernel by name, several
 * times: half of the time that loading took on 6.12. */
#define TASK_FIELD(task, ...) (cfg.read_kernel ? BPF_CORE_READ(task, __VA_ARGS__) : ___arrow(task, __VA_ARGS__))

/* Set by user space. On: calls are traced. Off while hooks are being attached, so that no call is traced partially, and at the
 * end, when detaching may take a minute. */
volatile bool on = false;

/* PID of the tracing command in the initial PID namespace; set by `whoami`. */
volatile __u32 command = 0;

/* CLOCK_MONOTONIC, ns: when the reader was last woken. */
volatile __u64 woken = 0;

volatile struct rd_module_loads loads = {};
volatile struct rd_module_unloads unloads = {};

#define THREAD_IN_CALL 1
#define THREAD_USED 2 /* contains data of an earlier call with a failure */

/* What was noted during a call, before it failed. */
struct notes {
	__u32 known; /* RD_MOMENT_QP, RD_MOMENT_CM */
	__u32 qp_mask;
	__u8 qp_cur, qp_next, qp_type, cm_state;
};

/* A mapping of the process: struct vm_area_struct. */
struct area {
	__u64 start, end, flags, pgoff;
	struct file *file;
};

/* The call of a thread in the kernel. */
struct thread {
	__u32 state;  /* THREAD_*: 0 between calls, after a call without failure */
	bool matched; /* the chain contains a function that matches --function */
	__u16 branch; /* index in the chain of the start of the current branch */
	__u16 n_kstack;
	__u64 sp;				/* stack pointer of the caller at the last exit in the chain */
	struct rd_rec_link earlier[RD_EARLIER]; /* branches before the current one, newest first: origin, last errno */
	__u64 args[2];				/* of the root */
	volatile __u64 frame;			/* scratch of caller_sp() */
	__u64 ufile;				/* the struct ib_uverbs_file of the call; 0: unknown */
	struct notes notes;
	struct rd_rec rec;
	struct rd_rec_moment moment;
	struct rd_rec_request request;
	/* Scratch of look_at_mappings(): together, its callees have no room for it on the stack. */
	__u64 pivots[RANGE_PIVOTS];
	struct area area;
	struct rd_rec_mapping file;
	__u64 kstack[RD_STACK_SLOTS];
	struct rd_rec_user user;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space: number of functions */
	__type(key, __u32);
	__type(value, __u32);
} fns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RD_COUNTS_MAX);
	__type(key, struct rd_count_key);
	__type(value, __u64);
} counts SEC(".maps");

/* Where a request has its addresses and handles, by verb. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RD_LAYOUTS_MAX);
	__type(key, __u64);
	__type(value, struct rd_rec_layout);
} layouts SEC(".maps");

/* Failures to drop, and how many there were. The value of a key that user space added is the number of attributes that the ioctl
 * must have; 0: any. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RD_BENIGN_MAX);
	__type(key, struct rd_benign_key);
	__type(value, __u32);
} benign SEC(".maps");

static __always_inline __u32 fn_info(__u32 fn)
{
	__u32 *info = bpf_map_lookup_elem(&fns, &fn);

	return info ? *info : 0;
}

#endif
