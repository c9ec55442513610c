/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
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
 * So: the final run is the end of the last branch with the errno of the root. If the rest of that branch has a different errno,
 * it is replaced by the latest of the three branches before it that ends with the errno of the root (a failed cleanup does not
 * explain the failure of the call); only if there is none, the errno was translated. Of a retry that failed twice with the same
 * errno, the last attempt is shown. If the earlier branch did not fit into the record, its origin, which the record contains, is
 * shown instead. Exits alone cannot distinguish an ignored failure from a later, translated one with the same errno.
 */
#ifndef RD_ANALYSE_CHAIN_H
#define RD_ANALYSE_CHAIN_H

#include "model/trace/event.h"

/*
 * Settles event->chain in place, and sets event->origin to its first link, even if the errno was translated. The BPF programs
 * determine the same origin for their counts. Links with an errno of the wrong sign are left out. The root is always the last
 * link, even if it did not fit into the record.
 */
void rd_chain_settle(struct rd_event *event);

#endif
