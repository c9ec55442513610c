/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SOURCE_GUARD_H
#define RD_SOURCE_GUARD_H

#include "source/shared/source.h"

/*
 * A source that reads `inner` (which the caller keeps, open for as long and unused meanwhile) and completes all requests together
 * within `limit_ms` milliseconds from now. A reader that sleeps is waited for an eighth of the remaining time; then further
 * requests proceed without it, and at the end it gets up to half of the time that remains then. A request without reply by then
 * is -ETIMEDOUT, as is every request after the deadline. A repeated request gets the same reply. State that requests change in
 * `inner` (sockets that it opens) changes only in child processes. There are no events and no management datagrams.
 */
struct rd_source *rd_source_guard_open(struct rd_source *inner, unsigned limit_ms);

/* Without deadline and child processes: only keeps replies. `inner` NULL: a source of what the opener records (source/opener/opener.h). */
struct rd_source *rd_source_guard_open_alone(struct rd_source *inner);

/* Appends all replies, without memory keys, and the requests without reply, for a guard in the process that this one is the opener of. */
void rd_source_guard_pack(struct rd_source *src, struct rd_buf *out);

/* The same for a bundle, which is also opened in the child. An error of opening it is the reply to every request. */
struct rd_source *rd_source_guard_open_bundle(const char *path, unsigned limit_ms);

/* Discards all replies, and sets a new deadline `limit_ms` from now. */
void rd_source_guard_renew(struct rd_source *src, unsigned limit_ms);

/* Milliseconds left; never negative. */
unsigned rd_source_guard_left(const struct rd_source *src);

/* 0, or -errno of opening the bundle. */
int rd_source_guard_ready(struct rd_source *src, struct rd_err *err);

/*
 * Runs `fn`, which makes the requests to come, in one child without round trips, and keeps the replies. This is only an
 * optimisation: other requests are made one by one.
 */
typedef void rd_guard_fn(struct rd_source *src, void *arg);
void rd_source_guard_ahead(struct rd_source *src, rd_guard_fn *fn, void *arg);

/* The requests without reply, of a guard; valid until it is renewed or closed. */
const struct rd_stalls *rd_source_guard_stalls(const struct rd_source *src);

/* Adds the requests without reply of `other` to those of `src`; `other` may be closed first. */
void rd_source_guard_join(struct rd_source *src, const struct rd_source *other);

#endif
