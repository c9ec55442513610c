/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: ports, statistics of the sweep, the plan of shares, and routes. */

#ifndef RD_REPORT_FABRIC_H
#define RD_REPORT_FABRIC_H

#include "base/buf.h"
#include "model/fabric/fabric.h"
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

/* Durations of sweeps, in seconds. */
struct rd_fabric_spread {
	double min, median, p99, max;
	size_t n; /* of sweeps; 0: unknown */
};

/* What to show of a network. */
struct rd_fabric_shown {
	const struct rd_fabric *fabric;
	uint64_t now_ns;		/* same clock as read_ns of the ports */
	bool values;			/* include all counters of each port, as in JSON */
	bool changes;			/* only what changed since the previous sweep: the document before had all */
	bool nonzero;			/* metrics: errors that are not 0, and links only */
	const bool *picked;		/* per port: show it; NULL: all that are read, and those that are gone */
	const size_t *order;		/* of the ports; NULL: order of the fabric */
	const struct rd_shards *shards; /* NULL: this host reads all ports */
	size_t shard;			/* index of the share of this host */
	struct rd_fabric_spread sweeps;
	uint64_t missed; /* intervals without a sweep, because the previous one was still in progress */
	RD_FIELD(uint64_t) latches_dropped; /* of repeated sweeps: see struct rd_fabric_latches */
};

/* How many ports were read. */
struct rd_fabric_tally {
	size_t selected, queried; /* queried: of these, without those that are gone */
	size_t fresh, partial;	  /* partial: of the fresh ones, those of which an attribute could not be read */
};
struct rd_fabric_tally rd_fabric_count_ports(const struct rd_fabric *fabric);

/* Adds the section ports. Its rows are made from the network when they are read: store them (rd_section_store) to keep them beyond a
 * sweep. */
void rd_report_fabric_ports(struct rd_report *report, const struct rd_fabric_shown *shown);

/* Appends "SymbolErrorCounter 77 (+2)": error counters that are not 0. Returns whether their increase is known. */
bool rd_fabric_errors_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port, struct rd_buf *out,
			   uint64_t *ret_rise);

/* Appends "PortRcvErrorDetails: ETIMEDOUT": why the port, or an attribute of it, could not be read; nothing if it was. */
void rd_fabric_read_error(const struct rd_fabric_port *port, struct rd_buf *out);

/* Adds the object sweep (and shard) among the scalars. */
void rd_report_fabric_sweep(struct rd_report *report, const struct rd_fabric_shown *shown);

/* Nodes and links by kind, without gone nodes, as a line of text. */
void rd_report_fabric_census_line(const struct rd_fabric *fabric, struct rd_buf *out);

/* Adds the section latched: what repeated sweeps found, in this order. */
void rd_report_fabric_latched(struct rd_report *report, const struct rd_fabric_latch *const *ranked, size_t n);

/* The same for --live, without what was cleared. */
struct rd_section *rd_report_fabric_seen(const struct rd_fabric_latch *const *ranked, size_t n);

/* The counters of one port as a section: the detail view of --live. */
struct rd_section *rd_report_fabric_port(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* Adds metric families: counters and state of each port that this host reads, and the sweep. Omits values that are not fresh. */
void rd_report_fabric_metrics(struct rd_report *report, const struct rd_fabric_shown *shown);

/* Adds the section shares, and the coverage and skew among the scalars. */
void rd_report_fabric_merge(struct rd_report *report, const struct rd_share_files *files, const struct rd_merge *merge);

/* Section plan: what each host reads, and the predicted duration; as scalars the hash of the divided ports, links and hosts, and the basis. */
struct rd_plan_basis {
	double latency; /* seconds from query to response */
	bool measured;	/* in this network; false: assumed */
	unsigned attributes, window, per_lid;
};
void rd_report_plan(struct rd_report *report, const struct rd_shards *shards, const struct rd_plan_basis *basis);

/* Section path: a row per node and direction; as scalars both ends of the path and how it ends. `same_way`: whether the way back passes
 * the same ports; NULL: unknown. */
void rd_report_path(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_path paths[2],
		    const bool *same_way);

/* Section routes: a row per group of links, if `all` is false only those that are uneven; as scalars the pairs, and what was read. */
void rd_report_routes(struct rd_report *report, const struct rd_fabric *fabric, const struct rd_routes *routes,
		      const struct rd_routes_verdict *verdict, bool all);

#endif
