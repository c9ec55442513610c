/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the user stacks of live processes. Which file is mapped where, the kernel says. Who is called what in it, libdw
 * says, in a process of its own for each traced process, which has its files open and else nothing (confine/confine.h): files
 * of untrusted processes are foreign bytes.
 */
#ifndef RD_TRACE_USTACK_H
#define RD_TRACE_USTACK_H

#include "base/err.h"
#include "confine/confine.h"
#include "model/trace/event.h"

struct rd_ustack; /* remembers the last processes and their maps */

/* -errno with `err` filled. The processes it starts are children of the caller, who collects them. */
int rd_ustack_create(struct rd_ustack **ret, struct rd_err *err);
void rd_ustack_destroy(struct rd_ustack *ustack);

/*
 * Fills function, object, offset, and file and line where debug information is at hand (in the file itself or below
 * /usr/lib/debug by build-id; none is fetched). `pid` is as we see it. What cannot be known stays NULL: the process may
 * have gone before anybody asked, or may not be ours to look at. -errno with `err` filled where the process that parses died
 * or gave no answer, once for each traced process: it is not asked again, and object and offset are all that is known. Waits
 * five seconds at most, and three times only.
 */
int rd_ustack_resolve(struct rd_ustack *ustack, uint32_t pid, struct rd_frame *frames, size_t n, struct rd_err *err);

/* What is in force in the process that answered last; not `active`: none has. */
const struct rd_confined *rd_ustack_confined(const struct rd_ustack *ustack);

#endif
