/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: the parts. */
#ifndef RD_CMD_FABRIC_H
#define RD_CMD_FABRIC_H

#include "cmd/cmd.h"
#include "collect/fabric/fabric.h"

/* counters --fabric */
extern const struct rd_cmd rd_cmd_fabric;

/* Options of how to ask; those that are zero are at their defaults. */
struct fabric_opts {
	const char *port;	   /* see rd_port_fits; NULL: the first that is up */
	const char *subsets;	   /* NULL: RD_PMA_DEFAULT_SUBSETS */
	const char *node_name_map; /* NULL: the usual one, if it is there */
	unsigned window, per_lid, timeout_ms, walk_window;
	RD_FIELD(unsigned) retries;
	/* Called after each walk: may take ports out of the selection. NULL: all are asked. */
	int (*divide)(void *arg, struct rd_fabric *fabric, struct rd_err *err);
	void *divide_arg;
};

/* A network that is watched. */
struct fabric_run {
	struct rd_source *source;
	struct rd_mad_port from;
	struct rd_mads *mads;
	struct rd_sweep_limits limits;
	struct rd_sweep_limits walk; /* of looking for nodes */
	struct fabric_opts opts;
	struct rd_fabric fabric;
	size_t sweeps;
	uint64_t walked_ns;
	bool moved; /* since then a look has found it changed */
};

/* What is to be asked of a port: a mask of rd_pma_attributes. */
int fabric_subsets(const struct fabric_opts *opts, uint64_t *ret, struct rd_err *err);

/* Chooses and opens the port and finds the network. `err` says what keeps us from it, and what to do. */
int fabric_begin(struct rd_source *source, const struct fabric_opts *opts, struct fabric_run *run, struct rd_err *err);

/* Looks at all ports once. Walks over the network first if the look before has found it changed, not more often than each
 * five seconds; and each 30 seconds, for what is new. */
int fabric_look(struct fabric_run *run, struct rd_err *err);

void fabric_end(struct fabric_run *run);

/* For capture --fabric: asks what counters --fabric asks. */
int fabric_record(struct rd_source *source, struct rd_err *err);

#endif
