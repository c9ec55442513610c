/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host: its PCI functions, devices, ports and interfaces, which of them are shown, and what is odd among them. */
#include "model/host/host.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <strings.h>

#include "base/text.h"

void rd_host_deinit(struct rd_host *host)
{
	for (size_t i = 0; i < host->n_pcis; i++)
		RD_FREE(host->pcis[i].root, host->pcis[i].driver, host->pcis[i].slot, host->pcis[i].power_state,
			host->pcis[i].iommu_type);
	for (size_t i = 0; i < host->n_ports; i++) {
		for (size_t j = 0; j < host->ports[i].n_gids; j++)
			free(host->ports[i].gids[j].netdev);
		RD_FREE(host->ports[i].gids, host->ports[i].netdevs, host->ports[i].netdev_name,
			host->ports[i].link_layer, host->ports[i].state, host->ports[i].phys_state,
			host->ports[i].speed, host->ports[i].pkeys, host->ports[i].guid);
	}
	for (size_t i = 0; i < host->n_ibdevs; i++)
		RD_FREE(host->ibdevs[i].name, host->ibdevs[i].firmware, host->ibdevs[i].board, host->ibdevs[i].hca_type,
			host->ibdevs[i].node_guid, host->ibdevs[i].sys_image_guid, host->ibdevs[i].node_desc,
			host->ibdevs[i].driver, host->ibdevs[i].parent_netdev, host->ibdevs[i].lag_mode);
	for (size_t i = 0; i < host->n_netdevs; i++)
		RD_FREE(host->netdevs[i].name, host->netdevs[i].operstate, host->netdevs[i].master,
			host->netdevs[i].bond_state, host->netdevs[i].bond_mode, host->netdevs[i].ipoib_mode,
			host->netdevs[i].mac, host->netdevs[i].addrs);
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
	return !a || !b || a->package.known != RD_OK || b->package.known != RD_OK ? -1 : a->package.v == b->package.v;
}

const char *rd_ibdev_label(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	return dev->name ?: dev->pci >= 0 ? host->pcis[dev->pci].addr : "?";
}

int rd_pci_numa(const struct rd_host *host, int pci)
{
	return pci >= 0 && host->pcis[pci].numa.known == RD_OK ? host->pcis[pci].numa.v : -1;
}

static struct rd_port_name label_of(const struct rd_host *host, const struct rd_port *port, char separator)
{
	const char *name = rd_ibdev_label(host, port->ibdev);
	struct rd_port_name label;

	if (port->num > 0)
		snprintf(label.text, sizeof(label.text), "%s%c%u", name, separator, port->num);
	else
		snprintf(label.text, sizeof(label.text), "%s", name);
	return label;
}

struct rd_port_name rd_port_label(const struct rd_host *host, const struct rd_port *port)
{
	return label_of(host, port, '/');
}

struct rd_port_name rd_port_library_name(const struct rd_host *host, const struct rd_port *port)
{
	return label_of(host, port, ':');
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

	return dev->driver ? strcmp(dev->driver, driver) == 0 :
			     pci && pci->vendor.known == RD_OK && pci->vendor.v == vendor;
}

bool rd_ibdev_is_efa(const struct rd_host *host, int ibdev)
{
	return is_made_by(host, ibdev, "efa", 0x1d0f);
}

bool rd_host_has_efa(const struct rd_host *host)
{
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (rd_ibdev_is_efa(host, (int)d))
			return true;
	return false;
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

bool rd_netdev_has_address(const struct rd_netdev *netdev)
{
	for (size_t a = 0; a < netdev->n_addrs; a++)
		if (!netdev->addrs[a].v6 || netdev->addrs[a].raw[0] != 0xfe || (netdev->addrs[a].raw[1] & 0xc0) != 0x80)
			return true;
	return false;
}

bool rd_gpu_in_processor(const struct rd_host *host, size_t gpu)
{
	const struct rd_pci *pci = &host->pcis[host->gpus[gpu].pci];

	/* Beside AMD's is the security processor; NVIDIA's is GB10. */
	for (size_t i = 0; pci->vendor.v == 0x1002 && i < host->n_pcis; i++)
		if (rd_pci_one_card(&host->pcis[i], pci) && host->pcis[i].class.v >> 8 == RD_PCI_CLASS_ENCRYPTION)
			return true;
	return pci->vendor.v == 0x10de && pci->device.v == 0x2e12;
}

bool rd_gpu_is_peer(const struct rd_host *host, size_t gpu)
{
	return !rd_gpu_is_for_guest(host, gpu) && !rd_gpu_in_processor(host, gpu);
}

bool rd_host_has_peer(const struct rd_host *host)
{
	for (size_t g = 0; g < host->n_gpus; g++)
		if (rd_gpu_is_peer(host, g))
			return true;
	return false;
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

bool rd_port_is_configured(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];
		int master = rd_host_find_netdev(host, netdev->master);

		if (netdev->master &&
		    (master < 0 || host->netdevs[master].is_bond || rd_netdev_has_address(&host->netdevs[master])))
			return true;
		if (rd_netdev_has_address(netdev))
			return true;
	}
	for (size_t g = 0; rd_port_is_roce(host, port) && g < port->n_gids; g++)
		if (!rd_gid_is_link_local(&port->gids[g]))
			return true;
	return false;
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
	return rd_port_is_ethernet(port) && !port->raw && !host->ibdevs[port->ibdev].iwarp;
}

const char *rd_gid_type_name(enum rd_gid_type type)
{
	static const char *const names[] = {
		[RD_GID_IB] = "IB", [RD_GID_ROCE_V1] = "RoCE v1", [RD_GID_ROCE_V2] = "RoCE v2"
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
	/* Not by printf: there may be tens of thousands. */
	for (int i = 0; i < 16; i++) {
		*ret++ = "0123456789abcdef"[gid->raw[i] >> 4];
		*ret++ = "0123456789abcdef"[gid->raw[i] & 15];
		if (i % 2)
			*ret++ = i < 15 ? ':' : '\0';
	}
}

void rd_gid_ip(const struct rd_gid *gid, char *ret)
{
	if (!rd_gid_is_v4(gid)) {
		if (!inet_ntop(AF_INET6, gid->raw, ret, 46))
			*ret = '\0';
		return;
	}
	/* Likewise; inet_ntop prints IPv4 addresses. */
	for (int i = 12; i < 16; i++) {
		for (int place = gid->raw[i] >= 100 ? 100 : gid->raw[i] >= 10 ? 10 : 1; place; place /= 10)
			*ret++ = (char)('0' + gid->raw[i] / place % 10);
		*ret++ = i < 15 ? '.' : '\0';
	}
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

int rd_host_ibdev_at(const struct rd_host *host, int pci)
{
	for (size_t i = 0; pci >= 0 && i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci == pci && !host->ibdevs[i].parent_netdev)
			return (int)i;
	return -1;
}

int rd_host_gpu_at(const struct rd_host *host, int pci)
{
	for (size_t g = 0; pci >= 0 && g < host->n_gpus; g++)
		if (host->gpus[g].pci == pci)
			return (int)g;
	return -1;
}

int rd_pci_top(const struct rd_host *host, int pci)
{
	while (host->pcis[pci].parent >= 0)
		pci = host->pcis[pci].parent;
	return pci;
}

bool rd_pci_is_below(const struct rd_host *host, int pci, int bridge)
{
	while (pci >= 0 && pci != bridge)
		pci = host->pcis[pci].parent;
	return pci >= 0;
}

static void set_lag_rate(const struct rd_host *host, int bond, struct rd_port *port)
{
	int pci = host->ibdevs[port->ibdev].pci;
	unsigned legs = 0, active = 0;
	double sum = 0;

	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *slave = &host->netdevs[i];
		bool on; /* carries traffic */

		if (slave->pci < 0 || rd_host_find_netdev(host, slave->master) != bond ||
		    !rd_pci_one_card(&host->pcis[slave->pci], &host->pcis[pci]))
			continue;
		if ((slave->pci != pci && rd_host_ibdev_at(host, slave->pci) >= 0) || !slave->bond_state ||
		    !slave->operstate)
			return;
		on = strcmp(slave->bond_state, "active") == 0 && strcmp(slave->operstate, "up") == 0;
		legs++;
		active += on;
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

unsigned rd_pcie_depth(const struct rd_host *host, int pci)
{
	unsigned depth = 0;

	for (int up = host->pcis[pci].parent; up >= 0; up = host->pcis[up].parent)
		depth++;
	return depth;
}

bool rd_pcie_links_up(const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index];

	if (!rd_pci_is_bridge(pci))
		return true;
	if (pci->parent < 0)
		return false;
	return pci->kind.known == RD_OK ? pci->kind.v == RD_PCIE_UPSTREAM : rd_pcie_depth(host, index) % 2 == 1;
}

static unsigned min_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned rd_pcie_can_width(const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;

	if (pci->max.width.known != RD_OK)
		return 0;
	return up && up->max.width.known == RD_OK ? min_of(pci->max.width.v, up->max.width.v) : pci->max.width.v;
}

unsigned rd_pcie_can_mtps(const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;

	if (pci->max.mtps.known != RD_OK)
		return 0;
	return up && up->max.mtps.known == RD_OK ? min_of(pci->max.mtps.v, up->max.mtps.v) : pci->max.mtps.v;
}

/* 8b/10b up to 5 GT/s, 128b/130b up to 32, flits of 256 bytes with 236 of data above. */
double rd_pcie_gbps(unsigned mtps, unsigned width)
{
	double gtps = mtps / 1000.0 * width;

	return mtps <= 5000 ? gtps * 8 / 10 : mtps <= 32000 ? gtps * 128 / 130 : gtps * 236 / 256;
}

bool rd_pcie_is_gpu_part(const struct rd_host *host, int bridge, int gpu)
{
	const struct rd_pci *a = &host->pcis[bridge], *b = &host->pcis[gpu];

	return a->vendor.known == RD_OK && b->vendor.known == RD_OK && a->vendor.v == b->vendor.v;
}

bool rd_pcie_in_guest(const struct rd_host *host)
{
	return host->guest.known == RD_OK && host->guest.v;
}

bool rd_pcie_is_vf(const struct rd_host *host, const struct rd_pci *pci)
{
	return pci->pf >= 0 || (rd_pcie_in_guest(host) && pci->now.width.known != RD_OK);
}

/* Device Control: payload in bits 7:5, read requests in 14:12; Device Capabilities: payload in 2:0. */
unsigned rd_pcie_payload(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_ctl.v >> 5 & 7);
}

/* Supported by the function itself. */
static unsigned max_payload(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_cap.v & 7);
}

unsigned rd_pcie_read_request(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_ctl.v >> 12 & 7);
}

unsigned rd_pcie_payload_path(const struct rd_host *host, const struct rd_pci *pci)
{
	unsigned can = max_payload(pci);

	for (int up = pci->parent; up >= 0; up = host->pcis[up].parent)
		if (host->pcis[up].config.dev_cap.known == RD_OK)
			can = min_of(can, max_payload(&host->pcis[up]));
	return can;
}

static bool is_interface_of(const struct rd_host *host, const struct rd_port *port, const char *name)
{
	if (port->netdev_name && fnmatch(name, port->netdev_name, 0) == 0)
		return true;
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const char *own = host->netdevs[port->netdevs[i]].name;

		if (own && fnmatch(name, own, 0) == 0)
			return true;
	}
	return false;
}

/* Returns whether anything has this name. */
static bool select_named(const struct rd_host *host, const char *name, struct rd_selection *ret)
{
	int pci = rd_host_find_pci(host, name);
	bool found = false;

	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (fnmatch(name, rd_ibdev_label(host, (int)d), 0) == 0 || (pci >= 0 && host->ibdevs[d].pci == pci))
			found = ret->ibdevs[d] = true;
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (rd_port_fits(name, rd_ibdev_label(host, port->ibdev), port->num) ||
		    is_interface_of(host, port, name) || (pci >= 0 && host->ibdevs[port->ibdev].pci == pci))
			found = ret->ports[p] = ret->ibdevs[port->ibdev] = true;
	}
	return found;
}

int rd_selection_make(const struct rd_host *host, const char *names, struct rd_selection *ret, struct rd_err *err)
{
	*ret = (struct rd_selection){ 0 };
	if (!names)
		return 0;
	ret->ibdevs = rd_alloc(host->n_ibdevs + 1, sizeof(*ret->ibdevs));
	ret->ports = rd_alloc(host->n_ports + 1, sizeof(*ret->ports));
	for (const char *at = names; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (select_named(host, name, ret))
			continue;
		rd_err_set(err, ENODEV, name, "no such RDMA device, port, interface or PCI address");
		return rd_err_hint(err, "rdmadiag nic-map");
	}
	return 0;
}

void rd_selection_deinit(struct rd_selection *selection)
{
	RD_FREE(selection->ibdevs, selection->ports);
	*selection = (struct rd_selection){ 0 };
}

void rd_symmetry_deinit(struct rd_symmetry *symmetry)
{
	for (size_t i = 0; i < symmetry->n_odds; i++)
		RD_FREE(symmetry->odds[i].is, symmetry->odds[i].usual);
	for (size_t i = 0; i < symmetry->n_missing; i++)
		free(symmetry->missing[i].empty);
	RD_FREE(symmetry->odds, symmetry->missing);
	*symmetry = (struct rd_symmetry){ 0 };
}

const struct rd_odd *rd_symmetry_odd(const struct rd_symmetry *symmetry, enum rd_trait trait, int pci, int port)
{
	for (size_t i = 0; symmetry && i < symmetry->n_odds; i++) {
		const struct rd_odd *odd = &symmetry->odds[i];

		if (odd->trait == trait && (port >= 0 ? odd->port == port : odd->pci == pci))
			return odd;
	}
	return NULL;
}
