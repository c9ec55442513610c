/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conclusions about RDMA ports: a view per port, in the order of the collected ports (model/host/host.h), which are not
 * changed.
 */
#ifndef RD_MODEL_PORT_VIEW_H
#define RD_MODEL_PORT_VIEW_H

#include "model/host/host.h"
#include "model/host/netstate.h"

/* What a port is used for. */
enum rd_role { RD_ROLE_UNKNOWN = 0, RD_ROLE_COMPUTE, RD_ROLE_STORAGE, RD_ROLE_MANAGEMENT };

/* "compute", "storage", "management"; NULL for unknown. */
const char *rd_role_name(enum rd_role role);

struct rd_port_view {
	int gid;	     /* index into the port's gids that RoCE programs should use; -1: none usable */
	const char *gid_why; /* static; NULL: not determined */
	int gid_nccl;	     /* index into gids that NCCL uses without a variable; -1: an empty one, or none */
	enum rd_role role;
	char *role_why; /* owned; NULL: not determined */
	bool spare; /* role unknown; down like the same port of every card of this kind, without cable and address: no fault */
};

struct rd_port_views {
	const struct rd_host *host; /* outlives the views, and is not moved */
	struct rd_port_view *v;	    /* v[p] is of host->ports[p] */
	size_t n;
	const struct rd_netstate *net;	/* NULL: not read */
	const struct rd_system *system; /* the same */
};

/* Views of all ports of `host`, without conclusions. */
void rd_port_views_init(struct rd_port_views *views, const struct rd_host *host);
/* Zeroed views need no release. */
void rd_port_views_deinit(struct rd_port_views *views);

/* Whether the port has no role and is not checked: spare, a virtual function of a device of this host, or a soft device. */
bool rd_port_is_aside(const struct rd_port_views *views, size_t port);

/* The GID index that programs should use; -1: none usable. */
int rd_port_gid_index(const struct rd_port_views *views, size_t port);

/* The GID of a RoCE port that NCCL uses without a variable: "index 0 (fe80::1, RoCE v1)". Caller frees. */
char *rd_port_nccl_gid(const struct rd_port_views *views, size_t port);

#endif
