/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/guard/answers.h"

#include <errno.h>
#include <string.h>

static uint32_t *place_of(const struct rd_answers *answers, const struct rd_question *head, const void *data)
{
	uint64_t hash = rd_hash(rd_hash(RD_HASH, head, sizeof(*head)), data, head->size);

	for (size_t i = hash & (answers->n_index - 1);; i = (i + 1) & (answers->n_index - 1)) {
		const struct rd_question *other;

		if (answers->index[i] == 0)
			return &answers->index[i];
		other = answers->v[answers->index[i] - 1].question;
		if (memcmp(other, head, sizeof(*head)) == 0 && memcmp(other->data, data, head->size) == 0)
			return &answers->index[i];
	}
}

struct rd_entry *rd_answers_find(const struct rd_answers *answers, const struct rd_question *head, const void *data)
{
	uint32_t place = answers->n_index ? *place_of(answers, head, data) : 0;

	return place ? &answers->v[place - 1] : NULL;
}

static int widen_index(struct rd_answers *answers)
{
	size_t n = answers->n_index ? answers->n_index * 2 : 1024;
	uint32_t *index = calloc(n, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(answers->index);
	answers->index = index;
	answers->n_index = n;
	for (size_t i = 0; i < answers->n; i++)
		*place_of(answers, answers->v[i].question, answers->v[i].question->data) = (uint32_t)i + 1;
	return 0;
}

struct rd_entry *rd_answers_enter(struct rd_answers *answers, const struct rd_question *question)
{
	uint32_t *place;

	if (answers->n_index < 2 * (answers->n + 1) && widen_index(answers) < 0)
		return NULL;
	place = place_of(answers, question, question->data);
	if (*place == 0) {
		if (rd_grow(&answers->v, &answers->cap, answers->n + 1, sizeof(*answers->v)) < 0)
			return NULL;
		answers->v[answers->n++] = (struct rd_entry){ .question = question, .stall = SIZE_MAX };
		*place = (uint32_t)answers->n;
	}
	return &answers->v[*place - 1];
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
	free(answers->index);
	*answers = (struct rd_answers){ 0 };
}
