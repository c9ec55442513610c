/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chain that explains an error, and whether its origin is where the errno came from, or only the innermost traced function above
 * that place.
 *
 * Turns the failed exits of one call, in order of time, into the chain that explains the error its caller received.
 *
 * An exit hook runs when a function returns, so a record lists failures from the innermost function outwards. An exit that does
 * not enclose the previous one starts a new branch: the kernel ignored the earlier failure (and tried something else), or is
 * cleaning up after it. Within a branch, each exit encloses the previous one.
 *
 *     pin -14 · register -14 · handler -14 · root -14         one branch, one run: all of it is shown
 *     lookup -2 · find -2 · check -22 · root -22              one branch, two runs: a caller changed -2 into -22.
 *                                                             Both are shown, the inner run marked as translated
 *     probe -95 | pin -14 · root -14                          two branches: the first was ignored, and is left out
 *     alloc -12 | undo -22 · create -12 · root -12            the call failed with -12, its cleanup with -22: the
 *                                                             branch that ends with the errno of the root is used
 *
 * So: the final run is the end of the last branch with the errno of the root. What is before it is replaced by the first of the three
 * branches before that ends with the errno of the root, too, if a function of the final run can have got the errno from it: a failed
 * cleanup does not explain the failure of the call. If there is none, the rest of the last branch is the reason, and its errno was
 * translated if it is another one. The order alone cannot tell a cleanup from a second attempt, so a later failure with the errno of
 * the root is the rival of the first. If the earlier branch did not fit into the record, its origin, which the record contains, is
 * shown instead.
 */
#ifndef RD_ANALYSE_ORIGIN_H
#define RD_ANALYSE_ORIGIN_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

/*
 * Settles event->chain in place, and sets event->origin to its first link, even if the errno was translated. The BPF programs
 * determine the same origin for their counts, except that they do not know which function calls which; `set` may be NULL: nor does
 * this then. Links with an errno of the wrong sign are left out. The root is always the last link, even if it did not fit into the
 * record.
 */
void rd_chain_settle(struct rd_event *event, const struct rd_fnset *set);

/*
 * Fills origin_exact and below of a settled event with a resolved verb. An origin with a rival is not exact. A function that the
 * origin calls and that is not traced may have returned the errno, unless
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
