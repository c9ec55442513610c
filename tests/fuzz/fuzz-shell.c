/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first line is one of the shell, the rest is what a command sends as its findings. */
#include "fuzz.h"

#include "cmd/shell/shell.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t length = end ? (size_t)(end - data) : size, rest = end ? size - length - 1 : 0;
	_cleanup_free_ char *text = rd_dup_part((const char *)data, length);
	const char *after = (const char *)data + size - rest;
	struct shell_findings findings = { 0 };
	struct shell_line line;
	struct rd_err err;
	bool command;

	shell_line_typed(text, &line, &command);
	shell_line_deinit(&line);
	if (shell_line_parse(text, &line, &err) == 0)
		shell_line_deinit(&line);
	shell_findings_take(&findings, after, rest / 3);
	shell_findings_take(&findings, after + rest / 3, rest - rest / 3);
	shell_findings_deinit(&findings);
}
