/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the parts of the guard. */
#ifndef RD_SOURCE_GUARD_PRIV_H
#define RD_SOURCE_GUARD_PRIV_H

#include "source/guard/replies.h"
#include "source/guard/source-guard.h"
#include "source/opener/child.h"

#define RD_WAITING_MAX 64

/* A reading child, and the state of its arena. */
struct requester {
	pid_t pid;
	int fd; /* a byte when it is done; end of file when it died */
	struct rd_arena *arena;
	uint64_t at;
	int64_t since;		      /* time of its last reply */
	struct rd_child_state asleep; /* as it was when it had begun to sleep */
	size_t entry;		      /* the request at which it was abandoned */
};

struct guard {
	struct rd_forwarder forwarder;
	struct rd_source *inner; /* of a bundle: NULL but in a child that has opened it */
	char *bundle;		 /* NULL: not a bundle */
	size_t sample;		 /* of the bundle */
	int64_t deadline_ms;
	struct rd_replies replies;
	struct rd_stalls stalls;
	struct rd_arena *arena;			  /* in a child: its arena; NULL in the parent */
	struct requester waiting[RD_WAITING_MAX]; /* abandoned children that may still reply */
	size_t n_waiting;
};

/* Milliseconds left. */
int64_t rd_guard_left(const struct guard *guard);

/* Starts a child that makes the requests of `fn` that have no reply yet, and another one if that is abandoned. */
void rd_guard_ask(struct guard *guard, rd_guard_fn *fn, void *arg);

/* In a child: makes a request and stores the reply. Does not return if there is no space left, or the child was dismissed. */
struct rd_entry *rd_guard_ask_here(struct guard *guard, const struct rd_request *head, const void *data);

#endif
