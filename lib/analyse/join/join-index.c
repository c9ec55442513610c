/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The indices through which candidates are found. */
#include <string.h>

#include "analyse/join/join-priv.h"
#include "base/memory.h"
#include "model/rdma/qp.h"

static int compare_entries(const void *a, const void *b)
{
	const struct rd_join_entry *x = a, *y = b;

	return RD_CMP(x->key, y->key) ?: RD_CMP(x->sub, y->sub) ?: RD_CMP(x->qp, y->qp);
}

static int compare_owners(const void *a, const void *b)
{
	const struct rd_join_owner *x = a, *y = b;

	return RD_CMP(x->addr, y->addr) ?: (x->host != y->host ? x->host - y->host : x->dev - y->dev);
}

/* RoCE lists most GIDs twice, for RoCE v1 and v2: still one device. */
static void sort_owners(struct rd_join *join)
{
	size_t kept = 0;

	if (join->n_owners > 0)
		qsort(join->owners, join->n_owners, sizeof(*join->owners), compare_owners);
	for (size_t i = 0; i < join->n_owners; i++) {
		const struct rd_join_owner owner = join->owners[i];
		struct rd_join_addr *addr = &join->addrs[owner.addr];

		if (kept > 0 && compare_owners(&join->owners[kept - 1], &owner) == 0)
			continue;
		if (addr->n_owners++ == 0)
			addr->owner = (uint32_t)kept;
		join->owners[kept++] = owner;
	}
	join->n_owners = kept;
}

bool rd_join_has_addr(const struct rd_join *join, uint32_t addr, unsigned host, unsigned dev)
{
	const struct rd_join_addr *of = &join->addrs[addr];
	const struct rd_join_owner key = { addr, (uint16_t)host, (uint16_t)dev };
	size_t at = rd_lower_bound(&key, join->owners + of->owner, of->n_owners, sizeof(key), compare_owners);

	return at < of->n_owners && compare_owners(&join->owners[of->owner + at], &key) == 0;
}

uint32_t rd_join_link_hash(uint32_t src, uint16_t src_port, uint32_t dst, uint16_t dst_port)
{
	/* Addresses are numbered in the order in which they were found: a hash of these numbers needs no key. Who constructs
	 * collisions reaches the limit on candidates. */
	uint64_t h = ((uint64_t)src << 32 | dst) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 29 ^ ((uint64_t)src_port << 16 | dst_port)) * 0xbf58476d1ce4e5b9u;
	h ^= h >> 32;
	return (uint32_t)h == 0 || (uint32_t)h == RD_JOIN_NONE ? 1 : (uint32_t)h;
}

static void add_entry(struct rd_join_index *index, uint64_t key, uint32_t sub, uint32_t qp)
{
	index->v[index->n++] = (struct rd_join_entry){ key, sub, qp };
}

static bool is_claim(const struct rd_join *join, const struct rd_join_qp *qp)
{
	return qp->peer && join->addrs[qp->peer].n_owners == 1;
}

static bool may_link(const struct rd_join *join, const struct rd_join_qp *qp)
{
	return qp->src && (join->hosts[qp->host].devs[qp->dev].iwarp || qp->type == RD_QPT_XRC_INI ||
			   qp->type == RD_QPT_XRC_TGT || qp->type == RD_JOIN_UNKNOWN_STATE);
}

static void index_qp(struct rd_join_state *state, uint32_t i)
{
	const struct rd_join *join = state->join;
	const struct rd_join_qp *qp = &join->qps[i];

	if (!join->hosts[qp->host].devs[qp->dev].iwarp)
		add_entry(&state->numbers, rd_join_number_key(qp->lqpn, qp->host, qp->dev), 0, i);
	if (qp->names == RD_JOIN_NAMES_NUMBER && is_claim(join, qp)) {
		const struct rd_join_owner *owner = &join->owners[join->addrs[qp->peer].owner];

		add_entry(&state->claims, rd_join_number_key(qp->rqpn, owner->host, owner->dev), qp->lqpn, i);
	} else if (qp->names == RD_JOIN_NAMES_NUMBER) {
		add_entry(&state->loose, rd_join_pair_key(qp->lqpn, qp->rqpn),
			  qp->src ? rd_join_link_hash(qp->src, qp->src_port, qp->dst, qp->dst_port) : 0, i);
	}
	if (may_link(join, qp))
		add_entry(&state->links, rd_join_end_key(qp->src, qp->src_port),
			  rd_join_link_hash(qp->dst, qp->dst_port, 0, 0), i);
}

/* Room for as many entries as will be added. */
static void make_room(struct rd_join_state *state)
{
	const struct rd_join *join = state->join;
	size_t claims = 0, loose = 0, links = 0, numbers = 0;

	for (size_t i = 0; i < join->n_qps; i++) {
		const struct rd_join_qp *qp = &join->qps[i];
		bool named = qp->names == RD_JOIN_NAMES_NUMBER;

		numbers += !join->hosts[qp->host].devs[qp->dev].iwarp;
		claims += named && is_claim(join, qp);
		loose += named && !is_claim(join, qp);
		links += may_link(join, qp);
	}
	state->numbers.v = rd_alloc(numbers + 1, sizeof(*state->numbers.v));
	state->claims.v = rd_alloc(claims + 1, sizeof(*state->claims.v));
	state->loose.v = rd_alloc(loose + 1, sizeof(*state->loose.v));
	state->links.v = rd_alloc(links + 1, sizeof(*state->links.v));
}

void rd_join_build(struct rd_join_state *state)
{
	struct rd_join *join = state->join;
	struct rd_join_index *const all[] = { &state->numbers, &state->claims, &state->loose, &state->links };

	sort_owners(join);
	make_room(state);
	state->done = rd_alloc(join->n_qps / 8 + 1, 1);
	for (size_t i = 0; i < join->n_qps; i++)
		index_qp(state, (uint32_t)i);
	for (size_t i = 0; i < RD_ARRAY_SIZE(all); i++)
		if (all[i]->n > 1)
			qsort(all[i]->v, all[i]->n, sizeof(*all[i]->v), compare_entries);
}

void rd_join_release(struct rd_join_state *state)
{
	RD_FREE(state->numbers.v, state->claims.v, state->loose.v, state->links.v, state->done);
}

size_t rd_join_first(const struct rd_join_index *index, uint64_t key, uint32_t sub)
{
	const struct rd_join_entry from = { key, sub, 0 };

	return rd_lower_bound(&from, index->v, index->n, sizeof(from), compare_entries);
}

struct rd_join_index rd_join_range(const struct rd_join_index *index, uint64_t key, uint32_t sub)
{
	size_t low = rd_join_first(index, key, sub == RD_JOIN_NONE ? 0 : sub), end;

	if (sub != RD_JOIN_NONE)
		end = rd_join_first(index, key, sub + 1);
	else
		/* The highest key has no successor. */
		end = key == UINT64_MAX ? index->n : rd_join_first(index, key + 1, 0);
	return (struct rd_join_index){ index->v + low, end - low };
}
