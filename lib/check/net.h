/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about the network share. */
#ifndef RD_CHECK_NET_H
#define RD_CHECK_NET_H

#include "check/check.h"
#include "model/host.h"
#include "model/netstate.h"
#include "model/port-view.h"

/* The interface of an RDMA port over Ethernet; NULL: another link layer, or none in this network namespace. Calls `skip` or
 * `unknown` itself where nothing was read. */
const struct rd_netif *rd_check_roce_netif(const struct rd_check_input *in, size_t port);

/* "mlx5_0/1 (eth2)". `ret` has room for 160. */
void rd_check_port_subject(const struct rd_check_input *in, size_t port, const struct rd_netif *netif, char *ret);

/* Whether the device of a port has no hardware of its own: the kernel's stack carries its packets. */
bool rd_check_is_soft(const struct rd_host *host, const struct rd_port *port);

/* Whether an interface is on a port whose role is known, or above or below one that is. */
bool rd_check_netif_role_known(const struct rd_check_input *in, const struct rd_netif *netif);

/* "3,4", or "none". Caller frees. */
char *rd_check_prios(uint8_t mask);

#endif
