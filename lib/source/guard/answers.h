/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to a source, each once, with their replies. */
#ifndef RD_SOURCE_ANSWERS_H
#define RD_SOURCE_ANSWERS_H

#include "base/map.h"
#include "source/guard/arena.h"

struct rd_entry {
	const struct rd_question *question; /* in one of the arenas */
	const struct rd_answer *answer;	    /* NULL: no reply yet */
	size_t stall;			    /* the reason why there is none; SIZE_MAX: unknown */
};

struct rd_answers {
	struct rd_entry *v;
	size_t n, cap;
	struct rd_map map; /* entries by their question */
	struct rd_arena **arenas;
	size_t n_arenas, cap_arenas;
};

/* NULL: not requested yet. `data` has head->size bytes. Valid until the next entry is added. */
struct rd_entry *rd_answers_find(const struct rd_answers *answers, const struct rd_question *head, const void *data);

/* The entry of a request, added if it is missing; NULL: no memory. */
struct rd_entry *rd_answers_enter(struct rd_answers *answers, const struct rd_question *question);

/* A new arena, freed with the answers; NULL: no memory. */
struct rd_arena *rd_answers_room(struct rd_answers *answers);

void rd_answers_deinit(struct rd_answers *answers);

#endif
