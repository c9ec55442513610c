/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host says about the objects of a failed call, read right after it. Facts only; rules in lib/diagnose judge them. */
#ifndef RD_MODEL_FAILURE_H
#define RD_MODEL_FAILURE_H

#include "model/host/netstate.h"
#include "model/host/system.h"
#include "model/rdma/qp.h"
#include "model/trace/event.h"

/* Groups of facts that a rule may need. What is not requested is not read. */
enum rd_fact {
	RD_FACT_DEVICE = 1 << 0,  /* device and port */
	RD_FACT_LIMITS = 1 << 1,  /* attributes of the device from libibverbs */
	RD_FACT_GID = 1 << 2,	  /* the source GID that the request names, now and when the trace began */
	RD_FACT_NET = 1 << 3,	  /* interfaces and addresses */
	RD_FACT_PATH = 1 << 4,	  /* route and neighbour of the destination */
	RD_FACT_OBJECTS = 1 << 5, /* objects of the device, their numbers and owners */
	RD_FACT_CM_IDS = 1 << 6,  /* all rdma_cm_ids, and the ports of all devices */
	RD_FACT_CGROUP = 1 << 7,  /* limits of RDMA objects in the cgroup of the caller and above */
	RD_FACT_LOG = 1 << 8,	  /* kernel messages of the last two seconds before the call returned */
	RD_FACT_MEMORY = 1 << 9,  /* memory of the cgroup, huge pages, modules for memory of accelerators */
};

/* An attribute of the device: "max_sge". */
struct rd_dev_attr {
	char *name;
	uint64_t value;
};

/* A GID table entry. known: RD_ABSENT: the entry is empty; RD_DENIED: not readable. */
struct rd_gid_entry {
	enum rd_known known;
	uint8_t raw[16];
	enum rd_gid_type type;
	char *netdev; /* NULL: not in this network namespace */
};

struct rd_fail_device {
	enum rd_known known; /* RD_ABSENT: no such device; RD_DENIED: not readable */
	unsigned n_ports;    /* 0: not readable */
	unsigned port;	     /* that the other fields are of; 0: none */
	char *link_layer, *state, *phys_state;
	bool other_type;	       /* its node type is not CA: iWARP, usNIC */
	char *driver;		       /* NULL: none, as of a soft device */
	char *pci;		       /* NULL: none */
	char *netdev;		       /* first interface of the port; NULL: none in this network namespace */
	unsigned n_gids, n_pkeys;      /* entries of the tables; 0: not readable */
	RD_FIELD(uint64_t) active_mtu; /* bytes */
};

/* What the rdma controller limits: a handle is an open device; all other objects are counted together. */
enum rd_rdma_resource { RD_RDMA_HANDLES, RD_RDMA_OBJECTS, RD_RDMA_RESOURCES };

/* Limits of one control group. */
struct rd_rdma_cgroup {
	char *path; /* below the mount of the unified hierarchy */
	struct {
		RD_FIELD(uint64_t) max, now; /* UINT64_MAX: max */
	} of[RD_RDMA_RESOURCES];	     /* of the device of the event */
};

/* Of the control groups of the caller that limit a kind of memory, the one with least of it left. */
struct rd_memory_group {
	char *path;				   /* NULL: none limits it */
	RD_FIELD(uint64_t) max, current, failures; /* bytes; failures: "max" of its file of events */
};

struct rd_fail_memory {
	struct rd_memory_group group, huge_group;		 /* memory; huge pages of the size of the range */
	RD_FIELD(uint64_t) huge_total, huge_free, huge_reserved; /* pages of that size */
	RD_FIELD(bool) refuses_files; /* the kernel pins no pages that a file system writes back */
	RD_FIELD(bool) peer_module;   /* a module that lets NICs pin memory of accelerators is loaded */
	RD_FIELD(uint64_t) corrupted; /* bytes that the kernel took out of use after memory errors */
};

struct rd_failure {
	const struct rd_event *event;
	const struct rd_fnset *set;
	unsigned read; /* enum rd_fact: groups that were read */
	bool other_net_ns; /* the caller is in a network namespace other than ours: its addresses and routes are not readable */
	struct rd_fail_device dev;
	struct rd_dev_attr *attrs; /* sorted by name; belong to a cache of the collector */
	size_t n_attrs;
	unsigned gid_index;
	struct rd_gid_entry gid, gid_before; /* gid_before.known RD_DENIED: was not read of this device */
	struct rd_netstate net;
	struct rd_route route;
	int route_errno; /* positive: the kernel has no route; 0: see route; -1: not looked up */
	struct rd_res res;
	struct rd_rdma_cgroup *cgroups; /* of the caller, then its ancestors */
	size_t n_cgroups, cap_cgroups;
	enum rd_known cgroups_known;
	bool cgroups_v1;    /* control groups are of version 1: their limits are not read */
	struct rd_klog log; /* all of it; `log_first`: the first record that may be of the call */
	size_t log_first;
	struct rd_fail_memory memory;
};

void rd_failure_deinit(struct rd_failure *failure);

/* False: the device does not have this attribute, or it is not readable. */
bool rd_failure_attr(const struct rd_failure *failure, const char *name, uint64_t *ret);

/* Whether the name of the origin, without a suffix added by the compiler, matches a shell pattern, which may have @(one|another). */
bool rd_failure_origin_is(const struct rd_failure *failure, const char *pattern);

/* Whether the origin is outside of the modules of the RDMA core, as in a device driver: its errnos mean what their author meant. */
bool rd_failure_in_driver(const struct rd_failure *failure);

#endif
