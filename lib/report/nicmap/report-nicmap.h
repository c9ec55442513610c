/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_NICMAP_H
#define RD_REPORT_NICMAP_H

#include "model/host/selection.h"
#include "model/nicmap/compared.h"
#include "model/nicmap/nicmap.h"
#include "report/shared/report.h"

/* Columns of the table of NICs, for -o. */
enum rd_nic_column {
	RD_NIC_IBDEV,
	RD_NIC_PORT,
	RD_NIC_NETDEV,
	RD_NIC_PCI,
	RD_NIC_NUMA,
	RD_NIC_GPUS,
	RD_NIC_STATE,
	RD_NIC_RATE,
	RD_NIC_MTU,
	RD_NIC_GID_INDEX,
	RD_NIC_GID_NCCL,
	RD_NIC_GID_TYPE,
	RD_NIC_IP,
	RD_NIC_ROLE,
	RD_NIC_DRIVER,
	RD_NIC_FIRMWARE,
	RD_NIC_BOARD,
	RD_NIC_HCA_TYPE,
	RD_NIC_LINK_LAYER,
	RD_NIC_PHYS_STATE,
	RD_NIC_LID,
	RD_NIC_MAX_MTU,
	RD_NIC_NETDEV_MTU,
	RD_NIC_NETDEVS,
	RD_NIC_MASTER,
	RD_NIC_NETNS,
	RD_NIC_GID,
	RD_NIC_GID_WHY,
	RD_NIC_ROLE_WHY,
	RD_NIC_SLOT,
	RD_NIC_PF,
	RD_NIC_LINK_MTPS,
	RD_NIC_LINK_WIDTH,
	RD_NIC_LINK_MAX_MTPS,
	RD_NIC_LINK_MAX_WIDTH,
	RD_NIC_NODE_GUID,
	RD_NIC_PORT_GUID,
	RD_NIC_SYS_GUID,
	RD_NIC_VIA,
	RD_NIC_COLUMNS,
};
extern const struct rd_column rd_nic_columns[RD_NIC_COLUMNS];

/* Sections nics, gpus and paths; assignment and env among the scalars; findings. `shown`: NICs with a row in nics and paths. */
void rd_report_nicmap(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map,
		      const struct rd_selection *shown);

/* Section gids: all GIDs of these ports. */
void rd_report_gids(struct rd_report *report, const struct rd_port_views *views, const struct rd_selection *shown);

/* Section assignments as rows for a table: library, accelerator, NICs, backup, reasons. */
void rd_report_assignment(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map);

/* Section variables: effect of each. */
void rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects);

/* Section assignments: the NICs that NCCL selects for each accelerator with the variables (`with`), and without. `differ`: for
 * how many accelerators the two differ. */
void rd_report_env_assignments(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *with,
			       const struct rd_nicmap *without, size_t *differ);

/* Section rails: at most `most` rows, of all rails or of those that differ (differs[host][rail]). `left_out`: number of rows
 * omitted. */
void rd_report_rails(struct rd_report *report, const struct rd_compared *hosts, size_t n, bool *const *differs,
		     bool all, size_t most, size_t *left_out);

/* Section pairs: every pair of an accelerator and one of these NICs, with the distance by each rule and GPUDirect. */
void rd_report_gpu_nics(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map,
			const struct rd_selection *shown);

/* Section bridges: every bridge between two functions (indices), and the two functions. */
void rd_report_bridges(struct rd_report *report, const struct rd_host *host, int from, int to, const int *bridges,
		       size_t n, size_t top);

/* The matrix of distances as `nvidia-smi topo -m` lays it out. Its columns depend on the host and belong to the matrix,
 * which must outlive the section. */
struct rd_matrix {
	struct rd_column *columns; /* owned */
	char **titles;		   /* owned */
	size_t n_columns;
	struct rd_section *section; /* owned */
};
void rd_matrix_build(struct rd_matrix *matrix, const struct rd_host *host, const struct rd_nicmap *map,
		     enum rd_path (*between)(const struct rd_host *host, int a, int b, const char **why));
void rd_matrix_deinit(struct rd_matrix *matrix);

#endif
