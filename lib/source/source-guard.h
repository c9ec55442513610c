/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SOURCE_GUARD_H
#define RD_SOURCE_GUARD_H

#include "source/source.h"

/*
 * A source that asks `inner` (which stays the caller's, open for as long, and is used by nobody else meanwhile) and answers
 * in any case within `limit_ms` milliseconds from now, all questions together. One answer that does not come takes at most
 * an eighth of the time that is left: it is -ETIMEDOUT, and so is everything behind the deadline. What changes in `inner`
 * by being asked (sockets that it opens) happens in a child process. There are no events and no management datagrams.
 */
int rd_source_guard_open(struct rd_source *inner, unsigned limit_ms, struct rd_source **ret, struct rd_err *err);

/*
 * Lets `fn` read all that is going to be asked, in one process and without a word between, and keeps the answers: who asks
 * the same in the same order then is told them. Only makes it faster: where `fn` hangs or asks something else, the rest is
 * asked one by one.
 */
typedef void rd_guard_fn(struct rd_source *src, void *arg);
void rd_source_guard_ahead(struct rd_source *src, rd_guard_fn *fn, void *arg);

/* What gave no answer, of a source that was opened so; good until it is closed. */
const struct rd_errlist *rd_source_guard_stalls(const struct rd_source *src);

#endif
