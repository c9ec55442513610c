/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of the analysis of queue pairs, separate from the collected data (model/rdma/qp.h), which stays unchanged: one view per
 * queue pair, in the same order.
 */
#ifndef RD_MODEL_QP_VIEW_H
#define RD_MODEL_QP_VIEW_H

#include "model/rdma/qp.h"
#include "model/shared/finding.h"

/* Verdicts. Findings are in this order: worst first. */
enum rd_qp_verdict_kind {
	RD_QPV_NONE = 0,    /* not judged */
	RD_QPV_FAILED,	    /* in ERR or SQE */
	RD_QPV_EXHAUSTED,   /* failed; the log or counters show that the retry count was exceeded */
	RD_QPV_CUT_OFF,	    /* connected, but its port is down, its GID was removed, or its remote QP is gone */
	RD_QPV_STUCK,	    /* in INIT, RTR or SQD for too long */
	RD_QPV_RETRYING,    /* no packet, and its device retransmits; no other queue pair can be the cause */
	RD_QPV_NO_RECEIVES, /* no packet, and RNR NAKs: one end posts no receive work requests */
	RD_QPV_SLOW,	    /* packets, of which many are lost or refused; no other queue pair can be the cause */
	RD_QPV_FLUSHED,	    /* moved to ERR by its own program */
	RD_QPV_IDLE,	    /* no packet between two samples */
	RD_QPV_RECEIVING,   /* in RTR, with packets */
	RD_QPV_OK,	    /* works, or is connecting */
	RD_QPV_CANNOT_TELL, /* not enough data; the reason names what is missing */
	RD_QPV_N,
} __attribute__((packed));

struct rd_qp_verdict_type {
	const char *name; /* as in tables and documents: "failed", "retries-exhausted", …; NULL for RD_QPV_NONE */
	struct rd_finding finding; /* its severity and texts; NULL id: it makes no finding */
};
extern const struct rd_qp_verdict_type rd_qp_verdicts[RD_QPV_N];

/* Cause of a failure, if there is evidence. */
enum rd_qp_cause { RD_QP_CAUSE_NONE = 0, RD_QP_CAUSE_RETRIES, RD_QP_CAUSE_RNR } __attribute__((packed));

struct rd_qp_verdict {
	enum rd_qp_verdict_kind kind;
	enum rd_qp_cause cause; /* from the counters of its device when it failed */
	uint32_t retried;	/* retransmissions after its last packet that no other queue pair can be the cause of */
	bool trouble;		/* its port, GID, neighbour or remote QP is known to be wrong */
	const char *fix;	/* the next step; static, or owned by the views. NULL: not judged */
	const char *why;	/* owned by the views; NULL: not judged */
};

/* Where the address of a peer comes from. The first one that knows it is used. */
enum rd_peer_source {
	RD_PEER_UNKNOWN = 0,
	RD_PEER_RECORDER,     /* the calls that connected it were recorded */
	RD_PEER_RDMA_CM,      /* its rdma_cm connection */
	RD_PEER_KERNEL_QUERY, /* what its driver filled in when the kernel queried it for the list */
	RD_PEER_DRIVER,	      /* what its driver adds to the kernel's list (RDMA_NLDEV_ATTR_DRIVER) */
	RD_PEER_SOURCES,
};

/* The rdma_cm connection of a queue pair, and its peer. */
struct rd_qp_link {
	const struct rd_qp_context *context; /* of rd_res; NULL: none */
	int cm_id;			     /* index into rd_res.cm_ids; -1: unknown */
	bool has_gid;
	uint8_t gid[16]; /* of the peer, if the address of the connection is a GID */
};

/* The past of a queue pair, from samples and a recorder. */
struct rd_qp_past {
	struct rd_qp_seen *seen;			      /* owned by the views; NULL: not recorded */
	RD_PACKED_FIELD(double) age_seconds, age_max_seconds; /* time in this state */
	RD_PACKED_FIELD(double) psn_per_second;	 /* packets sent and received between the last two samples */
	RD_PACKED_FIELD(double) best_per_second; /* the same, the most between any two earlier ones */
	enum rd_age_kind age_kind;
	bool fresh; /* entered this state since the previous sample */
	bool psn_fell; /* a PSN is lower than in the previous sample, or wrapped in between; psn_per_second counts neither */
	uint32_t retried; /* rd_qp_verdict.retried of earlier samples, and when that was last known to rise: */
	RD_PACKED_FIELD(double) retried_seconds;
	enum rd_qp_cause cause; /* of its failure, from an earlier sample */
	/* From a recorder: */
	bool moved_by_call;		      /* a modify_qp call moved it to this state */
	RD_PACKED_FIELD(uint32_t) last_event; /* enum ib_event_type: the last one of this queue pair */
	int last_err;			      /* negative errno of the last failed modify_qp; 0: none recorded */
};

/* Tens of thousands of queue pairs have the same link, past or verdict, which they then share. None is NULL. */
struct rd_qp_view {
	const struct rd_qp_link *link;
	const struct rd_qp_past *past;
	const struct rd_qp_verdict *verdict;
};

#define RD_QP_RECENT 32
#define RD_QP_RECENT_WAYS 4

/* What a device counted that one of its queue pairs caused, not known which. */
struct rd_qp_note {
	char *why, *fix;   /* owned; NULL: nothing, or unknown */
	bool retries;	   /* retransmissions of queue pairs without packets */
	bool of_requester; /* one in RTR cannot be meant: it sends nothing */
};

struct rd_qp_views {
	const struct rd_res *res; /* outlives the views */
	struct rd_qp_view *v;	  /* res->n_qps entries: v[i] belongs to res->qps[i] */
	struct rd_qp_note *notes; /* per device. NULL: for no device */
	size_t *gone; /* per device: queue pairs that it no longer has, but had since the previous sample. NULL: unknown */
	void **owned; /* what views and verdicts refer to */
	size_t n_owned, cap_owned;
	/* Many queue pairs have the same: one of those set last, by hash, is not kept twice. Several in a place, as two that take turns
	 * would drive each other out. */
	struct {
		const void *v;
		size_t size;
	} recent[RD_QP_RECENT][RD_QP_RECENT_WAYS];
};

/* Creates empty views of all queue pairs of `res`. */
void rd_qp_views_init(struct rd_qp_views *views, const struct rd_res *res);
/* Zeroed views are allowed. */
void rd_qp_views_deinit(struct rd_qp_views *views);

/* Sets what is known of queue pair `i`. Takes ownership of what was allocated for `past->seen`. */
void rd_qp_views_set_link(struct rd_qp_views *views, size_t i, const struct rd_qp_link *link);
void rd_qp_views_set_past(struct rd_qp_views *views, size_t i, const struct rd_qp_past *past);
void rd_qp_views_set_verdict(struct rd_qp_views *views, size_t i, const struct rd_qp_verdict *verdict);

/* Keeps a text, of which it takes ownership; returns it, or an equal one that it had. Valid as long as the views. */
const char *rd_qp_views_keep(struct rd_qp_views *views, char *text);
/* Sets the note of a device; takes ownership of its texts. */
void rd_qp_views_note(struct rd_qp_views *views, size_t dev, const struct rd_qp_note *note);

/* GID of the peer, 16 bytes within the view or the facts: as recorded, else from the connection, else from the device; NULL:
 * unknown. */
const uint8_t *rd_qp_peer_gid(const struct rd_qp_view *view);

/* Where the GID or the address of the peer comes from. */
enum rd_peer_source rd_qp_peer_source(const struct rd_res *res, const struct rd_qp_view *view);

/* Attributes of a queue pair: each as recorded, else as its device or driver reports it. */
struct rd_qp_seen rd_qp_attributes(const struct rd_qp_view *view);
/* Where its local ACK timeout comes from. */
enum rd_peer_source rd_qp_timeout_source(const struct rd_qp_view *view);

/* "recorder", "rdma_cm", "kernel-query", "driver"; NULL for unknown. Static. */
const char *rd_peer_source_name(enum rd_peer_source source);

/* Groups of queue pairs, and resources by owner. */
enum rd_qp_by { RD_BY_STATE, RD_BY_PID, RD_BY_DEVICE, RD_BY_PEER, RD_BY_JOB };

/* Health of the path to a peer. A NIC can work with all peers but one, so health is per pair of device and peer. */
enum rd_path_health {
	RD_HEALTH_NONE = 0, /* not a path */
	RD_HEALTH_OK,	    /* all connected */
	RD_HEALTH_STARTING, /* none failed, some not connected yet */
	RD_HEALTH_DEGRADED, /* some failed, stuck, retrying, cut off or slow */
	RD_HEALTH_DEAD,	    /* all failed */
	RD_HEALTH_UNKNOWN,  /* states unknown */
};

struct rd_qp_group {
	char *label; /* the state, process, job …; owned; NULL: unknown, or none */
	int dev;     /* by device and by peer; else -1 */
	int proc;    /* by process; else -1 */
	uint64_t qps, by_state[RD_QPS_N], unknown;
	uint64_t stuck, retrying; /* by verdict; valid only if judged, and sampled twice */
	uint64_t impaired;	  /* cut off, slow, or without receives */
	uint64_t closed;	  /* by their program, which moved them to ERR */
	bool judged, sampled_twice;
	enum rd_path_health health; /* by peer */
	enum rd_severity worst;	    /* of the verdicts of its queue pairs */
	/* Of unknown peers: addresses that the processes have TCP connections to; owned; NULL: unknown, or the peer is known. */
	struct rd_proc_peers *peers;
	int peers_of; /* the process whose addresses were added last */
};

struct rd_qp_groups {
	enum rd_qp_by by;
	struct rd_qp_group *v; /* largest first; by state: in the order of states; unknown last */
	size_t n, cap;
	uint64_t without_peer; /* by peer: QPs of types without a peer (UD, GSI …), which are in no group */
};
void rd_qp_groups_deinit(struct rd_qp_groups *groups);

/* Objects of one device that a process or a kernel component owns. */
struct rd_res_holder {
	int dev, proc;	    /* proc -1: owned by the kernel, or by a process that has exited */
	const char *kernel; /* the kernel component; points into the rd_res */
	uint64_t held[RD_RES_KINDS];
};

struct rd_res_holders {
	struct rd_res_holder *v; /* by device; the one with most QPs first */
	size_t n, cap;
};

/* As encoded in struct ibv_qp_attr. Absent values make all values derived from them absent. */
struct rd_timeouts {
	RD_FIELD(uint8_t) timeout;	 /* 5 bits */
	RD_FIELD(uint8_t) retry_cnt;	 /* 3 bits */
	RD_FIELD(uint8_t) rnr_retry;	 /* 3 bits */
	RD_FIELD(uint8_t) min_rnr_timer; /* 5 bits; that of the remote QP applies */
	bool rxe;			 /* soft-RoCE retries forever with retry_cnt 7 */
};

/* How long a queue pair retries, in seconds; absent if it retries forever, or if values are absent. */
struct rd_giveup {
	RD_FIELD(double) ack_timeout, ack_least, ack_most; /* one timeout; until RETRY_EXC_ERR */
	bool ack_for_ever;
	RD_FIELD(double) rnr_timer, rnr_least; /* one wait; until RNR_RETRY_EXC_ERR */
	bool rnr_for_ever;
	const char *note; /* static; NULL: none */
};

/* The flows of one NIC, or from one NIC to one peer, and how N equal-cost links would share them. */
struct rd_spread {
	int dev;
	bool has_peer; /* to this peer; else all flows of the NIC */
	uint8_t peer_gid[16];
	size_t flows, tuples, tuples_qp; /* queue pairs; distinct five-tuples; the same with the destination QP */
	/* The share of the most loaded link, 0 to 1: mean over many hashes, and with the worst hash. */
	double mean, worst, mean_qp, worst_qp;
};

/* Flows with the same five-tuple: on one link with any hash. */
struct rd_collision {
	int dev;
	bool has_peer;
	bool assumed; /* of one of them: RD_SPORT_ASSUMED */
	uint8_t peer_gid[16];
	uint16_t udp_sport;
	size_t flows;
	char *lqpns; /* "17,18,…"; owned */
};

/* Origin of a flow's UDP source port. */
enum rd_sport_from {
	RD_SPORT_ASSUMED, /* both QP numbers: not recorded whether a flow label is set */
	RD_SPORT_NUMBERS, /* both QP numbers: recorded that no flow label is set */
	RD_SPORT_LABEL,	  /* the recorded flow label */
};

struct rd_flow {
	size_t qp; /* index into rd_res.qps */
	uint16_t udp_sport;
	enum rd_sport_from from;
};

struct rd_spreads {
	unsigned links;
	struct rd_spread *v; /* per NIC: first all its flows, then per peer */
	size_t n, cap;
	struct rd_collision *collisions;
	size_t n_collisions, cap_collisions;
	struct rd_flow *flows; /* in the order of queue pairs */
	size_t n_flows;
	size_t not_roce;     /* connected queue pairs of devices that are not RoCE */
	size_t no_remote_qp; /* those with an unknown remote QP number */
	size_t unknown_peer; /* flows with an unknown peer, assumed to go to one */
};
void rd_spreads_deinit(struct rd_spreads *spreads);

enum rd_failover_kind {
	RD_FAILOVER_DIED,  /* retries were exhausted, or traffic moved while they went on */
	RD_FAILOVER_MOVED, /* another NIC of the process has the traffic */
	RD_FAILOVER_BACK,  /* the port has a link again, or queue pairs were rebuilt */
	RD_FAILOVER_STAYS, /* it is back, and the traffic stays where it moved to */
};

struct rd_failover_event {
	enum rd_failover_kind kind;
	/* The NIC that failed, with its port where a device has several; the one that has its traffic, "": none. */
	char ibdev[64], to[64];
	uint32_t pid, lqpn; /* lqpn: of the first one */
	size_t qps; /* of those that died, to one peer, or to peers that are unknown; or have the traffic; 0: neither */
	bool has_peer;
	uint8_t peer[16];
	RD_FIELD(double) detected;	    /* of a path that died: seconds after the last packet, at least */
	double detected_max;		    /* the same, at most */
	RD_FIELD(double) least, most;	    /* the same by timeout and retry_cnt */
	RD_FIELD(double) after;		    /* seconds between the last packet and the first one elsewhere, at most */
	RD_FIELD(double) gbps, gbps_before; /* of the NIC that has the traffic now, and of the one that had it */
	RD_FIELD(bool) expected_backup;	    /* nic-map names it as the backup */
	bool rebuilt;			    /* there are new queue pairs on the NIC that failed */
	char text[400];			    /* a sentence */
};

/* A NIC of a process, before anything fails. */
struct rd_failover_path {
	int proc, dev; /* indices into rd_res */
	char ibdev[64];
	const char *backup;	   /* as ibdev; NULL: none, or unknown which */
	size_t qps, unusable;	   /* queue pairs */
	const char *why;	   /* the first one that is unusable is; of the views; NULL: none is */
	size_t others;		   /* NICs of the process */
	RD_FIELD(size_t) peers;	   /* different ones */
	RD_FIELD(size_t) unrouted; /* those without a route from the GID of the NIC through its interface; at least */
	uint8_t no_route[16];	   /* the first of these */
	RD_FIELD(double) watchdog; /* seconds after which the library of the process ends it */
	RD_FIELD(double) least, most; /* seconds until a dead path is detected, of the slowest queue pair */
	bool for_ever;		      /* one of them never detects it */
	RD_FIELD(bool) expected_backup;
	const char *shared; /* with the backup: "card", or as in nic-map; static; NULL: unknown */
};

struct rd_failover_paths {
	struct rd_failover_path *v; /* by process, then device */
	size_t n, cap;
};

#endif
