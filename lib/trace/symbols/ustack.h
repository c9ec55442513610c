/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds user stacks of live processes, and resolves their symbols. The mapped files come from the kernel. Frames and symbols come from libdw, which runs in a
 * separate confined process per traced process (confine/confine.h), with access only to the mapped files: they are untrusted
 * input.
 */
#ifndef RD_TRACE_USTACK_H
#define RD_TRACE_USTACK_H

#include "confine/confine.h"
#include "model/trace/event.h"

struct rd_ustack; /* caches the last processes and their maps */

/* -errno with `err` filled. The processes it starts are children of the caller, which reaps them. */
int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err);
void rd_ustack_destroy(struct rd_ustack *ustack);

/*
 * Unwinds the stack of an event from the copy that the kernel took (ev->user, which becomes NULL), and fills ev->ustack: function,
 * object, offset, and file and line if there is debug information (in the file itself, or below /usr/lib/debug by build-id; nothing
 * is downloaded). ev->pid is in our PID namespace. Unknown fields stay NULL. -errno with `err` filled if the child died or timed
 * out, once per traced process: from then on only the first frame of its stacks is filled. Waits at most ten seconds, and at most
 * three times.
 *
 * Each step follows the unwind information of the file (.eh_frame, .debug_frame), and must lead behind a call instruction in
 * executable memory; otherwise the stack ends. ev->ustack_end has the reason; NULL: the first function of the thread was reached.
 * The first frame is the instruction pointer.
 */
int rd_ustack_resolve(struct rd_ustack *ustack, struct rd_event *ev, struct rd_err *err);

/* The confinement of the child that responded last; not `active`: none has responded. */
const struct rd_confined *rd_ustack_confined(const struct rd_ustack *ustack);

#endif
