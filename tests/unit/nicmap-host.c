/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "nicmap-host.h"

#include <arpa/inet.h>

#include "analyse/nicmap/nicmap.h"

static int made_pci(struct rd_host *host, const char *addr, int parent, const char *root, int numa, uint32_t class)
{
	struct rd_pci *pci = rd_host_add_pci(host);

	assert_non_null(pci);
	assert_int_equal(rd_pci_parse(addr, pci), 0);
	pci->parent = parent;
	pci->root = strdup(root);
	RD_SET(pci->numa, numa);
	RD_SET(pci->class, class);
	RD_SET(pci->max.mtps, 32000);
	RD_SET(pci->max.width, 16);
	pci->now = pci->max;
	return (int)host->n_pcis - 1;
}

int made_bridge(struct rd_host *host, const char *addr, int parent, const char *root, int numa)
{
	return made_pci(host, addr, parent, root, numa, 0x060400);
}

int made_gpu(struct rd_host *host, const char *addr, int parent, const char *root, int numa)
{
	int pci = made_pci(host, addr, parent, root, numa, 0x030200);
	struct rd_gpu *gpu = rd_host_add_gpu(host);

	gpu->pci = pci;
	return (int)host->n_gpus - 1;
}

int made_nic(struct rd_host *host, const char *name, const char *addr, int parent, const char *root, int numa,
	     double gbps)
{
	int pci = addr ? made_pci(host, addr, parent, root, numa, 0x020700) : -1;
	struct rd_ibdev *dev = rd_host_add_ibdev(host);
	struct rd_port *port;

	if (pci >= 0) {
		RD_SET(host->pcis[pci].vendor, 0x15b3);
		RD_SET(host->pcis[pci].device, 0x1021);
	}
	dev->name = strdup(name);
	dev->pci = pci;
	port = rd_host_add_port(host, (int)host->n_ibdevs - 1);
	port->num = 1;
	port->link_layer = strdup("InfiniBand");
	port->state = strdup("ACTIVE");
	RD_SET(port->rate_gbps, gbps);
	return (int)host->n_ibdevs - 1;
}

int made_switch(struct rd_host *host, unsigned bus, const char *root, int numa)
{
	char addr[16];
	int port;

	snprintf(addr, sizeof(addr), "%02x:00.0", bus);
	port = made_bridge(host, addr, -1, root, numa);
	snprintf(addr, sizeof(addr), "%02x:00.0", bus + 1);
	return made_bridge(host, addr, port, root, numa);
}

int made_port_of(struct rd_host *host, int upstream, unsigned n)
{
	const struct rd_pci *up = &host->pcis[upstream];
	char addr[16], root[32];

	snprintf(addr, sizeof(addr), "%02x:%02x.0", up->bus + 1u, n);
	snprintf(root, sizeof(root), "%s", up->root);
	return made_bridge(host, addr, upstream, root, up->numa.v);
}

struct rd_port *made_port(struct rd_host *host, int ibdev)
{
	return &host->ports[host->ibdevs[ibdev].first_port];
}

static void set_ethernet(struct rd_port *port)
{
	free(port->link_layer);
	port->link_layer = strdup("Ethernet");
}

void made_gid(struct rd_host *host, int ibdev, unsigned index, const char *ip, enum rd_gid_type type, const char *netdev)
{
	struct rd_port *port = made_port(host, ibdev);
	struct rd_gid *gid;

	set_ethernet(port);
	port->gids_known = true;
	assert_int_equal(rd_grow(&port->gids, &port->cap_gids, port->n_gids + 1, sizeof(*gid)), 0);
	gid = &port->gids[port->n_gids++];
	*gid = (struct rd_gid){ .index = index, .type = type, .netdev = netdev ? strdup(netdev) : NULL };
	if (inet_pton(AF_INET, ip, gid->raw + 12) == 1)
		gid->raw[10] = gid->raw[11] = 0xff;
	else
		assert_int_equal(inet_pton(AF_INET6, ip, gid->raw), 1);
}

void made_gids(struct rd_host *host, int ibdev, const char *list)
{
	char address[64], version, *netdev;
	unsigned index;
	int read = 0;

	for (; *list; list += read + strspn(list + read, ", ")) {
		assert_int_equal(sscanf(list, "%u v%c %63[^,]%n", &index, &version, address, &read), 3);
		netdev = strchr(address, '@');
		if (netdev)
			*netdev++ = '\0';
		made_gid(host, ibdev, index, address,
			 version == '2' ? RD_GID_ROCE_V2 :
			 version == '1' ? RD_GID_ROCE_V1 :
					  RD_GID_UNKNOWN,
			 !netdev ? "eth0" :
			 *netdev ? netdev :
				   NULL);
	}
}

int made_netdev(struct rd_host *host, const char *name)
{
	struct rd_netdev *netdev = rd_host_add_netdev(host);

	netdev->name = strdup(name);
	return (int)host->n_netdevs - 1;
}

void made_analyse(const struct rd_host *host, unsigned processes, struct rd_nicmap *map)
{
	rd_nicmap_deinit(map);
	*map = (struct rd_nicmap){ 0 };
	rd_nicmap_analyse(host, NULL, processes, map);
}
