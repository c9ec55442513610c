/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_FINDING_H
#define RD_REPORT_FINDING_H

#include "model/shared/finding.h"
#include "report/shared/report.h"

/* Adds copies of the findings. */
void rd_report_add_findings(struct rd_report *report, const struct rd_findings *findings);

/* One line about the worst finding that stands, the first of several: "critical: mlx5_0/1: port is not ACTIVE; DOWN", escaped; NULL: none is
 * a warning or critical. The caller frees it. */
char *rd_findings_alarm(const struct rd_findings *findings, enum rd_severity *ret_severity);

/* The exit code of the findings: 2 if any is critical, else 1 if any is a warning, else 0. Muted findings do not count. */
int rd_report_judge(const struct rd_report *report);

#endif
