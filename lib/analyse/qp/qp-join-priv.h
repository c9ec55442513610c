/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of qp-join*.c share. */
#ifndef RD_ANALYSE_QP_JOIN_PRIV_H
#define RD_ANALYSE_QP_JOIN_PRIV_H

#include "analyse/qp/qp-join.h"

/* Every queue pair of every host, by its number. */
struct rd_join_entry {
	uint32_t lqpn;
	int host;
	size_t qp;
};

/* Which device has a GID. */
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
	bool **done; /* [host][qp]: stands in a pair already */
	struct rd_qp_pairs *pairs;
};

/* What was found for one queue pair. */
struct rd_join_found {
	const struct rd_join_entry *mutual, *other; /* the last one that points back; that does not */
	size_t n_mutual, n_other;
	bool by_gid;   /* the peer's GID says on which device it is */
	int host, dev; /* of that device; host -1: nobody's that was captured */
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

/* NULL: not known. */
static inline const uint8_t *rd_join_gid(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	return rd_qp_peer_gid(rd_join_view(join, entry));
}

/* Indexes all queue pairs by number and all devices by GID, from `hosts` on; and lets go of that. */
void rd_join_build(struct rd_join_state *join);
void rd_join_release(struct rd_join_state *join);

/* What rdma_cm says: each end's own address is the one that the other is connected to. */
enum rd_join_words { RD_JOIN_SAY_NOTHING, RD_JOIN_AGREE, RD_JOIN_DISAGREE };
enum rd_join_words rd_join_addresses(const struct rd_join_state *join, const struct rd_join_entry *a,
				     const struct rd_join_entry *b);

/* Whether it is connected with one that it names. */
bool rd_join_names_peer(const struct rd_join_state *join, const struct rd_join_entry *entry);

/* Who can be at the other end of `from`. */
void rd_join_look_for(const struct rd_join_state *join, const struct rd_join_entry *from, struct rd_join_found *ret);

#endif
