// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/rdma/job.h"

void rd_job_kernel_deinit(struct rd_job_kernel *kernel)
{
	for (size_t i = 0; i < kernel->n; i++)
		RD_FREE(kernel->v[i].name, kernel->v[i].ibdev, kernel->v[i].number);
	free(kernel->v);
	*kernel = (struct rd_job_kernel){ 0 };
}

void rd_job_proc_deinit(struct rd_job_proc *proc)
{
	struct rd_texts *lists[] = { &proc->unread, &proc->opened, &proc->libs,	 &proc->segments,
				     &proc->env,    &proc->rdma,   &proc->wheels };

	for (size_t i = 0; i < RD_ARRAY_SIZE(lists); i++)
		rd_texts_deinit(lists[i]);
	for (size_t i = 0; i < proc->n_nodes; i++)
		RD_FREE(proc->nodes[i].name, proc->nodes[i].number, proc->nodes[i].acl);
	for (size_t i = 0; i < proc->n_providers; i++)
		free(proc->providers[i].name);
	for (size_t i = 0; i < proc->n_limits; i++)
		free(proc->limits[i].name);
	RD_FREE(proc->comm, proc->cgroup, proc->job, proc->nodes, proc->providers, proc->addrs, proc->tcp, proc->limits,
		proc->device_rules, proc->groups, proc->memlock_from);
}

bool rd_job_knows(const struct rd_job_proc *proc, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i < proc->unread.n; i++)
		if (strncmp(proc->unread.v[i], part, n) == 0 && proc->unread.v[i][n] == ' ')
			return false;
	return proc->looked;
}

char *rd_job_lib_version(const struct rd_job_proc *proc, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *version = strstr(name, ".so.");
	size_t n = strcspn(name, "-.");

	for (size_t i = 0; i < proc->wheels.n && !(version && strchr(version + 4, '.')); i++)
		if (strncmp(proc->wheels.v[i], name, n) == 0 && proc->wheels.v[i][n] == ' ')
			return rd_dup(proc->wheels.v[i] + n + 1);
	return version ? rd_dup(version + 4) : NULL;
}

bool rd_job_in_group(const struct rd_job_proc *proc, uint64_t gid)
{
	for (size_t i = 0; i < proc->n_groups; i++)
		if (proc->groups[i] == gid)
			return true;
	return proc->gid == gid;
}

size_t rd_job_count_open(const struct rd_job_proc *proc, const char *prefix)
{
	size_t n = 0;

	for (size_t i = 0; i < proc->opened.n; i++)
		n += rd_starts_with(proc->opened.v[i], prefix);
	return n;
}

const char *rd_job_verdict_name(enum rd_job_verdict verdict)
{
	static const char *const names[] = { "cannot-tell", "idle", "host", "rdma", "tcp", "mixed", "uneven" };

	return names[verdict];
}

void rd_job_view_deinit(struct rd_job_view *view)
{
	for (size_t i = 0; i < view->n_nics; i++)
		free(view->nics[i].gids);
	rd_findings_deinit(&view->can);
	RD_FREE(view->reason, view->fix, view->nics);
	*view = (struct rd_job_view){ 0 };
}
