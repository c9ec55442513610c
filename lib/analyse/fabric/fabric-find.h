/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_FABRIC_FIND_H
#define RD_ANALYSE_FABRIC_FIND_H

#include "model/fabric/fabric.h"

/*
 * The ports that an operator may mean: by LID (decimal), by node or port GUID (0x…), else by name, from the node-name-map or the
 * node description: equal, else with the text as its first words, else with the text as prefix; with "/N" at the end only port N.
 * Of an adapter, ports with a cable, or all if none has one; of a switch, its first port. Returns their number; the caller frees
 * *ret, which holds at most `max`.
 */
size_t rd_fabric_find_ports(const struct rd_fabric *fabric, const char *text, size_t max, size_t **ret);

#endif
