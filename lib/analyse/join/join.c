/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches queue pairs of several hosts: what is kept of each, the indices, candidates, verdicts, findings. */
#include "analyse/join/join.h"

#include <sys/socket.h>

#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/text.h"

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
	/* Of all queue pairs: own number, host, device. */
	struct rd_join_index numbers;
	/* Of those whose peer's GID belongs to one device: that device, remote number; sub: own number. */
	struct rd_join_index claims;
	/* Of the others that name a number: both numbers; sub: hash of the connection; 0: none. */
	struct rd_join_index loose;
	/* Of those with a connection that may identify them: its source; sub: hash of the destination. */
	struct rd_join_index links;
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

static void set_done(struct rd_join_state *state, uint32_t qp)
{
	state->done[qp / 8] |= (uint8_t)(1 << qp % 8);
}

/* Keys and subs of the indices. */
static uint64_t number_key(uint32_t number, unsigned host, unsigned dev)
{
	return (uint64_t)number << 32 | (uint64_t)(host & 0xffff) << 16 | (dev & 0xffff);
}

static uint64_t pair_key(uint32_t number, uint32_t other)
{
	return (uint64_t)number << 32 | other;
}

static uint64_t end_key(uint32_t addr, uint16_t port)
{
	return (uint64_t)addr << 16 | port;
}

/* Whether, according to rdma_cm, the source address of each end is the destination address of the other. */
enum rd_join_match { RD_JOIN_UNKNOWN, RD_JOIN_AGREE, RD_JOIN_DISAGREE };

static bool is_any(const uint8_t *ip)
{
	static const uint8_t any[16], any4[16] = { [10] = 0xff, [11] = 0xff };

	return memcmp(ip, any, 16) == 0 || memcmp(ip, any4, 16) == 0;
}

/* The number of an address, 16 bytes. */
static uint32_t number_of_addr(struct rd_join *join, const uint8_t *ip)
{
	uint64_t hash = rd_siphash(&join->key, ip, 16);
	struct rd_join_addr *addr;

	for (size_t probe = 0, i; (i = rd_map_next(&join->addrs_map, hash, &probe)) != RD_MAP_END;)
		if (memcmp(join->addrs[i].ip, ip, 16) == 0)
			return (uint32_t)i;
	/* [0] is unused. */
	if (join->n_addrs == 0)
		*RD_ADD(join->addrs, join->n_addrs, join->cap_addrs) = (struct rd_join_addr){ 0 };
	rd_map_put(&join->addrs_map, hash, join->n_addrs);
	addr = RD_ADD(join->addrs, join->n_addrs, join->cap_addrs);
	*addr = (struct rd_join_addr){ 0 };
	memcpy(addr->ip, ip, 16);
	return (uint32_t)(addr - join->addrs);
}

/* 0: none, or "any". */
static uint32_t number_of_sockaddr(struct rd_join *join, const struct rd_sockaddr *addr)
{
	uint8_t ip[16];

	rd_qp_address(addr, ip);
	return addr->family && !is_any(ip) ? number_of_addr(join, ip) : 0;
}

/* All steps of a job are one job. */
static uint32_t number_of_job(struct rd_join *join, const char *job)
{
	size_t size = job ? strcspn(job, ".") : 0;
	uint64_t hash;

	if (size == 0)
		return 0;
	hash = rd_siphash(&join->key, job, size);
	for (size_t probe = 0, i; (i = rd_map_next(&join->jobs_map, hash, &probe)) != RD_MAP_END;)
		if (strlen(join->jobs[i]) == size && memcmp(join->jobs[i], job, size) == 0)
			return (uint32_t)i;
	if (join->n_jobs == 0)
		*RD_ADD(join->jobs, join->n_jobs, join->cap_jobs) = NULL;
	rd_map_put(&join->jobs_map, hash, join->n_jobs);
	*RD_ADD(join->jobs, join->n_jobs, join->cap_jobs) = rd_dup_part(job, size);
	return (uint32_t)join->n_jobs - 1;
}

static enum rd_join_gap gap_of(const struct rd_res_dev *dev)
{
	if (!rd_res_lists_all(dev, RD_RES_QP))
		return RD_JOIN_CUT;
	return rd_res_dev_hides_qps(dev) ? RD_JOIN_HIDES : RD_JOIN_COMPLETE;
}

/* RDMA_NODE_RNIC of the kernel's enum rdma_node_type. */
#define NODE_RNIC 4

static bool is_iwarp(const struct rd_res_dev *dev)
{
	return dev->protocol ? strcmp(dev->protocol, "iw") == 0 :
			       dev->node_type.known == RD_OK && dev->node_type.v == NODE_RNIC;
}

static void add_devices(struct rd_join_host *host, const struct rd_res *res)
{
	host->devs = rd_alloc(res->n_devs + 1, sizeof(*host->devs));
	host->n_devs = res->n_devs;
	for (size_t i = 0; i < res->n_devs; i++)
		host->devs[i] = (struct rd_join_dev){ .name = rd_dup(res->devs[i].name),
						      .gap = gap_of(&res->devs[i]),
						      .iwarp = is_iwarp(&res->devs[i]),
						      .links_unknown = !rd_res_lists_all(&res->devs[i], RD_RES_CM_ID) };
}

static void add_owner(struct rd_join *join, const uint8_t *ip, size_t host, int dev)
{
	uint32_t addr = number_of_addr(join, ip);

	*RD_ADD(join->owners, join->n_owners, join->cap_owners) =
		(struct rd_join_owner){ addr, (uint16_t)host, (uint16_t)dev };
}

static bool is_xrc(unsigned type)
{
	return type == RD_QPT_XRC_INI || type == RD_QPT_XRC_TGT;
}

/* The number of the remote QP: the kernel reports that of RC and UC; that of XRC is known only if it was recorded, or from the device. */
static bool remote_number(const struct rd_qp *qp, const struct rd_qp_view *view, uint32_t *ret)
{
	const struct rd_qp_seen attrs = rd_qp_attributes(view);

	if (qp->rqpn.known == RD_OK && !(is_xrc(qp->type.v) && qp->rqpn.v == 0))
		*ret = qp->rqpn.v;
	else if (attrs.dest_qpn.known == RD_OK)
		*ret = attrs.dest_qpn.v;
	else
		return false;
	return true;
}

static enum rd_join_names names_of(const struct rd_qp *qp, const struct rd_join_qp *to, bool iwarp, bool has_number)
{
	if (!rd_qp_is_connected_type(qp) || qp->state.known != RD_OK || qp->state.v < RD_QPS_RTR)
		return RD_JOIN_NAMES_NOTHING;
	if (!iwarp && has_number && (to->rqpn != 0 || to->peer))
		return RD_JOIN_NAMES_NUMBER;
	return to->src && to->dst && (iwarp || is_xrc(qp->type.v)) ? RD_JOIN_NAMES_LINK : RD_JOIN_NAMES_NOTHING;
}

static void take_link(struct rd_join *join, const struct rd_cm_id *cm_id, struct rd_join_qp *to)
{
	to->src = number_of_sockaddr(join, &cm_id->src);
	to->dst = number_of_sockaddr(join, &cm_id->dst);
	to->src_port = cm_id->src.port;
	to->dst_port = cm_id->dst.port;
	if (!to->src || !to->dst)
		to->src = to->dst = 0;
}

static void take_qp(struct rd_join *join, const struct rd_qp_views *views, size_t i, size_t host)
{
	const struct rd_qp *qp = &views->res->qps[i];
	const struct rd_qp_view *view = &views->v[i];
	struct rd_join_dev *dev = &join->hosts[host].devs[qp->dev];
	const struct rd_qp_seen attrs = rd_qp_attributes(view);
	const uint8_t *gid = rd_qp_peer_gid(view);
	struct rd_join_qp *to = &join->qps[join->n_qps++];
	bool has_number;

	*to = (struct rd_join_qp){ .lqpn = qp->lqpn.v,
				   .host = (uint16_t)host,
				   .dev = (uint16_t)qp->dev,
				   .type = qp->type.known == RD_OK ? qp->type.v : RD_JOIN_UNKNOWN_STATE,
				   .state = qp->state.known == RD_OK ? qp->state.v : RD_JOIN_UNKNOWN_STATE };
	has_number = !dev->iwarp && remote_number(qp, view, &to->rqpn);
	if (gid && !dev->iwarp)
		to->peer = number_of_addr(join, gid);
	if (view->link->cm_id >= 0)
		take_link(join, &views->res->cm_ids[view->link->cm_id], to);
	if (attrs.path_mtu.known == RD_OK)
		to->path_mtu = attrs.path_mtu.v;
	if (qp->proc >= 0)
		to->job = number_of_job(join, views->res->procs[qp->proc].job);
	to->names = names_of(qp, to, dev->iwarp, has_number);
	to->reports = has_number;
	dev->lists_xrc |= is_xrc(to->type);
	dev->links_unknown |= (dev->iwarp || is_xrc(to->type)) && !to->src &&
			      (to->state >= RD_QPS_RTR || to->state == RD_JOIN_UNKNOWN_STATE);
}

int rd_join_add(struct rd_join *join, const char *name, uint64_t time_ns, const struct rd_qp_views *views,
		const struct rd_host *host)
{
	const struct rd_res *res = views->res;
	uint64_t hash = rd_siphash(&join->key, name, strlen(name));
	size_t h = join->n_hosts;

	for (size_t probe = 0, i; (i = rd_map_next(&join->names_map, hash, &probe)) != RD_MAP_END;)
		if (strcmp(join->hosts[i].name, name) == 0)
			return -EEXIST;
	if (h >= RD_JOIN_HOSTS_MAX || res->n_qps > RD_JOIN_QPS_MAX - join->n_qps)
		return -E2BIG;
	*RD_ADD(join->hosts, join->n_hosts, join->cap_hosts) =
		(struct rd_join_host){ .name = rd_dup(name), .time_ns = time_ns };
	rd_map_put(&join->names_map, hash, h);
	add_devices(&join->hosts[h], res);
	for (size_t p = 0; host && p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		int dev = rd_res_find_dev(res, host->ibdevs[port->ibdev].name);

		for (size_t g = 0; dev >= 0 && g < port->n_gids; g++)
			add_owner(join, port->gids[g].raw, h, dev);
		if (dev >= 0 && join->hosts[h].devs[dev].iwarp) {
			/* The GIDs of iWARP are made of a MAC; what identifies its connections are the addresses of its
			 * interfaces. */
			for (size_t n = 0; n < port->n_netdevs; n++) {
				const struct rd_netdev *netdev = &host->netdevs[port->netdevs[n]];

				for (size_t i = 0; i < netdev->n_addrs; i++) {
					struct rd_sockaddr addr = { .family = netdev->addrs[i].v6 ? AF_INET6 : AF_INET };
					uint8_t ip[16];

					memcpy(addr.ip, netdev->addrs[i].raw, sizeof(addr.ip));
					rd_qp_address(&addr, ip);
					add_owner(join, ip, h, dev);
				}
			}
		}
	}
	rd_reserve(&join->qps, &join->cap_qps, join->n_qps + res->n_qps, sizeof(*join->qps));
	for (size_t i = 0; i < res->n_qps; i++)
		/* Queue pairs of datagrams have no peer. */
		if (res->qps[i].type.known != RD_OK || rd_qp_is_connected_type(&res->qps[i]))
			take_qp(join, views, i, h);
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct rd_join_entry *x = a, *y = b;

	return RD_CMP(x->key, y->key) ?: RD_CMP(x->sub, y->sub) ?: RD_CMP(x->qp, y->qp);
}

static int compare_owners(const void *a, const void *b)
{
	const struct rd_join_owner *x = a, *y = b;

	return RD_CMP(x->addr, y->addr) ?: RD_CMP(x->host, y->host) ?: RD_CMP(x->dev, y->dev);
}

/* Whether the device has this address. */
static bool has_addr(const struct rd_join *join, uint32_t addr, unsigned host, unsigned dev)
{
	const struct rd_join_addr *of = &join->addrs[addr];
	const struct rd_join_owner key = { addr, (uint16_t)host, (uint16_t)dev };
	size_t at = rd_lower_bound(&key, join->owners + of->owner, of->n_owners, sizeof(key), compare_owners);

	return at < of->n_owners && compare_owners(&join->owners[of->owner + at], &key) == 0;
}

static uint32_t link_hash(uint32_t src, uint16_t src_port, uint32_t dst, uint16_t dst_port)
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

/* Whether its connection can identify its remote QP. */
static bool is_linked_type(const struct rd_join *join, const struct rd_join_qp *qp)
{
	return join->hosts[qp->host].devs[qp->dev].iwarp || is_xrc(qp->type);
}

static bool may_link(const struct rd_join *join, const struct rd_join_qp *qp)
{
	return qp->src && (is_linked_type(join, qp) || qp->type == RD_JOIN_UNKNOWN_STATE);
}

static void index_qp(struct rd_join_state *state, uint32_t i)
{
	const struct rd_join *join = state->join;
	const struct rd_join_qp *qp = &join->qps[i];

	if (!join->hosts[qp->host].devs[qp->dev].iwarp)
		add_entry(&state->numbers, number_key(qp->lqpn, qp->host, qp->dev), 0, i);
	if (qp->names == RD_JOIN_NAMES_NUMBER && is_claim(join, qp)) {
		const struct rd_join_owner *owner = &join->owners[join->addrs[qp->peer].owner];

		add_entry(&state->claims, number_key(qp->rqpn, owner->host, owner->dev), qp->lqpn, i);
	} else if (qp->names == RD_JOIN_NAMES_NUMBER) {
		add_entry(&state->loose, pair_key(qp->lqpn, qp->rqpn),
			  qp->src ? link_hash(qp->src, qp->src_port, qp->dst, qp->dst_port) : 0, i);
	}
	if (may_link(join, qp))
		add_entry(&state->links, end_key(qp->src, qp->src_port), link_hash(qp->dst, qp->dst_port, 0, 0), i);
}

static void build(struct rd_join_state *state)
{
	struct rd_join *join = state->join;
	struct rd_join_index *const all[] = { &state->numbers, &state->claims, &state->loose, &state->links };
	size_t kept = 0;

	/* RoCE lists most GIDs twice, for RoCE v1 and v2: still one device. */
	rd_sort(join->owners, join->n_owners, sizeof(*join->owners), compare_owners);
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
	/* What is not used of it takes no memory. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(all); i++)
		all[i]->v = rd_alloc(join->n_qps + 1, sizeof(*all[i]->v));
	state->done = rd_alloc(join->n_qps / 8 + 1, 1);
	for (size_t i = 0; i < join->n_qps; i++)
		index_qp(state, (uint32_t)i);
	for (size_t i = 0; i < RD_ARRAY_SIZE(all); i++)
		rd_sort(all[i]->v, all[i]->n, sizeof(*all[i]->v), compare_entries);
}

/* The first entry that is not before this key and sub; n: none. */
static size_t first_entry(const struct rd_join_index *index, uint64_t key, uint32_t sub)
{
	const struct rd_join_entry from = { key, sub, 0 };

	return rd_lower_bound(&from, index->v, index->n, sizeof(from), compare_entries);
}

/* The entries of the index with this key and, unless RD_JOIN_NONE, this sub. */
static struct rd_join_index entries_of(const struct rd_join_index *index, uint64_t key, uint32_t sub)
{
	size_t low = first_entry(index, key, sub == RD_JOIN_NONE ? 0 : sub), end;

	if (sub != RD_JOIN_NONE)
		end = first_entry(index, key, sub + 1);
	else
		/* The highest key has no successor. */
		end = key == UINT64_MAX ? index->n : first_entry(index, key + 1, 0);
	return (struct rd_join_index){ index->v + low, end - low };
}

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

static enum rd_join_match compare_addresses(const struct rd_join_qp *a, const struct rd_join_qp *b)
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
	if (is_xrc(a))
		return b == (a == RD_QPT_XRC_INI ? RD_QPT_XRC_TGT : RD_QPT_XRC_INI);
	return a == b;
}

/* Whether `from` can be connected to `to`, as far as GIDs are known. */
static bool may_be_peer(const struct rd_join *join, const struct rd_join_qp *from, const struct rd_join_qp *to)
{
	return !from->peer || has_addr(join, from->peer, to->host, to->dev);
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
	if (compare_addresses(a, b) != RD_JOIN_AGREE)
		return false;
	if (a->host != b->host && is_loopback(join->addrs[a->dst].ip))
		return false;
	return !(a->reports && a->rqpn != b->lqpn) && !(b->reports && b->rqpn != a->lqpn);
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
	     compare_addresses(a, b) != RD_JOIN_DISAGREE) ||
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

		compare_all(search, entries_of(&state->numbers, number_key(search->a->rqpn, owner->host, owner->dev),
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
	uint64_t both = pair_key(a->rqpn, a->lqpn);

	compare_all(search, entries_of(&state->claims, number_key(a->lqpn, a->host, a->dev), a->rqpn));
	if (a->src) {
		compare_all(search,
			    entries_of(&state->loose, both, link_hash(a->dst, a->dst_port, a->src, a->src_port)));
		compare_all(search, entries_of(&state->loose, both, 0));
	} else {
		compare_all(search, entries_of(&state->loose, both, RD_JOIN_NONE));
	}
}

/* Whether another queue pair that could be the peer has the remote number: for the reason only. */
static bool is_number_taken(const struct search *search)
{
	const struct rd_join_qp *a = search->a;
	const struct rd_join_state *state = search->state;
	const struct rd_join_index *numbers = &state->numbers;
	size_t low = first_entry(numbers, number_key(a->rqpn, 0, 0), 0);

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
	struct rd_join_index range =
		entries_of(&search->state->links, end_key(a->dst, a->dst_port), link_hash(a->src, a->src_port, 0, 0));

	find_owners(search, a->peer ?: a->dst);
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

static void find_candidates(const struct rd_join_state *state, uint32_t from, struct rd_join_found *ret)
{
	const struct rd_join_qp *a = &state->join->qps[from];
	struct search search = { state, from, a, ret, CANDIDATES_MAX };

	*ret = (struct rd_join_found){ .mutual = RD_JOIN_NONE, .other = RD_JOIN_NONE };
	if (a->names == RD_JOIN_NAMES_NUMBER)
		find_by_number(&search);
	if (ret->n_mutual == 0 && a->src && is_linked_type(state->join, a))
		find_by_link(&search);
}

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
	set_done(state, a);
}

/* Half-open or a mismatch, if the captures of both hosts are close enough to prove it. */
static void add_suspect(struct rd_join_state *state, uint32_t a, uint32_t b, unsigned host,
			enum rd_join_verdict verdict, enum rd_join_why why, size_t n)
{
	bool apart = rd_join_seconds_apart(state->join, state->join->qps[a].host, host) > APART_MOST;

	add_pair(state, a, b, apart ? RD_JOIN_AMBIGUOUS : verdict, why, n);
	state->pairs->v[state->pairs->n - 1].apart = apart;
}

static bool has_failed(const struct rd_join_qp *qp)
{
	return qp->state == RD_QPS_SQE || qp->state == RD_QPS_ERR;
}

static enum rd_join_why why_connected(const struct rd_join_qp *a, const struct rd_join_qp *b)
{
	if (a->names == RD_JOIN_NAMES_NUMBER && (a->peer || b->peer))
		return RD_JOIN_BY_GID;
	return compare_addresses(a, b) == RD_JOIN_AGREE ? RD_JOIN_BY_ADDRESS : RD_JOIN_BY_NUMBER;
}

/* Each of the two names the other. */
static void add_mutual(struct rd_join_state *state, uint32_t from, uint32_t to)
{
	const struct rd_join_qp *a = &state->join->qps[from], *b = &state->join->qps[to];

	set_done(state, to);
	if (has_failed(a) || has_failed(b)) {
		/* QP numbers alone can match by chance: drivers start at the same number on every host. */
		if (a->peer || b->peer || compare_addresses(a, b) == RD_JOIN_AGREE || (a->job && a->job == b->job))
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
	bool by_link = a->names == RD_JOIN_NAMES_LINK, xrc = is_xrc(a->type);

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

	find_candidates(state, a, &found);
	if (found.n_mutual == 1) {
		/* One candidate for this queue pair; is this one also the only candidate for it? */
		find_candidates(state, found.mutual, &back);
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
	build(&state);
	for (size_t i = 0; i < join->n_qps; i++)
		if (join->qps[i].names != RD_JOIN_NAMES_NOTHING && !(state.done[i / 8] >> i % 8 & 1))
			judge_qp(&state, (uint32_t)i);
	RD_FREE(state.numbers.v, state.claims.v, state.loose.v, state.links.v, state.done);
}

/* Queue pairs named in a finding. */
#define NAMED_MAX 3

static void name_qp(const struct rd_join *join, const struct rd_join_qp *qp, struct rd_buf *out)
{
	const struct rd_join_host *host = &join->hosts[qp->host];

	rd_buf_printf(out, "%s %s QP %u", host->name, host->devs[qp->dev].name, qp->lqpn);
}

/* Names the first ends of pairs with this verdict, and whether their peer is gone. The first such pair, or NULL. */
static const struct rd_join_pair *name_pairs(const struct rd_join *join, const struct rd_join_pairs *pairs,
					     enum rd_join_verdict verdict, bool gone, struct rd_buf *out)
{
	const struct rd_join_pair *first = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < pairs->n && shown < NAMED_MAX; i++) {
		const struct rd_join_pair *pair = &pairs->v[i];

		if (pair->verdict != verdict || rd_join_is_gone(pair) != gone)
			continue;
		first = first ?: pair;
		rd_buf_str(out, shown++ ? ", " : "");
		name_qp(join, &join->qps[pair->a], out);
	}
	return first;
}

static void add_gone(const struct rd_join *join, const struct rd_join_pairs *pairs, struct rd_findings *findings)
{
	static const struct rd_finding kind = {
		"qp-peer-gone", "remote end of a connection is missing",
		"The peer's process ended, or destroyed the queue pair: packets to it are dropped, and the path is not the cause.",
		RD_SEV_CRITICAL
	};
	_cleanup_buf_ struct rd_buf names = { 0 };
	_cleanup_free_ char *reason = NULL, *host = NULL;
	const struct rd_join_pair *first = name_pairs(join, pairs, RD_JOIN_HALF_OPEN, true, &names);

	if (!first)
		return;
	reason = rd_join_reason(join, first);
	host = rd_safe(join->hosts[join->owners[first->n].host].name);
	rd_finding_put(
		findings, &kind, RD_TAKE(names.data), rd_text("%s (%zu of %zu pairs)", reason, pairs->n_gone, pairs->n),
		rd_text("# find out why the job's process on %s ended: its log, journalctl -k -b\n# then restart the job",
			host));
}

void rd_join_findings(const struct rd_join *join, const struct rd_join_pairs *pairs, struct rd_findings *findings)
{
	static const struct rd_finding kinds[RD_JOIN_VERDICTS] = {
		[RD_JOIN_HALF_OPEN] = { "qp-half-open", "an end of a connection has failed, or is not connected",
					"An end that is connected waits for its peer until the retry count is exceeded, or forever.",
					RD_SEV_CRITICAL },
		[RD_JOIN_MISMATCH] = { "qp-mismatch", "the two ends of a connection do not match",
				       "Packets go to a queue pair that expects packets from another one.",
				       RD_SEV_CRITICAL },
		[RD_JOIN_AMBIGUOUS] = { "qp-ambiguous", "remote QP cannot be determined",
					"QP numbers are unique only within one device.", RD_SEV_UNKNOWN },
		[RD_JOIN_NOT_VISIBLE] = { "peer-not-visible", "remote QP was not captured",
					  "The state of these connections is unknown.", RD_SEV_UNKNOWN },
	};

	add_gone(join, pairs, findings);
	for (int kind = RD_JOIN_HALF_OPEN; kind < RD_JOIN_VERDICTS; kind++) {
		enum rd_join_verdict verdict = (enum rd_join_verdict)kind;
		_cleanup_buf_ struct rd_buf names = { 0 };
		size_t n = pairs->count[verdict] - (verdict == RD_JOIN_HALF_OPEN ? pairs->n_gone : 0);

		if (n == 0)
			continue;
		name_pairs(join, pairs, verdict, false, &names);
		rd_finding_put(
			findings, &kinds[kind], RD_TAKE(names.data), rd_text("%zu of %zu pairs", n, pairs->n),
			rd_dup(kinds[kind].severity == RD_SEV_CRITICAL ?
				       "# check the end that is not connected: run rdmadiag qp-state --trace on that host" :
				       "# capture all hosts of the job while rdma_cm or a recorder (qp-state --trace) knows the peers\n# then join the captures"));
	}
}
