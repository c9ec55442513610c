/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The UDP source port of a RoCE v2 flow, which switches hash to select one of several equal-cost paths. */
#ifndef RD_ANALYSE_UDP_SPORT_H
#define RD_ANALYSE_UDP_SPORT_H

#include "model/rdma/qp.h"

/*
 * The kernel's rule (include/rdma/ib_verbs.h: rdma_get_udp_sport and what it calls, since 5.6): the flow label of the path if
 * one was set, else one computed from the two queue pair numbers, folded into 0xc000 to 0xffff. Drivers follow it for connected
 * queue pairs; an application may configure another port.
 */
uint32_t rd_flow_label_of_qps(uint32_t lqpn, uint32_t rqpn);
uint16_t rd_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn);

/* Adds the port to what was recorded of queue pair `lqpn`, if its path is RoCE: it has a flow label, possibly 0, and no LID. */
void rd_qp_seen_add_sport(struct rd_qp_seen *seen, uint32_t lqpn, bool has_lid);

#endif
