/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/shared/metrics.h"

#include <ctype.h>

#include "base/buf.h"
#include "report/shared/report.h"

#define PREFIX "rdmadiag_"

void rd_metrics_deinit(struct rd_metrics *metrics)
{
	for (size_t i = 0; i < metrics->n; i++) {
		for (size_t j = 0; j < metrics->v[i]->n; j++)
			free(metrics->v[i]->samples[j].labels);
		RD_FREE(metrics->v[i]->samples, metrics->v[i]->name, metrics->v[i]->unit, metrics->v[i]->help,
			metrics->v[i]);
	}
	free(metrics->v);
	*metrics = (struct rd_metrics){ 0 };
}

/* Converts the name of a driver to snake_case: "cnpHandled" and "CNP handled" become cnp_handled. */
static void add_name(struct rd_buf *out, const char *name)
{
	char before = '_';

	for (const unsigned char *s = (const unsigned char *)name; *s; s++) {
		char c = isascii(*s) && isalnum(*s) ? (char)tolower(*s) : '_';

		if (isascii(*s) && isupper(*s) && s > (const unsigned char *)name && (islower(s[-1]) || isdigit(s[-1])))
			rd_buf_str(out, "_");
		if (c != '_' || before != '_')
			rd_buf_add(out, &c, 1);
		before = c;
	}
	while (out->len > 0 && out->data[out->len - 1] == '_')
		out->data[--out->len] = '\0';
}

static bool ends_with(const struct rd_buf *buf, const char *tail)
{
	size_t n = strlen(tail);

	return buf->len > n && buf->data[buf->len - n - 1] == '_' && strcmp(buf->data + buf->len - n, tail) == 0;
}

struct rd_metric *rd_metrics_family(struct rd_metrics *metrics, const char *name, enum rd_metric_type type,
				    const char *unit, const char *help)
{
	_cleanup_buf_ struct rd_buf whole = { 0 };
	struct rd_metric *metric;

	rd_buf_str(&whole, PREFIX);
	add_name(&whole, name);
	if (ends_with(&whole, "total"))
		whole.data[whole.len -= strlen("_total")] = '\0';
	if (unit && !ends_with(&whole, unit)) {
		rd_buf_str(&whole, "_");
		add_name(&whole, unit);
	}
	for (size_t i = 0; i < metrics->n; i++)
		if (strcmp(metrics->v[i]->name, whole.data) == 0)
			return metrics->v[i];
	metric = rd_alloc(1, sizeof(*metric));
	metric->name = RD_TAKE(whole.data);
	metric->type = type;
	metric->unit = rd_dup_if(unit);
	metric->help = help ? rd_safe(help) : NULL;
	*RD_ADD(metrics->v, metrics->n, metrics->cap) = metric;
	return metric;
}

static void add_sample(struct rd_metric *family, struct rd_metric_sample sample, const struct rd_label *labels, size_t n)
{
	/* NULL if no label has a value. */
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *safe = NULL;

		if (!labels[i].value || !*labels[i].value)
			continue;
		rd_buf_printf(&out, "%s%s=\"", out.len ? "," : "{", labels[i].name);
		/* Makes foreign text printable first; then only the characters that the formats define need escapes. */
		safe = rd_safe(labels[i].value);
		for (const char *s = safe; *s; s++) {
			if (*s == '\\' || *s == '"')
				rd_buf_str(&out, "\\");
			rd_buf_add(&out, s, 1);
		}
		rd_buf_str(&out, "\"");
	}
	if (out.len)
		rd_buf_str(&out, "}");
	sample.labels = RD_TAKE(out.data);
	*RD_ADD(family->samples, family->n, family->cap) = sample;
}

void rd_metric_uint(struct rd_metric *family, uint64_t value, const struct rd_label *labels, size_t n)
{
	add_sample(family, (struct rd_metric_sample){ .is_uint = true, .u = value }, labels, n);
}

void rd_metric_double(struct rd_metric *family, double value, const struct rd_label *labels, size_t n)
{
	add_sample(family, (struct rd_metric_sample){ .d = value }, labels, n);
}

/* Converts a report to metrics: common metrics, and sections as families. */

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
		if (cells[value].known != RD_OK)
			continue;
		if (cells[value].type == RD_T_UINT)
			rd_metric_uint(family, cells[value].u, labels, n);
		else if (cells[value].type == RD_T_BOOL)
			rd_metric_uint(family, cells[value].b, labels, n);
		else if (cells[value].type == RD_T_INT)
			rd_metric_double(family, (double)cells[value].i, labels, n);
		else if (cells[value].type == RD_T_DOUBLE || cells[value].type == RD_T_SHARE)
			rd_metric_double(family, cells[value].d, labels, n);
	}
}
