/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_COMPARE_H
#define RD_REPORT_COMPARE_H

#include "model/nicmap.h"
#include "report/report.h"

/* Section rails. `names`: of the hosts. 0 or -ENOMEM. */
int rd_report_rails(struct rd_report *report, const struct rd_rails *rails, char *const *names);

#endif
