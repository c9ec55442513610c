// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recorder of queue pairs: parameters and results of modify_qp, creation and destruction, asynchronous events. Control
 * path only: posting and polling do not call these functions.
 *
 * Templates, as in trace.bpf.c: user space loads a copy for each function; the attach cookie is the function's id.
 */
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include "pids.bpf.h"
#include "qp.h"
#include "totals.bpf.h"

#define MAX_ERRNO 4095
#define DEPTH 2 /* a driver may modify an internal queue pair while it modifies that of the caller */

/* enum ib_qp_attr_mask: which fields of struct ib_qp_attr are valid. Part of the user ABI. */
#define MASK_STATE 0x1
#define MASK_CUR_STATE 0x2
#define MASK_PORT 0x20
#define MASK_AV 0x80
#define MASK_PATH_MTU 0x100
#define MASK_TIMEOUT 0x200
#define MASK_RETRY_CNT 0x400
#define MASK_RNR_RETRY 0x800
#define MASK_RQ_PSN 0x1000
#define MASK_MAX_RD_ATOMIC 0x2000
#define MASK_MIN_RNR_TIMER 0x8000
#define MASK_SQ_PSN 0x10000
#define MASK_MAX_DEST_RD_ATOMIC 0x20000
#define MASK_DEST_QPN 0x100000

/* enum ib_qp_state */
#define STATE_RESET 0
#define STATE_INIT 1
#define STATE_RTR 2

const volatile struct rd_qp_config cfg = {};
volatile bool on = false;

struct call {
	__u64 start, qp, attr;
	__u32 mask;
};

/* Calls in progress of a thread, and memory to describe the one that returns. */
struct thread {
	__u32 depth;
	struct call calls[DEPTH];
	struct rd_qp_rec rec;
	struct rd_qp_value value;
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
	__type(value, __u32); /* enum rd_qp_role */
} roles SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RD_QP_STATES *RD_QP_POWERS);
	__type(key, __u32);
	__type(value, __u64);
} durations SEC(".maps");

/* Allocated in advance: kernels before 6.1 warn about probes that allocate. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RD_QP_MAP_ENTRIES);
	__type(key, struct rd_qp_key);
	__type(value, struct rd_qp_value);
} rdmadiag_qps SEC(".maps");

static __always_inline void read_wide(struct rd_qp_rec *rec, const void *attr, __u32 field, __u32 need)
{
	if (cfg.attr[field] < 0 || (rec->mask & need) != need)
		return;
	if (!bpf_probe_read_kernel(&rec->wide[field], sizeof(__u32), attr + cfg.attr[field]))
		rec->known |= 1ull << field;
}

static __always_inline void read_narrow(struct rd_qp_rec *rec, const void *attr, __u32 field, __u32 need)
{
	if (cfg.attr[field] < 0 || (rec->mask & need) != need)
		return;
	if (!bpf_probe_read_kernel(&rec->narrow[field - RD_QPA_ENUMS], 1, attr + cfg.attr[field]))
		rec->known |= 1ull << field;
}

/* Read when the call returns: the core has then filled in what the caller left open. */
static __always_inline void read_attr(struct rd_qp_rec *rec, const void *attr)
{
	read_wide(rec, attr, RD_QPA_STATE, MASK_STATE);
	read_wide(rec, attr, RD_QPA_CUR_STATE, MASK_CUR_STATE);
	read_wide(rec, attr, RD_QPA_PATH_MTU, MASK_PATH_MTU);
	read_wide(rec, attr, RD_QPA_DEST_QPN, MASK_DEST_QPN);
	read_wide(rec, attr, RD_QPA_RQ_PSN, MASK_RQ_PSN);
	read_wide(rec, attr, RD_QPA_SQ_PSN, MASK_SQ_PSN);
	read_narrow(rec, attr, RD_QPA_PORT, MASK_PORT);
	read_narrow(rec, attr, RD_QPA_TIMEOUT, MASK_TIMEOUT);
	read_narrow(rec, attr, RD_QPA_RETRY_CNT, MASK_RETRY_CNT);
	read_narrow(rec, attr, RD_QPA_RNR_RETRY, MASK_RNR_RETRY);
	read_narrow(rec, attr, RD_QPA_MIN_RNR_TIMER, MASK_MIN_RNR_TIMER);
	read_narrow(rec, attr, RD_QPA_MAX_RD_ATOMIC, MASK_MAX_RD_ATOMIC);
	read_narrow(rec, attr, RD_QPA_MAX_DEST_RD_ATOMIC, MASK_MAX_DEST_RD_ATOMIC);
	if (!(rec->mask & MASK_AV))
		return;
	read_wide(rec, attr, RD_QPA_FLOW_LABEL, MASK_AV);
	read_wide(rec, attr, RD_QPA_AH_TYPE, MASK_AV);
	read_narrow(rec, attr, RD_QPA_SGID_INDEX, MASK_AV);
	read_narrow(rec, attr, RD_QPA_HOP_LIMIT, MASK_AV);
	read_narrow(rec, attr, RD_QPA_TRAFFIC_CLASS, MASK_AV);
	read_narrow(rec, attr, RD_QPA_SL, MASK_AV);
	read_narrow(rec, attr, RD_QPA_AH_FLAGS, MASK_AV);
	if (cfg.dgid >= 0 && !bpf_probe_read_kernel(rec->dgid, sizeof(rec->dgid), attr + cfg.dgid))
		rec->known |= RD_QP_HAS_DGID;
	if (cfg.dlid >= 0 && !bpf_probe_read_kernel(&rec->dlid, sizeof(rec->dlid), attr + cfg.dlid))
		rec->known |= RD_QP_HAS_DLID;
}

static __always_inline void read_device(struct rd_qp_rec *rec, const void *at)
{
	void *device = NULL;

	if (cfg.ibdev_name >= 0 && !bpf_probe_read_kernel(&device, sizeof(device), at) && device)
		bpf_probe_read_kernel_str(rec->ibdev, sizeof(rec->ibdev), device + cfg.ibdev_name);
}

static __always_inline void read_qp(struct rd_qp_rec *rec, const void *qp)
{
	if (cfg.qp_num >= 0 && !bpf_probe_read_kernel(&rec->qpn, sizeof(rec->qpn), qp + cfg.qp_num))
		rec->known |= RD_QP_HAS_QPN;
	if (cfg.qp_type >= 0 && !bpf_probe_read_kernel(&rec->qp_type, sizeof(rec->qp_type), qp + cfg.qp_type))
		rec->known |= RD_QP_HAS_TYPE;
	if (cfg.qp_device >= 0)
		read_device(rec, qp + cfg.qp_device);
}

static __always_inline void read_caller(struct rd_qp_rec *rec)
{
	read_pids(true, 0, 0, &rec->pid, &rec->tid);
	rec->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
}

static __always_inline bool read_key(struct rd_qp_key *key, const void *qp)
{
	void *device = NULL;

	return cfg.ibdev_index >= 0 && cfg.qp_device >= 0 && cfg.qp_num >= 0 &&
	       !bpf_probe_read_kernel(&device, sizeof(device), qp + cfg.qp_device) && device &&
	       !bpf_probe_read_kernel(&key->dev, sizeof(key->dev), device + cfg.ibdev_index) &&
	       !bpf_probe_read_kernel(&key->qpn, sizeof(key->qpn), qp + cfg.qp_num);
}

static __always_inline void merge_attr(struct rd_qp_value *value, const struct rd_qp_rec *rec)
{
	for (__u64 i = 0; i < RD_QPA_ENUMS; i++)
		if (rec->known & 1ull << i)
			value->wide[i] = rec->wide[i];
	for (__u64 i = RD_QPA_ENUMS; i < RD_QPA_COUNT; i++)
		if (rec->known & 1ull << i)
			value->narrow[i - RD_QPA_ENUMS] = rec->narrow[i - RD_QPA_ENUMS];
	if (rec->known & RD_QP_HAS_DGID)
		__builtin_memcpy(value->dgid, rec->dgid, sizeof(value->dgid));
	if (rec->known & RD_QP_HAS_DLID)
		value->dlid = rec->dlid;
	value->known |= rec->known;
}

/* Only RTR has a single state before it: a queue pair that was not seen before may have been in any other one already. */
static __always_inline void merge_call(struct rd_qp_value *value, const struct rd_qp_rec *rec)
{
	__u32 state = rec->wide[RD_QPA_STATE], before = value->wide[RD_QPA_STATE];
	bool moves = rec->known & 1ull << RD_QPA_STATE, known = value->known & 1ull << RD_QPA_STATE;

	if (moves && state <= STATE_INIT)
		value->known &= RD_QP_HAS_TYPE | RD_QP_ENTERED; /* its path and timers are no longer set */
	merge_attr(value, rec);
	if (!moves || (known && state == before))
		return;
	value->time = rec->time;
	if (known || state == STATE_RTR)
		value->known |= RD_QP_ENTERED;
	else
		value->known &= ~RD_QP_ENTERED;
}

static __always_inline void remember_call(struct thread *t, const void *qp)
{
	struct rd_qp_value *value = &t->value, *old;
	struct rd_qp_key key = {};

	if (!read_key(&key, qp))
		return;
	old = bpf_map_lookup_elem(&rdmadiag_qps, &key);
	if (old) {
		__builtin_memcpy(value, old, sizeof(*value));
	} else {
		__builtin_memset(value, 0, sizeof(*value));
		value->version = RD_QP_MAP_VERSION;
		value->qpn = key.qpn;
		value->pid = t->rec.pid;
		value->qp_type = t->rec.qp_type;
	}
	value->updated = t->rec.time;
	if (t->rec.ret)
		value->err = t->rec.ret;
	else
		merge_call(value, &t->rec);
	/* A replaced value is complete for readers. What could not be updated must not stay as it was. */
	if (bpf_map_update_elem(&rdmadiag_qps, &key, value, BPF_ANY))
		bpf_map_delete_elem(&rdmadiag_qps, &key);
}

static __noinline int remember_created(__u64 qp)
{
	struct rd_qp_value value = { .version = RD_QP_MAP_VERSION };
	struct rd_qp_key key = {};
	__u32 tid;

	if (!read_key(&key, (void *)qp))
		return 0;
	value.qpn = key.qpn;
	value.time = value.updated = bpf_ktime_get_ns();
	value.known = 1ull << RD_QPA_STATE | RD_QP_ENTERED;
	value.wide[RD_QPA_STATE] = STATE_RESET;
	if (cfg.qp_type >= 0 && !bpf_probe_read_kernel(&value.qp_type, sizeof(value.qp_type), (void *)qp + cfg.qp_type))
		value.known |= RD_QP_HAS_TYPE;
	read_pids(true, 0, 0, &value.pid, &tid);
	if (bpf_map_update_elem(&rdmadiag_qps, &key, &value, BPF_ANY))
		bpf_map_delete_elem(&rdmadiag_qps, &key);
	return 0;
}

static __noinline int remember_object(__u64 object, __u32 role)
{
	struct rd_qp_key key = {};
	struct rd_qp_value *value;
	void *qp = (void *)object;

	if (role == RD_QP_ROLE_EVENT && bpf_probe_read_kernel(&qp, sizeof(qp), (void *)object + cfg.event_element))
		return 0;
	if (!qp || !read_key(&key, qp))
		return 0;
	if (role == RD_QP_ROLE_DESTROY) {
		bpf_map_delete_elem(&rdmadiag_qps, &key);
		return 0;
	}
	value = bpf_map_lookup_elem(&rdmadiag_qps, &key);
	if (!value)
		return 0;
	bpf_probe_read_kernel(&value->event, sizeof(value->event), (void *)object + cfg.event_code);
	value->event_time = value->updated = bpf_ktime_get_ns();
	return 0;
}

/* Reserves and counts a record, zeroed except role and time. NULL: the ring buffer is full. */
static __always_inline struct rd_qp_rec *begin(__u32 role)
{
	struct rd_totals *sum = get_totals();
	struct rd_qp_rec *rec;

	if (!sum)
		return NULL;
	sum->events++;
	rec = bpf_ringbuf_reserve(&ring, sizeof(*rec), 0);
	if (!rec) {
		sum->lost++;
		return NULL;
	}
	sum->delivered++;
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->time = bpf_ktime_get_ns();
	rec->role = role;
	return rec;
}

static __always_inline __u32 power_of(__u64 v)
{
	__u32 r = 0;

	for (int shift = 32; shift; shift >>= 1)
		if (v >> shift) {
			v >>= shift;
			r += shift;
		}
	return r;
}

static __always_inline void count_duration(const struct rd_qp_rec *rec)
{
	__u32 state = rec->known & 1ull << RD_QPA_STATE ? rec->wide[RD_QPA_STATE] : RD_QP_NO_STATE;
	__u32 key = (state < RD_QP_NO_STATE ? state : RD_QP_NO_STATE) * RD_QP_POWERS + power_of(rec->duration);
	__u64 *value = bpf_map_lookup_elem(&durations, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
}

static __noinline int modify_entered(__u64 qp, __u64 attr, __u32 mask)
{
	struct thread *t;
	__u32 depth;

	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || t->depth >= DEPTH) {
		COUNT_ONE(no_state);
		/* Deeper than any driver nests: an exit was missed, and the stored calls are over. */
		if (t)
			t->depth = 0;
		return 0;
	}
	/* A queue pair is never modified from within its own modify_qp. */
	if (t->depth && t->calls[0].qp == qp) {
		COUNT_ONE(no_exit);
		t->depth = 0;
	}
	depth = t->depth;
	t->calls[BOUNDED(depth, DEPTH)] =
		(struct call){ .start = bpf_ktime_get_ns(), .qp = qp, .attr = attr, .mask = mask };
	t->depth = depth + 1;
	return 0;
}

static __always_inline void deliver(const struct rd_qp_rec *rec)
{
	struct rd_totals *sum = get_totals();

	if (!sum)
		return;
	sum->events++;
	if (bpf_ringbuf_output(&ring, (void *)rec, sizeof(*rec), BPF_RB_NO_WAKEUP))
		sum->lost++;
	else
		sum->delivered++;
}

static __noinline int modify_left(int ret)
{
	struct rd_qp_rec *rec;
	struct thread *t;
	struct call *call;

	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (!t)
		return 0; /* entered before the recorder was attached */
	if (!t->depth) {
		COUNT_ONE(no_entry);
		return 0;
	}
	t->depth--;
	call = &t->calls[BOUNDED(t->depth, DEPTH)];
	rec = &t->rec;
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->role = RD_QP_ROLE_MODIFY;
	rec->time = bpf_ktime_get_ns();
	rec->duration = rec->time - call->start;
	rec->ret = ret;
	rec->mask = call->mask;
	read_caller(rec);
	read_qp(rec, (void *)call->qp);
	read_attr(rec, (void *)call->attr);
	count_duration(rec);
	remember_call(t, (void *)call->qp);
	deliver(rec);
	return 0;
}

static __noinline int created(__u64 qp)
{
	struct rd_qp_rec *rec;

	if (!qp || qp >= (__u64)-MAX_ERRNO)
		return 0;
	remember_created(qp);
	rec = begin(RD_QP_ROLE_CREATE);
	if (!rec)
		return 0;
	read_caller(rec);
	read_qp(rec, (void *)qp);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* As in the core, the function determines whether an event of a driver is about a queue pair. */
static __always_inline void read_event(struct rd_qp_rec *rec, const void *event)
{
	void *qp = NULL;

	bpf_probe_read_kernel(&rec->event, sizeof(rec->event), event + cfg.event_code);
	read_device(rec, event + cfg.event_device);
	if (rec->role == RD_QP_ROLE_DISPATCH) {
		bpf_probe_read_kernel(&rec->qpn, sizeof(rec->qpn), event + cfg.event_element);
		return;
	}
	if (!bpf_probe_read_kernel(&qp, sizeof(qp), event + cfg.event_element) && qp)
		read_qp(rec, qp);
}

static __noinline int object_entered(__u32 fn, __u64 object)
{
	__u32 *role = bpf_map_lookup_elem(&roles, &fn);
	struct rd_qp_rec *rec;

	if (!role || !object)
		return 0;
	if (*role != RD_QP_ROLE_DISPATCH)
		remember_object(object, *role);
	rec = begin(*role);
	if (!rec)
		return 0;
	if (rec->role == RD_QP_ROLE_DESTROY) {
		read_caller(rec);
		read_qp(rec, (void *)object);
	} else {
		read_event(rec, (void *)object);
	}
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?fentry")
int fentry_modify(void *ctx)
{
	__u64 qp = 0, attr = 0, mask = 0;

	if (!on)
		return 0;
	bpf_get_func_arg(ctx, 0, &qp);
	bpf_get_func_arg(ctx, 1, &attr);
	bpf_get_func_arg(ctx, 2, &mask);
	return modify_entered(qp, attr, mask);
}

SEC("?fexit")
int fexit_modify(void *ctx)
{
	__u64 ret = 0;

	if (!on)
		return 0;
	bpf_get_func_ret(ctx, &ret);
	return modify_left(ret);
}

SEC("?fexit")
int fexit_create(void *ctx)
{
	__u64 ret = 0;

	if (!on)
		return 0;
	bpf_get_func_ret(ctx, &ret);
	return created(ret);
}

SEC("?fentry")
int fentry_object(void *ctx)
{
	__u64 object = 0;

	if (!on)
		return 0;
	bpf_get_func_arg(ctx, 0, &object);
	return object_entered(bpf_get_attach_cookie(ctx), object);
}

SEC("?kprobe")
int kprobe_modify(struct pt_regs *ctx)
{
	return on ? modify_entered(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx)) : 0;
}

SEC("?kretprobe")
int kretprobe_modify(struct pt_regs *ctx)
{
	return on ? modify_left(PT_REGS_RC(ctx)) : 0;
}

SEC("?kretprobe")
int kretprobe_create(struct pt_regs *ctx)
{
	return on ? created(PT_REGS_RC(ctx)) : 0;
}

SEC("?kprobe")
int kprobe_object(struct pt_regs *ctx)
{
	return on ? object_entered(bpf_get_attach_cookie(ctx), PT_REGS_PARM1(ctx)) : 0;
}

/* Run once, in the context of the holder, which is in the PID namespace of the command. */
SEC("?raw_tp")
int whoami(void *ctx)
{
	note_namespace(bpf_get_current_task_btf(), true);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
