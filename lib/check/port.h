/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about ports share. */
#ifndef RD_CHECK_PORT_H
#define RD_CHECK_PORT_H

#include <string.h>

#include "model/check.h"
#include "model/host.h"

/* "mlx5_0/1" */
struct rd_port_name {
	char text[96];
};
struct rd_port_name rd_check_port_name(const struct rd_host *host, const struct rd_port *port);

static inline bool rd_port_is_ib(const struct rd_port *port)
{
	return port->link_layer && strcmp(port->link_layer, "InfiniBand") == 0;
}

/* Says "unknown" of a port whose link layer is not told. */
bool rd_port_layer_known(const struct rd_host *host, const struct rd_port *port, struct rd_check_out *out);

#endif
