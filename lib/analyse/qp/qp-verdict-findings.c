// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/* Severity and texts of each verdict; notes and unknown verdicts make no finding. */
static const struct {
	enum rd_severity severity;
	const char *id, *title, *why;
} kinds[RD_QPV_N] = {
	[RD_QPV_NONE] = { .severity = RD_SEV_UNKNOWN },
	[RD_QPV_FAILED] = { RD_SEV_CRITICAL, "qp-failed", "queue pairs are in ERR or SQE",
			    "a queue pair in ERR or SQE transfers no data until its program recreates the connection" },
	[RD_QPV_EXHAUSTED] = { RD_SEV_CRITICAL, "qp-retries-exhausted",
			       "retry count exceeded (IBV_WC_RETRY_EXC_ERR or IBV_WC_RNR_RETRY_EXC_ERR)",
			       "the remote QP sent no ACK, or only RNR NAKs, until the transport or RNR retry count was exceeded" },
	[RD_QPV_CUT_OFF] = { RD_SEV_WARNING, "qp-cut-off", "queue pairs can reach no remote QP",
			     "the job hangs: what is posted is retransmitted until the retry count is exceeded, or forever; datagrams are lost" },
	[RD_QPV_STUCK] = { RD_SEV_WARNING, "qp-stuck", "queue pairs are stuck in INIT, RTR or SQD",
			   "a job hangs until all its connections are established" },
	[RD_QPV_RETRYING] = { RD_SEV_WARNING, "qp-retrying", "retransmitting; no ACK from the remote QP",
			      "the program gets no error until the retry count is exceeded, which may never happen" },
	[RD_QPV_NO_RECEIVES] = { RD_SEV_WARNING, "qp-no-receives", "a program posts no receive work requests",
				 "the sender waits until receive work requests are posted, with rnr_retry 7 forever" },
	[RD_QPV_SLOW] = { RD_SEV_WARNING, "qp-slow", "packets of queue pairs are lost, or refused by the receiver",
			  "a lost packet delays all packets behind it, and after an ACK timeout by milliseconds to seconds" },
	[RD_QPV_FLUSHED] = { .severity = RD_SEV_NOTE }, /* programs do so when they close or abort a connection */
	[RD_QPV_IDLE] = { .severity = RD_SEV_NOTE },
	[RD_QPV_RECEIVING] = { .severity = RD_SEV_NOTE },
	[RD_QPV_OK] = { .severity = RD_SEV_NOTE },
	[RD_QPV_CANNOT_TELL] = { .severity = RD_SEV_UNKNOWN },
};

enum rd_severity rd_qp_verdict_severity(enum rd_qp_verdict_kind kind)
{
	return kind < RD_QPV_N ? kinds[kind].severity : RD_SEV_UNKNOWN;
}

/* The queue pairs of one device, which are adjacent. */
struct range {
	size_t from, to, dev;
};

static bool next_device(const struct rd_res *res, struct range *range)
{
	range->from = range->to;
	while (range->from < res->n_qps && res->qps[range->from].dev < 0)
		range->from++;
	if (range->from == res->n_qps)
		return false;
	range->dev = (size_t)res->qps[range->from].dev;
	for (range->to = range->from; range->to < res->n_qps && res->qps[range->to].dev == (int)range->dev;)
		range->to++;
	return true;
}

static void judge_device(const struct rd_qp_views *views, const bool *chosen, const struct range *range,
			 enum rd_qp_verdict_kind kind, struct rd_findings *findings)
{
	const struct rd_res *res = views->res;
	size_t first = 0, n = 0;

	for (size_t i = range->from; i < range->to; i++) {
		if ((chosen && !chosen[i]) || views->v[i].verdict->kind != kind)
			continue;
		if (!n++)
			first = i;
	}
	if (n)
		rd_finding_put(findings,
			       &(struct rd_finding){ kinds[kind].id, kinds[kind].title, kinds[kind].why,
						     kinds[kind].severity },
			       n == 1 ? rd_text("%s qpn %u", res->devs[range->dev].name, res->qps[first].lqpn.v) :
					rd_text("%s, %zu queue pairs, first: qpn %u", res->devs[range->dev].name, n,
						res->qps[first].lqpn.v),
			       rd_dup(views->v[first].verdict->why), rd_dup(views->v[first].verdict->fix));
}

#define NAMED_MAX 8

/* "; without packets: qpn 17, 18", or with. Returns how many: also those that are not `chosen`, so that none is accused alone; *any:
 * whether one is. */
static size_t list_suspects(const struct rd_qp_views *views, const bool *chosen, const struct range *range, bool moving,
			    bool *any, struct rd_buf *out)
{
	size_t n = 0;

	for (size_t i = range->from; i < range->to; i++) {
		const struct rd_qp_past *past = views->v[i].past;

		if (views->notes[range->dev].of_requester && views->res->qps[i].state.v == RD_QPS_RTR)
			continue;
		if (views->v[i].verdict->kind != RD_QPV_CANNOT_TELL || past->psn_per_second.known != RD_OK ||
		    (past->psn_per_second.v > 0) != moving)
			continue;
		*any |= !chosen || chosen[i];
		if (n++ < NAMED_MAX)
			rd_buf_printf(out, "%s%u",
				      n > 1  ? ", " :
				      moving ? "; with packets: qpn " :
					       "; without packets: qpn ",
				      views->res->qps[i].lqpn.v);
	}
	if (n > NAMED_MAX)
		rd_buf_printf(out, ", %zu more", n - NAMED_MAX);
	return n;
}

/* Whether what the device counted may be of this one, though it is not in the lists: its packets are unknown, or it failed since the
 * sample before. */
static bool may_be_meant(const struct rd_qp *qp, const struct rd_qp_past *past)
{
	if (!rd_qp_can_retransmit(qp) || qp->state.known != RD_OK)
		return false;
	return qp->state.v == RD_QPS_RTS ? past->psn_per_second.known != RD_OK : past->fresh && rd_qp_has_failed(qp);
}

/* What cannot be attributed to one queue pair. */
static void judge_note(const struct rd_qp_views *views, const bool *chosen, const struct range *range,
		       struct rd_findings *findings)
{
	const struct rd_finding retransmits = { "qps-retransmit", "device retransmits, or loses packets",
						kinds[RD_QPV_SLOW].why, RD_SEV_WARNING };
	_cleanup_buf_ struct rd_buf which = { 0 };
	size_t n, unknown = 0;
	bool any = false;

	if (!views->notes || !views->notes[range->dev].why)
		return;
	/* A verdict on one queue pair may explain what its device counted. */
	for (size_t i = range->from; i < range->to; i++) {
		enum rd_qp_verdict_kind kind = views->v[i].verdict->kind;

		if (kind == RD_QPV_CUT_OFF || kind == RD_QPV_RETRYING || kind == RD_QPV_NO_RECEIVES ||
		    kind == RD_QPV_SLOW)
			return;
	}
	n = list_suspects(views, chosen, range, false, &any, &which);
	n += list_suspects(views, chosen, range, true, &any, &which);
	if (!any)
		return;
	for (size_t i = range->from; i < range->to; i++)
		unknown += may_be_meant(&views->res->qps[i], views->v[i].past);
	if (unknown)
		rd_buf_printf(&which, "; %zu more, whose packets are unknown", unknown);
	n += unknown;
	rd_finding_put(findings, &retransmits,
		       rd_text(n == 1 ? "%s, a queue pair" : "%s, one of %zu queue pairs",
			       views->res->devs[range->dev].name, n),
		       rd_text("%s%s", views->notes[range->dev].why, which.data), rd_dup(views->notes[range->dev].fix));
}

void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	struct range range;

	for (enum rd_qp_verdict_kind kind = RD_QPV_NONE; kind < RD_QPV_N; kind++) {
		range = (struct range){ 0 };
		while (kinds[kind].id && next_device(views->res, &range))
			judge_device(views, chosen, &range, kind, findings);
	}
	range = (struct range){ 0 };
	while (next_device(views->res, &range))
		judge_note(views, chosen, &range, findings);
}
