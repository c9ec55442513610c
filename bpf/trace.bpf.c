// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same exit program for every function: it returns immediately unless the function returned an errno, and otherwise adds the
 * exit to the chain of its thread. When the kernel entry point of the call (the root) returns an errno, the chain becomes one
 * record and one count.
 *
 * The programs below are templates: user space loads a copy of their instructions for each function (fexit), for each
 * BTF object (fexit of many), or once (kprobe.multi). The attach cookie is the function's id.
 */
#include "decode.bpf.h"
#include "filter.bpf.h"
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
 * address. On other architectures the constant differs, which does not affect comparisons. The verifier rejects arithmetic on a
 * context pointer, so the pointer is stored in memory first. */
static __always_inline __u64 caller_sp(void *ctx, struct thread *t, bool fexit)
{
	if (!fexit)
		return PT_REGS_SP((struct pt_regs *)ctx);
	t->frame = (__u64)ctx;
	return t->frame + bpf_get_func_arg_cnt(ctx) * 8 + 24;
}

/* An index into a chain that the verifier of every kernel accepts as in bounds. Without the barrier, clang 19 omits the mask if
 * it can prove the bound, and the verifier of Linux 6.1 does not apply the bound of one register to its copy. */
static __always_inline __u32 slot(__u32 n)
{
	barrier_var(n);
	return n % RD_CHAIN_SLOTS;
}

/* Adds an exit to the chain of the thread. This function called the previous one if the stack pointer of its caller is higher.
 * Equal stack pointers mean siblings with fexit; with a kretprobe they may also be a function and its tail call, so there only a
 * different errno starts a new branch. */
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

/* The origin of the errno of the root: the first function of the branch of the root, unless that begins with a different errno
 * and an earlier branch ended with the errno of the root. Then the later failure was one of the cleanup. */
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

/* Size in bytes of n 8-byte elements, bounded by a mask, because the verifier loses the bound of a compiled comparison. */
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
 * Here and below, code that only some calls need is out of line, so that successful calls do not execute it or save registers for
 * it.
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
		/* A write handler called from an ioctl is an ordinary function of the chain of the ioctl. */
		if (RD_FN_ENTRY(fn_info(fn)) == RD_ROOT_HANDLER && RD_FN_ENTRY(fn_info(t->rec.root)) != RD_ROOT_HANDLER)
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

/* The state of the thread, if a failed exit is to be added to it. */
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
		bpf_get_func_arg(ctx, entry == RD_ROOT_IOCTL ? 2 : 1, &t->args[1]);
	}
	return root_failed(ctx, t, fn, ret, true);
}

static __noinline int kprobe_root_failed(void *ctx, struct thread *t, __u32 fn, __u64 ret)
{
	return root_failed(ctx, t, fn, ret, false);
}

/* True if the root returned an errno, or its entry was missed. */
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
	void *volatile kept = ctx; /* on the stack: cheaper than a register that must be saved */
	__u64 ret;

	bpf_get_func_ret(ctx, &ret); /* cannot fail at an exit */
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
	if (!t) /* entered before the trace began */
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
	if (!t) /* entered before the trace began */
		return 0;
	fn = bpf_get_attach_cookie(ctx);
	ret = PT_REGS_RC(ctx);
	return leave_root(t, fn, ret) ? kprobe_root_failed(ctx, t, fn, ret) : 0;
}

/* The verifier requires constant offsets in the context: the barrier keeps the compiler from turning the selection of a register
 * into pointer arithmetic. */
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
	return enter_root(fn, PT_REGS_PARM1(ctx), kprobe_arg(ctx, entry == RD_ROOT_IOCTL ? 2 : 1));
}

/* A kretprobe has no access to the arguments: for the few functions of the core that take a queue pair, this records it on
 * entry. */
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

/* Run once, in the context of the holder, which is a child of the command. */
SEC("?raw_tp")
int whoami(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	(void)ctx;
	command = task->real_parent->tgid;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
