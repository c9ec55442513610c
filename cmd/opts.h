/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option tables at work: parsing, help, nearest names. */
#ifndef RD_OPTS_H
#define RD_OPTS_H

#include "cmd.h"

enum rd_parsed {
	RD_PARSED_RUN,
	RD_PARSED_HELP,
	RD_PARSED_VERSION,
};

/*
 * Takes the options of `argv` (argv[0] is not looked at) into ctx: the global ones, and those of ctx->cmd if it is set. Stops
 * at the first operand where there is no command yet, or where the command's operands are a command line. Returns the
 * index of the first operand in the (reordered) argv, or -EINVAL with `err` filled.
 */
int rd_opts_parse(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err);

/*
 * Takes what stands behind the global options, of which argv[0] names ctx->cmd (which becomes its variant where that is asked
 * for): options into ctx->state, which it allocates and the caller frees. Refuses what does not go together with them, with the
 * global ones or with the operands. Opens nothing. Returns as rd_opts_parse does.
 */
int rd_opts_command(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err);

/* Holds what was given against ctx->cmd->rules; -EINVAL with `err` filled. */
int rd_opt_rules_check(const struct rd_ctx *ctx, struct rd_err *err);

#define RD_OPTS_MAX 64 /* rows of a command's table */

/* All options of a command, its variant's included, each name once. `ret` has room for 2 * RD_OPTS_MAX. */
size_t rd_opts_of(const struct rd_cmd *cmd, const struct rd_opt **ret);

/* The option that a word ("--json", "-o", "--columns=x", "-ox") names, of the command (may be NULL) or a global one;
 * NULL if there is none. */
const struct rd_opt *rd_opts_find(const struct rd_cmd *cmd, const char *word);

/* Help of the program (cmd NULL) or of a command. */
void rd_help_add(const struct rd_cmd *cmd, struct rd_buf *out);

/* The command of this name; NULL: there is none. */
const struct rd_cmd *rd_cmd_find(const char *name);

/* The same, or the one whose name begins so; hidden ones are not shortened. -EINVAL with `err` filled: there is none, or several. */
int rd_cmd_choose(const char *name, const struct rd_cmd **ret, struct rd_err *err);

/* How many letters must change to make one of the other: insert, delete, replace, swap neighbours. SIZE_MAX for
 * names that are too long to compare. */
size_t rd_name_distance(const char *a, const char *b);

#endif
