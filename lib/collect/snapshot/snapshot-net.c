/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and routes. */
#include "collect/snapshot/snapshot.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "model/host/netstate.h"

static const char *netif_name(const struct rd_netstate *net, unsigned ifindex)
{
	const struct rd_netif *netif = rd_netstate_find(net, ifindex);

	return netif ? netif->name : "?";
}

/* "10.1.0.0/16 table 7 metric 100". Each interface has the same link-local ones. */
static void add_route(const struct rd_netstate *net, const struct rd_route *route, struct rd_facts *ret)
{
	_cleanup_buf_ struct rd_buf subject = RD_BUF_CHECKED, value = RD_BUF_CHECKED;
	const char *dev = netif_name(net, route->ifindex);
	char ip[INET6_ADDRSTRLEN];

	rd_ip_text(route->v6, route->dst, ip);
	rd_buf_printf(&subject, "%s/%u", ip, route->dst_len);
	if (strncmp(ip, "fe80:", 5) == 0)
		rd_buf_printf(&subject, " dev %s", dev);
	if (route->table != RT_TABLE_MAIN)
		rd_buf_printf(&subject, " table %u", route->table);
	if (route->metric)
		rd_buf_printf(&subject, " metric %u", route->metric);
	rd_ip_text(route->v6, route->gateway, ip);
	if (route->has_gateway)
		rd_buf_printf(&value, "via %s ", ip);
	rd_buf_printf(&value, route->multipath ? "multipath" : "dev %s", dev);
	rd_ip_text(route->v6, route->source, ip);
	if (route->has_source)
		rd_buf_printf(&value, " src %s", ip);
	if (!subject.failed && !value.failed)
		rd_facts_add(ret, RD_AREA_ROUTE, subject.data, "path", value.data);
}

void rd_snapshot_net(const struct rd_netstate *net, struct rd_facts *ret)
{
	ret->partial[RD_AREA_ADDRESS] |= net->addrs_known != RD_OK || net->links_known != RD_OK;
	ret->partial[RD_AREA_ROUTE] |= net->routes_known != RD_OK || net->links_known != RD_OK;
	for (size_t i = 0; i < net->n_addrs; i++) {
		const struct rd_addr *addr = &net->addrs[i].addr;
		char ip[INET6_ADDRSTRLEN], field[INET6_ADDRSTRLEN + 8];

		rd_ip_text(addr->v6, addr->raw, ip);
		snprintf(field, sizeof(field), "%s/%u", ip, addr->prefix);
		rd_facts_add(ret, RD_AREA_ADDRESS, netif_name(net, net->addrs[i].ifindex), field, "yes");
	}
	/* A multipath route once, not for each next hop. */
	for (size_t i = 0; i < net->n_routes; i++)
		if (net->routes[i].type == RTN_UNICAST &&
		    (i == 0 || !net->routes[i].multipath ||
		     memcmp(net->routes[i].dst, net->routes[i - 1].dst, sizeof(net->routes[i].dst)) != 0))
			add_route(net, &net->routes[i], ret);
}
