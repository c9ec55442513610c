// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One exit program for every function: it returns at once unless the function returned an errno, and otherwise adds the
 * exit to the chain of its thread. When the thread leaves the kernel's door that it came in by (the root) with an errno,
 * the chain becomes one record and one count.
 *
 * The programs below are templates: user space loads a copy of their instructions for each function (fexit), for each
 * BTF object (fexit of many), or once (kprobe.multi). The attach cookie is the function's id.
 */
#include "decode.bpf.h"
#include "filter.bpf.h"
#include "thread.bpf.h"

/* Cheap and on the safe side: every errno looks like this in the lower half of the register. */
static __always_inline bool maybe_errno(__u64 ret)
{
	return (__u32)ret >= (__u32)-MAX_ERRNO;
}

/* An int leaves the upper half of the register as it was; in a long or a pointer it is all ones. Where the type is not
 * known, a call that extended the sign and one that did not are both believed. */
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

/* The stack pointer of the caller, to which the function returns. Under fexit it is found from the trampoline's frame, as
 * x86-64 lays it out: below the return address and the saved frame pointer lie the return value and the arguments, where
 * the context points. Elsewhere the constant part differs, which no comparison notices. A sum with a context pointer is
 * refused, so the pointer goes through memory. */
static __always_inline __u64 caller_sp(void *ctx, struct thread *t, bool fexit)
{
	if (!fexit)
		return PT_REGS_SP((struct pt_regs *)ctx);
	t->frame = (__u64)ctx;
	return t->frame + bpf_get_func_arg_cnt(ctx) * 8 + 24;
}

/* An index into a chain that the verifier of every kernel finds in bounds. Where the compiler sees that it is small anyway, it leaves
 * the mask out (clang 19 does), and 6.1 does not see that a bound of one register holds for its copy, too. */
static __always_inline __u32 slot(__u32 n)
{
	barrier_var(n);
	return n % RD_CHAIN_SLOTS;
}

/* Adds an exit to the thread's chain. This function called the one before if its caller's stack pointer is higher. Equal
 * stack pointers mean siblings under fexit; under a kretprobe they may also be a function and the one it jumped to at its
 * end, so there only another errno makes a new branch. */
static __always_inline void add_exit(void *ctx, struct thread *t, __u32 fn, __u32 info, __s16 err, bool fexit)
{
	struct rd_rec *rec = &t->rec;
	__u64 sp = caller_sp(ctx, t, fexit);
	__u32 n = rec->n_chain;
	__u16 flags = 0;

	if (n) {
		__s16 last = rec->chain[slot(n - 1)].err;

		if (sp < t->sp || (sp == t->sp && (fexit || err != last))) {
			flags = RD_LINK_BRANCH;
			t->earlier[2] = t->earlier[1];
			t->earlier[1] = t->earlier[0];
			t->earlier[0] = rec->chain[slot(t->branch)];
			t->earlier[0].err = last;
			t->branch = n;
		}
	}
	if (n >= RD_CHAIN_MAX) {
		/* The newest branch is the one that can still matter; within a branch its origin is, and the newest. */
		if (flags) {
			rec->dropped += n;
			t->branch = 0;
			n = 0;
		} else {
			rec->dropped++;
			n = RD_CHAIN_MAX - 1;
		}
	}
	rec->chain[slot(n)] = (struct rd_rec_link){ .fn = fn, .err = err, .flags = flags };
	rec->n_chain = n + 1;
	t->sp = sp;
	if (info & RD_FN_MATCH)
		t->matched = true;
	if (cfg.kernel_stack && (flags || !n)) {
		long size = bpf_get_stack(ctx, t->kstack, RD_STACK_MAX * sizeof(__u64), 0);

		t->n_kstack = size > 0 ? size / sizeof(__u64) : 0;
	}
}

/* The innermost function of what led to the root's errno. That is the root's own branch, unless it begins with another
 * errno and an earlier branch ended with the root's: then the later failure was one of cleaning up. */
static __always_inline __u32 find_origin(struct thread *t)
{
	struct rd_rec *rec = &t->rec;
	struct rd_rec_link *first = &rec->chain[slot(t->branch)];
	__u32 i;

	if (first->err != rec->err)
		for (i = 0; i < RD_EARLIER; i++)
			if (t->earlier[i].err == rec->err)
				return t->earlier[i].fn;
	return first->fn;
}

static __always_inline bool count(const struct rd_rec *rec)
{
	struct rd_count_key key = { .verb = rec->verb, .origin = rec->origin, .dev = rec->dev, .err = rec->err };
	__u64 one = 1, *value = bpf_map_lookup_elem(&counts, &key);

	if (!value && !bpf_map_update_elem(&counts, &key, &one, BPF_NOEXIST))
		return true;
	/* Another CPU may have been first. */
	if (!value)
		value = bpf_map_lookup_elem(&counts, &key);
	if (!value)
		return false;
	__sync_fetch_and_add(value, 1);
	return true;
}

/* A count of 8-byte things as bytes, bounded by a mask: what the compiler makes of a comparison the verifier loses. */
static __always_inline __u32 size_of(__u32 n, __u32 slots)
{
	barrier_var(n);
	n &= slots - 1;
	barrier_var(n);
	return n * 8;
}

static __always_inline long send_with_stacks(struct thread *t)
{
	struct rd_rec *rec = &t->rec;
	__u32 head = HEADER_SIZE + size_of(rec->n_chain, RD_CHAIN_SLOTS);
	__u32 kernel = size_of(rec->n_kstack, RD_STACK_SLOTS), user = size_of(rec->n_ustack, RD_STACK_SLOTS);
	struct bpf_dynptr ptr;
	long err = bpf_ringbuf_reserve_dynptr(&ring, head + kernel + user, 0, &ptr);

	if (err) {
		bpf_ringbuf_discard_dynptr(&ptr, BPF_RB_NO_WAKEUP);
		return err;
	}
	bpf_dynptr_write(&ptr, 0, rec, head, 0);
	if (kernel)
		bpf_dynptr_write(&ptr, head, t->kstack, kernel, 0);
	if (user)
		bpf_dynptr_write(&ptr, head + kernel, t->ustack, user, 0);
	bpf_ringbuf_submit_dynptr(&ptr, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline long send(void *ctx, struct thread *t)
{
	struct rd_rec *rec = &t->rec;

	rec->n_kstack = t->n_kstack;
	rec->n_ustack = 0;
	if (cfg.user_stack) {
		long got = bpf_get_stack(ctx, t->ustack, RD_STACK_MAX * sizeof(__u64), BPF_F_USER_STACK);

		rec->n_ustack = got > 0 ? got / sizeof(__u64) : 0;
	}
	if (cfg.kernel_stack || cfg.user_stack)
		return send_with_stacks(t);
	return bpf_ringbuf_output(&ring, rec, HEADER_SIZE + size_of(rec->n_chain, RD_CHAIN_SLOTS), BPF_RB_NO_WAKEUP);
}

/* The root returned an errno: the chain becomes an event. */
static __always_inline void emit(void *ctx, struct thread *t, __u32 entry, __s16 err)
{
	struct rd_rec *rec = &t->rec;
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct rd_totals *sum;

	rec->err = err;
	rec->origin = find_origin(t);
	rec->pid = pid_tgid >> 32;
	rec->tid = pid_tgid;
	rec->uid = bpf_get_current_uid_gid();
	rec->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	decode(t, entry);
	if (!passes(t))
		return;
	rec->time = bpf_ktime_get_ns();
	sum = get_totals();
	if (!sum)
		return;
	sum->events++;
	if (!count(rec))
		sum->uncounted++;
	if (send(ctx, t))
		sum->lost++;
	else
		sum->delivered++;
}

static __always_inline void begin(struct thread *t, __u32 fn, __u64 arg0, __u64 arg1)
{
	t->state = THREAD_IN_CALL;
	t->rec.root = fn;
	t->args[0] = arg0;
	t->args[1] = arg1;
}

/*
 * Here and below: what only some calls need is out of line, so that a call that succeeds pays neither for it nor for the
 * registers that it would have to save.
 */
static __noinline int enter_used(struct thread *t, __u32 fn, __u64 arg0, __u64 arg1)
{
	struct rd_totals *sum = NULL;

	if (!t) {
		sum = get_totals();
		if (sum)
			sum->no_state++;
		return 0;
	}
	if (t->state & THREAD_IN_CALL) {
		/* A write handler below an ioctl is one more function of the ioctl's chain. */
		if (RD_FN_ENTRY(fn_info(fn)) == RD_DOOR_HANDLER && RD_FN_ENTRY(fn_info(t->rec.root)) != RD_DOOR_HANDLER)
			return 0;
		sum = get_totals();
		if (sum)
			sum->no_exit++;
	}
	t->matched = false;
	t->branch = 0;
	__builtin_memset(t->earlier, 0, sizeof(t->earlier));
	t->n_kstack = 0;
	t->rec.n_chain = 0;
	t->rec.dropped = 0;
	t->rec.flags = 0;
	t->rec.ibdev[0] = 0;
	begin(t, fn, arg0, arg1);
	return 0;
}

static __always_inline int enter_root(__u32 fn, __u64 arg0, __u64 arg1)
{
	struct thread *t;

	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || t->state)
		return enter_used(t, fn, arg0, arg1);
	begin(t, fn, arg0, arg1);
	return 0;
}

/* The thread's state, where an exit that failed is to be added to it. */
static __always_inline struct thread *thread_in_call(void)
{
	struct thread *t;

	if (!on)
		return NULL;
	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (!t || !(t->state & THREAD_IN_CALL))
		return NULL;
	t->state = THREAD_IN_CALL | THREAD_USED;
	return t;
}

static __always_inline int root_failed(void *ctx, struct thread *t, __u32 fn, __u64 ret, bool fexit)
{
	__u32 info = fn_info(fn);
	bool failed = maybe_errno(ret) && is_errno(ret, info);
	struct rd_totals *sum;

	if (!(t->state & THREAD_IN_CALL)) {
		sum = get_totals();
		if (sum)
			sum->no_entry++;
		return 0;
	}
	if (failed) {
		t->state = THREAD_IN_CALL | THREAD_USED;
		add_exit(ctx, t, fn, info, ret, fexit);
	}
	if (t->rec.root != fn)
		return 0;
	t->state &= ~THREAD_IN_CALL;
	if (failed)
		emit(ctx, t, RD_FN_ENTRY(info), ret);
	return 0;
}

static __noinline int fexit_root_failed(void *ctx, struct thread *t, __u32 fn, __u64 ret)
{
	__u32 entry = RD_FN_ENTRY(fn_info(fn));

	if (t->rec.root == fn) {
		bpf_get_func_arg(ctx, 0, &t->args[0]);
		/* ioctl(file, command, header); write(file, buffer, …) */
		bpf_get_func_arg(ctx, entry == RD_DOOR_IOCTL ? 2 : 1, &t->args[1]);
	}
	return root_failed(ctx, t, fn, ret, true);
}

static __noinline int kprobe_root_failed(void *ctx, struct thread *t, __u32 fn, __u64 ret)
{
	return root_failed(ctx, t, fn, ret, false);
}

/* Where the root returned an errno, or was not seen to be entered: true. */
static __always_inline bool leave_root(struct thread *t, __u32 fn, __u64 ret)
{
	if (maybe_errno(ret) || !(t->state & THREAD_IN_CALL))
		return true;
	if (t->rec.root == fn)
		t->state &= ~THREAD_IN_CALL;
	return false;
}

static __noinline int fexit_failed(void *ctx)
{
	__u32 fn = bpf_get_attach_cookie(ctx);
	__u32 info = fn_info(fn);
	struct thread *t;
	__u64 ret, arg;

	bpf_get_func_ret(ctx, &ret);
	if (!is_errno(ret, info))
		return 0;
	t = thread_in_call();
	if (!t)
		return 0;
	if (RD_FN_QP_ARG(info) != RD_FN_NO_ARG && !bpf_get_func_arg(ctx, RD_FN_QP_ARG(info), &arg))
		note_qp(&t->rec, (void *)arg);
	if (RD_FN_DEV_ARG(info) != RD_FN_NO_ARG && !bpf_get_func_arg(ctx, RD_FN_DEV_ARG(info), &arg))
		note_device(&t->rec, (void *)arg);
	add_exit(ctx, t, fn, info, ret, true);
	return 0;
}

SEC("?fexit")
int fexit_leave(void *ctx)
{
	void *volatile kept = ctx; /* on the stack: cheaper than in a register that has to be saved first */
	__u64 ret;

	bpf_get_func_ret(ctx, &ret); /* at an exit it cannot fail */
	return maybe_errno(ret) ? fexit_failed(kept) : 0;
}

SEC("?fexit")
int fexit_leave_root(void *ctx)
{
	struct thread *t;
	__u64 ret;
	__u32 fn;

	if (!on)
		return 0;
	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (!t) /* it came in before the trace began */
		return 0;
	bpf_get_func_ret(ctx, &ret);
	fn = bpf_get_attach_cookie(ctx);
	return leave_root(t, fn, ret) ? fexit_root_failed(ctx, t, fn, ret) : 0;
}

SEC("?fentry")
int fentry_root(void *ctx)
{
	return on ? enter_root(bpf_get_attach_cookie(ctx), 0, 0) : 0;
}

static __noinline int kprobe_failed(struct pt_regs *ctx)
{
	__u64 ret = PT_REGS_RC(ctx);
	__u32 fn = bpf_get_attach_cookie(ctx);
	__u32 info = fn_info(fn);
	struct thread *t;

	if (!is_errno(ret, info))
		return 0;
	t = thread_in_call();
	if (t)
		add_exit(ctx, t, fn, info, ret, false);
	return 0;
}

SEC("?kretprobe")
int kprobe_leave(struct pt_regs *ctx)
{
	return maybe_errno(PT_REGS_RC(ctx)) ? kprobe_failed(ctx) : 0;
}

SEC("?kretprobe")
int kprobe_leave_root(struct pt_regs *ctx)
{
	struct thread *t;
	__u64 ret;
	__u32 fn;

	if (!on)
		return 0;
	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (!t) /* it came in before the trace began */
		return 0;
	fn = bpf_get_attach_cookie(ctx);
	ret = PT_REGS_RC(ctx);
	return leave_root(t, fn, ret) ? kprobe_root_failed(ctx, t, fn, ret) : 0;
}

/* The verifier wants the context read at constant offsets: the compiler may not turn the choice of a register into
 * arithmetic on the pointer. */
static __always_inline __u64 kprobe_arg(struct pt_regs *ctx, __u32 n)
{
	__u64 args[] = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx),
			 PT_REGS_PARM5(ctx) };
	__u64 arg = 0;

	for (int i = 0; i < 5; i++) {
		barrier_var(args[i]);
		if (n == (__u32)i)
			arg = args[i];
	}
	return arg;
}

SEC("?kprobe")
int kprobe_root(struct pt_regs *ctx)
{
	__u32 fn, entry;

	if (!on)
		return 0;
	fn = bpf_get_attach_cookie(ctx);
	entry = RD_FN_ENTRY(fn_info(fn));
	return enter_root(fn, PT_REGS_PARM1(ctx), kprobe_arg(ctx, entry == RD_DOOR_IOCTL ? 2 : 1));
}

/* At a return the arguments are gone: on the few functions of the core that take a queue pair, this notes it going in. */
SEC("?kprobe")
int kprobe_object(struct pt_regs *ctx)
{
	__u32 info = fn_info(bpf_get_attach_cookie(ctx));
	struct thread *t = thread_in_call();

	if (!t)
		return 0;
	note_qp(&t->rec, (void *)kprobe_arg(ctx, RD_FN_QP_ARG(info)));
	note_device(&t->rec, (void *)kprobe_arg(ctx, RD_FN_DEV_ARG(info)));
	return 0;
}

/* Run once, in the context of the holder, which is the command's child. */
SEC("?raw_tp")
int whoami(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	(void)ctx;
	command = task->real_parent->tgid;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
