/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of counters --live. */
#ifndef RD_REPORT_COUNTERS_LIVE_H
#define RD_REPORT_COUNTERS_LIVE_H

#include "model/counters/counter.h"
#include "model/counters/rates.h"
#include "model/rdma/qp.h"
#include "report/shared/report.h"

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

/* Processes that own QPs of one device (NULL: all). */
struct rd_section *rd_live_owners(const struct rd_res *res, const char *device);

/* Details of a port: owners of QPs on its device (`res` NULL: not read), then its counters with their meanings. */
struct rd_section *rd_live_port(const struct rd_live *live, uint32_t port, const struct rd_res *res);

#endif
