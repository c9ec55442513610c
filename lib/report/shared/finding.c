/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/shared/finding.h"

#include <string.h>

#include "base/buf.h"

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

char *rd_findings_alarm(const struct rd_findings *findings, enum rd_severity *ret_severity)
{
	const struct rd_finding *worst = NULL;
	struct rd_buf out = { 0 };

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *f = &findings->v[i];

		if (rd_finding_stands(f) && f->severity >= RD_SEV_WARNING && (!worst || f->severity > worst->severity))
			worst = f;
	}
	if (!worst)
		return NULL;
	*ret_severity = worst->severity;
	rd_buf_printf(&out, "%s: ", rd_severity_name(worst->severity));
	if (worst->subject)
		rd_buf_safe(&out, worst->subject, strlen(worst->subject));
	rd_buf_printf(&out, "%s%s", worst->subject ? ": " : "", worst->title);
	if (worst->observed) {
		rd_buf_str(&out, "; ");
		rd_buf_safe(&out, worst->observed, strlen(worst->observed));
	}
	return out.data;
}
