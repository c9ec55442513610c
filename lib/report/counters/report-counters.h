/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_COUNTERS_H
#define RD_REPORT_COUNTERS_H

#include "model/counters/counter.h"
#include "model/rdma/qp.h"
#include "report/shared/report.h"

/* Columns of the table of counters, for -o. */
enum { RD_CNT_VALUE = 5, RD_CNT_COLUMNS = 20 };
extern const struct rd_column rd_counter_columns[RD_CNT_COLUMNS];

/* What to show: a sample, and the increases since an earlier one, if there is one. */
struct rd_counters_shown {
	const struct rd_counter_set *set;
	const struct rd_counter_sample *now;
	const struct rd_delta *deltas;	/* as many as the set has counters; NULL: no earlier sample */
	double seconds;			/* between the two; 0: unknown */
	const bool *selected;		/* as many; NULL: all */
	const struct rd_causes *causes; /* NULL: not analysed */
};

/* Adds sections counters, ports and causes; boot id and clock to the scalars; findings. --save writes this as JSON. */
void rd_report_counters(struct rd_report *report, const struct rd_counters_shown *shown);

/* Section counters only. */
struct rd_section *rd_counters_section(const struct rd_counters_shown *shown);

/* Section meanings: lines of data/counters that match a pattern. */
void rd_report_meanings(struct rd_report *report, const struct rd_meaning *const *meanings, size_t n);

/* Traffic of ports in an interval, as a table; counters as metrics. */

/* Section rates: one row per port; `selected` (as many as the set has ports; NULL: all) selects them. */
struct rd_section *rd_rates_section(const struct rd_rates *rates, const struct rd_counter_set *set,
				    const struct rd_counter_sample *now, const bool *selected);

/* Fills report->metrics: one family per counter name, and facts about the ports. `selected`: as many as the set has counters;
 * NULL: all. */
void rd_report_counter_metrics(struct rd_report *report, const struct rd_counter_set *set,
			       const struct rd_counter_sample *now, const bool *selected);

/* Sections of counters --live. */

#define RD_LIVE_HISTORY 16

/* Shares of the line rate of a port, of the last intervals: the newest at (next - 1) % RD_LIVE_HISTORY. */
struct rd_live_history {
	double tx[RD_LIVE_HISTORY], rx[RD_LIVE_HISTORY]; /* NaN: unknown */
	unsigned n, next;
};

struct rd_live {
	const struct rd_counter_set *set;
	const struct rd_counter_sample *now;
	const struct rd_delta *deltas;
	double seconds;
	const struct rd_rates *rates;
	const struct rd_live_history *history; /* as many as the set has ports */
	const bool *ports;		       /* as many; which ports to show */
	const uint64_t *moved_ns; /* last change of each counter, by CLOCK_MONOTONIC; 0: none since the start */
};

/* Bars and sparklines of ports. */
struct rd_section *rd_live_ports(const struct rd_live *live);

/* Columns that identify a row of the next two sections. */
extern const int rd_live_keys[];
/* Columns of counters that always change. */
extern const int rd_live_restless[];
#define RD_LIVE_GROUP 0 /* the column by which rows can be grouped: the port */

/* The counters `order` (indices into the set), in that order. */
struct rd_section *rd_live_counters(const struct rd_live *live, const uint32_t *order, size_t n);

/* Processes that own QPs. */
struct rd_section *rd_live_owners(const struct rd_res *res);

/* Details of a port: owners of QPs on its device (`res` NULL: not read), then its counters with their meanings. */
struct rd_section *rd_live_port(const struct rd_live *live, uint32_t port, const struct rd_res *res);

#endif
