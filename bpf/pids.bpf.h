/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Process and thread ID of the caller as numbered in the PID namespace of the tracing command. */
#ifndef RD_BPF_PIDS_H
#define RD_BPF_PIDS_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <stdbool.h>

#include "kernel.bpf.h"

/* The PID namespace of the command: its depth, and the address of its struct. Set by note_namespace(), in a process of that
 * namespace; depth 0, the initial namespace, if that could not run. */
volatile __u32 own_depth = 0;
volatile __u64 own_namespace = 0;

/* The address of a struct, as a number: the verifier of Linux 6.1 rejects arithmetic on pointers to kernel structs. */
static __always_inline void read_number(struct task_struct *task, __u32 depth, struct upid *ret)
{
	__u64 pid = 0;

	if (!bpf_core_read(&pid, sizeof(pid), &task->thread_pid))
		bpf_probe_read_kernel(ret, sizeof(*ret),
				      (void *)(pid + bpf_core_field_offset(struct pid, numbers) +
					       depth * bpf_core_type_size(struct upid)));
}

static __always_inline void note_namespace(struct task_struct *task, bool read_kernel)
{
	struct upid number = {};
	__u32 depth = task->thread_pid->level;

	if (read_kernel)
		read_number(task, depth, &number);
	own_namespace = (__u64)number.ns;
	own_depth = depth;
}

/* 0: the process is not visible in that namespace. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	struct upid number = {};

	if (BPF_CORE_READ(task, thread_pid, level) < own_depth)
		return 0;
	read_number(task, own_depth, &number);
	return (__u64)number.ns == own_namespace ? number.nr : 0;
}

/* Without permission to read kernel memory, only processes of the same namespace are known, given by its file in /proc. */
static __always_inline void read_pids(bool read_kernel, __u64 ns_dev, __u64 ns_ino, __u32 *pid, __u32 *tid)
{
	__u64 initial = bpf_get_current_pid_tgid();
	struct bpf_pidns_info ns = {};

	if (!own_depth) {
		*pid = initial >> 32;
		*tid = initial;
	} else if (read_kernel) {
		struct task_struct *task = bpf_get_current_task_btf();

		*pid = number_of(BPF_CORE_READ(task, group_leader));
		*tid = number_of(task);
	} else {
		bpf_get_ns_current_pid_tgid(ns_dev, ns_ino, &ns, sizeof(ns));
		*pid = ns.tgid;
		*tid = ns.pid;
	}
}

#endif
