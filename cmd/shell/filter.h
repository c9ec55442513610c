/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filters of a line: lines that match, lines that do not, their number. */
#ifndef RD_SHELL_FILTER_H
#define RD_SHELL_FILTER_H

#include "base/buf.h"
#include "cmd/shell/line.h"

struct shell_filtering {
	const struct shell_line *line;
	size_t *counts;		 /* per filter */
	struct rd_buf part, out; /* a line that is not complete; output, to be written and emptied by the caller */
};

void shell_filter_init(const struct shell_line *line, struct shell_filtering *filtering);
void shell_filter_deinit(struct shell_filtering *filtering);

/* Takes output of the command; what passes is added to `out`. */
void shell_filter_take(struct shell_filtering *filtering, const char *data, size_t size);

/* The output has ended. */
void shell_filter_end(struct shell_filtering *filtering);

#endif
