/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp-join.h"

#include <errno.h>
#include <string.h>

#include "analyse/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/* Captures that lie further apart prove nothing against a connection: it may have been made, or ended, in between. */
#define APART_MOST 60.0

/* Every queue pair of every host, by its number. */
struct entry {
	uint32_t lqpn;
	int host;
	size_t qp;
};

/* Which device has a GID. */
struct owner {
	uint8_t gid[16];
	int host, dev;
};

struct join {
	const struct rd_join_host *hosts;
	size_t n;
	struct entry *entries;
	size_t n_entries;
	struct owner *owners;
	size_t n_owners, cap_owners;
	bool **done; /* [host][qp]: stands in a pair already */
	struct rd_qp_pairs *pairs;
};

/* What was found for one queue pair. */
struct found {
	const struct entry *mutual, *other; /* the last one that points back; that does not */
	size_t n_mutual, n_other;
	bool by_gid;   /* the peer's GID says on which device it is */
	int host, dev; /* of that device; host -1: nobody's that was captured */
	size_t n_owners;
};

static const struct rd_qp *qp_of(const struct join *join, const struct entry *entry)
{
	return &join->hosts[entry->host].views->res->qps[entry->qp];
}

static const struct rd_qp_view *view_of(const struct join *join, const struct entry *entry)
{
	return &join->hosts[entry->host].views->v[entry->qp];
}

/* NULL: not known. */
static const uint8_t *gid_of(const struct join *join, const struct entry *entry)
{
	return rd_qp_peer_gid(view_of(join, entry));
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->lqpn != y->lqpn)
		return x->lqpn < y->lqpn ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->qp < y->qp ? -1 : x->qp > y->qp;
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	int r = memcmp(x->gid, y->gid, 16);

	if (r)
		return r;
	return x->host != y->host ? x->host - y->host : x->dev - y->dev;
}

/* RoCE has most GIDs twice, of version 1 and of version 2: that is one device that has it. */
static void sort_owners(struct join *join)
{
	size_t kept = 0;

	if (join->n_owners > 0)
		qsort(join->owners, join->n_owners, sizeof(*join->owners), compare_owners);
	for (size_t i = 0; i < join->n_owners; i++)
		if (kept == 0 || compare_owners(&join->owners[kept - 1], &join->owners[i]) != 0)
			join->owners[kept++] = join->owners[i];
	join->n_owners = kept;
}

static void index_gids(struct join *join, int h)
{
	const struct rd_host *host = join->hosts[h].host;

	for (size_t p = 0; host && p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		int dev = rd_res_find_dev(join->hosts[h].views->res, host->ibdevs[port->ibdev].name);

		for (size_t g = 0; dev >= 0 && g < port->n_gids; g++) {
			rd_reserve(&join->owners, &join->cap_owners, join->n_owners + 1, sizeof(*join->owners));
			memcpy(join->owners[join->n_owners].gid, port->gids[g].raw, 16);
			join->owners[join->n_owners].host = h;
			join->owners[join->n_owners++].dev = dev;
		}
	}
}

static void build(struct join *join)
{
	size_t all = 0, at = 0;

	for (size_t h = 0; h < join->n; h++)
		all += join->hosts[h].views->res->n_qps;
	join->entries = rd_alloc(all + 1, sizeof(*join->entries));
	join->done = rd_alloc(join->n + 1, sizeof(*join->done));
	for (size_t h = 0; h < join->n; h++) {
		const struct rd_res *res = join->hosts[h].views->res;

		join->done[h] = rd_alloc(res->n_qps + 1, sizeof(**join->done));
		for (size_t i = 0; i < res->n_qps; i++)
			join->entries[at++] = (struct entry){ res->qps[i].lqpn.v, (int)h, i };
		index_gids(join, (int)h);
	}
	join->n_entries = all;
	qsort(join->entries, all, sizeof(*join->entries), compare_entries);
	sort_owners(join);
}

static void release(struct join *join)
{
	for (size_t h = 0; join->done && h < join->n; h++)
		free(join->done[h]);
	free(join->done);
	free(join->entries);
	free(join->owners);
}

/* The first of those with this GID; *n of them. */
static const struct owner *owners_of(const struct join *join, const uint8_t *gid, size_t *n)
{
	size_t low = 0, high = join->n_owners;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(join->owners[middle].gid, gid, 16) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*n = 0; low + *n < join->n_owners && memcmp(join->owners[low + *n].gid, gid, 16) == 0; ++*n)
		;
	return *n ? &join->owners[low] : NULL;
}

static bool has_gid(const struct join *join, const uint8_t *gid, int host, int dev)
{
	size_t n;
	const struct owner *owner = owners_of(join, gid, &n);

	for (size_t i = 0; i < n; i++)
		if (owner[i].host == host && owner[i].dev == dev)
			return true;
	return false;
}

/* The connection of rdma_cm that it was made by, with both addresses; NULL: not known. */
static const struct rd_cm_id *connection_of(const struct join *join, const struct entry *entry)
{
	static const uint8_t any[16];
	const struct rd_res *res = join->hosts[entry->host].views->res;
	int at = view_of(join, entry)->link.cm_id;
	const struct rd_cm_id *cm_id = at >= 0 ? &res->cm_ids[at] : NULL;

	if (!cm_id || !cm_id->src.family || !cm_id->dst.family || memcmp(cm_id->src.ip, any, 16) == 0 ||
	    memcmp(cm_id->dst.ip, any, 16) == 0)
		return NULL;
	return cm_id;
}

static bool same_address(const struct rd_sockaddr *a, const struct rd_sockaddr *b)
{
	return a->family == b->family && a->port == b->port && memcmp(a->ip, b->ip, 16) == 0;
}

/* What rdma_cm says: each end's own address is the one that the other is connected to. */
enum words { SAY_NOTHING, AGREE, DISAGREE };

static enum words addresses(const struct join *join, const struct entry *a, const struct entry *b)
{
	const struct rd_cm_id *x = connection_of(join, a), *y = connection_of(join, b);

	if (!x || !y)
		return SAY_NOTHING;
	return same_address(&x->src, &y->dst) && same_address(&x->dst, &y->src) ? AGREE : DISAGREE;
}

/* Whether `to` can be what `from` is connected to, as far as GIDs are known. */
static bool can_be(const struct join *join, const struct entry *from, const struct entry *to)
{
	const uint8_t *gid = gid_of(join, from);

	return !gid || has_gid(join, gid, to->host, qp_of(join, to)->dev);
}

static bool names_peer(const struct join *join, const struct entry *entry)
{
	const struct rd_qp *qp = qp_of(join, entry);

	return rd_qp_is_connected_type(qp) && qp->rqpn.known == RD_OK && qp->state.known == RD_OK &&
	       qp->state.v >= RD_QPS_RTR && (qp->rqpn.v != 0 || gid_of(join, entry));
}

/* Where the peer's GID says that it is. */
static void look_for_gid(const struct join *join, const uint8_t *gid, struct found *ret)
{
	const struct owner *owner = owners_of(join, gid, &ret->n_owners);

	ret->by_gid = true;
	if (owner) {
		ret->host = owner->host;
		ret->dev = owner->dev;
	}
}

/* The first entry of this number; n_entries: there is none. */
static size_t first_of(const struct join *join, uint32_t lqpn)
{
	size_t low = 0, high = join->n_entries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (join->entries[middle].lqpn < lqpn)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void look_for(const struct join *join, const struct entry *from, struct found *ret)
{
	const struct rd_qp *qp = qp_of(join, from);
	const uint8_t *gid = gid_of(join, from);

	*ret = (struct found){ .host = -1, .dev = -1 };
	if (gid)
		look_for_gid(join, gid, ret);
	for (size_t i = first_of(join, qp->rqpn.v); i < join->n_entries && join->entries[i].lqpn == qp->rqpn.v; i++) {
		const struct entry *to = &join->entries[i];
		const struct rd_qp *other = qp_of(join, to);
		bool self = to->host == from->host && to->qp == from->qp;

		/* One that is connected with itself says so by its GID. */
		if ((self && !gid) || !can_be(join, from, to) ||
		    (other->type.known == RD_OK && other->type.v != qp->type.v))
			continue;
		if (names_peer(join, to) && other->rqpn.v == qp->lqpn.v && can_be(join, to, from) &&
		    addresses(join, from, to) != DISAGREE) {
			ret->mutual = to;
			ret->n_mutual++;
		} else {
			ret->other = to;
			ret->n_other++;
		}
	}
}

/* Whether all queue pairs of the device are in the capture; `why` not, if not. */
static bool device_is_whole(const struct join *join, int host, int dev, const char **why)
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

static void add(struct join *join, const struct entry *a, const struct entry *b, enum rd_join_verdict verdict,
		char *reason)
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

static const char *job_of(const struct join *join, const struct entry *entry)
{
	const struct rd_qp *qp = qp_of(join, entry);

	return qp->proc >= 0 ? join->hosts[entry->host].views->res->procs[qp->proc].job : NULL;
}

/* Numbers alone can meet by chance: drivers begin to count at the same number on every host. */
static bool is_proof(const struct join *join, const struct entry *a, const struct entry *b)
{
	const char *job = job_of(join, a), *other = job_of(join, b);

	/* Of the same job, whatever the step. */
	return gid_of(join, a) || gid_of(join, b) || addresses(join, a, b) == AGREE ||
	       (job && other && strcspn(job, ".") == strcspn(other, ".") && strncmp(job, other, strcspn(job, ".")) == 0);
}

/* Seconds between the captures of two hosts; 0 where that is not known. */
static double apart(const struct join *join, int a, int b)
{
	uint64_t x = join->hosts[a].time_ns, y = join->hosts[b].time_ns;

	return x && y ? (double)(x > y ? x - y : y - x) / 1e9 : 0;
}

/* Half-open or a mismatch, if the captures of both hosts are close enough to prove it. */
static void accuse(struct join *join, const struct entry *a, const struct entry *b, int host,
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
static unsigned mtu_of(const struct join *join, const struct entry *entry)
{
	const struct rd_qp_seen *seen = view_of(join, entry)->past.seen;

	return seen && seen->path_mtu.known == RD_OK ? seen->path_mtu.v : 0;
}

/* The two point to each other. */
static void add_mutual(struct join *join, const struct entry *a, const struct found *found)
{
	const struct entry *b = found->mutual;
	const struct rd_qp *x = qp_of(join, a), *y = qp_of(join, b);
	bool gids = gid_of(join, a) || gid_of(join, b);
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
	    rd_text("%s", gids				 ? "numbers and GIDs" :
			  addresses(join, a, b) == AGREE ? "numbers and addresses" :
							   "numbers; no GID is known"));
}

/* The queue pair of that number at the other end does not point back. */
static void add_other(struct join *join, const struct entry *a, const struct found *found)
{
	const struct rd_qp *x = qp_of(join, a), *y = qp_of(join, found->other);
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
static void add_by_gid(struct join *join, const struct entry *a, const struct found *found)
{
	const struct rd_qp *x = qp_of(join, a);
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

static void judge(struct join *join, const struct entry *a)
{
	struct found found, back;

	look_for(join, a, &found);
	if (found.n_mutual == 1) {
		/* The only one for us; are we the only one for it? */
		look_for(join, found.mutual, &back);
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
	struct join join = { .hosts = hosts, .n = n, .pairs = ret };

	*ret = (struct rd_qp_pairs){ 0 };
	build(&join);
	for (size_t h = 0; h < n; h++)
		for (size_t i = 0; i < hosts[h].views->res->n_qps; i++) {
			const struct entry entry = { hosts[h].views->res->qps[i].lqpn.v, (int)h, i };

			if (!join.done[h][i] && names_peer(&join, &entry))
				judge(&join, &entry);
		}
	release(&join);
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
