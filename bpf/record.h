/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Shared by the BPF programs and user space: the record of one failed call, the keys of the counts, the limits.
 * A reader treats a record as untrusted input, and checks sizes and counts against the received bytes.
 */
#ifndef RD_BPF_RECORD_H
#define RD_BPF_RECORD_H

#include <linux/types.h>

#define RD_CHAIN_MAX 24	  /* failed exits kept per call; real chains have up to 12 */
#define RD_CHAIN_SLOTS 32 /* array size: a power of two, so that a mask bounds an index */
#define RD_STACK_MAX 48	  /* frames of a stack */
#define RD_STACK_SLOTS 64
#define RD_EARLIER 3 /* branches before the last one that are kept to find the origin */
#define RD_COMM_LEN 16
#define RD_NO_FN 0xffffffffu

/* A function exit that returned an errno. In order of time: innermost first. */
struct rd_rec_link {
	__u32 fn;    /* index in the function set: the attach cookie */
	__s16 err;   /* negative errno */
	__u16 flags; /* RD_LINK_* */
};
/* This exit does not enclose the previous one: the kernel ignored an earlier failure, or is cleaning up after it. */
#define RD_LINK_BRANCH 1

/* Which verb. kind << 32 | object << 16 | method; for WRITE, UCMA and FOP the low 32 bits are the command or entry. */
enum rd_verb_kind {
	RD_VERB_NONE = 0,     /* the header is not readable */
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
	__u32 root;   /* function id */
	__u32 origin; /* function id: first function of the chain that led to `err`; see find_origin() in trace.bpf.c */
	__u32 dev;    /* kernel dev_t (major << 20 | minor) of the character device; 0: unknown */
	__u32 qpn;    /* valid with RD_REC_QPN */
	__u16 port;   /* valid with RD_REC_PORT */
	__s16 err;    /* return value of the root: negative errno */
	__u16 n_chain;		  /* links that follow in chain */
	__u16 dropped;		  /* exits that did not fit into the chain */
	__u16 flags;		  /* RD_REC_* */
	__u16 n_kstack, n_ustack; /* frames that follow the chain, kernel first; 8 bytes each */
	__u16 num_attrs;	  /* of the ioctl header; 0 for other entry points */
	char comm[RD_COMM_LEN];
	char ibdev[64]; /* name read from a struct ib_device argument; empty: unknown, use dev */
	struct rd_rec_link chain[RD_CHAIN_SLOTS];
	/* __u64 kstack[n_kstack], ustack[n_ustack] */
};
#define RD_REC_QPN 1
#define RD_REC_PORT 2

/* Exact counts, kept in the kernel even if the ring buffer is full. */
struct rd_count_key {
	__u64 verb;
	__u32 origin;
	__u32 dev;
	__s32 err; /* negative */
	__u32 pad; /* 0 */
};

/* Properties of a function for the programs, packed into 32 bits: RD_CLASS_* and RD_ROOT_* (trace.h), argument indices of a
 * struct ib_qp and a struct ib_device (15: none), and RD_FN_MATCH if --function matches it. */
#define RD_FN_INFO(ret_class, root, qp_arg, dev_arg, match)                                                   \
	((__u32)(ret_class) | (__u32)(root) << 8 | (__u32)((qp_arg)&15) << 16 | (__u32)((dev_arg)&15) << 20 | \
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
	__u64 delivered; /* in the ring buffer */
	__u64 lost;	 /* ring buffer was full */
	__u64 uncounted; /* map of counts was full: missing from by_origin */
	__u64 no_state;	 /* could not allocate the state of a thread: its call was not traced */
	__u64 no_exit;	 /* a root was entered without an exit of the previous one: an exit hook was missed */
	__u64 no_entry;	 /* a root returned without an entry: an entry hook was missed */
};

#endif
