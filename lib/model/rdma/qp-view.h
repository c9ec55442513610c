/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What analysis concludes about queue pairs. It stands beside what was collected of them (model/rdma/qp.h), which nobody
 * changes: a view of each, in the same order.
 */
#ifndef RD_MODEL_QP_VIEW_H
#define RD_MODEL_QP_VIEW_H

#include "model/rdma/qp-verdict.h"
#include "model/rdma/qp.h"

/* The connection of rdma_cm that it was made by, and who that says is at the other end. */
struct rd_qp_link {
	int cm_id; /* index into rd_res.cm_ids; -1: none is known */
	bool has_gid;
	uint8_t gid[16]; /* of the peer, where the connection's address is a GID */
};

/* What looks, and a recorder, saw of it until now. */
struct rd_qp_past {
	RD_FIELD(double) age_seconds, age_max_seconds; /* in this state */
	enum rd_age_kind age_kind;
	bool fresh;			 /* it came into this state since the look before */
	RD_FIELD(double) psn_per_second; /* packets sent and received, between the last two looks */
	enum rd_qp_cause cause;		 /* of its failure, as an earlier look found it */
	/* By a recorder: */
	bool moved_by_call;	       /* modify_qp moved it to the state it is in */
	int last_err;		       /* negative errno of the last modify_qp that failed; 0: none was seen */
	RD_FIELD(uint32_t) last_event; /* enum ib_event_type: the last one of this queue pair */
	struct rd_qp_seen *seen;       /* owned; NULL: no recorder saw it */
};

struct rd_qp_view {
	struct rd_qp_link link;
	struct rd_qp_past past;
	struct rd_qp_verdict verdict;
};

struct rd_qp_views {
	const struct rd_res *res; /* outlives the views */
	struct rd_qp_view *v;	  /* res->n_qps entries: v[i] is of res->qps[i] */
};

/* Views of all queue pairs of `res`, about which nothing is concluded yet. */
void rd_qp_views_init(struct rd_qp_views *views, const struct rd_res *res);
/* Of zeroed views nothing is released. */
void rd_qp_views_deinit(struct rd_qp_views *views);

/* 16 bytes within the view, as a recorder saw it, else as the connection says; NULL: not known. */
const uint8_t *rd_qp_peer_gid(const struct rd_qp_view *view);

#endif
