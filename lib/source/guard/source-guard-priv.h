/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the guard share. */
#ifndef RD_SOURCE_GUARD_PRIV_H
#define RD_SOURCE_GUARD_PRIV_H

#include "source/guard/answers.h"
#include "source/guard/source-guard.h"
#include "source/opener/child.h"

#define RD_WAITING_MAX 64

/* A child that asks, and what of its arena is known. */
struct asker {
	pid_t pid;
	int fd; /* a byte comes when it is done; the end, when it died */
	struct rd_arena *arena;
	uint64_t at;
	int64_t since;		      /* when it last answered */
	struct rd_child_state asleep; /* as it was when it had begun to sleep */
	size_t entry;		      /* the question that it was given up at */
};

struct guard {
	struct rd_asking asking;
	struct rd_source *inner; /* of a bundle: NULL but in a child that has opened it */
	char *bundle;		 /* NULL: none */
	size_t sample;		 /* of the bundle */
	int64_t deadline_ms;
	struct rd_answers answers;
	struct rd_stalls stalls;
	struct rd_arena *arena;		      /* NULL but in a child: where it writes */
	struct asker waiting[RD_WAITING_MAX]; /* those given up that may answer yet */
	size_t n_waiting;
};

/* Milliseconds. */
int64_t rd_guard_left(const struct guard *guard);

/* Has a child ask what `fn` asks of the guard and has no answer yet, and another one where that is given up. */
void rd_guard_ask(struct guard *guard, rd_guard_fn *fn, void *arg);

/* In a child: asks, and writes down what is answered. Does not return where there is no more room, or nobody waits. */
struct rd_entry *rd_guard_ask_here(struct guard *guard, const struct rd_question *head, const void *data);

#endif
