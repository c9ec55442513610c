/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyse/qp/qp-entropy.h"
#include "analyse/qp/qp-timers.h"
#include "analyse/qp/qp.h"
#include "qp.h"
#include "report/qp/report-qp.h"

#define RETRY_DEFAULT 7

bool qp_ask_given(const struct qp_ask *ask)
{
	const struct rd_timeouts *values = &ask->values;

	return values->timeout.known == RD_OK || values->retry_cnt.known == RD_OK || values->rnr_retry.known == RD_OK ||
	       values->min_rnr_timer.known == RD_OK;
}

static void fill_entropy(const struct qp_ask *ask, struct qp_sample *sample)
{
	struct rd_spreads spreads = { 0 };

	rd_qp_spread(&sample->views, sample->chosen, ask->links, &spreads);
	rd_report_spreads(&sample->report, &sample->views, &spreads);
	rd_qp_spread_findings(&sample->res, &spreads, &sample->findings);
	rd_spreads_deinit(&spreads);
}

static void fill_timeouts(struct qp_sample *sample)
{
	struct rd_section *section = rd_timeouts_section();

	for (size_t i = 0; i < sample->res.n_qps; i++) {
		const struct rd_qp *qp = &sample->res.qps[i];
		const struct rd_qp_view *view = &sample->views.v[i];
		const struct rd_qp_seen attrs = rd_qp_attributes(view);
		struct rd_timeouts values = { .rxe = rd_res_dev_is_rxe(&sample->res.devs[qp->dev]) };
		struct rd_giveup giveup;

		if (!sample->chosen[i] || attrs.timeout.known != RD_OK)
			continue;
		/* The RNR timer that applies is that of the remote QP. */
		RD_COPY(values.timeout, attrs.timeout);
		RD_COPY(values.retry_cnt, attrs.retry_cnt);
		RD_COPY(values.rnr_retry, attrs.rnr_retry);
		giveup = rd_qp_giveup(&values);
		rd_timeouts_add(section, &sample->views, i, &values, &giveup);
	}
	sample->incomplete |= rd_qp_timeout_findings(&sample->views, sample->chosen, &sample->findings);
	rd_report_add(&sample->report, section);
}

void qp_ask_fill(const struct qp_ask *ask, struct qp_sample *sample)
{
	if (ask->timeouts)
		fill_timeouts(sample);
	if (ask->links)
		fill_entropy(ask, sample);
}

int qp_show_timeouts(struct rd_ctx *ctx, const struct qp_ask *ask)
{
	struct rd_timeouts values = ask->values;
	struct rd_section *section = rd_timeouts_section();
	struct rd_giveup giveup;
	struct rd_report report;
	int r;

	if (values.timeout.known == RD_OK && values.retry_cnt.known != RD_OK)
		RD_SET(values.retry_cnt, RETRY_DEFAULT);
	giveup = rd_qp_giveup(&values);
	if (!giveup.note && values.timeout.known == RD_OK && values.retry_cnt.v == RETRY_DEFAULT)
		giveup.note = "soft-RoCE (rxe) retries forever with retry_cnt 7";
	rd_output_init(ctx, &report);
	rd_timeouts_add(section, NULL, 0, &values, &giveup);
	rd_report_add(&report, section);
	r = rd_output_print(ctx, &report);
	rd_report_deinit(&report);
	return r;
}
