/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests/lint/advice: what the program's own parser says of command lines. Nothing is opened and nothing is run.
 *
 *   advice --tables   each option: command ("-": all), name, letter, argument, what completes it, with tabs between
 *   advice            reads command lines, one a line, tabs between the words, and answers each with a line: what is wrong with
 *                     it, or nothing
 */
#include "cmd/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 256

static void print_opt(const char *command, const struct rd_opt *opt)
{
	printf("%s\t%s\t%c\t%s\t%s\n", command, opt->name, opt->letter ? opt->letter : '-', opt->arg ? opt->arg : "-",
	       opt->complete ? opt->complete : "-");
}

static void print_tables(void)
{
	const struct rd_opt *opts[2 * RD_OPTS_MAX];

	for (const struct rd_opt *opt = rd_global_opts; opt->name; opt++)
		print_opt("-", opt);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		printf("%s\n", (*cmd)->name);
		for (size_t i = 0, n = rd_opts_of(*cmd, opts); i < n; i++)
			print_opt((*cmd)->name, opts[i]);
	}
}

/* Names in -o: those of the command's own table. */
static int check_columns(const struct rd_ctx *ctx, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_section *table;
	int r;

	if (!ctx->globals.style.columns || !ctx->cmd->n_columns)
		return 0;
	table = rd_section_create("table", ctx->cmd->columns, ctx->cmd->n_columns);
	r = rd_render_table(table, &ctx->globals.style, &out, err);
	rd_section_destroy(table);
	return r;
}

/* As main and its dispatch() do it. */
static int judge(int argc, char **argv, struct rd_err *err)
{
	struct rd_ctx ctx = { 0 };
	enum rd_parsed parsed;
	int first = rd_opts_parse(&ctx, argc, argv, &parsed, err);

	if (first < 0 || parsed != RD_PARSED_RUN || first == argc)
		return first;
	if (strcmp(argv[first], "help") == 0 && ++first == argc)
		return 0;
	ctx.cmd = rd_cmd_find(argv[first]);
	if (!ctx.cmd)
		return rd_err_set(err, EINVAL, NULL, "unknown command '%s'", argv[first]);
	first = rd_opts_command(&ctx, argc - first, argv + first, &parsed, err);
	free(ctx.state);
	return first < 0 || parsed != RD_PARSED_RUN ? first : check_columns(&ctx, err);
}

static void answer(char *line)
{
	char *argv[WORDS_MAX + 1] = { NULL };
	struct rd_err err = { 0 };
	int argc = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *word; argc < WORDS_MAX && (word = strsep(&line, "\t"));)
		argv[argc++] = word;
	if (judge(argc, argv, &err) < 0)
		printf("%s%s%s%s%s%s", err.object, *err.object ? ": " : "", err.message, *err.hint ? " (" : "",
		       err.hint, *err.hint ? ")" : "");
	putchar('\n');
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (argc > 1 && strcmp(argv[1], "--tables") == 0)
		print_tables();
	else
		while (getline(&line, &size, stdin) > 0)
			answer(line);
	return fflush(stdout) == 0 ? 0 : 2;
}
