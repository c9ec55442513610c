/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a host with itself. Pure; sorts, and else takes one walk up the tree for each function.
 *
 * Twins are accelerators of one model; NICs of one board (ids and subsystem ids), the same function of it, and all below a
 * switch with accelerators or all not; switches of one model at one depth. One stands out if more than two in three of at least
 * four have the usual value; ports, if all but one do, or seven in eight, and if it has not the default route. Where NICs of the usual value are as many as accelerators, or divide their number, and with
 * those that differ they are not, the others are there for something else, and nothing is said of them.
 *
 * Sisters are switches of one model at one depth. One lacks an accelerator, or a NIC of the board that most have, if more than
 * two in three of at least four have more; if what ties it to the others is there (the NICs, the accelerators); and if
 * nothing else has its place. Of two or three switches a clear case is one empty port that makes eight of seven.
 */
#ifndef RD_ANALYSE_SYMMETRY_H
#define RD_ANALYSE_SYMMETRY_H

#include "model/host/symmetry.h"
#include "model/nicmap/port-view.h"

/* `ret` is zeroed by the caller, and to be released. */
void rd_symmetry_find(const struct rd_port_views *views, struct rd_symmetry *ret);

#endif
