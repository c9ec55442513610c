/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has been asked of a source, each question once, with its answer. */
#ifndef RD_SOURCE_ANSWERS_H
#define RD_SOURCE_ANSWERS_H

#include "source/guard/arena.h"

struct rd_entry {
	const struct rd_question *question; /* in one of the arenas */
	const struct rd_answer *answer;	    /* NULL: none has come */
	size_t stall;			    /* why, once that is known; else SIZE_MAX */
};

struct rd_answers {
	struct rd_entry *v;
	size_t n, cap;
	uint32_t *index; /* of them by hash, plus 1; 0: free */
	size_t n_index;	 /* a power of two */
	struct rd_arena **arenas;
	size_t n_arenas, cap_arenas;
};

/* NULL: it was not asked. `data` are head->size bytes. Good until the next entry is made. */
struct rd_entry *rd_answers_find(const struct rd_answers *answers, const struct rd_question *head, const void *data);

/* The entry of a question, which is made if there is none; NULL: no memory. */
struct rd_entry *rd_answers_enter(struct rd_answers *answers, const struct rd_question *question);

/* Another arena, which goes away with the answers; NULL: no memory. */
struct rd_arena *rd_answers_room(struct rd_answers *answers);

void rd_answers_deinit(struct rd_answers *answers);

#endif
