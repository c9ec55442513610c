/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that hold a prediction against a run. */
#ifndef RD_ANALYSE_AGAINST_PRIV_H
#define RD_ANALYSE_AGAINST_PRIV_H

#include "analyse/run/against.h"

struct rd_against_state {
	const struct rd_host *host;
	const struct rd_nicmap *map; /* as it is without variables */
	const struct rd_runlog *log;
	const struct rd_run_host *run;
	const char *name;     /* of this host; NULL: not known */
	bool *allowed;	      /* one a port: what NCCL_IB_HCA, as the run had it, lets through; owned */
	struct rd_nicmap own; /* NCCL's part, recomputed with what the run had */
	struct rd_against *ret;
};

/* The finding for rows that differ for one reason; rows with the same problem and reason share one. */
struct rd_against_problem {
	const char *id, *title, *why;
	enum rd_severity severity;
};

extern const struct rd_against_problem rd_against_not_here, rd_against_down;

/* Add a row; all texts but `topic` are taken over, also on failure. */
void rd_against_same(struct rd_against_state *st, const char *topic, char *subject, char *predicted, char *observed,
		     char *reason);
void rd_against_unknown(struct rd_against_state *st, const char *topic, char *subject, char *predicted, char *observed,
			char *reason);
/* `fix` may be NULL. */
void rd_against_differs(struct rd_against_state *st, const char *topic, const struct rd_against_problem *problem,
			char *subject, char *predicted, char *observed, char *reason, char *fix);

/* Fills `allowed` and `own`. */
void rd_against_recompute(struct rd_against_state *st, const struct rd_system *system);

/* The parts. */
void rd_against_network(struct rd_against_state *st);
void rd_against_devices(struct rd_against_state *st);
void rd_against_gpus(struct rd_against_state *st);
void rd_against_stacks(struct rd_against_state *st);

/* Whether NCCL's InfiniBand transport can use it: active, and InfiniBand or Ethernet. */
bool rd_against_usable(const struct rd_host *host, size_t port);
/* The device of a name in a log: "mlx5_0", "mlx5_0_dma", of a merged NIC the first; -1. */
int rd_against_ibdev(const struct rd_host *host, const char *name);
/* The network that the run took; NULL: the log does not say. */
const char *rd_against_observed(const struct rd_run_host *run);
/* The run took the InfiniBand transport, NCCL's own or one built like it. */
bool rd_against_is_ib(const char *network);
/* The accelerator; -1: it is not here, or the log does not say. */
int rd_against_gpu(const struct rd_against_state *st, const struct rd_run_gpu *gpu);
int rd_against_gpu_of_rank(const struct rd_against_state *st, unsigned rank);
/* "the run had NAME=VALUE", of the first of these that the log says was set; NULL: none. Caller frees. */
char *rd_against_variable(const struct rd_against_state *st, const char *const *names, size_t n);
/* The log names another host than this one: a container's name, or the log is not of this host. */
bool rd_against_other_name(const struct rd_against_state *st);

#endif
