/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recorded event of a queue pair, or of a device or port that queue pairs depend on. */
#ifndef RD_MODEL_QP_EVENT_H
#define RD_MODEL_QP_EVENT_H

#include "model/rdma/qp.h"

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
