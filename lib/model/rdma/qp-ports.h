/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What queue pairs run over: the interfaces and GIDs of the ports of their devices. States of ports are in rd_res.ports. */
#ifndef RD_MODEL_QP_PORTS_H
#define RD_MODEL_QP_PORTS_H

#include "base/base.h"

#define RD_QP_PORT_IFS 16

struct rd_qp_port {
	int dev; /* index into rd_res.devs */
	uint32_t num;
	size_t at; /* index into rd_res.ports */
	/* Of its interface in this network namespace. */
	RD_FIELD(bool) admin_up, carrier;
	RD_FIELD(uint32_t) mtu;
	RD_FIELD(double) rate_gbps; /* of its link; read only if a PSN fell */
	bool was_down;		    /* DOWN or INIT in the previous sample */
	/* Interfaces of its GIDs (the port's, its VLANs …), by index: the first ones; n_ifs may be larger. Unknown ones are left out. */
	unsigned ifs[RD_QP_PORT_IFS];
	unsigned n_ifs;
	bool gids_complete; /* its whole GID table was read */
	/* Entries 0 to 255, a bit each: read, and found empty. Queue pairs keep the entries they use: those are not reused. */
	uint8_t gids_empty[32];
};

struct rd_qp_gid {
	uint8_t raw[16];
	int dev;
	uint32_t port;
	bool here;	  /* of an interface in this network namespace */
	unsigned ifindex; /* of that interface; 0: unknown */
};

struct rd_qp_ports {
	struct rd_qp_port *v; /* by device and number */
	size_t n, cap;
	struct rd_qp_gid *gids; /* by GID; of all ports */
	size_t n_gids, cap_gids;
};
void rd_qp_ports_deinit(struct rd_qp_ports *ports);

/* NULL: not read. */
const struct rd_qp_port *rd_qp_ports_find(const struct rd_qp_ports *ports, int dev, uint32_t num);

/* The first entry with this GID, and *n entries in all, by device and port; NULL: none. */
const struct rd_qp_gid *rd_qp_ports_gids(const struct rd_qp_ports *ports, const uint8_t gid[16], size_t *n);

/* Whether the GID table of this port has it. */
bool rd_qp_ports_have(const struct rd_qp_ports *ports, const uint8_t gid[16], int dev, uint32_t port);

/* Sorts the GIDs, for rd_qp_ports_gids. */
void rd_qp_ports_sort(struct rd_qp_ports *ports);

enum rd_qp_count {
	RD_QPC_RETRIES,	      /* retransmitted packets, or timeouts that caused retransmissions */
	RD_QPC_EXHAUSTED,     /* transport retry count exceeded */
	RD_QPC_RNR,	      /* RNR NAKs received */
	RD_QPC_RNR_EXHAUSTED, /* RNR retry count exceeded */
	RD_QPC_NAKS,	     /* requester: NAKs for PSN sequence errors received, each of which causes retransmission */
	RD_QPC_OUT_OF_ORDER, /* responder: packets received out of sequence */
	RD_QPC_DUPLICATES,   /* responder: requests received again: the ACK was lost, or late */
	RD_QPC_RNR_SENT,     /* responder: packets that found no receive work request */
	RD_QPC_SENT,	     /* packets */
	RD_QPC_GOT,
	RD_QPC_LINK_DOWNED, /* times that the link went down */
	RD_QPC_N,
};

/* A driver counter of one of these. */
struct rd_qp_counter {
	enum rd_qp_count what;
	const char *name; /* not owned */
};

/* Per kind, the first counter that a port has is used. */
struct rd_qp_counters {
	struct rd_qp_counter *v;
	size_t n, cap;
};
void rd_qp_counters_deinit(struct rd_qp_counters *counters);

/* Sums over the ports of a device; absent: no such counter, or not readable. */
struct rd_qp_counts {
	RD_FIELD(uint64_t) v[RD_QPC_N];
};

#endif
