/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/shell/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LINE_MAX_BYTES ((size_t)16 << 20) /* a longer line is passed on in parts */

void shell_filter_init(const struct shell_line *line, struct shell_filtering *filtering)
{
	*filtering = (struct shell_filtering){ .line = line };
	filtering->counts = rd_alloc(line->n_filters + 1, sizeof(*filtering->counts));
}

void shell_filter_deinit(struct shell_filtering *filtering)
{
	free(filtering->counts);
	rd_buf_deinit(&filtering->part);
	rd_buf_deinit(&filtering->out);
}

/* Passes a line, without its end, to the filters from number `i` on. */
static void pass(struct shell_filtering *filtering, size_t i, const char *text)
{
	for (; i < filtering->line->n_filters; i++) {
		const struct shell_filter *filter = &filtering->line->filters[i];
		bool matches;

		if (filter->kind == SHELL_COUNT) {
			filtering->counts[i]++;
			return;
		}
		matches = regexec(&filter->regex, text, 0, NULL, 0) == 0;
		if (matches != (filter->kind == SHELL_INCLUDE))
			return;
	}
	rd_buf_str(&filtering->out, text);
	rd_buf_str(&filtering->out, "\n");
}

static void end_line(struct shell_filtering *filtering)
{
	rd_buf_str(&filtering->part, "");
	pass(filtering, 0, filtering->part.data);
	filtering->part.len = 0;
}

void shell_filter_take(struct shell_filtering *filtering, const char *data, size_t size)
{
	while (size > 0) {
		const char *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;

		rd_buf_add(&filtering->part, data, n);
		if (end || filtering->part.len > LINE_MAX_BYTES)
			end_line(filtering);
		n += end != NULL;
		data += n;
		size -= n;
	}
}

void shell_filter_end(struct shell_filtering *filtering)
{
	if (filtering->part.len > 0)
		end_line(filtering);
	for (size_t i = 0; i < filtering->line->n_filters; i++) {
		char number[24];

		if (filtering->line->filters[i].kind != SHELL_COUNT)
			continue;
		snprintf(number, sizeof(number), "%zu", filtering->counts[i]);
		pass(filtering, i + 1, number);
	}
}
