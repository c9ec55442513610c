/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Shared by the recorder of queue pairs and user space: one record per transition or event, and the configuration.
 * A reader treats a record as untrusted input.
 */
#ifndef RD_BPF_QP_H
#define RD_BPF_QP_H

#include <linux/types.h>

/* The role of a hooked function. */
enum rd_qp_role {
	RD_QP_ROLE_NONE = 0,
	RD_QP_ROLE_MODIFY,   /* int (struct ib_qp *, struct ib_qp_attr *, int mask, …): entry and exit */
	RD_QP_ROLE_CREATE,   /* returns struct ib_qp * */
	RD_QP_ROLE_DESTROY,  /* (struct ib_qp *, …), entry */
	RD_QP_ROLE_EVENT,    /* (struct ib_event *, …) about a queue pair, entry */
	RD_QP_ROLE_DISPATCH, /* (const struct ib_event *) about a device or a port, entry */
	RD_QP_ROLE_COUNT,
};

/* Fields of struct ib_qp_attr, with the same names; the last ones are in ah_attr. Those up to RD_QPA_ENUMS are 32 bits wide. */
enum rd_qp_attr_field {
	RD_QPA_STATE,
	RD_QPA_CUR_STATE,
	RD_QPA_PATH_MTU,
	RD_QPA_DEST_QPN,
	RD_QPA_RQ_PSN,
	RD_QPA_SQ_PSN,
	RD_QPA_FLOW_LABEL,
	RD_QPA_AH_TYPE,
	RD_QPA_ENUMS,
	RD_QPA_PORT = RD_QPA_ENUMS,
	RD_QPA_TIMEOUT,
	RD_QPA_RETRY_CNT,
	RD_QPA_RNR_RETRY,
	RD_QPA_MIN_RNR_TIMER,
	RD_QPA_MAX_RD_ATOMIC,
	RD_QPA_MAX_DEST_RD_ATOMIC,
	RD_QPA_SGID_INDEX,
	RD_QPA_HOP_LIMIT,
	RD_QPA_TRAFFIC_CLASS,
	RD_QPA_SL,
	RD_QPA_AH_FLAGS,
	RD_QPA_COUNT,
};

/* Set before the programs are loaded. Offsets in bytes, from the BTF of the loaded modules; -1: unknown. */
struct rd_qp_config {
	__s32 attr[RD_QPA_COUNT]; /* in struct ib_qp_attr */
	__s32 dgid, dlid;	  /* likewise; 16 and 2 bytes */
	__s32 qp_num, qp_type, qp_device, ibdev_name, ibdev_index;
	__s32 event_device, event_element, event_code; /* in struct ib_event */
};

struct rd_qp_rec {
	__u64 time;	/* CLOCK_MONOTONIC, ns; of MODIFY: when the call returned */
	__u64 duration; /* ns; MODIFY only */
	__u64 cgroup;	/* of the caller, as are pid, tid and comm; 0 for events, which have no caller */
	__u32 role;	/* enum rd_qp_role */
	__s32 ret;	/* return value of MODIFY */
	__u32 pid, tid; /* in the PID namespace of the command; 0: not visible there */
	__u32 qpn;	/* DISPATCH: the port, for events of a port */
	__u32 qp_type;	/* enum ib_qp_type */
	__u32 mask;	/* enum ib_qp_attr_mask */
	__u32 event;	/* enum ib_event_type */
	__u64 known;	/* 1 << enum rd_qp_attr_field: read; RD_QP_HAS_* */
	__u32 wide[RD_QPA_ENUMS];
	__u8 narrow[RD_QPA_COUNT - RD_QPA_ENUMS];
	__u8 dgid[16];
	__u16 dlid;
	char comm[16];
	char ibdev[64];
};
#define RD_QP_HAS_QPN (1ull << 32)
#define RD_QP_HAS_TYPE (1ull << 33)
#define RD_QP_HAS_DGID (1ull << 34)
#define RD_QP_HAS_DLID (1ull << 35)

/*
 * What is known of each existing queue pair: the map RD_QP_MAP, which other commands find by its name. Key: struct rd_qp_key. A value
 * that can be misread by an older or newer program gets another RD_QP_MAP_VERSION.
 */
#define RD_QP_MAP "rdmadiag_qps" /* the kernel keeps 15 characters */
#define RD_QP_MAP_VERSION 1
#define RD_QP_MAP_ENTRIES 65536 /* 12 MB; of more queue pairs nothing is known */

struct rd_qp_key {
	__u32 dev; /* index of the device (RDMA_NLDEV_ATTR_DEV_INDEX), which the kernel does not reuse soon */
	__u32 qpn;
};
/* dev and qpn of the head, a value with version and time (of the start), which exists only while the recorder records: hooks may take
 * long to detach, and meanwhile the other entries are outdated. */
#define RD_QP_KEY_HEAD 0xffffffffu

struct rd_qp_value {
	__u32 version, qpn;
	__u64 time;	  /* CLOCK_MONOTONIC, ns: when the call that moved it to its state returned */
	__u64 event_time; /* of its last event; 0: none */
	__u64 updated;	  /* of the last call or event */
	__u64 known;	  /* as in struct rd_qp_rec, of what was set since it left RESET; RD_QP_ENTERED */
	__u32 pid; /* that created it, or made the first recorded call; 0: not visible in the PID namespace of the recorder */
	__u32 qp_type;
	__s32 err; /* of the last modify_qp that failed; 0: none */
	__u32 event;
	__u32 wide[RD_QPA_ENUMS];
	__u8 narrow[RD_QPA_COUNT - RD_QPA_ENUMS];
	__u8 unused;
	__u16 dlid;
	__u8 dgid[16];
};
#define RD_QP_ENTERED (1ull << 40) /* it was in another state before `time` */

/* Durations of MODIFY are counted in the kernel, by new state (enum ib_qp_state; the last: no state set) and power of two ns. */
#define RD_QP_STATES 8
#define RD_QP_NO_STATE 7
#define RD_QP_POWERS 64

/*
 * What drivers fill in for ib_query_qp (query.bpf.c): the map RD_QUERY_MAP has an entry for each queue pair that a thread queried, by struct
 * rd_qp_key.
 */
#define RD_QUERY_MAP "rdmadiag_query"
#define RD_QUERY_VERSION 1
#define RD_QUERY_ENTRIES_MAX 262144 /* 50 MB; more queue pairs than that have no peer */

/* Set before the programs are loaded. Offsets in struct ib_qp_attr as in struct rd_qp_config. */
struct rd_query_config {
	struct rd_qp_config qp;
	__s32 path_mig, alt_dgid, alt_dlid, alt_port, alt_timeout;
	__u32 attr_size;	/* of struct ib_qp_attr */
	__u32 thread;		/* whose queries are looked at, in this PID namespace: */
	__u64 ns_dev, ns_inode; /* st_dev and st_ino of /proc/self/ns/pid */
};

/* Members are as the memory had them: only some of them were written by the driver. */
struct rd_query_value {
	struct rd_qp_value qp; /* version: RD_QUERY_VERSION; time: when the query returned */
	__u32 path_mig;
	__u16 alt_dlid;
	__u8 alt_port, alt_timeout;
	__u8 alt_dgid[16];
};
/* More of rd_query_value.qp.known. */
#define RD_QUERY_HAS_MIG (1ull << 41)
#define RD_QUERY_HAS_ALT (1ull << 42)

#endif
