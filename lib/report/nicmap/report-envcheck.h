/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_ENVCHECK_H
#define RD_REPORT_ENVCHECK_H

#include "model/nicmap/nicmap.h"
#include "report/shared/report.h"

/* Section variables: what each selects. */
void rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects);

/* Section assignments: which NICs NCCL gives each accelerator with the variables (`with`), and which without. Returns in
 * `differ` for how many accelerators that is not the same. */
void rd_report_env_assignments(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *with,
			       const struct rd_nicmap *without, size_t *differ);

#endif
