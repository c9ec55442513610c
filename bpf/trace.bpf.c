// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same exit program for every function: it returns immediately unless the function returned an errno, and otherwise adds the
 * exit to the chain of its thread. When the kernel entry point of the call (the root) returns an errno, the chain becomes one
 * record and one count.
 *
 * The programs below are templates: user space loads a copy of their instructions for each function (fexit), for each
 * BTF object (fexit of many), or once (kprobe.multi). The attach cookie is the function's id.
 */
#include "chain.bpf.h"
#include "decode.bpf.h"
#include "filter.bpf.h"
#include "moment.bpf.h"
#include "pids.bpf.h"
#include "thread.bpf.h"

static __always_inline bool count(const struct rd_rec *rec)
{
	struct rd_count_key key = {
		.verb = rec->verb, .origin = rec->origin, .dev = rec->dev, .err = rec->err, .chain_id = rec->chain_id
	};
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

/* Bytes of the request that are in use. */
static __always_inline __u64 request_size(const struct rd_rec_request *req)
{
	if (req->n_raw)
		return sizeof(*req) - sizeof(req->blocks) - sizeof(req->attrs) + RD_REQUEST_RAW;
	if (!req->n_attrs)
		return 0;
	return __builtin_offsetof(struct rd_rec_request, blocks) +
	       BOUNDED(req->n_blocks, RD_REQUEST_BLOCK_SLOTS) * sizeof(req->blocks[0]);
}

/* Wakes the reader if it may be asleep, so that it sees the caller while that still exists; in a burst of failures, only once in
 * a while, because waking costs the failing call some microseconds. */
#define WAKE_NS 10000000ull
static __always_inline __u64 wakeup(const struct rd_rec *rec)
{
	if (rec->time - woken < WAKE_NS)
		return BPF_RB_NO_WAKEUP;
	woken = rec->time;
	return BPF_RB_FORCE_WAKEUP;
}

/* As the kernel keeps the registers of a program, or begins to. */
#ifdef __TARGET_ARCH_arm64
#define user_regs user_pt_regs
#else
#define user_regs pt_regs
#endif

/* Registers of the program, and how much of its stack is in memory. */
GLOBAL int look_at_user(struct thread *t)
{
	struct user_regs *regs;
	struct rd_rec_user *user;
	__u64 sp, i;
	__u8 byte;

	if (!t)
		return 0;
	user = &t->user;
	user->size = 0;
	user->end = RD_USER_LOCKED;
	if (!cfg.read_kernel ||
	    bpf_probe_read_kernel(user->regs, sizeof(*regs), (void *)bpf_task_pt_regs(bpf_get_current_task_btf())))
		return 0;
	regs = (struct user_regs *)user->regs;
	sp = PT_REGS_SP(regs);
	user->end = RD_USER_LIMIT;
	for (i = 0; i < RD_USER_PARTS; i++) {
		if (bpf_probe_read_user(&byte, 1, (void *)(sp + user->size))) {
			user->end = RD_USER_PAGED_OUT;
			break;
		}
		user->size = (i + 1) * RD_USER_PART - (sp & (RD_USER_PART - 1));
	}
	return 0;
}

/* Writes the record, with the stack of the program in whole parts. */
static __noinline long send_record(struct thread *t)
{
	struct rd_rec *rec = &t->rec;
	__u64 head = HEADER_SIZE + BOUNDED(rec->n_chain, RD_CHAIN_SLOTS) * sizeof(rec->chain[0]), at = head;
	__u64 kernel = BOUNDED(rec->n_kstack, RD_STACK_SLOTS) * sizeof(__u64), request = request_size(&t->request);
	__u64 user = cfg.user_stack ? t->user.size : 0, i;
	struct bpf_dynptr ptr;
	long err;

	rec->n_request = request;
	err = bpf_ringbuf_reserve_dynptr(&ring,
					 head + kernel + sizeof(t->moment) + request +
						 (cfg.user_stack ? sizeof(t->user) + user + RD_USER_PART : 0),
					 0, &ptr);
	if (err) {
		bpf_ringbuf_discard_dynptr(&ptr, BPF_RB_NO_WAKEUP);
		return err;
	}
	bpf_dynptr_write(&ptr, 0, rec, head, 0);
	if (kernel)
		bpf_dynptr_write(&ptr, at, t->kstack, kernel, 0);
	at += kernel;
	bpf_dynptr_write(&ptr, at, &t->moment, sizeof(t->moment), 0);
	at += sizeof(t->moment);
	if (request)
		bpf_dynptr_write(&ptr, at, &t->request, request, 0);
	at += request;
	if (cfg.user_stack) {
		const struct pt_regs *regs = (struct pt_regs *)t->user.regs;

		for (i = 0; i < RD_USER_PARTS && i * RD_USER_PART < user; i++) {
			void *to = bpf_dynptr_data(&ptr, at + sizeof(t->user) + i * RD_USER_PART, RD_USER_PART);
			__u64 part = user - i * RD_USER_PART;

			barrier_var(part);
			if (part > RD_USER_PART)
				part = RD_USER_PART;
			if (!to || bpf_probe_read_user(to, part, (void *)(PT_REGS_SP(regs) + i * RD_USER_PART))) {
				t->user.size = i * RD_USER_PART;
				t->user.end = RD_USER_PAGED_OUT;
				break;
			}
		}
		bpf_dynptr_write(&ptr, at, &t->user, sizeof(t->user), 0);
	}
	bpf_ringbuf_submit_dynptr(&ptr, wakeup(rec));
	return 0;
}

static __always_inline long send(struct thread *t)
{
	long err;

	t->rec.n_kstack = t->n_kstack;
	t->rec.n_moment = 1;
	t->rec.n_user = cfg.user_stack;
	if (cfg.user_stack)
		look_at_user(t);
	err = send_record(t);
	if (!err || !cfg.user_stack || !t->user.size)
		return err;
	t->user.size = 0;
	t->user.end = RD_USER_NO_ROOM;
	return send_record(t);
}

/* FNV-1a, of whole links. */
static __always_inline __u32 hash_chain(const struct rd_rec *rec)
{
	__u64 hash = 0xcbf29ce484222325, i;

	for (i = 0; i < RD_CHAIN_MAX && i < rec->n_chain; i++)
		hash = (hash ^ *(__u64 *)&rec->chain[BOUNDED(i, RD_CHAIN_SLOTS)]) * 0x100000001b3;
	return hash ^ hash >> 32;
}

/* Whether every function of the last branch returned the errno of the root. */
GLOBAL int passed_on(struct thread *t)
{
	struct rd_rec *rec;
	__u64 i;

	if (!t)
		return 0;
	rec = &t->rec;
	for (i = 0; i < RD_CHAIN_MAX; i++)
		if (i >= t->branch && i < rec->n_chain && rec->chain[BOUNDED(i, RD_CHAIN_SLOTS)].err != rec->err)
			return 0;
	return 1;
}

/* Whether healthy programs are expected to fail like this. */
static __always_inline bool is_benign(struct thread *t)
{
	struct rd_rec *rec = &t->rec;
	struct rd_benign_key key = { .verb = rec->verb, .origin = rec->origin, .err = rec->err };
	__u32 *attrs = bpf_map_lookup_elem(&benign, &key);

	if (!attrs) {
		key.verb = 0;
		attrs = bpf_map_lookup_elem(&benign, &key);
	}
	if (!attrs || (*attrs == RD_BENIGN_VERB_UNKNOWN ? rec->verb : *attrs && *attrs != rec->num_attrs))
		return false;
	return passed_on(t);
}

/* Completes the record, and counts it. Whether it becomes an event. */
GLOBAL int complete(struct thread *t, __u32 entry, __s32 err)
{
	struct rd_totals *sum = get_totals();
	struct rd_rec *rec;

	if (!t || !sum)
		return 0;
	rec = &t->rec;
	rec->err = err;
	rec->origin = find_origin(t);
	rec->chain_id = hash_chain(rec);
	decode(t, entry);
	read_pids(cfg.read_kernel, cfg.pidns_dev, cfg.pidns_ino, &rec->pid, &rec->tid);
	rec->uid = bpf_get_current_uid_gid();
	rec->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	if (!passes(t))
		return 0;
	if (cfg.drop_benign && is_benign(t)) {
		sum->benign++;
		return 0;
	}
	rec->time = bpf_ktime_get_ns();
	sum->events++;
	if (!count(rec))
		sum->uncounted++;
	return 1;
}

/* The root returned an errno: the chain becomes an event. */
static __always_inline void emit(struct thread *t, __u32 entry, __s16 err)
{
	struct rd_totals *sum = get_totals();

	if (!sum || !complete(t, entry, err))
		return;
	look_around(t, entry);
	if (send(t))
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
	if (!t) {
		COUNT_ONE(no_state);
		return 0;
	}
	if (t->state & THREAD_IN_CALL) {
		/* A write handler called from an ioctl is an ordinary function of the chain of the ioctl. */
		if (RD_FN_ENTRY(fn_info(fn)) == RD_ROOT_HANDLER && RD_FN_ENTRY(fn_info(t->rec.root)) != RD_ROOT_HANDLER)
			return 0;
		COUNT_ONE(no_exit);
	}
	t->matched = false;
	t->branch = 0;
	__builtin_memset(t->earlier, 0, sizeof(t->earlier));
	t->n_kstack = 0;
	t->rec.n_chain = 0;
	t->rec.dropped = 0;
	t->rec.flags = 0;
	t->rec.ibdev[0] = 0;
	t->notes.known = 0;
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

	if (!(t->state & THREAD_IN_CALL)) {
		COUNT_ONE(no_entry);
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
		emit(t, RD_FN_ENTRY(info), ret);
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

/* What a function is called with, before it is known whether the call fails. Of nested calls, the first counts. */
static __always_inline void note_transition(struct thread *t, __u64 cur, __u64 next, __u64 type, __u64 mask)
{
	if (t->notes.known & RD_MOMENT_QP)
		return;
	t->notes.qp_cur = cur;
	t->notes.qp_next = next;
	t->notes.qp_type = type;
	t->notes.qp_mask = mask;
	t->notes.known |= RD_MOMENT_QP;
}

static __always_inline void note_cm_id(struct thread *t, __u64 id)
{
	__u32 state;

	if (t->notes.known & RD_MOMENT_CM || !cfg.read_kernel || cfg.off.cm_state < 0 || !id ||
	    bpf_probe_read_kernel(&state, sizeof(state), (void *)id + cfg.off.cm_state))
		return;
	t->notes.cm_state = state;
	t->notes.known |= RD_MOMENT_CM;
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
	if (info & RD_FN_NOTE_CM && !bpf_get_func_arg(ctx, 0, &arg))
		note_cm_id(t, arg);
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

static __noinline int fentry_noted(void *ctx, struct thread *t)
{
	__u64 cur = 0, next = 0, type = 0, mask = 0;

	bpf_get_func_arg(ctx, 0, &cur);
	if (!(fn_info(bpf_get_attach_cookie(ctx)) & RD_FN_NOTE_QP)) {
		note_cm_id(t, cur);
		return 0;
	}
	bpf_get_func_arg(ctx, 1, &next);
	bpf_get_func_arg(ctx, 2, &type);
	bpf_get_func_arg(ctx, 3, &mask);
	note_transition(t, cur, next, type, mask);
	return 0;
}

SEC("?fentry")
int fentry_note(void *ctx)
{
	struct thread *t = thread_in_call();

	return t ? fentry_noted(ctx, t) : 0;
}

SEC("?kprobe")
int kprobe_note(struct pt_regs *ctx)
{
	struct thread *t = thread_in_call();

	if (!t)
		return 0;
	if (fn_info(bpf_get_attach_cookie(ctx)) & RD_FN_NOTE_QP)
		note_transition(t, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx));
	else
		note_cm_id(t, PT_REGS_PARM1(ctx));
	return 0;
}

SEC("?raw_tp")
int module_loaded(void *ctx)
{
	loads.at = bpf_ktime_get_ns();
	__sync_fetch_and_add(&loads.n, 1);
	return 0;
}

/* rmmod and modprobe do not try to unload a module that is in use: they read how many use it, show_refcnt(), and give up. lsmod and
 * others read that, too. */
SEC("?kprobe")
int unload_asked(struct pt_regs *ctx)
{
	struct module_kobject *object = (void *)PT_REGS_PARM2(ctx);
	struct module *module;
	__u64 n;
	union {
		char text[RD_COMM_LEN];
		__u64 word[2];
	} comm = {};

	bpf_get_current_comm(comm.text, sizeof(comm.text));
	/* "rmmod", "modprobe" */
	if ((comm.word[0] != 0x646f6d6d72 && comm.word[0] != 0x65626f7270646f6d) || comm.word[1] ||
	    bpf_core_read(&module, sizeof(module), &object->mod))
		return 0;
	n = unloads.n;
	if (bpf_probe_read_kernel_str((void *)unloads.names[BOUNDED(n, RD_UNLOADS)], RD_UNLOAD_NAME, module->name) > 0)
		unloads.n = n + 1;
	return 0;
}

/* Run once, in the context of the holder, which is a child of the command. */
SEC("?raw_tp")
int whoami(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	command = task->real_parent->tgid;
	note_namespace(task, cfg.read_kernel);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
