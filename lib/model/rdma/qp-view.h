/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of the analysis of queue pairs, separate from the collected data (model/rdma/qp.h), which stays unchanged: one view per
 * queue pair, in the same order.
 */
#ifndef RD_MODEL_QP_VIEW_H
#define RD_MODEL_QP_VIEW_H

#include "model/rdma/qp.h"

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

/* As in tables and documents: "failed", "retries-exhausted", …; NULL for RD_QPV_NONE. Static. */
const char *rd_qp_verdict_name(enum rd_qp_verdict_kind kind);

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

#endif
