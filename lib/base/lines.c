/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lines.h"

#include <errno.h>
#include <string.h>

#define BLANKS " \t"

void rd_lines_init(struct rd_lines *ret, struct rd_texts *texts, const char *name, const char *text, size_t size)
{
	*ret = (struct rd_lines){ .name = name, .rest = rd_texts_keep(texts, text, size) };
}

int rd_lines_init_table(struct rd_lines *ret, struct rd_texts *texts, const char *what, const char *name,
			const char *text, size_t size, struct rd_err *err)
{
	*ret = (struct rd_lines){ 0 };
	if (size > RD_TABLE_BYTES)
		return rd_err_set(err, EFBIG, name, "table of %s exceeds the limit of %zu bytes", what, RD_TABLE_BYTES);
	rd_lines_init(ret, texts, name, text, size);
	return 0;
}

/* Line ends before continuation lines are replaced by spaces. */
static char *cut_line(struct rd_lines *lines)
{
	char *line = lines->rest, *end = strchr(line, '\n');

	lines->number = ++lines->last;
	while (end && lines->continued && *line != '#' && end[1] && strchr(BLANKS, end[1])) {
		*end = ' ';
		lines->last++;
		end = strchr(end, '\n');
	}
	if (end)
		*end++ = '\0';
	lines->rest = end;
	return line;
}

char *rd_lines_next(struct rd_lines *lines)
{
	while (lines->rest) {
		char *line = rd_trim(cut_line(lines));

		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

int rd_lines_err(const struct rd_lines *lines, struct rd_err *err, int code, const char *fmt, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list ap;

	va_start(ap, fmt);
	message = rd_vtext(fmt, ap);
	va_end(ap);
	return rd_err_set(err, code, lines->name, "line %u%s", lines->number, message);
}
