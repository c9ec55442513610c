/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/guard/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM ((uint64_t)64 << 20) /* a complete check of a large host needs a tenth of it */

struct rd_arena {
	_Atomic uint64_t requested,
		replied; /* ends of the last request and of the last reply; replied >= requested: none is pending */
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

const struct rd_request *rd_arena_ask(struct rd_arena *arena, const struct rd_request *head, const void *data)
{
	uint64_t at = arena->replied, size = padded(sizeof(*head) + head->size);
	struct rd_request *request = (struct rd_request *)(arena->room + at);

	if (head->size > ROOM || ROOM - at < size + sizeof(struct rd_reply) + sizeof(struct rd_err))
		return NULL;
	*request = *head;
	memcpy(request->data, data, head->size);
	arena->requested = at + size;
	return request;
}

const struct rd_reply *rd_arena_answer(struct rd_arena *arena, const struct rd_reply *head, const void *data,
				       const struct rd_err *err)
{
	uint64_t at = arena->requested;
	struct rd_reply *reply = (struct rd_reply *)(arena->room + at);

	*reply = *head;
	if (reply->result >= 0 && reply->size > ROOM - at - sizeof(*reply) - 1) {
		rd_err_set((struct rd_err *)reply->data, EFBIG, "reading", "reply of %llu bytes is too long",
			   (unsigned long long)head->size);
		reply->result = -EFBIG;
	} else if (reply->result < 0) {
		memcpy(reply->data, err, sizeof(*err));
	} else if (reply->size > 0) {
		memcpy(reply->data, data, reply->size);
	}
	if (reply->result < 0)
		reply->size = sizeof(*err);
	arena->replied = at + padded(sizeof(*reply) + reply->size + 1);
	return reply;
}

void rd_arena_finish(struct rd_arena *arena)
{
	arena->finished = true;
}

uint64_t rd_arena_replied(const struct rd_arena *arena)
{
	return arena->replied;
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

int rd_arena_next(const struct rd_arena *arena, uint64_t *at, const struct rd_request **request,
		  const struct rd_reply **reply)
{
	uint64_t replied = arena->replied;

	if (*at >= replied && *at >= arena->requested)
		return -1;
	*request = (const struct rd_request *)(arena->room + *at);
	if (*at >= replied)
		return 0;
	*reply = (const struct rd_reply *)(arena->room + *at + padded(sizeof(**request) + (*request)->size));
	*at += padded(sizeof(**request) + (*request)->size) + padded(sizeof(**reply) + (*reply)->size + 1);
	return 1;
}
