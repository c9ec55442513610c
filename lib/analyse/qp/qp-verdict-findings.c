// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict.h"
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
	[RD_QPV_STUCK] = { RD_SEV_WARNING, "qp-stuck", "queue pairs are stuck in INIT, RTR or SQD",
			   "a job hangs until all its connections are established" },
	[RD_QPV_RETRYING] = { RD_SEV_WARNING, "qp-retrying", "retransmitting; no ACK from the remote QP",
			      "the program gets no error until the retry count is exceeded, which may never happen" },
	[RD_QPV_FLUSHED] = { .severity = RD_SEV_NOTE }, /* programs do so when they close or abort a connection */
	[RD_QPV_IDLE] = { .severity = RD_SEV_NOTE },
	[RD_QPV_OK] = { .severity = RD_SEV_NOTE },
	[RD_QPV_CANNOT_TELL] = { .severity = RD_SEV_UNKNOWN },
};

enum rd_severity rd_qp_verdict_severity(enum rd_qp_verdict_kind kind)
{
	return kind < RD_QPV_N ? kinds[kind].severity : RD_SEV_UNKNOWN;
}

static void judge_device(const struct rd_qp_views *views, const bool *chosen, size_t dev, enum rd_qp_verdict_kind kind,
			 struct rd_findings *findings)
{
	struct rd_finding finding = { .id = kinds[kind].id,
				      .severity = kinds[kind].severity,
				      .title = kinds[kind].title,
				      .why = kinds[kind].why };
	const struct rd_res *res = views->res;
	size_t first = 0, n = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		if (res->qps[i].dev != (int)dev || (chosen && !chosen[i]) || views->v[i].verdict.kind != kind)
			continue;
		if (!n++)
			first = i;
	}
	if (!n)
		return;
	finding.subject =
		n == 1 ? rd_text("%s qpn %u", res->devs[dev].name, res->qps[first].lqpn.v) :
			 rd_text("%s, %zu queue pairs, first: qpn %u", res->devs[dev].name, n, res->qps[first].lqpn.v);
	finding.observed = rd_text("%s", views->v[first].verdict.why);
	finding.fix = rd_text("%s", views->v[first].verdict.fix);
	rd_finding_add(findings, &finding);
}

void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	for (enum rd_qp_verdict_kind kind = RD_QPV_NONE; kind < RD_QPV_N; kind++)
		for (size_t dev = 0; kinds[kind].id && dev < views->res->n_devs; dev++)
			judge_device(views, chosen, dev, kind, findings);
}
