/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chain of functions of a thread that returned an errno, one added per exit, and the origin of the errno that it ends with. */
#ifndef RD_CHAIN_BPF_H
#define RD_CHAIN_BPF_H

#include "thread.bpf.h"

/* A cheap first check without false negatives, on the lower half of the register. */
static __always_inline bool maybe_errno(__u64 ret)
{
	return (__u32)ret >= (__u32)-MAX_ERRNO;
}

/* In an int, the upper half of the register is undefined; in a long or a pointer with an errno, it is all ones. If the type is
 * unknown, values with and without sign extension count as an errno. */
static __always_inline bool is_errno(__u64 ret, __u32 info)
{
	__u32 upper = ret >> 32;

	switch (RD_FN_RET(info)) {
	case RD_CLASS_INT:
		return true;
	case RD_CLASS_WIDE:
		return upper == 0xffffffff;
	case RD_CLASS_UNKNOWN:
		return upper == 0xffffffff || !upper;
	default:
		return false;
	}
}

/* The stack pointer of the caller, to which the function returns. For fexit it is calculated from the frame of the trampoline, as
 * laid out on x86-64: the context points to the arguments and the return value, below the saved frame pointer and the return
 * address. On other architectures the constant differs, which does not affect comparisons; on arm64 the frame is aligned to 16
 * bytes (arch/arm64/net/bpf_jit_comp.c). The verifier rejects arithmetic on a context pointer, so the pointer is stored in memory
 * first. At a return on arm64 the stack pointer of kprobe-multi is stale since Linux 6.14 or so; the frame pointer, which is the
 * caller's again, rises with it. */
static __always_inline __u64 caller_sp(void *ctx, struct thread *t, bool fexit)
{
#ifdef __TARGET_ARCH_arm64
	if (!fexit)
		return PT_REGS_FP((struct pt_regs *)ctx);
	t->frame = (__u64)ctx;
	return (t->frame + bpf_get_func_arg_cnt(ctx) * 8 + 24 + 15) & ~15ull;
#else
	if (!fexit)
		return PT_REGS_SP((struct pt_regs *)ctx);
	t->frame = (__u64)ctx;
	return t->frame + bpf_get_func_arg_cnt(ctx) * 8 + 24;
#endif
}

/* Adds an exit to the chain of the thread. This function called the previous one if the stack pointer of its caller is higher.
 * Equal stack pointers mean siblings with fexit; with a kretprobe they may also be a function and its tail call, so there only a
 * different errno starts a new branch. */
static __always_inline void add_exit(void *ctx, struct thread *t, __u32 fn, __u32 info, __s16 err, bool fexit)
{
	struct rd_rec *rec = &t->rec;
	__u64 sp = caller_sp(ctx, t, fexit);
	__u32 n = rec->n_chain;
	bool other = true; /* the first exit, or with another errno than the branch before */
	__u16 flags = 0;

	if (n) {
		__s16 last = rec->chain[BOUNDED(n - 1, RD_CHAIN_SLOTS)].err;

		if (sp < t->sp || (sp == t->sp && (fexit || err != last))) {
			flags = RD_LINK_BRANCH;
			other = err != last;
			t->earlier[2] = t->earlier[1];
			t->earlier[1] = t->earlier[0];
			t->earlier[0] = rec->chain[BOUNDED(t->branch, RD_CHAIN_SLOTS)];
			t->earlier[0].err = last;
			t->branch = n;
		}
	}
	if (n >= RD_CHAIN_MAX) {
		/* Only the newest branch can still matter; within a branch, keep the origin and the newest exits. */
		if (flags) {
			rec->dropped += n;
			t->branch = 0;
			n = 0;
		} else {
			rec->dropped++;
			n = RD_CHAIN_MAX - 1;
		}
	}
	rec->chain[BOUNDED(n, RD_CHAIN_SLOTS)] = (struct rd_rec_link){ .fn = fn, .err = err, .flags = flags };
	rec->n_chain = n + 1;
	t->sp = sp;
	if (info & RD_FN_MATCH)
		t->matched = true;
	/* Of branches with one errno the first is the origin: its stack is kept. */
	if (cfg.kernel_stack && (flags || !n) && other) {
		long size = bpf_get_stack(ctx, t->kstack, RD_STACK_MAX * sizeof(__u64), 0);

		t->n_kstack = size > 0 ? size / sizeof(__u64) : 0;
	}
}

/* The origin of the errno of the root: that of the first branch that ended with it, of those that are kept. A later failure may be
 * one of the cleanup. */
static __always_inline __u32 find_origin(struct thread *t)
{
	struct rd_rec *rec = &t->rec;
	__u64 i;

	for (i = RD_EARLIER; i--;)
		if (t->earlier[i].err == rec->err)
			return t->earlier[i].fn;
	return rec->chain[BOUNDED(t->branch, RD_CHAIN_SLOTS)].fn;
}

#endif
