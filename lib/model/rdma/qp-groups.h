/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs counted by what they have in common, and who holds how much. */
#ifndef RD_MODEL_QP_GROUPS_H
#define RD_MODEL_QP_GROUPS_H

#include "model/rdma/qp.h"

enum rd_qp_by { RD_BY_STATE, RD_BY_PID, RD_BY_DEVICE, RD_BY_PEER, RD_BY_JOB };

/* How the path to a peer is. One NIC can be fine to all but one: the unit of health is the pair. */
enum rd_path_health {
	RD_HEALTH_NONE = 0, /* not a path */
	RD_HEALTH_OK,	    /* all connected */
	RD_HEALTH_STARTING, /* none has failed, some are not connected yet */
	RD_HEALTH_DEGRADED, /* some have failed, are stuck or get nothing through */
	RD_HEALTH_DEAD,	    /* all have failed */
	RD_HEALTH_UNKNOWN,  /* states are not known */
};
const char *rd_path_health_name(enum rd_path_health health); /* NULL for none */

struct rd_qp_group {
	char *label; /* the state, process, job …; owned; NULL: not known, or none */
	int dev;     /* by device and by peer; else -1 */
	int proc;    /* by process; else -1 */
	uint64_t qps, by_state[RD_QPS_N], unknown;
	uint64_t stuck, retrying; /* by verdict; count only where judged, and where there were two looks */
	bool judged, looked_twice;
	enum rd_path_health health; /* by peer */
};

struct rd_qp_groups {
	enum rd_qp_by by;
	struct rd_qp_group *v; /* the largest first; by state in the order of states; what is not known last */
	size_t n, cap;
	uint64_t without_peer; /* by peer: QPs of types that have none (UD, GSI …), which are in no group */
};
void rd_qp_groups_deinit(struct rd_qp_groups *groups);

/* What a process, or a part of the kernel, holds of one device. */
struct rd_res_holder {
	int dev, proc;	    /* proc -1: the kernel's, or a process that has gone */
	const char *kernel; /* the part of the kernel; points into the rd_res */
	uint64_t held[RD_RES_KINDS];
};

struct rd_res_holders {
	struct rd_res_holder *v; /* by device; the one with most QPs first */
	size_t n, cap;
};

#endif
