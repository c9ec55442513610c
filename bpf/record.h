/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the tracing programs and user space share: the record of one failed call, the keys of the counts, the knobs.
 * A reader treats a record as foreign input: sizes and counts are checked against what arrived.
 */
#ifndef RD_BPF_RECORD_H
#define RD_BPF_RECORD_H

#include <linux/types.h>

#define RD_CHAIN_MAX 24	  /* failing exits kept per call; the real chains are up to 12 long */
#define RD_CHAIN_SLOTS 32 /* the room for them: a power of two, so that an index can be bounded by a mask */
#define RD_STACK_MAX 48	  /* frames of a stack */
#define RD_STACK_SLOTS 64
#define RD_EARLIER 3 /* branches before the last one that are remembered for finding the origin */
#define RD_COMM_LEN 16
#define RD_NO_FN 0xffffffffu

/* A function exit that returned an errno, in the order of time: innermost first. */
struct rd_rec_link {
	__u32 fn;    /* index in the function set: the attach cookie */
	__s16 err;   /* negative errno */
	__u16 flags; /* RD_LINK_* */
};
/* This exit does not enclose the one before it: an earlier failure was swallowed or is being cleaned up after. */
#define RD_LINK_BRANCH 1

/* Which verb. kind << 32 | object << 16 | method; for WRITE, UCMA and FOP the low 32 bits are the command or entry. */
enum rd_verb_kind {
	RD_VERB_NONE = 0,     /* the header could not be read */
	RD_VERB_IOCTL,	      /* object and method of an uverbs ioctl */
	RD_VERB_INVOKE_WRITE, /* ioctl INVOKE_WRITE: a legacy write command (enum ib_uverbs_write_cmds) */
	RD_VERB_WRITE,	      /* write(2): low 32 bits are the function id of the write handler */
	RD_VERB_UCMA,	      /* rdma_ucm command (enum in rdma_user_cm.h) */
	RD_VERB_FOP,	      /* open, mmap: enum rd_entry */
};
#define RD_VERB(kind, low) ((__u64)(kind) << 32 | (__u32)(low))

struct rd_rec {
	__u64 time;   /* CLOCK_MONOTONIC, ns, when the root returned */
	__u64 cgroup; /* id in the unified hierarchy */
	__u64 verb;
	__u32 pid; /* of the initial pid namespace */
	__u32 tid;
	__u32 uid;
	__u32 root;    /* function id */
	__u32 origin;  /* function id: where the chain that led to `err` begins; see find_origin() in trace.bpf.c */
	__u32 dev;     /* kernel dev_t (major << 20 | minor) of the character device; 0: not known */
	__u32 qpn;     /* valid with RD_REC_QPN */
	__u16 port;    /* valid with RD_REC_PORT; 0 is no port */
	__s16 err;     /* what the root returned: negative errno */
	__u16 n_chain; /* links that follow in chain */
	__u16 dropped; /* exits for which there was no room in the chain */
	__u16 flags;   /* RD_REC_* */
	__u16 n_kstack, n_ustack; /* frames that follow the chain, kernel first; 8 bytes each */
	__u16 num_attrs;	  /* of the ioctl's header; 0 for other doors */
	char comm[RD_COMM_LEN];
	char ibdev[64]; /* name read from a struct ib_device argument; empty: not known, go by dev */
	struct rd_rec_link chain[RD_CHAIN_SLOTS];
	/* __u64 kstack[n_kstack], ustack[n_ustack] */
};
#define RD_REC_QPN 1
#define RD_REC_PORT 2

/* Exact counts, kept in the kernel however full the ring gets. */
struct rd_count_key {
	__u64 verb;
	__u32 origin;
	__u32 dev;
	__s32 err; /* negative */
	__u32 pad; /* 0 */
};

/* What the programs know of a function, packed into 32 bits: RD_CLASS_* and RD_DOOR_* (trace.h), argument numbers of a struct
 * ib_qp and a struct ib_device (15: none), and RD_FN_MATCH where --function names it. */
#define RD_FN_INFO(ret_class, door, qp_arg, dev_arg, match)                                                   \
	((__u32)(ret_class) | (__u32)(door) << 8 | (__u32)((qp_arg)&15) << 16 | (__u32)((dev_arg)&15) << 20 | \
	 (match ? RD_FN_MATCH : 0))
#define RD_FN_RET(info) ((info)&0xff)
#define RD_FN_ENTRY(info) ((info) >> 8 & 0xff)
#define RD_FN_QP_ARG(info) ((info) >> 16 & 15)
#define RD_FN_DEV_ARG(info) ((info) >> 20 & 15)
#define RD_FN_MATCH (1u << 31)
#define RD_FN_NO_ARG 15

/* Per CPU. Sums: events == delivered + lost. */
struct rd_totals {
	__u64 events;	 /* failed roots that passed the filters */
	__u64 delivered; /* in the ring */
	__u64 lost;	 /* no room in the ring */
	__u64 uncounted; /* events that found the table of counts full: by_origin lacks these */
	__u64 no_state;	 /* a thread's state could not be had: its call was not followed */
	__u64 no_exit; /* a root was entered anew although its thread had not been seen to leave: an exit hook was missed */
	__u64 no_entry; /* a root returned although its thread had not been seen to enter: an entry hook was missed */
};

#endif
