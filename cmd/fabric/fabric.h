/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: discovering a network and reading its counters. */
#ifndef RD_CMD_FABRIC_H
#define RD_CMD_FABRIC_H

#include "analyse/fabric/fabric-update.h"
#include "cmd/cmd.h"
#include "collect/fabric/fabric.h"

/* counters --fabric */
extern const struct rd_cmd rd_cmd_fabric;

/* Options of discovery and sweep; zero: default. */
struct fabric_opts {
	const char *port;	   /* see rd_port_fits; NULL: the first that is up */
	const char *subsets;	   /* NULL: RD_PMA_DEFAULT_SUBSETS */
	const char *node_name_map; /* NULL: the default file, if it exists */
	unsigned window, timeout_ms;
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
	struct rd_mads *mads;		  /* NULL: not open */
	struct rd_background *background; /* of the same port: for discoveries between sweeps; NULL: not live */
	struct rd_sweep_limits limits;
	struct fabric_opts opts;
	struct rd_fabric fabric;
	struct fabric_found {
		struct rd_fabric fabric;
		enum rd_reach *reach; /* of the nodes of the previous discovery; NULL: there was none */
		bool hinted, changed; /* why: a hint; one that a sweep found */
	} found;		      /* by a discovery that is not taken over yet */
	size_t sweeps;
	uint64_t discovered_ns; /* monotonic time of the latest discovery */
	bool changed;		/* a sweep since then found a hint that the network changed */
	bool incomplete;	/* the latest discovery did not reach all that it knows to exist */
	size_t gone;		/* ports that it reports as such */
	uint64_t walk_wait_ns;	/* from a discovery to the next one after a hint */
	size_t silent_ports;	/* when routes of nodes that do not respond were followed, at traced_ns (monotonic) */
	uint64_t traced_ns;
	unsigned sm_silences; /* how often the subnet manager did not respond, since it did */
	struct rd_sm_info sm; /* the subnet manager, when it was queried last */
	uint64_t sm_checked_ns;
};

/* Chooses and opens the port, and discovers the network. On failure `err` has the reason and a hint. */
int fabric_begin(struct rd_source *source, const struct fabric_opts *opts, struct fabric_run *run, struct rd_err *err);

/* Reads all selected ports once. */
int fabric_sweep(struct fabric_run *run, struct rd_err *err);

/* Discovers the network again if a sweep found a hint that it changed (a link went down or came up, a LID that does not respond or is of
 * a different node, the subnet manager), or if the previous discovery was incomplete: five seconds after it, then at growing
 * intervals; and every ten minutes in any case. For the time between two sweeps: takes `ms` at most and goes on at the next call, but
 * goes through in one call if the source is a bundle. Whether there was something to do. */
bool fabric_refresh(struct fabric_run *run, unsigned ms);

void fabric_end(struct fabric_run *run);

/* For capture --fabric: sends the queries that counters --fabric sends. */
int fabric_record(struct rd_source *source, struct rd_err *err);

#endif
