/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_COMPARE_H
#define RD_REPORT_COMPARE_H

#include "model/nicmap/compared.h"
#include "report/shared/report.h"

/* Section rails: at most `most` rows, of all rails or of those that differ (differs[host][rail]). `left_out`: number of rows
 * omitted. */
void rd_report_rails(struct rd_report *report, const struct rd_compared *hosts, size_t n, bool *const *differs,
		     bool all, size_t most, size_t *left_out);

#endif
