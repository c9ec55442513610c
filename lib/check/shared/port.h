/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by rules about ports and their interfaces. */
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

/* Reports a warning or failure; if the role of the port is unknown, "unknown" with what was observed, because the role decides
 * whether it is a fault. Takes ownership of observed and expected. */
void rd_check_port_bad(struct rd_check_out *out, enum rd_role role, enum rd_severity result, const char *subject,
		       char *observed, char *expected);

/* Whether a compute port has another link layer than most of them: link-layer-uniform reports it, and a subnet manager would
 * not help. */
bool rd_port_layer_is_odd(const struct rd_port_views *views, size_t port);

/* Number of cards with a compute port. */
size_t rd_check_compute_cards(const struct rd_port_views *views);

/* False, and reported as "unknown", if the link layer of the port is unknown. */
bool rd_port_layer_known(const struct rd_host *host, const struct rd_port *port, struct rd_check_out *out);

/* The interface of an RDMA port over Ethernet; NULL: another link layer, no interface in this network namespace, or nothing was
 * read. */
const struct rd_netif *rd_check_roce_netif(const struct rd_check_input *in, size_t port);

/* "mlx5_0/1 (eth2)". `ret` has space for 160 bytes. */
void rd_check_port_subject(const struct rd_check_input *in, size_t port, const struct rd_netif *netif, char *ret);

/* Whether the device of a port is a soft device: the kernel's network stack carries its packets. */
bool rd_check_is_soft(const struct rd_host *host, const struct rd_port *port);

/* Whether an interface is on a port with a known role, or above or below such an interface. */
bool rd_check_netif_role_known(const struct rd_check_input *in, const struct rd_netif *netif);

/* "3,4", or "none". Caller frees. */
char *rd_check_prios(uint8_t mask);

#endif
