/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on each queue pair, and the evidence for it. */
#ifndef RD_ANALYSE_QP_VERDICT_H
#define RD_ANALYSE_QP_VERDICT_H

#include "analyse/shared/meaning.h"
#include "model/host/netstate.h"
#include "model/host/system.h"
#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"
#include "model/shared/finding.h"

#define RD_QP_STUCK_SECONDS 10.0

/* Losses of a device that are too many to be harmless. */
struct rd_qp_loss {
	enum rd_qp_loss_kind {
		RD_QP_LOSS_NONE,
		RD_QP_LOSS_RECEIVED,  /* packets out of sequence: data lost on the way here */
		RD_QP_LOSS_AGAIN,     /* packets received again: their ACKs were lost or late */
		RD_QP_LOSS_SENT,      /* NAKs and timeouts */
		RD_QP_LOSS_UNACKED,   /* timeouts only: packets or ACKs lost, or ACKs late */
		RD_QP_LOSS_REFUSED,   /* RNR NAKs received */
		RD_QP_LOSS_UNPOSTED,  /* RNR NAKs sent */
		RD_QP_LOSS_UNORDERED, /* packets out of sequence, where the network may reorder them */
	} kind;
	uint64_t events, packets;
	bool by_stalled; /* queue pairs without progress can be the cause, too */
	double seconds;	 /* the interval in which they were lost */
};

/* What a device lost in an earlier interval, from sample to sample. Zero: nothing. */
struct rd_qp_doubt {
	struct rd_qp_loss loss;
	uint64_t packets; /* that flowed since, without loss */
	double seconds;	  /* since then, in which none were counted */
};

struct rd_qp_judge {
	double stuck_seconds; /* in INIT or RTR for longer: stuck */
	/* What each device (rd_res.n_devs) counted since the previous sample; NULL: this is the first sample. */
	const struct rd_qp_counts *since;
	double seconds;			 /* between the two samples */
	struct rd_qp_doubt *doubts;	 /* of each device, which the verdicts update; NULL: not kept */
	const struct rd_klog *klog;	 /* NULL: not read */
	uint64_t mono_ns;		 /* now */
	const struct rd_qp_ports *ports; /* NULL: not read */
	const struct rd_netstate *net;	 /* its neighbours; NULL: not read */
};

/*
 * Fills the verdict of each view from its state and its past: kind (enum rd_qp_verdict_kind), reason, next step. Counters are
 * evidence of a whole device: the reason then contains "device-wide".
 */
void rd_qp_judge(struct rd_qp_views *views, const struct rd_qp_judge *judge);

/* Whether the GID tables were read far enough: the source GID of each queue pair was found, or its table is complete. */
bool rd_qp_ports_suffice(const struct rd_qp_views *views, const struct rd_qp_ports *ports);

/* Which processes may be the reason why a connected queue pair has no packets: rd_proc.state of these is used (`ret`: res->n_procs
 * entries). `seconds`: between the two samples; 0: one sample only. */
void rd_qp_procs_that_may_stop(const struct rd_qp_views *views, double seconds, bool *ret);

/* One finding per device and verdict with a severity of warning or worse, of the queue pairs selected by `chosen` (NULL: all). */
void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* In the order of the table, which must outlive `ret`. The names are names of files, "?" a blank: other patterns are skipped. */
void rd_qp_counters_find(const struct rd_meanings *meanings, struct rd_qp_counters *ret);

#endif
