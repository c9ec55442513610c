/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the failing exits of one call, in the order of time, to the chain that explains what its caller saw.
 *
 * Exit hooks see a function fail only when it returns, so a record lists failures from the inside out. An exit that
 * does not enclose the one before it starts a new branch: the earlier failure was swallowed (and something else was
 * tried), or is being cleaned up after. Within a branch each exit encloses the one before.
 *
 *     pin -14 · register -14 · handler -14 · root -14         one branch, one run: all of it is shown
 *     lookup -2 · find -2 · check -22 · root -22              one branch, two runs: -2 was turned into -22 on the way up.
 *                                                             Both are shown, the inner run marked as translated
 *     probe -95 | pin -14 · root -14                          two branches: the first was swallowed and is left out
 *     alloc -12 | undo -22 · create -12 · root -12            the call failed with -12, undoing it failed with -22: the
 *                                                             branch that ends in the errno of the root wins
 *
 * So: the final run is what has the root's errno at the end of the last branch. Where the rest of that branch has
 * another errno, the latest of the three branches before it that ends in the root's errno takes its place (a clean-up
 * that failed does not say why the call did); only if there is none was the errno translated. A retry that failed twice
 * alike is told by its last attempt. Where the record had no room for the earlier branch, its origin, which the record
 * names, stands for it. What remains undecidable from exits: a swallowed failure with the same errno as a later,
 * translated one.
 */
#ifndef RD_ANALYSE_CHAIN_H
#define RD_ANALYSE_CHAIN_H

#include "model/trace/event.h"

/*
 * Settles event->chain, in place, and sets event->origin to its first link: where it began, also if the errno was turned
 * into another. The tracing programs find the same origin for their counts. Links with an errno of the wrong sign are
 * left out. The root stands at the end even if the record had no room for it.
 */
void rd_chain_settle(struct rd_event *event);

#endif
