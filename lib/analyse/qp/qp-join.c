/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analyse/qp/qp-join-priv.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/* Captures further apart prove nothing about a connection: it may have been established or closed in between. */
#define APART_MOST 60.0

/* Whether all queue pairs of the device are in the capture; if not, `why`. */
static bool is_device_complete(const struct rd_join_state *join, int host, int dev, const char **why)
{
	const struct rd_res_dev *of = &join->hosts[host].views->res->devs[dev];

	if (of->gaps[RD_RES_QP].code || of->gaps[RD_RES_QP].damaged || of->gaps[RD_RES_QP].interrupted ||
	    of->used[RD_RES_QP].known != RD_OK || of->listed[RD_RES_QP] < of->used[RD_RES_QP].v)
		*why = "not all queue pairs of the peer's device were captured";
	else if (rd_res_dev_hides_qps(of))
		*why = "the remote QP may have been created through DEVX, which the kernel does not track";
	else
		return true;
	return false;
}

static void add_pair(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_entry *b,
		     enum rd_join_verdict verdict, char *reason)
{
	struct rd_qp_pairs *pairs = join->pairs;

	rd_reserve(&pairs->v, &pairs->cap, pairs->n + 1, sizeof(*pairs->v));
	pairs->v[pairs->n++] = (struct rd_qp_pair){
		.a = { a->host, a->qp },
		.b = { b ? b->host : -1, b ? b->qp : 0 },
		.verdict = verdict,
		.reason = reason,
	};
	pairs->count[verdict]++;
	join->done[a->host][a->qp] = true;
}

static const char *state_of(const struct rd_qp *qp)
{
	const char *name = qp->state.known == RD_OK ? rd_qp_state_name(qp->state.v) : NULL;

	return name ? name : "unknown state";
}

static const char *job_of(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	const struct rd_qp *qp = rd_join_qp(join, entry);

	return qp->proc >= 0 ? join->hosts[entry->host].views->res->procs[qp->proc].job : NULL;
}

/* QP numbers alone can match by chance: drivers start at the same number on every host. */
static bool is_proof(const struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_entry *b)
{
	const char *job = job_of(join, a), *other = job_of(join, b);

	/* Both in the same job, in any step. */
	return rd_join_gid(join, a) || rd_join_gid(join, b) || rd_join_addresses(join, a, b) == RD_JOIN_AGREE ||
	       (job && other && strcspn(job, ".") == strcspn(other, ".") && strncmp(job, other, strcspn(job, ".")) == 0);
}

/* Seconds between the captures of two hosts; 0 if unknown. */
static double seconds_apart(const struct rd_join_state *join, int a, int b)
{
	uint64_t x = join->hosts[a].time_ns, y = join->hosts[b].time_ns;

	return x && y ? (double)(x > y ? x - y : y - x) / 1e9 : 0;
}

/* Half-open or a mismatch, if the captures of both hosts are close enough to prove it. */
static void add_suspect(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_entry *b,
			int host, enum rd_join_verdict verdict, char *reason)
{
	double seconds = seconds_apart(join, a->host, host);
	char *doubt;

	if (!reason || seconds <= APART_MOST) {
		add_pair(join, a, b, verdict, reason);
		return;
	}
	doubt = rd_text("%s, but the captures are %.0f s apart: beyond %.0f s this proves nothing", reason, seconds,
			APART_MOST);
	free(reason);
	add_pair(join, a, b, RD_JOIN_AMBIGUOUS, doubt);
}

/* Recorded path MTU in bytes; 0: not recorded. */
static unsigned mtu_of(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	const struct rd_qp_seen *seen = rd_join_view(join, entry)->past.seen;

	return seen && seen->path_mtu.known == RD_OK ? seen->path_mtu.v : 0;
}

/* Each of the two has the number of the other as its remote QP. */
static void add_mutual(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_found *found)
{
	const struct rd_join_entry *b = found->mutual;
	const struct rd_qp *x = rd_join_qp(join, a), *y = rd_join_qp(join, b);
	bool gids = rd_join_gid(join, a) || rd_join_gid(join, b);
	unsigned mtu, other;

	join->done[b->host][b->qp] = true;
	if ((rd_qp_has_failed(x) || rd_qp_has_failed(y)) && !is_proof(join, a, b)) {
		add_pair(join, a, b, RD_JOIN_AMBIGUOUS,
			 rd_text("%s here, %s on the remote QP, but only QP numbers link them", state_of(x),
				 state_of(y)));
		return;
	}
	if (rd_qp_has_failed(x) || rd_qp_has_failed(y)) {
		add_suspect(join, a, b, b->host, RD_JOIN_HALF_OPEN,
			    rd_text("%s here, %s on the remote QP", state_of(x), state_of(y)));
		return;
	}
	mtu = mtu_of(join, a);
	other = mtu_of(join, b);
	if (mtu && other && mtu != other) {
		add_suspect(join, a, b, b->host, RD_JOIN_MISMATCH,
			    rd_text("path MTU %u here, %u on the remote QP", mtu, other));
		return;
	}
	add_pair(join, a, b, RD_JOIN_CONNECTED,
		 rd_text("%s", gids					      ? "QP numbers and GIDs match" :
			       rd_join_addresses(join, a, b) == RD_JOIN_AGREE ? "QP numbers and addresses match" :
										"QP numbers match; no GID known"));
}

/* The remote QP of that number is not connected to this one. */
static void add_other(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_found *found)
{
	const struct rd_qp *x = rd_join_qp(join, a), *y = rd_join_qp(join, found->other);
	bool failed = rd_qp_has_failed(y);

	if (y->state.known != RD_OK) {
		add_pair(join, a, found->other, RD_JOIN_NOT_VISIBLE,
			 rd_text("the device of the remote QP does not report its state"));
		return;
	}
	if (y->state.v < RD_QPS_RTR || (failed && y->rqpn.known != RD_OK)) {
		add_suspect(join, a, found->other, found->host, RD_JOIN_HALF_OPEN,
			    rd_text("%s here; the remote QP is in %s", state_of(x), state_of(y)));
		return;
	}
	if (y->rqpn.known != RD_OK) {
		add_pair(join, a, found->other, RD_JOIN_AMBIGUOUS,
			 rd_text("the remote QP does not report its own remote QP number"));
		return;
	}
	if (y->rqpn.v == x->lqpn.v) {
		add_suspect(join, a, found->other, found->host, RD_JOIN_MISMATCH,
			    rd_text("the remote QP is connected to a QP %u at another address", y->rqpn.v));
		return;
	}
	add_suspect(join, a, found->other, found->host, RD_JOIN_MISMATCH,
		    rd_text("the remote QP is connected to QP %u, not to QP %u", y->rqpn.v, x->lqpn.v));
}

/* The peer's GID determines the device of the remote QP. */
static void add_by_gid(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_found *found)
{
	const struct rd_qp *x = rd_join_qp(join, a);
	const char *why = NULL;

	if (found->n_owners == 0) {
		add_pair(join, a, NULL, RD_JOIN_NOT_VISIBLE, rd_text("no captured host has the peer's GID"));
		return;
	}
	if (found->n_owners > 1) {
		add_pair(join, a, NULL, RD_JOIN_AMBIGUOUS, rd_text("%zu devices have the peer's GID", found->n_owners));
		return;
	}
	if (found->n_other > 1) {
		add_pair(join, a, NULL, RD_JOIN_AMBIGUOUS,
			 rd_text("%zu queue pairs of the peer's device have that number", found->n_other));
		return;
	}
	if (found->other) {
		add_other(join, a, found);
		return;
	}
	if (!is_device_complete(join, found->host, found->dev, &why)) {
		add_pair(join, a, NULL, RD_JOIN_NOT_VISIBLE, rd_text("%s", why));
		return;
	}
	add_suspect(join, a, NULL, found->host, RD_JOIN_HALF_OPEN,
		    rd_text("%s here; %s %s no longer has QP %u", state_of(x), join->hosts[found->host].name,
			    join->hosts[found->host].views->res->devs[found->dev].name, x->rqpn.v));
}

static void judge_qp(struct rd_join_state *join, const struct rd_join_entry *a)
{
	struct rd_join_found found, back;

	rd_join_find(join, a, &found);
	if (found.n_mutual == 1) {
		/* One candidate for this queue pair; is this one also the only candidate for it? */
		rd_join_find(join, found.mutual, &back);
		if (back.n_mutual == 1) {
			add_mutual(join, a, &found);
			return;
		}
		found.n_mutual = back.n_mutual;
	}
	if (found.n_mutual > 1) {
		add_pair(join, a, NULL, RD_JOIN_AMBIGUOUS,
			 rd_text("%zu queue pairs have matching QP numbers, and no known GID distinguishes them",
				 found.n_mutual));
		return;
	}
	if (found.by_gid) {
		add_by_gid(join, a, &found);
		return;
	}
	add_pair(join, a, NULL, RD_JOIN_NOT_VISIBLE,
		 rd_text("%s",
			 found.n_other ?
				 "queue pairs with that number are connected elsewhere, and the peer's GID is unknown" :
				 "no queue pair with that number was captured"));
}

void rd_qp_join(const struct rd_join_host *hosts, size_t n, struct rd_qp_pairs *ret)
{
	struct rd_join_state join = { .hosts = hosts, .n = n, .pairs = ret };

	*ret = (struct rd_qp_pairs){ 0 };
	rd_join_build(&join);
	for (size_t h = 0; h < n; h++)
		for (size_t i = 0; i < hosts[h].views->res->n_qps; i++) {
			const struct rd_join_entry entry = { hosts[h].views->res->qps[i].lqpn.v, (int)h, i };

			if (!join.done[h][i] && rd_join_names_peer(&join, &entry))
				judge_qp(&join, &entry);
		}
	rd_join_release(&join);
}

static void name_end(const struct rd_join_host *hosts, const struct rd_qp_end *end, struct rd_buf *out)
{
	const struct rd_res *res = hosts[end->host].views->res;

	rd_buf_printf(out, "%s %s QP %u", hosts[end->host].name, res->devs[res->qps[end->qp].dev].name,
		      res->qps[end->qp].lqpn.v);
}

void rd_qp_join_findings(const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs, struct rd_findings *findings)
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

	for (int kind = RD_JOIN_HALF_OPEN; kind < RD_JOIN_VERDICTS; kind++) {
		_cleanup_buf_ struct rd_buf names = { 0 };
		struct rd_finding finding = kinds[kind];
		size_t shown = 0;

		if (pairs->count[kind] == 0)
			continue;
		for (size_t i = 0; i < pairs->n && shown < 3; i++) {
			if ((int)pairs->v[i].verdict != kind)
				continue;
			rd_buf_str(&names, shown++ ? ", " : "");
			name_end(hosts, &pairs->v[i].a, &names);
		}
		finding.subject = names.data && !names.failed ? rd_dup(names.data) : NULL;
		finding.observed = rd_text("%zu of %zu pairs", pairs->count[kind], pairs->n);
		finding.fix = rd_dup(
			finding.severity == RD_SEV_CRITICAL ?
				"check the end that is not connected: run rdmadiag qp-state --trace on that host" :
				"capture all hosts of the job while rdma_cm or a recorder (qp-state --trace) knows the peers; then join the captures");
		rd_finding_add(findings, &finding);
	}
}
