/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fabrics for tests, made of text as topology files have it. */
#ifndef RD_UNIT_FABRIC_TEXT_H
#define RD_UNIT_FABRIC_TEXT_H

#include "model/fabric/fabric.h"

/* The topology that the text describes; fails the test if it is none. */
void fabric_from_text(const char *text, struct rd_fabric *ret);

/* A fat tree of two tiers: `leaves` switches with `down` hosts each ("hostLEAF-NUMBER HCA-1") and a cable to each of `spines`
 * switches. */
void fabric_from_tree(unsigned leaves, unsigned spines, unsigned down, struct rd_fabric *ret);

/* Index of a port; fails the test if there is none. */
size_t fabric_port_at(const struct rd_fabric *fabric, uint64_t guid, unsigned number);

#endif
