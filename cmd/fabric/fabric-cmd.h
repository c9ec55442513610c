/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: declarations shared by the files of the command. */

#ifndef RD_CMD_FABRIC_CMD_H
#define RD_CMD_FABRIC_CMD_H

#include "analyse/fabric/fabric-history.h"
#include "analyse/fabric/fabric-judge.h"
#include "analyse/fabric/fabric-rank.h"
#include "analyse/shares/fabric-shard.h"
#include "cmd/record-file.h"
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
	uint64_t documented_ns; /* discovered_ns of the network of which a document has all ports; 0: none has */
	struct rd_fabric_latches latches;
	size_t latched; /* n_durations of the sweep that was latched last */
	int worst;	/* exit code of all sweeps so far */
};

/* Discovers the network. */
int fabric_session_begin(struct fabric_session *s, struct rd_err *err);

/* Keeps an exit code if it is the worst so far; 3 is better than 1. */
void fabric_session_keep_status(struct fabric_session *s, int status);

/* Sweeps once, and keeps the duration; if it fails, counts that. */
int fabric_session_sweep(struct fabric_session *s, struct rd_err *err);

/* Fills a report of the latest sweep: findings, sections, status, metrics if requested. `picked`, `order`: see struct
 * rd_fabric_shown. */
void fabric_session_report(struct fabric_session *s, const bool *picked, const size_t *order, struct rd_report *report);

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

/* A counter of a port: what was last written of it. */
struct fabric_track {
	bool defined, written; /* the series, and a point of it, is in the file */
	bool known, increased; /* of the last point */
	uint64_t value;
};

/* A port; kept until the end of the recording, even if it disappears. */
struct fabric_recorded {
	uint64_t key; /* of its GUID and number */
	size_t id;    /* from 0 */
	char *device; /* "leaf 3 0x…": names alone may not be unique */
	size_t first; /* its first counter in the file; RD_NONE: none */
	enum rd_presence presence;
	enum { UNTOLD, TOLD_READ, TOLD_UNREAD } told; /* the latest event of it in the file */
	/* Our own MADs that can have passed it, since the recording began; at the start of the sweep that its latest values are of. */
	uint64_t passed, passed_before;
	struct fabric_track *tracks;
};

struct fabric_record {
	struct record_file to;
	struct fabric_recorded *ports; /* sorted by key */
	size_t n, cap;
	size_t n_values, series;
	uint64_t discovered_ns; /* of the network added last */
};

int fabric_record_open(struct rd_ctx *ctx, const char *path, struct fabric_record *record, struct rd_err *err);
void fabric_record_close(struct fabric_record *record);

/*
 * Writes what moved since the previous sweep: errors that counted; data and packets that counted more than our own MADs can explain.
 * At first, errors that are not 0, and an event for each port: read, or not read. Another event is written when that changes.
 *
 * Every query and every response passes a port at most once in each direction. At the cable of an adapter, only those of its LID pass,
 * and those of the walk that go there; elsewhere all can, as the routes are not known. Between two readings of a port are at most
 * the MADs of both sweeps.
 */
void fabric_record_add(struct fabric_record *record, const struct rd_fabric *fabric, uint64_t time_ns);

/* Completes the file. */
int fabric_record_finish(struct fabric_record *record, struct rd_err *err);

/*
 * counters --fabric --record FILE.csv: a row for each port that this host reads and each sweep, so that a database loads the
 * file. A sweep is written whole or not at all; sweeps that do not fit on a full disk are dropped, reported and
 * counted, and recording continues when there is space.
 */

#define FABRIC_CSV_KEPT 4 /* full files: FILE.1, the newest, to FILE.4 */
#define FABRIC_CSV_MB 128 /* of a file, unless --record-size is given */

struct fabric_csv {
	struct fabric_session *s;
	const char *path;
	char *host;
	int fd;
	uint64_t size; /* whole sweeps */
	uint64_t sweeps, lost;
	bool refused, unrotated;
	struct rd_buf out;
};

/* Whether the name is that of such a recording. */
bool fabric_csv_wanted(const char *path);

/* Replaces an older recording; another file is refused (-EEXIST), links are not followed. `csv` must be closed in any case. */
int fabric_csv_open(struct fabric_session *s, const char *path, struct fabric_csv *csv, struct rd_err *err);
void fabric_csv_close(struct fabric_csv *csv);

/* Writes the latest sweep. */
void fabric_csv_add(struct fabric_csv *csv, uint64_t time_ns);

/* -ENOSPC if sweeps were lost. */
int fabric_csv_finish(struct fabric_csv *csv, struct rd_err *err);

#endif
