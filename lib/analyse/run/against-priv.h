/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that compare a prediction with a run. */
#ifndef RD_ANALYSE_AGAINST_PRIV_H
#define RD_ANALYSE_AGAINST_PRIV_H

#include "analyse/run/against.h"

struct rd_against_state {
	const struct rd_host *host;
	const struct rd_nicmap *map; /* without the run's variables */
	const struct rd_runlog *log;
	const struct rd_run_host *run;
	const char *name;     /* of this host; NULL: unknown */
	bool *allowed;	      /* per port: allowed by the run's NCCL_IB_HCA; owned */
	struct rd_nicmap own; /* NCCL's part, recomputed with the run's variables and release */
	struct rd_against *ret;
};

extern const struct rd_finding rd_against_not_here, rd_against_down;

/* What a row compares; NULL: none. */
struct rd_against_pair {
	const char *topic, *subject, *predicted, *observed;
};

/* Add a row. `reason` and `fix` (either may be NULL) are taken over. `problem`: the finding for a kind of difference. */
void rd_against_same(struct rd_against_state *st, const struct rd_against_pair *pair, char *reason);
void rd_against_unknown(struct rd_against_state *st, const struct rd_against_pair *pair, char *reason);
void rd_against_differs(struct rd_against_state *st, const struct rd_against_pair *pair,
			const struct rd_finding *problem, char *reason, char *fix);

/* Changes in NCCL, by the first release that has them; read from its tags. */
enum rd_nccl_change {
	RD_NCCL_PXN,
	RD_NCCL_DMABUF,
	RD_NCCL_MERGE_VFS,
	RD_NCCL_DEAL,
	RD_NCCL_MERGE_NICS,
	RD_NCCL_MERGE_LEVEL,
	RD_NCCL_C2C,
	RD_NCCL_DATA_DIRECT,
	RD_NCCL_PCI_ORDER,
};
/* A sentence if the log's NCCL is older than the change, freed by the caller; else NULL. */
char *rd_against_lacks(const struct rd_runlog *log, enum rd_nccl_change change);

/* Compares all that the log of the run has. */
void rd_against_run(struct rd_against_state *st);
/* The part of it that is about GPUs. */
void rd_against_gpus(struct rd_against_state *st);

/* Whether NCCL's InfiniBand transport can use the port: active, and InfiniBand or Ethernet. */
bool rd_against_usable(const struct rd_host *host, size_t port);
/* The device named in a log: "mlx5_0", "mlx5_0_dma", the first of a merged NIC; -1: not found. */
int rd_against_ibdev(const struct rd_host *host, const char *name);
/* The network that the run used; NULL: not in the log. */
const char *rd_against_observed(const struct rd_run_host *run);
/* Whether this is NCCL's InfiniBand transport, or a plugin derived from it. */
bool rd_against_is_ib(const char *network);
/* The accelerator; -1: not on this host, or not in the log. */
int rd_against_gpu(const struct rd_against_state *st, const struct rd_run_gpu *gpu);
int rd_against_gpu_of_rank(const struct rd_against_state *st, unsigned rank);
/* "the run had NAME=VALUE" for the first of these variables that was set according to the log; NULL: none. Caller frees. */
char *rd_against_variable(const struct rd_against_state *st, const char *const *names, size_t n);
/* Whether the log has another host name: that of a container, or the log is of another host. */
bool rd_against_other_name(const struct rd_against_state *st);

#endif
