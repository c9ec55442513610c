/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that collect interfaces. */
#ifndef RD_COLLECT_NETDEV_H
#define RD_COLLECT_NETDEV_H

#include "collect/host/host.h"
#include "model/host/netstate.h"

/* Addresses from rtnetlink: 0, or the errno of a source without netlink. */
int rd_collect_netaddr(const struct rd_sysfs *fs, struct rd_host *host);

/* Default routes from /proc/net; also addresses, if netlink is not available (a bare tree). */
void rd_collect_procnet(const struct rd_sysfs *fs, struct rd_host *host);

/* Decodes an rtnetlink message about an address. False: another message, or not an IP address. */
bool rd_ifaddr_decode(uint16_t type, const uint8_t *body, size_t size, struct rd_ifaddr *ret);

void rd_netdev_add_addr(struct rd_netdev *netdev, const struct rd_addr *addr);

#endif
