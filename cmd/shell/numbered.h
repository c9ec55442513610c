/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbered findings of the latest command that printed some: "explain 2", "fix 2". */
#ifndef RD_SHELL_NUMBERED_H
#define RD_SHELL_NUMBERED_H

#include "base/buf.h"

#define SHELL_FINDINGS_MAX 1000
#define SHELL_FINDINGS_BYTES ((size_t)1 << 20)

struct shell_finding {
	unsigned number;
	char *text, *fix; /* lines, escaped; owned */
};

struct shell_findings {
	struct shell_finding *v;
	size_t n, cap;
	struct rd_buf pending; /* read from the command, and not complete */
};

/* In the process of a command: numbers findings, and writes them to the descriptor as well. */
void shell_findings_send(int fd);

/* Takes bytes that a command has written; a finding with the number 1 replaces what is known. */
void shell_findings_take(struct shell_findings *findings, const void *data, size_t size);

/* NULL: no such number. */
const struct shell_finding *shell_findings_get(const struct shell_findings *findings, unsigned number);

void shell_findings_deinit(struct shell_findings *findings);

#endif
