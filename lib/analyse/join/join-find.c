/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates for a remote QP: by number, by the peer's GID, by the addresses of rdma_cm. */
#include <string.h>

#include "analyse/join/join-priv.h"
#include "model/rdma/qp.h"

/* Candidates that are compared with one queue pair: of millions that all fit, two are enough. */
#define CANDIDATES_MAX 256
/* Devices with one GID (of a bridge that every host has) each of which is searched. */
#define OWNERS_MAX 8

struct search {
	const struct rd_join_state *state;
	uint32_t from;
	const struct rd_join_qp *a;
	struct rd_join_found *ret;
	size_t left; /* candidates that may still be compared */
};

enum rd_join_match rd_join_addresses(const struct rd_join_qp *a, const struct rd_join_qp *b)
{
	if (!a->src || !b->src)
		return RD_JOIN_UNKNOWN;
	return a->src == b->dst && a->dst == b->src && a->src_port == b->dst_port && a->dst_port == b->src_port ?
		       RD_JOIN_AGREE :
		       RD_JOIN_DISAGREE;
}

/* An XRC initiator is connected to a target, all others to their own type. */
static bool can_pair(unsigned a, unsigned b)
{
	if (b == RD_JOIN_UNKNOWN_STATE)
		return true;
	if (a == RD_QPT_XRC_INI || a == RD_QPT_XRC_TGT)
		return b == (a == RD_QPT_XRC_INI ? RD_QPT_XRC_TGT : RD_QPT_XRC_INI);
	return a == b;
}

/* Whether `from` can be connected to `to`, as far as GIDs are known. */
static bool may_be_peer(const struct rd_join *join, const struct rd_join_qp *from, const struct rd_join_qp *to)
{
	return !from->peer || rd_join_has_addr(join, from->peer, to->host, to->dev);
}

/* Addresses of loopback mean another host on each host. */
static bool is_loopback(const uint8_t *ip)
{
	static const uint8_t mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 }, own[16] = { [15] = 1 };

	return memcmp(ip, mapped, 13) == 0 || memcmp(ip, own, 16) == 0;
}

/* Whether the connections of the two are one, and nothing known of them contradicts. */
static bool is_one_link(const struct rd_join *join, const struct rd_join_qp *a, const struct rd_join_qp *b)
{
	if (rd_join_addresses(a, b) != RD_JOIN_AGREE)
		return false;
	if (a->host != b->host && is_loopback(join->addrs[a->dst].ip))
		return false;
	return !(a->reports && a->rqpn != b->lqpn) && !(b->reports && b->rqpn != a->lqpn);
}

static bool may_link(const struct rd_join *join, const struct rd_join_qp *qp)
{
	return join->hosts[qp->host].devs[qp->dev].iwarp || qp->type == RD_QPT_XRC_INI || qp->type == RD_QPT_XRC_TGT;
}

/* Compares one candidate; false: enough were compared. */
static bool compare_candidate(struct search *search, uint32_t to)
{
	const struct rd_join *join = search->state->join;
	const struct rd_join_qp *a = search->a, *b = &join->qps[to];

	if (search->left == 0) {
		search->ret->too_many = true;
		return false;
	}
	search->left--;
	/* A queue pair connected to itself is recognized only by its GID. */
	if ((to == search->from && !a->peer) || !may_be_peer(join, a, b) || !can_pair(a->type, b->type))
		return true;
	if ((b->names == RD_JOIN_NAMES_NUMBER && b->rqpn == a->lqpn && may_be_peer(join, b, a) &&
	     rd_join_addresses(a, b) != RD_JOIN_DISAGREE) ||
	    (b->names == RD_JOIN_NAMES_LINK && is_one_link(join, a, b) && may_be_peer(join, b, a))) {
		search->ret->mutual = to;
		search->ret->n_mutual++;
	} else {
		search->ret->other = to;
		search->ret->n_other++;
	}
	return search->ret->n_mutual < 2;
}

static void compare_all(struct search *search, struct rd_join_index range)
{
	for (size_t i = 0; i < range.n && compare_candidate(search, range.v[i].qp); i++)
		;
}

/* The devices that have the peer's GID, or its address. */
static void find_owners(struct search *search, uint32_t addr)
{
	const struct rd_join_addr *of = &search->state->join->addrs[addr];

	search->ret->by_owner = true;
	search->ret->owner = of->owner;
	search->ret->n_owners = of->n_owners;
}

/* Those whose number is the remote number, on the devices that have the peer's GID. */
static void compare_on_owners(struct search *search)
{
	const struct rd_join_state *state = search->state;

	for (size_t i = 0; i < search->ret->n_owners; i++) {
		const struct rd_join_owner *owner = &state->join->owners[search->ret->owner + i];

		compare_all(search,
			    rd_join_range(&state->numbers, rd_join_number_key(search->a->rqpn, owner->host, owner->dev),
					  RD_JOIN_NONE));
		if (search->left == 0 || search->ret->n_mutual > 1)
			return;
	}
}

/* The peer's GID is unknown, or has many owners: those that claim this queue pair, by its GID or only by its number. */
static void compare_claims(struct search *search)
{
	const struct rd_join_state *state = search->state;
	const struct rd_join_qp *a = search->a;
	uint64_t both = rd_join_pair_key(a->rqpn, a->lqpn);

	compare_all(search, rd_join_range(&state->claims, rd_join_number_key(a->lqpn, a->host, a->dev), a->rqpn));
	if (a->src) {
		compare_all(search, rd_join_range(&state->loose, both,
						  rd_join_link_hash(a->dst, a->dst_port, a->src, a->src_port)));
		compare_all(search, rd_join_range(&state->loose, both, 0));
	} else {
		compare_all(search, rd_join_range(&state->loose, both, RD_JOIN_NONE));
	}
}

/* Whether another queue pair that could be the peer has the remote number: for the reason only. */
static bool is_number_taken(const struct search *search)
{
	const struct rd_join_qp *a = search->a;
	const struct rd_join_state *state = search->state;
	const struct rd_join_index *numbers = &state->numbers;
	size_t low = rd_join_first(numbers, rd_join_number_key(a->rqpn, 0, 0), 0);

	for (size_t i = low; i < numbers->n && i < low + CANDIDATES_MAX; i++) {
		const struct rd_join_qp *b = &state->join->qps[numbers->v[i].qp];

		if (b->lqpn != a->rqpn)
			return false;
		if (numbers->v[i].qp != search->from && can_pair(a->type, b->type) && may_be_peer(state->join, a, b))
			return true;
	}
	return false;
}

static void find_by_number(struct search *search)
{
	if (search->a->peer)
		find_owners(search, search->a->peer);
	if (search->a->peer && search->ret->n_owners <= OWNERS_MAX) {
		compare_on_owners(search);
		return;
	}
	compare_claims(search);
	if (search->ret->n_mutual == 0 && !search->a->peer)
		search->ret->n_other = is_number_taken(search);
}

static void find_by_link(struct search *search)
{
	const struct rd_join_qp *a = search->a;
	struct rd_join_index range = rd_join_range(&search->state->links, rd_join_end_key(a->dst, a->dst_port),
						   rd_join_link_hash(a->src, a->src_port, 0, 0));

	find_owners(search, a->peer ? a->peer : a->dst);
	for (size_t i = 0; i < range.n && search->ret->n_mutual < 2; i++) {
		const struct rd_join_qp *b = &search->state->join->qps[range.v[i].qp];

		if (search->left-- == 0) {
			search->ret->too_many = true;
			break;
		}
		if (range.v[i].qp == search->from || !can_pair(a->type, b->type) ||
		    !is_one_link(search->state->join, a, b))
			continue;
		search->ret->mutual = range.v[i].qp;
		search->ret->n_mutual++;
	}
}

void rd_join_find(const struct rd_join_state *state, uint32_t from, struct rd_join_found *ret)
{
	const struct rd_join_qp *a = &state->join->qps[from];
	struct search search = { state, from, a, ret, CANDIDATES_MAX };

	*ret = (struct rd_join_found){ .mutual = RD_JOIN_NONE, .other = RD_JOIN_NONE };
	if (a->names == RD_JOIN_NAMES_NUMBER)
		find_by_number(&search);
	if (ret->n_mutual == 0 && a->src && may_link(state->join, a))
		find_by_link(&search);
}
