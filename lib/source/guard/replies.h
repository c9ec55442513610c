/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to a source, each once, with their replies. */
#ifndef RD_SOURCE_REPLIES_H
#define RD_SOURCE_REPLIES_H

#include "base/map.h"
#include "source/guard/arena.h"

struct rd_entry {
	const struct rd_request *request; /* in one of the arenas */
	const struct rd_reply *reply;	  /* NULL: no reply yet */
	size_t stall;			  /* the reason why there is none; SIZE_MAX: unknown */
};

struct rd_replies {
	struct rd_entry *v;
	size_t n, cap;
	struct rd_map map; /* entries by their request */
	struct rd_arena **arenas;
	size_t n_arenas, cap_arenas;
};

/* NULL: not requested yet. `data` has head->size bytes. Valid until the next entry is added. */
struct rd_entry *rd_replies_find(const struct rd_replies *replies, const struct rd_request *head, const void *data);

/* The entry of a request, added if it is missing; NULL: no memory. */
struct rd_entry *rd_replies_enter(struct rd_replies *replies, const struct rd_request *request);

/* A new arena, freed with the replies; NULL: no memory. */
struct rd_arena *rd_replies_add_arena(struct rd_replies *replies);

void rd_replies_deinit(struct rd_replies *replies);

#endif
