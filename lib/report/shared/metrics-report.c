/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a report to metrics: common metrics, and sections as families. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/shared/report.h"

#define LABELS_MAX 8
#define LABEL_MAX 256

static void add_findings(struct rd_metrics *metrics, const struct rd_report *report, const char *command)
{
	static const enum rd_severity severities[] = { RD_SEV_NOTE, RD_SEV_UNKNOWN, RD_SEV_WARNING, RD_SEV_CRITICAL };
	struct rd_metric *family =
		rd_metrics_family(metrics, "findings", RD_METRIC_GAUGE, NULL, "Findings of the last run by severity.");

	for (size_t i = 0; i < RD_ARRAY_SIZE(severities); i++) {
		const struct rd_label labels[] = { { "command", command },
						   { "severity", rd_severity_name(severities[i]) } };

		rd_metric_uint(family, rd_findings_count(&report->findings, severities[i]), labels,
			       RD_ARRAY_SIZE(labels));
	}
}

void rd_metrics_add_report(struct rd_metrics *metrics, const struct rd_report *report, const char *command,
			   const char *version)
{
	const struct rd_label labels[] = { { "command", command }, { "version", version } };
	struct rd_metric *family;

	family = rd_metrics_family(metrics, "status", RD_METRIC_GAUGE, NULL,
				   "Exit code of the last run: 0 ok, 1 warning, 2 critical, 3 could not tell.");
	rd_metric_uint(family, (uint64_t)report->status, labels, 1);
	add_findings(metrics, report, command);
	family = rd_metrics_family(metrics, "read_errors", RD_METRIC_GAUGE, NULL, "Failed reads in the last run.");
	rd_metric_uint(family, report->errors.n, labels, 1);
	family = rd_metrics_family(metrics, "read_time", RD_METRIC_GAUGE, "seconds",
				   "Time when the host was read, in seconds since 1970-01-01 UTC.");
	if (report->time)
		rd_metric_double(family, (double)(report->time / 1000) / 1e6, labels, 1);
	family = rd_metrics_family(metrics, "build_info", RD_METRIC_GAUGE, NULL,
				   "Always 1; the version of rdmadiag is a label.");
	rd_metric_uint(family, 1, labels, 2);
}

/* The text of a label; "" if the cell is unknown or not a plain value. */
static void label_text(const struct rd_cell *cell, char *ret, size_t size)
{
	ret[0] = '\0';
	if (cell->known != RD_OK)
		return;
	if (cell->type == RD_T_STR)
		snprintf(ret, size, "%s", cell->s);
	else if (cell->type == RD_T_UINT)
		snprintf(ret, size, "%" PRIu64, cell->u);
	else if (cell->type == RD_T_BOOL)
		snprintf(ret, size, "%s", cell->b ? "yes" : "no");
}

static void add_cell(struct rd_metric *family, const struct rd_cell *cell, const struct rd_label *labels, size_t n)
{
	if (cell->known != RD_OK)
		return;
	if (cell->type == RD_T_UINT)
		rd_metric_uint(family, cell->u, labels, n);
	else if (cell->type == RD_T_BOOL)
		rd_metric_uint(family, cell->b, labels, n);
	else if (cell->type == RD_T_INT)
		rd_metric_double(family, (double)cell->i, labels, n);
	else if (cell->type == RD_T_DOUBLE || cell->type == RD_T_SHARE)
		rd_metric_double(family, cell->d, labels, n);
}

void rd_metrics_add_section(struct rd_metric *family, const struct rd_section *section, size_t value, const int *columns)
{
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_cell *cells = rd_section_row(section, i)->cells;
		struct rd_label labels[LABELS_MAX];
		char text[LABELS_MAX][LABEL_MAX];
		size_t n = 0;

		for (; n < LABELS_MAX && columns[n] >= 0; n++) {
			label_text(&cells[columns[n]], text[n], LABEL_MAX);
			labels[n] = (struct rd_label){ section->columns[columns[n]].key, text[n] };
		}
		add_cell(family, &cells[value], labels, n);
	}
}
