/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/guard/replies.h"

#include <string.h>

static uint64_t hash_of(const struct rd_request *head, const void *data)
{
	return rd_hash(rd_hash(RD_HASH, head, sizeof(*head)), data, head->size);
}

struct rd_entry *rd_replies_find(const struct rd_replies *replies, const struct rd_request *head, const void *data)
{
	uint64_t hash = hash_of(head, data);
	size_t i;

	for (size_t probe = 0; (i = rd_map_next(&replies->map, hash, &probe)) != RD_MAP_END;) {
		const struct rd_request *other = replies->v[i].request;

		if (memcmp(other, head, sizeof(*head)) == 0 && memcmp(other->data, data, head->size) == 0)
			return &replies->v[i];
	}
	return NULL;
}

struct rd_entry *rd_replies_enter(struct rd_replies *replies, const struct rd_request *request)
{
	struct rd_entry *found = rd_replies_find(replies, request, request->data);

	if (found)
		return found;
	if (rd_grow(&replies->v, &replies->cap, replies->n + 1, sizeof(*replies->v)) < 0 ||
	    rd_map_add(&replies->map, hash_of(request, request->data), replies->n) < 0)
		return NULL;
	replies->v[replies->n] = (struct rd_entry){ .request = request, .stall = SIZE_MAX };
	return &replies->v[replies->n++];
}

struct rd_arena *rd_replies_add_arena(struct rd_replies *replies)
{
	struct rd_arena *arena;

	if (rd_grow(&replies->arenas, &replies->cap_arenas, replies->n_arenas + 1, sizeof(*replies->arenas)) < 0)
		return NULL;
	arena = rd_arena_create();
	if (arena)
		replies->arenas[replies->n_arenas++] = arena;
	return arena;
}

void rd_replies_deinit(struct rd_replies *replies)
{
	for (size_t i = 0; i < replies->n_arenas; i++)
		rd_arena_destroy(replies->arenas[i]);
	free(replies->arenas);
	free(replies->v);
	rd_map_deinit(&replies->map);
	*replies = (struct rd_replies){ 0 };
}
