/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UDP source ports of RoCE v2, and how flows spread over links. */
#include "analyse/qp/qp.h"

#include "base/buf.h"
#include "base/text.h"

#define HASHES 256
#define NAMES_MAX 16 /* queue pairs named per collision */

struct flow {
	int dev;
	bool has_peer;
	uint8_t peer[16], source[16]; /* the source is 0 if it is unknown */
	uint16_t sport;
	bool assumed; /* the port */
	uint32_t lqpn, rqpn;
};

static int compare_paths(const struct flow *x, const struct flow *y)
{
	return RD_FIRST(RD_CMP(x->dev, y->dev), RD_CMP(y->has_peer, x->has_peer),
			x->has_peer ? memcmp(x->peer, y->peer, 16) : 0);
}

static int compare_tuples(const struct flow *x, const struct flow *y)
{
	return compare_paths(x, y) ?: RD_CMP(x->sport, y->sport) ?: memcmp(x->source, y->source, 16);
}

static int compare_flows(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return compare_tuples(x, y) ?: RD_CMP(x->rqpn, y->rqpn);
}

/* The finalizer of splitmix64 with a seed: a model of a switch's hash. */
static uint64_t mix(uint64_t value, uint64_t seed)
{
	value += seed * UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static void compute_share(const struct flow *flows, size_t n, unsigned links, bool with_qp, double *mean, double *worst)
{
	_cleanup_free_ size_t *load = rd_alloc(links, sizeof(*load));
	_cleanup_free_ uint64_t *keys = rd_alloc(n + 1, sizeof(*keys));

	for (size_t i = 0; i < n; i++) {
		uint64_t key = rd_hash(RD_HASH, flows[i].peer, sizeof(flows[i].peer));

		key = rd_hash(key, &flows[i].dev, sizeof(flows[i].dev));
		key = rd_hash(key, &flows[i].sport, sizeof(flows[i].sport));
		key = rd_hash(key, flows[i].source, sizeof(flows[i].source));
		keys[i] = with_qp ? rd_hash(key, &flows[i].rqpn, sizeof(flows[i].rqpn)) : key;
	}
	*mean = *worst = 0;
	for (uint64_t seed = 1; seed <= HASHES; seed++) {
		size_t most = 0;

		memset(load, 0, links * sizeof(*load));
		for (size_t i = 0; i < n; i++) {
			size_t on = ++load[mix(keys[i], seed) % links];

			most = on > most ? on : most;
		}
		*mean += (double)most / (double)n / HASHES;
		if ((double)most / (double)n > *worst)
			*worst = (double)most / (double)n;
	}
}

static void add_spread(struct rd_spreads *ret, const struct flow *flows, size_t n, bool whole)
{
	struct rd_spread *spread = RD_ADD(ret->v, ret->n, ret->cap);

	*spread = (struct rd_spread){ .dev = flows->dev, .has_peer = !whole && flows->has_peer, .flows = n };
	memcpy(spread->peer_gid, flows->peer, 16);
	for (size_t i = 0; i < n; i++) {
		bool same = i > 0 && compare_tuples(&flows[i - 1], &flows[i]) == 0;

		spread->tuples += !same;
		spread->tuples_qp += !same || flows[i - 1].rqpn != flows[i].rqpn;
	}
	compute_share(flows, n, ret->links, false, &spread->mean, &spread->worst);
	compute_share(flows, n, ret->links, true, &spread->mean_qp, &spread->worst_qp);
}

/* Flows with an unknown peer may go to different peers: no collision is proven. */
static void add_collision(struct rd_spreads *ret, const struct flow *flows, size_t n)
{
	_cleanup_buf_ struct rd_buf names = { 0 };
	struct rd_collision *collision;

	if (n < 2 || !flows->has_peer)
		return;
	for (size_t i = 0; i < n && i < NAMES_MAX; i++)
		rd_buf_printf(&names, "%s%u", i ? "," : "", flows[i].lqpn);
	if (n > NAMES_MAX)
		rd_buf_str(&names, ",...");
	collision = RD_ADD(ret->collisions, ret->n_collisions, ret->cap_collisions);
	*collision =
		(struct rd_collision){ .dev = flows->dev, .has_peer = true, .udp_sport = flows->sport, .flows = n };
	for (size_t i = 0; i < n; i++)
		collision->assumed |= flows[i].assumed;
	collision->lqpns = RD_TAKE(names.data);
	memcpy(collision->peer_gid, flows->peer, 16);
}

static struct rd_flow sport_of(const struct rd_qp_views *views, size_t i)
{
	const struct rd_qp *qp = &views->res->qps[i];
	const struct rd_qp_seen attrs = rd_qp_attributes(&views->v[i]);
	bool known = attrs.flow_label.known == RD_OK;
	uint32_t label = known ? attrs.flow_label.v : 0;

	return (struct rd_flow){ .qp = i,
				 .udp_sport = attrs.udp_sport.known == RD_OK ?
						      attrs.udp_sport.v :
						      rd_udp_sport(label, qp->lqpn.v, qp->rqpn.v),
				 .from = !known ? RD_SPORT_ASSUMED :
					 label	? RD_SPORT_LABEL :
						  RD_SPORT_NUMBERS };
}

static size_t collect_flows(const struct rd_qp_views *views, const bool *chosen, struct flow *flows,
			    struct rd_spreads *ret)
{
	const struct rd_res *res = views->res;
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		const char *protocol = res->devs[qp->dev].protocol;
		const uint8_t *peer = rd_qp_peer_gid(&views->v[i]);
		const struct rd_qp_seen attrs = rd_qp_attributes(&views->v[i]);

		/* A queue pair that is not connected yet, or has failed, sends nothing. */
		if ((chosen && !chosen[i]) || !rd_qp_is_connected_type(qp) || rd_qp_has_failed(qp) ||
		    (qp->state.known == RD_OK && qp->state.v < RD_QPS_RTR))
			continue;
		if (!protocol || strcmp(protocol, "roce") != 0) {
			ret->not_roce++;
		} else if (qp->rqpn.known != RD_OK || !qp->rqpn.v) {
			ret->no_remote_qp++;
		} else {
			ret->unknown_peer += !peer;
			ret->flows[n] = sport_of(views, i);
			flows[n] = (struct flow){ .dev = qp->dev,
						  .has_peer = peer,
						  .sport = ret->flows[n].udp_sport,
						  .assumed = ret->flows[n].from == RD_SPORT_ASSUMED,
						  .lqpn = qp->lqpn.v,
						  .rqpn = qp->rqpn.v };
			if (peer)
				memcpy(flows[n].peer, peer, 16);
			if (attrs.has_sgid)
				memcpy(flows[n].source, attrs.sgid, 16);
			n++;
		}
	}
	ret->n_flows = n;
	return n;
}

void rd_qp_spread(const struct rd_qp_views *views, const bool *chosen, unsigned links, struct rd_spreads *ret)
{
	const struct rd_res *res = views->res;
	_cleanup_free_ struct flow *flows = rd_alloc(res->n_qps + 1, sizeof(*flows));
	size_t n, end_dev, end_path, end_tuple;

	*ret = (struct rd_spreads){ .links = links, .flows = rd_alloc(res->n_qps + 1, sizeof(*ret->flows)) };
	n = collect_flows(views, chosen, flows, ret);
	rd_sort(flows, n, sizeof(*flows), compare_flows);
	for (size_t dev = 0; dev < n; dev = end_dev) {
		for (end_dev = dev; end_dev < n && flows[end_dev].dev == flows[dev].dev; end_dev++)
			;
		add_spread(ret, flows + dev, end_dev - dev, true);
		for (size_t path = dev; path < end_dev; path = end_path) {
			for (end_path = path; end_path < end_dev && compare_paths(&flows[end_path], &flows[path]) == 0;
			     end_path++)
				;
			if (flows[path].has_peer)
				add_spread(ret, flows + path, end_path - path, false);
			for (size_t tuple = path; tuple < end_path; tuple = end_tuple) {
				for (end_tuple = tuple;
				     end_tuple < end_path && compare_tuples(&flows[end_tuple], &flows[tuple]) == 0;
				     end_tuple++)
					;
				add_collision(ret, flows + tuple, end_tuple - tuple);
			}
		}
	}
}

/* Colliding flows, and those that the figures leave out or assume. */
void rd_qp_spread_findings(const struct rd_res *res, const struct rd_spreads *spreads, struct rd_findings *findings)
{
	static const struct rd_finding unknown = { "flows-not-known", "flows left out, or assumed to go to one peer",
						   "More flows, or other peers, change the spread.", RD_SEV_UNKNOWN };
	static const struct rd_finding collide = {
		"flows-collide", "flows to one peer have the same five-tuple",
		"They share one link, however many links exist, unless switches also hash the destination QP.",
		RD_SEV_WARNING
	};

	if (spreads->not_roce || spreads->no_remote_qp || spreads->unknown_peer)
		rd_finding_put(
			findings, &unknown, rd_dup("flows"),
			rd_text("left out: %zu on devices that are not RoCE, %zu with unknown remote QP; assumed to go to one peer: "
				"%zu with unknown peer address",
				spreads->not_roce, spreads->no_remote_qp, spreads->unknown_peer),
			rd_text("rdmadiag qp-state --trace --entropy %u\n# run it before the connections are established: it records the addresses",
				spreads->links));
	for (size_t i = 0; i < spreads->n_collisions; i++) {
		const struct rd_collision *collision = &spreads->collisions[i];
		struct rd_finding kind = collide;

		if (collision->assumed) {
			kind.title = "flows to one peer have the same five-tuple, unless their program set flow labels";
			kind.severity = RD_SEV_UNKNOWN;
		}
		rd_finding_put(
			findings, &kind, rd_text("%s QP %s", res->devs[collision->dev].name, collision->lqpns),
			rd_text("%zu flows from UDP port %u", collision->flows, collision->udp_sport),
			rd_dup("# spread QPs by flow label or UDP source port in the application, or hash the destination QP "
			       "in the switches"));
	}
}
