/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are the dump of a queue pair by its device: read for each kind of network, type and state, and redacted. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "collect/rdma/nldev-priv.h"
#include "source/shared/mlx5-dump.h"

/* What is taken must be possible. */
static void check(const struct rd_qp_context *context)
{
	const struct rd_qp_seen *attrs = &context->attrs;

	if (attrs->timeout.v > 31 || attrs->retry_cnt.v > 7 || attrs->rnr_retry.v > 7 || attrs->min_rnr_timer.v > 31 ||
	    context->last_acked_psn.v > 0xffffff || !attrs->dest_qpn.v || attrs->flow_label.v > 0xfffff ||
	    (attrs->path_mtu.known == RD_OK && (attrs->path_mtu.v < 256 || attrs->path_mtu.v > 4096)))
		abort();
}

static void take(const uint8_t *data, size_t size, const char *protocol, uint8_t type, uint8_t state)
{
	const struct rd_res_dev dev = { .name = (char *)"mlx5_0", .protocol = (char *)protocol };
	struct rd_qp qp = { .proc = -1 };

	RD_SET(qp.lqpn, 17);
	RD_SET(qp.type, type);
	RD_SET(qp.state, state);
	if (size && data[0] & 1)
		RD_SET(qp.rqpn, 18);
	if (rd_mlx5_take_context(data, size, &dev, &qp))
		check(qp.context);
	rd_qp_deinit(&qp);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const uint8_t types[] = { RD_QPT_RC, RD_QPT_UC, RD_QPT_XRC_INI, RD_QPT_XRC_TGT };
	uint32_t qpn;
	size_t at = rd_mlx5_find_qpc(data, size, &qpn);

	if (at && size - at < RD_MLX5_QPC_USED)
		abort();
	for (size_t i = 0; i < RD_ARRAY_SIZE(types); i++)
		for (uint8_t state = RD_QPS_RESET; state <= RD_QPS_N; state++) {
			take(data, size, "roce", types[i], state);
			take(data, size, "ib", types[i], state);
		}
}
