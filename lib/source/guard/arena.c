/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/guard/arena.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM ((uint64_t)64 << 20) /* a complete check of a large host needs a tenth of it */

struct rd_arena {
	_Atomic uint64_t asked,
		answered; /* ends of the last request and of the last reply; answered >= asked: none is pending */
	_Atomic bool finished, dismissed;
	_Alignas(8) uint8_t room[];
};

static uint64_t padded(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

struct rd_arena *rd_arena_create(void)
{
	void *arena = mmap(NULL, sizeof(struct rd_arena) + ROOM, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return arena == MAP_FAILED ? NULL : arena;
}

void rd_arena_destroy(struct rd_arena *arena)
{
	if (arena)
		munmap(arena, sizeof(*arena) + ROOM);
}

const struct rd_question *rd_arena_ask(struct rd_arena *arena, const struct rd_question *head, const void *data)
{
	uint64_t at = arena->answered, size = padded(sizeof(*head) + head->size);
	struct rd_question *question = (struct rd_question *)(arena->room + at);

	if (head->size > ROOM || ROOM - at < size + sizeof(struct rd_answer) + sizeof(struct rd_err))
		return NULL;
	*question = *head;
	memcpy(question->data, data, head->size);
	arena->asked = at + size;
	return question;
}

const struct rd_answer *rd_arena_answer(struct rd_arena *arena, const struct rd_answer *head, const void *data,
					const struct rd_err *err)
{
	uint64_t at = arena->asked;
	struct rd_answer *answer = (struct rd_answer *)(arena->room + at);

	*answer = *head;
	if (answer->result >= 0 && answer->size > ROOM - at - sizeof(*answer) - 1) {
		rd_err_set((struct rd_err *)answer->data, EFBIG, "reading", "reply of %llu bytes is too long",
			   (unsigned long long)head->size);
		answer->result = -EFBIG;
	} else if (answer->result < 0) {
		memcpy(answer->data, err, sizeof(*err));
	} else if (answer->size > 0) {
		memcpy(answer->data, data, answer->size);
	}
	if (answer->result < 0)
		answer->size = sizeof(*err);
	arena->answered = at + padded(sizeof(*answer) + answer->size + 1);
	return answer;
}

void rd_arena_finish(struct rd_arena *arena)
{
	arena->finished = true;
}

uint64_t rd_arena_answered(const struct rd_arena *arena)
{
	return arena->answered;
}

bool rd_arena_finished(const struct rd_arena *arena)
{
	return arena->finished;
}

void rd_arena_dismiss(struct rd_arena *arena)
{
	arena->dismissed = true;
}

bool rd_arena_dismissed(const struct rd_arena *arena)
{
	return arena->dismissed;
}

int rd_arena_next(const struct rd_arena *arena, uint64_t *at, const struct rd_question **question,
		  const struct rd_answer **answer)
{
	uint64_t answered = arena->answered;

	if (*at >= answered && *at >= arena->asked)
		return -1;
	*question = (const struct rd_question *)(arena->room + *at);
	if (*at >= answered)
		return 0;
	*answer = (const struct rd_answer *)(arena->room + *at + padded(sizeof(**question) + (*question)->size));
	*at += padded(sizeof(**question) + (*question)->size) + padded(sizeof(**answer) + (*answer)->size + 1);
	return 1;
}
