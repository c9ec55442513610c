/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of nic-map about one host: NICs, accelerators, paths, GIDs, bridges, the matrix, and what each library selects. */
#include "report/nicmap/report-nicmap.h"

#include "base/buf.h"

/* Characters: a row of the table of stacks lists NICs up to this width, and at least one, to fit a terminal; JSON has all. */
#define NICS_WIDTH 33
#define GIDS_SHOWN 4
/* Maximum number of fallback ports, and of unused ports, in a document: a card may have hundreds of virtual functions. */
#define OTHERS_SHOWN 64
/* No stack has more transports. */
#define TRANSPORTS 4

/* clang-format off */
const struct rd_column rd_nic_columns[RD_NIC_COLUMNS] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "port", "PORT", RD_T_UINT, "port of the device", 0, false },
	{ "netdev", "NETDEV", RD_T_STR, "network interface on the port", 0, false },
	{ "pci", "PCI", RD_T_STR, "PCI address", 0, false },
	{ "numa_node", "NUMA", RD_T_INT, "NUMA node it is attached to", 0, false },
	{ "gpus", "GPUS", RD_T_STR, "nearest accelerators, and the distance", 0, false },
	{ "state", "STATE", RD_T_STR, "state of the port", 0, false },
	{ "rate_gbps", "GBPS", RD_T_DOUBLE, "rate of the port", 1, false },
	{ "mtu_bytes", "MTU", RD_T_UINT, "RDMA MTU in use: payload of a packet", 0, false },
	{ "gid_index", "GIDX", RD_T_UINT, "index of the GID to use", 0, false },
	{ "gid_index_nccl", "NCCL", RD_T_UINT, "index of the GID that NCCL uses by default", 0, false },
	{ "gid_type", "GIDTYPE", RD_T_STR, "type of that GID", 0, false },
	{ "ip", "IP", RD_T_STR, "IP address in that GID, or of the interface", 0, false },
	{ "role", "ROLE", RD_T_STR, "compute, storage or management", 0, false },
	{ "driver", "DRIVER", RD_T_STR, "kernel driver", 0, true },
	{ "firmware", "FIRMWARE", RD_T_STR, "firmware version", 0, true },
	{ "board", "BOARD", RD_T_STR, "board id", 0, true },
	{ "hca_type", "HCA", RD_T_STR, "type of the device", 0, true },
	{ "link_layer", "LAYER", RD_T_STR, "InfiniBand or Ethernet", 0, true },
	{ "phys_state", "PHYS", RD_T_STR, "physical state of the port", 0, true },
	{ "lid", "LID", RD_T_UINT, "local identifier (InfiniBand)", 0, true },
	{ "max_mtu_bytes", "MAXMTU", RD_T_UINT, "largest RDMA MTU that the device supports", 0, true },
	{ "netdev_mtu_bytes", "NETMTU", RD_T_UINT, "MTU of the interface", 0, true },
	{ "netdevs", "NETDEVS", RD_T_STRS, "all interfaces on the port", 0, true },
	{ "master", "MASTER", RD_T_STR, "bond or bridge above the interface", 0, true },
	{ "netns", "NETNS", RD_T_STR, "network namespace of the interface: this, another", 0, true },
	{ "gid", "GID", RD_T_STR, "the GID to use", 0, true },
	{ "gid_reason", "GIDWHY", RD_T_STR, "why this GID, or why none", 0, true },
	{ "role_reason", "ROLEWHY", RD_T_STR, "how the role was determined", 0, true },
	{ "slot", "SLOT", RD_T_STR, "physical slot", 0, true },
	{ "pf", "PF", RD_T_STR, "physical function of a virtual function", 0, true },
	{ "pci_link_mtps", "LINKMTPS", RD_T_UINT, "PCI Express link speed, megatransfers per second", 0, true },
	{ "pci_link_width", "LINKWIDTH", RD_T_UINT, "PCI Express link width, lanes", 0, true },
	{ "pci_link_max_mtps", "LINKMAXMTPS", RD_T_UINT, "maximum link speed, megatransfers per second", 0, true },
	{ "pci_link_max_width", "LINKMAXWIDTH", RD_T_UINT, "maximum link width, lanes", 0, true },
	{ "node_guid", "NODEGUID", RD_T_STR, "GUID of the device", 0, true },
	{ "port_guid", "PORTGUID", RD_T_STR, "GUID of the port (InfiniBand)", 0, true },
	{ "sys_image_guid", "SYSGUID", RD_T_STR, "GUID of the card", 0, true },
	{ "via", "VIA", RD_T_STR, "how the PCI function of the device was found", 0, true },
};

static const struct rd_column gpu_columns[] = {
	{ "index", "GPU", RD_T_UINT, "index, in PCI order", 0, false },
	{ "pci", "PCI", RD_T_STR, "PCI address", 0, false },
	{ "vendor", "VENDOR", RD_T_STR, "vendor", 0, false },
	{ "name", "NAME", RD_T_STR, "model", 0, false },
	{ "numa_node", "NUMA", RD_T_INT, "NUMA node it is attached to", 0, false },
	{ "nics", "NICS", RD_T_STR, "nearest NICs, and the distance", 0, false },
	{ "uuid", "UUID", RD_T_STR, "UUID", 0, true },
	{ "minor", "MINOR", RD_T_UINT, "minor number of its device file", 0, true },
	{ "driver", "DRIVER", RD_T_STR, "kernel driver", 0, true },
	{ "slot", "SLOT", RD_T_STR, "physical slot", 0, true },
	{ "pci_link_mtps", "LINKMTPS", RD_T_UINT, "PCI Express link speed, megatransfers per second", 0, true },
	{ "pci_link_width", "LINKWIDTH", RD_T_UINT, "PCI Express link width, lanes", 0, true },
	{ "pci_link_max_mtps", "LINKMAXMTPS", RD_T_UINT, "maximum link speed, megatransfers per second", 0, true },
	{ "pci_link_max_width", "LINKMAXWIDTH", RD_T_UINT, "maximum link width, lanes", 0, true },
};

static const struct rd_column path_columns[] = {
	{ "gpu_index", "GPU", RD_T_UINT, "accelerator", 0, false },
	{ "gpu", "PCI", RD_T_STR, "PCI address of the accelerator", 0, false },
	{ "nic", "NIC", RD_T_STR, "RDMA device", 0, false },
	{ "path", "PATH", RD_T_STR, "PIX, PXB, PHB, NODE or SYS", 0, false },
	{ "reason", "REASON", RD_T_STR, "why the distance is unknown or ambiguous", 0, false },
	{ "nccl_path", "NCCL", RD_T_STR, "distance by NCCL's rule: no NODE, but P2C and PXN", 0, false },
	{ "nccl_via", "VIA", RD_T_STR, "with PXN: the accelerator near the NIC", 0, false },
	{ "nvshmem_path", "NVSHMEM", RD_T_STR, "distance by NVSHMEM's rule", 0, false },
	{ "gpudirect", "GPUDIRECT", RD_T_BOOL, "NCCL lets the NIC access the accelerator's memory directly", 0, false },
	{ "gpudirect_reason", "GPUDIRECTWHY", RD_T_STR, "mechanism, or why not, or why unknown", 0, false },
};

static const struct rd_column choice_columns[] = {
	{ "gpu", "GPU", RD_T_STR, "PCI address of the accelerator", 0, false },
	{ "nics", "NICS", RD_T_STRS, "RDMA devices selected for it", 0, false },
	{ "ports", "PORTS", RD_T_STRS, "ports selected for it", 0, false },
	{ "backup", "BACKUP", RD_T_STR, "RDMA device to use if the first fails, as rdmadiag advises", 0, false },
	{ "reason", "REASON", RD_T_STR, "why these devices", 0, false },
	{ "backup_reason", "BACKUPWHY", RD_T_STR, "why this device, and what it shares with the first", 0, false },
	{ "library_backup", "LIBBACKUP", RD_T_STR, "RDMA device that the library fails over to", 0, false },
	{ "library_backup_reason", "LIBBACKUPWHY", RD_T_STR, "by which rule, or why none", 0, false },
};

static const struct rd_column name_columns[] = {
	{ "name", "NAME", RD_T_STR, "name", 0, false },
};

static const struct rd_column net_columns[] = {
	{ "name", "NAME", RD_T_STR, "name in NCCL's log", 0, false },
	{ "ports", "PORTS", RD_T_STRS, "its ports", 0, false },
	{ "gbps", "GBPS", RD_T_DOUBLE, "total rate of its ports, as counted by NCCL", 1, false },
	{ "data_direct", "DIRECT", RD_T_BOOL, "NCCL uses its data direct function", 0, false },
};

static const struct rd_column assignment_columns[] = {
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

static const struct rd_column scalar_columns[] = {
	{ "assignment", "ASSIGNMENT", RD_T_OBJECT, "NICs of each accelerator", 0, false },
	{ "env", "ENV", RD_T_MAP, "variables that select the compute NICs", 0, false },
	{ "rules_read_from", "RULES", RD_T_ROWS, "library releases that the rules were taken from", 0, false },
};

static const struct rd_column env_columns[] = {
	{ "name", "NAME", RD_T_STR, "variable", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};

static const struct rd_column stack_choice_columns[] = {
	{ "gpu", "GPU", RD_T_STR, "PCI address of the accelerator; unknown for host memory, or all memory", 0, false },
	{ "numa_node", "NUMA", RD_T_INT, "NUMA node of the host memory", 0, false },
	{ "nics", "NICS", RD_T_STRS, "RDMA devices selected for it", 0, false },
	{ "ports", "PORTS", RD_T_STRS, "ports selected for it", 0, false },
	{ "fallback", "FALLBACK", RD_T_STRS, "fallback ports, in order of preference", 0, false },
	{ "gids", "GIDS", RD_T_ROWS, "the GID used on each port", 0, false },
	{ "transport", "TRANSPORT", RD_T_STR, "transport, by the stack's name", 0, false },
	{ "reason", "REASON", RD_T_STR, "why these, and what the choice depends on", 0, false },
};

static const struct rd_column stack_gid_columns[] = {
	{ "port", "PORT", RD_T_STR, "port", 0, false },
	{ "gid_index", "GIDX", RD_T_UINT, "index", 0, false },
	{ "gid_type", "GIDTYPE", RD_T_STR, "IB, RoCE v1, RoCE v2", 0, false },
	{ "ip", "IP", RD_T_STR, "IP address in the GID", 0, false },
	{ "transport", "TRANSPORT", RD_T_STR, "transport, by the stack's name", 0, false },
	{ "reason", "REASON", RD_T_STR, "why this GID, or why none", 0, false },
};

static const struct rd_column stack_columns[] = {
	{ "stack", "STACK", RD_T_STR, "mooncake, ucx (below NIXL), nixl_libfabric, libfabric", 0, false },
	{ "memory", "MEMORY", RD_T_STR, "GPU memory, host memory of a NUMA node, all host memory, or all", 0, false },
	{ "nics", "NICS", RD_T_STR, "ports selected for it", 0, false },
	{ "gid_index", "GIDX", RD_T_STR, "index of the GID that the stack uses", 0, false },
	{ "transport", "TRANSPORT", RD_T_STR, "transport, by the stack's name", 0, false },
};

static const struct rd_column left_columns[] = {
	{ "port", "PORT", RD_T_STR, "port", 0, false },
	{ "reason", "REASON", RD_T_STR, "why the stack does not use it", 0, false },
};

static const struct rd_column rule_columns[] = {
	{ "library", "LIBRARY", RD_T_STR, "library", 0, false },
	{ "release", "RELEASE", RD_T_STR, "release and commit", 0, false },
};

static const struct rd_column gid_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "port", "PORT", RD_T_UINT, "port", 0, false },
	{ "gid_index", "GIDX", RD_T_UINT, "index", 0, false },
	{ "gid_type", "GIDTYPE", RD_T_STR, "IB, RoCE v1, RoCE v2", 0, false },
	{ "netdev", "NETDEV", RD_T_STR, "interface of the GID", 0, false },
	{ "ip", "IP", RD_T_STR, "IP address in the GID", 0, false },
	{ "use", "USE", RD_T_BOOL, "yes: the GID to use", 0, false },
	{ "gid", "GID", RD_T_STR, "the GID", 0, false },
};

static const struct rd_column bridge_columns[] = {
	{ "pci", "PCI", RD_T_STR, "function", 0, false },
	{ "kind", "KIND", RD_T_STR, "root port, switch port, endpoint ...", 0, false },
	{ "link_mtps", "MTPS", RD_T_UINT, "link speed, megatransfers per second", 0, false },
	{ "link_width", "WIDTH", RD_T_UINT, "link width, lanes", 0, false },
	{ "link_max_mtps", "MAXMTPS", RD_T_UINT, "maximum link speed, megatransfers per second", 0, false },
	{ "link_max_width", "MAXWIDTH", RD_T_UINT, "maximum link width, lanes", 0, false },
	{ "acs", "ACS", RD_T_STR, "redirects (to the root complex), off, none (no ACS capability), denied", 0, false },
	{ "acs_ctl", "ACSCTL", RD_T_STR, "ACS control register", 0, true },
	{ "numa_node", "NUMA", RD_T_INT, "NUMA node", 0, false },
};

static const struct rd_column assigned_columns[] = {
	{ "library", "LIBRARY", RD_T_STR, "nccl or nvshmem", 0, false },
	{ "gpu", "GPU", RD_T_UINT, "accelerator", 0, false },
	{ "nics", "NICS", RD_T_STR, "ports selected for it", 0, false },
	{ "gpudirect", "GPUDIRECT", RD_T_BOOL, "the NIC accesses the accelerator's memory directly", 0, false },
	{ "backup", "BACKUP", RD_T_STR, "RDMA device to use if the first fails", 0, false },
	{ "library_backup", "LIBBACKUP", RD_T_STR, "RDMA device that the library fails over to", 0, false },
	{ "reason", "REASON", RD_T_STR, "why these ports", 0, false },
	{ "backup_reason", "BACKUPWHY", RD_T_STR, "why this device, and what it shares with the first", 0, false },
};

static const struct rd_column env_assigned_columns[] = {
	{ "gpu", "GPU", RD_T_UINT, "accelerator", 0, false },
	{ "nics", "NCCL", RD_T_STR, "NICs that NCCL selects for it with these variables", 0, false },
	{ "nics_without", "WITHOUT", RD_T_STR, "NICs that NCCL selects without any variable", 0, false },
	{ "gpudirect", "GPUDIRECT", RD_T_BOOL, "the first NIC accesses the accelerator's memory directly", 0, false },
	{ "reason", "REASON", RD_T_STR, "why these NICs", 0, false },
};
/* clang-format on */

static struct rd_cell numa_cell(int numa)
{
	return numa < 0 ? RD_UNKNOWN_CELL : RD_INT(numa);
}

static struct rd_cell pci_cell(const struct rd_host *host, int pci)
{
	return RD_STR(pci < 0 ? NULL : host->pcis[pci].addr);
}

/* The accelerators nearest to a device, or the devices nearest to an accelerator, and their distance: "0,1 PXB". Accelerators by index
 * instead of address, to fit into a table. NULL: none is near. */
static char *nearest(const struct rd_host *host, const struct rd_nicmap *map, size_t to, bool gpus)
{
	size_t n = gpus ? map->n_gpus : map->n_ibdevs;
	_cleanup_buf_ struct rd_buf text = { 0 };
	enum rd_path best = RD_PATH_UNKNOWN;

	for (size_t i = 0; i < n; i++) {
		enum rd_path path = rd_nicmap_pair(map, gpus ? i : to, gpus ? to : i)->path;

		if (path != RD_PATH_UNKNOWN && (best == RD_PATH_UNKNOWN || path < best))
			best = path;
	}
	if (best == RD_PATH_UNKNOWN || best >= RD_PATH_NODE)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *comma = text.len ? "," : "";

		if (rd_nicmap_pair(map, gpus ? i : to, gpus ? to : i)->path != best)
			continue;
		if (gpus)
			rd_buf_printf(&text, "%s%zu", comma, i);
		else
			rd_buf_printf(&text, "%s%s", comma, rd_ibdev_label(host, (int)i));
	}
	rd_buf_printf(&text, " %s", rd_path_name(best));
	return RD_TAKE(text.data);
}

/* The address in the GID to use; InfiniBand ports have IP addresses only through IPoIB. `ip`: 48 bytes. */
static const char *ip_of(const struct rd_host *host, const struct rd_port *port, const struct rd_gid *gid, char *ip)
{
	if (gid && rd_port_is_ethernet(port)) {
		rd_gid_ip(gid, ip);
		return ip;
	}
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		for (size_t a = 0; a < netdev->n_addrs; a++) {
			struct rd_gid mapped = { .raw = { [10] = 0xff, [11] = 0xff } };

			if (netdev->addrs[a].v6)
				continue;
			memcpy(mapped.raw + 12, netdev->addrs[a].raw, 4);
			rd_gid_ip(&mapped, ip);
			return ip;
		}
	}
	return NULL;
}

static void add_nic(struct rd_section *section, const struct rd_host *host, const struct rd_nicmap *map, size_t p)
{
	static const struct rd_pci no_pci = { .pf = -1 };
	static const struct rd_netdev no_netdev = { 0 };
	const struct rd_port *port = &host->ports[p];
	const struct rd_port_view *view = &map->ports.v[p];
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
	const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : &no_pci;
	const struct rd_netdev *netdev = port->n_netdevs ? &host->netdevs[port->netdevs[0]] : &no_netdev;
	const struct rd_gid *gid = view->gid >= 0 ? &port->gids[view->gid] : NULL;
	_cleanup_free_ char *near = nearest(host, map, (size_t)port->ibdev, true);
	char ip[48], gid_text[48] = "";
	const char *address = ip_of(host, port, gid, ip);
	bool has_lid = port->lid.known == RD_OK && !rd_port_is_ethernet(port);
	struct rd_section *netdevs = rd_section_create("netdevs", name_columns, 1);

	for (size_t i = 0; i < port->n_netdevs; i++)
		RD_ROW(netdevs, RD_STR(host->netdevs[port->netdevs[i]].name));
	if (gid)
		rd_gid_text(gid, gid_text);
	RD_ROW(section, RD_STR(dev->name), port->num ? RD_UINT(port->num) : RD_UNKNOWN_CELL, RD_STR(port->netdev_name),
	       pci_cell(host, dev->pci), numa_cell(rd_ibdev_numa(host, port->ibdev)), RD_STR(near), RD_STR(port->state),
	       RD_DOUBLE_OF(port->rate_gbps), RD_UINT_OF(port->mtu), gid ? RD_UINT(gid->index) : RD_UNKNOWN_CELL,
	       view->gid_nccl >= 0 ? RD_UINT(port->gids[view->gid_nccl].index) : RD_UNKNOWN_CELL,
	       RD_STR(gid ? rd_gid_type_name(gid->type) : NULL), RD_STR(address), RD_STR(rd_role_name(view->role)),
	       RD_STR(dev->driver), RD_STR(dev->firmware), RD_STR(dev->board), RD_STR(dev->hca_type),
	       RD_STR(port->link_layer), RD_STR(port->phys_state), has_lid ? RD_UINT(port->lid.v) : RD_UNKNOWN_CELL,
	       RD_UINT_OF(port->max_mtu), RD_UINT_OF(netdev->mtu), RD_SUB(netdevs), RD_STR(netdev->master),
	       RD_STR(port->netns_other ? "another" :
		      port->n_netdevs	? "this" :
					  NULL),
	       RD_STR(gid ? gid_text : NULL), RD_STR(view->gid_why), RD_STR(view->role_why), RD_STR(pci->slot),
	       pci_cell(host, pci->pf), RD_UINT_OF(pci->now.mtps), RD_UINT_OF(pci->now.width),
	       RD_UINT_OF(pci->max.mtps), RD_UINT_OF(pci->max.width), RD_STR(dev->node_guid), RD_STR(port->guid),
	       RD_STR(dev->sys_image_guid), RD_STR(dev->via));
}

static void add_gpu(struct rd_section *section, const struct rd_host *host, const struct rd_nicmap *map, size_t g)
{
	_cleanup_free_ char *near = nearest(host, map, g, false);
	const struct rd_gpu *gpu = &host->gpus[g];
	const struct rd_pci *pci = &host->pcis[gpu->pci];
	char id[16];

	snprintf(id, sizeof(id), "0x%04x", pci->vendor.v);
	RD_ROW(section, RD_UINT(gpu->index), RD_STR(pci->addr),
	       RD_STR(gpu->vendor || pci->vendor.known != RD_OK ? gpu->vendor : id), RD_STR(gpu->name),
	       numa_cell(rd_pci_numa(host, gpu->pci)), RD_STR(near), RD_STR(gpu->uuid), RD_UINT_OF(gpu->minor),
	       RD_STR(pci->driver), RD_STR(pci->slot), RD_UINT_OF(pci->now.mtps), RD_UINT_OF(pci->now.width),
	       RD_UINT_OF(pci->max.mtps), RD_UINT_OF(pci->max.width));
}

void rd_report_paths(struct rd_report *report, const char *name, const struct rd_host *host,
		     const struct rd_nicmap *map, const struct rd_selection *shown)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION(name, path_columns));

	for (size_t g = 0; g < host->n_gpus; g++)
		for (size_t d = 0; d < host->n_ibdevs; d++) {
			const struct rd_pair *pair = rd_nicmap_pair(map, g, d);

			if (!rd_selection_has_ibdev(shown, d))
				continue;
			RD_ROW(section, RD_UINT(host->gpus[g].index), pci_cell(host, host->gpus[g].pci),
			       RD_STR(rd_ibdev_label(host, (int)d)), RD_STR(rd_path_name(pair->path)),
			       RD_STR(pair->reason), RD_STR(rd_path_name(pair->nccl)),
			       pci_cell(host, pair->via < 0 ? -1 : host->gpus[pair->via].pci),
			       RD_STR(rd_path_name(pair->nvshmem)), RD_BOOL_OF(pair->gpudirect),
			       RD_STR(pair->gpudirect_why));
		}
}

/* Ports, or their devices, as a list of names. */
static struct rd_section *names_of(const struct rd_host *host, const char *key, const int *indices, size_t n, bool ports)
{
	struct rd_section *section = rd_section_create(key, name_columns, 1);

	for (size_t i = 0; i < n; i++) {
		const struct rd_port *port = &host->ports[indices[i]];

		if (i == 0 || ports || host->ports[indices[i - 1]].ibdev != port->ibdev)
			RD_ROW(section,
			       RD_STR(ports ? rd_port_label(host, port).text : rd_ibdev_label(host, port->ibdev)));
	}
	return section;
}

static struct rd_cell device_cell(const struct rd_host *host, int port)
{
	return RD_STR(port < 0 ? NULL : rd_ibdev_label(host, host->ports[port].ibdev));
}

static struct rd_section *choices_of(const struct rd_host *host, const struct rd_choices *choices)
{
	struct rd_section *section = RD_SECTION("choices", choice_columns);

	for (size_t i = 0; i < choices->n; i++) {
		const struct rd_choice *choice = &choices->v[i];

		RD_ROW(section, pci_cell(host, host->gpus[choice->gpu].pci),
		       RD_SUB(names_of(host, "nics", choice->ports, choice->n_ports, false)),
		       RD_SUB(names_of(host, "nics", choice->ports, choice->n_ports, true)),
		       device_cell(host, choice->backup), RD_STR(choice->why), RD_STR(choice->backup_why),
		       device_cell(host, choice->library_backup), RD_STR(choice->library_backup_why));
	}
	return section;
}

static struct rd_section *nets_of(const struct rd_host *host, const struct rd_nccl_nets *nets)
{
	struct rd_section *section = RD_SECTION("nccl_nets", net_columns);

	for (size_t i = 0; i < nets->n; i++) {
		const struct rd_nccl_net *net = &nets->v[i];

		RD_ROW(section, RD_STR(net->name), RD_SUB(names_of(host, "ports", net->ports, net->n_ports, true)),
		       RD_DOUBLE(net->gbps), RD_BOOL(net->data_direct));
	}
	return section;
}

/* The GIDs that a stack uses on the ports of a choice. */
static struct rd_section *gids_of(const struct rd_host *host, const struct rd_stack *stack,
				  const struct rd_stack_choice *choice)
{
	struct rd_section *section = RD_SECTION("gids", stack_gid_columns);

	for (size_t i = 0; i < choice->n_first; i++) {
		const struct rd_port *port = &host->ports[choice->ports[i]];
		const struct rd_stack_port *own = &stack->ports[choice->ports[i]];
		const struct rd_gid *gid = own->gid >= 0 ? &port->gids[own->gid] : NULL;
		bool has_ip = gid && rd_port_is_ethernet(port);
		char ip[48];

		if (has_ip)
			rd_gid_ip(gid, ip);
		RD_ROW(section, RD_STR(rd_port_label(host, port).text), gid ? RD_UINT(gid->index) : RD_UNKNOWN_CELL,
		       RD_STR(gid ? rd_gid_type_name(gid->type) : NULL), RD_STR(has_ip ? ip : NULL),
		       RD_STR(own->transport), RD_STR(own->gid_why));
	}
	return section;
}

/* "rc_mlx5"; "rc_verbs,rc_mlx5" if the NICs are of several vendors. */
static void transports(const struct rd_stack *stack, const struct rd_stack_choice *choice, struct rd_buf *ret)
{
	size_t n = choice->n_first > 0 ? choice->n_first : choice->n_ports;
	const char *seen[TRANSPORTS] = { NULL };
	size_t n_seen = 0;

	if (n == 0 && stack->transport)
		rd_buf_str(ret, stack->transport);
	for (size_t i = 0; i < n && n_seen < TRANSPORTS; i++) {
		const char *own = stack->ports[choice->ports[i]].transport;
		size_t at = 0;

		while (at < n_seen && strcmp(seen[at], own) != 0)
			at++;
		if (at < n_seen)
			continue;
		rd_buf_printf(ret, "%s%s", n_seen > 0 ? "," : "", own);
		seen[n_seen++] = own;
	}
}

static void add_stack_choice(struct rd_section *section, const struct rd_host *host, const struct rd_stack *stack,
			     const struct rd_stack_choice *choice)
{
	const int *ports = choice->ports;
	size_t n = choice->n_first, others = choice->n_ports - n > OTHERS_SHOWN ? OTHERS_SHOWN : choice->n_ports - n;
	_cleanup_buf_ struct rd_buf transport = { 0 };

	transports(stack, choice, &transport);
	RD_ROW(section, pci_cell(host, choice->gpu < 0 ? -1 : host->gpus[choice->gpu].pci), numa_cell(choice->numa),
	       RD_SUB(names_of(host, "names", ports, n, false)), RD_SUB(names_of(host, "names", ports, n, true)),
	       RD_SUB(names_of(host, "names", others ? ports + n : NULL, others, true)),
	       RD_SUB(gids_of(host, stack, choice)), RD_STR(transport.data), RD_STR(choice->why));
}

/* A stack that uses no port has one choice for all memory. */
static struct rd_section *stack_choices(const struct rd_host *host, const struct rd_stack *stack)
{
	const struct rd_stack_choice none = { .gpu = -1, .numa = -1, .why = stack->note };
	struct rd_section *section = RD_SECTION("choices", stack_choice_columns);

	if (stack->transport)
		add_stack_choice(section, host, stack, &none);
	for (size_t i = 0; !stack->transport && i < stack->n; i++)
		add_stack_choice(section, host, stack, &stack->v[i]);
	return section;
}

/* Active ports that the stack does not use, and why. */
static struct rd_section *left_out(const struct rd_host *host, const struct rd_stack *stack)
{
	struct rd_section *section = RD_SECTION("left_out", left_columns);

	for (size_t p = 0; p < host->n_ports && section->n < OTHERS_SHOWN; p++)
		if (!stack->ports[p].taken && rd_port_active(&host->ports[p]))
			RD_ROW(section, RD_STR(rd_port_label(host, &host->ports[p]).text),
			       RD_STR(stack->ports[p].why_not));
	return section;
}

/* Single values of the document: what each library selects, the variables, the sources of the rules. */
static void add_scalars(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map)
{
	struct rd_section *assignment = RD_SECTION("assignment", assignment_columns);
	struct rd_section *env = rd_section_create("env", env_columns, 2);
	struct rd_section *rules = rd_section_create("rules_read_from", rule_columns, 2);
	struct rd_row *row = RD_ROW(assignment, RD_SUB(choices_of(host, &map->nvshmem)),
				    RD_SUB(choices_of(host, &map->nccl)), RD_STR(map->nvshmem.note),
				    RD_STR(map->nccl.note), RD_SUB(nets_of(host, &map->nccl_nets)));

	for (size_t s = 0; s < RD_STACKS; s++) {
		const struct rd_stack *stack = &map->stacks.v[s];
		size_t first = 5 + 3 * s;

		rd_row_set(row, first, RD_SUB(stack_choices(host, stack)));
		rd_row_set(row, first + 1, RD_SUB(left_out(host, stack)));
		rd_row_set(row, first + 2, RD_STR(stack->note));
	}
	for (size_t i = 0; i < map->env.n; i++)
		RD_ROW(env, RD_STR(map->env.v[i].name), RD_STR(map->env.v[i].value));
	for (size_t i = 0; i < rd_n_library_rules; i++)
		RD_ROW(rules, RD_STR(rd_library_rules[i].library), RD_STR(rd_library_rules[i].release));
	report->scalars = RD_OBJECT("map", scalar_columns, RD_SUB(assignment), RD_SUB(env), RD_SUB(rules));
}

void rd_report_nicmap(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map,
		      const struct rd_selection *shown)
{
	struct rd_section *nics = rd_report_add(report, RD_SECTION("nics", rd_nic_columns));
	struct rd_section *gpus = rd_report_add(report, RD_SECTION("gpus", gpu_columns));

	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_selection_has_port(shown, p))
			add_nic(nics, host, map, p);
	for (size_t g = 0; g < host->n_gpus; g++)
		add_gpu(gpus, host, map, g);
	rd_report_paths(report, "paths", host, map, shown);
	add_scalars(report, host, map);
	rd_report_add_findings(report, &map->findings);
}

/* "3", "1,3"; "": none known. */
static void gid_list(const struct rd_host *host, const struct rd_stack *stack, const struct rd_stack_choice *choice,
		     struct rd_buf *ret)
{
	unsigned seen[GIDS_SHOWN];
	size_t n = 0;

	for (size_t i = 0; i < choice->n_first && n < GIDS_SHOWN; i++) {
		int p = choice->ports[i], gid = stack->ports[p].gid;
		size_t at = 0;

		if (gid < 0)
			continue;
		while (at < n && seen[at] != host->ports[p].gids[gid].index)
			at++;
		if (at < n)
			continue;
		seen[n] = host->ports[p].gids[gid].index;
		rd_buf_printf(ret, "%s%u", n > 0 ? "," : "", seen[n]);
		n++;
	}
}

static void nic_list(const struct rd_host *host, const struct rd_stack_choice *choice, struct rd_buf *ret)
{
	size_t n = 0;

	for (; n < choice->n_first; n++) {
		struct rd_port_name label = rd_port_label(host, &host->ports[choice->ports[n]]);

		if (n > 0 && ret->len + 1 + strlen(label.text) > NICS_WIDTH)
			break;
		rd_buf_printf(ret, "%s%s", n > 0 ? "," : "", label.text);
	}
	if (choice->n_first > n)
		rd_buf_printf(ret, " +%zu", choice->n_first - n);
	if (choice->n_first == 0 && choice->n_ports > 0)
		rd_buf_printf(ret, "any of %zu", choice->n_ports);
}

/* Whether two choices are for the same kind of memory, with consecutive numbers and the same NICs. */
static bool continues_row(const struct rd_host *host, const struct rd_stack_choice *a, const struct rd_stack_choice *b)
{
	if ((a->gpu >= 0) != (b->gpu >= 0) || (a->numa >= 0) != (b->numa >= 0) || a->n_first != b->n_first)
		return false;
	if (a->gpu >= 0 && host->gpus[b->gpu].index != host->gpus[a->gpu].index + 1)
		return false;
	return (a->numa < 0 || b->numa == a->numa + 1) &&
	       (a->n_first == 0 || memcmp(a->ports, b->ports, a->n_first * sizeof(*a->ports)) == 0);
}

/* A row for the memory of the choices `from` to `to`: "GPU0", "GPU0-3", "node1"; "host" or "all" if the choice does not depend on GPU
 * or NUMA node. */
static void add_stack_row(struct rd_section *section, const struct rd_host *host, enum rd_stack_id id,
			  const struct rd_stack *stack, const struct rd_stack_choice *from,
			  const struct rd_stack_choice *to)
{
	unsigned first = from->gpu >= 0 ? host->gpus[from->gpu].index : (unsigned)from->numa;
	_cleanup_buf_ struct rd_buf memory = { 0 }, nics = { 0 }, gids = { 0 }, transport = { 0 };

	/* Without GPU and node, UCX's row is for host memory; libfabric's is for all memory. */
	if (from->gpu < 0 && from->numa < 0)
		rd_buf_str(&memory, id == RD_STACK_UCX && !stack->transport ? "host" : "all");
	else
		rd_buf_printf(&memory, "%s%u", from->gpu >= 0 ? "GPU" : "node", first);
	if (from != to)
		rd_buf_printf(&memory, "-%u", from->gpu >= 0 ? host->gpus[to->gpu].index : (unsigned)to->numa);
	nic_list(host, from, &nics);
	gid_list(host, stack, from, &gids);
	transports(stack, from, &transport);
	RD_ROW(section, RD_STR(rd_stack_name(id)), RD_STR(memory.data), RD_STR(nics.data), RD_STR(gids.data),
	       RD_STR(transport.data));
}

void rd_report_stacks(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("stacks", stack_columns));

	for (int s = 0; s < RD_STACKS; s++) {
		const struct rd_stack *stack = &map->stacks.v[s];
		const struct rd_stack_choice none = { .gpu = -1, .numa = -1 };

		if (stack->transport)
			add_stack_row(section, host, s, stack, &none, &none);
		/* Memory with the same NICs is one row. */
		for (size_t i = 0, end; i < stack->n; i = end) {
			for (end = i + 1; end < stack->n && continues_row(host, &stack->v[end - 1], &stack->v[end]);
			     end++)
				;
			add_stack_row(section, host, s, stack, &stack->v[i], &stack->v[end - 1]);
		}
	}
}

void rd_report_gids(struct rd_report *report, const struct rd_port_views *views, const struct rd_selection *shown)
{
	const struct rd_host *host = views->host;
	struct rd_section *section = rd_report_add(report, RD_SECTION("gids", gid_columns));

	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t g = 0; rd_selection_has_port(shown, p) && g < host->ports[p].n_gids; g++) {
			const struct rd_port *port = &host->ports[p];
			const struct rd_gid *gid = &port->gids[g];
			char text[48], ip[48];

			rd_gid_text(gid, text);
			rd_gid_ip(gid, ip);
			RD_ROW(section, RD_STR(rd_ibdev_label(host, port->ibdev)), RD_UINT(port->num),
			       RD_UINT(gid->index), RD_STR(rd_gid_type_name(gid->type)), RD_STR(gid->netdev),
			       RD_STR(rd_port_is_ethernet(port) ? ip : NULL), RD_BOOL(views->v[p].gid == (int)g),
			       RD_STR(text));
		}
}

static void add_bridge(struct rd_section *section, const struct rd_host *host, int index)
{
	static const char *const kinds[] = {
		[RD_PCIE_ROOT_PORT] = "root port",
		[RD_PCIE_UPSTREAM] = "switch, upstream",
		[RD_PCIE_DOWNSTREAM] = "switch, downstream",
		[RD_PCIE_ENDPOINT] = "endpoint",
	};
	const struct rd_pci *pci = &host->pcis[index];
	const char *kind = pci->class.v >> 8 != RD_PCI_CLASS_BRIDGE	  ? "endpoint" :
			   pci->kind.known == RD_OK && kinds[pci->kind.v] ? kinds[pci->kind.v] :
									    "bridge";
	/* Whether ACS redirects peer-to-peer traffic to the root complex: bits 2 and 3 of the ACS control register. */
	const char *redirects = pci->acs_ctl.known == RD_OK	? (pci->acs_ctl.v & 0x0c ? "redirects" : "off") :
				pci->acs_ctl.known == RD_DENIED ? "denied" :
				pci->acs_missing		? "none" :
								  NULL;
	char acs[16];

	snprintf(acs, sizeof(acs), "0x%04x", pci->acs_ctl.v);
	RD_ROW(section, RD_STR(pci->addr), RD_STR(kind), RD_UINT_OF(pci->now.mtps), RD_UINT_OF(pci->now.width),
	       RD_UINT_OF(pci->max.mtps), RD_UINT_OF(pci->max.width), RD_STR(redirects),
	       RD_STR(pci->acs_ctl.known == RD_OK ? acs : NULL), numa_cell(rd_pci_numa(host, index)));
}

static void add_host_bridge(struct rd_section *section, const struct rd_host *host, int index)
{
	RD_ROW(section, RD_STR(host->pcis[index].root), RD_STR(host->from_topology_file ? "CPU" : "host bridge"),
	       RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_UNKNOWN_CELL,
	       numa_cell(rd_pci_numa(host, index)));
}

void rd_report_bridges(struct rd_report *report, const struct rd_host *host, int from, int to, const int *bridges,
		       size_t n, size_t top)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("bridges", bridge_columns));
	int at = top > 0 ? bridges[top - 1] : from;
	/* Without a common bridge the path leads through the host bridge of each side. */
	bool over_host = host->pcis[at].parent < 0 &&
			 (n > top ? host->pcis[bridges[top]].parent != at : host->pcis[to].parent != at);

	add_bridge(section, host, from);
	for (size_t i = 0; i < top; i++)
		add_bridge(section, host, bridges[i]);
	if (over_host) {
		const char *a = host->pcis[from].root, *b = host->pcis[to].root;

		add_host_bridge(section, host, from);
		if (!a || !b || strcmp(a, b) != 0)
			add_host_bridge(section, host, to);
	}
	for (size_t i = top; i < n; i++)
		add_bridge(section, host, bridges[i]);
	add_bridge(section, host, to);
}

/* "mlx5_0/1,mlx5_1/1"; NULL: none. Caller frees. */
static char *port_list(const struct rd_host *host, const struct rd_choice *choice)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t p = 0; p < choice->n_ports; p++)
		rd_buf_printf(&text, "%s%s", p > 0 ? "," : "", rd_port_label(host, &host->ports[choice->ports[p]]).text);
	return RD_TAKE(text.data);
}

/* Whether GPUDirect is used between an accelerator and its first NIC: 1, 0; -1: unknown. */
static int gpudirect_of(const struct rd_host *host, const struct rd_nicmap *map, const struct rd_choice *choice)
{
	const struct rd_pair *pair;

	if (choice->n_ports == 0)
		return -1;
	pair = rd_nicmap_pair(map, (size_t)choice->gpu, (size_t)host->ports[choice->ports[0]].ibdev);
	return pair->gpudirect.known == RD_OK ? pair->gpudirect.v : -1;
}

static void add_assigned(struct rd_section *section, const char *library, const struct rd_host *host,
			 const struct rd_nicmap *map, const struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++) {
		const struct rd_choice *choice = &choices->v[i];
		_cleanup_free_ char *nics = port_list(host, choice);
		/* NCCL only: NVSHMEM does not restrict GPUDirect by distance. */
		int direct = choices == &map->nccl ? gpudirect_of(host, map, choice) : -1;

		RD_ROW(section, RD_STR(library), RD_UINT(host->gpus[choice->gpu].index), RD_STR(nics),
		       direct < 0 ? RD_UNKNOWN_CELL : RD_BOOL(direct), device_cell(host, choice->backup),
		       device_cell(host, choice->library_backup),
		       RD_STR(choice->n_ports > 0 ? choice->why : choices->note), RD_STR(choice->backup_why));
	}
}

void rd_report_assignment(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("assignments", assigned_columns));

	add_assigned(section, "nccl", host, map, &map->nccl);
	add_assigned(section, "nvshmem", host, map, &map->nvshmem);
}

void rd_report_env_assignments(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *with,
			       const struct rd_nicmap *without, size_t *differ)
{
	static const struct rd_choice none = { 0 };
	struct rd_section *section = rd_report_add(report, RD_SECTION("assignments", env_assigned_columns));

	*differ = 0;
	for (size_t g = 0; g < with->nccl.n; g++) {
		const struct rd_choice *a = &with->nccl.v[g], *b = g < without->nccl.n ? &without->nccl.v[g] : &none;
		_cleanup_free_ char *now = port_list(host, a), *other = port_list(host, b);
		int direct = gpudirect_of(host, with, a);

		*differ += strcmp(now ?: "-", other ?: "-") != 0 || direct != gpudirect_of(host, without, b);
		RD_ROW(section, RD_UINT(host->gpus[g].index), RD_STR(now ?: "-"), RD_STR(other ?: "-"),
		       direct < 0 ? RD_UNKNOWN_CELL : RD_BOOL(direct), RD_STR(a->why));
	}
}

static int pci_of(const struct rd_host *host, size_t i)
{
	return i < host->n_gpus ? host->gpus[i].pci : host->ibdevs[i - host->n_gpus].pci;
}

void rd_matrix_build(struct rd_matrix *matrix, const struct rd_host *host, const struct rd_nicmap *map,
		     enum rd_path (*between)(const struct rd_host *host, int a, int b, const char **why))
{
	size_t n = host->n_gpus + host->n_ibdevs;

	*matrix = (struct rd_matrix){ .n_columns = n + 4 };
	matrix->columns = rd_alloc(n + 4, sizeof(*matrix->columns));
	matrix->titles = rd_alloc(n + 4, sizeof(*matrix->titles));
	for (size_t i = 1; i <= n; i++) {
		char *title = i <= host->n_gpus ? rd_text("GPU%zu", i - 1) : rd_text("NIC%zu", i - 1 - host->n_gpus);

		matrix->titles[i] = title;
		matrix->columns[i] = (struct rd_column){ title, title, RD_T_STR, "distance", 0, false };
	}
	matrix->columns[0] = (struct rd_column){ "name", "", RD_T_STR, "GPU or NIC", 0, false };
	matrix->columns[n + 1] = (struct rd_column){ "cpus", "CPUS", RD_T_STR, "CPUs of its NUMA node", 0, false };
	matrix->columns[n + 2] = (struct rd_column){ "numa_node", "NUMA", RD_T_STR, "its NUMA node", 0, false };
	matrix->columns[n + 3] =
		(struct rd_column){ "device", "DEVICE", RD_T_STR, "PCI address or RDMA device", 0, false };
	matrix->section = rd_section_create("matrix", matrix->columns, matrix->n_columns);
	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(matrix->section);
		int a = pci_of(host, i), node = rd_pci_numa(host, a);
		const struct rd_numa *numa = node >= 0 ? rd_host_find_numa(host, node) : NULL;
		char text[16];

		rd_row_set(row, 0, RD_STR(matrix->titles[i + 1]));
		for (size_t j = 0; j < n; j++) {
			size_t gpu = i < j ? i : j, nic = (i < j ? j : i) - host->n_gpus;
			int b = pci_of(host, j);
			const char *why = NULL;
			enum rd_path path = RD_PATH_UNKNOWN;

			if (gpu < host->n_gpus && (i < j ? j : i) >= host->n_gpus)
				path = rd_nicmap_pair(map, gpu, nic)->path;
			else if (a >= 0 && b >= 0)
				path = between(host, a, b, &why);
			rd_row_set(row, j + 1, RD_STR(i == j ? "X" : rd_path_name(path)));
		}
		snprintf(text, sizeof(text), "%d", node);
		rd_row_set(row, n + 1, RD_STR(numa ? numa->cpulist : NULL));
		rd_row_set(row, n + 2, RD_STR(node >= 0 ? text : NULL));
		rd_row_set(row, n + 3,
			   RD_STR(i >= host->n_gpus ? rd_ibdev_label(host, (int)(i - host->n_gpus)) :
						      host->pcis[a].addr));
	}
}

void rd_matrix_deinit(struct rd_matrix *matrix)
{
	rd_section_destroy(matrix->section);
	for (size_t i = 0; matrix->titles && i < matrix->n_columns; i++)
		free(matrix->titles[i]);
	RD_FREE(matrix->titles, matrix->columns);
	*matrix = (struct rd_matrix){ 0 };
}
