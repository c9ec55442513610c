/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares what nic-map predicts for a host with what a run did. For a difference the likely reason is given, tried in this
 * order: a variable of the run; a container or virtual machine; a port that is down now; another version of NCCL; a network
 * plugin; the search for rings and trees, which may use NICs other than a GPU's own. What cannot be determined is unknown,
 * never a difference. Pure.
 */
#ifndef RD_ANALYSE_AGAINST_H
#define RD_ANALYSE_AGAINST_H

#include "model/host/system.h"
#include "model/nicmap/nicmap.h"
#include "model/nicmap/runlog.h"

/* `run`: the part of `log` that is of this host; `name`: host name (NULL: unknown). `system`: as in rd_nccl_fill. */
void rd_against_log(const struct rd_host *host, const struct rd_system *system, const struct rd_nicmap *map,
		    const struct rd_runlog *log, const struct rd_run_host *run, const char *name,
		    struct rd_against *ret);

/* `file`: a topology file read by rd_collect_nccl_xml; `gdr`: its attributes for GPUDirect, per NIC (may be NULL). */
void rd_against_topology(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_host *file,
			 const struct rd_run_host *gdr, struct rd_against *ret);

#endif
