/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_ENVCHECK_H
#define RD_REPORT_ENVCHECK_H

#include "model/nicmap.h"
#include "report/report.h"

/* Section variables: what each selects. 0 or -ENOMEM. */
int rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects);

#endif
