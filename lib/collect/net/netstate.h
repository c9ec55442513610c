/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills struct rd_netstate from a source; one file per kernel interface. */
#ifndef RD_COLLECT_NETSTATE_H
#define RD_COLLECT_NETSTATE_H

#include "collect/shared/nlattr.h"
#include "collect/shared/sysfs.h"
#include "model/host/netstate.h"

/*
 * Collects everything. `host` has the interfaces of RDMA ports. Settings that cannot be read are unknown in `net`; denied reads
 * are also added to `errors` (may be NULL). The caller zeroes `net`, and deinitialises it.
 */
void rd_collect_netstate(struct rd_source *src, const struct rd_host *host, struct rd_netstate *net,
			 struct rd_errlist *errors);

/* The parts. Links must be collected first. */
void rd_collect_links(const struct rd_sysfs *fs, struct rd_netstate *net);
void rd_collect_ifaddrs(const struct rd_sysfs *fs, struct rd_netstate *net);
void rd_collect_routes(const struct rd_sysfs *fs, struct rd_netstate *net);
void rd_collect_neighs(const struct rd_sysfs *fs, struct rd_netstate *net);

/* A route lookup: "ip route get DST from SRC oif INTERFACE". */
struct rd_route_query {
	bool v6, has_src;
	uint8_t dst[16], src[16];
	unsigned ifindex; /* 0: any */
	bool exact;	  /* of an interface without a route to it: not that the kernel takes it to be on its link */
};
/* *code: 0, then *ret is the route; positive: the errno for which the kernel has no route (ENETUNREACH, EHOSTUNREACH …); -1: it
 * could not be asked. */
void rd_collect_route(const struct rd_sysfs *fs, const struct rd_route_query *query, struct rd_route *ret, int *code);

/* Of one interface. */
void rd_collect_dcb(const struct rd_sysfs *fs, const char *netdev, struct rd_dcb *ret);
void rd_collect_devlink(const struct rd_sysfs *fs, struct rd_netstate *net);
void rd_collect_firewall(const struct rd_sysfs *fs, struct rd_netstate *net);

/* IDs of generic netlink families; 0: not supported by the kernel. */
struct rd_ethfamilies {
	uint16_t ethtool, netdev;
};
/* ethtool settings and queues of one interface. */
void rd_collect_ethstate(const struct rd_sysfs *fs, const struct rd_ethfamilies *families, struct rd_netif *netif);

/* Requests a dump and calls `fn` for each message. RD_OK, RD_DENIED (added to fs->errors), RD_ABSENT. */
enum rd_known rd_netstate_dump(const struct rd_sysfs *fs, int protocol, const void *request, size_t size,
			       rd_nlmsg_fn *fn, void *arg);

#endif
