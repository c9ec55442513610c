// SPDX-License-Identifier: GPL-2.0-or-later
/* The BPF programs of the recorder, and those that look at queries: their configuration, and which of them are attached to a function. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "trace/attach/attach.h"
#include "trace/select/select.h"

#include "qp.skel.h"
#include "query.skel.h"

_Static_assert(RD_QP_ENDS == RD_QP_STATES && RD_QP_END_NONE == RD_QP_NO_STATE && RD_QP_DURATIONS == RD_QP_POWERS,
	       "the counts are read without conversion");

static int load(struct rd_attach *attach, bool tracing, bool kprobes, char *log)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .kernel_log_buf = log, .kernel_log_size = log ? RD_VERIFIER_LOG : 0);
	struct rd_programs *p = &attach->programs;
	struct qp_bpf *skel;
	int r;

	/* Everything it records is in kernel memory. */
	if (!attach->read_kernel)
		return -EPERM;
	p->skel = skel = qp_bpf__open_opts(&open);
	if (!skel)
		return -errno;
	p->tracing[RD_HOOK_LEAVE] = skel->progs.fexit_create;
	p->tracing[RD_HOOK_LEAVE_ROOT] = skel->progs.fexit_modify;
	p->tracing[RD_HOOK_ENTER_ROOT] = skel->progs.fentry_modify;
	p->tracing[RD_HOOK_OBJECT] = skel->progs.fentry_object;
	p->kprobe[RD_HOOK_LEAVE] = skel->progs.kretprobe_create;
	p->kprobe[RD_HOOK_LEAVE_ROOT] = skel->progs.kretprobe_modify;
	p->kprobe[RD_HOOK_ENTER_ROOT] = skel->progs.kprobe_modify;
	p->kprobe[RD_HOOK_OBJECT] = skel->progs.kprobe_object;
	r = rd_programs_autoload(p, tracing, kprobes);
	bpf_program__set_autoload(skel->progs.whoami, true);
	*(struct rd_qp_config *)&skel->rodata->cfg = attach->opts->qp->cfg;
	bpf_map__set_max_entries(skel->maps.roles, attach->set->n_fns ? (__u32)attach->set->n_fns : 1);
	if (attach->opts->ring_bytes)
		bpf_map__set_max_entries(skel->maps.ring, attach->opts->ring_bytes);
	if (!r)
		r = qp_bpf__load(skel);
	if (r < 0)
		return r;
	rd_programs_run(skel->progs.whoami);
	p->fds[RD_FD_RING] = bpf_map__fd(skel->maps.ring);
	p->fds[RD_FD_COUNTS] = bpf_map__fd(skel->maps.durations);
	p->fds[RD_FD_TOTALS] = bpf_map__fd(skel->maps.totals);
	p->fds[RD_FD_SWITCH] = bpf_map__fd(skel->maps.bss);
	for (size_t i = RD_FD_SHARED; i < RD_FD_OWNER; i++)
		p->fds[i] = p->fds[RD_FD_SWITCH]; /* not used */
	p->on = &skel->bss->on;
	p->on_at = (uintptr_t)&skel->bss->on - (uintptr_t)skel->bss;
	p->loads_at = SIZE_MAX;
	return 0;
}

static const struct rd_qp_key head = { RD_QP_KEY_HEAD, RD_QP_KEY_HEAD };

static void ending(const struct rd_attach *attach)
{
	const struct qp_bpf *skel = attach->programs.skel;

	bpf_map_delete_elem(bpf_map__fd(skel->maps.rdmadiag_qps), &head);
}

static int describe(const struct rd_attach *attach)
{
	const struct qp_bpf *skel = attach->programs.skel;
	struct rd_qp_value value = { .version = RD_QP_MAP_VERSION };

	for (__u32 i = 0; i < attach->set->n_fns; i++) {
		__u32 role = attach->opts->qp->roles[i];

		if (role && bpf_map_update_elem(bpf_map__fd(skel->maps.roles), &i, &role, BPF_ANY))
			return -errno;
	}
	value.time = rd_clock_ns(CLOCK_MONOTONIC);
	return bpf_map_update_elem(bpf_map__fd(skel->maps.rdmadiag_qps), &head, &value, BPF_ANY) ? -errno : 0;
}

static bool applies(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend, enum rd_hook hook)
{
	enum rd_qp_role role = attach->opts->qp->roles[fn - attach->set->fns];

	switch (hook) {
	case RD_HOOK_LEAVE:
		return role == RD_QP_ROLE_CREATE;
	case RD_HOOK_LEAVE_ROOT:
	case RD_HOOK_ENTER_ROOT:
		return role == RD_QP_ROLE_MODIFY;
	case RD_HOOK_OBJECT:
		return role == RD_QP_ROLE_DESTROY || role == RD_QP_ROLE_EVENT || role == RD_QP_ROLE_DISPATCH;
	default:
		return false;
	}
}

const struct rd_programs_ops rd_programs_qp = {
	.load = load,
	.describe = describe,
	.applies = applies,
	.ending = ending,
};

static int load_query(struct rd_attach *attach, bool tracing, bool kprobes, char *log)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .kernel_log_buf = log, .kernel_log_size = log ? RD_VERIFIER_LOG : 0);
	struct rd_programs *p = &attach->programs;
	struct query_bpf *skel;
	int r;

	if (!attach->read_kernel)
		return -EPERM;
	p->skel = skel = query_bpf__open_opts(&open);
	if (!skel)
		return -errno;
	p->tracing[RD_HOOK_LEAVE] = skel->progs.fexit_query;
	p->kprobe[RD_HOOK_LEAVE] = skel->progs.kretprobe_query;
	p->kprobe[RD_HOOK_ENTER_ROOT] = skel->progs.kprobe_query;
	r = rd_programs_autoload(p, tracing, kprobes);
	*(struct rd_query_config *)&skel->rodata->cfg = *attach->opts->query;
	bpf_map__set_max_entries(skel->maps.rdmadiag_query, attach->opts->query_entries);
	if (!r)
		r = query_bpf__load(skel);
	if (r < 0)
		return r;
	for (size_t i = 0; i < RD_FD_OWNER; i++)
		p->fds[i] = bpf_map__fd(skel->maps.bss);
	p->fds[RD_FD_RING] = bpf_map__fd(skel->maps.rdmadiag_query);
	p->on = &skel->bss->on;
	p->on_at = (uintptr_t)&skel->bss->on - (uintptr_t)skel->bss;
	p->loads_at = SIZE_MAX;
	return 0;
}

/* fexit has the arguments at the exit. */
static bool applies_to_query(const struct rd_attach *attach, const struct rd_fn *fn, enum rd_backend backend,
			     enum rd_hook hook)
{
	return hook == RD_HOOK_LEAVE ||
	       (hook == RD_HOOK_ENTER_ROOT && (backend == RD_BACKEND_KPROBE || backend == RD_BACKEND_KPROBE_MULTI));
}

const struct rd_programs_ops rd_programs_query = {
	.load = load_query,
	.applies = applies_to_query,
	.brief = true,
};
