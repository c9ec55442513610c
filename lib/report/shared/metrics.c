/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/shared/metrics.h"

#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

#define PREFIX "rdmadiag_"

static void metric_destroy(struct rd_metric *metric)
{
	for (size_t i = 0; i < metric->n; i++)
		free(metric->samples[i].labels);
	free(metric->samples);
	free(metric->name);
	free(metric->unit);
	free(metric->help);
	free(metric);
}

void rd_metrics_deinit(struct rd_metrics *metrics)
{
	for (size_t i = 0; i < metrics->n; i++)
		metric_destroy(metrics->v[i]);
	free(metrics->v);
	*metrics = (struct rd_metrics){ 0 };
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Converts the name of a driver to snake_case: "cnpHandled" and "CNP handled" become cnp_handled. */
static void add_name(struct rd_buf *out, const char *name)
{
	char before = '_';

	for (const char *s = name; *s; s++) {
		bool word = is_lower(*s) || is_upper(*s) || is_digit(*s);
		char c = !word ? '_' : is_upper(*s) ? (char)(*s - 'A' + 'a') : *s;

		if (is_upper(*s) && s > name && (is_lower(s[-1]) || is_digit(s[-1])))
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

static char *whole_name(const char *name, const char *unit)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_str(&out, PREFIX);
	add_name(&out, name);
	if (ends_with(&out, "total"))
		out.data[out.len -= strlen("_total")] = '\0';
	if (unit && !ends_with(&out, unit)) {
		rd_buf_str(&out, "_");
		add_name(&out, unit);
	}
	return RD_TAKE(out.data);
}

static struct rd_metric *find_family(const struct rd_metrics *metrics, const char *name)
{
	for (size_t i = 0; i < metrics->n; i++)
		if (strcmp(metrics->v[i]->name, name) == 0)
			return metrics->v[i];
	return NULL;
}

struct rd_metric *rd_metrics_family(struct rd_metrics *metrics, const char *name, enum rd_metric_type type,
				    const char *unit, const char *help)
{
	_cleanup_free_ char *whole = whole_name(name, unit);
	struct rd_metric *metric = find_family(metrics, whole);

	if (metric)
		return metric;
	rd_reserve(&metrics->v, &metrics->cap, metrics->n + 1, sizeof(*metrics->v));
	metric = rd_alloc(1, sizeof(*metric));
	metric->name = RD_TAKE(whole);
	metric->type = type;
	metric->unit = rd_dup_if(unit);
	metric->help = help ? rd_safe(help) : NULL;
	metrics->v[metrics->n++] = metric;
	return metric;
}

/* Makes foreign text printable first; then only the characters that the formats define need escapes. */
static void add_value(struct rd_buf *out, const char *value)
{
	_cleanup_free_ char *safe = rd_safe(value);

	for (const char *s = safe; *s; s++) {
		if (*s == '\\' || *s == '"')
			rd_buf_str(out, "\\");
		rd_buf_add(out, s, 1);
	}
}

/* NULL if no label has a value. */
static char *labels_text(const struct rd_label *labels, size_t n)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (!labels[i].value || !*labels[i].value)
			continue;
		rd_buf_printf(&out, "%s%s=\"", out.len ? "," : "{", labels[i].name);
		add_value(&out, labels[i].value);
		rd_buf_str(&out, "\"");
	}
	if (out.len)
		rd_buf_str(&out, "}");
	return RD_TAKE(out.data);
}

static void add_sample(struct rd_metric *family, struct rd_sample sample, const struct rd_label *labels, size_t n)
{
	sample.labels = labels_text(labels, n);
	*RD_ADD(family->samples, family->n, family->cap) = sample;
}

void rd_metric_uint(struct rd_metric *family, uint64_t value, const struct rd_label *labels, size_t n)
{
	add_sample(family, (struct rd_sample){ .is_uint = true, .u = value }, labels, n);
}

void rd_metric_double(struct rd_metric *family, double value, const struct rd_label *labels, size_t n)
{
	add_sample(family, (struct rd_sample){ .d = value }, labels, n);
}
