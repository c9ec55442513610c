/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: discovering a network and reading its counters. */
#ifndef RD_CMD_FABRIC_H
#define RD_CMD_FABRIC_H

#include <time.h>

#include "analyse/fabric/fabric.h"
#include "analyse/shares/fabric-shard.h"
#include "cmd/cmd.h"
#include "cmd/repeat.h"
#include "collect/fabric/fabric.h"
#include "report/fabric/report-fabric.h"

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

static inline uint64_t fabric_now(const struct fabric_run *run)
{
	return run->source->ops->now(run->source, CLOCK_MONOTONIC);
}

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

/* counters --fabric: declarations shared by the files of the command. */

struct fabric_cmd {
	struct fabric_opts engine;
	bool merge, all, plan, live, routes, nonzero;
	const char *path; /* the source of --path; the operand is the destination */
	const char *shard, *shards, *topology, *compare, *save_topology, *thresholds, *record;
	unsigned record_mb; /* of a file; 0: default */
	struct rd_repeat repeat;
};

/* Number of latest sweeps whose durations are kept for their spread. */
#define FABRIC_SWEEPS 1024

struct fabric_session {
	struct rd_ctx *ctx;
	struct fabric_cmd *cmd;
	struct fabric_run run;
	struct rd_fabric_limits limits;
	struct rd_fabric_history history;
	struct rd_fabric plan;		/* of --compare */
	struct rd_texts hosts;		/* of --shards */
	unsigned long shard_k, shard_n; /* of --shard; n 0: none */
	struct rd_shards shards;
	ssize_t shard; /* index of the share of this host; -1: the ports are not divided */
	double durations[FABRIC_SWEEPS];
	size_t n_durations;
	/* Of repeated sweeps. */
	uint64_t documented_ns; /* on standard output; see fabric_session_report */
	struct rd_fabric_latches latches;
	size_t latched; /* n_durations of the sweep that was latched last */
	int worst;	/* exit code of all sweeps so far */
};

/* Discovers the network. */
int fabric_session_begin(struct fabric_session *s, struct rd_err *err);

/* Sweeps once, and keeps the duration; if it fails, counts that. */
int fabric_session_sweep(struct fabric_session *s, struct rd_err *err);

/* Fills a report of the latest sweep: findings, sections, status, metrics if requested. `picked`, `order`: see struct
 * rd_fabric_shown. `documented_ns`: it becomes a document; discovered_ns of the network of which an earlier one has all ports, 0 if
 * none has: this one then has them. NULL: a table. */
void fabric_session_report(struct fabric_session *s, const bool *picked, const size_t *order, uint64_t *documented_ns,
			   struct rd_report *report);

/* "0 critical, 1 warning; 40 nodes, 96 ports read in 0.012 s": without the port, as a narrow terminal shows what was found. */
void fabric_verdict(const struct fabric_session *s, const struct rd_report *report, struct rd_buf *out);

/* Of repeated sweeps, when they end: the exit code, and the findings that led to it, with their times. */
void fabric_summary(const struct fabric_session *s, struct rd_buf *out);

int fabric_live(struct fabric_session *s);

/* --path and --routes; an exit code. */
int fabric_path(struct fabric_session *s, const char *from, const char *to);
int fabric_routes(struct fabric_session *s);

/* --merge: reads the files `argv`; needs no network. */
int fabric_merge(struct fabric_session *s, int argc, char **argv);

/*
 * counters --fabric --record: in FILE.csv a row for each port that this host reads and each sweep, so that a database loads the
 * file; in FILE.jsonl the documents of --json. A sweep is written whole or not at all; sweeps that do not fit on a full disk are
 * dropped, reported and counted, and recording continues when there is space.
 */
struct fabric_record {
	struct rd_buf out; /* of the sweep, written in pieces; the first member */
	struct fabric_session *s;
	const char *path;
	bool rows; /* .csv */
	char *host;
	int fd;
	uint64_t documented_ns; /* see fabric_session_report */
	uint64_t size;		/* whole sweeps */
	uint64_t added;		/* size of the sweep that is written */
	int error;		/* -errno of writing it */
	uint64_t sweeps, lost;
	bool refused, unrotated;
};

/* Replaces an older recording in the same format; another file is refused (-EEXIST), as is another suffix (-EINVAL); links are not
 * followed. `record` must be closed in any case. */
int fabric_record_open(struct fabric_session *s, const char *path, struct fabric_record *record, struct rd_err *err);
void fabric_record_close(struct fabric_record *record);

/* Writes the latest sweep. */
void fabric_record_add(struct fabric_record *record);

/* -ENOSPC if sweeps were lost. */
int fabric_record_finish(struct fabric_record *record, struct rd_err *err);

#endif
