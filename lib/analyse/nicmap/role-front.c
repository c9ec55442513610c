/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence that a port is the host's front-end. */
#include <stdio.h>

#include "analyse/nicmap/role-priv.h"

static bool same_subnet(const struct rd_addr *a, const struct rd_addr *b)
{
	unsigned bits = a->prefix < b->prefix ? a->prefix : b->prefix;

	if (a->v6 || b->v6 || bits == 0 || bits > 32)
		return false;
	for (unsigned i = 0; i < bits; i++)
		if ((a->raw[i / 8] ^ b->raw[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

static const struct rd_netdev *route_in_subnet(const struct rd_host *host, const struct rd_netdev *netdev)
{
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *other = &host->netdevs[i];

		for (size_t a = 0; other->default_route && a < other->n_addrs; a++)
			for (size_t b = 0; b < netdev->n_addrs; b++)
				if (same_subnet(&other->addrs[a], &netdev->addrs[b]))
					return other;
	}
	return NULL;
}

void rd_role_front(const struct rd_host *host, const struct rd_port *port, enum rd_role_front *sign, char *text,
		   size_t size)
{
	const struct rd_netdev *route = rd_port_route(host, port);

	*sign = route ? RD_FRONT_ROUTE : RD_FRONT_NONE;
	if (route) {
		snprintf(text, size, "%s carries the default route", route->name);
		return;
	}
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		route = route_in_subnet(host, netdev);
		if (route && route != netdev) {
			*sign = RD_FRONT_ROUTE;
			snprintf(text, size, "%s is in the subnet of %s, which carries the default route", netdev->name,
				 route->name);
			return;
		}
		if (netdev->is_bond || netdev->master) {
			*sign = RD_FRONT_BOND;
			snprintf(text, size, "%s is %s%s", netdev->name, netdev->is_bond ? "a bond" : "part of ",
				 netdev->is_bond ? "" : netdev->master);
		}
	}
}
