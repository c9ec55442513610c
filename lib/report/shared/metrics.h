/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts as a monitoring system takes them: families of samples with labels. A renderer makes text of them. */
#ifndef RD_REPORT_METRICS_H
#define RD_REPORT_METRICS_H

#include "base/base.h"

enum rd_metric_type {
	RD_METRIC_GAUGE,
	RD_METRIC_COUNTER, /* never falls, except that it begins again at 0 */
};

struct rd_label {
	const char *name, *value; /* a NULL or empty value: as if the label were not there */
};

struct rd_sample {
	char *labels; /* as both formats have them, "{a=\"b\"}"; owned; NULL: none */
	bool is_uint;
	union {
		uint64_t u;
		double d;
	};
};

struct rd_metric {
	char *name;	   /* whole, with "rdmadiag_" and the unit, without "_total"; owned */
	char *unit, *help; /* owned; NULL: none */
	enum rd_metric_type type;
	struct rd_sample *samples;
	size_t n, cap;
};

struct rd_metrics {
	struct rd_metric **v;
	size_t n, cap;
};

void rd_metrics_deinit(struct rd_metrics *metrics);

/*
 * The family "rdmadiag_NAME[_UNIT]", made if it is not there. What cannot stand in a metric's name is replaced ("RNR
 * sent" and "rnrSent" both become rnr_sent), so a builder whose names come from elsewhere gives the name as it was
 * in a label, too. `unit` is a base unit (bytes, seconds, ratio) or NULL. Unit, type and help are those of the first
 * call. Stays where it is.
 */
struct rd_metric *rd_metrics_family(struct rd_metrics *metrics, const char *name, enum rd_metric_type type,
				    const char *unit, const char *help);

/* Adds a sample; of several with the same labels the first is rendered, because readers refuse a whole page for two. What
 * is not known is not added at all. */
void rd_metric_uint(struct rd_metric *family, uint64_t value, const struct rd_label *labels, size_t n);
void rd_metric_double(struct rd_metric *family, double value, const struct rd_label *labels, size_t n);

#endif
