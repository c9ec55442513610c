/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, cgroups and jobs of the processes that own RDMA resources; each process is read once. */
#include "collect/rdma/nldev.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "collect/shared/cgroup.h"
#include "collect/shared/job.h"

struct pids {
	uint32_t *v;
	size_t n, cap;
};

static int add_pid(struct pids *pids, const struct rd_owner *owner)
{
	/* Objects of one process are mostly adjacent. */
	if (owner->pid.known != RD_OK || (pids->n > 0 && pids->v[pids->n - 1] == owner->pid.v))
		return 0;
	if (rd_grow(&pids->v, &pids->cap, pids->n + 1, sizeof(*pids->v)) < 0)
		return -ENOMEM;
	pids->v[pids->n++] = owner->pid.v;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int list_pids(const struct rd_res *res, struct pids *pids)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < res->n_qps && !r; i++)
		r = add_pid(pids, &res->qps[i].owner);
	for (size_t i = 0; i < res->n_cm_ids && !r; i++)
		r = add_pid(pids, &res->cm_ids[i].owner);
	for (size_t i = 0; i < res->n_objects && !r; i++)
		r = add_pid(pids, &res->objects[i].owner);
	if (pids->n > 0)
		qsort(pids->v, pids->n, sizeof(*pids->v), compare_pids);
	for (size_t i = 0; i < pids->n; i++)
		if (kept == 0 || pids->v[kept - 1] != pids->v[i])
			pids->v[kept++] = pids->v[i];
	pids->n = kept;
	return r;
}

static int read_proc(struct rd_source *src, struct rd_proc *proc)
{
	_cleanup_free_ char *groups = NULL;
	const char *path;
	size_t size;

	/* The process may have exited, or be hidden from this user (hidepid): then it has no name. */
	if (rd_read_textf(src, &proc->comm, NULL, "/proc/%u/comm", proc->pid) == -ENOMEM)
		return -ENOMEM;
	if (!proc->comm || rd_read_textf(src, &groups, NULL, "/proc/%u/cgroup", proc->pid) < 0)
		return 0;
	size = rd_cgroup_parse(groups, &path);
	if (size > 0)
		proc->cgroup = strndup(path, size);
	proc->job = rd_job_from_cgroup(proc->cgroup);
	return size > 0 && !proc->cgroup ? -ENOMEM : 0;
}

static int find_owner(const struct rd_res *res, const struct rd_owner *owner)
{
	return owner->pid.known == RD_OK ? rd_res_find_proc(res, owner->pid.v) : -1;
}

int rd_collect_res_procs(struct rd_source *src, struct rd_res *res)
{
	struct pids pids = { 0 };
	int r = list_pids(res, &pids);

	for (size_t i = 0; i < pids.n && !r; i++) {
		r = rd_grow(&res->procs, &res->cap_procs, res->n_procs + 1, sizeof(*res->procs));
		if (r < 0)
			break;
		res->procs[res->n_procs] = (struct rd_proc){ .pid = pids.v[i] };
		r = read_proc(src, &res->procs[res->n_procs++]);
	}
	free(pids.v);
	for (size_t i = 0; i < res->n_qps; i++)
		res->qps[i].proc = find_owner(res, &res->qps[i].owner);
	for (size_t i = 0; i < res->n_cm_ids; i++)
		res->cm_ids[i].proc = find_owner(res, &res->cm_ids[i].owner);
	for (size_t i = 0; i < res->n_objects; i++)
		res->objects[i].proc = find_owner(res, &res->objects[i].owner);
	return r;
}
