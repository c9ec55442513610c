/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source to struct rd_netstate, a file for each kernel interface. */
#ifndef RD_COLLECT_NETSTATE_H
#define RD_COLLECT_NETSTATE_H

#include "collect/shared/sysfs.h"
#include "model/host/netstate.h"

/*
 * Everything. `host` tells which interfaces are on RDMA ports. What could not be read is unknown in `net`; what was denied
 * is in `errors`, too (may be NULL). `net` is zeroed by the caller, and to be released in any case. 0 or -ENOMEM.
 */
int rd_collect_netstate(struct rd_source *src, const struct rd_host *host, struct rd_netstate *net,
			struct rd_errlist *errors, struct rd_err *err);

/* The parts; 0 or -ENOMEM. Links come first. */
int rd_collect_links(const struct rd_sysfs *fs, struct rd_netstate *net);
int rd_collect_ifaddrs(const struct rd_sysfs *fs, struct rd_netstate *net);
int rd_collect_routes(const struct rd_sysfs *fs, struct rd_netstate *net);
int rd_collect_neighs(const struct rd_sysfs *fs, struct rd_netstate *net);
/* Of one interface. */
void rd_collect_dcb(const struct rd_sysfs *fs, const char *netdev, struct rd_dcb *ret);
int rd_collect_devlink(const struct rd_sysfs *fs, struct rd_netstate *net);
int rd_collect_firewall(const struct rd_sysfs *fs, struct rd_netstate *net);

/* Numbers of the families of generic netlink; 0: the kernel has none. */
struct rd_ethfamilies {
	uint16_t ethtool, netdev;
};
/* ethtool's settings and the queues of one interface. */
void rd_collect_ethstate(const struct rd_sysfs *fs, const struct rd_ethfamilies *families, struct rd_netif *netif);

/* Asks a dump and hands each message to `fn`. RD_OK, RD_DENIED (noted in fs->errors), RD_ABSENT; *r is -ENOMEM or 0. */
enum rd_known rd_netstate_ask(const struct rd_sysfs *fs, int protocol, const void *request, size_t size,
			      int (*fn)(void *arg, uint16_t type, const uint8_t *body, size_t length), void *arg,
			      int *r);

#endif
