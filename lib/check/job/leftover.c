/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about what a job left, and devices that do not respond. */
#include "check/shared/rules.h"

#include "base/err.h"
#include "model/rdma/qp.h"

/* Leftovers of earlier jobs, and a kernel that does not respond. */

/* Special queue pairs and those of the kernel cannot be leftovers of a job. */
static bool is_of_program(const struct rd_qp *qp)
{
	return !qp->owner.kernel && qp->type.known == RD_OK && qp->type.v != RD_QPT_SMI && qp->type.v != RD_QPT_GSI;
}

static size_t count_qps(const struct rd_res *res, int dev, uint32_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++)
		n += res->qps[i].dev == dev && is_of_program(&res->qps[i]) && res->qps[i].owner.pid.known == RD_OK &&
		     res->qps[i].owner.pid.v == pid;
	return n;
}

static void judge_process(const struct rd_check_input *in, const struct rd_qp *qp, struct rd_check_out *out)
{
	const struct rd_proc *proc = qp->proc >= 0 ? &in->res->procs[qp->proc] : NULL;
	const char *dev = in->res->devs[qp->dev].name;
	size_t n = count_qps(in->res, qp->dev, qp->owner.pid.v);

	/* Whether the process is in a control group of a workload manager. */
	if (!in->exclusive || !proc ||
	    !(proc->job || (proc->cgroup && (strstr(proc->cgroup, "/job_") || strstr(proc->cgroup, "kubepods")))))
		return rd_check_good(out, dev);
	rd_check_warn(out, dev,
		      rd_text("process %u (%s) of %s holds %zu queue pair%s", qp->owner.pid.v,
			      proc->comm ?: "name unknown", proc->job ?: "a job", n, n == 1 ? "" : "s"),
		      rd_text("no queue pairs of other jobs"));
}

/* Those in ERR of running programs: recreating them may be under way, where jobs run. */
static void judge_failed(const struct rd_check_input *in, const char *dev, size_t failed, struct rd_check_out *out)
{
	char *observed =
		failed ? rd_text("%zu queue pair%s of running processes in state ERR", failed, failed == 1 ? "" : "s") :
			 NULL;

	if (failed && in->exclusive)
		rd_check_warn(out, dev, observed, rd_text("no queue pairs in state ERR"));
	else if (failed)
		rd_check_note(out, dev, observed, NULL, rd_text("rdmadiag qp-state %s", dev));
}

static void run_leftovers(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_res *res = in->res;

	rd_check_skip(out, "no RDMA device");
	if (!res && (in->host->n_ibdevs || rd_could_not_look(-in->host->rdma_error)))
		rd_check_unknown(out, "host", "queue pairs were not read, or could not be listed (RDMA netlink)");
	if (!res)
		return;
	for (size_t d = 0; d < res->n_devs; d++) {
		size_t orphans = 0, errors = 0, failed = 0;

		for (size_t i = 0; i < res->n_qps; i++) {
			const struct rd_qp *qp = &res->qps[i];
			bool seen = false;

			if (qp->dev != (int)d || !is_of_program(qp))
				continue;
			if (qp->owner.pid.known != RD_OK || qp->owner.pid.v == 0) {
				orphans++;
				errors += qp->state.known == RD_OK && qp->state.v == RD_QPS_ERR;
				continue;
			}
			failed += qp->state.known == RD_OK && qp->state.v == RD_QPS_ERR;
			for (size_t k = 0; k < i && !seen; k++)
				seen = res->qps[k].dev == qp->dev && res->qps[k].owner.pid.known == RD_OK &&
				       res->qps[k].owner.pid.v == qp->owner.pid.v && is_of_program(&res->qps[k]);
			if (!seen)
				judge_process(in, qp, out);
		}
		judge_failed(in, res->devs[d].name, failed, out);
		if (res->devs[d].gaps[RD_RES_QP].code)
			rd_check_unknown(out, res->devs[d].name, "not all queue pairs could be listed");
		else if (orphans)
			rd_check_warn(out, res->devs[d].name,
				      rd_text("%zu queue pairs without a living process, %zu of them in state ERR",
					      orphans, errors),
				      rd_text("no queue pairs: they are destroyed when a job ends"));
		else
			rd_check_good(out, res->devs[d].name);
	}
}

#define NO_DEADLINE "measured only under a deadline (rdmadiag check)"

static void report_stalls(const struct rd_stalls *stalls, enum rd_stall_kind kind, struct rd_check_out *out)
{
	const struct rd_stall *first = rd_stalls_first(stalls, kind);
	size_t n = rd_stalls_count(stalls, kind);

	if (n > 1)
		rd_check_warn(out, first->err.object,
			      rd_text("%s; %s %zu other reads", first->err.message,
				      kind == RD_STALL_DIED ? "so did the processes of" : "so were", n - 1),
			      rd_text("a response within milliseconds"));
	else if (n)
		rd_check_warn(out, first->err.object, rd_text("%s", first->err.message),
			      rd_text("a response within milliseconds"));
}

static void run_answers(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_stalls *stalls = in->stalls;

	rd_check_skip(out, NO_DEADLINE);
	if (!stalls)
		return;
	report_stalls(stalls, RD_STALL_BLOCKED, out);
	report_stalls(stalls, RD_STALL_DIED, out);
	rd_check_good(out, "host");
}

static void run_in_time(const struct rd_check_input *in, struct rd_check_out *out)
{
	static const enum rd_stall_kind kinds[] = { RD_STALL_UNASKED, RD_STALL_SLOW, RD_STALL_UNSURE };
	const struct rd_stalls *stalls = in->stalls;
	const struct rd_stall *first = NULL;

	rd_check_skip(out, NO_DEADLINE);
	if (!stalls)
		return;
	for (size_t i = 0; i < RD_ARRAY_SIZE(kinds) && !first; i++)
		first = rd_stalls_first(stalls, kinds[i]);
	/* About four times the limit, in whole seconds: "rdmadiag check --deadline 8". Caller frees. */
	if (first)
		rd_check_bad(out, RD_SEV_WARNING, first->err.object,
			     rd_text("%s; %zu other reads completed", first->err.message, stalls->replied),
			     rd_text("all reads complete within %u ms", stalls->limit_ms),
			     rd_text("rdmadiag check --deadline %u", stalls->limit_ms * 4 / 1000 + 1));
	rd_check_good(out, "host");
}

const struct rd_check rd_check_leftovers = {
	.id = "job-leftovers",
	.title = "Queue pairs left over from an earlier job",
	.why = "they hold memory and connections; a driver that does not release them will not serve the next job "
	       "either",
	.fix = "rdmadiag qp-state --by pid\n"
	       "# end the process that holds them\n"
	       "# if there is no process, reload the driver: no job may use the device meanwhile",
	.needs = "RDMA netlink: queue pairs and their owners",
	.parts = { 0, RD_PART_QPS | RD_PART_PROCESSES },
	.run = run_leftovers,
};

const struct rd_check rd_check_answers = {
	.id = "host-answers",
	.title = "Kernel does not respond to a read",
	.why = "a driver, its firmware or a file system hangs; programs that use it will hang as well",
	.fix = "echo w >/proc/sysrq-trigger\n"
	       "dmesg | tail -n 200\n"
	       "# the log then has the stacks of blocked tasks\n"
	       "# if a read stays blocked with rdmadiag check --deadline 60, restart the device or the host while no job "
	       "runs",
	.needs = "duration of each read, and whether its process was running or sleeping",
	.run = run_answers,
};

const struct rd_check rd_check_in_time = {
	.id = "read-in-time",
	.title = "Not all data was read before the deadline",
	.why = "facts that were not read are unknown; a busy or slow host is not a faulty one",
	.fix = "# rdmadiag check --deadline SECONDS, with a larger value",
	.needs = "duration of each read, and whether its process was running or sleeping",
	.run = run_in_time,
};

/* Devices that are listed, but no longer on the bus. */

static void judge_no_answer(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (!rd_pci_matters(in->host, i) || !pci->config_read)
		return;
	if (pci->no_answer)
		rd_check_fail(out, addr, rd_text("%s: configuration space reads as all ones", rd_pci_what(in->host, i)),
			      rd_text("a response to configuration reads"));
	else
		rd_check_good(out, addr);
}

const struct rd_check rd_check_no_answer = {
	.id = "pcie-no-answer",
	.title = "Device does not respond on PCI Express",
	.why = "it fell off the bus: the kernel's data about it is stale, and programs that use it hang or fail",
	.fix = "dmesg | grep -e ADDRESS -e AER -e pciehp -e Xid\n"
	       "echo 1 >/sys/bus/pci/devices/ADDRESS/remove\n"
	       "echo 1 >/sys/bus/pci/rescan\n"
	       "# no job may use the device meanwhile\n"
	       "# if it is still missing: power-cycle the host while no job runs, then reseat or replace the card",
	.needs = "the first bytes of PCI configuration space",
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_PCI, NULL, judge_no_answer, "configuration space of no NIC or accelerator was read" },
};
