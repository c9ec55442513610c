/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables, headlines and notes of nic-map. */
#ifndef RD_REPORT_NICMAP_H
#define RD_REPORT_NICMAP_H

#include "model/host/system.h"
#include "model/nicmap/nicmap.h"
#include "model/nicmap/runlog.h"
#include "report/shared/report.h"

/* The table of NICs, for -o; columns that identify a row. */
enum { RD_NIC_IBDEV, RD_NIC_PORT, RD_NIC_PCI = 3, RD_NIC_COLUMNS = 39 };
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

/* A section of this name: every pair of an accelerator and one of these NICs, with the distance by each rule and GPUDirect. */
void rd_report_paths(struct rd_report *report, const char *name, const struct rd_host *host,
		     const struct rd_nicmap *map, const struct rd_selection *shown);

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

/* Section stacks as rows for a table: stack, memory, NICs, GID index, transport. */
void rd_report_stacks(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map);

/* What was compared, for the top of the document. */
struct rd_against_what {
	const char *file;
	const char *kind;     /* "log", "topology" */
	const char *run_host; /* as in the log; NULL: not in the log */
	const char *version;  /* NCCL's; NULL: not in the log */
};

/* Section against: a row per compared value. */
void rd_report_against(struct rd_report *report, const struct rd_against_what *what, const struct rd_against *against);

/* The same section with at most `most` rows, those that differ first, for a table; the caller frees it. */
struct rd_section *rd_report_against_table(const struct rd_against *against, size_t most, size_t *left_out);

/* "nic-map of 3 hosts: 1 critical, 2 warnings, 1 unknown", of the findings of the report. */
void rd_report_compare_headline(struct rd_report *report, size_t hosts);

/* "nic-map against run.log (node-1, NCCL 2.19.3): 12 of 14 agree, 1 differs, 1 unknown". `rccl`: the run used RCCL. */
void rd_report_against_headline(struct rd_report *report, const struct rd_against_what *what,
				const struct rd_against *against, bool rccl);

/* "nic-map of 3 variables (2 judged, 1 only listed, 0 unknown names): no problems found", of the findings of the report. `where`:
 * whose variables. It distinguishes "no variable set" from "no problems found". */
void rd_report_env_headline(struct rd_report *report, const struct rd_effects *effects, const char *where);

/* "0000:17:00.0 to 0000:18:00.0: PIX". `path`: the distance between the functions `from` and `to`; NULL: unknown. `why`: the
 * reason, or NULL. */
void rd_report_path_headline(struct rd_report *report, const struct rd_host *host, int from, int to, const char *path,
			     const char *why);

/* Adds a note in a container that was given some of the devices that sysfs shows. */
void rd_report_given_note(struct rd_report *report, const struct rd_system *system);

/* Adds a note on the assumptions behind the choice of each library. */
void rd_report_assignment_notes(struct rd_report *report, const struct rd_nicmap *map);

#endif
