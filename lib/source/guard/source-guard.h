/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SOURCE_GUARD_H
#define RD_SOURCE_GUARD_H

#include "base/stall.h"
#include "source/shared/source.h"

/*
 * A source that asks `inner` (which stays the caller's, open for as long, and is used by nobody else meanwhile) and answers
 * in any case within `limit_ms` milliseconds from now, all questions together. An answer that does not come while its
 * reader sleeps is waited for an eighth of the time that is left; then further questions go on without it, and in the end
 * it gets up to half of what is left then. What comes by then is an answer, what does not is -ETIMEDOUT, as is everything
 * behind the deadline. Who asks the same again is told the same. What changes in `inner` by being asked (sockets that it
 * opens) happens in child processes. There are no events and no management datagrams.
 */
int rd_source_guard_open(struct rd_source *inner, unsigned limit_ms, struct rd_source **ret, struct rd_err *err);

/* The same of a bundle, which is opened in the child, too. What hinders that is the answer to every question. */
int rd_source_guard_open_bundle(const char *path, unsigned limit_ms, struct rd_source **ret, struct rd_err *err);

/* Forgets all answers, and gives as much time again from now on. */
void rd_source_guard_renew(struct rd_source *src, unsigned limit_ms);

/* Milliseconds that are left; never negative. */
unsigned rd_source_guard_left(const struct rd_source *src);

/* Whether there is something to ask: 0, or -errno of opening the bundle. */
int rd_source_guard_ready(struct rd_source *src, struct rd_err *err);

/*
 * Lets `fn` read all that is going to be asked, in one process and without a word between, and keeps the answers. Only makes
 * it faster: what `fn` does not ask is asked one by one.
 */
typedef void rd_guard_fn(struct rd_source *src, void *arg);
void rd_source_guard_ahead(struct rd_source *src, rd_guard_fn *fn, void *arg);

/* What gave no answer, of a source that was opened so; good until it is renewed or closed. */
const struct rd_stalls *rd_source_guard_stalls(const struct rd_source *src);

/* Tells of `src`, too, what gave no answer of `other`, which may be closed before. */
void rd_source_guard_join(struct rd_source *src, const struct rd_source *other);

#endif
