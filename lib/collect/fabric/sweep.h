/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many questions to many agents, as many at a time as both bear. Knows nothing of what is asked: requests go out, answers
 * are matched to them by the lower half of the transaction id, whatever order they come in.
 */
#ifndef RD_SWEEP_H
#define RD_SWEEP_H

#include "model/fabric/fabric.h"
#include "source/shared/mad.h"

/*
 * Windows are counts of datagrams in flight. 64 in all keep a network of 250 µs a question busy (256,000 a second, more than
 * one core decodes) and stay far below the kernel's queues; 2 for one agent hide its turnaround without flooding it: with 1
 * the largest switch decides how long the sweep takes. Figures: tests/bench/results/fabric.md.
 */
struct rd_sweep_limits {
	unsigned window;     /* in flight, all together: 1 … RD_SWEEP_WINDOW_MAX */
	unsigned per_lid;    /* in flight to one LID that has answered before; to one that has not: 1 */
	unsigned timeout_ms; /* for each try */
	unsigned retries;    /* after the first try; by us: the kernel is told 0 */
};
#define RD_SWEEP_WINDOW_MAX 1024
#define RD_SWEEP_LIMITS_DEFAULT                                             \
	{                                                                   \
		.window = 64, .per_lid = 2, .timeout_ms = 100, .retries = 2 \
	}

/* The ports to leave by, from ours on, to a node that is to be reached without a LID. */
#define RD_MAD_ROUTE_MAX 63
struct rd_mad_route {
	uint8_t hops;
	uint8_t exits[RD_MAD_ROUTE_MAX];
};

/* One question. */
struct rd_sweep_ask {
	struct rd_mad_dest dest;
	uint8_t mad_class;   /* 0x01 (LID routed), 0x81 (along a route) or 0x04 */
	uint8_t port_select; /* class 0x04, all but ClassPortInfo: byte 1 of the data */
	bool optional;	     /* who answers other questions may be silent here: that says nothing about the rest */
	uint8_t beyond;	     /* class 0x81: who is behind this port of the route's end; 0: the end itself */
	uint16_t attribute;
	uint32_t modifier;
	const struct rd_mad_route *route; /* class 0x81; the caller's */
	size_t lid; /* which agent: a number of the caller's, below n_lids. Questions of one LID stand together */
	size_t group; /* a port: once a question of it went without an answer, the rest is not asked. Stand together, too */
};

/* What came of a question. 0: `mad` is a sound answer without an error. ETIMEDOUT: none came, often enough. EREMOTEIO:
 * `mad_status` says why it was refused. EBADMSG: not an answer to what was asked. EHOSTDOWN: not asked, because the LID or
 * port did not answer before. ENODATA: not wanted. Else the errno of sending. */
struct rd_sweep_answer {
	size_t ask;
	int error;
	unsigned mad_status;
	const uint8_t *mad; /* RD_MAD_SIZE bytes; NULL: none. Good during the call */
	uint64_t at_ns;	    /* of the clock of the port */
};

struct rd_sweep_calls {
	/* Just before a question goes out: false for one that, from what was answered meanwhile, is not to be asked; it ends
	 * with ENODATA. NULL: all are. The first of a LID has its answer before the second goes out. */
	bool (*want)(void *arg, size_t ask);
	/* Once for each question. Returns false to give up the LID: what is left of it ends with EHOSTDOWN. */
	bool (*done)(void *arg, const struct rd_sweep_answer *answer);
	void *arg;
};

/*
 * Asks all, calls `done` exactly once for each, and counts. Agents that have not answered yet get one question at a time,
 * and who was silent once is asked again only when nobody else waits: so silent ones hold up nobody while there are fewer
 * of them than the window is wide. -errno where the port itself failed; questions without an answer then end with that.
 */
int rd_sweep_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_sweep_ask *asks,
		 size_t n_asks, size_t n_lids, const struct rd_sweep_calls *calls, struct rd_sweep_stats *stats,
		 struct rd_err *err);

#endif
