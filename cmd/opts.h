/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option parsing, help, nearest names. */
#ifndef RD_OPTS_H
#define RD_OPTS_H

#include "cmd.h"

enum rd_parsed {
	RD_PARSED_RUN,
	RD_PARSED_HELP,
	RD_PARSED_VERSION,
};

/*
 * Stores the options of `argv` (argv[0] is ignored) in ctx: the global options, and those of ctx->cmd if it is set. Stops
 * at the first operand if there is no command yet, or if the command's operands are a command line. Returns the index of the
 * first operand in the (reordered) argv, or -EINVAL with `err` filled.
 */
int rd_opts_parse(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err);

/*
 * Parses the arguments after the global options; argv[0] is the name of ctx->cmd, which is replaced by its variant if the
 * option of that is given. Stores options in ctx->state, which it allocates and the caller frees. Refuses options and operands
 * that exclude each other. Opens nothing. Returns as rd_opts_parse does.
 */
int rd_opts_command(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err);

#define RD_OPTS_MAX 64 /* rows of a command's table */

/* All options of a command including its variant's, each name once. `ret` must hold 2 * RD_OPTS_MAX. */
size_t rd_opts_of(const struct rd_cmd *cmd, const struct rd_opt **ret);

/* The option of a word ("--json", "-o", "--columns=x", "-ox"), of the command (may be NULL) or a global one; NULL: not found. */
const struct rd_opt *rd_opts_find(const struct rd_cmd *cmd, const char *word);

/* The help text of the program (cmd NULL) or of a command. */
void rd_help_add(const struct rd_cmd *cmd, bool all, struct rd_buf *out);

/* For somebody who has not chosen a command: which one to use for what, on one screen. */
void rd_help_add_questions(struct rd_buf *out);

/* The command with this name; NULL: not found. */
const struct rd_cmd *rd_cmd_find(const char *name);

/* The command with this name or unique prefix; hidden commands have no prefixes. -EINVAL with `err` filled: unknown or ambiguous. */
int rd_cmd_choose(const char *name, const struct rd_cmd **ret, struct rd_err *err);

/* Edit distance of two names: insert, delete, replace, swap neighbours. SIZE_MAX for names that are too long to compare. */
size_t rd_name_distance(const char *a, const char *b);

#endif
