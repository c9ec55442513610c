/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event filters. Unused filters cost nothing: they are constants when the programs are loaded. */
#ifndef RD_BPF_FILTER_H
#define RD_BPF_FILTER_H

#include "thread.bpf.h"

static __always_inline bool below_command(void)
{
	struct task_struct *task = cfg.read_kernel ? (void *)bpf_get_current_task() : bpf_get_current_task_btf();
	__u64 i;

	for (i = 0; i < RD_ANCESTORS_SEARCHED; i++) {
		task = TASK_FIELD(task, real_parent);
		if (!task)
			return false;
		if (TASK_FIELD(task, tgid) == command)
			return true;
	}
	return false;
}

static __always_inline bool is_device(const struct rd_rec *rec)
{
	__u64 i;

	for (i = 0; i < RD_DEVS_MAX && i < cfg.n_devs; i++)
		if (rec->dev == cfg.devs[i])
			return true;
	return cfg.ibdev[0] && !bpf_strncmp(rec->ibdev, sizeof(rec->ibdev), (const char *)cfg.ibdev);
}

static __always_inline bool passes(struct thread *t)
{
	struct rd_rec *rec = &t->rec;

	if (cfg.err && rec->err != -cfg.err)
		return false;
	if (cfg.match && !t->matched)
		return false;
	if (cfg.pid && rec->pid != cfg.pid)
		return false;
	if (cfg.comm[0] && bpf_strncmp(rec->comm, RD_COMM_LEN, (const char *)cfg.comm))
		return false;
	if (cfg.cgroup && rec->cgroup != cfg.cgroup) {
		__u64 i;
		bool below = false;

		for (i = 0; i < RD_CGROUP_DEPTH && !below; i++)
			below = bpf_get_current_ancestor_cgroup_id(i) == cfg.cgroup;
		if (!below)
			return false;
	}
	if (cfg.n_devs && !is_device(rec))
		return false;
	return !cfg.descendants || below_command();
}

#endif
