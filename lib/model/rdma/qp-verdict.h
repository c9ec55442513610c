/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be the matter with a queue pair. */
#ifndef RD_MODEL_QP_VERDICT_H
#define RD_MODEL_QP_VERDICT_H

#include "base/base.h"

/* Findings stand in this order: the worst come first. */
enum rd_qp_verdict_kind {
	RD_QPV_NONE = 0,    /* it was not judged */
	RD_QPV_FAILED,	    /* in ERR or SQE */
	RD_QPV_EXHAUSTED,   /* failed, and log or counters say that it gave up sending again */
	RD_QPV_STUCK,	    /* in INIT or RTR, or held in SQD, for too long */
	RD_QPV_RETRYING,    /* no packet arrives, and its device sends again: as only this queue pair can have been */
	RD_QPV_FLUSHED,	    /* its own program moved it to ERR */
	RD_QPV_IDLE,	    /* two looks, and no packet in between */
	RD_QPV_OK,	    /* it works, or is on its way */
	RD_QPV_CANNOT_TELL, /* not enough was seen; the reason says what would show it */
	RD_QPV_N,
};

/* As tables and documents have it: "failed", "retries-exhausted", …; NULL for none. Static. */
const char *rd_qp_verdict_name(enum rd_qp_verdict_kind kind);

/* What made a queue pair fail, as far as there is evidence. */
enum rd_qp_cause { RD_QP_CAUSE_NONE = 0, RD_QP_CAUSE_RETRIES, RD_QP_CAUSE_RNR };

struct rd_qp_verdict {
	enum rd_qp_verdict_kind kind;
	enum rd_qp_cause cause; /* by what its device counted when it failed */
	const char *fix;	/* static; the next command. NULL: it was not judged */
	char *why;		/* owned; likewise */
};

#endif
