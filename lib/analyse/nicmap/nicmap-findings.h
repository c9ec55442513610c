/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the map. Pure. */
#ifndef RD_ANALYSE_NICMAP_FINDINGS_H
#define RD_ANALYSE_NICMAP_FINDINGS_H

#include "model/nicmap/nicmap.h"

void rd_nicmap_judge(const struct rd_host *host, const struct rd_nicmap *map, struct rd_findings *ret);
/* The NICs to which a library would fail over. Released ones have no failover unless it is switched on. */
void rd_nicmap_judge_backup(const struct rd_nicmap *map, struct rd_findings *ret);

#endif
