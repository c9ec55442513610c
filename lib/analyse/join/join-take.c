/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of each host. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "analyse/join/join-priv.h"
#include "analyse/qp/qp.h"
#include "base/memory.h"

static bool is_any(const uint8_t *ip)
{
	static const uint8_t any[16], any4[16] = { [10] = 0xff, [11] = 0xff };

	return memcmp(ip, any, 16) == 0 || memcmp(ip, any4, 16) == 0;
}

static void map_ip4(const uint8_t *ip4, uint8_t *ret)
{
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	memcpy(ret + 12, ip4, 4);
}

/* The number of an address, 16 bytes. */
static uint32_t number_of_addr(struct rd_join *join, const uint8_t *ip)
{
	uint64_t hash = rd_siphash(&join->key, ip, 16);

	for (size_t probe = 0, i; (i = rd_map_next(&join->addrs_map, hash, &probe)) != RD_MAP_END;)
		if (memcmp(join->addrs[i].ip, ip, 16) == 0)
			return (uint32_t)i;
	rd_reserve(&join->addrs, &join->cap_addrs, join->n_addrs + 2, sizeof(*join->addrs));
	if (join->n_addrs == 0)
		join->addrs[join->n_addrs++] = (struct rd_join_addr){ 0 };
	join->addrs[join->n_addrs] = (struct rd_join_addr){ 0 };
	memcpy(join->addrs[join->n_addrs].ip, ip, 16);
	rd_map_put(&join->addrs_map, hash, join->n_addrs);
	return (uint32_t)join->n_addrs++;
}

/* 0: none, or "any". */
static uint32_t number_of_sockaddr(struct rd_join *join, const struct rd_sockaddr *addr)
{
	uint8_t ip[16];

	if (addr->family == AF_INET)
		map_ip4(addr->ip, ip);
	else
		memcpy(ip, addr->ip, 16);
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
	rd_reserve(&join->jobs, &join->cap_jobs, join->n_jobs + 2, sizeof(*join->jobs));
	if (join->n_jobs == 0)
		join->jobs[join->n_jobs++] = NULL;
	join->jobs[join->n_jobs] = rd_dup_part(job, size);
	rd_map_put(&join->jobs_map, hash, join->n_jobs);
	return (uint32_t)join->n_jobs++;
}

/* Whether all objects of a kind that the kernel counts are in the list. */
static bool is_complete(const struct rd_res_dev *dev, enum rd_res_kind kind)
{
	const struct rd_res_gap *gap = &dev->gaps[kind];

	return !gap->code && !gap->damaged && !gap->interrupted && dev->used[kind].known == RD_OK &&
	       dev->listed[kind] >= dev->used[kind].v;
}

static enum rd_join_gap gap_of(const struct rd_res_dev *dev)
{
	if (!is_complete(dev, RD_RES_QP))
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
						      .links_unknown = !is_complete(&res->devs[i], RD_RES_CM_ID) };
}

static void add_owner(struct rd_join *join, const uint8_t *ip, size_t host, int dev)
{
	uint32_t addr = number_of_addr(join, ip);

	*RD_ADD(join->owners, join->n_owners, join->cap_owners) =
		(struct rd_join_owner){ addr, (uint16_t)host, (uint16_t)dev };
}

/* The GIDs of iWARP are made of a MAC; what identifies its connections are the addresses of its interfaces. */
static void add_ip_owners(struct rd_join *join, const struct rd_host *host, const struct rd_port *port, size_t h,
			  int dev)
{
	for (size_t n = 0; n < port->n_netdevs; n++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[n]];

		for (size_t i = 0; i < netdev->n_addrs; i++) {
			uint8_t ip[16];

			if (netdev->addrs[i].v6)
				memcpy(ip, netdev->addrs[i].raw, 16);
			else
				map_ip4(netdev->addrs[i].raw, ip);
			add_owner(join, ip, h, dev);
		}
	}
}

static void add_owners(struct rd_join *join, const struct rd_res *res, const struct rd_host *host, size_t h)
{
	for (size_t p = 0; host && p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		int dev = rd_res_find_dev(res, host->ibdevs[port->ibdev].name);

		for (size_t g = 0; dev >= 0 && g < port->n_gids; g++)
			add_owner(join, port->gids[g].raw, h, dev);
		if (dev >= 0 && join->hosts[h].devs[dev].iwarp)
			add_ip_owners(join, host, port, h, dev);
	}
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
	rd_reserve(&join->hosts, &join->cap_hosts, h + 1, sizeof(*join->hosts));
	join->hosts[h] = (struct rd_join_host){ .name = rd_dup(name), .time_ns = time_ns };
	join->n_hosts++;
	rd_map_put(&join->names_map, hash, h);
	add_devices(&join->hosts[h], res);
	add_owners(join, res, host, h);
	rd_reserve(&join->qps, &join->cap_qps, join->n_qps + res->n_qps, sizeof(*join->qps));
	for (size_t i = 0; i < res->n_qps; i++)
		/* Queue pairs of datagrams have no peer. */
		if (res->qps[i].type.known != RD_OK || rd_qp_is_connected_type(&res->qps[i]))
			take_qp(join, views, i, h);
	return 0;
}
