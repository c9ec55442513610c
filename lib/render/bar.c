/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render.h"

static double clamp(double share)
{
	return share > 1 ? 1 : share >= 0 ? share : 0; /* NaN: 0 */
}

static void add_times(struct rd_buf *out, const char *text, int n)
{
	for (; n > 0; n--)
		rd_buf_str(out, text);
}

void rd_render_bar(double share, int width, bool ascii, struct rd_buf *out)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int n = (int)(clamp(share) * width * 8 + 0.5), whole = n / 8, part = n % 8;

	if (ascii) {
		whole = (n + 4) / 8;
		part = 0;
	}
	/* Any traffic is visible. */
	if (n == 0 && share > 0)
		part = ascii ? 0 : 1;
	add_times(out, ascii ? "#" : "█", whole);
	rd_buf_str(out, eighths[part]);
	add_times(out, " ", width - whole - (part > 0));
}

void rd_render_spark(const struct rd_section *shares, int width, bool ascii, struct rd_buf *out)
{
	static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii_levels[] = { "_", ".", "-", "~", "=", "+", "*", "#" };
	int n = shares->n < (size_t)width ? (int)shares->n : width;

	add_times(out, " ", width - n);
	for (int i = 0; i < n; i++) {
		const struct rd_cell *cell = &rd_section_row(shares, shares->n - n + i)->cells[0];
		int level = cell->known == RD_OK ? (int)(clamp(cell->d) * 7 + 0.5) : -1;

		/* The lowest level means no traffic. */
		if (level == 0 && cell->d > 0)
			level = 1;
		rd_buf_str(out, level < 0 ? " " : ascii ? ascii_levels[level] : levels[level]);
	}
}
