/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion trees. A port waits for credits because its neighbour does not empty its receive buffer: the neighbour is a slow
 * receiver, or a switch whose own egress ports wait or are saturated. So a wait is followed from port to port until the neighbour
 * does not wait: the root.
 */
#ifndef RD_ANALYSE_FABRIC_TREES_H
#define RD_ANALYSE_FABRIC_TREES_H

#include "analyse/fabric/fabric-judge.h"

/*
 * Adds one finding, fabric-congested, for each tree of ports whose wait share exceeds XmitWaitPercent: its subject is the root, its
 * severity that of the port that waits longest. Where several egress ports of a switch wait, a port before it is attributed to the
 * one that waits longest: counters do not show which packets wait for which port.
 */
void rd_fabric_judge_trees(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
			   struct rd_findings *findings);

#endif
