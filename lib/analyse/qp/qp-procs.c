/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes with queue pairs that are not listed, or whose peers are unknown. */
#include "analyse/qp/qp-procs.h"

#include <string.h>

#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

#define PROCESSES_MAX 16
#define DEVICES_MAX 16

static bool is_open_context(const struct rd_res *res, const struct rd_res_object *object)
{
	return object->kind == RD_RES_CTX && object->proc >= 0 && rd_res_dev_hides_qps(&res->devs[object->dev]);
}

void rd_qp_procs_that_may_hide(const struct rd_res *res, bool *ret)
{
	memset(ret, 0, res->n_procs * sizeof(*ret));
	for (size_t i = 0; i < res->n_objects; i++)
		if (is_open_context(res, &res->objects[i]))
			ret[res->objects[i].proc] = true;
}

/* The devices that a process has open. */
struct opened {
	struct rd_buf names;
	unsigned n;
	int last;    /* device that was added last; -1: none */
	bool listed; /* the kernel lists a queue pair of it on a device that can hide others */
};

static void add_device(struct opened *opened, const struct rd_res *res, int dev)
{
	/* Contexts are sorted by device; a process may have several. */
	if (opened->n && opened->last == dev)
		return;
	opened->last = dev;
	if (opened->n++ < DEVICES_MAX)
		rd_buf_printf(&opened->names, "%s%s", opened->n > 1 ? ", " : "", res->devs[dev].name);
	else if (opened->n == DEVICES_MAX + 1)
		rd_buf_str(&opened->names, " ...");
}

static struct opened *list_opened(const struct rd_res *res)
{
	struct opened *opened = rd_alloc(res->n_procs + 1, sizeof(*opened));

	for (size_t i = 0; i < res->n_objects; i++)
		if (is_open_context(res, &res->objects[i]))
			add_device(&opened[res->objects[i].proc], res, res->objects[i].dev);
	for (size_t i = 0; i < res->n_qps; i++)
		if (res->qps[i].proc >= 0 && rd_res_dev_hides_qps(&res->devs[res->qps[i].dev]))
			opened[res->qps[i].proc].listed = true;
	return opened;
}

static const struct rd_finding hidden = {
	.id = "qps-may-be-hidden",
	.severity = RD_SEV_NOTE,
	.title = "may own queue pairs that the kernel does not list",
	.why = "The kernel does not track queue pairs that a program creates through DEVX. How many there are is unknown; if the job hangs, one of them may be the reason.",
};

static const struct rd_finding unknown_peers = {
	.id = "process-tcp-peers",
	.severity = RD_SEV_NOTE,
	.title = "the peers of its queue pairs are unknown, but not its TCP connections",
	.why = "NCCL, Gloo and MPI connect the hosts of a job by TCP first. These addresses may be hosts of its job; which queue pair is connected to which of them is unknown.",
};

static char *name_of(const struct rd_proc *proc)
{
	return proc->comm ? rd_text("process %u (%s)", proc->pid, proc->comm) : rd_text("process %u", proc->pid);
}

static void add_finding(const struct rd_proc *proc, const struct opened *opened, struct rd_findings *findings)
{
	bool libs = proc->devx_libs && *proc->devx_libs;

	rd_finding_put(findings, &hidden, name_of(proc),
		       libs ? rd_text("has %s open, and libraries mapped that create queue pairs through DEVX: %s",
				      opened->names.data, proc->devx_libs) :
			      rd_text("has %s open; the kernel lists no queue pair of it", opened->names.data),
		       NULL);
}

void rd_qp_hidden_findings(const struct rd_res *res, struct rd_findings *findings)
{
	struct opened *opened = list_opened(res);
	size_t n = 0;

	for (size_t i = 0; i < res->n_procs; i++) {
		const char *libs = res->procs[i].devx_libs;

		if (!opened[i].n || (opened[i].listed && !(libs && *libs)))
			continue;
		if (n++ < PROCESSES_MAX)
			add_finding(&res->procs[i], &opened[i], findings);
	}
	if (n > PROCESSES_MAX)
		rd_finding_put(findings, &hidden, rd_text("%zu more processes", n - PROCESSES_MAX), NULL, NULL);
	for (size_t i = 0; i < res->n_procs; i++)
		rd_buf_deinit(&opened[i].names);
	free(opened);
}

void rd_qp_count_unknown_peers(const struct rd_qp_views *views, const bool *chosen, size_t *ret)
{
	const struct rd_res *res = views->res;
	uint8_t gid[16];

	for (size_t i = 0; i < res->n_procs; i++)
		ret[i] = 0;
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->proc >= 0 && (!chosen || chosen[i]) && rd_qp_is_connected_type(qp) && !rd_qp_peer(views, i, gid))
			ret[qp->proc]++;
	}
}

void rd_qp_proc_peers_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	const struct rd_res *res = views->res;
	_cleanup_free_ size_t *qps = rd_alloc(res->n_procs + 1, sizeof(*qps));
	size_t n = 0;

	rd_qp_count_unknown_peers(views, chosen, qps);
	for (size_t i = 0; i < res->n_procs; i++) {
		const struct rd_proc_peers *peers = res->procs[i].peers;
		_cleanup_free_ char *text = NULL;

		if (!qps[i] || !peers || !peers->n || n++ >= PROCESSES_MAX)
			continue;
		text = rd_proc_peers_text(peers);
		rd_finding_put(findings, &unknown_peers, name_of(&res->procs[i]),
			       rd_text("%zu queue pairs with unknown peers; TCP connections to %s", qps[i], text),
			       NULL);
	}
	if (n > PROCESSES_MAX)
		rd_finding_put(findings, &unknown_peers, rd_text("%zu more processes", n - PROCESSES_MAX), NULL,
			       rd_dup("rdmadiag qp-state -o pid,comm,process_tcp_peers"));
}
