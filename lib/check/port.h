/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about ports share. */
#ifndef RD_CHECK_PORT_H
#define RD_CHECK_PORT_H

#include <string.h>

#include "model/check.h"
#include "model/port-view.h"

/* "mlx5_0/1" */
struct rd_port_name {
	char text[96];
};
struct rd_port_name rd_check_port_name(const struct rd_host *host, const struct rd_port *port);

/* Warns or fails; where the port's role is unknown, says "unknown" with what was seen: whether it is a fault depends on what
 * the port is for. Takes over observed and expected. */
void rd_check_port_bad(struct rd_check_out *out, enum rd_role role, enum rd_severity result, const char *subject,
		       char *observed, char *expected);

/* Is for computing, and most other such ports have another link layer: that is what is wrong with it (link-layer-uniform),
 * and a subnet manager could not help. */
bool rd_port_layer_is_odd(const struct rd_port_views *views, size_t port);

/* How many cards have a port that is for computing. */
size_t rd_check_compute_cards(const struct rd_port_views *views);

/* Says "unknown" of a port whose link layer is not told. */
bool rd_port_layer_known(const struct rd_host *host, const struct rd_port *port, struct rd_check_out *out);

#endif
