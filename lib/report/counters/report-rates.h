/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traffic of ports in an interval, as a table; counters as metrics. */
#ifndef RD_REPORT_RATES_H
#define RD_REPORT_RATES_H

#include "model/counters/counter.h"
#include "model/counters/rates.h"
#include "report/shared/report.h"

enum rd_rate_column {
	RD_RATE_IBDEV,
	RD_RATE_PORT,
	RD_RATE_NETDEV,
	RD_RATE_STATE,
	RD_RATE_LINE,
	RD_RATE_TX_GBPS,
	RD_RATE_TX_SHARE,
	RD_RATE_RX_GBPS,
	RD_RATE_RX_SHARE,
	RD_RATE_TX_PACKETS,
	RD_RATE_RX_PACKETS,
	RD_RATE_USUAL,
	RD_RATE_COUNTED_BY,
	RD_RATE_COLUMNS,
};

/* Section rates: one row per port; `selected` (as many as the set has ports; NULL: all) selects them. */
struct rd_section *rd_rates_section(const struct rd_rates *rates, const struct rd_counter_set *set,
				    const struct rd_counter_sample *now, const bool *selected);

/* Fills report->metrics: one family per counter name, and facts about the ports. `selected`: as many as the set has counters;
 * NULL: all. */
void rd_report_counter_metrics(struct rd_report *report, const struct rd_counter_set *set,
			       const struct rd_counter_sample *now, const bool *selected);

#endif
