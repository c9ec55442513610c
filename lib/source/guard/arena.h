/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to a source with their answers, in memory that a child that asks shares with its parent: what it had learnt
 * before it hung is not lost, and its parent sees at what it hangs.
 */
#ifndef RD_SOURCE_ARENA_H
#define RD_SOURCE_ARENA_H

#include "source/shared/question.h"

/* Behind it `size` bytes and a NUL, or the struct rd_err of a negative result. */
struct rd_answer {
	int64_t result;
	uint64_t number, size;
	uint8_t data[];
};

struct rd_arena;

/* NULL: no memory. The pages are taken when they are written. */
struct rd_arena *rd_arena_create(void);
void rd_arena_destroy(struct rd_arena *arena);

/* For the child. A question is there for the parent to see before it is asked; NULL: it does not fit any more. */
const struct rd_question *rd_arena_ask(struct rd_arena *arena, const struct rd_question *head, const void *data);
/* The answer to the last question. One that does not fit becomes -EFBIG. */
const struct rd_answer *rd_arena_answer(struct rd_arena *arena, const struct rd_answer *head, const void *data,
					const struct rd_err *err);
void rd_arena_finish(struct rd_arena *arena);

/* For the parent. The first grows with each answer; finished: the child came to its end; dismissed: it is to end with its
 * next answer. */
uint64_t rd_arena_answered(const struct rd_arena *arena);
bool rd_arena_finished(const struct rd_arena *arena);
void rd_arena_dismiss(struct rd_arena *arena);
bool rd_arena_dismissed(const struct rd_arena *arena);

/* Goes on from `*at` (0: the first): the next question. 1: and its answer; 0: which has not come; -1: there is no further
 * question. Only a 1 advances `*at`. */
int rd_arena_next(const struct rd_arena *arena, uint64_t *at, const struct rd_question **question,
		  const struct rd_answer **answer);

#endif
