// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The yardstick: the least that a program on the same hook can do.
 *
 *   check    reads the return value and holds it against the range of an errno
 *   record   also sends, for each exit with an errno, where, what, when and who
 *   stack    also sends the kernel's stack with it
 */
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include "bare.h"

__u64 failures = 0;

struct bare_stack stack = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BARE_RING);
} ring SEC(".maps");

static __always_inline int is_errno(__u64 ret)
{
	return (__u32)ret >= (__u32)-4095;
}

static __always_inline void fill(void *ctx, struct bare_record *record)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	record->ip = bpf_get_func_ip(ctx);
	record->cookie = bpf_get_attach_cookie(ctx);
	record->time = bpf_ktime_get_ns();
	record->pid = pid_tgid >> 32;
	record->tid = pid_tgid;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
}

static __always_inline void send(void *ctx)
{
	struct bare_record record;

	fill(ctx, &record);
	bpf_ringbuf_output(&ring, &record, sizeof(record), BPF_RB_NO_WAKEUP);
}

static __always_inline void send_stack(void *ctx)
{
	fill(ctx, &stack.record);
	bpf_get_stack(ctx, stack.frames, sizeof(stack.frames), 0);
	bpf_ringbuf_output(&ring, &stack, sizeof(stack), BPF_RB_NO_WAKEUP);
}

SEC("?fentry")
int fentry_none(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("?fexit")
int fexit_check(void *ctx)
{
	__u64 ret;

	if (!bpf_get_func_ret(ctx, &ret) && is_errno(ret))
		failures++;
	return 0;
}

SEC("?fexit")
int fexit_record(void *ctx)
{
	__u64 ret;

	if (!bpf_get_func_ret(ctx, &ret) && is_errno(ret))
		send(ctx);
	return 0;
}

SEC("?fexit")
int fexit_stack(void *ctx)
{
	__u64 ret;

	if (!bpf_get_func_ret(ctx, &ret) && is_errno(ret))
		send_stack(ctx);
	return 0;
}

SEC("?kprobe")
int kprobe_none(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

SEC("?kretprobe")
int kprobe_check(struct pt_regs *ctx)
{
	if (is_errno(PT_REGS_RC(ctx)))
		failures++;
	return 0;
}

SEC("?kretprobe")
int kprobe_record(struct pt_regs *ctx)
{
	if (is_errno(PT_REGS_RC(ctx)))
		send(ctx);
	return 0;
}

SEC("?kretprobe")
int kprobe_stack(struct pt_regs *ctx)
{
	if (is_errno(PT_REGS_RC(ctx)))
		send_stack(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
