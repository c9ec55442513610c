/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fabric held against the plan of it: nodes and cables that are missing, too many, moved, swapped or slower. */
#ifndef RD_ANALYSE_FABRIC_COMPARE_H
#define RD_ANALYSE_FABRIC_COMPARE_H

#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/*
 * Nodes are the same by their GUID, cables by the ports at both ends. A node that is not in the plan and sits at a cable of
 * one of the same kind that is missing is its replacement: its cables are held against those of the other. Of a missing or
 * an extra node no cable is named again; a cable that was moved is named once, at the end that stayed.
 */
void rd_fabric_compare(const struct rd_fabric *plan, const struct rd_fabric *now, struct rd_findings *findings);

#endif
