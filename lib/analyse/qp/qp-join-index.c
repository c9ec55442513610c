/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates for a remote QP: by number, by the peer's GID, by the addresses of rdma_cm. */
#include <string.h>

#include "analyse/qp/qp-join-priv.h"
#include "analyse/qp/qp.h"
#include "base/memory.h"

static int compare_entries(const void *a, const void *b)
{
	const struct rd_join_entry *x = a, *y = b;

	if (x->lqpn != y->lqpn)
		return x->lqpn < y->lqpn ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->qp < y->qp ? -1 : x->qp > y->qp;
}

static int compare_owners(const void *a, const void *b)
{
	const struct rd_join_owner *x = a, *y = b;
	int r = memcmp(x->gid, y->gid, 16);

	if (r)
		return r;
	return x->host != y->host ? x->host - y->host : x->dev - y->dev;
}

/* RoCE lists most GIDs twice, for RoCE v1 and v2: still one device. */
static void sort_owners(struct rd_join_state *join)
{
	size_t kept = 0;

	if (join->n_owners > 0)
		qsort(join->owners, join->n_owners, sizeof(*join->owners), compare_owners);
	for (size_t i = 0; i < join->n_owners; i++)
		if (kept == 0 || compare_owners(&join->owners[kept - 1], &join->owners[i]) != 0)
			join->owners[kept++] = join->owners[i];
	join->n_owners = kept;
}

static void index_gids(struct rd_join_state *join, int h)
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

void rd_join_build(struct rd_join_state *join)
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
			join->entries[at++] = (struct rd_join_entry){ res->qps[i].lqpn.v, (int)h, i };
		index_gids(join, (int)h);
	}
	join->n_entries = all;
	qsort(join->entries, all, sizeof(*join->entries), compare_entries);
	sort_owners(join);
}

void rd_join_release(struct rd_join_state *join)
{
	for (size_t h = 0; join->done && h < join->n; h++)
		free(join->done[h]);
	free(join->done);
	free(join->entries);
	free(join->owners);
}

/* The first of *n owners of this GID. */
static const struct rd_join_owner *owners_of(const struct rd_join_state *join, const uint8_t *gid, size_t *n)
{
	struct rd_join_owner key = { .host = 0 };
	size_t low;

	memcpy(key.gid, gid, 16);
	low = rd_lower_bound(&key, join->owners, join->n_owners, sizeof(key), compare_owners);
	for (*n = 0; low + *n < join->n_owners && memcmp(join->owners[low + *n].gid, gid, 16) == 0; ++*n)
		;
	return *n ? &join->owners[low] : NULL;
}

static bool has_gid(const struct rd_join_state *join, const uint8_t *gid, int host, int dev)
{
	size_t n;
	const struct rd_join_owner *owner = owners_of(join, gid, &n);

	for (size_t i = 0; i < n; i++)
		if (owner[i].host == host && owner[i].dev == dev)
			return true;
	return false;
}

/* The rdma_cm connection of the queue pair, with both addresses; NULL: unknown. */
static const struct rd_cm_id *connection_of(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	static const uint8_t any[16];
	const struct rd_res *res = join->hosts[entry->host].views->res;
	int at = rd_join_view(join, entry)->link.cm_id;
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

enum rd_join_match rd_join_addresses(const struct rd_join_state *join, const struct rd_join_entry *a,
				     const struct rd_join_entry *b)
{
	const struct rd_cm_id *x = connection_of(join, a), *y = connection_of(join, b);

	if (!x || !y)
		return RD_JOIN_UNKNOWN;
	return same_address(&x->src, &y->dst) && same_address(&x->dst, &y->src) ? RD_JOIN_AGREE : RD_JOIN_DISAGREE;
}

/* Whether `from` can be connected to `to`, as far as GIDs are known. */
static bool may_be_peer(const struct rd_join_state *join, const struct rd_join_entry *from,
			const struct rd_join_entry *to)
{
	const uint8_t *gid = rd_join_gid(join, from);

	return !gid || has_gid(join, gid, to->host, rd_join_qp(join, to)->dev);
}

bool rd_join_names_peer(const struct rd_join_state *join, const struct rd_join_entry *entry)
{
	const struct rd_qp *qp = rd_join_qp(join, entry);

	return rd_qp_is_connected_type(qp) && qp->rqpn.known == RD_OK && qp->state.known == RD_OK &&
	       qp->state.v >= RD_QPS_RTR && (qp->rqpn.v != 0 || rd_join_gid(join, entry));
}

/* The device that has the peer's GID. */
static void find_gid_owner(const struct rd_join_state *join, const uint8_t *gid, struct rd_join_found *ret)
{
	const struct rd_join_owner *owner = owners_of(join, gid, &ret->n_owners);

	ret->by_gid = true;
	if (owner) {
		ret->host = owner->host;
		ret->dev = owner->dev;
	}
}

/* The first entry with this number; n_entries: none. */
static size_t first_of(const struct rd_join_state *join, uint32_t lqpn)
{
	const struct rd_join_entry key = { .lqpn = lqpn };

	return rd_lower_bound(&key, join->entries, join->n_entries, sizeof(key), compare_entries);
}

void rd_join_find(const struct rd_join_state *join, const struct rd_join_entry *from, struct rd_join_found *ret)
{
	const struct rd_qp *qp = rd_join_qp(join, from);
	const uint8_t *gid = rd_join_gid(join, from);

	*ret = (struct rd_join_found){ .host = -1, .dev = -1 };
	if (gid)
		find_gid_owner(join, gid, ret);
	for (size_t i = first_of(join, qp->rqpn.v); i < join->n_entries && join->entries[i].lqpn == qp->rqpn.v; i++) {
		const struct rd_join_entry *to = &join->entries[i];
		const struct rd_qp *other = rd_join_qp(join, to);
		bool self = to->host == from->host && to->qp == from->qp;

		/* A queue pair connected to itself is recognized only by its GID. */
		if ((self && !gid) || !may_be_peer(join, from, to) ||
		    (other->type.known == RD_OK && other->type.v != qp->type.v))
			continue;
		if (rd_join_names_peer(join, to) && other->rqpn.v == qp->lqpn.v && may_be_peer(join, to, from) &&
		    rd_join_addresses(join, from, to) != RD_JOIN_DISAGREE) {
			ret->mutual = to;
			ret->n_mutual++;
		} else {
			ret->other = to;
			ret->n_other++;
		}
	}
}
