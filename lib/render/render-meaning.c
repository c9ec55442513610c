/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render-meaning.h"

#include <inttypes.h>
#include <string.h>

#include "render/row.h"

static const char *text_or(const struct rd_row_view *view, const char *key, const char *unknown)
{
	const char *text = rd_row_text(view, key);

	return text ? text : unknown;
}

/* "16 bits, saturates at 65535"; a gauge and a counter of 64 bits never reach their limit. */
static void add_overflow(const struct rd_row_view *view)
{
	const char *overflow = text_or(view, "overflow", "width unknown");
	const struct rd_cell *bits = rd_row_cell(view, "bits");

	if (bits && (strcmp(overflow, "saturates") == 0 || strcmp(overflow, "wraps") == 0))
		rd_buf_printf(view->out, "%" PRIu64 " bits, %s at %" PRIu64, bits->u, overflow,
			      (UINT64_C(1) << (bits->u & 63)) - 1);
	else
		rd_buf_str(view->out, overflow);
}

static void add_meaning(const struct rd_row_view *view)
{
	const char *driver = text_or(view, "driver", "*"), *unit = text_or(view, "unit", "-");
	const struct rd_cell *summable = rd_row_cell(view, "summable");

	rd_row_put(view, NULL, text_or(view, "name", "-"));
	rd_buf_printf(view->out, " (%s)\n  ", strcmp(driver, "*") == 0 ? "any driver" : driver);
	rd_row_put(view, NULL, text_or(view, "meaning", "-"));
	rd_buf_printf(view->out, "\n  counts %s; ", strcmp(unit, "-") == 0 ? "various units" : unit);
	add_overflow(view);
	rd_buf_printf(view->out, "; %s; %s\n", text_or(view, "role", "no role"),
		      summable && summable->b ? "may be added up over ports" : "must not be added up");
}

void rd_render_meanings(const struct rd_section *section, struct rd_buf *out)
{
	for (size_t i = 0; i < section->n; i++)
		add_meaning(&(struct rd_row_view){ .section = section, .row = rd_section_row(section, i), .out = out });
}
