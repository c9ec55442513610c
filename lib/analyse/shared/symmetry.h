/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares like devices of one host. Pure; sorts, and otherwise walks up the tree once per function.
 *
 * Twins are accelerators of one model; NICs of one board (IDs and subsystem IDs) and the same function of it, either all below
 * switches with accelerators or all not; switches of one model at one depth. One stands out if more than two thirds of at least
 * four have the usual value; a port, if all others or seven in eight have it and the port does not carry the default route. If
 * the NICs with the usual value match the number of accelerators, and do not together with those that differ, the latter serve
 * another purpose and are not reported.
 *
 * Sisters are switches of one model at one depth. One lacks an accelerator, or a NIC of the most frequent board, if more than
 * two thirds of at least four have more; if its counterpart is present (the NICs, the accelerators); and if nothing else is in
 * its slot. Of two or three switches, one empty port that makes eight of seven is a clear case.
 */
#ifndef RD_ANALYSE_SYMMETRY_H
#define RD_ANALYSE_SYMMETRY_H

#include "model/nicmap/nicmap.h"

/* `ret`: zeroed by the caller; release it. */
void rd_symmetry_find(const struct rd_port_views *views, struct rd_symmetry *ret);

#endif
