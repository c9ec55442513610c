// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/explanation.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static void drop_facts(struct rd_explanation *e)
{
	for (size_t i = 0; i < e->n_evidence; i++)
		free(e->evidence[i]);
	e->n_evidence = 0;
}

void rd_explanation_deinit(struct rd_explanation *e)
{
	drop_facts(e);
	RD_FREE(e->cause, e->fix);
	*e = (struct rd_explanation){ 0 };
}

void rd_explain(struct rd_explanation *e, const char *id, enum rd_confidence confidence, const char *fmt, ...)
{
	va_list ap;

	rd_explanation_deinit(e);
	e->id = id;
	e->confidence = confidence;
	va_start(ap, fmt);
	e->cause = rd_vtext(fmt, ap);
	va_end(ap);
}

void rd_explain_fact(struct rd_explanation *e, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = rd_vtext(fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < e->n_evidence; i++)
		if (!strcmp(e->evidence[i], text))
			goto drop;
	if (e->n_evidence < RD_EVIDENCE_MAX) {
		e->evidence[e->n_evidence++] = text;
		return;
	}
drop:
	free(text);
}

void rd_explain_fix(struct rd_explanation *e, const char *fmt, ...)
{
	va_list ap;

	free(e->fix);
	va_start(ap, fmt);
	e->fix = rd_vtext(fmt, ap);
	va_end(ap);
}

const char *rd_bytes_text(uint64_t bytes, char *ret)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	if (bytes == UINT64_MAX) {
		snprintf(ret, RD_BYTES_TEXT, "unlimited");
		return ret;
	}
	if (bytes < 1024 || bytes % 1024) {
		snprintf(ret, RD_BYTES_TEXT, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return ret;
	}
	bytes /= 1024;
	while (unit + 1 < RD_ARRAY_SIZE(units) && bytes >= 1024 && !(bytes % 1024)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(ret, RD_BYTES_TEXT, "%" PRIu64 " %s", bytes, units[unit]);
	return ret;
}
