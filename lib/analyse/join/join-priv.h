/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by join*.c. */
#ifndef RD_ANALYSE_JOIN_PRIV_H
#define RD_ANALYSE_JOIN_PRIV_H

#include "analyse/join/join.h"

/* An element of an index: sorted by key, sub, qp. */
struct rd_join_entry {
	uint64_t key;
	uint32_t sub;
	uint32_t qp; /* index into rd_join.qps */
};

struct rd_join_index {
	struct rd_join_entry *v;
	size_t n;
};

struct rd_join_state {
	struct rd_join *join;
	struct rd_join_index numbers; /* of all queue pairs: own number, host, device */
	struct rd_join_index
		claims; /* of those whose peer's GID belongs to one device: that device, remote number; sub: own number */
	struct rd_join_index
		loose; /* of the others that name a number: both numbers; sub: hash of the connection; 0: none */
	struct rd_join_index
		links; /* of those with a connection that may identify them: its source; sub: hash of the destination */
	uint8_t *done; /* a bit per queue pair: already part of a pair */
	struct rd_join_pairs *pairs;
};

/* Candidates for the remote QP of one queue pair. */
struct rd_join_found {
	uint32_t mutual, other; /* the last one that is connected to it; that is not */
	size_t n_mutual, n_other;
	bool too_many;	/* not all candidates were compared */
	uint32_t owner; /* the first owner of the peer's GID or address */
	size_t n_owners;
	bool by_owner; /* the peer's GID or address is known */
};

static inline bool rd_join_is_done(const struct rd_join_state *state, uint32_t qp)
{
	return state->done[qp / 8] >> qp % 8 & 1;
}

static inline void rd_join_set_done(struct rd_join_state *state, uint32_t qp)
{
	state->done[qp / 8] |= (uint8_t)(1 << qp % 8);
}

/* Indexes all queue pairs; releases the indexes. */
void rd_join_build(struct rd_join_state *state);
void rd_join_release(struct rd_join_state *state);

/* The first entry that is not before this key and sub; n: none. */
size_t rd_join_first(const struct rd_join_index *index, uint64_t key, uint32_t sub);

/* The entries of the index with this key and, unless RD_JOIN_NONE, this sub. */
struct rd_join_index rd_join_range(const struct rd_join_index *index, uint64_t key, uint32_t sub);

/* Keys and subs of the indices. */
static inline uint64_t rd_join_number_key(uint32_t number, unsigned host, unsigned dev)
{
	return (uint64_t)number << 32 | (uint64_t)(host & 0xffff) << 16 | (dev & 0xffff);
}

static inline uint64_t rd_join_pair_key(uint32_t number, uint32_t other)
{
	return (uint64_t)number << 32 | other;
}

static inline uint64_t rd_join_end_key(uint32_t addr, uint16_t port)
{
	return (uint64_t)addr << 16 | port;
}

/* Of two ends of a connection, in this order; never 0 or RD_JOIN_NONE. */
uint32_t rd_join_link_hash(uint32_t src, uint16_t src_port, uint32_t dst, uint16_t dst_port);

/* Whether, according to rdma_cm, the source address of each end is the destination address of the other. */
enum rd_join_match { RD_JOIN_UNKNOWN, RD_JOIN_AGREE, RD_JOIN_DISAGREE };
enum rd_join_match rd_join_addresses(const struct rd_join_qp *a, const struct rd_join_qp *b);

/* Whether the device has this address. */
bool rd_join_has_addr(const struct rd_join *join, uint32_t addr, unsigned host, unsigned dev);

/* Finds candidates for the remote QP of `from`, which names its peer. */
void rd_join_find(const struct rd_join_state *state, uint32_t from, struct rd_join_found *ret);

#endif
