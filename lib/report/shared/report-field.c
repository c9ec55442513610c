/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports of several topics share: values of the model, findings, runs. */
#include "report/shared/report-field.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/host/host.h"
#include "report/shared/finding.h"
#include "report/shared/report-run.h"

static void set_gid(struct rd_row *row, size_t column, const uint8_t *raw,
		    void (*text_of)(const struct rd_gid *, char *))
{
	struct rd_gid gid;
	char text[64];

	memcpy(gid.raw, raw, sizeof(gid.raw));
	text_of(&gid, text);
	rd_row_str(row, column, text);
}

void rd_row_gid(struct rd_row *row, size_t column, const uint8_t *raw)
{
	set_gid(row, column, raw, rd_gid_text);
}

void rd_row_gid_ip(struct rd_row *row, size_t column, const uint8_t *raw)
{
	set_gid(row, column, raw, rd_gid_ip);
}

void rd_report_add_findings(struct rd_report *report, const struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		rd_finding_copy(&report->findings, &findings->v[i]);
}

int rd_report_judge(const struct rd_report *report)
{
	enum rd_severity worst = rd_findings_worst(&report->findings);

	return worst == RD_SEV_CRITICAL ? 2 : worst == RD_SEV_WARNING ? 1 : 0;
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

static const struct rd_column backend_columns[] = {
	{ "backend", "BACKEND", RD_T_STR, "backend that hooks the functions", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
};

struct rd_section *rd_report_backends(const size_t per_backend[RD_BACKEND_COUNT])
{
	struct rd_section *section = RD_SECTION("backends", backend_columns);

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (per_backend[b])
			RD_ROW(section, RD_STR(rd_backend_name(b)), RD_UINT(per_backend[b]));
	return section;
}

const char *rd_errno_word(int err, char *digits)
{
	snprintf(digits, RD_ERRNO_WORD, "%d", -err);
	return rd_errno_name(err) ? rd_errno_name(err) : digits;
}

void rd_row_put(struct rd_row *row, const struct rd_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cells[i].known == RD_OK)
			rd_row_set(row, i, cells[i]);
}

struct rd_row *rd_section_put(struct rd_section *section, const struct rd_cell *cells, size_t n)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_put(row, cells, n);
	return row;
}
