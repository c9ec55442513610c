// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-proc-peers.h"

#include "analyse/qp/qp.h"
#include "base/memory.h"
#include "base/text.h"

#define PROCESSES_MAX 16 /* that are named: twice the ranks of a host */

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

static void add_finding(const struct rd_proc *proc, size_t qps, struct rd_findings *findings)
{
	_cleanup_free_ char *peers = rd_proc_peers_text(proc->peers);
	struct rd_finding finding = {
		.id = "process-tcp-peers",
		.severity = RD_SEV_NOTE,
		.title = "the peers of its queue pairs are unknown, but not its TCP connections",
		.why = "NCCL, Gloo and MPI connect the hosts of a job by TCP first. These addresses may be hosts of its job; which "
		       "queue pair is connected to which of them is unknown.",
	};

	finding.subject = proc->comm ? rd_text("process %u (%s)", proc->pid, proc->comm) :
				       rd_text("process %u", proc->pid);
	finding.observed = rd_text("%zu queue pairs with unknown peers; TCP connections to %s", qps, peers);
	rd_finding_add(findings, &finding);
}

void rd_qp_proc_peers_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	const struct rd_res *res = views->res;
	_cleanup_free_ size_t *qps = rd_alloc(res->n_procs + 1, sizeof(*qps));
	size_t named = 0, more = 0;

	rd_qp_count_unknown_peers(views, chosen, qps);
	for (size_t i = 0; i < res->n_procs; i++) {
		const struct rd_proc *proc = &res->procs[i];

		if (!qps[i] || !proc->peers || !proc->peers->n)
			continue;
		if (named++ < PROCESSES_MAX)
			add_finding(proc, qps[i], findings);
		else
			more++;
	}
	if (more) {
		struct rd_finding finding = {
			.id = "process-tcp-peers",
			.severity = RD_SEV_NOTE,
			.title = "the peers of its queue pairs are unknown, but not its TCP connections",
			.subject = rd_text("%zu more processes", more),
			.fix = rd_dup("rdmadiag qp-state -o pid,comm,process_tcp_peers"),
		};

		rd_finding_add(findings, &finding);
	}
}
