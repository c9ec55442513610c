/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder saw happen to a queue pair, or to a device or port that queue pairs depend on. */
#ifndef RD_MODEL_QP_EVENT_H
#define RD_MODEL_QP_EVENT_H

#include "model/rdma/qp.h"

enum rd_qp_what {
	RD_QP_MODIFIED = 1, /* a call of modify_qp returned */
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
	RD_FIELD(uint32_t) port;  /* of RD_QP_DEVICE, and where a call set one */
	RD_FIELD(uint8_t) type;	  /* enum rd_qp_type */
	RD_FIELD(uint32_t) code;  /* enum ib_event_type */
	RD_FIELD(uint8_t) state;  /* that the call asked for */
	RD_FIELD(uint8_t) before; /* state before it: as the caller claimed, or as was last seen (by analysis) */
	RD_FIELD(uint32_t) rq_psn, sq_psn;
	RD_FIELD(uint16_t) dlid;
	uint32_t mask;		/* enum ib_qp_attr_mask */
	struct rd_qp_seen seen; /* what this call set */
	uint32_t pid, tid;	/* of the initial pid namespace; 0: nobody's doing */
	char comm[16];
	char ibdev[64]; /* empty: not known */
	char *cgroup;	/* owned; NULL: not known */
	char *job;	/* likewise; by analysis */
	/* By analysis, of the state that was left: */
	RD_FIELD(double) age_seconds, age_max_seconds;
	enum rd_age_kind age_kind;
};

/* States as what calls go from or to: enum rd_qp_state, and none or not known. Durations are counted by power of two ns. */
#define RD_QP_ENDS 8
#define RD_QP_END_NONE 7
#define RD_QP_DURATIONS 64

void rd_qp_event_deinit(struct rd_qp_event *event);

/* "QP_FATAL", "PORT_ERR" …: enum ib_event_type as libibverbs names them; NULL for a number that has none. */
const char *rd_ib_event_name(unsigned code);

/* A bit of enum ib_qp_attr_mask: "STATE", "AV" …; NULL for one that has none. */
const char *rd_qp_attr_name(unsigned bit);
#define RD_QP_ATTR_BITS 32

#endif
