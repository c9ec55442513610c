// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-verdict.h"
#include "base/text.h"

/* What each verdict is worth; what is a note, or not known, is no finding. */
static const struct {
	enum rd_severity severity;
	const char *id, *title, *why;
} worth[RD_QPV_N] = {
	[RD_QPV_NONE] = { .severity = RD_SEV_UNKNOWN },
	[RD_QPV_FAILED] = { RD_SEV_CRITICAL, "qp-failed", "queue pairs have failed",
			    "a queue pair in ERR or SQE moves no data until its program makes the connection anew" },
	[RD_QPV_EXHAUSTED] = { RD_SEV_CRITICAL, "qp-retries-exhausted", "queue pairs have given up sending again",
			       "the other end did not answer for as long as timeout and retries allowed" },
	[RD_QPV_STUCK] = { RD_SEV_WARNING, "qp-stuck", "queue pairs are stuck on the way to being connected",
			   "a job whose connections are not all made stands still" },
	[RD_QPV_RETRYING] = { RD_SEV_WARNING, "qp-retrying", "packets are sent again and none arrives",
			      "the program sees nothing of this until the retries are exhausted, which may be never" },
	[RD_QPV_FLUSHED] = { .severity = RD_SEV_NOTE }, /* programs do so when they close, or give up */
	[RD_QPV_IDLE] = { .severity = RD_SEV_NOTE },
	[RD_QPV_OK] = { .severity = RD_SEV_NOTE },
	[RD_QPV_CANNOT_TELL] = { .severity = RD_SEV_UNKNOWN },
};

enum rd_severity rd_qp_verdict_severity(enum rd_qp_verdict_kind kind)
{
	return kind < RD_QPV_N ? worth[kind].severity : RD_SEV_UNKNOWN;
}

static void judge_on(const struct rd_qp_views *views, const bool *chosen, size_t dev, enum rd_qp_verdict_kind kind,
		     struct rd_findings *findings)
{
	struct rd_finding finding = { .id = worth[kind].id,
				      .severity = worth[kind].severity,
				      .title = worth[kind].title,
				      .why = worth[kind].why };
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
	finding.subject = n == 1 ? rd_text("%s qpn %u", res->devs[dev].name, res->qps[first].lqpn.v) :
				   rd_text("%s, %zu queue pairs, the first is qpn %u", res->devs[dev].name, n,
					   res->qps[first].lqpn.v);
	finding.observed = rd_text("%s", views->v[first].verdict.why);
	finding.fix = rd_text("%s", views->v[first].verdict.fix);
	rd_finding_add(findings, &finding);
}

void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	for (enum rd_qp_verdict_kind kind = RD_QPV_NONE; kind < RD_QPV_N; kind++)
		for (size_t dev = 0; worth[kind].id && dev < views->res->n_devs; dev++)
			judge_on(views, chosen, dev, kind, findings);
}
