/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The UDP source port of a RoCE v2 flow, by which switches tell equal-cost paths apart. */
#ifndef RD_ANALYSE_UDP_SPORT_H
#define RD_ANALYSE_UDP_SPORT_H

#include "base/base.h"

/*
 * The kernel's rule (include/rdma/ib_verbs.h: rdma_get_udp_sport and what it calls, since 5.6): the flow label of the path if
 * one was set, else one made of the two queue pair numbers, folded into 0xc000 to 0xffff. Drivers follow it for connected
 * queue pairs; a device may be told otherwise by the application.
 */
uint32_t rd_flow_label_of_qps(uint32_t lqpn, uint32_t rqpn);
uint16_t rd_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn);

#endif
