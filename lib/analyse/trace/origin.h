/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the origin of an event is where the errno came from, or only the innermost traced function above that place. */
#ifndef RD_ANALYSE_ORIGIN_H
#define RD_ANALYSE_ORIGIN_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

/*
 * Fills origin_exact and below of a settled event with a resolved verb. Before that, it leaves the links out of the chain that the
 * call graph shows to be of another call, which the kernel ignored; the counts of the kernel do not know that. A function that the origin calls and that is not traced may
 * have returned the errno, unless
 * - it cleans up, and the call does not: its result is ignored;
 * - it looks up an object by its handle, and all objects that the request names were found;
 * - it counts references or prints.
 * So may the function of a command that an ioctl carries, which the handler of INVOKE_WRITE calls through a table.
 */
void rd_origin_judge(struct rd_event *event, const struct rd_fnset *set);

/*
 * The functions to trace so that the next failure at the origin of this event shows a deeper origin: `below`, what they call, and
 * callbacks that no call graph shows. Sets add[set->n_fns]. Returns their number; 0: nothing is left that could be traced.
 */
size_t rd_origin_deepen(const struct rd_event *event, const struct rd_fnset *set, bool *add);

#endif
