/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA resources that the kernel tracks ("restrack"): queue pairs and related objects, their owners and limits; the ports that queue
 * pairs run over, and recorded events. Plain data: one owner, arrays, indices between objects (-1: none). Results of the analysis are
 * in qp-view.h.
 */
#ifndef RD_MODEL_QP_H
#define RD_MODEL_QP_H

#include "base/base.h"

/* As the kernel and libibverbs number them. */
enum rd_qp_type {
	RD_QPT_SMI = 0,
	RD_QPT_GSI = 1,
	RD_QPT_RC = 2,
	RD_QPT_UC = 3,
	RD_QPT_UD = 4,
	RD_QPT_RAW_PACKET = 8,
	RD_QPT_XRC_INI = 9,
	RD_QPT_XRC_TGT = 10,
	RD_QPT_DRIVER = 0xff,
};

enum rd_qp_state {
	RD_QPS_RESET = 0,
	RD_QPS_INIT,
	RD_QPS_RTR,
	RD_QPS_RTS,
	RD_QPS_SQD,
	RD_QPS_SQE,
	RD_QPS_ERR,
	RD_QPS_N,
};

/* Accuracy of an age. */
enum rd_age_kind {
	RD_AGE_UNKNOWN = 0,
	RD_AGE_EXACT,	 /* the transition was recorded */
	RD_AGE_AT_LEAST, /* in this state in the first sample */
	RD_AGE_INTERVAL, /* entered between two samples: from age to age_max */
} __attribute__((packed));

/* Kinds of objects that the kernel counts and dumps. */
enum rd_res_kind {
	RD_RES_QP,
	RD_RES_CM_ID,
	RD_RES_CQ,
	RD_RES_MR,
	RD_RES_PD,
	RD_RES_CTX,
	RD_RES_SRQ,
	RD_RES_KINDS,
};

/* Owner of an object. Neither: a process in another PID namespace, or one that has exited. */
struct rd_owner {
	RD_FIELD(uint32_t) pid; /* in our PID namespace */
	char *kernel;		/* kernel component ("ib_core"); owned; NULL: none */
};

#define RD_PROC_PEERS 8

struct rd_proc_peers {
	uint8_t ip[RD_PROC_PEERS][16]; /* IPv4 as ::ffff:a.b.c.d; those with most connections */
	unsigned n;
	uint64_t more; /* other addresses */
	bool at_least; /* there may be more than that */
};

/* Adds the addresses of another process; the same ones may be added again. */
void rd_proc_peers_merge(struct rd_proc_peers *to, const struct rd_proc_peers *from);

/* "10.0.0.2,10.0.0.3", "10.0.0.2,…,10.0.0.9 +12", "… +12 or more"; "" if there are none. Caller frees. */
char *rd_proc_peers_text(const struct rd_proc_peers *peers);

/* A process that owns objects. */
struct rd_proc {
	uint32_t pid;
	char *comm;   /* NULL: exited, or hidden from us */
	char *cgroup; /* path; NULL: unknown */
	char *job;    /* job of the workload manager; NULL: none, or unknown */
	char *devx_libs; /* mapped libraries that create queue pairs which the kernel does not list; "": none; NULL: unknown */
	struct rd_proc_peers *peers; /* NULL: not read, or unknown */
	RD_FIELD(char) state; /* of its main thread, as in /proc/PID/status: T stopped, t stopped by its tracer … */
	RD_FIELD(uint32_t) tracer;   /* pid; 0: none, or in another PID namespace */
	RD_FIELD(uint64_t) start_ns; /* since boot, in steps of 10 ms */
	RD_FIELD(bool) frozen;	     /* its control group is, or one above it */
};

/* Attributes of a QP recorded from modify_qp calls: each field as last set. */
struct rd_qp_seen {
	RD_FIELD(uint8_t) timeout, retry_cnt, rnr_retry, min_rnr_timer; /* as encoded by the specification */
	RD_FIELD(uint16_t) path_mtu;					/* bytes */
	RD_FIELD(uint8_t) max_rd_atomic, max_dest_rd_atomic, sgid_index, hop_limit, traffic_class, sl;
	RD_FIELD(uint32_t) flow_label;
	RD_FIELD(uint16_t) udp_sport;
	RD_FIELD(uint32_t) dest_qpn;
	uint8_t sgid[16], dgid[16];
	bool has_sgid, has_dgid;
};

/* Replaces what `from` knows; what it does not know is kept. */
void rd_qp_seen_merge(struct rd_qp_seen *to, const struct rd_qp_seen *from);

/*
 * The kernel's rule (include/rdma/ib_verbs.h: rdma_get_udp_sport and what it calls, since 5.6): the flow label of the path if
 * one was set, else one computed from the two queue pair numbers, folded into 0xc000 to 0xffff. Drivers follow it for connected
 * queue pairs; an application may configure another port.
 */
uint32_t rd_flow_label_of_qps(uint32_t lqpn, uint32_t rqpn);
uint16_t rd_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn);

/* Adds the port that the driver (enum rd_driver; 0: unknown) gives this queue pair, if its path is RoCE: it has a flow label, possibly 0,
 * and no LID. Of drivers without a known rule it stays unknown. */
void rd_qp_seen_add_sport(struct rd_qp_seen *seen, uint32_t driver, uint32_t lqpn, uint32_t rqpn, bool has_lid);

/* What a QP's device or driver reports beyond the kernel's list. Each value is known by itself. */
struct rd_qp_context {
	bool queried; /* `attrs` are what its driver filled in for the query of the kernel (rd_collect_qp_queries) */
	struct rd_qp_seen attrs;    /* as they are set now */
	RD_FIELD(uint16_t) dlid;    /* InfiniBand */
	RD_FIELD(uint8_t) alt_port; /* of the alternate path; absent: there is none, or unknown */
	uint8_t alt_dgid[16];	    /* of that path; 0: it has no GID */
	char *driver; /* what its driver adds: names and values in turn, each with a NUL at its end; owned; NULL: nothing */
	size_t driver_size; /* bytes */
};

/* What a running recorder of another process keeps of a queue pair. */
struct rd_qp_recorded {
	int dev; /* index into rd_res.devs */
	uint32_t lqpn;
	RD_FIELD(uint32_t) pid;	  /* that created it, or made the first recorded call */
	RD_FIELD(uint8_t) type;	  /* enum rd_qp_type */
	RD_FIELD(uint8_t) state;  /* enum rd_qp_state: of the last call that set one */
	RD_FIELD(uint32_t) event; /* enum ib_event_type: the last one */
	/* CLOCK_MONOTONIC, ns: */
	uint64_t state_ns; /* of that call */
	uint64_t event_ns;
	uint64_t updated_ns; /* of the last call or event */
	bool entered;	     /* it was in another state before that call */
	int err;	     /* negative errno of the last failed modify_qp; 0: none recorded */
	unsigned attrs;	     /* number of known attributes */
	bool has_dlid;	     /* the path has a LID, so it is not RoCE */
	struct rd_qp_seen seen;
};

/* Ordered by size: there may be tens of thousands. */
struct rd_qp {
	struct rd_owner owner;
	char *subtype;		       /* of a driver-specific QP; NULL: none */
	struct rd_qp_context *context; /* owned; NULL: none, or not requested */
	int dev;		       /* index into rd_res.devs */
	int proc;		       /* index into rd_res.procs */
	int query_errno; /* positive: errno of the query; EAGAIN: no port, so a query by number does not report the QP */
	RD_PACKED_FIELD(uint32_t) lqpn;
	RD_PACKED_FIELD(uint32_t) port;	  /* absent until a port is set (RESET) */
	RD_PACKED_FIELD(uint32_t) rqpn;	  /* RC and UC only */
	RD_PACKED_FIELD(uint32_t) sq_psn; /* next to send, as the driver reports it */
	RD_PACKED_FIELD(uint32_t) rq_psn; /* next expected; RC and UC only */
	RD_PACKED_FIELD(uint32_t) pdn;
	RD_FIELD(uint8_t) type;	    /* enum rd_qp_type */
	RD_FIELD(uint8_t) state;    /* enum rd_qp_state */
	RD_FIELD(uint8_t) path_mig; /* 0 MIGRATED, 1 REARM, 2 ARMED */
};

/* enum rdma_driver_id of rdma/ib_user_ioctl_verbs.h */
enum rd_driver {
	RD_DRIVER_MLX5 = 1,
	RD_DRIVER_MLX4 = 2,
	RD_DRIVER_BNXT_RE = 6,
	RD_DRIVER_OCRDMA = 7,
	RD_DRIVER_IRDMA = 9,
	RD_DRIVER_QEDR = 11,
	RD_DRIVER_HNS = 12,
	RD_DRIVER_RXE = 14,
	RD_DRIVER_HFI1 = 15,
	RD_DRIVER_SIW = 18,
	RD_DRIVER_ERDMA = 19,
	RD_DRIVER_IONIC = 21,
};

#define RD_AF_IB 27 /* the kernel's AF_IB, which libc does not name */

/* An rdma_cm connection. */
struct rd_cm_id {
	int dev; /* -1: not bound to a device */
	RD_FIELD(uint32_t) lqpn;
	RD_FIELD(uint8_t) state;
	struct rd_sockaddr {
		uint16_t family; /* AF_INET, AF_INET6, RD_AF_IB; 0: none */
		uint16_t port;	 /* of UDP or TCP, host byte order */
		uint8_t ip[16];	 /* the first 4 of an IPv4 address; the GID of AF_IB */
	} src, dst;
	struct rd_owner owner;
	int proc;
};

/* A PD, context, MR, CQ or SRQ. */
struct rd_res_object {
	int dev;
	enum rd_res_kind kind;
	RD_FIELD(uint32_t) id; /* its number: pdn, ctxn, mrn, cqn, srqn */
	RD_FIELD(uint32_t) pdn;
	struct rd_owner owner;
	int proc;
};

struct rd_res_port {
	int dev;
	uint32_t num;
	RD_FIELD(uint8_t) state;      /* 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE, 5 ACTIVE_DEFER */
	RD_FIELD(uint8_t) phys_state; /* 2 POLLING, 3 DISABLED, 5 LINK_UP … */
	RD_FIELD(uint32_t) lid, netdev_index;
	char *netdev;
};

/* Why a list may be incomplete. */
struct rd_res_gap {
	int code;	  /* positive errno that ended the dump early; 0: complete */
	bool interrupted; /* the tables changed during the dump */
	bool damaged;	  /* messages with wrong lengths */
};

/* Whether what drivers fill in was seen while the kernel listed queue pairs. */
enum rd_probe {
	RD_PROBE_NONE = 0, /* it was not tried: in bundles */
	RD_PROBE_OFF,	   /* not wanted */
	RD_PROBE_DENIED,   /* without the privilege */
	RD_PROBE_FAILED,
	RD_PROBE_ON,
};

/* What a driver is known to fill in. */
#define RD_FILLS_PEER 1
#define RD_FILLS_TIMEOUT 2
#define RD_FILLS_OTHER 4 /* something else, or one of these as well */

/* Limits from the device attributes (ibv_query_device). */
struct rd_res_limits {
	RD_FIELD(uint64_t) max[RD_RES_KINDS];
};

struct rd_res_dev {
	uint32_t index; /* of the kernel */
	char *name;
	unsigned n_ports;
	char *protocol; /* "ib", "roce", "iw", "opa", "usnic" */
	char *firmware;
	RD_FIELD(uint64_t) node_guid;
	RD_FIELD(uint8_t) node_type;
	RD_FIELD(uint32_t) driver_id;	       /* enum rdma_driver_id of rdma/ib_user_ioctl_verbs.h */
	RD_FIELD(uint64_t) used[RD_RES_KINDS]; /* from the kernel's summary, all namespaces */
	bool requested[RD_RES_KINDS];	       /* lists that were requested */
	uint64_t listed[RD_RES_KINDS];	       /* objects in these lists */
	struct rd_res_gap gaps[RD_RES_KINDS];  /* of the lists */
	struct rd_res_limits limits;
	unsigned fills;	     /* RD_FILLS_*; 0: unknown */
	bool tells_no_state; /* states in the list are not of its queue pairs */
};

struct rd_res {
	enum rd_probe probe;
	RD_FIELD(bool) netns_shared; /* devices are visible in every network namespace */
	struct rd_res_dev *devs;
	size_t n_devs, cap_devs;
	struct rd_res_port *ports;
	size_t n_ports, cap_ports;
	struct rd_qp *qps; /* by device, then number */
	size_t n_qps, cap_qps;
	struct rd_cm_id *cm_ids;
	size_t n_cm_ids, cap_cm_ids;
	struct rd_res_object *objects;
	size_t n_objects, cap_objects;
	struct rd_proc *procs; /* by pid */
	size_t n_procs, cap_procs;
	struct rd_qp_recorded *recorded; /* by device, number, then the one with most attributes first */
	size_t n_recorded, cap_recorded;
};

void rd_res_deinit(struct rd_res *res);
void rd_qp_deinit(struct rd_qp *qp);

/* Whether the list of a kind was read as the kernel has it; and whether it has all objects that the kernel counts. */
bool rd_res_is_whole(const struct rd_res_dev *dev, enum rd_res_kind kind);
bool rd_res_lists_all(const struct rd_res_dev *dev, enum rd_res_kind kind);

/* The context of a queue pair, which is created if it has none. */
struct rd_qp_context *rd_qp_need_context(struct rd_qp *qp);

/* Names as `rdma resource` prints them; NULL: no name. */
const char *rd_qp_type_name(unsigned type);
const char *rd_qp_state_name(unsigned state);
const char *rd_path_mig_name(unsigned state);
const char *rd_cm_state_name(unsigned state);
const char *rd_res_kind_name(enum rd_res_kind kind); /* "qp", "cm_id", … */
/* "exact", "at_least", "interval"; NULL for unknown. */
const char *rd_age_kind_name(enum rd_age_kind kind);

/* -1: unknown name; ignores case. */
int rd_qp_state_parse(const char *name);
int rd_qp_type_parse(const char *name);

/* Name of the owner: process or kernel component; NULL: unknown. */
const char *rd_owner_name(const struct rd_res *res, const struct rd_owner *owner, int proc);

/* Index or -1. */
int rd_res_find_dev(const struct rd_res *res, const char *name);
int rd_res_find_proc(const struct rd_res *res, uint32_t pid);

/* The first queue pair with this number; queue pairs must be sorted by device and number. Index, or n_qps. */
size_t rd_res_find_qp(const struct rd_res *res, int dev, uint32_t lqpn);

/* What queue pairs run over: the interfaces and GIDs of the ports of their devices. States of ports are in rd_res.ports. */
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

/* A recorded event of a queue pair, or of a device or port that queue pairs depend on. */
enum rd_qp_what {
	RD_QP_MODIFIED = 1, /* a modify_qp call returned */
	RD_QP_CREATED,
	RD_QP_DESTROYED,
	RD_QP_ASYNC,  /* the device reported an event of the queue pair */
	RD_QP_DEVICE, /* the device reported an event of itself or of a port */
};
/* "modify", "create", "destroy", "event", "device-event" */
const char *rd_qp_what_name(enum rd_qp_what what);

struct rd_qp_event {
	enum rd_qp_what what;
	uint64_t time_ns;     /* since the epoch */
	uint64_t mono_ns;     /* CLOCK_MONOTONIC */
	uint64_t duration_ns; /* of the call; RD_QP_MODIFIED only */
	int err;	      /* negative errno that the call returned; 0 */
	RD_FIELD(uint32_t) lqpn;
	RD_FIELD(uint32_t) port;  /* of RD_QP_DEVICE, or set by the call */
	RD_FIELD(uint8_t) type;	  /* enum rd_qp_type */
	RD_FIELD(uint32_t) code;  /* enum ib_event_type */
	RD_FIELD(uint8_t) state;  /* requested by the call */
	RD_FIELD(uint8_t) before; /* state before: set by the caller, or last seen (by analysis) */
	RD_FIELD(uint32_t) rq_psn, sq_psn;
	RD_FIELD(uint16_t) dlid;
	uint32_t mask;		/* enum ib_qp_attr_mask */
	struct rd_qp_seen seen; /* attributes set by this call */
	uint32_t pid, tid;	/* in the initial PID namespace; 0: no process */
	char comm[16];
	char ibdev[64]; /* empty: unknown */
	char *cgroup;	/* owned; NULL: unknown */
	char *job;	/* owned; NULL: unknown; by analysis */
	/* By analysis, of the previous state: */
	RD_FIELD(double) age_seconds, age_max_seconds;
	enum rd_age_kind age_kind;
};

/* Old and new states of calls: enum rd_qp_state, and one for none or unknown. Durations are counted by power of two ns. */
#define RD_QP_ENDS 8
#define RD_QP_END_NONE 7
#define RD_QP_DURATIONS 64

void rd_qp_event_deinit(struct rd_qp_event *event);

/* "QP_FATAL", "PORT_ERR" …: enum ib_event_type, named as in libibverbs; NULL: no name. */
const char *rd_ib_event_name(unsigned code);

/* A bit of enum ib_qp_attr_mask: "STATE", "AV" …; NULL: no name. */
const char *rd_qp_attr_name(unsigned bit);
#define RD_QP_ATTR_BITS 32

#endif
