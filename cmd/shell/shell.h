/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the shell, and how it runs commands. */
#ifndef RD_SHELL_H
#define RD_SHELL_H

#include <termios.h>

#include "base/err.h"
#include "cmd/shell/line.h"
#include "cmd/shell/numbered.h"

struct shell {
	char *bundle; /* in use, as the user named it; owned. NULL: this host */
	struct shell_findings findings;
	char *source;	      /* the command line that printed the findings; owned, NULL: none */
	bool terminal;	      /* somebody types the lines; commands run in process groups of their own */
	struct termios modes; /* of the terminal, before a command */
};

/*
 * Runs a command line in a process of its own, reads its findings, and waits for its end. `out`: its standard output, or that of the
 * program of the line. Returns its exit code; 3 if the program could not run.
 */
int shell_run(struct shell *shell, const struct shell_line *line, int out);

/* Runs `complete -- WORDS` on what is in use; its output is added to `ret`. */
void shell_complete(struct shell *shell, const struct shell_line *line, struct rd_buf *ret);

/* Uses a bundle, or this host (NULL). -errno: it has been reported, and what was in use stays so. */
int shell_use(struct shell *shell, const char *path);

void shell_deinit(struct shell *shell);

#endif
