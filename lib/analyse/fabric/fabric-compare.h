/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a fabric with its saved topology: nodes and cables that are missing, extra, moved, replaced or slower. */
#ifndef RD_ANALYSE_FABRIC_COMPARE_H
#define RD_ANALYSE_FABRIC_COMPARE_H

#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/*
 * Nodes are matched by GUID, cables by the ports at both ends. A node that is not in the saved topology, and is at the cable of a missing
 * node of the same kind, is its replacement: its cables are compared with those of the missing node. Cables of a missing or
 * extra node are not reported; a moved cable is reported once, at the end that stayed. What the latest walk did not
 * reach (fabric-reach.h) is counted in a finding that it is unknown.
 */
void rd_fabric_compare(const struct rd_fabric *plan, const struct rd_fabric *now, struct rd_findings *findings);

#endif
