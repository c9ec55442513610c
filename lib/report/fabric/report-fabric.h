/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: ports, the sweep that read them, who reads what. */
#ifndef RD_REPORT_FABRIC_H
#define RD_REPORT_FABRIC_H

#include "model/fabric/fabric.h"
#include "model/fabric/shard.h"
#include "report/shared/report.h"

enum rd_fabric_column {
	RD_FAB_NODE,
	RD_FAB_PORT,
	RD_FAB_GUID,
	RD_FAB_LID,
	RD_FAB_KIND,
	RD_FAB_STATE,
	RD_FAB_LINK,
	RD_FAB_GBPS,
	RD_FAB_PEER,
	RD_FAB_PEER_LABEL,
	RD_FAB_CHANGE,
	RD_FAB_FRESH,
	RD_FAB_AGE,
	RD_FAB_RISE,
	RD_FAB_INTERVAL,
	RD_FAB_XMIT,
	RD_FAB_RCV,
	RD_FAB_USE,
	RD_FAB_WAIT,
	RD_FAB_WAIT_TICKS,
	RD_FAB_ERROR,
	RD_FAB_ERRORS,
	RD_FAB_COUNTERS,
	RD_FAB_DELTAS,
	RD_FABRIC_COLUMNS,
};
extern const struct rd_column rd_fabric_columns[RD_FABRIC_COLUMNS];

/* Seconds, of sweeps. */
struct rd_fabric_spread {
	double min, median, p99, max;
	size_t n; /* 0: nothing is known */
};

/* What is shown of a network. */
struct rd_fabric_shown {
	const struct rd_fabric *fabric;
	uint64_t now_ns;		/* of the clock of its ports */
	bool values;			/* with all counters of each port, as JSON has them */
	const bool *picked;		/* which ports to show; NULL: all that are asked, and those that are gone */
	const size_t *order;		/* of the ports; NULL: as they stand */
	const struct rd_shards *shards; /* NULL: all is read here */
	size_t shard;			/* which of them is ours */
	struct rd_fabric_spread sweeps;
	uint64_t missed; /* moments at which no sweep could begin, because the one before was still under way */
};

/* Adds the section ports, and the object sweep (and shard) among the scalars. */
void rd_report_fabric(struct rd_report *report, const struct rd_fabric_shown *shown);

/* The second half of it alone. */
void rd_report_fabric_sweep(struct rd_report *report, const struct rd_fabric_shown *shown);

/* The section of one port as a list of its counters: what --live opens. */
struct rd_section *rd_report_fabric_port(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* Adds the families of a page of metrics: counters and state of each port that this host reads, and the sweep. Values that
 * are not fresh are left out. */
void rd_report_fabric_metrics(struct rd_report *report, const struct rd_fabric_shown *shown);

/* Section plan: what each host reads, and how long that takes; among the scalars what was divided and what was assumed. */
struct rd_plan_basis {
	double latency; /* seconds from question to answer */
	bool measured;	/* in this network; else assumed */
	unsigned attributes, window, per_lid;
};
void rd_report_plan(struct rd_report *report, const struct rd_shards *shards, const struct rd_plan_basis *basis);

#endif
