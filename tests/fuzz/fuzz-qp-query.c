/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "collect/rdma/rdma.h"
#include "source/redact/redact.h"

/* What drivers filled in for queue pairs, from a bundle: taken for two of them, and redacted. */
void fuzz_one(const uint8_t *data, size_t size)
{
	const struct rd_bytes bytes = { (uint8_t *)data, size };
	struct rd_res_dev dev = { .index = 1, .name = (char *)"rxe0", .protocol = (char *)"roce" };
	struct rd_qp qps[2] = { 0 };
	struct rd_res res = { .devs = &dev, .n_devs = 1, .qps = qps, .n_qps = 2 };
	struct rd_redact redact = { .key = { { 1, 2 } } };
	struct rd_errlist errors = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	RD_SET(dev.driver_id, RD_DRIVER_MLX5);
	for (uint32_t i = 0; i < 2; i++) {
		RD_SET(qps[i].lqpn, 17 + i);
		RD_SET(qps[i].type, RD_QPT_RC);
		RD_SET(qps[i].state, RD_QPS_RTS);
	}
	rd_qp_queries_take(&bytes, &res, &errors);
	for (size_t i = 0; i < 2; i++) {
		const struct rd_qp_seen *attrs = qps[i].context ? &qps[i].context->attrs : NULL;

		if (attrs && (attrs->timeout.v > 31 || attrs->retry_cnt.v > 7 || attrs->rnr_retry.v > 7 ||
			      attrs->min_rnr_timer.v > 31 || attrs->flow_label.v > 0xfffff || attrs->path_mtu.v > 4096))
			__builtin_trap();
		rd_qp_deinit(&qps[i]);
	}
	rd_redact_qps(&redact, data, size, true, &out);
	if (out.len > size)
		__builtin_trap();
	rd_redact_deinit(&redact);
	rd_errlist_deinit(&errors);
}
