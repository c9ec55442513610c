/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: discovering a network and reading its counters. */
#ifndef RD_CMD_FABRIC_H
#define RD_CMD_FABRIC_H

#include "cmd/cmd.h"
#include "collect/fabric/fabric.h"
#include "collect/fabric/pulse.h"

/* counters --fabric */
extern const struct rd_cmd rd_cmd_fabric;

/* Options of discovery and sweep; zero: default. */
struct fabric_opts {
	const char *port;	   /* see rd_port_fits; NULL: the first that is up */
	const char *subsets;	   /* NULL: RD_PMA_DEFAULT_SUBSETS */
	const char *node_name_map; /* NULL: the default file, if it exists */
	unsigned window, per_lid, timeout_ms, walk_window;
	RD_FIELD(unsigned) retries;
	bool traffic; /* without subsets: read data, packets and PortXmitWait of every port, not only errors */
	/* Called after each discovery: may deselect ports. NULL: all are read. */
	int (*divide)(void *arg, struct rd_fabric *fabric, struct rd_err *err);
	void *divide_arg;
	struct rd_pulse pulse; /* while responses are waited for */
};

/* A discovered network and the port to read it through. */
struct fabric_run {
	struct rd_source *source;
	struct rd_mad_port from;
	struct rd_mads *mads;
	struct rd_sweep_limits limits;
	struct rd_sweep_limits walk; /* of the discovery */
	struct fabric_opts opts;
	struct rd_fabric fabric;
	size_t sweeps;
	uint64_t discovered_ns; /* monotonic time of the latest discovery */
	bool changed;		/* a sweep since then found a change: see struct rd_fabric */
};

/* The attributes to read of each port: a mask of rd_pma_attributes. */
int fabric_subsets(const struct fabric_opts *opts, uint64_t *ret, struct rd_err *err);

/* Chooses and opens the port, and discovers the network. On failure `err` has the reason and a hint. */
int fabric_begin(struct rd_source *source, const struct fabric_opts *opts, struct fabric_run *run, struct rd_err *err);

/* Reads all selected ports once. Discovers the network first if the previous sweep found a change, at most every five seconds;
 * and every 30 seconds in any case, to find new nodes. */
int fabric_sweep(struct fabric_run *run, struct rd_err *err);

void fabric_end(struct fabric_run *run);

/* For capture --fabric: sends the queries that counters --fabric sends. */
int fabric_record(struct rd_source *source, struct rd_err *err);

#endif
