/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two made-up hosts with queue pairs, for tests of what is concluded about those. */
#ifndef RD_TESTS_QP_SIDE_H
#define RD_TESTS_QP_SIDE_H

#include "unit.h"

#include <sys/socket.h>

#include "model/host/host.h"
#include "model/rdma/join.h"
#include "model/rdma/qp-view.h"

/* A host with one RoCE device whose GID is ::ffff:10.0.0.N. */
struct side {
	struct rd_res res;
	struct rd_qp_views views;
	size_t cap_views;
	struct rd_host host;
	char name[16];
	uint64_t time_ns;
	void **edited;
	size_t n_edited, cap_edited;
};

static const struct rd_qp_link no_link = { .cm_id = -1 };
static const struct rd_qp_past no_past;
static const struct rd_qp_verdict no_verdict;

static inline void gid_of(uint8_t *gid, uint8_t n)
{
	const uint8_t made[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = n };

	memcpy(gid, made, 16);
}

static inline void side_init(struct side *side, uint8_t n)
{
	struct rd_ibdev *ibdev;
	struct rd_port *port;

	*side = (struct side){ 0 };
	snprintf(side->name, sizeof(side->name), "host%u", n);
	side->views.res = &side->res;
	side->res.devs = calloc(1, sizeof(*side->res.devs));
	side->res.n_devs = 1;
	side->res.devs[0].name = strdup("rdma0");
	side->res.devs[0].protocol = strdup("roce");
	RD_SET(side->res.devs[0].driver_id, 14);
	ibdev = rd_host_add_ibdev(&side->host);
	ibdev->name = strdup("rdma0");
	port = rd_host_add_port(&side->host, 0);
	port->gids = calloc(1, sizeof(*port->gids));
	port->n_gids = 1;
	gid_of(port->gids[0].raw, n);
}

static inline void side_deinit(struct side *side)
{
	rd_qp_views_deinit(&side->views);
	for (size_t i = 0; i < side->n_edited; i++)
		free(side->edited[i]);
	free(side->edited);
	rd_res_deinit(&side->res);
	rd_host_deinit(&side->host);
}

/* What is concluded about one that add_qp has returned. */
static inline struct rd_qp_view *view_of(struct side *side, const struct rd_qp *qp)
{
	return &side->views.v[qp - side->res.qps];
}

/* To be changed; freed by side_deinit. */
static inline void *edit(struct side *side, const void *from, size_t size)
{
	assert_int_equal(rd_grow(&side->edited, &side->cap_edited, side->n_edited + 1, sizeof(*side->edited)), 0);
	return side->edited[side->n_edited++] = memcpy(malloc(size), from, size);
}

static inline struct rd_qp_link *link_of(struct side *side, const struct rd_qp *qp)
{
	struct rd_qp_link *link = edit(side, view_of(side, qp)->link, sizeof(*link));

	view_of(side, qp)->link = link;
	return link;
}

static inline struct rd_qp_past *past_of(struct side *side, const struct rd_qp *qp)
{
	struct rd_qp_past *past = edit(side, view_of(side, qp)->past, sizeof(*past));

	view_of(side, qp)->past = past;
	return past;
}

/* As recorded, to be changed. */
static inline struct rd_qp_seen *seen_of(struct side *side, const struct rd_qp *qp)
{
	static const struct rd_qp_seen none;
	struct rd_qp_past *past = past_of(side, qp);
	struct rd_qp_seen *seen = edit(side, past->seen ? past->seen : &none, sizeof(*seen));

	past->seen = seen;
	return seen;
}

/* The address of its connection: 10.0.0.N. */
static inline void set_peer(struct side *side, const struct rd_qp *qp, uint8_t n)
{
	struct rd_qp_link *link = link_of(side, qp);

	link->has_gid = true;
	gid_of(link->gid, n);
}

/* `peer`: last byte of the peer's address; 0: not known. */
static inline struct rd_qp *add_qp(struct side *side, uint32_t lqpn, uint32_t rqpn, enum rd_qp_state qp_state,
				   uint8_t peer)
{
	struct rd_res *res = &side->res;
	struct rd_qp_view *view;
	struct rd_qp *qp;

	assert_int_equal(rd_grow(&side->views.v, &side->cap_views, res->n_qps + 1, sizeof(*view)), 0);
	view = &side->views.v[res->n_qps];
	*view = (struct rd_qp_view){ &no_link, &no_past, &no_verdict };
	assert_int_equal(rd_grow(&res->qps, &res->cap_qps, res->n_qps + 1, sizeof(*qp)), 0);
	qp = &res->qps[res->n_qps++];
	*qp = (struct rd_qp){ .proc = -1 };
	RD_SET(qp->lqpn, lqpn);
	RD_SET(qp->rqpn, rqpn);
	RD_SET(qp->type, RD_QPT_RC);
	RD_SET(qp->state, qp_state);
	if (peer)
		set_peer(side, qp, peer);
	RD_SET(res->devs[0].used[RD_RES_QP], res->n_qps);
	RD_SET(res->devs[0].used[RD_RES_CM_ID], 0);
	res->devs[0].listed[RD_RES_QP] = res->n_qps;
	return qp;
}

/* rdma_cm's of both ends: on InfiniBand addresses of IPoIB, which are no GIDs. */
static inline void cm_connect(struct side *side, const struct rd_qp *qp, uint8_t own, uint16_t own_port, uint8_t other,
			      uint16_t other_port)
{
	struct rd_res *res = &side->res;

	assert_int_equal(rd_grow(&res->cm_ids, &res->cap_cm_ids, res->n_cm_ids + 1, sizeof(*res->cm_ids)), 0);
	link_of(side, qp)->cm_id = (int)res->n_cm_ids;
	res->cm_ids[res->n_cm_ids++] = (struct rd_cm_id){
		.proc = -1,
		.src = { AF_INET, own_port, { 10, 0, 0, own } },
		.dst = { AF_INET, other_port, { 10, 0, 0, other } },
	};
}

struct two {
	struct side a, b;
	struct rd_join join;
	struct rd_join_pairs pairs;
	char *reason; /* of the first pair */
};

static inline void two_init(struct two *two)
{
	side_init(&two->a, 1);
	side_init(&two->b, 2);
}

static inline void two_deinit(struct two *two)
{
	side_deinit(&two->a);
	side_deinit(&two->b);
	rd_join_pairs_deinit(&two->pairs);
	rd_join_deinit(&two->join);
	free(two->reason);
}

#define JOIN_TEST(name) TEST_BEGUN(name, struct two, two, two_init, two_deinit)

#endif
