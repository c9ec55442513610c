/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traces attached to the kernel of this host: one entry per trace, found by the record that its programs carry. */
#ifndef RD_MODEL_HELD_H
#define RD_MODEL_HELD_H

#include <sys/types.h>

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
 * The record: the only value of an array map with the name above. The map is bound to every program of the trace, so it exists as
 * long as they do, even after the processes have ended. Later versions append fields. Untrusted input to a reader.
 */
struct rd_hold_record {
	char magic[16];
	uint32_t version;
	uint32_t state;		 /* enum rd_hold_state */
	uint32_t holder, reader; /* process IDs in the PID namespace of the holder */
	uint64_t holder_start;	 /* clock ticks after boot, as in /proc/PID/stat; 0: unknown */
	uint64_t since;		 /* ns since the epoch: start of attaching */
	uint32_t functions[8];	 /* hooked functions, per enum rd_backend */
	char what[16];		 /* the subcommand: "trace-errno", "qp-state" */
	char command[192];	 /* command line, truncated to fit */
};

/* A process that holds hooks, from /proc. */
struct rd_holder_proc {
	pid_t pid, parent;
	pid_t own_pid;	/* in its own PID namespace */
	uint64_t start; /* clock ticks after boot */
	char state;	/* 'S', 'T' (stopped) … */
	bool exiting;	/* killed or ended; the kernel is closing its descriptors */
};

struct rd_held {
	struct rd_hold_record owner; /* its strings are NUL-terminated */
	uint32_t map;		     /* id of the map with the record */
	uint32_t uid;		     /* the user that loaded its programs, as the kernel reports it */
	size_t programs, links;
	uint64_t run_ns, runs;	    /* of these programs, while run statistics were on */
	struct rd_holder_proc proc; /* pid 0: not visible, or ended */
	RD_FIELD(pid_t) reader;	    /* in the PID namespace of this process */
	char *user;		    /* NULL: unknown */
	const char *result;	    /* of --detach-all; static; NULL: not requested */
};

struct rd_held_list {
	struct rd_held *v;
	size_t n, cap;
	RD_FIELD(bool) run_stats; /* whether run statistics are on */
};

static inline void rd_held_list_deinit(struct rd_held_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].user);
	free(list->v);
	*list = (struct rd_held_list){ 0 };
}

#endif
