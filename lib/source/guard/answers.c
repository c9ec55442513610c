/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/guard/answers.h"

#include <errno.h>
#include <string.h>

static uint64_t hash_of(const struct rd_question *head, const void *data)
{
	return rd_hash(rd_hash(RD_HASH, head, sizeof(*head)), data, head->size);
}

struct rd_entry *rd_answers_find(const struct rd_answers *answers, const struct rd_question *head, const void *data)
{
	uint64_t hash = hash_of(head, data);
	size_t i;

	for (size_t probe = 0; (i = rd_map_next(&answers->map, hash, &probe)) != RD_MAP_END;) {
		const struct rd_question *other = answers->v[i].question;

		if (memcmp(other, head, sizeof(*head)) == 0 && memcmp(other->data, data, head->size) == 0)
			return &answers->v[i];
	}
	return NULL;
}

struct rd_entry *rd_answers_enter(struct rd_answers *answers, const struct rd_question *question)
{
	struct rd_entry *found = rd_answers_find(answers, question, question->data);

	if (found)
		return found;
	if (rd_grow(&answers->v, &answers->cap, answers->n + 1, sizeof(*answers->v)) < 0 ||
	    rd_map_add(&answers->map, hash_of(question, question->data), answers->n) < 0)
		return NULL;
	answers->v[answers->n] = (struct rd_entry){ .question = question, .stall = SIZE_MAX };
	return &answers->v[answers->n++];
}

struct rd_arena *rd_answers_room(struct rd_answers *answers)
{
	struct rd_arena *arena;

	if (rd_grow(&answers->arenas, &answers->cap_arenas, answers->n_arenas + 1, sizeof(*answers->arenas)) < 0)
		return NULL;
	arena = rd_arena_create();
	if (arena)
		answers->arenas[answers->n_arenas++] = arena;
	return arena;
}

void rd_answers_deinit(struct rd_answers *answers)
{
	for (size_t i = 0; i < answers->n_arenas; i++)
		rd_arena_destroy(answers->arenas[i]);
	free(answers->arenas);
	free(answers->v);
	rd_map_deinit(&answers->map);
	*answers = (struct rd_answers){ 0 };
}
