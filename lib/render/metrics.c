/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenMetrics 1.0 text and the Prometheus text format 0.0.4. OpenMetrics names the family of a counter without "_total", has
 * units, escapes quotes in HELP and ends with "# EOF"; in the Prometheus format HELP and TYPE have the name of the sample.
 */
#include <math.h>

#include "render/render.h"

static const char *suffix(const struct rd_metric *metric)
{
	return metric->type == RD_METRIC_COUNTER ? "_total" : "";
}

static int by_labels(const void *a, const void *b)
{
	const struct rd_metric_sample *x = *(const struct rd_metric_sample *const *)a,
				      *y = *(const struct rd_metric_sample *const *)b;

	return strcmp(x->labels ?: "", y->labels ?: "") ?: RD_CMP(x, y);
}

static bool same_labels(const struct rd_metric_sample *a, const struct rd_metric_sample *b)
{
	return strcmp(a->labels ?: "", b->labels ?: "") == 0;
}

static void add_metrics(const struct rd_metrics *metrics, enum rd_metrics_format format, struct rd_buf *out)
{
	for (size_t i = 0; i < metrics->n; i++) {
		_cleanup_free_ const struct rd_metric_sample **sorted = rd_alloc(metrics->v[i]->n, sizeof(*sorted));

		for (size_t j = 0; j < metrics->v[i]->n; j++)
			sorted[j] = &metrics->v[i]->samples[j];
		qsort(sorted, metrics->v[i]->n, sizeof(*sorted), by_labels);
		if (metrics->v[i]->n) {
			bool openmetrics = format == RD_OPENMETRICS;
			const char *tail = openmetrics ? "" : suffix(metrics->v[i]);

			if (metrics->v[i]->help) {
				const char *help;

				rd_buf_printf(out, "# HELP %s%s ", metrics->v[i]->name, tail);
				help = metrics->v[i]->help;
				for (; *help; help++) {
					if (*help == '\\' || (openmetrics && *help == '"'))
						rd_buf_str(out, "\\");
					rd_buf_add(out, help, 1);
				}
				rd_buf_str(out, "\n");
			}
			rd_buf_printf(out, "# TYPE %s%s %s\n", metrics->v[i]->name, tail,
				      metrics->v[i]->type == RD_METRIC_COUNTER ? "counter" : "gauge");
			if (openmetrics && metrics->v[i]->unit)
				rd_buf_printf(out, "# UNIT %s %s\n", metrics->v[i]->name, metrics->v[i]->unit);
		}
		for (size_t j = 0; j < metrics->v[i]->n; j++) {
			const struct rd_metric_sample *sample = sorted[j];

			if ((j > 0 && same_labels(sorted[j - 1], sample)) || (!sample->is_uint && !isfinite(sample->d)))
				continue;
			rd_buf_printf(out, "%s%s%s ", metrics->v[i]->name, suffix(metrics->v[i]), sample->labels ?: "");
			if (sample->is_uint)
				rd_buf_printf(out, "%" PRIu64, sample->u);
			else {
				/* The shortest text that parses to the same number. */
				char text[40];

				for (int digits = 6; digits <= 17; digits++) {
					snprintf(text, sizeof(text), "%.*g", digits, sample->d);
					if (strtod(text, NULL) == sample->d)
						break;
				}
				rd_buf_str(out, text);
			}
			rd_buf_str(out, "\n");
		}
	}
}

void rd_render_metrics(const struct rd_report *report, const char *command, const char *version,
		       enum rd_metrics_format format, struct rd_buf *out)
{
	_cleanup_(rd_metrics_deinit) struct rd_metrics common = { 0 };

	rd_metrics_add_report(&common, report, command, version);
	add_metrics(&common, format, out);
	add_metrics(&report->metrics, format, out);
	if (format == RD_OPENMETRICS)
		rd_buf_str(out, "# EOF\n");
}
