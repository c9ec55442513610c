/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/program.h"

#include <dlfcn.h>
#include <sys/ioctl.h>

#include "opts.h"
#include "privileges.h"
#include "source/opener/child.h"
#include "source/opener/opener.h"
#include "source/shared/libmnl.h"

static void detect_terminal(struct rd_globals *globals)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool terminal = isatty(STDOUT_FILENO);
	struct winsize size;

	if (globals->color && strcmp(globals->color, "auto") != 0)
		globals->style.colour = strcmp(globals->color, "always") == 0;
	else
		globals->style.colour = terminal && !(no_color && *no_color) && term && *term &&
					strcmp(term, "dumb") != 0;
	if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		globals->style.width = size.ws_col;
}

static int print_help(const struct rd_cmd *cmd, bool all)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_help_add(cmd, all, &out);
	rd_out(&out);
	return RD_EXIT_OK;
}

/* A script in which the command is an empty variable must not take that for success. */
static int explain_commands(void)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };

	if (isatty(STDOUT_FILENO)) {
		rd_help_add_questions(&out);
		rd_out(&out);
		return RD_EXIT_OK;
	}
	print_help(NULL, false);
	rd_err_set(&err, EINVAL, NULL, "no command was given");
	return rd_fail_usage(NULL, &err);
}

static int print_version(const struct rd_ctx *ctx)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_str(&out, RD_PROGRAM " " RD_VERSION "\n");
	for (size_t i = 0; i < RD_LIBRARIES && ctx->globals.verbose; i++) {
		const struct rd_library *library = &rd_libraries[i];
		void *found = library->soname ? dlopen(library->soname, RTLD_LAZY) : NULL;

		if (!library->soname)
			continue;
		rd_buf_printf(&out, "%-16s  %s", library->soname, found ? "found" : "not found: ");
		if (!found)
			rd_buf_printf(&out, "%s (%s); install %s", library->without, library->where, library->package);
		rd_buf_str(&out, "\n");
		if (found)
			dlclose(found);
	}
	rd_out(&out);
	return RD_EXIT_OK;
}

static int run_command(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_err err = { 0 };
	char schema[64];
	int r;

	rd_libmnl_load(ctx->cmd->name, NULL);
	r = ctx->cmd->starts_commands ? 0 : rd_privileges_drop(ctx, argc, argv, &err);
	if (!r && ctx->globals.from && !ctx->cmd->opens_from)
		r = rd_source_bundle_open(ctx->globals.from, &source, &err);
	else if (!r)
		r = rd_source_live_open(NULL, &source, &err);
	if (r < 0) {
		r = rd_fail(ctx, &err);
	} else {
		ctx->source = source;
		if (!ctx->schema) {
			snprintf(schema, sizeof(schema), RD_PROGRAM "/%s/1", ctx->cmd->name);
			ctx->schema = schema;
		}
		r = ctx->cmd->run(ctx, argc, argv);
		ctx->schema = NULL;
		ctx->source = NULL;
		if (!ctx->cmd->starts_commands)
			rd_privileges_say(ctx);
	}
	rd_child_reap();
	rd_opener_end();
	return r;
}

/* help [COMMAND [--VARIANT] [all]] */
static int help(int argc, char **argv)
{
	const struct rd_cmd *cmd = NULL;
	struct rd_err err = { 0 };
	bool all = false;

	if (argc > 1 && rd_cmd_choose(argv[1], &cmd, &err) < 0)
		return rd_fail_usage(NULL, &err);
	for (int i = 2; i < argc; i++) {
		if (cmd->variant && strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, cmd->variant->option) == 0)
			cmd = cmd->variant;
		all |= strcmp(argv[i], "all") == 0;
	}
	return print_help(cmd, all);
}

/* argv[0] is the command's name. */
static int dispatch(struct rd_ctx *ctx, int argc, char **argv)
{
	struct rd_err err = { 0 };
	enum rd_parsed parsed;
	int first;

	if (strcmp(argv[0], "help") == 0)
		return help(argc, argv);
	if (rd_cmd_choose(argv[0], &ctx->cmd, &err) < 0)
		return rd_fail_usage(NULL, &err);
	first = rd_opts_command(ctx, argc, argv, &parsed, &err);
	if (first < 0)
		return rd_fail_usage(ctx->cmd, &err);
	if (parsed == RD_PARSED_HELP)
		return print_help(ctx->cmd, false);
	if (parsed == RD_PARSED_VERSION)
		return print_version(ctx);
	detect_terminal(&ctx->globals);
	return run_command(ctx, argc - first, argv + first);
}

/* Output that could not be written must not end in success; a reader that closed the pipe is not a failure. */
static int exit_code(int r)
{
	struct rd_err err;

	if (rd_out_failure() == 0 || rd_out_failure() == EPIPE)
		return r;
	rd_err_set(&err, rd_out_failure(), "standard output", "cannot write");
	return rd_fail(NULL, &err);
}

int rd_program_run(int argc, char **argv)
{
	struct rd_ctx ctx = { 0 };
	struct rd_err err = { 0 };
	enum rd_parsed parsed;
	int first, r;

	first = rd_opts_parse(&ctx, argc, argv, &parsed, &err);
	if (first < 0)
		return rd_fail_usage(NULL, &err);
	if (parsed == RD_PARSED_VERSION)
		return exit_code(print_version(&ctx));
	if (parsed == RD_PARSED_HELP)
		return exit_code(print_help(NULL, false));
	if (first >= argc)
		return exit_code(explain_commands());
	r = dispatch(&ctx, argc - first, argv + first);
	free(ctx.state);
	return exit_code(r);
}
