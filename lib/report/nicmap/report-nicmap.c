/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/nicmap/report-nicmap.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "report/nicmap/report-stacks.h"
#include "report/shared/finding.h"

enum gpu_column {
	GPU_INDEX,
	GPU_PCI,
	GPU_VENDOR,
	GPU_NAME,
	GPU_NUMA,
	GPU_NICS,
	GPU_UUID,
	GPU_MINOR,
	GPU_DRIVER,
	GPU_SLOT,
	GPU_LINK_MTPS,
	GPU_LINK_WIDTH,
	GPU_LINK_MAX_MTPS,
	GPU_LINK_MAX_WIDTH,
	GPU_COLUMNS
};
enum path_column {
	PATH_INDEX,
	PATH_GPU,
	PATH_NIC,
	PATH_PATH,
	PATH_REASON,
	PATH_NCCL,
	PATH_VIA,
	PATH_NVSHMEM,
	PATH_GPUDIRECT,
	PATH_GPUDIRECT_WHY,
	PATH_COLUMNS
};
enum net_column { NET_NAME, NET_PORTS, NET_GBPS, NET_DIRECT, NET_COLUMNS };
enum choice_column {
	CHOICE_GPU,
	CHOICE_NICS,
	CHOICE_PORTS,
	CHOICE_BACKUP,
	CHOICE_WHY,
	CHOICE_BACKUP_WHY,
	CHOICE_LIBRARY,
	CHOICE_LIBRARY_WHY,
	CHOICE_COLUMNS
};

static const struct rd_column gpu_columns[GPU_COLUMNS];
static const struct rd_column path_columns[PATH_COLUMNS];
static const struct rd_column choice_columns[CHOICE_COLUMNS];
static const struct rd_column name_columns[1];
static const struct rd_column net_columns[NET_COLUMNS];
#define ASSIGNMENT_STACKS 5
#define ASSIGNMENT_COLUMNS (ASSIGNMENT_STACKS + RD_STACK_CELLS * RD_STACKS)
static const struct rd_column assignment_columns[ASSIGNMENT_COLUMNS];
static const struct rd_column scalar_columns[3];
static const struct rd_column env_columns[2];

static void set_numa(struct rd_row *row, size_t column, int numa)
{
	if (numa >= 0)
		rd_row_int(row, column, numa);
}

static void set_link(struct rd_row *row, size_t mtps, const struct rd_pcie_link *link)
{
	if (link->mtps.known == RD_OK)
		rd_row_uint(row, mtps, link->mtps.v);
	if (link->width.known == RD_OK)
		rd_row_uint(row, mtps + 1, link->width.v);
}

/* "0,1 PXB": the nearest accelerators, and their distance. Indices instead of addresses, to fit into a table. */
static char *nearest_gpus(const struct rd_nicmap *map, size_t ibdev)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	enum rd_path best = RD_PATH_UNKNOWN;

	for (size_t g = 0; g < map->n_gpus; g++) {
		enum rd_path path = rd_nicmap_pair(map, g, ibdev)->path;

		if (path != RD_PATH_UNKNOWN && (best == RD_PATH_UNKNOWN || path < best))
			best = path;
	}
	if (best == RD_PATH_UNKNOWN || best >= RD_PATH_NODE)
		return NULL;
	for (size_t g = 0; g < map->n_gpus; g++)
		if (rd_nicmap_pair(map, g, ibdev)->path == best)
			rd_buf_printf(&text, "%s%zu", text.len ? "," : "", g);
	rd_buf_printf(&text, " %s", rd_path_name(best));
	return RD_TAKE(text.data);
}

static void add_gid_cells(struct rd_row *row, const struct rd_host *host, const struct rd_port *port,
			  const struct rd_port_view *view)
{
	const struct rd_gid *gid = view->gid >= 0 ? &port->gids[view->gid] : NULL;
	char text[48];

	rd_row_str(row, RD_NIC_GID_WHY, view->gid_why);
	if (view->gid_nccl >= 0)
		rd_row_uint(row, RD_NIC_GID_NCCL, port->gids[view->gid_nccl].index);
	if (gid) {
		rd_row_uint(row, RD_NIC_GID_INDEX, gid->index);
		rd_row_str(row, RD_NIC_GID_TYPE, rd_gid_type_name(gid->type));
		rd_gid_text(gid, text);
		rd_row_str(row, RD_NIC_GID, text);
		if (rd_port_is_ethernet(port)) {
			rd_gid_ip(gid, text);
			rd_row_str(row, RD_NIC_IP, text);
			return;
		}
	}
	/* InfiniBand ports have IP addresses only through IPoIB. */
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		for (size_t a = 0; a < netdev->n_addrs; a++) {
			struct rd_gid ip = { .raw = { [10] = 0xff, [11] = 0xff } };

			if (netdev->addrs[a].v6)
				continue;
			memcpy(ip.raw + 12, netdev->addrs[a].raw, 4);
			rd_gid_ip(&ip, text);
			rd_row_str(row, RD_NIC_IP, text);
			return;
		}
	}
}

static void add_netdev_cells(struct rd_row *row, const struct rd_host *host, const struct rd_port *port)
{
	struct rd_section *names = rd_section_create("netdevs", name_columns, 1);

	rd_row_str(row, RD_NIC_NETDEV, port->netdev_name);
	for (size_t i = 0; i < port->n_netdevs; i++)
		rd_row_str(rd_section_add(names), 0, host->netdevs[port->netdevs[i]].name);
	rd_row_sub(row, RD_NIC_NETDEVS, names);
	if (port->netns_other)
		rd_row_str(row, RD_NIC_NETNS, "another");
	else if (port->n_netdevs > 0)
		rd_row_str(row, RD_NIC_NETNS, "this");
	if (port->n_netdevs == 0)
		return;
	rd_row_str(row, RD_NIC_MASTER, host->netdevs[port->netdevs[0]].master);
	if (host->netdevs[port->netdevs[0]].mtu.known == RD_OK)
		rd_row_uint(row, RD_NIC_NETDEV_MTU, host->netdevs[port->netdevs[0]].mtu.v);
}

static void add_device_cells(struct rd_row *row, const struct rd_host *host, const struct rd_ibdev *dev)
{
	const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;

	rd_row_str(row, RD_NIC_IBDEV, dev->name);
	rd_row_str(row, RD_NIC_DRIVER, dev->driver);
	rd_row_str(row, RD_NIC_FIRMWARE, dev->firmware);
	rd_row_str(row, RD_NIC_BOARD, dev->board);
	rd_row_str(row, RD_NIC_HCA_TYPE, dev->hca_type);
	rd_row_str(row, RD_NIC_NODE_GUID, dev->node_guid);
	rd_row_str(row, RD_NIC_SYS_GUID, dev->sys_image_guid);
	rd_row_str(row, RD_NIC_VIA, dev->via);
	if (!pci)
		return;
	rd_row_str(row, RD_NIC_PCI, pci->addr);
	rd_row_str(row, RD_NIC_SLOT, pci->slot);
	if (pci->pf >= 0)
		rd_row_str(row, RD_NIC_PF, host->pcis[pci->pf].addr);
	set_link(row, RD_NIC_LINK_MTPS, &pci->now);
	set_link(row, RD_NIC_LINK_MAX_MTPS, &pci->max);
}

static void add_nic(struct rd_section *section, const struct rd_host *host, const struct rd_nicmap *map, size_t p)
{
	const struct rd_port *port = &host->ports[p];
	const struct rd_port_view *view = &map->ports.v[p];
	_cleanup_free_ char *near = nearest_gpus(map, (size_t)port->ibdev);
	struct rd_row *row = rd_section_add(section);

	add_device_cells(row, host, &host->ibdevs[port->ibdev]);
	set_numa(row, RD_NIC_NUMA, rd_ibdev_numa(host, port->ibdev));
	if (port->num > 0)
		rd_row_uint(row, RD_NIC_PORT, port->num);
	rd_row_str(row, RD_NIC_GPUS, near);
	rd_row_str(row, RD_NIC_LINK_LAYER, port->link_layer);
	rd_row_str(row, RD_NIC_STATE, port->state);
	rd_row_str(row, RD_NIC_PHYS_STATE, port->phys_state);
	if (port->rate_gbps.known == RD_OK)
		rd_row_double(row, RD_NIC_RATE, port->rate_gbps.v);
	if (port->mtu.known == RD_OK)
		rd_row_uint(row, RD_NIC_MTU, port->mtu.v);
	if (port->max_mtu.known == RD_OK)
		rd_row_uint(row, RD_NIC_MAX_MTU, port->max_mtu.v);
	if (port->lid.known == RD_OK && !rd_port_is_ethernet(port))
		rd_row_uint(row, RD_NIC_LID, port->lid.v);
	rd_row_str(row, RD_NIC_PORT_GUID, port->guid);
	rd_row_str(row, RD_NIC_ROLE, rd_role_name(view->role));
	rd_row_str(row, RD_NIC_ROLE_WHY, view->role_why);
	add_netdev_cells(row, host, port);
	add_gid_cells(row, host, port, view);
}

static char *nearest_nics(const struct rd_host *host, const struct rd_nicmap *map, size_t gpu)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	enum rd_path best = RD_PATH_UNKNOWN;

	for (size_t d = 0; d < map->n_ibdevs; d++) {
		enum rd_path path = rd_nicmap_pair(map, gpu, d)->path;

		if (path != RD_PATH_UNKNOWN && (best == RD_PATH_UNKNOWN || path < best))
			best = path;
	}
	if (best == RD_PATH_UNKNOWN || best >= RD_PATH_NODE)
		return NULL;
	for (size_t d = 0; d < map->n_ibdevs; d++)
		if (rd_nicmap_pair(map, gpu, d)->path == best)
			rd_buf_printf(&text, "%s%s", text.len ? "," : "", rd_ibdev_label(host, (int)d));
	rd_buf_printf(&text, " %s", rd_path_name(best));
	return RD_TAKE(text.data);
}

static void add_gpu(struct rd_section *section, const struct rd_host *host, const struct rd_nicmap *map, size_t g)
{
	_cleanup_free_ char *near = nearest_nics(host, map, g);
	const struct rd_gpu *gpu = &host->gpus[g];
	const struct rd_pci *pci = &host->pcis[gpu->pci];
	struct rd_row *row = rd_section_add(section);
	char id[16];

	rd_row_uint(row, GPU_INDEX, gpu->index);
	rd_row_str(row, GPU_PCI, pci->addr);
	snprintf(id, sizeof(id), "0x%04x", pci->vendor.v);
	rd_row_str(row, GPU_VENDOR, gpu->vendor || pci->vendor.known != RD_OK ? gpu->vendor : id);
	rd_row_str(row, GPU_NAME, gpu->name);
	set_numa(row, GPU_NUMA, rd_pci_numa(host, gpu->pci));
	rd_row_str(row, GPU_NICS, near);
	rd_row_str(row, GPU_UUID, gpu->uuid);
	if (gpu->minor.known == RD_OK)
		rd_row_uint(row, GPU_MINOR, gpu->minor.v);
	rd_row_str(row, GPU_DRIVER, pci->driver);
	rd_row_str(row, GPU_SLOT, pci->slot);
	set_link(row, GPU_LINK_MTPS, &pci->now);
	set_link(row, GPU_LINK_MAX_MTPS, &pci->max);
}

static void add_path(struct rd_section *section, const struct rd_host *host, const struct rd_nicmap *map, size_t g,
		     size_t d)
{
	const struct rd_pair *pair = rd_nicmap_pair(map, g, d);
	struct rd_row *row = rd_section_add(section);

	rd_row_uint(row, PATH_INDEX, host->gpus[g].index);
	rd_row_str(row, PATH_GPU, host->pcis[host->gpus[g].pci].addr);
	rd_row_str(row, PATH_NIC, rd_ibdev_label(host, (int)d));
	rd_row_str(row, PATH_PATH, rd_path_name(pair->path));
	rd_row_str(row, PATH_REASON, pair->reason);
	rd_row_str(row, PATH_NCCL, rd_path_name(pair->nccl));
	rd_row_str(row, PATH_NVSHMEM, rd_path_name(pair->nvshmem));
	if (pair->via >= 0)
		rd_row_str(row, PATH_VIA, host->pcis[host->gpus[pair->via].pci].addr);
	if (pair->gpudirect.known == RD_OK)
		rd_row_bool(row, PATH_GPUDIRECT, pair->gpudirect.v);
	rd_row_str(row, PATH_GPUDIRECT_WHY, pair->gpudirect_why);
}

static struct rd_section *nics_of(const struct rd_host *host, const struct rd_choice *choice, bool ports)
{
	struct rd_section *section = rd_section_create("nics", name_columns, 1);

	for (size_t i = 0; i < choice->n_ports; i++) {
		const struct rd_port *port = &host->ports[choice->ports[i]];
		char text[128];

		if (i > 0 && !ports && host->ports[choice->ports[i - 1]].ibdev == port->ibdev)
			continue;
		rd_port_label(host, port, text, sizeof(text));
		rd_row_str(rd_section_add(section), 0, ports ? text : rd_ibdev_label(host, port->ibdev));
	}
	return section;
}

static void add_choice(struct rd_section *section, const struct rd_host *host, const struct rd_choice *choice)
{
	struct rd_section *nics = nics_of(host, choice, false), *ports = nics_of(host, choice, true);
	struct rd_row *row = rd_section_add(section);

	rd_row_sub(row, CHOICE_NICS, nics);
	rd_row_sub(row, CHOICE_PORTS, ports);
	rd_row_str(row, CHOICE_GPU, host->pcis[host->gpus[choice->gpu].pci].addr);
	rd_row_str(row, CHOICE_WHY, choice->why);
	rd_row_str(row, CHOICE_BACKUP_WHY, choice->backup_why);
	if (choice->backup >= 0)
		rd_row_str(row, CHOICE_BACKUP, rd_ibdev_label(host, host->ports[choice->backup].ibdev));
	if (choice->library_backup >= 0)
		rd_row_str(row, CHOICE_LIBRARY, rd_ibdev_label(host, host->ports[choice->library_backup].ibdev));
	rd_row_str(row, CHOICE_LIBRARY_WHY, choice->library_backup_why);
}

static void set_choices(struct rd_row *row, size_t column, const struct rd_host *host, const struct rd_choices *choices)
{
	struct rd_section *section = rd_section_create("choices", choice_columns, CHOICE_COLUMNS);

	for (size_t i = 0; i < choices->n; i++)
		add_choice(section, host, &choices->v[i]);
	rd_row_sub(row, column, section);
	rd_row_str(row, column + 2, choices->note);
}

static void set_nets(struct rd_row *row, size_t column, const struct rd_host *host, const struct rd_nccl_nets *nets)
{
	struct rd_section *section = rd_section_create("nccl_nets", net_columns, NET_COLUMNS);

	for (size_t i = 0; i < nets->n; i++) {
		struct rd_section *ports = rd_section_create("ports", name_columns, 1);
		struct rd_row *net = rd_section_add(section);

		for (size_t p = 0; p < nets->v[i].n_ports; p++) {
			char text[128];

			rd_port_label(host, &host->ports[nets->v[i].ports[p]], text, sizeof(text));
			rd_row_str(rd_section_add(ports), 0, text);
		}
		rd_row_str(net, NET_NAME, nets->v[i].name);
		rd_row_sub(net, NET_PORTS, ports);
		rd_row_double(net, NET_GBPS, nets->v[i].gbps);
		rd_row_bool(net, NET_DIRECT, nets->v[i].data_direct);
	}
	rd_row_sub(row, column, section);
}

static void add_scalars(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map)
{
	struct rd_section *assignment = rd_section_create("assignment", assignment_columns, ASSIGNMENT_COLUMNS);
	struct rd_section *env = rd_section_create("env", env_columns, 2);
	struct rd_row *row = rd_section_add(assignment);

	set_choices(row, 0, host, &map->nvshmem);
	set_choices(row, 1, host, &map->nccl);
	set_nets(row, 4, host, &map->nccl_nets);
	rd_report_stacks_set(row, ASSIGNMENT_STACKS, host, map);
	for (size_t i = 0; i < map->env.n; i++) {
		struct rd_row *var = rd_section_add(env);

		rd_row_str(var, 0, map->env.v[i].name);
		rd_row_str(var, 1, map->env.v[i].value);
	}
	report->scalars = rd_section_create("map", scalar_columns, 3);
	row = rd_section_add(report->scalars);
	rd_row_sub(row, 0, assignment);
	rd_row_sub(row, 1, env);
	rd_row_sub(row, 2, rd_report_library_rules());
}

static void add_paths(struct rd_report *report, const char *name, const struct rd_host *host,
		      const struct rd_nicmap *map, const struct rd_selection *shown)
{
	struct rd_section *section = rd_section_create(name, path_columns, PATH_COLUMNS);

	for (size_t g = 0; g < host->n_gpus; g++)
		for (size_t d = 0; d < host->n_ibdevs; d++)
			if (rd_selection_has_ibdev(shown, d))
				add_path(section, host, map, g, d);
	rd_report_add(report, section);
}

void rd_report_gpu_nics(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map,
			const struct rd_selection *shown)
{
	add_paths(report, "pairs", host, map, shown);
}

void rd_report_nicmap(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map,
		      const struct rd_selection *shown)
{
	struct rd_section *nics = rd_section_create("nics", rd_nic_columns, RD_NIC_COLUMNS);
	struct rd_section *gpus = rd_section_create("gpus", gpu_columns, GPU_COLUMNS);

	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_selection_has_port(shown, p))
			add_nic(nics, host, map, p);
	for (size_t g = 0; g < host->n_gpus; g++)
		add_gpu(gpus, host, map, g);
	rd_report_add(report, nics);
	rd_report_add(report, gpus);
	add_paths(report, "paths", host, map, shown);
	add_scalars(report, host, map);
	rd_report_add_findings(report, &map->findings);
}

/* clang-format off */
const struct rd_column rd_nic_columns[RD_NIC_COLUMNS] = {
	[RD_NIC_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[RD_NIC_PORT] = { "port", "PORT", RD_T_UINT, "port of the device", 0, false },
	[RD_NIC_NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface on the port", 0, false },
	[RD_NIC_PCI] = { "pci", "PCI", RD_T_STR, "PCI address", 0, false },
	[RD_NIC_NUMA] = { "numa_node", "NUMA", RD_T_INT, "NUMA node it is attached to", 0, false },
	[RD_NIC_GPUS] = { "gpus", "GPUS", RD_T_STR, "nearest accelerators, and the distance", 0, false },
	[RD_NIC_STATE] = { "state", "STATE", RD_T_STR, "state of the port", 0, false },
	[RD_NIC_RATE] = { "rate_gbps", "GBPS", RD_T_DOUBLE, "rate of the port", 1, false },
	[RD_NIC_MTU] = { "mtu_bytes", "MTU", RD_T_UINT, "RDMA MTU in use: payload of a packet", 0, false },
	[RD_NIC_GID_INDEX] = { "gid_index", "GIDX", RD_T_UINT, "index of the GID to use", 0, false },
	[RD_NIC_GID_NCCL] = { "gid_index_nccl", "NCCL", RD_T_UINT, "index of the GID that NCCL uses by default", 0, false },
	[RD_NIC_GID_TYPE] = { "gid_type", "GIDTYPE", RD_T_STR, "type of that GID", 0, false },
	[RD_NIC_IP] = { "ip", "IP", RD_T_STR, "IP address in that GID, or of the interface", 0, false },
	[RD_NIC_ROLE] = { "role", "ROLE", RD_T_STR, "compute, storage or management", 0, false },
	[RD_NIC_DRIVER] = { "driver", "DRIVER", RD_T_STR, "kernel driver", 0, true },
	[RD_NIC_FIRMWARE] = { "firmware", "FIRMWARE", RD_T_STR, "firmware version", 0, true },
	[RD_NIC_BOARD] = { "board", "BOARD", RD_T_STR, "board id", 0, true },
	[RD_NIC_HCA_TYPE] = { "hca_type", "HCA", RD_T_STR, "type of the device", 0, true },
	[RD_NIC_LINK_LAYER] = { "link_layer", "LAYER", RD_T_STR, "InfiniBand or Ethernet", 0, true },
	[RD_NIC_PHYS_STATE] = { "phys_state", "PHYS", RD_T_STR, "physical state of the port", 0, true },
	[RD_NIC_LID] = { "lid", "LID", RD_T_UINT, "local identifier (InfiniBand)", 0, true },
	[RD_NIC_MAX_MTU] = { "max_mtu_bytes", "MAXMTU", RD_T_UINT, "largest RDMA MTU that the device supports", 0, true },
	[RD_NIC_NETDEV_MTU] = { "netdev_mtu_bytes", "NETMTU", RD_T_UINT, "MTU of the interface", 0, true },
	[RD_NIC_NETDEVS] = { "netdevs", "NETDEVS", RD_T_STRS, "all interfaces on the port", 0, true },
	[RD_NIC_MASTER] = { "master", "MASTER", RD_T_STR, "bond or bridge above the interface", 0, true },
	[RD_NIC_NETNS] = { "netns", "NETNS", RD_T_STR, "network namespace of the interface: this, another", 0, true },
	[RD_NIC_GID] = { "gid", "GID", RD_T_STR, "the GID to use", 0, true },
	[RD_NIC_GID_WHY] = { "gid_reason", "GIDWHY", RD_T_STR, "why this GID, or why none", 0, true },
	[RD_NIC_ROLE_WHY] = { "role_reason", "ROLEWHY", RD_T_STR, "how the role was determined", 0, true },
	[RD_NIC_SLOT] = { "slot", "SLOT", RD_T_STR, "physical slot", 0, true },
	[RD_NIC_PF] = { "pf", "PF", RD_T_STR, "physical function of a virtual function", 0, true },
	[RD_NIC_LINK_MTPS] = { "pci_link_mtps", "LINKMTPS", RD_T_UINT, "PCI Express link speed, megatransfers per second", 0, true },
	[RD_NIC_LINK_WIDTH] = { "pci_link_width", "LINKWIDTH", RD_T_UINT, "PCI Express link width, lanes", 0, true },
	[RD_NIC_LINK_MAX_MTPS] = { "pci_link_max_mtps", "LINKMAXMTPS", RD_T_UINT, "maximum link speed, megatransfers per second", 0, true },
	[RD_NIC_LINK_MAX_WIDTH] = { "pci_link_max_width", "LINKMAXWIDTH", RD_T_UINT, "maximum link width, lanes", 0, true },
	[RD_NIC_NODE_GUID] = { "node_guid", "NODEGUID", RD_T_STR, "GUID of the device", 0, true },
	[RD_NIC_PORT_GUID] = { "port_guid", "PORTGUID", RD_T_STR, "GUID of the port (InfiniBand)", 0, true },
	[RD_NIC_SYS_GUID] = { "sys_image_guid", "SYSGUID", RD_T_STR, "GUID of the card", 0, true },
	[RD_NIC_VIA] = { "via", "VIA", RD_T_STR, "how the PCI function of the device was found", 0, true },
};

static const struct rd_column gpu_columns[GPU_COLUMNS] = {
	[GPU_INDEX] = { "index", "GPU", RD_T_UINT, "index, in PCI order", 0, false },
	[GPU_PCI] = { "pci", "PCI", RD_T_STR, "PCI address", 0, false },
	[GPU_VENDOR] = { "vendor", "VENDOR", RD_T_STR, "vendor", 0, false },
	[GPU_NAME] = { "name", "NAME", RD_T_STR, "model", 0, false },
	[GPU_NUMA] = { "numa_node", "NUMA", RD_T_INT, "NUMA node it is attached to", 0, false },
	[GPU_NICS] = { "nics", "NICS", RD_T_STR, "nearest NICs, and the distance", 0, false },
	[GPU_UUID] = { "uuid", "UUID", RD_T_STR, "UUID", 0, true },
	[GPU_MINOR] = { "minor", "MINOR", RD_T_UINT, "minor number of its device file", 0, true },
	[GPU_DRIVER] = { "driver", "DRIVER", RD_T_STR, "kernel driver", 0, true },
	[GPU_SLOT] = { "slot", "SLOT", RD_T_STR, "physical slot", 0, true },
	[GPU_LINK_MTPS] = { "pci_link_mtps", "LINKMTPS", RD_T_UINT, "PCI Express link speed, megatransfers per second", 0, true },
	[GPU_LINK_WIDTH] = { "pci_link_width", "LINKWIDTH", RD_T_UINT, "PCI Express link width, lanes", 0, true },
	[GPU_LINK_MAX_MTPS] = { "pci_link_max_mtps", "LINKMAXMTPS", RD_T_UINT, "maximum link speed, megatransfers per second", 0, true },
	[GPU_LINK_MAX_WIDTH] = { "pci_link_max_width", "LINKMAXWIDTH", RD_T_UINT, "maximum link width, lanes", 0, true },
};

static const struct rd_column path_columns[PATH_COLUMNS] = {
	[PATH_INDEX] = { "gpu_index", "GPU", RD_T_UINT, "accelerator", 0, false },
	[PATH_GPU] = { "gpu", "PCI", RD_T_STR, "PCI address of the accelerator", 0, false },
	[PATH_NIC] = { "nic", "NIC", RD_T_STR, "RDMA device", 0, false },
	[PATH_PATH] = { "path", "PATH", RD_T_STR, "PIX, PXB, PHB, NODE or SYS", 0, false },
	[PATH_REASON] = { "reason", "REASON", RD_T_STR, "why the distance is unknown or ambiguous", 0, false },
	[PATH_NCCL] = { "nccl_path", "NCCL", RD_T_STR, "distance by NCCL's rule: no NODE, but P2C and PXN", 0, false },
	[PATH_VIA] = { "nccl_via", "VIA", RD_T_STR, "with PXN: the accelerator near the NIC", 0, false },
	[PATH_NVSHMEM] = { "nvshmem_path", "NVSHMEM", RD_T_STR, "distance by NVSHMEM's rule", 0, false },
	[PATH_GPUDIRECT] = { "gpudirect", "GPUDIRECT", RD_T_BOOL, "NCCL lets the NIC access the accelerator's memory directly", 0, false },
	[PATH_GPUDIRECT_WHY] = { "gpudirect_reason", "GPUDIRECTWHY", RD_T_STR, "mechanism, or why not, or why unknown", 0, false },
};

static const struct rd_column choice_columns[CHOICE_COLUMNS] = {
	[CHOICE_GPU] = { "gpu", "GPU", RD_T_STR, "PCI address of the accelerator", 0, false },
	[CHOICE_NICS] = { "nics", "NICS", RD_T_STRS, "RDMA devices selected for it", 0, false },
	[CHOICE_PORTS] = { "ports", "PORTS", RD_T_STRS, "ports selected for it", 0, false },
	[CHOICE_BACKUP] = { "backup", "BACKUP", RD_T_STR, "RDMA device to use if the first fails, as rdmadiag advises", 0, false },
	[CHOICE_WHY] = { "reason", "REASON", RD_T_STR, "why these devices", 0, false },
	[CHOICE_BACKUP_WHY] = { "backup_reason", "BACKUPWHY", RD_T_STR, "why this device, and what it shares with the first", 0, false },
	[CHOICE_LIBRARY] = { "library_backup", "LIBBACKUP", RD_T_STR, "RDMA device that the library fails over to", 0, false },
	[CHOICE_LIBRARY_WHY] = { "library_backup_reason", "LIBBACKUPWHY", RD_T_STR, "by which rule, or why none", 0, false },
};

static const struct rd_column name_columns[1] = {
	{ "name", "NAME", RD_T_STR, "name", 0, false },
};

static const struct rd_column net_columns[NET_COLUMNS] = {
	[NET_NAME] = { "name", "NAME", RD_T_STR, "name in NCCL's log", 0, false },
	[NET_PORTS] = { "ports", "PORTS", RD_T_STRS, "its ports", 0, false },
	[NET_GBPS] = { "gbps", "GBPS", RD_T_DOUBLE, "total rate of its ports, as counted by NCCL", 1, false },
	[NET_DIRECT] = { "data_direct", "DIRECT", RD_T_BOOL, "NCCL uses its data direct function", 0, false },
};

static const struct rd_column assignment_columns[ASSIGNMENT_COLUMNS] = {
	{ "nvshmem", "NVSHMEM", RD_T_ROWS, "choice of NVSHMEM", 0, false },
	{ "nccl", "NCCL", RD_T_ROWS, "choice of NCCL", 0, false },
	{ "nvshmem_note", "NVSHMEMNOTE", RD_T_STR, "assumptions", 0, false },
	{ "nccl_note", "NCCLNOTE", RD_T_STR, "assumptions", 0, false },
	{ "nccl_nets", "NCCLNETS", RD_T_ROWS, "NICs as NCCL sees them, after merging", 0, false },
	{ "mooncake", "MOONCAKE", RD_T_ROWS, "choice of Mooncake", 0, false },
	{ "mooncake_left_out", "MOONCAKELEFTOUT", RD_T_ROWS, "active ports that it does not use", 0, false },
	{ "mooncake_note", "MOONCAKENOTE", RD_T_STR, "assumptions", 0, false },
	{ "ucx", "UCX", RD_T_ROWS, "choice of NIXL over UCX", 0, false },
	{ "ucx_left_out", "UCXLEFTOUT", RD_T_ROWS, "active ports that it does not use", 0, false },
	{ "ucx_note", "UCXNOTE", RD_T_STR, "assumptions", 0, false },
	{ "nixl_libfabric", "NIXLLIBFABRIC", RD_T_ROWS, "choice of NIXL's libfabric backend", 0, false },
	{ "nixl_libfabric_left_out", "NIXLLIBFABRICLEFTOUT", RD_T_ROWS, "active ports that it does not use", 0, false },
	{ "nixl_libfabric_note", "NIXLLIBFABRICNOTE", RD_T_STR, "assumptions", 0, false },
	{ "libfabric", "LIBFABRIC", RD_T_ROWS, "what libfabric lists", 0, false },
	{ "libfabric_left_out", "LIBFABRICLEFTOUT", RD_T_ROWS, "active ports that it does not use", 0, false },
	{ "libfabric_note", "LIBFABRICNOTE", RD_T_STR, "assumptions", 0, false },
};

static const struct rd_column scalar_columns[3] = {
	{ "assignment", "ASSIGNMENT", RD_T_OBJECT, "NICs of each accelerator", 0, false },
	{ "env", "ENV", RD_T_MAP, "variables that select the compute NICs", 0, false },
	{ "rules_read_from", "RULES", RD_T_ROWS, "library releases that the rules were taken from", 0, false },
};

static const struct rd_column env_columns[2] = {
	{ "name", "NAME", RD_T_STR, "variable", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};
/* clang-format on */
