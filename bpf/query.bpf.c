// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What drivers fill in for ib_query_qp while one thread lists queue pairs: the kernel queries each of them for its list, and passes
 * on only a part. Queries of other threads are not looked at.
 */
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include "qp.h"
#include "totals.bpf.h"

#define DEPTH 4 /* a driver may query an internal queue pair while it is queried */

const volatile struct rd_query_config cfg = {};
volatile bool on = false;

/* Calls in progress of the thread. */
struct call {
	__u64 sp, qp, attr;
};
static struct call calls[DEPTH] = {};
static __u32 depth = 0;
/* struct ib_qp_attr of the call that has returned. */
static __u8 filled[512] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct rd_qp_key);
	__type(value, struct rd_query_value);
} rdmadiag_query SEC(".maps");

static __always_inline bool is_ours(void)
{
	struct bpf_pidns_info ids = {};

	return on && !bpf_get_ns_current_pid_tgid(cfg.ns_dev, cfg.ns_inode, &ids, sizeof(ids)) && ids.pid == cfg.thread;
}

static __always_inline bool read_at(void *to, __u32 size, const void *from, __s32 offset)
{
	return offset >= 0 && !bpf_probe_read_kernel(to, size, from + offset);
}

static __always_inline bool read_key(struct rd_qp_key *key, const void *qp)
{
	void *device = NULL;

	return read_at(&device, sizeof(device), qp, cfg.qp.qp_device) && device &&
	       read_at(&key->dev, sizeof(key->dev), device, cfg.qp.ibdev_index) &&
	       read_at(&key->qpn, sizeof(key->qpn), qp, cfg.qp.qp_num);
}

static __always_inline bool take(void *to, __u32 size, __s32 offset)
{
	if (offset < 0 || offset + size > cfg.attr_size)
		return false;
	__builtin_memcpy(to, filled + offset, size);
	return true;
}

static __always_inline void read_attr(struct rd_query_value *value, const void *attr)
{
	/* Once: each read checks the address. */
	if (cfg.attr_size > sizeof(filled) || bpf_probe_read_kernel(filled, cfg.attr_size, attr))
		return;
	for (__u64 i = 0; i < RD_QPA_COUNT; i++)
		if (i < RD_QPA_ENUMS ? take(&value->qp.wide[i], 4, cfg.qp.attr[i]) :
				       take(&value->qp.narrow[i - RD_QPA_ENUMS], 1, cfg.qp.attr[i]))
			value->qp.known |= 1ull << i;
	if (take(value->qp.dgid, sizeof(value->qp.dgid), cfg.qp.dgid))
		value->qp.known |= RD_QP_HAS_DGID;
	if (take(&value->qp.dlid, sizeof(value->qp.dlid), cfg.qp.dlid))
		value->qp.known |= RD_QP_HAS_DLID;
	if (take(&value->path_mig, sizeof(value->path_mig), cfg.path_mig))
		value->qp.known |= RD_QUERY_HAS_MIG;
	if (take(value->alt_dgid, sizeof(value->alt_dgid), cfg.alt_dgid) &&
	    take(&value->alt_dlid, sizeof(value->alt_dlid), cfg.alt_dlid) && take(&value->alt_port, 1, cfg.alt_port) &&
	    take(&value->alt_timeout, 1, cfg.alt_timeout))
		value->qp.known |= RD_QUERY_HAS_ALT;
}

static __noinline int returned(__u64 qp, __u64 attr, int ret)
{
	struct rd_query_value value = { .qp.version = RD_QUERY_VERSION };
	struct rd_qp_key key = {};

	if (!read_key(&key, (void *)qp))
		return 0;
	if (!ret) {
		value.qp.qpn = key.qpn;
		value.qp.time = bpf_ktime_get_ns();
		if (read_at(&value.qp.qp_type, sizeof(value.qp.qp_type), (void *)qp, cfg.qp.qp_type))
			value.qp.known |= RD_QP_HAS_TYPE;
		read_attr(&value, (void *)attr);
	}
	/* What could not be read now must not stay as it was. */
	if (ret || bpf_map_update_elem(&rdmadiag_query, &key, &value, BPF_ANY))
		bpf_map_delete_elem(&rdmadiag_query, &key);
	return 0;
}

SEC("?fexit")
int fexit_query(void *ctx)
{
	__u64 qp = 0, attr = 0, ret = 0;

	if (!is_ours())
		return 0;
	bpf_get_func_arg(ctx, 0, &qp);
	bpf_get_func_arg(ctx, 1, &attr);
	bpf_get_func_ret(ctx, &ret);
	return returned(qp, attr, ret);
}

SEC("?kprobe")
int kprobe_query(struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx);

	if (!is_ours())
		return 0;
	/* The stack grows down: a call that has begun at the same place or below is over, and its return was missed. */
	for (__u64 i = 0; i < DEPTH; i++)
		if (depth && calls[BOUNDED(depth - 1, DEPTH)].sp <= sp)
			depth--;
	if (depth >= DEPTH)
		depth = 0;
	calls[BOUNDED(depth, DEPTH)] = (struct call){ .sp = sp, .qp = PT_REGS_PARM1(ctx), .attr = PT_REGS_PARM2(ctx) };
	depth++;
	return 0;
}

SEC("?kretprobe")
int kretprobe_query(struct pt_regs *ctx)
{
	struct call *call;

	if (!is_ours() || !depth)
		return 0;
	depth--;
	call = &calls[BOUNDED(depth, DEPTH)];
	return returned(call->qp, call->attr, PT_REGS_RC(ctx));
}

char LICENSE[] SEC("license") = "GPL";
