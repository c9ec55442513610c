/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "analyse/qp/qp-join-priv.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/* Captures that lie further apart prove nothing against a connection: it may have been made, or ended, in between. */
#define APART_MOST 60.0

/* Whether all queue pairs of the device are in the capture; `why` not, if not. */
static bool device_is_whole(const struct rd_join_state *join, int host, int dev, const char **why)
{
	const struct rd_res_dev *of = &join->hosts[host].views->res->devs[dev];

	if (of->gaps[RD_RES_QP].code || of->gaps[RD_RES_QP].damaged || of->gaps[RD_RES_QP].interrupted ||
	    of->used[RD_RES_QP].known != RD_OK || of->listed[RD_RES_QP] < of->used[RD_RES_QP].v)
		*why = "not all queue pairs of its device were captured";
	else if (rd_res_dev_hides_qps(of))
		*why = "it may have been made through DEVX, which the kernel keeps no account of";
	else
		return true;
	return false;
}

static void add(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_entry *b,
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

	return name ? name : "a state that is not known";
}

static const char *job_of(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	const struct rd_qp *qp = rd_join_qp(join, entry);

	return qp->proc >= 0 ? join->hosts[entry->host].views->res->procs[qp->proc].job : NULL;
}

/* Numbers alone can meet by chance: drivers begin to count at the same number on every host. */
static bool is_proof(const struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_entry *b)
{
	const char *job = job_of(join, a), *other = job_of(join, b);

	/* Of the same job, whatever the step. */
	return rd_join_gid(join, a) || rd_join_gid(join, b) || rd_join_addresses(join, a, b) == RD_JOIN_AGREE ||
	       (job && other && strcspn(job, ".") == strcspn(other, ".") && strncmp(job, other, strcspn(job, ".")) == 0);
}

/* Seconds between the captures of two hosts; 0 where that is not known. */
static double apart(const struct rd_join_state *join, int a, int b)
{
	uint64_t x = join->hosts[a].time_ns, y = join->hosts[b].time_ns;

	return x && y ? (double)(x > y ? x - y : y - x) / 1e9 : 0;
}

/* Half-open or a mismatch, if the captures of both hosts are close enough to prove it. */
static void accuse(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_entry *b, int host,
		   enum rd_join_verdict verdict, char *reason)
{
	double seconds = apart(join, a->host, host);
	char *doubt;

	if (!reason || seconds <= APART_MOST) {
		add(join, a, b, verdict, reason);
		return;
	}
	doubt = rd_text("%s, but the captures are %.0f s apart: more than %.0f s prove nothing", reason, seconds,
			APART_MOST);
	free(reason);
	add(join, a, b, RD_JOIN_AMBIGUOUS, doubt);
}

/* As a recorder saw it, bytes; 0: none did. */
static unsigned mtu_of(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	const struct rd_qp_seen *seen = rd_join_view(join, entry)->past.seen;

	return seen && seen->path_mtu.known == RD_OK ? seen->path_mtu.v : 0;
}

/* The two point to each other. */
static void add_mutual(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_found *found)
{
	const struct rd_join_entry *b = found->mutual;
	const struct rd_qp *x = rd_join_qp(join, a), *y = rd_join_qp(join, b);
	bool gids = rd_join_gid(join, a) || rd_join_gid(join, b);
	unsigned mtu, other;

	join->done[b->host][b->qp] = true;
	if ((rd_qp_has_failed(x) || rd_qp_has_failed(y)) && !is_proof(join, a, b)) {
		add(join, a, b, RD_JOIN_AMBIGUOUS,
		    rd_text("%s here, %s there, but only numbers say that they belong together", state_of(x),
			    state_of(y)));
		return;
	}
	if (rd_qp_has_failed(x) || rd_qp_has_failed(y)) {
		accuse(join, a, b, b->host, RD_JOIN_HALF_OPEN, rd_text("%s here, %s there", state_of(x), state_of(y)));
		return;
	}
	mtu = mtu_of(join, a);
	other = mtu_of(join, b);
	if (mtu && other && mtu != other) {
		accuse(join, a, b, b->host, RD_JOIN_MISMATCH, rd_text("path MTU %u here, %u there", mtu, other));
		return;
	}
	add(join, a, b, RD_JOIN_CONNECTED,
	    rd_text("%s", gids						 ? "numbers and GIDs" :
			  rd_join_addresses(join, a, b) == RD_JOIN_AGREE ? "numbers and addresses" :
									   "numbers; no GID is known"));
}

/* The queue pair of that number at the other end does not point back. */
static void add_other(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_found *found)
{
	const struct rd_qp *x = rd_join_qp(join, a), *y = rd_join_qp(join, found->other);
	bool failed = rd_qp_has_failed(y);

	if (y->state.known != RD_OK) {
		add(join, a, found->other, RD_JOIN_NOT_VISIBLE, rd_text("the peer's device does not say its state"));
		return;
	}
	if (y->state.v < RD_QPS_RTR || (failed && y->rqpn.known != RD_OK)) {
		accuse(join, a, found->other, found->host, RD_JOIN_HALF_OPEN,
		       rd_text("%s here; the peer is in %s", state_of(x), state_of(y)));
		return;
	}
	if (y->rqpn.known != RD_OK) {
		add(join, a, found->other, RD_JOIN_AMBIGUOUS, rd_text("the peer does not say whose it is"));
		return;
	}
	if (y->rqpn.v == x->lqpn.v) {
		accuse(join, a, found->other, found->host, RD_JOIN_MISMATCH,
		       rd_text("the peer points to a QP %u at another address", y->rqpn.v));
		return;
	}
	accuse(join, a, found->other, found->host, RD_JOIN_MISMATCH,
	       rd_text("the peer points to QP %u, not to %u", y->rqpn.v, x->lqpn.v));
}

/* The GID says where it must be. */
static void add_by_gid(struct rd_join_state *join, const struct rd_join_entry *a, const struct rd_join_found *found)
{
	const struct rd_qp *x = rd_join_qp(join, a);
	const char *why = NULL;

	if (found->n_owners == 0) {
		add(join, a, NULL, RD_JOIN_NOT_VISIBLE, rd_text("no host that was captured has the peer's GID"));
		return;
	}
	if (found->n_owners > 1) {
		add(join, a, NULL, RD_JOIN_AMBIGUOUS, rd_text("%zu devices have the peer's GID", found->n_owners));
		return;
	}
	if (found->n_other > 1) {
		add(join, a, NULL, RD_JOIN_AMBIGUOUS, rd_text("%zu queue pairs there have that number", found->n_other));
		return;
	}
	if (found->other) {
		add_other(join, a, found);
		return;
	}
	if (!device_is_whole(join, found->host, found->dev, &why)) {
		add(join, a, NULL, RD_JOIN_NOT_VISIBLE, rd_text("%s", why));
		return;
	}
	accuse(join, a, NULL, found->host, RD_JOIN_HALF_OPEN,
	       rd_text("%s here; %s %s has no QP %u any more", state_of(x), join->hosts[found->host].name,
		       join->hosts[found->host].views->res->devs[found->dev].name, x->rqpn.v));
}

static void judge(struct rd_join_state *join, const struct rd_join_entry *a)
{
	struct rd_join_found found, back;

	rd_join_look_for(join, a, &found);
	if (found.n_mutual == 1) {
		/* The only one for us; are we the only one for it? */
		rd_join_look_for(join, found.mutual, &back);
		if (back.n_mutual == 1) {
			add_mutual(join, a, &found);
			return;
		}
		found.n_mutual = back.n_mutual;
	}
	if (found.n_mutual > 1) {
		add(join, a, NULL, RD_JOIN_AMBIGUOUS,
		    rd_text("%zu queue pairs have numbers that fit, and no GID decides", found.n_mutual));
		return;
	}
	if (found.by_gid) {
		add_by_gid(join, a, &found);
		return;
	}
	add(join, a, NULL, RD_JOIN_NOT_VISIBLE,
	    rd_text("%s", found.n_other ? "queue pairs of that number point elsewhere, and the peer's GID is not known" :
					  "no queue pair of that number was captured"));
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
				judge(&join, &entry);
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
					.title = "not both ends are connected",
					.why = "Who waits for this peer waits until its retries are spent, or for ever." },
		[RD_JOIN_MISMATCH] = { .id = "qp-mismatch",
				       .severity = RD_SEV_CRITICAL,
				       .title = "the two ends do not agree",
				       .why = "Packets go to a queue pair that expects them from another." },
		[RD_JOIN_AMBIGUOUS] = { .id = "qp-ambiguous",
					.severity = RD_SEV_UNKNOWN,
					.title = "the other end cannot be told",
					.why = "Numbers are unique on one device only." },
		[RD_JOIN_NOT_VISIBLE] = { .id = "peer-not-visible",
					  .severity = RD_SEV_UNKNOWN,
					  .title = "the other end was not captured",
					  .why = "Nothing can be said about these." },
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
				"look at the end that is not connected: rdmadiag qp-state --trace there" :
				"join the captures of all hosts of the job, taken while rdma_cm or a recorder knows the peers");
		rd_finding_add(findings, &finding);
	}
}
