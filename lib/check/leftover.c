/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What jobs before left behind, and a kernel that does not answer. */
#include <string.h>

#include "base/err.h"
#include "check/rules.h"
#include "model/finding.h"
#include "model/host.h"
#include "model/qp.h"

/* The special queue pairs and what the kernel uses itself are nobody's leftovers. */
static bool of_a_program(const struct rd_qp *qp)
{
	return !qp->owner.kernel && qp->type.known == RD_OK && qp->type.v != RD_QPT_SMI && qp->type.v != RD_QPT_GSI;
}

static size_t count_of(const struct rd_res *res, int dev, uint32_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++)
		n += res->qps[i].dev == dev && of_a_program(&res->qps[i]) && res->qps[i].owner.pid.known == RD_OK &&
		     res->qps[i].owner.pid.v == pid;
	return n;
}

/* A process in control groups of a workload manager. */
static bool in_a_job(const struct rd_proc *proc)
{
	return proc->job || (proc->cgroup && (strstr(proc->cgroup, "/job_") || strstr(proc->cgroup, "kubepods")));
}

static void judge_process(const struct rd_check_input *in, const struct rd_qp *qp, struct rd_check_out *out)
{
	const struct rd_proc *proc = qp->proc >= 0 ? &in->res->procs[qp->proc] : NULL;
	const char *dev = in->res->devs[qp->dev].name;
	size_t n = count_of(in->res, qp->dev, qp->owner.pid.v);

	if (!in->exclusive || !proc || !in_a_job(proc))
		return rd_check_good(out, dev);
	rd_check_warn(out, dev,
		      rd_text("process %u (%s) of %s holds %zu queue pair%s", qp->owner.pid.v,
			      proc->comm ? proc->comm : "name not known", proc->job ? proc->job : "a job", n,
			      n == 1 ? "" : "s"),
		      rd_text("none of another job"));
}

static void run_leftovers(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_res *res = in->res;

	rd_check_skip(out, "no RDMA device");
	if (!res && in->host->n_ibdevs)
		rd_check_unknown(out, "host", "queue pairs were not, or could not be listed (RDMA netlink)");
	if (!res)
		return;
	for (size_t d = 0; d < res->n_devs; d++) {
		size_t orphans = 0, errors = 0;

		for (size_t i = 0; i < res->n_qps; i++) {
			const struct rd_qp *qp = &res->qps[i];
			bool seen = false;

			if (qp->dev != (int)d || !of_a_program(qp))
				continue;
			if (qp->owner.pid.known != RD_OK || qp->owner.pid.v == 0) {
				orphans++;
				errors += qp->state.known == RD_OK && qp->state.v == RD_QPS_ERR;
				continue;
			}
			for (size_t k = 0; k < i && !seen; k++)
				seen = res->qps[k].dev == qp->dev && res->qps[k].owner.pid.known == RD_OK &&
				       res->qps[k].owner.pid.v == qp->owner.pid.v && of_a_program(&res->qps[k]);
			if (!seen)
				judge_process(in, qp, out);
		}
		if (res->devs[d].gaps[RD_RES_QP].code)
			rd_check_unknown(out, res->devs[d].name, "not all of its queue pairs could be listed");
		else if (orphans)
			rd_check_warn(out, res->devs[d].name,
				      rd_text("%zu queue pairs of no living process, %zu of them in error", orphans,
					      errors),
				      rd_text("none: a job's queue pairs go with it"));
		else
			rd_check_good(out, res->devs[d].name);
	}
}

static void run_answers(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "only looked at under a deadline (rdmadiag check)");
	if (!in->stalls)
		return;
	if (in->stalls->n == 0)
		return rd_check_good(out, "host");
	rd_check_warn(out, in->stalls->v[0].object,
		      rd_text("%zu reads gave no answer in time, the first of %s", in->stalls->n,
			      in->stalls->v[0].object),
		      rd_text("an answer within milliseconds"));
}

static void run_moved(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "nothing to compare with (rdmadiag check --since FILE)");
	if (!in->moved)
		return;
	for (size_t i = 0; i < in->moved->n; i++) {
		const struct rd_finding *finding = &in->moved->v[i];

		if (finding->severity == RD_SEV_UNKNOWN)
			rd_check_unknown(out, finding->subject, finding->observed ? finding->observed : finding->title);
		else if (finding->severity >= RD_SEV_WARNING)
			rd_check_bad(out, finding->severity == RD_SEV_CRITICAL ? RD_SEV_CRITICAL : RD_SEV_WARNING,
				     finding->subject,
				     rd_text("%s%s%s", finding->title, finding->observed ? ": " : "",
					     finding->observed ? finding->observed : ""),
				     rd_text("%s", finding->expected ? finding->expected : "no such growth"),
				     finding->fix ? strdup(finding->fix) : NULL);
	}
	rd_check_good(out, "counters");
}

const struct rd_check rd_check_moved = {
	.id = "counters-moved",
	.title = "Error counters grew since the earlier look",
	.why = "a port that made errors during the job before will make them in the next one",
	.fix = "rdmadiag counters --since FILE",
	.needs = "all counters, now and in the file of --since",
	.quick = true,
	.run = run_moved,
};

const struct rd_check rd_check_leftovers = {
	.id = "job-leftovers",
	.title = "Queue pairs of a job that has ended are still there",
	.why = "they hold memory and connections; a driver that does not let them go will not serve the next job either",
	.fix = "rdmadiag qp-state --stuck; end the process; if there is none, reload the driver",
	.needs = "RDMA netlink: queue pairs and their owners",
	.quick = true,
	.run = run_leftovers,
};

const struct rd_check rd_check_answers = {
	.id = "host-answers",
	.title = "The kernel does not answer a read",
	.why = "a driver or its firmware hangs; programs that come there will hang as well, and cannot be killed",
	.fix = "dmesg; echo w > /proc/sysrq-trigger shows who waits where; restart the device or the host",
	.needs = "the time that each read takes",
	.quick = true,
	.run = run_answers,
};
