/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of queue pairs, and resources by owner. */
#ifndef RD_MODEL_QP_GROUPS_H
#define RD_MODEL_QP_GROUPS_H

#include "model/rdma/qp.h"
#include "model/shared/finding.h"

enum rd_qp_by { RD_BY_STATE, RD_BY_PID, RD_BY_DEVICE, RD_BY_PEER, RD_BY_JOB };

/* Health of the path to a peer. A NIC can work with all peers but one, so health is per pair of device and peer. */
enum rd_path_health {
	RD_HEALTH_NONE = 0, /* not a path */
	RD_HEALTH_OK,	    /* all connected */
	RD_HEALTH_STARTING, /* none failed, some not connected yet */
	RD_HEALTH_DEGRADED, /* some failed, stuck, retrying, cut off or slow */
	RD_HEALTH_DEAD,	    /* all failed */
	RD_HEALTH_UNKNOWN,  /* states unknown */
};
const char *rd_path_health_name(enum rd_path_health health); /* NULL for none */

struct rd_qp_group {
	char *label; /* the state, process, job …; owned; NULL: unknown, or none */
	int dev;     /* by device and by peer; else -1 */
	int proc;    /* by process; else -1 */
	uint64_t qps, by_state[RD_QPS_N], unknown;
	uint64_t stuck, retrying; /* by verdict; valid only if judged, and sampled twice */
	uint64_t impaired;	  /* cut off, slow, or without receives */
	bool judged, sampled_twice;
	enum rd_path_health health; /* by peer */
	enum rd_severity worst;	    /* of the verdicts of its queue pairs */
	/* Of unknown peers: addresses that the processes have TCP connections to; owned; NULL: unknown, or the peer is known. */
	struct rd_proc_peers *peers;
	int peers_of; /* the process whose addresses were added last */
};

struct rd_qp_groups {
	enum rd_qp_by by;
	struct rd_qp_group *v; /* largest first; by state: in the order of states; unknown last */
	size_t n, cap;
	uint64_t without_peer; /* by peer: QPs of types without a peer (UD, GSI …), which are in no group */
};
void rd_qp_groups_deinit(struct rd_qp_groups *groups);

/* Objects of one device that a process or a kernel component owns. */
struct rd_res_holder {
	int dev, proc;	    /* proc -1: owned by the kernel, or by a process that has exited */
	const char *kernel; /* the kernel component; points into the rd_res */
	uint64_t held[RD_RES_KINDS];
};

struct rd_res_holders {
	struct rd_res_holder *v; /* by device; the one with most QPs first */
	size_t n, cap;
};

#endif
