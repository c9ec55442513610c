/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Roles of ports. Pure. */
#ifndef RD_ANALYSE_ROLE_H
#define RD_ANALYSE_ROLE_H

#include "model/nicmap/nicmap.h"

/* Sets role, role_why and spare of every port, from rate, link layer, device, ports per card, bonds, routes, subnets and
 * distances. */
void rd_role_fill(const struct rd_host *host, struct rd_nicmap *map);

/* How many ports the card has, over all its functions. */
unsigned rd_card_ports(const struct rd_host *host, int ibdev);
/* Whether two devices are on one card: functions of one PCI device, or the same device. */
bool rd_same_card(const struct rd_host *host, int a, int b);

#endif
