/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_FABRIC_MERGE_H
#define RD_REPORT_FABRIC_MERGE_H

#include "model/fabric/merge.h"
#include "report/shared/report.h"

/* Adds the section shares, and the coverage and skew among the scalars. */
void rd_report_fabric_merge(struct rd_report *report, const struct rd_share_files *files, const struct rd_merge *merge);

#endif
