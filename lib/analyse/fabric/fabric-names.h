/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How findings name ports and nodes, and what was at the other end of a cable. The caller owns the texts. */
#ifndef RD_ANALYSE_FABRIC_NAMES_H
#define RD_ANALYSE_FABRIC_NAMES_H

#include "model/fabric/fabric.h"

/* "leaf3 port 17" */
char *rd_fabric_port_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* "leaf3 port 17, to node5 port 1": the latest one, if there is no link now; without the peer if it is unknown. */
char *rd_fabric_cable_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* The port at the other end of the cable or, if there is no link now, the one at its latest link; RD_NONE: none known. */
size_t rd_fabric_neighbour(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

#endif
