/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the linear forwarding tables of switches. */
#ifndef RD_COLLECT_TABLES_H
#define RD_COLLECT_TABLES_H

#include "collect/fabric/sweep.h"
#include "model/fabric/fabric.h"

/*
 * Queries SwitchInfo of all switches, then those blocks of their tables that have one of the LIDs (NULL: any LID of the fabric).
 * SMPs are routed by LID; what gets no response is queried again with directed routes, which do not depend on the tables: at most
 * `walk->window` of those are in flight. What neither reaches stays unread. -errno only if the local port failed.
 */
int rd_routes_read(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_sweep_limits *walk,
		   const struct rd_fabric *fabric, const uint16_t *lids, size_t n_lids, struct rd_routes *routes,
		   struct rd_err *err);

#endif
