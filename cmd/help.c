/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opts.h"

#define WIDTH 80
#define DAILY 10    /* options that help shows: the first of each table, which are those of daily work */
#define LEFT_MAX 30 /* the text of a longer option begins on the next line */

/* Adds text, wrapped at WIDTH columns and indented by `indent`; the cursor is already at that column. An empty line begins a
 * paragraph. */
static void add_filled(const char *text, size_t indent, struct rd_buf *out)
{
	size_t column = indent;

	while (*text) {
		size_t size = strcspn(text, " \n"), breaks = 0;

		if (column > indent && column + 1 + size > WIDTH) {
			rd_buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			rd_buf_str(out, " ");
			column++;
		}
		rd_buf_add(out, text, size);
		column += size;
		text += size;
		for (; *text == ' ' || *text == '\n'; text++)
			breaks += *text == '\n';
		if (breaks > 1 && *text) {
			rd_buf_printf(out, "\n\n%*s", (int)indent, "");
			column = indent;
		}
	}
	rd_buf_str(out, "\n");
}

static size_t opt_left(const struct rd_opt *opt, char *ret, size_t size)
{
	char letter[] = { '-', opt->letter, ',', '\0' };
	int n = snprintf(ret, size, "  %-3s --%s%s%s", opt->letter ? letter : "", opt->name, opt->arg ? " " : "",
			 opt->arg ?: "");

	return n > 0 ? (size_t)n : 0;
}

static size_t opts_width(const struct rd_opt *opts, size_t width)
{
	char left[128];

	for (; opts && opts->name; opts++) {
		size_t n = opt_left(opts, left, sizeof(left));

		if (n <= LEFT_MAX && n > width)
			width = n;
	}
	return width;
}

/* At most `most` of them; returns how many more there are. */
static size_t add_opts(const char *title, const struct rd_opt *opts, size_t most, size_t width, struct rd_buf *out)
{
	size_t n = 0;
	char left[128];

	if (!opts || !opts->name)
		return 0;
	rd_buf_printf(out, "\n%s:\n", title);
	for (; opts->name; opts++) {
		if (n++ >= most)
			continue;
		if (opt_left(opts, left, sizeof(left)) > width)
			rd_buf_printf(out, "%s\n%*s", left, (int)width + 2, "");
		else
			rd_buf_printf(out, "%-*s  ", (int)width, left);
		add_filled(opts->help ?: "", width + 2, out);
	}
	return n > most ? n - most : 0;
}

static void add_columns(const struct rd_cmd *cmd, struct rd_buf *out)
{
	int width = 0;

	for (size_t c = 0; c < cmd->n_columns; c++)
		if ((int)strlen(cmd->columns[c].key) > width)
			width = (int)strlen(cmd->columns[c].key);
	if (width == 0)
		return;
	rd_buf_str(out, "\nColumns for -o:\n");
	for (size_t c = 0; c < cmd->n_columns; c++) {
		rd_buf_printf(out, "  %-*s  ", width, cmd->columns[c].key);
		add_filled(cmd->columns[c].help ? cmd->columns[c].help : "", (size_t)width + 4, out);
	}
}

static void add_command_help(const struct rd_cmd *cmd, bool all, struct rd_buf *out)
{
	size_t width = opts_width(rd_global_opts, opts_width(cmd->opts, 0)), more;

	rd_buf_printf(out, "Usage: " RD_PROGRAM " %s%s%s [OPTIONS]%s%s\n\n", cmd->name, cmd->option ? " --" : "",
		      cmd->option ?: "", cmd->operands ? " " : "", cmd->operands ?: "");
	add_filled(cmd->description ?: cmd->summary ? cmd->summary : "", 0, out);
	more = add_opts("Options", cmd->opts, all ? SIZE_MAX : DAILY, width, out);
	if (all) {
		add_opts("Global options", rd_global_opts, SIZE_MAX, width, out);
		add_columns(cmd, out);
	} else {
		rd_buf_str(out, "\n");
		if (more > 0)
			rd_buf_printf(out, "%zu more, ", more);
		rd_buf_printf(out, "%s and columns: " RD_PROGRAM "%s%s%s%s all\n",
			      more > 0 ? "global options" : "Global options", " help ", cmd->name,
			      cmd->option ? " --" : "", cmd->option ?: "");
	}
	if (cmd->examples) {
		size_t size = strlen(cmd->examples);

		rd_buf_printf(out, "\nExamples:\n%s%s", cmd->examples,
			      size > 0 && cmd->examples[size - 1] == '\n' ? "" : "\n");
	}
	if (cmd->variant)
		rd_buf_printf(out, "\nOptions of %s --%s: " RD_PROGRAM " %s --%s --help\n", cmd->name,
			      cmd->variant->option, cmd->name, cmd->variant->option);
	if (!cmd->hidden)
		rd_buf_printf(out, "\nMore: man " RD_PROGRAM "-%s\n", cmd->name);
}

static void add_program_help(struct rd_buf *out)
{
	int width = 0;

	rd_buf_str(out, "Usage: " RD_PROGRAM " [OPTIONS] COMMAND [ARGUMENTS]\n\n"
			"Diagnoses RDMA devices and connections of this host from kernel data.\n"
			"\nCommands:\n");
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (!(*cmd)->hidden && (int)strlen((*cmd)->name) > width)
			width = (int)strlen((*cmd)->name);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (!(*cmd)->hidden)
			rd_buf_printf(out, "  %-*s  %s\n", width, (*cmd)->name, (*cmd)->summary ? (*cmd)->summary : "");
	add_opts("Options (before or after the command)", rd_global_opts, SIZE_MAX, opts_width(rd_global_opts, 0), out);
	rd_buf_str(out, "\n" RD_PROGRAM " COMMAND --help describes a command; see also man " RD_PROGRAM ".\n");
}

void rd_help_add_questions(struct rd_buf *out)
{
	int width = 0;

	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		for (const struct rd_cmd *c = *cmd; c; c = c->variant)
			if (c->question && (int)strlen(c->question) > width)
				width = (int)strlen(c->question);
	rd_buf_str(out, RD_PROGRAM " finds what makes RDMA fail or slow down. Which question do you have?\n\n");
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		for (const struct rd_cmd *c = *cmd; c; c = c->variant)
			if (c->question)
				rd_buf_printf(out, "  %-*s  " RD_PROGRAM " %s%s%s\n", width, c->question, c->name,
					      c->option ? " --" : "", c->option ?: "");
	rd_buf_str(out, "\n" RD_PROGRAM " COMMAND --help describes a command; see also man " RD_PROGRAM ".\n");
}

void rd_help_add(const struct rd_cmd *cmd, bool all, struct rd_buf *out)
{
	if (cmd)
		add_command_help(cmd, all, out);
	else
		add_program_help(out);
}
