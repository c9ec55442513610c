/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/join/join-priv.h"
#include "base/memory.h"
#include "model/rdma/qp.h"

/* Captures further apart prove nothing about a connection: it may have been established or closed in between. */
#define APART_MOST 60.0

static void add_pair(struct rd_join_state *state, uint32_t a, uint32_t b, enum rd_join_verdict verdict,
		     enum rd_join_why why, size_t n)
{
	struct rd_join_pairs *pairs = state->pairs;
	struct rd_join_pair *pair = RD_ADD(pairs->v, pairs->n, pairs->cap);

	*pair = (struct rd_join_pair){ a, b, (uint32_t)n, (uint8_t)verdict, (uint8_t)why, false };
	pairs->count[verdict]++;
	pairs->n_gone += rd_join_is_gone(pair);
	rd_join_set_done(state, a);
}

/* Half-open or a mismatch, if the captures of both hosts are close enough to prove it. */
static void add_suspect(struct rd_join_state *state, uint32_t a, uint32_t b, unsigned host,
			enum rd_join_verdict verdict, enum rd_join_why why, size_t n)
{
	double seconds = rd_join_seconds_apart(state->join, state->join->qps[a].host, host);

	if (seconds <= APART_MOST) {
		add_pair(state, a, b, verdict, why, n);
		return;
	}
	add_pair(state, a, b, RD_JOIN_AMBIGUOUS, why, n);
	state->pairs->v[state->pairs->n - 1].apart = true;
}

static bool has_failed(const struct rd_join_qp *qp)
{
	return qp->state == RD_QPS_SQE || qp->state == RD_QPS_ERR;
}

/* QP numbers alone can match by chance: drivers start at the same number on every host. */
static bool is_proof(const struct rd_join_qp *a, const struct rd_join_qp *b)
{
	return a->peer || b->peer || rd_join_addresses(a, b) == RD_JOIN_AGREE || (a->job && a->job == b->job);
}

static enum rd_join_why why_connected(const struct rd_join_qp *a, const struct rd_join_qp *b)
{
	if (a->names == RD_JOIN_NAMES_NUMBER && (a->peer || b->peer))
		return RD_JOIN_BY_GID;
	return rd_join_addresses(a, b) == RD_JOIN_AGREE ? RD_JOIN_BY_ADDRESS : RD_JOIN_BY_NUMBER;
}

/* Each of the two names the other. */
static void add_mutual(struct rd_join_state *state, uint32_t from, uint32_t to)
{
	const struct rd_join_qp *a = &state->join->qps[from], *b = &state->join->qps[to];

	rd_join_set_done(state, to);
	if (has_failed(a) || has_failed(b)) {
		if (is_proof(a, b))
			add_suspect(state, from, to, b->host, RD_JOIN_HALF_OPEN, RD_JOIN_FAILED, 0);
		else
			add_pair(state, from, to, RD_JOIN_AMBIGUOUS, RD_JOIN_FAILED_MAYBE, 0);
	} else if (b->state < RD_QPS_RTR) {
		add_suspect(state, from, to, b->host, RD_JOIN_HALF_OPEN, RD_JOIN_NOT_CONNECTED, 0);
	} else if (b->state == RD_JOIN_UNKNOWN_STATE) {
		add_pair(state, from, to, RD_JOIN_NOT_VISIBLE, RD_JOIN_STATELESS, 0);
	} else if (a->path_mtu && b->path_mtu && a->path_mtu != b->path_mtu) {
		add_suspect(state, from, to, b->host, RD_JOIN_MISMATCH, RD_JOIN_MTU, 0);
	} else {
		add_pair(state, from, to, RD_JOIN_CONNECTED, why_connected(a, b), 0);
	}
}

/* The remote QP of that number is not connected to this one. */
static void add_other(struct rd_join_state *state, uint32_t from, uint32_t to)
{
	const struct rd_join_qp *a = &state->join->qps[from], *b = &state->join->qps[to];

	if (b->state == RD_JOIN_UNKNOWN_STATE)
		add_pair(state, from, to, RD_JOIN_NOT_VISIBLE, RD_JOIN_STATELESS, 0);
	else if (b->state < RD_QPS_RTR || (has_failed(b) && !b->reports))
		add_suspect(state, from, to, b->host, RD_JOIN_HALF_OPEN, RD_JOIN_NOT_CONNECTED, 0);
	else if (!b->reports)
		add_pair(state, from, to, RD_JOIN_AMBIGUOUS, RD_JOIN_NUMBERLESS, 0);
	else
		add_suspect(state, from, to, b->host, RD_JOIN_MISMATCH,
			    b->rqpn == a->lqpn ? RD_JOIN_OTHER_ADDRESS : RD_JOIN_OTHER_NUMBER, 0);
}

/* No queue pair of the device that has the peer's GID, or address, is the remote QP. */
static void add_missing(struct rd_join_state *state, uint32_t from, const struct rd_join_found *found)
{
	const struct rd_join_qp *a = &state->join->qps[from];
	const struct rd_join_owner *owner = &state->join->owners[found->owner];
	const struct rd_join_dev *dev = &state->join->hosts[owner->host].devs[owner->dev];
	bool by_link = a->names == RD_JOIN_NAMES_LINK, xrc = a->type == RD_QPT_XRC_INI || a->type == RD_QPT_XRC_TGT;

	if (dev->gap != RD_JOIN_COMPLETE)
		add_pair(state, from, RD_JOIN_NONE, RD_JOIN_NOT_VISIBLE,
			 dev->gap == RD_JOIN_CUT ? RD_JOIN_IS_CUT : RD_JOIN_IS_HIDDEN, 0);
	else if (xrc && !dev->lists_xrc)
		add_pair(state, from, RD_JOIN_NONE, RD_JOIN_NOT_VISIBLE, RD_JOIN_XRC_UNTRACKED, 0);
	else if (by_link && dev->links_unknown)
		add_pair(state, from, RD_JOIN_NONE, RD_JOIN_NOT_VISIBLE, RD_JOIN_LINKS_UNKNOWN, 0);
	else
		add_suspect(state, from, RD_JOIN_NONE, owner->host, RD_JOIN_HALF_OPEN,
			    by_link ? RD_JOIN_LINK_GONE : RD_JOIN_GONE, found->owner);
}

/* The peer's GID, or the address of its connection, determines the device of the remote QP. */
static void add_by_owner(struct rd_join_state *state, uint32_t from, const struct rd_join_found *found)
{
	bool by_link = state->join->qps[from].names == RD_JOIN_NAMES_LINK;

	if (found->n_owners == 0)
		add_pair(state, from, RD_JOIN_NONE, RD_JOIN_NOT_VISIBLE,
			 by_link ? RD_JOIN_NO_ADDRESS : RD_JOIN_NO_OWNER, 0);
	else if (found->n_owners > 1)
		add_pair(state, from, RD_JOIN_NONE, RD_JOIN_AMBIGUOUS, RD_JOIN_OWNERS, found->n_owners);
	else if (found->n_other > 1)
		add_pair(state, from, RD_JOIN_NONE, RD_JOIN_AMBIGUOUS, RD_JOIN_SAME_NUMBER, found->n_other);
	else if (found->n_other == 1)
		add_other(state, from, found->other);
	else
		add_missing(state, from, found);
}

static void judge_qp(struct rd_join_state *state, uint32_t a)
{
	struct rd_join_found found = { 0 }, back = { 0 };

	rd_join_find(state, a, &found);
	if (found.n_mutual == 1) {
		/* One candidate for this queue pair; is this one also the only candidate for it? */
		rd_join_find(state, found.mutual, &back);
		if (back.n_mutual == 1) {
			add_mutual(state, a, found.mutual);
			return;
		}
		found.n_mutual = 2;
	}
	if (found.n_mutual > 1)
		add_pair(state, a, RD_JOIN_NONE, RD_JOIN_AMBIGUOUS, RD_JOIN_SEVERAL, 0);
	else if (found.too_many)
		add_pair(state, a, RD_JOIN_NONE, RD_JOIN_AMBIGUOUS, RD_JOIN_TOO_MANY, 0);
	else if (found.by_owner)
		add_by_owner(state, a, &found);
	else
		add_pair(state, a, RD_JOIN_NONE, RD_JOIN_NOT_VISIBLE,
			 found.n_other ? RD_JOIN_ELSEWHERE : RD_JOIN_NOT_FOUND, 0);
}

void rd_join_match(struct rd_join *join, struct rd_join_pairs *ret)
{
	struct rd_join_state state = { .join = join, .pairs = ret };

	*ret = (struct rd_join_pairs){ 0 };
	rd_join_build(&state);
	for (size_t i = 0; i < join->n_qps; i++)
		if (join->qps[i].names != RD_JOIN_NAMES_NOTHING && !rd_join_is_done(&state, (uint32_t)i))
			judge_qp(&state, (uint32_t)i);
	rd_join_release(&state);
}
