/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What traces have attached to this host's kernel: one entry a trace, found by the record that its programs carry. */
#ifndef RD_MODEL_HELD_H
#define RD_MODEL_HELD_H

#include <sys/types.h>

#include "base/base.h"
#include "model/trace/fnset.h"

enum rd_hold_state {
	RD_HOLD_ATTACHING,
	RD_HOLD_ON,
	RD_HOLD_DETACHING,
};

#define RD_HOLD_MAP "rdmadiag_owner"
#define RD_HOLD_MAGIC "rdmadiag hooks\n"
#define RD_HOLD_VERSION 1

/*
 * The record. It is the one value of an array map of the name above, which is bound to every program of the trace, so that it is
 * there as long as they are, whatever became of processes. Later versions add at the end. All of it is foreign input to
 * a reader.
 */
struct rd_hold_record {
	char magic[16];
	uint32_t version;
	uint32_t state;		 /* enum rd_hold_state */
	uint32_t holder, reader; /* processes, as the holder's pid namespace numbers them */
	uint64_t holder_start;	 /* clock ticks after boot, as in /proc/PID/stat; 0: not known */
	uint64_t since;		 /* ns since the epoch: when attaching began */
	uint32_t functions[8];	 /* hooked, by enum rd_backend */
	char what[16];		 /* the command of ours: "trace-errno", "qp-state" */
	char command[192];	 /* its whole command line, or the beginning */
};

/* A process that holds hooks, as /proc has it. */
struct rd_holder_proc {
	pid_t pid, parent;
	pid_t own_pid;	/* as its own pid namespace numbers it */
	uint64_t start; /* clock ticks after boot */
	char state;	/* 'S', 'T' (stopped) … */
	bool exiting;	/* it was killed or has ended; the kernel is closing its descriptors */
};

struct rd_held {
	struct rd_hold_record owner; /* its texts end in NUL */
	uint32_t map;		     /* id of the map with the record */
	uint32_t uid;		     /* who loaded its programs, as the kernel has it */
	size_t programs, links;
	uint64_t run_ns, runs;	    /* of these programs, as far as run statistics were on */
	struct rd_holder_proc proc; /* pid 0: it is not to be seen, or gone */
	RD_FIELD(pid_t) reader;	    /* as this process numbers it */
	char *user;		    /* NULL: no name is known */
	const char *result;	    /* of detaching; static; NULL: nobody asked */
};

struct rd_held_list {
	struct rd_held *v;
	size_t n, cap;
	RD_FIELD(bool) run_stats; /* whether the kernel measures programs now */
};

static inline void rd_held_list_deinit(struct rd_held_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].user);
	free(list->v);
	*list = (struct rd_held_list){ 0 };
}

#endif
