/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "cmd/opts.h"

struct seen {
	const char *user, *colour, *events;
	bool list;
	double seconds;
	unsigned long count;
	uint8_t narrow;
	uint32_t wide;
	RD_FIELD(uint8_t) field;
};

static int take_events(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct seen *seen = state;

	if (strcmp(arg, "0") == 0)
		return rd_opt_refuse(opt, err, "must be above %d", 0);
	seen->events = arg;
	return 0;
}

static const struct rd_opt opts[] = {
	{ "events", 0, "N", "stop after N events", RD_TAKES(take_events) },
	{ "user", 'u', "USER", "run the command as USER", "user", RD_TEXT(seen, user) },
	{ "list", 'n', NULL, "list; takes the letter of a global option", RD_FLAG(seen, list) },
	{ "nothing", 0, NULL, "that it is there is all" },
	{ "paint", 0, "COLOUR", "which", "red|dark-green|blue", RD_WORD(seen, colour) },
	{ "wait", 0, "SECONDS", "for so long", RD_SECONDS(seen, seconds, 0.1, 86400) },
	{ "nap", 0, "SECONDS", "for so long", RD_SECONDS(seen, seconds, RD_ABOVE_0, 10) },
	{ "times", 'c', "N", "so often", RD_NUMBER(seen, count, 1, RD_COUNT_MAX) },
	{ "narrow", 0, "N", "a byte", RD_NUMBER(seen, narrow, 0, 255) },
	{ "wide", 0, "N", "four bytes", RD_NUMBER(seen, wide, 0, UINT32_MAX) },
	{ "field", 0, "N", "a field", RD_NUMBER_FIELD(seen, field, 0, 7) },
	{ "input", 0, "FILE", "a file", "file", RD_TEXT(seen, user) },
	{ 0 },
};

static const struct rd_cmd runner = { .name = "runner", .opts = opts, .operands = "[-- COMMAND]", .runs_command = true };
static const struct rd_cmd lister = { .name = "lister", .opts = opts, .operands = "[FILE]" };

/* A command line of words separated by blanks, parsed: the options, and the first operand. */
struct line {
	struct rd_ctx ctx;
	struct seen seen;
	const char *operand;
	struct rd_err err;
};

static int parse(struct line *l, const struct rd_cmd *cmd, const char *line)
{
	static char text[256];
	static char *argv[32];
	enum rd_parsed parsed;
	int argc = 0, r;

	*l = (struct line){ .ctx = { .cmd = cmd, .state = &l->seen } };
	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	r = rd_opts_parse(&l->ctx, argc, argv, &parsed, &l->err);
	l->operand = r >= 0 && r < argc ? argv[r] : NULL;
	return r;
}

TEST(options_of_the_traced_command_are_left_alone)
{
	struct line l;

	assert_true(parse(&l, &runner, "runner --events 3 -- ls --json -u x") > 0);
	ASSERT_EACH(READS(l.operand, "ls"), READS(l.seen.events, "3"), IS(l.seen.user == NULL, true),
		    IS(l.ctx.globals.json, false));
	assert_true(parse(&l, &runner, "runner ls --json -u x") > 0);
	ASSERT_EACH(READS(l.operand, "ls"), IS(l.ctx.globals.json, false), IS(l.seen.events == NULL, true));
}

TEST(options_may_stand_behind_the_operand)
{
	struct line l;

	assert_true(parse(&l, &lister, "lister file --json --events=7 -uroot") > 0);
	ASSERT_EACH(READS(l.operand, "file"), READS(l.seen.events, "7"), READS(l.seen.user, "root"));
	assert_true(l.ctx.globals.json);
}

TEST(each_kind_sets_its_member)
{
	struct line l;

	assert_true(parse(&l, &lister,
			  "lister --paint dark-green --wait .5 --times 12 --field 5 --wide 4000000000 --narrow 200 x") >
		    0);
	ASSERT_EACH(READS(l.seen.colour, "dark-green"), IS(l.seen.seconds == 0.5, true), IS(l.seen.count, 12),
		    IS(l.seen.narrow, 200), IS(l.seen.wide, 4000000000), IS(l.seen.field.v, 5),
		    IS(l.seen.field.known, RD_OK));
	assert_true(parse(&l, &lister, "lister --list") > 0);
	assert_int_equal(l.seen.field.known, RD_ABSENT);
	assert_true(parse(&l, &lister, "lister --field 0 --nap 0.001 --user= --list") > 0);
	ASSERT_EACH(IS(l.seen.seconds == 0.001, true), IS(l.seen.field.v, 0), IS(l.seen.field.known, RD_OK),
		    READS(l.seen.user, ""), IS(l.seen.list, true));
}

TEST(what_was_given_is_known)
{
	struct line l;

	assert_true(parse(&l, &lister, "lister --nothing -v --user=x") > 0);
	ASSERT_EACH(IS(rd_opt_given(&l.ctx, "nothing"), true), IS(rd_opt_given(&l.ctx, "verbose"), true),
		    IS(rd_opt_given(&l.ctx, "user"), true), IS(rd_opt_given(&l.ctx, "events"), false),
		    IS(rd_opt_given(&l.ctx, "json"), false), IS(rd_opt_given(&l.ctx, "no-such-option"), false));
}

/* What a command line is refused with; "": it is taken. */
static void assert_told(const struct rd_cmd *cmd, const char *line, const char *object, const char *message)
{
	struct rd_ctx ctx = { .cmd = cmd };
	struct rd_err err = { 0 };
	enum rd_parsed parsed;
	char text[128], *argv[16] = { NULL };
	int argc = 0, r;

	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	r = rd_opts_command(&ctx, argc, argv, &parsed, &err);
	free(ctx.state);
	ASSERT_EACH(READS(err.message, message), READS(err.object, object));
	assert_true(*message ? r == -EINVAL : r > 0);
}

static int only_with_json(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	if (!ctx->globals.json)
		return rd_err_set(err, EINVAL, "--json", "is missing");
	return argc == 1 && strcmp(argv[0], "file") == 0 ? 0 : rd_err_set(err, EINVAL, "operand", "is missing");
}

TEST(what_does_not_go_together_is_refused)
{
	static const struct rd_cmd picky = { .name = "picky", .operands = "FILE", .check = only_with_json };
	static const struct rd_cmd plain = { .name = "plain" }, live = { .name = "live", .live_only = true };
	assert_told(&picky, "picky --json file", "", "");
	assert_told(&picky, "picky file", "--json", "is missing");
	assert_told(&picky, "picky --json", "operand", "is missing");
	assert_told(&picky, "picky --help", "", "");
	assert_told(&plain, "plain", "", "");
	assert_told(&plain, "plain file", "file", "plain takes no operands");
	assert_told(&plain, "plain --openmetrics", "--openmetrics", "plain does not export metrics");
	assert_told(&live, "live --from x", "--from",
		    "live requires the running kernel of this host, and cannot read a bundle");
}

TEST(a_command_may_have_a_letter_of_its_own)
{
	struct line l;

	assert_true(parse(&l, &lister, "lister -n") > 0);
	ASSERT_EACH(IS(l.seen.list, true), IS(l.ctx.globals.style.no_headings, false));
	assert_true(parse(&l, NULL, "rdmadiag -n lister") > 0);
	ASSERT_EACH(IS(l.ctx.globals.style.no_headings, true), READS(l.operand, "lister"));
}

static void assert_refused(const char *line, const char *message, const char *hint)
{
	struct line l;

	assert_int_equal(parse(&l, &lister, line), -EINVAL);
	ASSERT_EACH(READS(l.err.message, message), READS(l.err.hint, hint));
}

TEST(a_mistyped_option_is_answered_with_the_nearest)
{
	assert_refused("lister --evnets 3", "unknown option '--evnets'", "--events");
	assert_refused("lister --jsno", "unknown option '--jsno'", "--json");
	assert_refused("lister --zzzzzz=1", "unknown option '--zzzzzz=1'", "");
	assert_refused("lister -x", "unknown option '-x'", "");
	assert_refused("lister -vx", "unknown option '-x'", "");
	assert_refused("lister --json=yes", "option '--json' takes no argument", "");
	assert_refused("lister --events", "option '--events' requires an argument: N", "");
	assert_refused("lister -u", "option '--user' requires an argument: USER", "");
	assert_refused("lister --events 0", "must be above 0", "");
	assert_refused("lister --color sometimes", "invalid color 'sometimes': expected auto, always or never", "");
}

TEST(arguments_beyond_their_bounds_are_refused)
{
	static const char *const lines[] = {
		"--wait=",	"--wait=x",
		"--wait=1x",	"--wait=0",
		"--wait=-1",	"--wait=0.05",
		"--wait=nan",	"--wait=inf",
		"--wait=86401", "--nap=0",
		"--nap=10.1",	"--times=0",
		"--times=-1",	"--times=1073741825",
		"--times=0x1",	"--times=99999999999999999999",
		"--narrow=256", "--wide=4294967296",
		"--field=8",	"--paint=dark",
		"--paint=",	"--paint=red|blue",
		"--input=",
	};
	struct line l;

	for (size_t i = 0; i < RD_ARRAY_SIZE(lines); i++) {
		char line[64], option[16];

		snprintf(line, sizeof(line), "lister %s", lines[i]);
		snprintf(option, sizeof(option), "%.*s", (int)strcspn(lines[i], "="), lines[i]);
		assert_int_equal(parse(&l, &lister, line), -EINVAL);
		assert_non_null(strstr(*l.err.object ? l.err.object : l.err.message, option + 2));
		assert_false(rd_opt_given(&l.ctx, option + 2));
	}
	assert_true(parse(&l, &lister, "lister --wait 0.1 --times 1073741824 --field 7") > 0);
	assert_true(parse(&l, &lister, "lister --wait 86400 --nap 10 --narrow 0") > 0);
}

TEST(rules_say_what_does_not_go_together)
{
	static const struct rd_opt_rule rules[] = {
		{ RD_ONE_OF, "list nothing wait" },
		{ RD_EXCLUDES, "user", "json times", "one is enough" },
		{ RD_REQUIRES, "narrow", "wide field" },
		{ RD_REQUIRES, "events", "user", NULL, "list" },
		{ 0 },
	};
	static const struct rd_cmd ruled = {
		.name = "ruled", .opts = opts, .rules = rules, .state_size = sizeof(struct seen)
	};

	assert_told(&ruled, "ruled", "", "");
	assert_told(&ruled, "ruled --wait 1", "", "");
	assert_told(&ruled, "ruled --wait 1 -n", "ruled", "--list and --wait are mutually exclusive");
	assert_told(&ruled, "ruled --user x --times 3", "ruled",
		    "--user and --times are mutually exclusive: one is enough");
	assert_told(&ruled, "ruled --user x --json", "ruled", "--user and --json are mutually exclusive: one is enough");
	assert_told(&ruled, "ruled --json --times 3", "", "");
	assert_told(&ruled, "ruled --narrow 1", "ruled", "--narrow requires --wide or --field");
	assert_told(&ruled, "ruled --narrow 1 --field 1", "", "");
	assert_told(&ruled, "ruled --events 1", "", "");
	assert_told(&ruled, "ruled --events 1 --list", "ruled", "--events with --list requires --user");
	assert_told(&ruled, "ruled --events 1 --list --user x", "", "");
}

TEST(an_option_may_stand_for_another_table)
{
	static const struct rd_opt others[] = {
		{ "nothing", 0, NULL, "makes it this command" },
		{ "deep", 0, NULL, "of this one only" },
		{ "times", 'c', "N", "of both", RD_NUMBER(seen, wide, 1, 3) },
		{ 0 },
	};
	static const struct rd_cmd variant = {
		.name = "two", .option = "nothing", .opts = others, .state_size = sizeof(struct seen)
	};
	static const struct rd_cmd two = {
		.name = "two", .opts = opts, .variant = &variant, .state_size = sizeof(struct seen)
	};
	const struct rd_opt *all[2 * RD_OPTS_MAX];

	assert_told(&two, "two --times 5", "", "");
	assert_told(&two, "two --times 3 --nothing", "", "");
	assert_told(&two, "two --times 5 --noth", "", "invalid times '5': expected 1 to 3");
	assert_told(&two, "two --user --nothing --times 5", "", "");
	assert_told(&two, "two --nothing -c 3 --deep", "", "");
	/* What the option is looked for in stays as it was. */
	assert_told(&two, "two name --times", "two", "option '--times' requires an argument: N");
	assert_told(&two, "two --deep", "two", "--deep requires --nothing");
	assert_told(&two, "two --deep --narrow 300", "", "invalid narrow '300': expected 0 to 255");
	assert_told(&two, "two --deep --help", "", "");
	assert_told(&two, "two --user x --nothing -h", "", "");
	assert_told(&two, "two --user x --nothing", "two", "--nothing and --user are mutually exclusive");
	assert_int_equal(rd_opts_of(&two, all), RD_ARRAY_SIZE(opts) - 1 + 1);
	assert_ptr_equal(rd_opts_find(&two, "--deep"), &others[1]);
}

TEST(help_fits_a_terminal_of_80_columns)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_help_add(NULL, false, &out);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		rd_help_add(*cmd, true, &out);
	assert_false(out.failed);
	for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n")) {
		size_t columns = 0;

		for (const char *p = line; *p; p++)
			columns += ((uint8_t)*p & 0xc0) != 0x80;
		if (columns > 80)
			print_message("%zu: %s\n", columns, line);
		assert_true(columns <= 80);
	}
}

static void check_table(const struct rd_cmd *cmd)
{
	size_t n = 0;

	for (const struct rd_opt *opt = cmd->opts; opt && opt->name; opt++, n++) {
		assert_true(opt->help && *opt->help);
		assert_true(opt->help[strlen(opt->help) - 1] != '.');
		assert_true(!opt->arg == (opt->kind == RD_OPT_FLAG || opt->kind == RD_OPT_GIVEN));
		for (const struct rd_opt *other = opt + 1; other->name; other++) {
			assert_string_not_equal(opt->name, other->name);
			assert_true(!opt->letter || opt->letter != other->letter);
		}
		for (const struct rd_opt *global = rd_global_opts; global->name; global++)
			assert_string_not_equal(opt->name, global->name);
	}
	assert_true(n < RD_OPTS_MAX);
}

/* Whether an option takes an argument must be known before it is known which of the two tables counts. */
static void check_variant(const struct rd_cmd *cmd)
{
	for (const struct rd_opt *opt = cmd->variant->opts; opt->name; opt++)
		for (const struct rd_opt *same = cmd->opts; same->name; same++) {
			bool is_same = strcmp(opt->name, same->name) == 0;

			assert_true(!opt->letter || (opt->letter == same->letter) == is_same);
			assert_true(!is_same || (!opt->arg == !same->arg && opt->letter == same->letter));
		}
}

TEST(every_option_has_help_and_a_name_of_its_own)
{
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		ASSERT_EACH(IS((*cmd)->summary != NULL, true), IS((*cmd)->description != NULL, true));
		check_table(*cmd);
		if ((*cmd)->variant) {
			check_table((*cmd)->variant);
			check_variant(*cmd);
		}
	}
}

static void check_names(const struct rd_cmd *cmd, const char *list)
{
	for (; list && *list; list += strspn(list, " ")) {
		char word[64];
		size_t size = strcspn(list, " ");

		snprintf(word, sizeof(word), "--%.*s", (int)size, list);
		if (!rd_opts_find(cmd, word))
			print_message("%s: %s\n", cmd->name, word);
		assert_non_null(rd_opts_find(cmd, word));
		list += size;
	}
}

TEST(every_rule_names_options_that_there_are)
{
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		for (const struct rd_cmd *one = *cmd; one; one = one->variant)
			for (const struct rd_opt_rule *rule = one->rules; rule && rule->kind; rule++) {
				check_names(one, rule->opts);
				check_names(one, rule->with);
				check_names(one, rule->when);
				assert_true(!rule->with == (rule->kind == RD_ONE_OF));
			}
}

TEST(a_command_without_texts_has_help)
{
	static const struct rd_opt bare_opts[] = { { "silent", 0, NULL, NULL }, { 0 } };
	static const struct rd_cmd bare = { .name = "bare", .opts = bare_opts };
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_help_add(&bare, false, &out);
	ASSERT_HAS(out.data, "Usage: rdmadiag bare [OPTIONS]\n", "--silent");
}

static void assert_chosen(const char *name, const char *command, const char *message)
{
	const struct rd_cmd *cmd;
	struct rd_err err = { 0 };

	assert_int_equal(rd_cmd_choose(name, &cmd, &err), command ? 0 : -EINVAL);
	ASSERT_EACH(READS(cmd ? cmd->name : "", command ? command : ""), READS(err.message, message));
}

TEST(a_command_may_be_shortened)
{
	assert_chosen("qp-state", "qp-state", "");
	assert_chosen("qp", "qp-state", "");
	assert_chosen("check", "check", "");
	assert_chosen("com", NULL, "unknown command 'com'");
	assert_chosen("complete", "complete", "");
	assert_chosen("c", NULL, "ambiguous command 'c': check, counters, capture");
	assert_chosen("t", NULL, "ambiguous command 't': trace-errno, topo-check");
	assert_chosen("", NULL, "unknown command ''");
	assert_chosen("checks", NULL, "unknown command 'checks'");
}

TEST(names_one_slip_apart_are_near)
{
	ASSERT_EACH(IS(rd_name_distance("json", "json"), 0), IS(rd_name_distance("json", "jsno"), 1),
		    IS(rd_name_distance("json", "jso"), 1), IS(rd_name_distance("", "json"), 4));
	assert_true(rd_name_distance("json", "this-name-is-longer-than-any-option-could-ever-be") == SIZE_MAX);
}
