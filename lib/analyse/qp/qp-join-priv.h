/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by qp-join*.c. */
#ifndef RD_ANALYSE_QP_JOIN_PRIV_H
#define RD_ANALYSE_QP_JOIN_PRIV_H

#include "analyse/qp/qp-join.h"

/* A queue pair of a host; the index is sorted by number. */
struct rd_join_entry {
	uint32_t lqpn;
	int host;
	size_t qp;
};

/* The device that has a GID. */
struct rd_join_owner {
	uint8_t gid[16];
	int host, dev;
};

struct rd_join_state {
	const struct rd_join_host *hosts;
	size_t n;
	struct rd_join_entry *entries;
	size_t n_entries;
	struct rd_join_owner *owners;
	size_t n_owners, cap_owners;
	bool **done; /* [host][qp]: already part of a pair */
	struct rd_qp_pairs *pairs;
};

/* Candidates for the remote QP of one queue pair. */
struct rd_join_found {
	const struct rd_join_entry *mutual, *other; /* the last one that is connected to it; that is not */
	size_t n_mutual, n_other;
	bool by_gid;   /* the peer's GID determines the device */
	int host, dev; /* of that device; host -1: no captured host has it */
	size_t n_owners;
};

static inline const struct rd_qp *rd_join_qp(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	return &join->hosts[entry->host].views->res->qps[entry->qp];
}

static inline const struct rd_qp_view *rd_join_view(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	return &join->hosts[entry->host].views->v[entry->qp];
}

/* NULL: unknown. */
static inline const uint8_t *rd_join_gid(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	return rd_qp_peer_gid(rd_join_view(join, entry));
}

/* Indexes all queue pairs by number and all devices by GID, from `hosts` on; releases the indexes. */
void rd_join_build(struct rd_join_state *join);
void rd_join_release(struct rd_join_state *join);

/* Whether, according to rdma_cm, the source address of each end is the destination address of the other. */
enum rd_join_match { RD_JOIN_UNKNOWN, RD_JOIN_AGREE, RD_JOIN_DISAGREE };
enum rd_join_match rd_join_addresses(const struct rd_join_state *join, const struct rd_join_entry *a,
				     const struct rd_join_entry *b);

/* Whether it is connected and its remote QP number is known. */
bool rd_join_names_peer(const struct rd_join_state *join, const struct rd_join_entry *entry);

/* Finds candidates for the remote QP of `from`. */
void rd_join_find(const struct rd_join_state *join, const struct rd_join_entry *from, struct rd_join_found *ret);

#endif
