/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/host.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void pci_deinit(struct rd_pci *pci)
{
	RD_FREE(pci->root, pci->driver, pci->slot, pci->power_state, pci->iommu_type);
}

static void port_deinit(struct rd_port *port)
{
	for (size_t i = 0; i < port->n_gids; i++)
		free(port->gids[i].netdev);
	RD_FREE(port->gids, port->netdevs, port->netdev_name, port->link_layer, port->state, port->phys_state,
		port->speed, port->pkeys, port->guid);
}

static void ibdev_deinit(struct rd_ibdev *dev)
{
	RD_FREE(dev->name, dev->firmware, dev->board, dev->hca_type, dev->node_guid, dev->sys_image_guid,
		dev->node_desc, dev->driver, dev->parent_netdev, dev->lag_mode);
}

static void netdev_deinit(struct rd_netdev *netdev)
{
	RD_FREE(netdev->name, netdev->operstate, netdev->master, netdev->bond_state, netdev->bond_mode,
		netdev->ipoib_mode, netdev->mac, netdev->addrs);
}

void rd_host_deinit(struct rd_host *host)
{
	for (size_t i = 0; i < host->n_pcis; i++)
		pci_deinit(&host->pcis[i]);
	for (size_t i = 0; i < host->n_ports; i++)
		port_deinit(&host->ports[i]);
	for (size_t i = 0; i < host->n_ibdevs; i++)
		ibdev_deinit(&host->ibdevs[i]);
	for (size_t i = 0; i < host->n_netdevs; i++)
		netdev_deinit(&host->netdevs[i]);
	for (size_t i = 0; i < host->n_numas; i++)
		free(host->numas[i].cpulist);
	for (size_t i = 0; i < host->n_gpus; i++)
		RD_FREE(host->gpus[i].name, host->gpus[i].uuid, host->gpus[i].nvlinks);
	RD_FREE(host->pcis, host->ports, host->ibdevs, host->netdevs, host->numas, host->gpus, host->cpu.arch,
		host->cpu.vendor, host->ids);
	*host = (struct rd_host){ 0 };
}

static size_t count_gids(const struct rd_host *host)
{
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++)
		n += host->ports[p].n_gids;
	return n;
}

int rd_host_within_bounds(const struct rd_host *host, struct rd_err *err)
{
	const struct {
		const char *what;
		size_t n, most;
	} counts[] = {
		{ "ports of RDMA devices", host->n_ports, RD_HOST_PORTS_MAX },
		{ "network interfaces", host->n_netdevs, RD_HOST_NETDEVS_MAX },
		{ "accelerators", host->n_gpus, RD_HOST_GPUS_MAX },
		{ "pairs of an accelerator and an RDMA device", host->n_gpus * host->n_ibdevs, RD_HOST_PAIRS_MAX },
		{ "GIDs", count_gids(host), RD_HOST_GIDS_MAX },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(counts); i++)
		if (counts[i].n > counts[i].most)
			return rd_err_set(err, E2BIG, "host", "too many %s: %zu, at most %zu", counts[i].what,
					  counts[i].n, counts[i].most);
	return 0;
}

struct rd_pci *rd_host_add_pci(struct rd_host *host)
{
	rd_reserve(&host->pcis, &host->cap_pcis, host->n_pcis + 1, sizeof(*host->pcis));
	host->pcis[host->n_pcis] = (struct rd_pci){ .parent = -1, .pf = -1 };
	return &host->pcis[host->n_pcis++];
}

struct rd_ibdev *rd_host_add_ibdev(struct rd_host *host)
{
	rd_reserve(&host->ibdevs, &host->cap_ibdevs, host->n_ibdevs + 1, sizeof(*host->ibdevs));
	host->ibdevs[host->n_ibdevs] =
		(struct rd_ibdev){ .pci = -1, .data_direct = -1, .numa = -1, .first_port = (int)host->n_ports };
	return &host->ibdevs[host->n_ibdevs++];
}

struct rd_port *rd_host_add_port(struct rd_host *host, int ibdev)
{
	rd_reserve(&host->ports, &host->cap_ports, host->n_ports + 1, sizeof(*host->ports));
	if (host->ibdevs[ibdev].n_ports++ == 0)
		host->ibdevs[ibdev].first_port = (int)host->n_ports;
	host->ports[host->n_ports] = (struct rd_port){ .ibdev = ibdev };
	return &host->ports[host->n_ports++];
}

struct rd_netdev *rd_host_add_netdev(struct rd_host *host)
{
	rd_reserve(&host->netdevs, &host->cap_netdevs, host->n_netdevs + 1, sizeof(*host->netdevs));
	host->netdevs[host->n_netdevs] = (struct rd_netdev){ .pci = -1, .ibdev_port = -1 };
	return &host->netdevs[host->n_netdevs++];
}

struct rd_gpu *rd_host_add_gpu(struct rd_host *host)
{
	rd_reserve(&host->gpus, &host->cap_gpus, host->n_gpus + 1, sizeof(*host->gpus));
	host->gpus[host->n_gpus] =
		(struct rd_gpu){ .pci = -1, .index = (unsigned)host->n_gpus, .dev = (int)host->n_gpus };
	return &host->gpus[host->n_gpus++];
}

struct rd_numa *rd_host_add_numa(struct rd_host *host)
{
	rd_reserve(&host->numas, &host->cap_numas, host->n_numas + 1, sizeof(*host->numas));
	host->numas[host->n_numas] = (struct rd_numa){ .id = -1 };
	return &host->numas[host->n_numas++];
}

/* Parses hexadecimal digits up to `end`; -1: no digits, too many, or invalid characters. */
static int64_t hex_until(const char **text, char end, size_t most)
{
	uint64_t value = 0;
	size_t n = 0;

	for (; **text && **text != end; (*text)++, n++) {
		unsigned digit = rd_digit_value(**text);

		if (digit >= 16 || n >= most)
			return -1;
		value = value << 4 | digit;
	}
	if (n == 0 || (end && !**text))
		return -1;
	*text += end != '\0';
	return (int64_t)value;
}

int rd_pci_parse(const char *text, struct rd_pci *ret)
{
	const char *colon = strchr(text, ':');
	int64_t domain = 0, bus, dev, fn;

	if (colon && strchr(colon + 1, ':'))
		domain = hex_until(&text, ':', 8);
	bus = hex_until(&text, ':', 2);
	dev = bus < 0 ? -1 : hex_until(&text, '.', 2);
	fn = dev < 0 ? -1 : hex_until(&text, '\0', 1);
	if (domain < 0 || bus < 0 || dev < 0 || fn < 0 || dev > 31 || fn > 7)
		return -EINVAL;
	ret->domain = (uint32_t)domain;
	ret->bus = (uint8_t)bus;
	ret->dev = (uint8_t)dev;
	ret->fn = (uint8_t)fn;
	snprintf(ret->addr, sizeof(ret->addr), "%04x:%02x:%02x.%x", ret->domain, ret->bus, ret->dev, ret->fn);
	return 0;
}

int rd_host_find_pci(const struct rd_host *host, const char *addr)
{
	struct rd_pci wanted = { 0 };

	if (!addr || rd_pci_parse(addr, &wanted) < 0)
		return -1;
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];

		if (pci->domain == wanted.domain && pci->bus == wanted.bus && pci->dev == wanted.dev &&
		    pci->fn == wanted.fn)
			return (int)i;
	}
	return -1;
}

int rd_host_find_ibdev(const struct rd_host *host, const char *name)
{
	for (size_t i = 0; name && i < host->n_ibdevs; i++)
		if (host->ibdevs[i].name && strcmp(host->ibdevs[i].name, name) == 0)
			return (int)i;
	return -1;
}

int rd_host_find_netdev(const struct rd_host *host, const char *name)
{
	for (size_t i = 0; name && i < host->n_netdevs; i++)
		if (strcmp(host->netdevs[i].name, name) == 0)
			return (int)i;
	return -1;
}

const struct rd_numa *rd_host_find_numa(const struct rd_host *host, int id)
{
	for (size_t i = 0; i < host->n_numas; i++)
		if (host->numas[i].id == id)
			return &host->numas[i];
	return NULL;
}

int rd_host_same_socket(const struct rd_host *host, int node_a, int node_b)
{
	const struct rd_numa *a = rd_host_find_numa(host, node_a), *b = rd_host_find_numa(host, node_b);

	if (node_a == node_b && node_a >= 0)
		return 1;
	if (!a || !b || a->package.known != RD_OK || b->package.known != RD_OK)
		return -1;
	return a->package.v == b->package.v;
}

const char *rd_ibdev_label(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	if (dev->name)
		return dev->name;
	return dev->pci >= 0 ? host->pcis[dev->pci].addr : "?";
}

int rd_pci_numa(const struct rd_host *host, int pci)
{
	return pci >= 0 && host->pcis[pci].numa.known == RD_OK ? host->pcis[pci].numa.v : -1;
}

void rd_port_label(const struct rd_host *host, const struct rd_port *port, char *ret, size_t size)
{
	const char *name = rd_ibdev_label(host, port->ibdev);

	if (port->num > 0)
		snprintf(ret, size, "%s/%u", name, port->num);
	else
		snprintf(ret, size, "%s", name);
}

void rd_port_library_name(const struct rd_host *host, const struct rd_port *port, char *ret, size_t size)
{
	const char *name = rd_ibdev_label(host, port->ibdev);

	if (port->num > 0)
		snprintf(ret, size, "%s:%u", name, port->num);
	else
		snprintf(ret, size, "%s", name);
}

int rd_ibdev_numa(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	return dev->pci >= 0 ? rd_pci_numa(host, dev->pci) : dev->numa;
}

static bool is_made_by(const struct rd_host *host, int ibdev, const char *driver, uint16_t vendor)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;

	if (dev->driver)
		return strcmp(dev->driver, driver) == 0;
	return pci && pci->vendor.known == RD_OK && pci->vendor.v == vendor;
}

bool rd_ibdev_is_efa(const struct rd_host *host, int ibdev)
{
	return is_made_by(host, ibdev, "efa", 0x1d0f);
}

bool rd_ibdev_is_gaudi(const struct rd_host *host, int ibdev)
{
	return is_made_by(host, ibdev, "habanalabs", 0x1da3);
}

bool rd_port_has_carrier(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const char *state = host->netdevs[port->netdevs[i]].operstate;

		if (state && strcmp(state, "up") == 0)
			return true;
	}
	return false;
}

static bool is_arm64(const struct rd_host *host)
{
	return host->cpu.arch && strcmp(host->cpu.arch, "arm64") == 0;
}

const char *rd_host_iommu(const struct rd_host *host)
{
	return is_arm64(host) ? "SMMU" : "IOMMU";
}

const char *rd_host_passthrough(const struct rd_host *host)
{
	return is_arm64(host) ? "iommu.passthrough=1" : "iommu=pt";
}

bool rd_driver_is_for_guests(const char *driver)
{
	return driver && (strstr(driver, "vfio") || strcmp(driver, "pci-stub") == 0 || strstr(driver, "pciback"));
}

bool rd_gpu_is_for_guest(const struct rd_host *host, size_t gpu)
{
	return rd_driver_is_for_guests(host->pcis[host->gpus[gpu].pci].driver);
}

bool rd_port_active(const struct rd_port *port)
{
	return port->state && strcmp(port->state, "ACTIVE") == 0;
}

const struct rd_netdev *rd_port_route(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];
		int master = rd_host_find_netdev(host, netdev->master);

		if (netdev->default_route)
			return netdev;
		if (master >= 0 && host->netdevs[master].default_route)
			return &host->netdevs[master];
	}
	return NULL;
}

bool rd_port_is_ib(const struct rd_port *port)
{
	return port->link_layer && strcmp(port->link_layer, "InfiniBand") == 0;
}

bool rd_port_is_ethernet(const struct rd_port *port)
{
	return port->link_layer && strcasecmp(port->link_layer, "Ethernet") == 0;
}

bool rd_port_is_roce(const struct rd_host *host, const struct rd_port *port)
{
	return rd_port_is_ethernet(port) && !host->ibdevs[port->ibdev].iwarp;
}

const char *rd_gid_type_name(enum rd_gid_type type)
{
	static const char *const names[] = {
		[RD_GID_IB] = "IB",
		[RD_GID_ROCE_V1] = "RoCE v1",
		[RD_GID_ROCE_V2] = "RoCE v2",
	};

	return (size_t)type < RD_ARRAY_SIZE(names) ? names[type] : NULL;
}

bool rd_gid_is_v4(const struct rd_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

bool rd_gid_is_link_local(const struct rd_gid *gid)
{
	static const uint8_t prefix[8] = { 0xfe, 0x80 };

	return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

void rd_gid_text(const struct rd_gid *gid, char *ret)
{
	for (int i = 0; i < 8; i++)
		snprintf(ret + 5 * i, 6, "%02x%02x%s", gid->raw[2 * i], gid->raw[2 * i + 1], i < 7 ? ":" : "");
}

void rd_gid_ip(const struct rd_gid *gid, char *ret)
{
	bool v4 = rd_gid_is_v4(gid);

	if (!inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? gid->raw + 12 : gid->raw, ret, 46))
		*ret = '\0';
}

bool rd_port_is_v1_only(const struct rd_port *port)
{
	bool v1 = false;

	for (size_t i = 0; i < port->n_gids; i++) {
		if (port->gids[i].type == RD_GID_ROCE_V2)
			return false;
		v1 |= port->gids[i].type == RD_GID_ROCE_V1;
	}
	return v1;
}
