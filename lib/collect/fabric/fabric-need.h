/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which queries a sweep by need can leave out, and what is known without them.
 *
 * An agent with AllPortSelect returns, for PortSelect 255, each counter of PortCounters summed over its ports (InfiniBand
 * Architecture Specification, volume 1, 16.1.3.5). Counters are not negative and do not decrease unless they are cleared: if a sum
 * is 0, the counter of every port is 0; if it is the same as before and below its maximum, no port's counter has changed.
 */
#ifndef RD_FABRIC_NEED_H
#define RD_FABRIC_NEED_H

#include "model/fabric/fabric.h"

/* Number of sums: up to the data and packet counters of PortCounters. */
#define RD_PMA_SUMS (RD_C_RCV_PKTS + 1)

/* Whether to query the sums of a switch, of which `n` ports are read. */
bool rd_need_sums(const struct rd_fabric_node *node, size_t n);

/* Whether sums are credible: an agent without a packet on any of its ports has not summed them, as the query itself is a packet. */
bool rd_need_credible(const struct rd_pma_value *sums);

/*
 * Sets those of `values` (fabric->n_values) that follow from the sums of the port's node, and are unknown so far. Returns whether
 * one that is needed does not follow, so that the port must be read: an error or drop or, if fabric->traffic, PortXmitWait. Call it
 * before the sums are stored in the node.
 */
bool rd_need_conclude(const struct rd_fabric *fabric, const struct rd_fabric_port *port,
		      const struct rd_pma_value *sums, struct rd_pma_value *values);

/*
 * Whether to query PortRcvErrorDetails or PortXmitDiscardDetails (`attribute`: index into rd_pma_attributes): if the counter that
 * they divide is above 0, and has changed since they were read. If it has not, their previous values are copied. At 0 they are
 * unknown, not 0: both can be cleared separately.
 */
bool rd_need_details(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t attribute,
		     struct rd_pma_value *values);

/* Whether the ports read one by one count more than their sum: then the agent does something else than adding. */
bool rd_need_contradicts(const struct rd_pma_value *sums, const uint64_t *added);

#endif
