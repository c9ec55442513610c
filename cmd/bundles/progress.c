/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"
#include "cmd/cmd.h"
#include "source/opener/child.h"

#include <stdio.h>
#include <unistd.h>

#define FIRST_MS 1000
#define TERMINAL_MS 200
#define LOG_MS 10000

void rd_progress_show(struct rd_progress *progress, const char *what, size_t done, size_t all)
{
	bool terminal = isatty(STDERR_FILENO);
	int64_t now = rd_monotonic_ms();

	if (!progress->began_ms) {
		progress->began_ms = now;
		progress->shown_ms = now + FIRST_MS - TERMINAL_MS;
	}
	if (now - progress->shown_ms < (terminal ? TERMINAL_MS : LOG_MS))
		return;
	progress->shown_ms = now;
	progress->line |= terminal;
	dprintf(STDERR_FILENO, terminal ? "\r\033[K" RD_PROGRAM ": %s %zu of %zu " : RD_PROGRAM ": %s %zu of %zu\n",
		what, done, all);
}

void rd_progress_end(struct rd_progress *progress)
{
	if (progress->line)
		dprintf(STDERR_FILENO, "\r\033[K");
	*progress = (struct rd_progress){ 0 };
}
