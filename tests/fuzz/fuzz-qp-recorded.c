/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "analyse/qp/qp.h"
#include "collect/rdma/rdma.h"
#include "source/redact/redact.h"

/* The maps of recorders, which any program may create that is allowed to; joined with two queue pairs, and redacted. */
void fuzz_one(const uint8_t *data, size_t size)
{
	const struct rd_bytes bytes = { (uint8_t *)data, size };
	struct rd_res_dev dev = { .index = 1, .name = (char *)"rxe0" };
	struct rd_qp qps[2] = { 0 };
	struct rd_res res = { .devs = &dev, .n_devs = 1, .qps = qps, .n_qps = 2 };
	struct rd_redact redact = { .key = { { 1, 2 } } };
	struct rd_qp_views views;
	struct rd_errlist errors = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (uint32_t i = 0; i < 2; i++) {
		RD_SET(qps[i].lqpn, 17 + i);
		RD_SET(qps[i].type, RD_QPT_RC);
		RD_SET(qps[i].state, RD_QPS_RTS);
	}
	rd_qp_recorded_take(&bytes, &res, &errors);
	rd_qp_views_init(&views, &res);
	rd_qp_apply_recorded(&views, UINT64_C(1) << 40);
	for (size_t i = 0; i < 2; i++)
		if (views.v[i].past->age_kind == RD_AGE_EXACT && views.v[i].past->age_seconds.v < 0)
			__builtin_trap();
	rd_redact_qps(&redact, data, size, false, &out);
	rd_redact_deinit(&redact);
	rd_qp_views_deinit(&views);
	rd_errlist_deinit(&errors);
	free(res.recorded);
}
