/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that judge queue pairs. */
#ifndef RD_ANALYSE_QP_VERDICT_PRIV_H
#define RD_ANALYSE_QP_VERDICT_PRIV_H

#include "analyse/qp/qp-verdict.h"

/* What to do next; rd_qp_fix makes a text of it. */
enum rd_qp_advice {
	RD_QP_DO_LATER,	   /* take further samples */
	RD_QP_DO_TWICE,	   /* take two samples */
	RD_QP_DO_PROGRAM,  /* look at the program of this queue pair */
	RD_QP_DO_IDLE,	   /* likewise: it posted nothing */
	RD_QP_DO_DEVICE,   /* the device does not respond */
	RD_QP_DO_STUCK,	   /* a connection is not established */
	RD_QP_DO_RECEIVER, /* look at the requester of a queue pair that only receives */
	RD_QP_DO_PEER,	   /* no ACK: is the remote process alive, then the path */
	RD_QP_DO_LOSS,	   /* packets are lost on the path */
	RD_QP_DO_LATE,	   /* ACKs are lost or late */
	RD_QP_DO_CLOSER,   /* take samples that are closer together */
	RD_QP_DO_LONGER,   /* take two samples with more packets between them */
	RD_QP_DO_RNR,	   /* the remote program posts no receives */
	RD_QP_DO_POST,	   /* the program of this queue pair posts no receives */
	RD_QP_DO_CAUSE,	   /* cause of a failure unknown */
	RD_QP_DO_PORT,	   /* its port is down */
	RD_QP_DO_GID,	   /* its GID was removed */
	RD_QP_DO_GONE,	   /* its remote QP, on this host, was destroyed */
	RD_QP_DO_FAILED,   /* its remote QP, on this host, failed */
	RD_QP_DO_NEIGH,	   /* the peer's address is not resolved */
	RD_QP_DO_MTU,	   /* its packets are too long */
	RD_QP_DO_NOTHING,
};

/* Of one device, between the two samples. */
struct rd_qp_device {
	size_t failed;	/* queue pairs that entered ERR */
	size_t stalled; /* queue pairs in RTS that can retransmit: those without packets */
	size_t senders; /* the same, with packets */
	size_t moving;	/* connected queue pairs with packets, in RTR or RTS; UC, too */
	size_t unclear; /* connected queue pairs whose progress is unknown: in RTS, or moved from there to ERR by a call */
	size_t waiting;	  /* connected queue pairs in RTR or RTS without packets, UC, too */
	size_t unrelated; /* others that may receive packets: UD and raw packet queue pairs of programs */
	size_t ipoib; /* UD queue pairs of IPoIB, which may drop packets; other ones of the kernel hardly receive any */
	size_t unlisted; /* queue pairs that the kernel counts, but does not list, or no longer has */
	double packets;	 /* of those in the list; at least so many were sent or received */
	const char *fixes[RD_QP_DO_NOTHING + 1]; /* that rd_qp_fix made */
};

struct rd_qp_judging {
	struct rd_qp_views *views;
	const struct rd_res *res;
	const struct rd_qp_judge *opts;
	struct rd_qp_device *devices;
	const struct rd_neigh **neighs; /* of opts->net, by address */
	size_t n_neighs;
	bool *has_rts; /* per process (res->procs): one of its RC queue pairs is in RTS */
	size_t *n_qps; /* per process: all of its queue pairs */
};

/* The queue pair to judge. */
struct rd_qp_one {
	const struct rd_qp_judging *j;
	const char *ibdev;		   /* NULL: unknown */
	const struct rd_qp_device *device; /* NULL: unknown */
	double s;			   /* seconds between the two samples */
	size_t i;
	const struct rd_qp *qp;
	const struct rd_qp_past *past;
	const struct rd_krecord *line; /* of the kernel log; NULL: no line names this queue pair */
	struct rd_qp_verdict *verdict;
};

/* The text, owned by the caller. */
const char *rd_qp_fix(const struct rd_qp_one *one, enum rd_qp_advice advice);

/* Of a device, whichever of its queue pairs it is. */
char *rd_qp_device_fix(const char *ibdev, enum rd_qp_advice advice);

/* The verdict, what to do, and why. */
void rd_qp_set(const struct rd_qp_one *one, enum rd_qp_verdict_kind kind, enum rd_qp_advice advice, const char *why,
	       ...) RD_PRINTF(4, 5);

/* Its port; NULL: unknown, or not read. */
const struct rd_qp_port *rd_qp_port_of(const struct rd_qp_judging *j, const struct rd_qp *qp);

/* Orders rd_qp_judging.neighs: by address. */
int rd_qp_compare_neighbours(const void *a, const void *b);

/* Adds troubles to the verdict, or replaces it by cut-off. */
void rd_qp_judge_trouble(const struct rd_qp_one *one);

/* Adds its process, and that of its remote QP on this host, if they are stopped. */
void rd_qp_judge_stopped(const struct rd_qp_one *one);

/* The remote QP if its address is one of this host's GIDs, and no other device has it. *dev: the device, -1: not on this host, or not
 * known to be; *at: index of the remote QP, or n_qps. */
void rd_qp_local_peer(const struct rd_qp_one *one, int *dev, size_t *at);

/* UC has no acknowledgements: a lost packet stays lost. */
bool rd_qp_can_retransmit(const struct rd_qp *qp);

/* Progress between the two samples. Neither: unknown. A packet or two of a requester are not progress: some drivers advance the
 * PSN when they retransmit. */
bool rd_qp_is_stalled(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past);
bool rd_qp_is_moving(const struct rd_qp_judging *j, const struct rd_qp *qp, const struct rd_qp_past *past);

/* How much the device counted since the previous sample; 0: nothing, or not counted. */
uint64_t rd_qp_since(const struct rd_qp_judging *j, int dev, enum rd_qp_count what);

/* Lines of the kernel log (qp-log.c). */

/* The cause of the failure according to the line: RETRIES, RNR or NONE. */
enum rd_qp_cause rd_qp_log_cause(const char *text);

/* The completion status in the line ("error status = 12"), named as in enum ibv_wc_status without IBV_WC_; NULL: none. */
const char *rd_qp_log_status(const char *text);

/*
 * The last line about each queue pair: [i] is for views->v[i] (NULL: no line). NULL: no line about any. A line belongs to a queue
 * pair if it names its device and its number. Numbers are reused, so lines older than the state of the queue pair, where its age is
 * known, or than its process are ignored; `mono_ns` is now. Sets the age of a failed one to that of its only line. Caller frees; the lines are those of `klog`.
 */
const struct rd_krecord **rd_qp_log_join(const struct rd_klog *klog, struct rd_qp_views *views, uint64_t mono_ns);

#endif
