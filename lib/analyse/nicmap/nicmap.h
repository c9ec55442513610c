/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_NICMAP_H
#define RD_ANALYSE_NICMAP_H

#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

/* Draws all conclusions: GIDs, distances, roles, assignments and backups. `system` may be NULL, as in
 * rd_nccl_fill; `pes` as in rd_nvshmem_choose. `ret` is zeroed by the caller. */
void rd_nicmap_analyse(const struct rd_host *host, const struct rd_system *system, unsigned pes, struct rd_nicmap *ret);

/* Roles of ports. Pure. */

/* Sets role, role_why and spare of every port, from rate, link layer, device, ports per card, bonds, routes, subnets and
 * distances. */
void rd_role_fill(const struct rd_host *host, struct rd_nicmap *map);

/* How many ports the card has, over all its functions. */
unsigned rd_card_ports(const struct rd_host *host, int ibdev);
/* Whether two devices are on one card: functions of one PCI device, or the same device. */
bool rd_same_card(const struct rd_host *host, int a, int b);

#endif
