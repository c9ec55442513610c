/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/net.h"

#include <stdio.h>

#include "base/buf.h"

const struct rd_netif *rd_check_roce_netif(const struct rd_check_input *in, size_t port)
{
	const struct rd_port *p = &in->host->ports[port];

	if (!in->net || !rd_port_is_ethernet(p) || p->n_netdevs == 0)
		return NULL;
	return rd_netstate_find_name(in->net, in->host->netdevs[p->netdevs[0]].name);
}

void rd_check_port_subject(const struct rd_check_input *in, size_t port, const struct rd_netif *netif, char *ret)
{
	char label[96];

	rd_port_label(in->host, &in->host->ports[port], label, sizeof(label));
	snprintf(ret, 160, "%s (%.40s)", label, netif->name);
}

bool rd_check_is_soft(const struct rd_host *host, const struct rd_port *port)
{
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];

	return dev->parent_netdev || dev->pci < 0;
}

/* The interface itself, the one below a VLAN, or a slave of a bond. */
static bool is_under(const struct rd_check_input *in, const char *name, const struct rd_netif *netif)
{
	const struct rd_netif *under = rd_netstate_find_name(in->net, name);

	return under && (under == netif || under->ifindex == netif->lower ||
			 (under->master && (under->master == netif->ifindex || under->master == netif->lower)));
}

bool rd_check_netif_role_known(const struct rd_check_input *in, const struct rd_netif *netif)
{
	for (size_t p = 0; p < in->host->n_ports; p++)
		for (size_t i = 0; in->ports->v[p].role != RD_ROLE_UNKNOWN && i < in->host->ports[p].n_netdevs; i++)
			if (is_under(in, in->host->netdevs[in->host->ports[p].netdevs[i]].name, netif))
				return true;
	return false;
}

char *rd_check_prios(uint8_t mask)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (int i = 0; i < RD_PRIOS; i++)
		if (mask & 1 << i)
			rd_buf_printf(&out, "%s%d", out.len ? "," : "", i);
	if (!mask)
		rd_buf_str(&out, "none");
	return RD_TAKE(out.data);
}
