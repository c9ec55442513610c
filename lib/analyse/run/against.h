/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds what nic-map concludes about a host against what a run did. Where the two differ the likely reason is named, looked for
 * in this order: a variable that the run had; the view of a container or virtual machine; a port that is down now; another
 * version of NCCL; a network plugin; the search for rings and trees, which may take NICs beyond a GPU's own. What cannot be told
 * is unknown, never wrong. Pure.
 */
#ifndef RD_ANALYSE_AGAINST_H
#define RD_ANALYSE_AGAINST_H

#include "model/host/system.h"
#include "model/nicmap/against.h"
#include "model/nicmap/nicmap.h"
#include "model/nicmap/runlog.h"

/* `run`: the host of `log` that is this host, which is called `name` (NULL: not known). `system`: as in rd_nccl_fill. */
void rd_against_log(const struct rd_host *host, const struct rd_system *system, const struct rd_nicmap *map,
		    const struct rd_runlog *log, const struct rd_run_host *run, const char *name,
		    struct rd_against *ret);

/* `file`: a topology file as rd_collect_nccl_xml read it; `gdr`: what it says of GPUDirect, one NIC each (may be NULL). */
void rd_against_topology(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_host *file,
			 const struct rd_run_host *gdr, struct rd_against *ret);

/* What changed in NCCL, by the release that had it first; read from its tags. */
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
/* Whether the log's NCCL is older than that; `ret`: a sentence, which the caller frees. */
bool rd_nccl_lacks(const struct rd_runlog *log, enum rd_nccl_change change, char **ret);

#endif
