/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for the user stacks of live processes. */
#ifndef RD_TRACE_USTACK_H
#define RD_TRACE_USTACK_H

#include "base/err.h"
#include "model/event.h"

struct rd_ustack; /* remembers the last processes and their maps */

/* -errno with `err` filled. */
int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err);
void rd_ustack_destroy(struct rd_ustack *ustack);

/*
 * Fills function, object, offset, and file and line where debug information is at hand (in the file itself or below
 * /usr/lib/debug by build-id; none is fetched). `pid` is as we see it. What cannot be known stays NULL: the process may
 * have gone before anybody asked, or may not be ours to look at. Never waits.
 */
void rd_ustack_resolve(struct rd_ustack *ustack, uint32_t pid, struct rd_frame *frames, size_t n);

#endif
