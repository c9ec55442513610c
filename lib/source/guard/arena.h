/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to a source with their replies, in memory that a reading child shares with its parent: replies that it got before it
 * hung are not lost, and the parent sees the request at which it hangs.
 */
#ifndef RD_SOURCE_ARENA_H
#define RD_SOURCE_ARENA_H

#include "source/shared/request.h"

/* Followed by `size` bytes and a NUL, or by the struct rd_err of a negative result. */
struct rd_reply {
	int64_t result;
	uint64_t number, size;
	uint8_t data[];
};

struct rd_arena;

/* NULL: no memory. Pages are allocated when they are written. */
struct rd_arena *rd_arena_create(void);
void rd_arena_destroy(struct rd_arena *arena);

/* For the child. A request is visible to the parent before it is made; NULL: no space left. */
const struct rd_request *rd_arena_ask(struct rd_arena *arena, const struct rd_request *head, const void *data);
/* The reply to the last request. One that does not fit becomes -EFBIG. */
const struct rd_reply *rd_arena_answer(struct rd_arena *arena, const struct rd_reply *head, const void *data,
				       const struct rd_err *err);
void rd_arena_finish(struct rd_arena *arena);

/* For the parent. replied: increases with each reply; finished: the child is done; dismissed: the child exits after its next
 * reply. */
uint64_t rd_arena_replied(const struct rd_arena *arena);
bool rd_arena_finished(const struct rd_arena *arena);
void rd_arena_dismiss(struct rd_arena *arena);
bool rd_arena_dismissed(const struct rd_arena *arena);

/* The next request from `*at` (0: the first). 1: with its reply; 0: without reply yet; -1: no further request. Only 1 advances
 * `*at`. */
int rd_arena_next(const struct rd_arena *arena, uint64_t *at, const struct rd_request **request,
		  const struct rd_reply **reply);

#endif
