/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_COUNTERS_H
#define RD_REPORT_COUNTERS_H

#include "model/counters/counter.h"
#include "model/shared/cause.h"
#include "report/shared/report.h"

/* Columns of the table of counters, for -o. */
enum rd_counter_column {
	RD_CNT_IBDEV,
	RD_CNT_PORT,
	RD_CNT_NETDEV,
	RD_CNT_GROUP,
	RD_CNT_NAME,
	RD_CNT_VALUE,
	RD_CNT_DELTA,
	RD_CNT_PER_SECOND,
	RD_CNT_UNIT,
	RD_CNT_NOTE,
	RD_CNT_SATURATED,
	RD_CNT_OVERFLOW,
	RD_CNT_BITS,
	RD_CNT_DELTA_KIND,
	RD_CNT_DELTA_NOTE,
	RD_CNT_ROLE,
	RD_CNT_DRIVER,
	RD_CNT_COUNTER,
	RD_CNT_ERROR,
	RD_CNT_MEANING,
	RD_CNT_COLUMNS,
};
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

#endif
