/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends many queries (Get MADs) to many agents, with a limited number in flight in all and per agent. It does not interpret
 * attributes. Responses are matched to queries by the lower half of the transaction id, in any order.
 */
#ifndef RD_SWEEP_H
#define RD_SWEEP_H

#include "model/fabric/fabric.h"
#include "source/shared/mad.h"

/*
 * Windows are numbers of MADs in flight. At 250 µs per response, 64 in all yield 256,000 responses per second, more than one core
 * decodes, and stay far below the limits of the kernel's queues. 2 per agent hide its turnaround without flooding it: with 1, the
 * largest switch determines the duration of the sweep. Measurements: tests/bench/results/fabric.md.
 */
struct rd_sweep_limits {
	unsigned window;     /* in flight, in all: 1 … RD_SWEEP_WINDOW_MAX */
	unsigned per_lid;    /* in flight to one LID that has responded; before it has, 1 */
	unsigned timeout_ms; /* of the first try; doubles with each, up to RD_SWEEP_TIMEOUT_MAX_MS */
	unsigned retries;    /* after the first try; done here, the retry count given to the kernel is 0 */
	/* Directed routes: in flight to or through one switch. SMPs are sent on VL15, which has no flow control and few buffers in
	 * switches: opensm keeps 4 in flight, ibnetdiscover 2, to the whole network. This allows for more in all where routes do not meet;
	 * where it is too much, losses halve the window, down to RD_SWEEP_WINDOW_LOSSY. The switches that have this limit, by index: the one before it on the way, 0: the root; 0 of them: none. */
	unsigned per_switch;
	size_t n_switches;
	const uint32_t *switches; /* owned by the caller */
};
#define RD_SWEEP_TIMEOUT_MAX_MS 2000
#define RD_SWEEP_WINDOW_MAX 1024
#define RD_SWEEP_WINDOW_LOSSY 8
/* 50, 100, 200 and 400 ms in all. Current devices respond within a millisecond: a lost datagram, whose place in the windows stays
 * occupied, is retried early, and a slow device has as much time as opensm gives it (200 ms), and more. */
#define RD_SWEEP_LIMITS_DEFAULT                                                             \
	{                                                                                   \
		.window = 64, .per_lid = 2, .timeout_ms = 50, .retries = 3, .per_switch = 2 \
	}

/* A directed route: the egress port of each hop, beginning with the local port. */
#define RD_MAD_ROUTE_MAX 63
struct rd_mad_route {
	uint8_t hops;
	uint8_t path[RD_MAD_ROUTE_MAX];
};

/* One query: a Get of an attribute. */
struct rd_sweep_query {
	struct rd_mad_dest dest;
	uint8_t mad_class; /* 0x01 (subnet management, LID routed), 0x81 (directed route) or 0x04 (performance management) */
	uint8_t port_select; /* class 0x04, all but ClassPortInfo: PortSelect, byte 1 of the data */
	bool expected; /* the agent responded to an earlier sweep: one query without a response does not end its others */
	bool optional;	  /* may fail without consequences for other queries: the agent need not support it */
	bool after;	  /* sent only when all earlier queries of its LID have a result */
	uint8_t next_hop; /* class 0x81: egress port appended to the route; 0: none */
	uint16_t attribute;
	uint32_t modifier;
	const struct rd_mad_route *route; /* class 0x81; owned by the caller */
	uint32_t gate; /* the last switch that it passes and that has a limit; 0: none. The same for all queries of a LID */
	size_t subject; /* of the caller: what the query is about */
	size_t lid; /* index of the agent, chosen by the caller, below n_lids. Queries of one LID must be contiguous */
};

/* Result of a query. error 0: `mad` is a valid response. ETIMEDOUT: no response to any try. EREMOTEIO: `mad_status` is the error
 * status of the response. EBADMSG: the responses to all tries do not match the query. EHOSTDOWN: not sent, because the LID did not
 * respond before. ENODATA: not needed. Otherwise: the errno of sending. */
struct rd_sweep_result {
	size_t query;	/* index */
	unsigned tries; /* MADs sent for it */
	int error;
	unsigned mad_status;
	const uint8_t *mad;  /* RD_MAD_SIZE bytes; NULL: none. Valid during the call */
	uint64_t latency_ns; /* of `mad`, since its latest try */
	uint64_t at_ns;	     /* clock of the port */
	const struct rd_sweep_query *sent;
};

struct rd_sweep_callbacks {
	/* Called just before a query is sent; returns false if earlier responses make it unnecessary: it then ends with ENODATA.
	 * NULL: all are sent. The second query of a LID is sent only after the first has a result. */
	bool (*needed)(void *arg, size_t query);
	/* Called once for each query. Returns false to abandon the LID: its remaining queries end with EHOSTDOWN. */
	bool (*done)(void *arg, const struct rd_sweep_result *result);
	void *arg;
};

/*
 * Sends all queries, calls `done` exactly once for each, and fills `stats` unless it is NULL. An agent that has not responded yet gets one query at
 * a time. One whose latest try timed out is queried again only when no other LID waits, so unresponsive LIDs delay the others only
 * if there are as many as the window is wide. -errno if the local port failed; queries without a result then end with that error.
 */
int rd_sweep_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_sweep_query *queries,
		 size_t n_queries, size_t n_lids, const struct rd_sweep_callbacks *callbacks,
		 struct rd_sweep_stats *stats, struct rd_err *err);

#endif
