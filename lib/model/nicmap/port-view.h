/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What analysis concludes about RDMA ports. It stands beside what was collected of them (model/host/host.h), which nobody
 * changes: a view of each, in the same order.
 */
#ifndef RD_MODEL_PORT_VIEW_H
#define RD_MODEL_PORT_VIEW_H

#include "model/host/host.h"

/* What a port is used for, and how sure that is stands in the reason. */
enum rd_role { RD_ROLE_UNKNOWN = 0, RD_ROLE_COMPUTE, RD_ROLE_STORAGE, RD_ROLE_MANAGEMENT };

/* "compute", "storage", "management"; NULL for unknown. */
const char *rd_role_name(enum rd_role role);

struct rd_port_view {
	int gid;	     /* index into the port's gids that RoCE programs should use; -1: none is good */
	const char *gid_why; /* static; NULL: not looked at */
	int gid_nccl; /* index into gids that NCCL takes by itself, without a variable; -1: an empty one, or none */
	enum rd_role role;
	char *role_why; /* owned; NULL: not looked at */
	bool spare; /* unknown role, and down as its like on every card of this kind: no cable, no address. No fault */
};

struct rd_port_views {
	const struct rd_host *host; /* outlives the views, and stays where it is */
	struct rd_port_view *v;	    /* v[p] is of host->ports[p] */
	size_t n;
};

/* Views of all ports of `host`, about which nothing is concluded yet. */
void rd_port_views_init(struct rd_port_views *views, const struct rd_host *host);
/* Of zeroed views nothing is released. */
void rd_port_views_deinit(struct rd_port_views *views);

/* Has no role, and is not judged by itself: spare, a virtual function of a device of this host, or a soft device. */
bool rd_port_is_aside(const struct rd_port_views *views, size_t port);

/* The index in the GID table of the GID that programs should use; -1: none is good. */
int rd_port_gid_index(const struct rd_port_views *views, size_t port);

/* Of a RoCE port: which GID NCCL takes without a variable: "index 0 (fe80::1, RoCE v1)". Caller frees. */
char *rd_port_nccl_gid(const struct rd_port_views *views, size_t port);

#endif
