/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp-timeout.h"

#define UNIT_SECONDS 4.096e-6
#define SLACK 4.0
#define FOREVER 7

double rd_rnr_timer_seconds(unsigned code)
{
	/* Units of 10 us; code 0 is the longest. */
	static const uint16_t units[32] = { 0,	  1,	2,    3,    4,	  6,	 8,	12,    16,    24,   32,
					    48,	  64,	96,   128,  192,  256,	 384,	512,   768,   1024, 1536,
					    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

	if (code == 0)
		return 655.36e-3;
	return code < RD_ARRAY_SIZE(units) ? units[code] * 10e-6 : 0;
}

static void compute_ack(const struct rd_timeouts *in, struct rd_giveup *ret)
{
	unsigned timeout = in->timeout.v & 31, tries = (in->retry_cnt.v & 7) + 1u;

	if (in->timeout.known != RD_OK)
		return;
	if (timeout == 0) {
		ret->ack_for_ever = true;
		ret->note = "timeout 0: local ACK timeout disabled; the QP waits forever after a lost packet";
		return;
	}
	RD_SET(ret->ack_timeout, UNIT_SECONDS * (double)(UINT64_C(1) << timeout));
	if (in->retry_cnt.known != RD_OK)
		return;
	if (in->rxe && (in->retry_cnt.v & 7) == FOREVER) {
		ret->ack_for_ever = true;
		ret->note = "soft-RoCE (rxe) retries forever with retry_cnt 7; the specification defines 7 retries";
		return;
	}
	RD_SET(ret->ack_least, ret->ack_timeout.v * tries);
	RD_SET(ret->ack_most, ret->ack_timeout.v * tries * SLACK);
}

static void compute_rnr(const struct rd_timeouts *in, struct rd_giveup *ret)
{
	if (in->min_rnr_timer.known == RD_OK)
		RD_SET(ret->rnr_timer, rd_rnr_timer_seconds(in->min_rnr_timer.v & 31));
	if (in->rnr_retry.known != RD_OK)
		return;
	if ((in->rnr_retry.v & 7) == FOREVER)
		ret->rnr_for_ever = true;
	else if (ret->rnr_timer.known == RD_OK)
		RD_SET(ret->rnr_least, ret->rnr_timer.v * (in->rnr_retry.v & 7));
}

struct rd_giveup rd_qp_giveup(const struct rd_timeouts *in)
{
	struct rd_giveup ret = { 0 };

	compute_ack(in, &ret);
	compute_rnr(in, &ret);
	return ret;
}
