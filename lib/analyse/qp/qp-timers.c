/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timeouts of queue pairs, and what is unknown: of timers and peers, and of queue pairs that are not listed. */
#include "analyse/qp/qp.h"

#include "base/buf.h"
#include "base/text.h"

#define UNIT_SECONDS 4.096e-6
#define SLACK 4.0
#define FOREVER 7

double rd_rnr_timer_seconds(unsigned code)
{
	/* Units of 10 us; code 0 is the longest. */
	static const uint16_t units[32] = { 0,	  1,	2,    3,    4,	  6,	 8,	12,    16,    24,   32,
					    48,	  64,	96,   128,  192,  256,	 384,	512,   768,   1024, 1536,
					    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

	if (code == 0)
		return 655.36e-3;
	return code < RD_ARRAY_SIZE(units) ? units[code] * 10e-6 : 0;
}

static void compute_ack(const struct rd_timeouts *in, struct rd_giveup *ret)
{
	unsigned timeout = in->timeout.v & 31, tries = (in->retry_cnt.v & 7) + 1u;

	if (in->timeout.known != RD_OK)
		return;
	if (timeout)
		RD_SET(ret->ack_timeout, UNIT_SECONDS * (double)(UINT64_C(1) << timeout));
	else
		ret->note = "timeout 0: local ACK timeout disabled; the QP waits forever after a lost packet";
	if (timeout && in->rxe && in->retry_cnt.known == RD_OK && tries == FOREVER + 1)
		ret->note = "soft-RoCE (rxe) retries forever with retry_cnt 7; the specification defines 7 retries";
	ret->ack_for_ever = ret->note;
	if (ret->ack_for_ever || in->retry_cnt.known != RD_OK)
		return;
	RD_SET(ret->ack_least, ret->ack_timeout.v * tries);
	RD_SET(ret->ack_most, ret->ack_timeout.v * tries * SLACK);
}

struct rd_giveup rd_qp_giveup(struct rd_timeouts in)
{
	struct rd_giveup ret = { 0 };

	compute_ack(&in, &ret);
	if (in.min_rnr_timer.known == RD_OK)
		RD_SET(ret.rnr_timer, rd_rnr_timer_seconds(in.min_rnr_timer.v & 31));
	ret.rnr_for_ever = in.rnr_retry.known == RD_OK && (in.rnr_retry.v & 7) == FOREVER;
	if (in.rnr_retry.known == RD_OK && ret.rnr_timer.known == RD_OK && !ret.rnr_for_ever)
		RD_SET(ret.rnr_least, ret.rnr_timer.v * (in.rnr_retry.v & 7));
	return ret;
}

bool rd_qp_times_out(const struct rd_qp *qp)
{
	return (qp->type.known != RD_OK || qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_XRC_INI) &&
	       (qp->state.known != RD_OK || qp->state.v >= RD_QPS_RTS);
}

struct rd_timeouts rd_qp_timeouts(const struct rd_qp_views *views, size_t i)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(&views->v[i]);
	struct rd_timeouts ret = { .rxe = rd_res_dev_is_rxe(&views->res->devs[views->res->qps[i].dev]) };

	if (!rd_qp_times_out(&views->res->qps[i]))
		return ret;
	RD_COPY(ret.timeout, attrs.timeout);
	RD_COPY(ret.retry_cnt, attrs.retry_cnt);
	RD_COPY(ret.rnr_retry, attrs.rnr_retry);
	return ret;
}

#define TRACE_BEFORE "# start rdmadiag qp-state --trace before the job"

/* Why it is unknown what a driver fills in when the kernel queries a queue pair for the list. The first one: the driver is not known to
 * fill this in; the others by enum rd_probe. */
static const struct {
	const char *why, *fix;
} silences[] = {
	{ "their driver does not fill it in when the kernel lists them", TRACE_BEFORE },
	[1 + RD_PROBE_NONE] = { "the kernel's own queries were not recorded",
				"# run rdmadiag capture as root\n" TRACE_BEFORE },
	[1 + RD_PROBE_OFF] = { "the kernel's own queries were not looked at (--no-probe)",
			       "# run rdmadiag qp-state as root, without --no-probe" },
	[1 + RD_PROBE_DENIED] = { "to look at the kernel's own queries needs CAP_BPF and CAP_PERFMON",
				  "# run rdmadiag qp-state as root: it shows peers and timers\n" TRACE_BEFORE },
	[1 + RD_PROBE_FAILED] = { "the kernel's own queries cannot be looked at on this host",
				  "rdmadiag -v qp-state\n" TRACE_BEFORE },
	[1 + RD_PROBE_ON] = { "the kernel's own queries of them were missed, or they had no peer yet",
			      "rdmadiag qp-state" },
};
#define SILENCES RD_ARRAY_SIZE(silences)

static size_t silence_of(const struct rd_res *res, const struct rd_qp *qp, unsigned what)
{
	return res->devs[qp->dev].fills & what ? 1 + res->probe : 0;
}

/* Queue pairs with a property: how many, and the first one. */
struct counted {
	size_t n, of, first;
};

static void count(struct counted *counted, size_t i, bool has)
{
	counted->of++;
	if (has && !counted->n++)
		counted->first = i;
}

/* Connected; one that has failed may never have been. */
static bool has_peer(const struct rd_qp *qp)
{
	bool never = qp->rqpn.known == RD_OK && !qp->rqpn.v;

	return rd_qp_is_connected_type(qp) && qp->state.known == RD_OK && qp->state.v >= RD_QPS_RTR && !never;
}

static bool has_timeout(const struct rd_qp *qp)
{
	return qp->type.known == RD_OK && rd_qp_times_out(qp) && qp->state.known == RD_OK &&
	       (qp->state.v == RD_QPS_RTS || qp->state.v == RD_QPS_SQD);
}

/* Sends RNR NAKs: RC, and XRC at its target, from RTR on. Others have no such timer set. */
static bool has_rnr_timer(const struct rd_qp *qp)
{
	return has_peer(qp) && (qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_XRC_TGT);
}

static char *name_of(const struct rd_res *res, size_t i)
{
	const struct rd_qp *qp = &res->qps[i];
	const char *owner = rd_owner_name(res, &qp->owner, qp->proc);

	return rd_text("%s qpn %u%s%s%s", res->devs[qp->dev].name, qp->lqpn.v, owner ? " (" : "", owner ?: "",
		       owner ? ")" : "");
}

/* One finding per reason: of how many queue pairs it is unknown. */
static void add_unknown(const struct rd_res *res, const struct counted counted[SILENCES], const struct rd_finding *kind,
			struct rd_findings *findings)
{
	for (size_t s = 0; s < SILENCES; s++) {
		_cleanup_free_ char *first = NULL;

		if (!counted[s].n)
			continue;
		first = name_of(res, counted[s].first);
		rd_finding_put(findings, kind,
			       counted[s].n == 1 ? rd_dup(first) :
						   rd_text("%zu queue pairs, first: %s", counted[s].n, first),
			       rd_text("%zu of %zu queue pairs: no recorder saw them connect; %s", counted[s].n,
				       counted[s].of, silences[s].why),
			       rd_dup(silences[s].fix));
	}
}

void rd_qp_peer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	static const struct rd_finding kind = {
		"peer-unknown", "peer of queue pairs unknown",
		"The kernel lists the number of the remote QP, but not its host; only rdma_cm connections have an address.",
		RD_SEV_NOTE
	};
	struct counted counted[SILENCES] = { 0 };
	uint8_t peer[16];

	for (size_t i = 0; i < views->res->n_qps; i++) {
		const struct rd_qp *qp = &views->res->qps[i];

		if ((!chosen || chosen[i]) && has_peer(qp))
			count(&counted[silence_of(views->res, qp, RD_FILLS_PEER)], i, !rd_qp_peer(views, i, peer));
	}
	add_unknown(views->res, counted, &kind, findings);
}

bool rd_qp_timeout_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	static const struct rd_finding kind = { "timeouts-unknown", "timeouts of queue pairs unknown",
						"The kernel does not list the timeouts and retry counts of queue pairs.",
						RD_SEV_UNKNOWN };
	struct counted counted[SILENCES] = { 0 };
	size_t n = 0, of = 0;

	for (size_t i = 0; i < views->res->n_qps; i++) {
		const struct rd_qp *qp = &views->res->qps[i];
		bool unknown = rd_qp_timeout_source(&views->v[i]) == RD_PEER_UNKNOWN;

		if ((chosen && !chosen[i]) || !has_timeout(qp))
			continue;
		count(&counted[silence_of(views->res, qp, RD_FILLS_TIMEOUT)], i, unknown);
		n += unknown;
		of++;
	}
	add_unknown(views->res, counted, &kind, findings);
	return of > 0 && n == of;
}

enum timer { ACK_OFF, RNR_LONGEST, RNR_FOREVER, TIMERS };

static const struct {
	const char *value, *expected, *fix;
	struct rd_finding kind;
} timers[TIMERS] = {
	[ACK_OFF] = { "timeout 0",
		      "a timeout from 1 to 31 (4.096 us x 2^timeout); 14 is 67 ms, 18 is 1.07 s",
		      "# set timeout when the program moves its queue pairs to RTS (NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT)\n# rdmadiag qp-state --timeouts shows the result",
		      { "ack-timer-off", "local ACK timeout is off",
			"After a lost packet, or if its peer is gone, such a queue pair waits forever and reports no error.",
			RD_SEV_WARNING } },
	[RNR_LONGEST] = { "min_rnr_timer 0",
			  "a code from 1 to 31; 12 is 0.64 ms",
			  "# set min_rnr_timer when the program moves its queue pairs to RTR (rdma_cm: rdma_set_option, kernel: rdma_set_min_rnr_timer)",
			  { "rnr-timer-longest", "RNR NAK timer is the longest: 655.36 ms",
			    "Code 0 is not zero: a sender that finds no receive work request posted pauses for 655.36 ms each time.",
			    RD_SEV_NOTE } },
	[RNR_FOREVER] = { "rnr_retry 7",
			  "0 to 6 if a receiver that stops posting must end the connection; 7 is common (NCCL, MPI)",
			  "rdmadiag qp-state -i 1 -c 3\n# if the job hangs, look for receivers that post no receives",
			  { "rnr-retry-forever", "queue pairs retry forever after RNR NAKs",
			    "A receiver that posts no receive work requests stalls its sender without an error.",
			    RD_SEV_NOTE } },
};

void rd_qp_timer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	const struct rd_res *res = views->res;
	size_t i = 0;

	/* Queue pairs are sorted by device. */
	while (i < res->n_qps) {
		struct counted counted[TIMERS] = { 0 };
		int dev = res->qps[i].dev;

		for (; i < res->n_qps && res->qps[i].dev == dev; i++)
			if (!chosen || chosen[i]) {
				/* Whether queue pair `i` has the timer, and whether it is the one of the finding. */
				const struct rd_qp_seen attrs = rd_qp_attributes(&views->v[i]);

				if (has_timeout(&res->qps[i]) && attrs.timeout.known == RD_OK)
					count(&counted[ACK_OFF], i, attrs.timeout.v == 0);
				if (has_rnr_timer(&res->qps[i]) && attrs.min_rnr_timer.known == RD_OK)
					count(&counted[RNR_LONGEST], i, attrs.min_rnr_timer.v == 0);
				if (has_timeout(&res->qps[i]) && attrs.rnr_retry.known == RD_OK)
					count(&counted[RNR_FOREVER], i, attrs.rnr_retry.v == 7);
			}
		for (int timer = 0; timer < TIMERS; timer++) {
			_cleanup_free_ char *first = NULL;
			struct rd_finding kind = timers[timer].kind;

			if (!counted[timer].n)
				continue;
			first = name_of(res, counted[timer].first);
			kind.expected = rd_dup(timers[timer].expected);
			rd_finding_put(findings, &kind, rd_dup(res->devs[dev].name),
				       rd_text("%s on %zu of %zu queue pairs, first: %s", timers[timer].value,
					       counted[timer].n, counted[timer].of, first),
				       rd_dup(timers[timer].fix));
		}
	}
}

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
	"qps-may-be-hidden", "may own queue pairs that the kernel does not list",
	"The kernel does not track queue pairs that a program creates through DEVX. How many there are is unknown; if the job hangs, one of them may be the reason.",
	RD_SEV_NOTE
};

static const struct rd_finding unknown_peers = {
	"process-tcp-peers", "the peers of its queue pairs are unknown, but not its TCP connections",
	"NCCL, Gloo and MPI connect the hosts of a job by TCP first. These addresses may be hosts of its job; which queue pair is connected to which of them is unknown.",
	RD_SEV_NOTE
};

static char *proc_name(const struct rd_proc *proc)
{
	return proc->comm ? rd_text("process %u (%s)", proc->pid, proc->comm) : rd_text("process %u", proc->pid);
}

void rd_qp_hidden_findings(const struct rd_res *res, struct rd_findings *findings)
{
	struct opened *opened = list_opened(res);
	size_t n = 0;

	for (size_t i = 0; i < res->n_procs; i++) {
		const char *libs = res->procs[i].devx_libs, *devices = opened[i].names.data;
		bool has_libs = libs && *libs;

		if (!opened[i].n || (opened[i].listed && !has_libs) || n++ >= PROCESSES_MAX)
			continue;
		rd_finding_put(
			findings, &hidden, proc_name(&res->procs[i]),
			has_libs ? rd_text("has %s open, and libraries mapped that create queue pairs through DEVX: %s",
					   devices, libs) :
				   rd_text("has %s open; the kernel lists no queue pair of it", devices),
			NULL);
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
		rd_finding_put(findings, &unknown_peers, proc_name(&res->procs[i]),
			       rd_text("%zu queue pairs with unknown peers; TCP connections to %s", qps[i], text),
			       NULL);
	}
	if (n > PROCESSES_MAX)
		rd_finding_put(findings, &unknown_peers, rd_text("%zu more processes", n - PROCESSES_MAX), NULL,
			       rd_dup("rdmadiag qp-state -o pid,comm,process_tcp_peers"));
}
