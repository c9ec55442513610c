/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on queue pairs. */
#ifndef RD_MODEL_QP_VERDICT_H
#define RD_MODEL_QP_VERDICT_H

#include "base/base.h"

/* Findings are in this order: worst first. */
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
	const char *fix;	/* the next step; static, or owned by the views. NULL: not judged */
	const char *why;	/* owned by the views; NULL: not judged */
};

#endif
