/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /sys/class/net, and the interfaces of RDMA ports. */
#include "collect/host/host.h"

#define NET "/sys/class/net"
#define NETDEVS_MAX 65536

enum { ARPHRD_ETHERNET = 1, ARPHRD_IPOIB = 32 };

/* Drivers print "N/A" or nothing without LACP. */
static void read_aggregator(const struct rd_sysfs *fs, struct rd_netdev *netdev, const char *file)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, NET "/%s/%s", netdev->name, file);
	uint32_t value;

	if (text && rd_parse_u32(text, RD_DECIMAL, UINT16_MAX, &value) == 0 && value > 0)
		RD_SET(netdev->aggregator, value);
}

static void read_netdev(const struct rd_sysfs *fs, struct rd_netdev *netdev)
{
	_cleanup_free_ char *master = rd_sysfs_link(fs, NET "/%s/master", netdev->name);
	_cleanup_free_ char *slaves = rd_sysfs_text(fs, NULL, NET "/%s/bonding/slaves", netdev->name);
	_cleanup_free_ char *port = rd_sysfs_text(fs, NULL, NET "/%s/phys_port_name", netdev->name);
	int64_t value;

	netdev->was_read = true;
	netdev->operstate = rd_sysfs_text(fs, NULL, NET "/%s/operstate", netdev->name);
	netdev->mac = rd_sysfs_text(fs, NULL, NET "/%s/address", netdev->name);
	netdev->is_bond = slaves != NULL;
	/* "p0" is the port; "pf0vf3", "c1pf0hpf", "pf0sf88" */
	netdev->represents = port && strstr(port, "pf");
	if (netdev->is_bond) {
		netdev->bond_mode = rd_sysfs_text(fs, NULL, NET "/%s/bonding/mode", netdev->name);
		read_aggregator(fs, netdev, "bonding/ad_aggregator");
	}
	if (rd_sysfs_int(fs, &value, NET "/%s/mtu", netdev->name) == RD_OK && value > 0)
		RD_SET(netdev->mtu, (unsigned)value);
	if (rd_sysfs_int(fs, &value, NET "/%s/type", netdev->name) == RD_OK && value >= 0)
		RD_SET(netdev->type, (unsigned)value);
	/* IPoIB on older kernels has its port in dev_id only; Ethernet drivers put VF numbers there. */
	if (rd_sysfs_int(fs, &value, NET "/%s/dev_port", netdev->name) == RD_OK && value >= 0 && value < 256)
		netdev->ibdev_port = (int)value;
	if (netdev->type.v == ARPHRD_IPOIB && netdev->ibdev_port <= 0 &&
	    rd_sysfs_int(fs, &value, NET "/%s/dev_id", netdev->name) == RD_OK && value >= 0 && value < 256)
		netdev->ibdev_port = (int)value;
	if (netdev->type.v == ARPHRD_IPOIB)
		netdev->ipoib_mode = rd_sysfs_text(fs, NULL, NET "/%s/mode", netdev->name);
	if (master)
		netdev->master = rd_dup(rd_basename(master));
}

/* Whether the interface is that of a GID, or below a soft device. */
static bool is_named(const struct rd_host *host, const char *name)
{
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].parent_netdev && strcmp(host->ibdevs[i].parent_netdev, name) == 0)
			return true;
	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t g = 0; g < host->ports[p].n_gids; g++)
			if (host->ports[p].gids[g].netdev && strcmp(host->ports[p].gids[g].netdev, name) == 0)
				return true;
	return false;
}

/* State and rate of a bond's slave. `speed` is in Mbit/s; reading it fails with EINVAL while the link is down. */
static void read_slave(const struct rd_sysfs *fs, const struct rd_host *host, struct rd_netdev *netdev)
{
	int master = netdev->pci < 0 ? -1 : rd_host_find_netdev(host, netdev->master);
	int64_t mbps;

	if (master < 0 || !host->netdevs[master].is_bond || netdev->bond_state)
		return;
	netdev->bond_state = rd_sysfs_text(fs, NULL, NET "/%s/bonding_slave/state", netdev->name);
	read_aggregator(fs, netdev, "bonding_slave/ad_aggregator_id");
	if (rd_sysfs_int(fs, &mbps, NET "/%s/speed", netdev->name) == RD_OK && mbps > 0 && mbps < 100000000)
		RD_SET(netdev->rate_gbps, (double)mbps / 1000);
}

void rd_collect_netdev(const struct rd_sysfs *fs, struct rd_host *host)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (rd_sysfs_list(fs, &names, NET) < 0)
		return;
	rd_texts_sort_natural(&names);
	for (size_t i = 0; i < names.n && i < NETDEVS_MAX; i++) {
		_cleanup_free_ char *link = rd_sysfs_link(fs, NET "/%s", names.v[i]);
		struct rd_netdev *netdev = rd_host_add_netdev(host);
		struct rd_pci_place place = { 0 };
		int64_t ifindex;

		if (rd_sysfs_int(fs, &ifindex, NET "/%s/ifindex", names.v[i]) == RD_OK && ifindex > 0 &&
		    ifindex <= INT32_MAX)
			netdev->ifindex = (unsigned)ifindex;
		netdev->name = rd_dup(names.v[i]);
		if (link && rd_pci_place_parse(link, &place))
			netdev->pci = rd_host_find_pci(host, place.self);
		netdev->sf = place.sf;
		/* Hosts with containers have hundreds of virtual interfaces, which do not matter here. */
		if (netdev->pci >= 0 || strncmp(names.v[i], "bond", 4) == 0 || is_named(host, names.v[i]))
			read_netdev(fs, netdev);
	}
	for (size_t i = 0; i < host->n_netdevs; i++) {
		int master = rd_host_find_netdev(host, host->netdevs[i].master);

		if (master >= 0 && !host->netdevs[master].was_read)
			read_netdev(fs, &host->netdevs[master]);
	}
	for (size_t i = 0; i < host->n_netdevs; i++)
		read_slave(fs, host, &host->netdevs[i]);
	rd_collect_procnet(fs, host);
}

static void port_add_netdev(struct rd_port *port, int netdev)
{
	for (size_t i = 0; i < port->n_netdevs; i++)
		if (port->netdevs[i] == netdev)
			return;
	*RD_ADD(port->netdevs, port->n_netdevs, port->cap_netdevs) = netdev;
}

/* Sets the PCI function of a soft device to that of the interface below, if it has one. */
static void place_soft_device(struct rd_host *host, struct rd_ibdev *dev)
{
	const char *name = dev->parent_netdev;
	int netdev;

	for (unsigned p = 0; !name && p < dev->n_ports; p++) {
		const struct rd_port *port = &host->ports[(unsigned)dev->first_port + p];

		for (size_t g = 0; !name && g < port->n_gids; g++)
			name = port->gids[g].netdev;
	}
	/* siw has no file that names it, nor have kernels before GIDs of iWARP had interfaces; its parent is that of the interface. */
	if (!dev->parent_netdev && dev->node_desc && strcmp(dev->node_desc, "Software iWARP stack") == 0) {
		for (size_t i = 0; !name && dev->pci >= 0 && i < host->n_netdevs; i++)
			if (host->netdevs[i].pci == dev->pci)
				name = host->netdevs[i].name;
		dev->parent_netdev = rd_dup_if(name);
	}
	netdev = dev->pci < 0 ? rd_host_find_netdev(host, name) : -1;
	if (netdev < 0 || host->netdevs[netdev].pci < 0)
		return;
	dev->pci = host->netdevs[netdev].pci;
	dev->via = "netdev";
}

/* RDMA MTU: payload left in an Ethernet packet: GRH 40, UDP 8, BTH 12, extended headers 4 and 28, ICRC 4; rounded down to
 * one of InfiniBand's sizes. The kernel uses the same formula for every RoCE port (iboe_get_mtu). In IPoIB's datagram
 * mode its own header takes 4 bytes. */
static void set_mtu(const struct rd_host *host, struct rd_port *port)
{
	const struct rd_netdev *netdev = port->n_netdevs > 0 ? &host->netdevs[port->netdevs[0]] : NULL;
	unsigned room;

	if (!netdev || netdev->mtu.known != RD_OK)
		return;
	if (rd_port_is_ethernet(port)) {
		room = netdev->mtu.v > 96 ? netdev->mtu.v - 96 : 0;
		for (unsigned mtu = 4096; mtu >= 256; mtu /= 2)
			if (room >= mtu) {
				RD_SET(port->mtu, mtu);
				return;
			}
	} else if (netdev->mtu.v == 2044 || netdev->mtu.v == 4092) {
		RD_SET(port->mtu, netdev->mtu.v + 4);
	}
}

void rd_collect_join_netdevs(struct rd_host *host)
{
	for (size_t i = 0; i < host->n_ibdevs; i++)
		place_soft_device(host, &host->ibdevs[i]);
	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_port *port = &host->ports[p];
		const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
		int parent = rd_host_find_netdev(host, dev->parent_netdev);

		if (parent >= 0)
			port_add_netdev(port, parent);
		for (size_t g = 0; g < port->n_gids; g++) {
			const struct rd_gid *gid = &port->gids[g];
			int netdev = rd_host_find_netdev(host, gid->netdev);

			if (netdev >= 0) {
				port_add_netdev(port, netdev);
			} else if (rd_port_is_ethernet(port)) {
				port->foreign_gids = true;
				if (gid->netdev && !port->netdev_name) {
					port->netdev_name = rd_dup(gid->netdev);
					port->netns_other = true;
				}
			}
		}
		for (size_t j = 0; dev->pci >= 0 && j < host->n_netdevs; j++) {
			const struct rd_netdev *netdev = &host->netdevs[j];

			if (netdev->pci != dev->pci || netdev->sf != dev->sf || netdev->represents ||
			    (netdev->type.v == ARPHRD_IPOIB) == rd_port_is_ethernet(port))
				continue;
			/* dev_port is meaningless if each function has one port. */
			if (dev->n_ports > 1 && netdev->ibdev_port >= 0 && (unsigned)netdev->ibdev_port + 1 != port->num)
				continue;
			port_add_netdev(port, (int)j);
		}
		if (port->n_netdevs > 0) {
			free(port->netdev_name);
			port->netdev_name = rd_dup(host->netdevs[port->netdevs[0]].name);
			port->netns_other = false;
		} else if (port->foreign_gids) {
			port->netns_other = true;
		}
		set_mtu(host, port);
	}
	rd_host_fill_lags(host);
}
