/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How findings name ports and nodes. The caller owns the texts. */
#ifndef RD_ANALYSE_FABRIC_NAMES_H
#define RD_ANALYSE_FABRIC_NAMES_H

#include "model/fabric/fabric.h"

/* "leaf3 port 17" */
char *rd_fabric_port_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

/* "leaf3 port 17, to node5 port 1"; without the peer if it is unknown. */
char *rd_fabric_cable_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port);

#endif
