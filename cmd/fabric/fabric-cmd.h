/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: declarations shared by the files of the command. */
#ifndef RD_CMD_FABRIC_CMD_H
#define RD_CMD_FABRIC_CMD_H

#include "analyse/fabric/fabric-history.h"
#include "analyse/fabric/fabric-judge.h"
#include "analyse/fabric/fabric-rank.h"
#include "analyse/shares/fabric-shard.h"
#include "cmd/repeat.h"
#include "fabric.h"
#include "report/fabric/report-fabric.h"

struct fabric_cmd {
	struct fabric_opts engine;
	bool merge, all, plan, live, routes;
	const char *path; /* the source of --path; the operand is the destination */
	const char *shard, *shards, *topology, *compare, *save_topology, *thresholds, *record;
	unsigned record_mb; /* of a file; 0: default */
	struct rd_repeat repeat;
};

/* Runs the command; returns an exit code. */
int fabric_run(struct rd_ctx *ctx, int argc, char **argv);

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
	struct rd_fabric_latches latches;
	size_t latched; /* n_durations of the sweep that was latched last */
	int worst;	/* exit code of all sweeps so far */
};

/* Reads the files given by options: thresholds, the saved topology, the hosts. */
int fabric_session_init(struct rd_ctx *ctx, struct fabric_session *s, struct rd_err *err);
void fabric_session_deinit(struct fabric_session *s);

/* Discovers the network. */
int fabric_session_begin(struct fabric_session *s, struct rd_err *err);

/* Keeps an exit code if it is the worst so far; 3 is better than 1. */
void fabric_session_keep_status(struct fabric_session *s, int status);

/* Sweeps once, and keeps the duration; if it fails, counts that. */
int fabric_session_sweep(struct fabric_session *s, struct rd_err *err);

/* Divides the ports among the hosts; does not change the selection. */
int fabric_session_divide(struct fabric_session *s, const struct rd_fabric *fabric, struct rd_err *err);

/* The exit code of the findings: 3 if there is no fault, but something could not be compared. */
int fabric_status(const struct rd_report *report);

/* Fills a report of the latest sweep: findings, sections, status, metrics if requested. `picked`, `order`: see struct
 * rd_fabric_shown. */
void fabric_session_report(struct fabric_session *s, const bool *picked, const size_t *order, struct rd_report *report);

/* "fabric of mlx5_0/1: 0 critical, 1 warning; 40 nodes, 96 ports read in 0.012 s": the first line of the output. */
void fabric_headline(const struct fabric_session *s, const struct rd_report *report, struct rd_buf *out);

/* The same without the port: a narrow terminal shows what was found. */
void fabric_verdict(const struct fabric_session *s, const struct rd_report *report, struct rd_buf *out);

/* Of repeated sweeps, when they end: the exit code, and the findings that led to it, with their times. */
void fabric_summary(const struct fabric_session *s, struct rd_buf *out);

int fabric_live(struct fabric_session *s);

/* --path and --routes; an exit code. */
int fabric_path(struct fabric_session *s, const char *from, const char *to);
int fabric_routes(struct fabric_session *s);

/* --merge: reads the files `argv`; needs no network. */
int fabric_merge(struct fabric_session *s, int argc, char **argv);

/* Reads a topology file, always from this host. */
int fabric_read_topology(const char *path, struct rd_fabric *ret, struct rd_err *err);

#endif
