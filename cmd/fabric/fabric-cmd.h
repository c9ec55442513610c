/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: declarations shared by the files of the command. */

#ifndef RD_CMD_FABRIC_CMD_H
#define RD_CMD_FABRIC_CMD_H

#include "analyse/fabric/fabric-judge.h"
#include "analyse/fabric/fabric-update.h"
#include "analyse/shares/fabric-shard.h"
#include "cmd/repeat.h"
#include "fabric.h"
#include "model/fabric/fabric.h"
#include "report/fabric/report-fabric.h"

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
	struct rd_fabric plan; /* of --compare */
	char **hosts;	       /* of --shards */
	size_t n_hosts;
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
