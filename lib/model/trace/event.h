/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One failed verb, decoded: the record, joined with what the host reports about its process and device. */
#ifndef RD_MODEL_EVENT_H
#define RD_MODEL_EVENT_H

#include "base/base.h"
#include "model/trace/explanation.h"
#include "model/trace/moment.h"
#include "model/trace/request.h"

struct rd_link {
	int fn;		 /* function id; -1: unknown */
	int err;	 /* negative errno */
	bool branch;	 /* as recorded: this exit does not enclose the one before it. Not set in a settled chain */
	bool translated; /* part of an inner run: a caller returned a different errno */
};

struct rd_frame {
	uint64_t addr;
	char *function;	 /* NULL: unknown */
	char *object;	 /* module, or path of the file; NULL: unknown */
	uint64_t offset; /* into the function if it is known, else into the object */
	RD_FIELD(int) line;
	char *file;
};

struct rd_event {
	uint64_t time_ns;  /* CLOCK_REALTIME */
	uint32_t pid, tid; /* in our PID namespace; 0: not visible there */
	uint32_t uid;
	char comm[16];
	char *cgroup;	    /* path below the unified hierarchy's mount; NULL: unknown */
	char *job;	    /* "slurm:1234.0", "kubernetes:<pod uid>"; NULL: none known */
	char *ibdev;	    /* NULL: none, or unknown */
	uint64_t verb_key;  /* RD_VERB_*: see bpf/record.h */
	uint16_t num_attrs; /* of an uverbs ioctl: attributes in its header; 0: none, or not an ioctl */
	uint32_t dev;	    /* kernel dev_t of the character device; 0: unknown */
	uint64_t cgroup_id;
	char *object; /* "QP", "0x1003" if it has no name; NULL: unknown */
	char *method; /* "QP_CREATE", "INVOKE_WRITE:MODIFY_QP" */
	char *verb;   /* "ibv_modify_qp", "rdma_bind_addr"; NULL: unknown */
	RD_FIELD(uint32_t) qpn;
	RD_FIELD(uint32_t) port;
	int err;    /* negative errno, as the root returned it */
	int root;   /* function id; -1: unknown */
	int origin; /* likewise: chain[0].fn, even if a caller returned a different errno */
	/* Whether the origin itself produced the errno: no function that it calls and that is not traced can have returned it. */
	bool origin_exact;
	uint32_t *below; /* function ids: those that can have; empty also if the calls of the origin are unknown */
	size_t n_below;
	char *below_modules; /* likewise: names of modules that were loaded and are not traced yet; NULL: none */
	struct rd_link *chain; /* as recorded: in order of time. Settled (rd_chain_settle): innermost first; translated runs
				* before the final one */
	size_t n_chain;
	unsigned dropped; /* exits that did not fit into the record */
	uint64_t at_ns;	  /* CLOCK_MONOTONIC: when the call returned */
	struct rd_moment moment;
	struct rd_request request;
	struct rd_frame *kstack, *ustack;
	size_t n_kstack, n_ustack;
	const char *ustack_end;	   /* why the user stack ends before its last frame; NULL: it does not. Static */
	size_t ustack_dropped;	   /* frames left out for that reason */
	const char *benign;	   /* why the failure is expected from healthy programs; NULL: it is not. Static */
	struct rd_explanation why; /* of a failure that is not benign */
	char *hint;		   /* the cause, or what to check next, on one line; NULL: nothing is known */
};

void rd_event_deinit(struct rd_event *event);

/* Failures that are expected from healthy programs: of this call, with this errno from this function. */
struct rd_benign_rule {
	uint64_t verb;	    /* RD_VERB_*; 0: any */
	int origin;	    /* function id */
	int err;	    /* negative errno */
	unsigned num_attrs; /* of an uverbs ioctl; 0: any */
	bool unknown_verb;  /* only if the verb could not be read */
};

/* A row of the counts kept in the kernel. */
struct rd_count {
	int origin;    /* function id */
	uint64_t verb; /* RD_VERB_*: see bpf/record.h */
	uint32_t dev;
	int err;
	uint64_t count;
};

struct rd_trace_totals {
	uint64_t events, delivered, lost, uncounted;
	uint64_t benign; /* failures that were only counted: not among the events */
	RD_FIELD(uint64_t)
	missed; /* calls for which the kernel could not run the hook; unknown if it does not report all of them */
	uint64_t missed_at_least; /* lower bound of missed */
	RD_FIELD(uint64_t)
	run_ns; /* CPU time of the programs on all CPUs; unknown unless run statistics were on all the time */
};

/* Why the hooks were detached before the command requested it. */
enum rd_early_end {
	RD_EARLY_END_NOT = 0,
	RD_EARLY_END_DIED,     /* the holder process died */
	RD_EARLY_END_DETACHED, /* requested: --detach-all, SIGTERM */
	RD_EARLY_END_UNREAD,   /* events were not read for too long */
	RD_EARLY_END_CPU,      /* the programs used more CPU than --max-cpu */
};
/* NULL for RD_EARLY_END_NOT; else "holder-died", "detached", "unread", "max-cpu". */
const char *rd_early_end_name(enum rd_early_end why);

#endif
