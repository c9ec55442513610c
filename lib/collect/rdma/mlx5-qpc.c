/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the context of a queue pair of mlx5 means. Values: MLX5_QP_STATE_* and MLX5_QP_ST_* of linux/mlx5/qp.h. */
#include <string.h>

#include "collect/rdma/nldev-priv.h"
#include "source/shared/mlx5-dump.h"

#define LID_MULTICAST 0xc000 /* first LID of multicast groups */

/* enum rd_qp_state; -1: none. SQ_DRAINING (7) is SQD before all work requests are complete. */
static int state_of(uint32_t state)
{
	static const int8_t states[] = { RD_QPS_RESET, RD_QPS_INIT, RD_QPS_RTR, RD_QPS_RTS,
					 RD_QPS_SQE,   RD_QPS_SQD,  RD_QPS_ERR, RD_QPS_SQD };

	return state < RD_ARRAY_SIZE(states) ? states[state] : -1;
}

/* Service types: RC 0, UC 1, XRC 3. */
static bool is_type(uint32_t st, uint8_t type)
{
	switch (type) {
	case RD_QPT_RC:
		return st == 0;
	case RD_QPT_UC:
		return st == 1;
	case RD_QPT_XRC_INI:
	case RD_QPT_XRC_TGT:
		return st == 3;
	default:
		return false;
	}
}

/* The kernel lists the remote QP number of RC and UC: with 24 bits, another layout does not match by chance. */
static bool contradicts(const uint8_t *qpc, uint32_t qpn, const struct rd_qp *qp)
{
	return qpn != qp->lqpn.v || qp->state.known != RD_OK || qp->state.v < RD_QPS_RTR ||
	       state_of(rd_mlx5_get(qpc, RD_MLX5_STATE)) != qp->state.v || qp->type.known != RD_OK ||
	       !is_type(rd_mlx5_get(qpc, RD_MLX5_ST), qp->type.v) ||
	       (qp->rqpn.known == RD_OK && rd_mlx5_get(qpc, RD_MLX5_REMOTE_QPN) != qp->rqpn.v);
}

/* Not zero, not a multicast group. */
static bool is_unicast_gid(const uint8_t *gid)
{
	static const uint8_t none[16];

	return gid[0] != 0xff && memcmp(gid, none, sizeof(none)) != 0;
}

static void take_path(const uint8_t *qpc, const struct rd_res_dev *dev, struct rd_qp_context *context)
{
	struct rd_qp_seen *attrs = &context->attrs;
	bool roce = dev->protocol && strcmp(dev->protocol, "roce") == 0;
	bool ib = dev->protocol && strcmp(dev->protocol, "ib") == 0;
	uint32_t lid = rd_mlx5_get(qpc, RD_MLX5_RLID), sport = rd_mlx5_get(qpc, RD_MLX5_UDP_SPORT);

	if (ib && lid && lid < LID_MULTICAST)
		RD_SET(context->dlid, (uint16_t)lid);
	if (roce && sport)
		RD_SET(attrs->udp_sport, (uint16_t)sport);
	if (roce || (ib && rd_mlx5_get(qpc, RD_MLX5_GRH))) {
		RD_SET(attrs->flow_label, rd_mlx5_get(qpc, RD_MLX5_FLOW_LABEL));
		RD_SET(attrs->hop_limit, (uint8_t)rd_mlx5_get(qpc, RD_MLX5_HOP_LIMIT));
		attrs->has_dgid = is_unicast_gid(qpc + RD_MLX5_GID_AT);
	}
	if (attrs->has_dgid)
		memcpy(attrs->dgid, qpc + RD_MLX5_GID_AT, sizeof(attrs->dgid));
}

/* Set when the queue pair is moved to RTS, so meaningless in RTR; in ERR it is unknown which state it came from. */
static void take_requester(const uint8_t *qpc, const struct rd_qp *qp, struct rd_qp_context *context)
{
	uint32_t timeout = rd_mlx5_get(qpc, RD_MLX5_ACK_TIMEOUT);

	/* UC has no acknowledgements; the target side of XRC sends no requests. */
	if (qp->type.v == RD_QPT_UC || qp->type.v == RD_QPT_XRC_TGT || qp->state.v == RD_QPS_RTR ||
	    (qp->state.v == RD_QPS_ERR && !timeout))
		return;
	RD_SET(context->attrs.timeout, (uint8_t)timeout);
	RD_SET(context->attrs.retry_cnt, (uint8_t)rd_mlx5_get(qpc, RD_MLX5_RETRY_COUNT));
	RD_SET(context->attrs.rnr_retry, (uint8_t)rd_mlx5_get(qpc, RD_MLX5_RNR_RETRY));
	RD_SET(context->cur_retry_cnt, (uint8_t)rd_mlx5_get(qpc, RD_MLX5_CUR_RETRY_COUNT));
	RD_SET(context->cur_rnr_retry, (uint8_t)rd_mlx5_get(qpc, RD_MLX5_CUR_RNR_RETRY));
	RD_SET(context->last_acked_psn, rd_mlx5_get(qpc, RD_MLX5_LAST_ACKED_PSN));
}

bool rd_mlx5_take_context(const uint8_t *dump, size_t size, const struct rd_res_dev *dev, struct rd_qp *qp)
{
	struct rd_qp_context *context;
	uint32_t qpn, remote, mtu;
	const uint8_t *qpc;
	size_t at = rd_mlx5_find_qpc(dump, size, &qpn);

	if (!at || contradicts(dump + at, qpn, qp))
		return false;
	qpc = dump + at;
	remote = rd_mlx5_get(qpc, RD_MLX5_REMOTE_QPN);
	/* A queue pair that failed before it was connected has no peer. */
	if (!remote)
		return false;
	context = rd_qp_need_context(qp);
	context->dumped = true;
	RD_SET(context->attrs.dest_qpn, remote);
	mtu = rd_mlx5_get(qpc, RD_MLX5_MTU);
	if (mtu >= 1 && mtu <= 5)
		RD_SET(context->attrs.path_mtu, (uint16_t)(128u << mtu));
	if (qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_XRC_TGT)
		RD_SET(context->attrs.min_rnr_timer, (uint8_t)rd_mlx5_get(qpc, RD_MLX5_MIN_RNR_NAK));
	take_path(qpc, dev, context);
	take_requester(qpc, qp, context);
	return true;
}
