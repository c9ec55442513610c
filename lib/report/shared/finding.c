/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/shared/finding.h"

void rd_report_add_findings(struct rd_report *report, const struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		rd_finding_copy(&report->findings, &findings->v[i]);
}

int rd_report_judge(const struct rd_report *report)
{
	switch (rd_findings_worst(&report->findings)) {
	case RD_SEV_CRITICAL:
		return 2;
	case RD_SEV_WARNING:
		return 1;
	default:
		return 0;
	}
}
