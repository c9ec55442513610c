/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts made by hand, for tests of what is concluded about them. */
#ifndef RD_UNIT_NICMAP_HOST_H
#define RD_UNIT_NICMAP_HOST_H

#include "model/nicmap/nicmap.h"

/* Each returns an index. `parent`: that of a bridge, -1 for a root bus. */
int made_bridge(struct rd_host *host, const char *addr, int parent, const char *root, int numa);
int made_gpu(struct rd_host *host, const char *addr, int parent, const char *root, int numa);
/* One port, ACTIVE, InfiniBand, PCI Express 5.0 x16. Returns the device. */
int made_nic(struct rd_host *host, const char *name, const char *addr, int parent, const char *root, int numa,
	     double gbps);
/* A root port with a switch below; returns the upstream port. `bus`: the root port's; the switch takes the next two. */
int made_switch(struct rd_host *host, unsigned bus, const char *root, int numa);
/* A downstream port of the switch, for one endpoint. */
int made_port_of(struct rd_host *host, int upstream, unsigned n);

struct rd_port *made_port(struct rd_host *host, int ibdev);
void made_gid(struct rd_host *host, int ibdev, unsigned index, const char *ip, enum rd_gid_type type,
	      const char *netdev);
/* Several: "INDEX VERSION ADDRESS[@INTERFACE], …", VERSION being v1 or v2 of RoCE, or v? where it is hidden. Without "@" they are of
 * eth0, and with nothing behind it of no interface. */
void made_gids(struct rd_host *host, int ibdev, const char *list);
int made_netdev(struct rd_host *host, const char *name);

/* Concludes all again, for so many processes (0: one an accelerator); `map` was zeroed, or filled by this. */
void made_analyse(const struct rd_host *host, unsigned processes, struct rd_nicmap *map);

#endif
