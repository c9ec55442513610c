/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_ENVCHECK_H
#define RD_REPORT_ENVCHECK_H

#include "model/nicmap/nicmap.h"
#include "report/shared/report.h"

/* Section variables: effect of each. */
void rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects);

/* Section assignments: the NICs that NCCL selects for each accelerator with the variables (`with`), and without. `differ`: for
 * how many accelerators the two differ. */
void rd_report_env_assignments(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *with,
			       const struct rd_nicmap *without, size_t *differ);

#endif
