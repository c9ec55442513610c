/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/finding.h"

#include <errno.h>
#include <string.h>

static bool copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

int rd_report_add_remarks(struct rd_report *report, const struct rd_remarks *remarks)
{
	static const enum rd_severity severities[] = {
		[RD_REMARK_OK] = RD_SEV_OK,
		[RD_REMARK_WARNING] = RD_SEV_WARNING,
		[RD_REMARK_CRITICAL] = RD_SEV_CRITICAL,
		[RD_REMARK_UNKNOWN] = RD_SEV_UNKNOWN,
	};

	for (size_t i = 0; i < remarks->n; i++) {
		const struct rd_remark *remark = &remarks->v[i];
		struct rd_finding *finding;

		if (rd_grow(&report->findings, &report->cap_findings, report->n_findings + 1,
			    sizeof(*report->findings)) < 0)
			return -ENOMEM;
		finding = &report->findings[report->n_findings++];
		*finding = (struct rd_finding){ .severity = severities[remark->gravity] };
		if (!copy(&finding->id, remark->id) || !copy(&finding->subject, remark->subject) ||
		    !copy(&finding->title, remark->title) || !copy(&finding->observed, remark->observed) ||
		    !copy(&finding->expected, remark->expected) || !copy(&finding->why, remark->why) ||
		    !copy(&finding->fix, remark->fix))
			return -ENOMEM;
	}
	return 0;
}

int rd_report_judge(const struct rd_report *report)
{
	int status = 0;

	for (size_t i = 0; i < report->n_findings; i++) {
		if (report->findings[i].severity == RD_SEV_CRITICAL)
			return 2;
		if (report->findings[i].severity == RD_SEV_WARNING)
			status = 1;
	}
	return status;
}
