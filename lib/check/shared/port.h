/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about ports and the interfaces on them share. */
#ifndef RD_CHECK_PORT_H
#define RD_CHECK_PORT_H

#include "check/shared/check.h"
#include "model/host/host.h"
#include "model/host/netstate.h"
#include "model/nicmap/port-view.h"

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

/* The interface of an RDMA port over Ethernet; NULL: another link layer, or none in this network namespace. Calls `skip` or
 * `unknown` itself where nothing was read. */
const struct rd_netif *rd_check_roce_netif(const struct rd_check_input *in, size_t port);

/* "mlx5_0/1 (eth2)". `ret` has room for 160. */
void rd_check_port_subject(const struct rd_check_input *in, size_t port, const struct rd_netif *netif, char *ret);

/* Whether the device of a port has no hardware of its own: the kernel's stack carries its packets. */
bool rd_check_is_soft(const struct rd_host *host, const struct rd_port *port);

/* Whether an interface is on a port whose role is known, or above or below one that is. */
bool rd_check_netif_role_known(const struct rd_check_input *in, const struct rd_netif *netif);

/* "3,4", or "none". Caller frees. */
char *rd_check_prios(uint8_t mask);

#endif
