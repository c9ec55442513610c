/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolves user stacks of live processes. The mapped files come from the kernel. The symbols come from libdw, which runs in a
 * separate confined process per traced process (confine/confine.h), with access only to the mapped files: they are untrusted
 * input.
 */
#ifndef RD_TRACE_USTACK_H
#define RD_TRACE_USTACK_H

#include "base/err.h"
#include "confine/confine.h"
#include "model/trace/event.h"

struct rd_ustack; /* caches the last processes and their maps */

/* -errno with `err` filled. The processes it starts are children of the caller, which reaps them. */
int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err);
void rd_ustack_destroy(struct rd_ustack *ustack);

/* Why a stack ends before its last frame. */
struct rd_ustack_cut {
	size_t dropped;	 /* frames; 0: none */
	const char *why; /* "the next frame is not in executable memory: ..."; NULL: none was dropped. Static */
};

/*
 * Fills function, object, offset, and file and line if there is debug information (in the file itself, or below /usr/lib/debug by
 * build-id; nothing is downloaded). `pid` is in our PID namespace. Unknown fields stay NULL: the process may have ended, or may
 * not be accessible. -errno with `err` filled if the child died or timed out, once per traced process: from then on only object and
 * offset of its frames are filled. Waits at most five seconds, and at most three times.
 *
 * The kernel follows frame pointers. In code without them, that register contains any number, and the next frames are not return
 * addresses. The first of them that cannot be one ends the stack: `*n` becomes smaller, and `cut` has the reason. The first frame
 * stays, because it is the instruction pointer; all frames stay if the mappings of the process were never readable.
 */
int rd_ustack_resolve(struct rd_ustack *ustack, uint32_t pid, struct rd_frame *frames, size_t *n,
		      struct rd_ustack_cut *cut, struct rd_err *err);

/* The confinement of the child that responded last; not `active`: none has responded. */
const struct rd_confined *rd_ustack_confined(const struct rd_ustack *ustack);

#endif
