/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opts.h"
#include "privileges.h"

#include <getopt.h>

#define OPTS_MAX (2 * RD_OPTS_MAX + 32)

/* The tables in the form of getopt. The command's come first, so that it can override a global name or letter. */
struct opt_tables {
	const struct rd_opt *opts[OPTS_MAX];
	struct option longs[OPTS_MAX + 1];
	char shorts[2 * OPTS_MAX + 3];
	size_t n;
};

/* Values of long options begin above all letters. */
#define LONG_BASE 256

static bool has_name(const struct opt_tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->n; i++)
		if (strcmp(tables->opts[i]->name, name) == 0)
			return true;
	return false;
}

static void tables_add(struct opt_tables *tables, const struct rd_opt *opts)
{
	size_t at = strlen(tables->shorts);

	for (; opts && opts->name && tables->n < OPTS_MAX; opts++) {
		size_t i = tables->n;

		if (has_name(tables, opts->name))
			continue;
		tables->n++;
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

static const struct rd_opt *nearest_option(const struct opt_tables *tables, const char *name)
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

/* `word`: the last word that getopt consumed. */
static int refuse_option(const struct opt_tables *tables, const struct rd_cmd *cmd, const char *word, struct rd_err *err)
{
	const char *command = cmd ? cmd->name : NULL;
	char name[64] = "";
	const struct rd_opt *near;
	size_t starts = 0;

	if (optopt > 0 && optopt < LONG_BASE)
		return rd_err_set(err, EINVAL, command, "unknown option '-%c'", optopt);
	if (strncmp(word, "--", 2) == 0)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (size_t i = 0; i < tables->n; i++)
		starts += rd_starts_with(tables->opts[i]->name, name);
	if (optopt >= LONG_BASE)
		rd_err_set(err, EINVAL, command, "option '--%s' takes no argument", name);
	else if (starts > 1)
		rd_err_set(err, EINVAL, command, "ambiguous option '%s'", word);
	else
		rd_err_set(err, EINVAL, command, "unknown option '%s'", word);
	near = starts > 1 || optopt >= LONG_BASE ? NULL : nearest_option(tables, name);
	return near ? rd_err_hint(err, "--%s", near->name) : -EINVAL;
}

int rd_opt_refuse(const struct rd_opt *opt, struct rd_err *err, const char *fmt, ...)
{
	_cleanup_free_ char *option = rd_text("--%s", opt->name), *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = rd_vtext(fmt, ap);
	va_end(ap);
	return rd_err_set(err, EINVAL, option, "%s", text);
}

static int store_number(void *to, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	uint64_t value;

	if (rd_parse_uint(arg, RD_DECIMAL, (uint64_t)opt->most, &value) < 0 || value < (uint64_t)opt->least)
		return rd_err_set(err, EINVAL, NULL, "invalid %s '%s': expected %.0f to %.0f", opt->name, arg,
				  opt->least, opt->most);
	if (opt->size == sizeof(uint8_t))
		*(uint8_t *)to = (uint8_t)value;
	else if (opt->size == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)value;
	else
		*(uint64_t *)to = value;
	return 0;
}

static int store_seconds(double *to, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	if (rd_parse_real(arg, opt->least, opt->most, to) == 0)
		return 0;
	if (opt->least <= RD_ABOVE_0)
		return rd_err_set(err, EINVAL, NULL, "invalid %s '%s': expected seconds above 0, at most %g", opt->name,
				  arg, opt->most);
	return rd_err_set(err, EINVAL, NULL, "invalid %s '%s': expected %g to %g seconds", opt->name, arg, opt->least,
			  opt->most);
}

int rd_opt_word(const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf words = { 0 };
	const char *at = opt->complete;

	for (int i = 0; at; i++) {
		_cleanup_free_ char *word = rd_next_part(&at, '|');

		if (strcmp(arg, word) == 0)
			return i;
		rd_buf_printf(&words, "%s%s", i == 0 ? "" : at ? ", " : " or ", word);
	}
	return rd_err_set(err, EINVAL, NULL, "invalid %s '%s': expected %s", opt->name, arg, words.data);
}

static int store_argument(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	void *to = (char *)state + opt->offset;
	int r = 0;

	switch (opt->kind) {
	case RD_OPT_GIVEN:
		break;
	case RD_OPT_FLAG:
		*(bool *)to = true;
		break;
	case RD_OPT_TEXT:
		*(const char **)to = arg;
		break;
	case RD_OPT_WORD:
		r = rd_opt_word(opt, arg, err);
		if (r >= 0)
			*(const char **)to = arg;
		return r < 0 ? r : 0;
	case RD_OPT_NUMBER:
		r = store_number(to, opt, arg, err);
		if (!r && opt->known)
			*(enum rd_known *)((char *)state + opt->known) = RD_OK;
		break;
	case RD_OPT_SECONDS:
		return store_seconds(to, opt, arg, err);
	case RD_OPT_OWN:
		return opt->take(state, opt, arg, err);
	}
	return r;
}

static const struct rd_opt *find_option(const struct rd_opt *opts, const char *name)
{
	for (; opts && opts->name; opts++)
		if (strcmp(opts->name, name) == 0)
			return opts;
	return NULL;
}

bool rd_opt_given(const struct rd_ctx *ctx, const char *name)
{
	const struct rd_opt *opts = ctx->cmd ? ctx->cmd->opts : NULL, *own = find_option(opts, name);
	const struct rd_opt *global = find_option(rd_global_opts, name);

	return own ? ctx->given >> (own - opts) & 1 : global && ctx->given_globals >> (global - rd_global_opts) & 1;
}

/* Options of commands that are also understood before the command. */
static const struct rd_opt early_opts[] = {
	{ .name = "interval", .letter = 'i', .arg = "SECONDS", RD_TEXT(rd_globals, early.interval) },
	{ .name = "count", .letter = 'c', .arg = "N", RD_TEXT(rd_globals, early.count) },
	{ .name = "live", .letter = 'w', RD_FLAG(rd_globals, early.live) },
	{ 0 },
};

/* One option as returned by getopt. */
static int take_one(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	bool global = find_option(rd_global_opts, opt->name) == opt;
	int r;

	if (find_option(early_opts, opt->name) == opt)
		return store_argument(&ctx->globals, opt, arg, err);

	if (arg && !*arg && opt->complete && strcmp(opt->complete, "file") == 0)
		return rd_opt_refuse(opt, err, "empty path");
	r = store_argument(global ? &ctx->globals : ctx->state, opt, arg, err);
	if (r < 0)
		return r;
	if (global)
		ctx->given_globals |= UINT64_C(1) << (opt - rd_global_opts);
	else
		ctx->given |= UINT64_C(1) << (opt - ctx->cmd->opts);
	rd_privileges_note(opt->needs, arg);
	return 0;
}

/* `other`: options that are recognised, and refused later; NULL: none. */
static void tables_init(struct opt_tables *tables, const struct rd_cmd *cmd, const struct rd_opt *other)
{
	/* '+': stop at the first operand. ':': distinguish a missing argument from an unknown option. */
	*tables = (struct opt_tables){ .shorts = ":" };
	if (!cmd || cmd->runs_command)
		strcpy(tables->shorts, "+:");
	tables_add(tables, cmd ? cmd->opts : NULL);
	tables_add(tables, other);
	tables_add(tables, rd_global_opts);
	if (!cmd)
		tables_add(tables, early_opts);
	optind = 0; /* glibc: start over with another argv */
	opterr = 0;
}

/*
 * Whether the command line has the option that selects the variant. Errors in other options are reported later. getopt moves
 * operands behind options, where a second pass could take them for arguments: so it gets a copy.
 */
static bool wants_variant(const struct rd_cmd *cmd, int argc, char *const *argv)
{
	_cleanup_free_ char **words = rd_alloc((size_t)argc + 1, sizeof(*words));
	struct opt_tables tables;
	bool wanted = false;
	int val;

	memcpy(words, argv, (size_t)argc * sizeof(*words));
	tables_init(&tables, cmd, cmd->variant->opts);
	while ((val = getopt_long(argc, words, tables.shorts, tables.longs, NULL)) != -1) {
		const struct rd_opt *opt = val == '?' ? NULL : tables_find(&tables, val);

		wanted |= opt && strcmp(opt->name, cmd->variant->option) == 0;
	}
	return wanted;
}

static int parse(struct rd_ctx *ctx, const struct rd_opt *other, int argc, char **argv, enum rd_parsed *ret,
		 struct rd_err *err)
{
	const struct rd_cmd *cmd = ctx->cmd;
	const struct rd_opt *refused = NULL;
	struct opt_tables tables;
	int val, r;

	tables_init(&tables, cmd, other);
	while (!ctx->globals.help && (val = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		const struct rd_opt *opt = tables_find(&tables, val == ':' ? optopt : val);

		if (val == '?' || !opt)
			return refuse_option(&tables, cmd, argv[optind - 1], err);
		if (val == ':')
			return rd_err_set(err, EINVAL, cmd ? cmd->name : NULL, "option '--%s' requires an argument: %s",
					  opt->name, opt->arg);
		if (other && find_option(other, opt->name) == opt) {
			refused = refused ?: opt;
			continue;
		}
		r = take_one(ctx, opt, optarg, err);
		if (r < 0)
			return r;
	}
	ctx->dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
	*ret = ctx->globals.help ? RD_PARSED_HELP : ctx->globals.version ? RD_PARSED_VERSION : RD_PARSED_RUN;
	/* --help works after a refused option, too. */
	if (refused && *ret == RD_PARSED_RUN) {
		/* An option that only the variant has, given without it, or only the plain command, given with the variant. */
		if (ctx->cmd->option)
			return rd_err_set(err, EINVAL, ctx->cmd->name, "--%s and --%s are mutually exclusive",
					  ctx->cmd->option, refused->name);
		return rd_err_set(err, EINVAL, ctx->cmd->name, "--%s requires --%s", refused->name,
				  ctx->cmd->variant->option);
	}
	return optind;
}

int rd_opts_parse(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err)
{
	return parse(ctx, NULL, argc, argv, ret, err);
}

/* The first name of the list at `*at` that was given; `*at` moves past it. NULL: none was given. Caller frees. */
static char *next_given(const struct rd_ctx *ctx, const char **at)
{
	char *name;

	while ((name = rd_next_part(at, ' ')) && !rd_opt_given(ctx, name))
		free(name);
	return name;
}

/* "--a, --b or --c" */
static void add_alternatives(const char *list, struct rd_buf *out)
{
	const char *at = list;

	while (at) {
		bool first = at == list;
		_cleanup_free_ char *name = rd_next_part(&at, ' ');

		rd_buf_printf(out, "%s--%s", first ? "" : at ? ", " : " or ", name);
	}
}

static bool violates_one_of(const struct rd_ctx *ctx, const struct rd_opt_rule *rule, struct rd_buf *out)
{
	const char *at = rule->opts;
	_cleanup_free_ char *first = next_given(ctx, &at), *second = next_given(ctx, &at);

	if (!second)
		return false;
	rd_buf_printf(out, "--%s and --%s are mutually exclusive", first, second);
	return true;
}

static bool violates_pair(const struct rd_ctx *ctx, const struct rd_opt_rule *rule, struct rd_buf *out)
{
	const char *at = rule->opts, *others = rule->with;
	_cleanup_free_ char *opt = next_given(ctx, &at), *other = next_given(ctx, &others);

	if (!opt || (rule->kind == RD_EXCLUDES) != (other != NULL))
		return false;
	rd_buf_printf(out, "--%s%s%s ", opt, rule->when ? " with --" : "", rule->when ?: "");
	if (rule->kind == RD_EXCLUDES) {
		rd_buf_printf(out, "and --%s are mutually exclusive", other);
	} else {
		rd_buf_str(out, "requires ");
		add_alternatives(rule->with, out);
	}
	return true;
}

/* Checks the given options against ctx->cmd->rules; -EINVAL with `err` filled. */
static int check_rules(const struct rd_ctx *ctx, struct rd_err *err)
{
	for (const struct rd_opt_rule *rule = ctx->cmd->rules; rule && rule->kind; rule++) {
		_cleanup_buf_ struct rd_buf text = { 0 };

		if (rule->when && !rd_opt_given(ctx, rule->when))
			continue;
		if (!(rule->kind == RD_ONE_OF ? violates_one_of : violates_pair)(ctx, rule, &text))
			continue;
		return rd_err_set(err, EINVAL, ctx->cmd->name, "%s%s%s", text.data, rule->why ? ": " : "",
				  rule->why ?: "");
	}
	return 0;
}

/* Rules for all commands. */
static int check_globals(const struct rd_ctx *ctx, struct rd_err *err)
{
	const struct rd_globals *globals = &ctx->globals;
	const char *metrics = globals->openmetrics ? "--openmetrics" : "--textfile";

	if (rd_metrics_wanted(ctx) && !ctx->cmd->metrics)
		return rd_err_set(err, EINVAL, metrics, "%s does not export metrics", ctx->cmd->name);
	if (globals->json && globals->openmetrics)
		return rd_err_set(err, EINVAL, ctx->cmd->name, "--openmetrics and --json are mutually exclusive");
	if (globals->from && ctx->cmd->live_only)
		return rd_err_set(err, EINVAL, "--from",
				  "%s requires the running kernel of this host, and cannot read a bundle",
				  ctx->cmd->name);
	return 0;
}

static int check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	int r = check_globals(ctx, err) ?: check_rules(ctx, err);

	if (!r && ctx->cmd->check)
		r = ctx->cmd->check(ctx, argc, argv, err);
	if (!r && argc > 0 && !ctx->cmd->operands)
		return rd_err_set(err, EINVAL, argv[0], "%s takes no operands", ctx->cmd->name);
	return r;
}

/* What stood before the command, as if it stood behind it. */
static int take_early(struct rd_ctx *ctx, struct rd_err *err)
{
	const char *const args[] = { ctx->globals.early.interval, ctx->globals.early.count,
				     ctx->globals.early.live ? "" : NULL };

	for (size_t i = 0; i < RD_ARRAY_SIZE(args); i++) {
		const struct rd_opt *own = args[i] ? find_option(ctx->cmd->opts, early_opts[i].name) : NULL;
		int r = own && !rd_opt_given(ctx, own->name) ? take_one(ctx, own, own->arg ? args[i] : NULL, err) : 0;

		if (args[i] && !own)
			return rd_err_set(err, EINVAL, ctx->cmd->name, "unknown option '--%s'", early_opts[i].name);
		if (r < 0)
			return r;
	}
	return 0;
}

int rd_opts_command(struct rd_ctx *ctx, int argc, char **argv, enum rd_parsed *ret, struct rd_err *err)
{
	const struct rd_cmd *cmd = ctx->cmd;
	const struct rd_opt *other = cmd->variant ? cmd->variant->opts : NULL;
	const struct rd_table_style *style = &ctx->globals.style;
	int first, r;

	if (cmd->variant && wants_variant(cmd, argc, argv)) {
		ctx->cmd = cmd->variant;
		other = cmd->opts;
	}
	ctx->state = rd_alloc(1, ctx->cmd->state_size + 1);
	first = parse(ctx, other, argc, argv, ret, err);
	if (first < 0 || *ret != RD_PARSED_RUN)
		return first;
	r = take_early(ctx, err);
	if (r < 0)
		return r;
	ctx->globals.rows_only = style->raw || style->no_headings ||
				 (style->columns && strcmp(style->columns, RD_ALL_COLUMNS) != 0);
	r = check(ctx, argc - first, argv + first, err);
	return r < 0 ? r : first;
}

size_t rd_opts_of(const struct rd_cmd *cmd, const struct rd_opt **ret)
{
	const struct rd_opt *variant = cmd->variant ? cmd->variant->opts : NULL;
	size_t n = 0;

	for (const struct rd_opt *opt = cmd->opts; opt && opt->name; opt++)
		ret[n++] = opt;
	for (const struct rd_opt *opt = variant; opt && opt->name; opt++)
		if (!find_option(cmd->opts, opt->name))
			ret[n++] = opt;
	return n;
}

const struct rd_opt *rd_opts_find(const struct rd_cmd *cmd, const char *word)
{
	const struct rd_opt *const lists[] = { cmd ? cmd->opts : NULL, cmd && cmd->variant ? cmd->variant->opts : NULL,
					       rd_global_opts };
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
