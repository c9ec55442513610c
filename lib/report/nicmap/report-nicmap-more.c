/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of nic-map that are printed on request. */
#include "report/nicmap/report-nicmap.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

enum gid_column { GID_IBDEV, GID_PORT, GID_INDEX, GID_TYPE, GID_NETDEV, GID_IP, GID_CHOSEN, GID_GID, GID_COLUMNS };
enum bridge_column {
	BR_FUNCTION,
	BR_WHAT,
	BR_MTPS,
	BR_WIDTH,
	BR_MAX_MTPS,
	BR_MAX_WIDTH,
	BR_ACS,
	BR_ACS_CTL,
	BR_NUMA,
	BR_COLUMNS
};
enum row_column {
	ROW_LIBRARY,
	ROW_GPU,
	ROW_NICS,
	ROW_GPUDIRECT,
	ROW_BACKUP,
	ROW_LIBRARY_BACKUP,
	ROW_WHY,
	ROW_BACKUP_WHY,
	ROW_COLUMNS
};

static const struct rd_column gid_columns[GID_COLUMNS];
static const struct rd_column bridge_columns[BR_COLUMNS];
static const struct rd_column row_columns[ROW_COLUMNS];

void rd_report_gids(struct rd_report *report, const struct rd_port_views *views, const struct rd_selection *shown)
{
	const struct rd_host *host = views->host;
	struct rd_section *section = rd_section_create("gids", gid_columns, GID_COLUMNS);

	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t g = 0; rd_selection_has_port(shown, p) && g < host->ports[p].n_gids; g++) {
			const struct rd_port *port = &host->ports[p];
			const struct rd_gid *gid = &port->gids[g];
			struct rd_row *row = rd_section_add(section);
			char text[48];

			rd_row_str(row, GID_IBDEV, rd_ibdev_label(host, port->ibdev));
			rd_row_uint(row, GID_PORT, port->num);
			rd_row_uint(row, GID_INDEX, gid->index);
			rd_row_str(row, GID_TYPE, rd_gid_type_name(gid->type));
			rd_row_str(row, GID_NETDEV, gid->netdev);
			rd_gid_text(gid, text);
			rd_row_str(row, GID_GID, text);
			rd_row_bool(row, GID_CHOSEN, views->v[p].gid == (int)g);
			if (!rd_port_is_ethernet(port))
				continue;
			rd_gid_ip(gid, text);
			rd_row_str(row, GID_IP, text);
		}
	rd_report_add(report, section);
}

/* Whether ACS redirects peer-to-peer traffic to the root complex: bits 2 and 3 of the ACS control register. */
static const char *acs_text(const struct rd_pci *pci)
{
	if (pci->acs_ctl.known == RD_OK)
		return pci->acs_ctl.v & 0x0c ? "redirects" : "off";
	if (pci->acs_ctl.known == RD_DENIED)
		return "denied";
	return pci->acs_missing ? "none" : NULL;
}

static const char *kind_of_function(const struct rd_pci *pci)
{
	static const char *const kinds[] = {
		[RD_PCIE_ROOT_PORT] = "root port",
		[RD_PCIE_UPSTREAM] = "switch, upstream",
		[RD_PCIE_DOWNSTREAM] = "switch, downstream",
		[RD_PCIE_ENDPOINT] = "endpoint",
	};

	if (pci->class.v >> 8 != RD_PCI_CLASS_BRIDGE)
		return "endpoint";
	if (pci->kind.known == RD_OK && kinds[pci->kind.v])
		return kinds[pci->kind.v];
	return "bridge";
}

static void add_bridge(struct rd_section *section, const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index];
	struct rd_row *row = rd_section_add(section);
	char text[16];

	rd_row_str(row, BR_FUNCTION, pci->addr);
	rd_row_str(row, BR_WHAT, kind_of_function(pci));
	if (pci->now.mtps.known == RD_OK)
		rd_row_uint(row, BR_MTPS, pci->now.mtps.v);
	if (pci->now.width.known == RD_OK)
		rd_row_uint(row, BR_WIDTH, pci->now.width.v);
	if (pci->max.mtps.known == RD_OK)
		rd_row_uint(row, BR_MAX_MTPS, pci->max.mtps.v);
	if (pci->max.width.known == RD_OK)
		rd_row_uint(row, BR_MAX_WIDTH, pci->max.width.v);
	rd_row_str(row, BR_ACS, acs_text(pci));
	snprintf(text, sizeof(text), "0x%04x", pci->acs_ctl.v);
	if (pci->acs_ctl.known == RD_OK)
		rd_row_str(row, BR_ACS_CTL, text);
	if (rd_pci_numa(host, index) >= 0)
		rd_row_int(row, BR_NUMA, rd_pci_numa(host, index));
}

static void add_host_bridge(struct rd_section *section, const struct rd_host *host, int index)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, BR_FUNCTION, host->pcis[index].root);
	rd_row_str(row, BR_WHAT, host->from_topology_file ? "CPU" : "host bridge");
	if (rd_pci_numa(host, index) >= 0)
		rd_row_int(row, BR_NUMA, rd_pci_numa(host, index));
}

void rd_report_bridges(struct rd_report *report, const struct rd_host *host, int from, int to, const int *bridges,
		       size_t n, size_t top)
{
	struct rd_section *section = rd_section_create("bridges", bridge_columns, BR_COLUMNS);
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
	rd_report_add(report, section);
}

/* Between the accelerator and its first NIC; NCCL only: NVSHMEM does not restrict GPUDirect by distance. */
static void add_gpudirect(struct rd_row *row, const struct rd_host *host, const struct rd_nicmap *map,
			  const struct rd_choice *choice)
{
	const struct rd_pair *pair;

	if (choice->n_ports == 0)
		return;
	pair = rd_nicmap_pair(map, (size_t)choice->gpu, (size_t)host->ports[choice->ports[0]].ibdev);
	if (pair->gpudirect.known == RD_OK)
		rd_row_bool(row, ROW_GPUDIRECT, pair->gpudirect.v);
}

static void add_rows(struct rd_section *section, const char *library, const struct rd_host *host,
		     const struct rd_nicmap *map, const struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++) {
		const struct rd_choice *choice = &choices->v[i];
		struct rd_row *row = rd_section_add(section);
		_cleanup_buf_ struct rd_buf nics = { 0 };

		rd_row_str(row, ROW_LIBRARY, library);
		rd_row_uint(row, ROW_GPU, host->gpus[choice->gpu].index);
		for (size_t p = 0; p < choice->n_ports; p++) {
			char text[128];

			rd_port_label(host, &host->ports[choice->ports[p]], text, sizeof(text));
			rd_buf_printf(&nics, "%s%s", p > 0 ? "," : "", text);
		}
		rd_row_str(row, ROW_NICS, nics.data);
		if (choice->backup >= 0)
			rd_row_str(row, ROW_BACKUP, rd_ibdev_label(host, host->ports[choice->backup].ibdev));
		if (choice->library_backup >= 0)
			rd_row_str(row, ROW_LIBRARY_BACKUP,
				   rd_ibdev_label(host, host->ports[choice->library_backup].ibdev));
		if (choices == &map->nccl)
			add_gpudirect(row, host, map, choice);
		rd_row_str(row, ROW_WHY, choice->n_ports > 0 ? choice->why : choices->note);
		rd_row_str(row, ROW_BACKUP_WHY, choice->backup_why);
	}
}

void rd_report_assignment(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map)
{
	struct rd_section *section = rd_section_create("assignments", row_columns, ROW_COLUMNS);

	add_rows(section, "nccl", host, map, &map->nccl);
	add_rows(section, "nvshmem", host, map, &map->nvshmem);
	rd_report_add(report, section);
}

static void set_column(struct rd_matrix *matrix, size_t at, const char *kind, size_t number)
{
	matrix->titles[at] = rd_text("%s%zu", kind, number);
	matrix->columns[at] = (struct rd_column){
		.key = matrix->titles[at],
		.title = matrix->titles[at],
		.type = RD_T_STR,
		.help = "distance",
	};
}

static void set_affinity(struct rd_row *row, size_t at, const struct rd_host *host, int pci)
{
	int id = rd_pci_numa(host, pci);
	const struct rd_numa *numa = id >= 0 ? rd_host_find_numa(host, id) : NULL;
	char text[16];

	snprintf(text, sizeof(text), "%d", id);
	rd_row_str(row, at, numa ? numa->cpulist : NULL);
	rd_row_str(row, at + 1, id >= 0 ? text : NULL);
}

static int pci_of(const struct rd_host *host, size_t i)
{
	return i < host->n_gpus ? host->gpus[i].pci : host->ibdevs[i - host->n_gpus].pci;
}

static void fill_matrix(struct rd_matrix *matrix, const struct rd_host *host, const struct rd_nicmap *map,
			enum rd_path (*between)(const struct rd_host *host, int a, int b, const char **why))
{
	size_t n = host->n_gpus + host->n_ibdevs;

	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(matrix->section);
		int a = pci_of(host, i);

		rd_row_str(row, 0, matrix->titles[i + 1]);
		for (size_t j = 0; j < n; j++) {
			size_t gpu = i < j ? i : j, nic = (i < j ? j : i) - host->n_gpus;
			int b = pci_of(host, j);
			const char *why = NULL;
			enum rd_path path = RD_PATH_UNKNOWN;

			if (gpu < host->n_gpus && (i < j ? j : i) >= host->n_gpus)
				path = rd_nicmap_pair(map, gpu, nic)->path;
			else if (a >= 0 && b >= 0)
				path = between(host, a, b, &why);
			rd_row_str(row, j + 1, i == j ? "X" : rd_path_name(path));
		}
		set_affinity(row, n + 1, host, a);
		if (i >= host->n_gpus)
			rd_row_str(row, n + 3, rd_ibdev_label(host, (int)(i - host->n_gpus)));
		else
			rd_row_str(row, n + 3, host->pcis[a].addr);
	}
}

void rd_matrix_build(struct rd_matrix *matrix, const struct rd_host *host, const struct rd_nicmap *map,
		     enum rd_path (*between)(const struct rd_host *host, int a, int b, const char **why))
{
	size_t n = host->n_gpus + host->n_ibdevs;

	*matrix = (struct rd_matrix){ .n_columns = n + 4 };
	matrix->columns = rd_alloc(n + 4, sizeof(*matrix->columns));
	matrix->titles = rd_alloc(n + 4, sizeof(*matrix->titles));
	for (size_t i = 0; i < n; i++)
		set_column(matrix, i + 1, i < host->n_gpus ? "GPU" : "NIC", i < host->n_gpus ? i : i - host->n_gpus);
	matrix->columns[0] = (struct rd_column){ "name", "", RD_T_STR, "GPU or NIC", 0, false };
	matrix->columns[n + 1] = (struct rd_column){ "cpus", "CPUS", RD_T_STR, "CPUs of its NUMA node", 0, false };
	matrix->columns[n + 2] = (struct rd_column){ "numa_node", "NUMA", RD_T_STR, "its NUMA node", 0, false };
	matrix->columns[n + 3] =
		(struct rd_column){ "device", "DEVICE", RD_T_STR, "PCI address or RDMA device", 0, false };
	matrix->section = rd_section_create("matrix", matrix->columns, matrix->n_columns);
	fill_matrix(matrix, host, map, between);
}

void rd_matrix_deinit(struct rd_matrix *matrix)
{
	rd_section_destroy(matrix->section);
	for (size_t i = 0; matrix->titles && i < matrix->n_columns; i++)
		free(matrix->titles[i]);
	free(matrix->titles);
	free(matrix->columns);
	*matrix = (struct rd_matrix){ 0 };
}

/* clang-format off */
static const struct rd_column gid_columns[GID_COLUMNS] = {
	[GID_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[GID_PORT] = { "port", "PORT", RD_T_UINT, "port", 0, false },
	[GID_INDEX] = { "gid_index", "GIDX", RD_T_UINT, "index", 0, false },
	[GID_TYPE] = { "gid_type", "GIDTYPE", RD_T_STR, "IB, RoCE v1, RoCE v2", 0, false },
	[GID_NETDEV] = { "netdev", "NETDEV", RD_T_STR, "interface of the GID", 0, false },
	[GID_IP] = { "ip", "IP", RD_T_STR, "IP address in the GID", 0, false },
	[GID_CHOSEN] = { "use", "USE", RD_T_BOOL, "yes: the GID to use", 0, false },
	[GID_GID] = { "gid", "GID", RD_T_STR, "the GID", 0, false },
};

static const struct rd_column bridge_columns[BR_COLUMNS] = {
	[BR_FUNCTION] = { "pci", "PCI", RD_T_STR, "function", 0, false },
	[BR_WHAT] = { "kind", "KIND", RD_T_STR, "root port, switch port, endpoint ...", 0, false },
	[BR_MTPS] = { "link_mtps", "MTPS", RD_T_UINT, "link speed, megatransfers per second", 0, false },
	[BR_WIDTH] = { "link_width", "WIDTH", RD_T_UINT, "link width, lanes", 0, false },
	[BR_MAX_MTPS] = { "link_max_mtps", "MAXMTPS", RD_T_UINT, "maximum link speed, megatransfers per second", 0, false },
	[BR_MAX_WIDTH] = { "link_max_width", "MAXWIDTH", RD_T_UINT, "maximum link width, lanes", 0, false },
	[BR_ACS] = { "acs", "ACS", RD_T_STR, "redirects (to the root complex), off, none (no ACS capability), denied", 0, false },
	[BR_ACS_CTL] = { "acs_ctl", "ACSCTL", RD_T_STR, "ACS control register", 0, true },
	[BR_NUMA] = { "numa_node", "NUMA", RD_T_INT, "NUMA node", 0, false },
};

static const struct rd_column row_columns[ROW_COLUMNS] = {
	[ROW_LIBRARY] = { "library", "LIBRARY", RD_T_STR, "nccl or nvshmem", 0, false },
	[ROW_GPU] = { "gpu", "GPU", RD_T_UINT, "accelerator", 0, false },
	[ROW_NICS] = { "nics", "NICS", RD_T_STR, "ports selected for it", 0, false },
	[ROW_GPUDIRECT] = { "gpudirect", "GPUDIRECT", RD_T_BOOL, "the NIC accesses the accelerator's memory directly", 0, false },
	[ROW_BACKUP] = { "backup", "BACKUP", RD_T_STR, "RDMA device to use if the first fails", 0, false },
	[ROW_LIBRARY_BACKUP] = { "library_backup", "LIBBACKUP", RD_T_STR, "RDMA device that the library fails over to", 0, false },
	[ROW_WHY] = { "reason", "REASON", RD_T_STR, "why these ports", 0, false },
	[ROW_BACKUP_WHY] = { "backup_reason", "BACKUPWHY", RD_T_STR, "why this device, and what it shares with the first", 0, false },
};
/* clang-format on */
