/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/join/join.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/* Queue pairs named in a finding. */
#define NAMED_MAX 3

static void name_qp(const struct rd_join *join, const struct rd_join_qp *qp, struct rd_buf *out)
{
	const struct rd_join_host *host = &join->hosts[qp->host];

	rd_buf_printf(out, "%s %s QP %u", host->name, host->devs[qp->dev].name, qp->lqpn);
}

/* Names the first ends of pairs with this verdict, and whether their peer is gone. The first such pair, or NULL. */
static const struct rd_join_pair *name_pairs(const struct rd_join *join, const struct rd_join_pairs *pairs,
					     enum rd_join_verdict verdict, bool gone, struct rd_buf *out)
{
	const struct rd_join_pair *first = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < pairs->n && shown < NAMED_MAX; i++) {
		const struct rd_join_pair *pair = &pairs->v[i];

		if (pair->verdict != verdict || rd_join_is_gone(pair) != gone)
			continue;
		first = first ? first : pair;
		rd_buf_str(out, shown++ ? ", " : "");
		name_qp(join, &join->qps[pair->a], out);
	}
	return first;
}

static void add_finding(const struct rd_join *join, const struct rd_join_pairs *pairs, enum rd_join_verdict verdict,
			const struct rd_finding *kind, struct rd_findings *findings)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	struct rd_finding finding = *kind;
	size_t n = pairs->count[verdict] - (verdict == RD_JOIN_HALF_OPEN ? pairs->n_gone : 0);

	if (n == 0)
		return;
	name_pairs(join, pairs, verdict, false, &names);
	finding.subject = rd_dup(names.data);
	finding.observed = rd_text("%zu of %zu pairs", n, pairs->n);
	finding.fix = rd_dup(
		finding.severity == RD_SEV_CRITICAL ?
			"# check the end that is not connected: run rdmadiag qp-state --trace on that host" :
			"# capture all hosts of the job while rdma_cm or a recorder (qp-state --trace) knows the peers\n# then join the captures");
	rd_finding_add(findings, &finding);
}

static void add_gone(const struct rd_join *join, const struct rd_join_pairs *pairs, struct rd_findings *findings)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	_cleanup_free_ char *reason = NULL, *host = NULL;
	const struct rd_join_pair *first = name_pairs(join, pairs, RD_JOIN_HALF_OPEN, true, &names);
	struct rd_finding finding = {
		.id = "qp-peer-gone",
		.severity = RD_SEV_CRITICAL,
		.title = "remote end of a connection is missing",
		.why = "The peer's process ended, or destroyed the queue pair: packets to it are dropped, and the path is not the cause.",
	};

	if (!first)
		return;
	reason = rd_join_reason(join, first);
	finding.subject = rd_dup(names.data);
	finding.observed = rd_text("%s (%zu of %zu pairs)", reason, pairs->n_gone, pairs->n);
	host = rd_safe(join->hosts[join->owners[first->n].host].name);
	finding.fix = rd_text(
		"# find out why the job's process on %s ended: its log, journalctl -k -b\n# then restart the job", host);
	rd_finding_add(findings, &finding);
}

void rd_join_findings(const struct rd_join *join, const struct rd_join_pairs *pairs, struct rd_findings *findings)
{
	static const struct rd_finding kinds[RD_JOIN_VERDICTS] = {
		[RD_JOIN_HALF_OPEN] = { .id = "qp-half-open",
					.severity = RD_SEV_CRITICAL,
					.title = "only one end of a connection is connected",
					.why = "The connected end waits for its peer until the retry count is exceeded, or forever." },
		[RD_JOIN_MISMATCH] = { .id = "qp-mismatch",
				       .severity = RD_SEV_CRITICAL,
				       .title = "the two ends of a connection do not match",
				       .why = "Packets go to a queue pair that expects packets from another one." },
		[RD_JOIN_AMBIGUOUS] = { .id = "qp-ambiguous",
					.severity = RD_SEV_UNKNOWN,
					.title = "remote QP cannot be determined",
					.why = "QP numbers are unique only within one device." },
		[RD_JOIN_NOT_VISIBLE] = { .id = "peer-not-visible",
					  .severity = RD_SEV_UNKNOWN,
					  .title = "remote QP was not captured",
					  .why = "The state of these connections is unknown." },
	};

	add_gone(join, pairs, findings);
	for (int kind = RD_JOIN_HALF_OPEN; kind < RD_JOIN_VERDICTS; kind++)
		add_finding(join, pairs, (enum rd_join_verdict)kind, &kinds[kind], findings);
}
