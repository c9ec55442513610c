/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opts.h"
#include "base/number.h"
#include "privileges.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define OPTS_MAX 96
#define NAME_MAX_LEN 31

/* getopt's view of both tables, the command's first, so that it may have a letter of its own. */
struct opt_tables {
	const struct rd_opt *opts[OPTS_MAX];
	struct option longs[OPTS_MAX + 1];
	char shorts[2 * OPTS_MAX + 3];
	size_t n;
};

/* Values of long options, above all letters. */
#define LONG_BASE 256

static void tables_add(struct opt_tables *tables, const struct rd_opt *opts)
{
	size_t at = strlen(tables->shorts);

	for (; opts && opts->name && tables->n < OPTS_MAX; opts++) {
		size_t i = tables->n++;

		tables->opts[i] = opts;
		tables->longs[i] = (struct option){
			.name = opts->name,
			.has_arg = opts->arg ? required_argument : no_argument,
			.val = LONG_BASE + (int)i,
		};
		if (!opts->letter || strchr(tables->shorts, opts->letter))
			continue;
		tables->shorts[at++] = opts->letter;
		if (opts->arg)
			tables->shorts[at++] = ':';
	}
}

static const struct rd_opt *tables_find(const struct opt_tables *tables, int val)
{
	if (val >= LONG_BASE && (size_t)val < LONG_BASE + tables->n)
		return tables->opts[val - LONG_BASE];
	for (size_t i = 0; i < tables->n; i++)
		if (tables->opts[i]->letter == val)
			return tables->opts[i];
	return NULL;
}

size_t rd_name_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	size_t d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];

	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return SIZE_MAX;
	for (size_t i = 0; i <= la; i++)
		for (size_t j = 0; j <= lb; j++) {
			size_t best;

			if (i == 0 || j == 0) {
				d[i][j] = i + j;
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[la][lb];
}

static const struct rd_opt *nearest(const struct opt_tables *tables, const char *name)
{
	const struct rd_opt *best = NULL;
	size_t least = 3;

	for (size_t i = 0; i < tables->n; i++) {
		size_t distance = rd_name_distance(name, tables->opts[i]->name);

		if (distance < least && distance < strlen(name)) {
			least = distance;
			best = tables->opts[i];
		}
	}
	return best;
}

static const char *of_command(const struct rd_cmd *cmd)
{
	return cmd ? cmd->name : RD_PROGRAM;
}

/* `word` is what getopt had last stepped over. */
static int refuse(const struct opt_tables *tables, const struct rd_cmd *cmd, const char *word, struct rd_err *err)
{
	char name[64] = "";
	const struct rd_opt *near;
	size_t starts = 0;

	if (optopt > 0 && optopt < LONG_BASE) {
		char letter[] = { '-', (char)optopt, '\0' };

		return rd_err_set(err, EINVAL, letter, "%s has no such option", of_command(cmd));
	}
	if (strncmp(word, "--", 2) == 0)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (size_t i = 0; i < tables->n; i++)
		starts += strncmp(tables->opts[i]->name, name, strlen(name)) == 0;
	if (optopt >= LONG_BASE)
		rd_err_set(err, EINVAL, word, "this option takes no argument");
	else if (starts > 1)
		rd_err_set(err, EINVAL, word, "stands for more than one option");
	else
		rd_err_set(err, EINVAL, word, "%s has no such option", of_command(cmd));
	near = starts > 1 || optopt >= LONG_BASE ? NULL : nearest(tables, name);
	if (near)
		rd_err_hint(err, "--%s", near->name);
	return -EINVAL;
}

static int take_global(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct rd_globals *globals = &ctx->globals;

	switch (opt->letter) {
	case 'o':
		globals->style.columns = arg;
		return 0;
	case 'n':
		globals->style.no_headings = true;
		return 0;
	case 'v':
		globals->verbose = true;
		return 0;
	}
	if (strcmp(opt->name, "from") == 0) {
		globals->from = arg;
	} else if (strcmp(opt->name, "json") == 0) {
		globals->json = true;
	} else if (strcmp(opt->name, "openmetrics") == 0) {
		globals->openmetrics = true;
	} else if (strcmp(opt->name, "textfile") == 0) {
		globals->textfile = arg;
	} else if (strcmp(opt->name, "raw") == 0) {
		globals->style.raw = true;
	} else if (strcmp(opt->name, "color") == 0) {
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "always") != 0 && strcmp(arg, "never") != 0) {
			rd_err_set(err, EINVAL, "--color", "takes auto, always or never, not \"%s\"", arg);
			rd_err_hint(err, "--color auto");
			return -EINVAL;
		}
		globals->color = arg;
	}
	return 0;
}

static bool is_global(const struct rd_opt *opt)
{
	for (const struct rd_opt *global = rd_global_opts; global->name; global++)
		if (global == opt)
			return true;
	return false;
}

int rd_opts_parse(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err)
{
	/* '+': stop at the first operand. ':': tell a missing argument from an unknown option. */
	struct opt_tables tables = { .shorts = "+:" };
	const struct rd_cmd *cmd = ctx->cmd;
	int val, r;

	if (cmd && !cmd->runs_command)
		strcpy(tables.shorts, ":");
	if (cmd)
		tables_add(&tables, cmd->opts);
	tables_add(&tables, rd_global_opts);
	*ret = RD_PARSED_RUN;
	optind = 0; /* glibc: start over with another argv */
	opterr = 0;
	while ((val = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		const struct rd_opt *opt = tables_find(&tables, val == ':' ? optopt : val);

		if (val == '?' || !opt)
			return refuse(&tables, cmd, argv[optind - 1], err);
		if (val == ':') {
			char name[64];

			snprintf(name, sizeof(name), "--%s", opt->name);
			return rd_err_set(err, EINVAL, name, "needs an argument: %s", opt->arg);
		}
		if (optarg && !*optarg && opt->complete && strcmp(opt->complete, "file") == 0) {
			char name[64];

			snprintf(name, sizeof(name), "--%s", opt->name);
			return rd_err_set(err, EINVAL, name, "the path is empty");
		}
		if (!is_global(opt)) {
			r = cmd->option(ctx, opt, optarg, err);
		} else if (opt->letter == 'h' || opt->letter == 'V') {
			*ret = opt->letter == 'h' ? RD_PARSED_HELP : RD_PARSED_VERSION;
			if (*ret == RD_PARSED_HELP)
				return optind;
			r = 0; /* -v may follow */
		} else {
			r = take_global(ctx, opt, optarg, err);
		}
		if (r < 0)
			return r;
		rd_privileges_note(opt->needs, optarg);
	}
	return optind;
}

/* What must hold of any command. */
static int check_globals(const struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct rd_globals *globals = &ctx->globals;
	const char *metrics = globals->openmetrics ? "--openmetrics" : "--textfile";

	if (rd_metrics_wanted(ctx) && !ctx->cmd->metrics)
		return rd_err_set(err, EINVAL, metrics, "%s has no metrics", ctx->cmd->name);
	if (globals->json && globals->openmetrics)
		return rd_err_set(err, EINVAL, "--openmetrics", "is another format than --json: leave one out");
	if (argc > 0 && !ctx->cmd->operands)
		return rd_err_set(err, EINVAL, argv[0], "%s takes options only", ctx->cmd->name);
	if (globals->from && ctx->cmd->live_only)
		return rd_err_set(err, EINVAL, "--from", "%s looks at the running kernel of this host", ctx->cmd->name);
	return 0;
}

int rd_opts_command(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err)
{
	int first = rd_opts_parse(ctx, argc, argv, ret, err);
	int r = 0;

	if (first < 0 || *ret != RD_PARSED_RUN)
		return first;
	r = check_globals(ctx, argc - first, argv + first, err);
	if (!r && ctx->cmd->check)
		r = ctx->cmd->check(ctx, argc - first, argv + first, err);
	return r < 0 ? r : first;
}

int rd_opt_number(const char *option, const char *arg, unsigned long least, unsigned long most, unsigned long *ret,
		  struct rd_err *err)
{
	uint64_t value;

	if (rd_parse_uint(arg, RD_DECIMAL, most, &value) < 0 || value < least)
		return rd_err_set(err, EINVAL, option, "\"%s\" is no number from %lu to %lu", arg, least, most);
	*ret = value;
	return 0;
}

const struct rd_opt *rd_opts_find(const struct rd_cmd *cmd, const char *word)
{
	const struct rd_opt *const lists[] = { cmd ? cmd->opts : NULL, rd_global_opts };
	bool is_long = strncmp(word, "--", 2) == 0;
	size_t size = is_long ? strcspn(word + 2, "=") : 0;

	if (word[0] != '-' || !word[1])
		return NULL;
	for (size_t i = 0; i < RD_ARRAY_SIZE(lists); i++)
		for (const struct rd_opt *opt = lists[i]; opt && opt->name; opt++)
			if (is_long ? strlen(opt->name) == size && strncmp(opt->name, word + 2, size) == 0 :
				      opt->letter && opt->letter == word[1])
				return opt;
	return NULL;
}

const struct rd_cmd *rd_cmd_find(const char *name)
{
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		if (strcmp((*cmd)->name, name) == 0)
			return *cmd;
	return NULL;
}
