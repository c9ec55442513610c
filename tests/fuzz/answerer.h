/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source that answers every question by netlink with the bytes. What else it is asked, a fuzz-*.c's table of calls says. */
#ifndef RD_FUZZ_ANSWERER_H
#define RD_FUZZ_ANSWERER_H

#include "fuzz.h"

#include "source/bundle/tree.h"
#include "source/shared/netlink.h"

struct answerer {
	struct rd_source src;
	const uint8_t *data;
	size_t size;
};

static inline int answer(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			 struct rd_err *err)
{
	struct answerer *answerer = (struct answerer *)src;

	return rd_bytes_copy(answerer->data, answerer->size, ret);
}

#endif
