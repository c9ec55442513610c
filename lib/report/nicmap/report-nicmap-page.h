/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headlines and notes of nic-map's pages of text. */
#ifndef RD_REPORT_NICMAP_PAGE_H
#define RD_REPORT_NICMAP_PAGE_H

#include "model/host/system.h"
#include "model/nicmap/against.h"
#include "model/nicmap/nicmap.h"
#include "report/nicmap/report-against.h"
#include "report/shared/report.h"

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
