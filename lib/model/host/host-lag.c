/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "model/host/host.h"

bool rd_pci_one_card(const struct rd_pci *a, const struct rd_pci *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->dev == b->dev;
}

int rd_host_bond_of(const struct rd_host *host, int pci)
{
	for (size_t i = 0; pci >= 0 && i < host->n_netdevs; i++) {
		int bond = host->netdevs[i].pci == pci ? rd_host_find_netdev(host, host->netdevs[i].master) : -1;

		if (bond >= 0 && host->netdevs[bond].is_bond)
			return bond;
	}
	return -1;
}

/* Whether the function has its own RDMA device; then a device does not spread over the bond. */
static bool has_device(const struct rd_host *host, int pci)
{
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci == pci && !host->ibdevs[i].parent_netdev)
			return true;
	return false;
}

/* Whether a slave carries traffic: 1, 0; -1: unknown. */
static int carries_traffic(const struct rd_netdev *slave)
{
	if (!slave->bond_state || !slave->operstate)
		return -1;
	return strcmp(slave->bond_state, "active") == 0 && strcmp(slave->operstate, "up") == 0;
}

static void set_lag_rate(const struct rd_host *host, int bond, struct rd_port *port)
{
	int pci = host->ibdevs[port->ibdev].pci;
	unsigned legs = 0, active = 0;
	double sum = 0;

	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *slave = &host->netdevs[i];
		int on;

		if (slave->pci < 0 || rd_host_find_netdev(host, slave->master) != bond ||
		    !rd_pci_one_card(&host->pcis[slave->pci], &host->pcis[pci]))
			continue;
		if (slave->pci != pci && has_device(host, slave->pci))
			return;
		on = carries_traffic(slave);
		if (on < 0)
			return;
		legs++;
		active += (unsigned)on;
		if (on)
			sum += slave->rate_gbps.known == RD_OK ? slave->rate_gbps.v : port->leg_gbps.v;
	}
	if (legs < 2 || active == 0)
		return;
	port->lag_active = active;
	port->rate_gbps.v = sum;
}

void rd_host_fill_lags(struct rd_host *host)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_port *port = &host->ports[p];
		int bond = rd_port_is_ethernet(port) ? rd_host_bond_of(host, host->ibdevs[port->ibdev].pci) : -1;

		if (bond < 0 || port->rate_gbps.known != RD_OK)
			continue;
		if (port->leg_gbps.known != RD_OK)
			RD_SET(port->leg_gbps, port->rate_gbps.v);
		set_lag_rate(host, bond, port);
	}
}
