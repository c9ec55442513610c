/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One failed verb, decoded: what a record says, joined with what the host knows of its process and device. */
#ifndef RD_MODEL_EVENT_H
#define RD_MODEL_EVENT_H

#include "base/base.h"

struct rd_link {
	int fn;	     /* function id; -1: the record names none of ours */
	int err;     /* negative errno */
	bool branch; /* as recorded: this exit does not enclose the one before it. Not set once the chain is settled */
	bool translated; /* of an inner run, whose errno was turned into another on the way up */
};

struct rd_frame {
	uint64_t addr;
	char *function;	 /* NULL: not known */
	char *object;	 /* module, or path of the file; NULL: not known */
	uint64_t offset; /* into the function if it is known, else into the object */
	RD_FIELD(int) line;
	char *file;
};

struct rd_event {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint32_t pid, tid, uid;
	char comm[16];
	char *cgroup;	    /* path below the unified hierarchy's mount; NULL: not known */
	char *job;	    /* "slurm:1234.0", "kubernetes:<pod uid>"; NULL: none known */
	char *ibdev;	    /* NULL: the call has none, or it is not known */
	uint64_t verb_key;  /* RD_VERB_*: see bpf/record.h */
	uint16_t num_attrs; /* of an uverbs ioctl: attributes in its header; 0: none, or no ioctl */
	uint32_t dev;	    /* kernel dev_t of the character device; 0: not known */
	uint64_t cgroup_id;
	char *object; /* "QP", "0x1003" for one that has no name; NULL: not known */
	char *method; /* "QP_CREATE", "INVOKE_WRITE:MODIFY_QP" */
	char *verb;   /* "ibv_modify_qp", "rdma_bind_addr"; NULL: not known */
	RD_FIELD(uint32_t) qpn;
	RD_FIELD(uint32_t) port;
	int err;	       /* negative errno, as the root returned it */
	int root;	       /* function id; -1: the record names none of ours */
	int origin;	       /* likewise: where it began, chain[0].fn, also if that errno was turned into another */
	struct rd_link *chain; /* as recorded: in the order of time. Settled (rd_chain_settle): innermost first; translated
				* runs before the final one */
	size_t n_chain;
	unsigned dropped; /* exits for which the record had no room */
	struct rd_frame *kstack, *ustack;
	size_t n_kstack, n_ustack;
	const char *benign; /* why healthy programs fail like this; NULL: they do not. Static */
	const char *hint;   /* what to look at; NULL: nothing known. Owned by the hint table */
};

void rd_event_deinit(struct rd_event *event);

/* A row of the counts that the kernel kept. */
struct rd_count {
	int origin;    /* function id */
	uint64_t verb; /* RD_VERB_*: see bpf/record.h */
	uint32_t dev;
	int err;
	uint64_t count;
};

struct rd_trace_totals {
	uint64_t events, delivered, lost, uncounted;
	RD_FIELD(uint64_t) missed; /* hooks that the kernel could not run; unknown where it does not say */
	uint64_t missed_at_least;  /* what is known of them in any case */
	RD_FIELD(uint64_t)
	run_ns; /* of the programs, on all processors together; unknown unless the kernel measured all along */
};

/* Why hooks were taken away before their command asked for it. */
enum rd_let_go {
	RD_LET_GO_NOT = 0,
	RD_LET_GO_DIED,	    /* the process that held them did */
	RD_LET_GO_DETACHED, /* somebody asked: --detach-all, SIGTERM */
	RD_LET_GO_UNREAD,   /* nobody has read what they sent for too long */
	RD_LET_GO_CPU,	    /* they took more than --max-cpu */
};
/* NULL for RD_LET_GO_NOT; else "holder-died", "detached", "unread", "max-cpu". */
const char *rd_let_go_name(enum rd_let_go why);

#endif
