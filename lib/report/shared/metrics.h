/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics for monitoring systems: families of samples with labels. render/ turns them into text. */
#ifndef RD_REPORT_METRICS_H
#define RD_REPORT_METRICS_H

#include "base/base.h"

enum rd_metric_type {
	RD_METRIC_GAUGE,
	RD_METRIC_COUNTER, /* never decreases, except for a reset to 0 */
};

struct rd_label {
	const char *name, *value; /* NULL or empty value: no label */
};

struct rd_metric_sample {
	char *labels; /* as in both formats, "{a=\"b\"}"; owned; NULL: none */
	bool is_uint;
	union {
		uint64_t u;
		double d;
	};
};

struct rd_metric {
	char *name;	   /* complete, with "rdmadiag_" and the unit, without "_total"; owned */
	char *unit, *help; /* owned; NULL: none */
	enum rd_metric_type type;
	struct rd_metric_sample *samples;
	size_t n, cap;
};

struct rd_metrics {
	struct rd_metric **v;
	size_t n, cap;
};

void rd_metrics_deinit(struct rd_metrics *metrics);

/*
 * The family "rdmadiag_NAME[_UNIT]", created if missing. Invalid characters of a name are replaced ("RNR sent" and "rnrSent" both
 * become rnr_sent), so callers with foreign names also pass the original name in a label. `unit` is a base unit (bytes, seconds,
 * ratio) or NULL. Unit, type and help are those of the first call. The pointer stays valid.
 */
struct rd_metric *rd_metrics_family(struct rd_metrics *metrics, const char *name, enum rd_metric_type type,
				    const char *unit, const char *help);

/* Adds a sample. Of several samples with the same labels only the first is rendered, because readers reject a page with duplicates.
 * Unknown values must not be added. */
void rd_metric_uint(struct rd_metric *family, uint64_t value, const struct rd_label *labels, size_t n);
void rd_metric_double(struct rd_metric *family, double value, const struct rd_label *labels, size_t n);

#endif
