/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-verdict.h"

const char *rd_qp_verdict_name(enum rd_qp_verdict_kind kind)
{
	static const char *const names[RD_QPV_N] = {
		[RD_QPV_FAILED] = "failed",
		[RD_QPV_EXHAUSTED] = "retries-exhausted",
		[RD_QPV_CUT_OFF] = "cut-off",
		[RD_QPV_STUCK] = "stuck",
		[RD_QPV_RETRYING] = "retrying",
		[RD_QPV_NO_RECEIVES] = "no-receives",
		[RD_QPV_SLOW] = "slow",
		[RD_QPV_FLUSHED] = "flushed",
		[RD_QPV_IDLE] = "idle",
		[RD_QPV_RECEIVING] = "receiving",
		[RD_QPV_OK] = "ok",
		[RD_QPV_CANNOT_TELL] = "cannot-tell",
	};

	return kind < RD_QPV_N ? names[kind] : NULL;
}
