/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "cmd/opts.h"

#include <errno.h>
#include <string.h>

struct seen {
	char events[16], user[16];
	int sets;
};

static int take(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct seen *seen = ctx->state;

	seen->sets++;
	if (strcmp(opt->name, "events") == 0) {
		if (strcmp(arg, "0") == 0)
			return rd_err_set(err, EINVAL, "--events", "must be above 0");
		strcpy(seen->events, arg);
	} else if (strcmp(opt->name, "user") == 0) {
		strcpy(seen->user, arg);
	}
	return 0;
}

static const struct rd_opt opts[] = {
	{ "events", 0, "N", "stop after N events", NULL },
	{ "user", 'u', "USER", "run the command as USER", "user" },
	{ "list", 'n', NULL, "list; takes the letter of a global option", NULL },
	{ 0 },
};

static const struct rd_cmd runner = {
	.name = "runner", .opts = opts, .operands = "[-- COMMAND]", .runs_command = true, .option = take
};
static const struct rd_cmd lister = { .name = "lister", .opts = opts, .operands = "[FILE]", .option = take };

/* Parses words separated by blanks; returns what rd_opts_parse does, and the first operand. */
static int parse(struct rd_ctx *ctx, struct seen *seen, const struct rd_cmd *cmd, const char *line,
		 const char **operand, struct rd_err *err)
{
	static char text[256];
	static char *argv[32];
	enum rd_parsed parsed;
	int argc = 0, r;

	*ctx = (struct rd_ctx){ .cmd = cmd, .state = seen };
	*seen = (struct seen){ 0 };
	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	r = rd_opts_parse(ctx, argc, argv, &parsed, err);
	*operand = r >= 0 && r < argc ? argv[r] : NULL;
	return r;
}

static void options_of_the_traced_command_are_left_alone(void **state)
{
	const char *operand;
	struct rd_ctx ctx;
	struct seen seen;

	(void)state;
	assert_true(parse(&ctx, &seen, &runner, "runner --events 3 -- ls --json -u x", &operand, NULL) > 0);
	assert_string_equal(operand, "ls");
	assert_string_equal(seen.events, "3");
	assert_string_equal(seen.user, "");
	assert_false(ctx.globals.json);
	assert_true(parse(&ctx, &seen, &runner, "runner ls --json -u x", &operand, NULL) > 0);
	assert_string_equal(operand, "ls");
	assert_false(ctx.globals.json);
	assert_int_equal(seen.sets, 0);
}

static void options_may_stand_behind_the_operand(void **state)
{
	const char *operand;
	struct rd_ctx ctx;
	struct seen seen;

	(void)state;
	assert_true(parse(&ctx, &seen, &lister, "lister file --json --events=7 -uroot", &operand, NULL) > 0);
	assert_string_equal(operand, "file");
	assert_string_equal(seen.events, "7");
	assert_string_equal(seen.user, "root");
	assert_true(ctx.globals.json);
}

static int only_with_json(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	if (!ctx->globals.json)
		return rd_err_set(err, EINVAL, "--json", "is missing");
	return argc == 1 && strcmp(argv[0], "file") == 0 ? 0 : rd_err_set(err, EINVAL, "operand", "is missing");
}

static void what_does_not_go_together_is_refused(void **state)
{
	static const struct rd_cmd picky = { .name = "picky", .operands = "FILE", .check = only_with_json };
	static const struct rd_cmd plain = { .name = "plain" }, live = { .name = "live", .live_only = true };
	static const struct {
		const struct rd_cmd *cmd;
		char *argv[5];
		const char *object; /* NULL: it is taken */
	} lines[] = {
		{ &picky, { "picky", "--json", "file" }, NULL },
		{ &picky, { "picky", "file" }, "--json" },
		{ &picky, { "picky", "--json" }, "operand" },
		{ &picky, { "picky", "--help" }, NULL },
		{ &plain, { "plain" }, NULL },
		{ &plain, { "plain", "file" }, "file" },
		{ &plain, { "plain", "--openmetrics" }, "--openmetrics" },
		{ &live, { "live", "--from", "x" }, "--from" },
	};

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(lines); i++) {
		struct rd_ctx ctx = { .cmd = lines[i].cmd };
		struct rd_err err = { 0 };
		enum rd_parsed parsed;
		char *argv[5];
		int argc = 0, r;

		memcpy(argv, lines[i].argv, sizeof(argv));
		while (argv[argc])
			argc++;
		r = rd_opts_command(&ctx, argc, argv, &parsed, &err);
		assert_string_equal(err.object, lines[i].object ? lines[i].object : "");
		assert_true(lines[i].object ? r == -EINVAL : r > 0);
	}
}

static void a_command_may_have_a_letter_of_its_own(void **state)
{
	const char *operand;
	struct rd_ctx ctx;
	struct seen seen;

	(void)state;
	assert_true(parse(&ctx, &seen, &lister, "lister -n", &operand, NULL) > 0);
	assert_int_equal(seen.sets, 1);
	assert_false(ctx.globals.style.no_headings);
	assert_true(parse(&ctx, &seen, NULL, "rdmadiag -n lister", &operand, NULL) > 0);
	assert_true(ctx.globals.style.no_headings);
	assert_string_equal(operand, "lister");
}

static void assert_refused(const char *line, const char *object, const char *hint)
{
	const char *operand;
	struct rd_err err = { 0 };
	struct rd_ctx ctx;
	struct seen seen;

	assert_int_equal(parse(&ctx, &seen, &lister, line, &operand, &err), -EINVAL);
	assert_string_equal(err.object, object);
	assert_string_equal(err.hint, hint);
	assert_true(err.message[0]);
}

static void a_mistyped_option_is_answered_with_the_nearest(void **state)
{
	(void)state;
	assert_refused("lister --evnets 3", "--evnets", "--events");
	assert_refused("lister --jsno", "--jsno", "--json");
	assert_refused("lister --zzzzzz=1", "--zzzzzz=1", "");
	assert_refused("lister -x", "-x", "");
	assert_refused("lister -vx", "-x", "");
	assert_refused("lister --json=yes", "--json=yes", "");
	assert_refused("lister --events", "--events", "");
	assert_refused("lister -u", "--user", "");
	assert_refused("lister --events 0", "--events", "");
	assert_refused("lister --color sometimes", "--color", "--color auto");
}

static void help_fits_a_terminal_of_80_columns(void **state)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	(void)state;
	rd_help_add(NULL, &out);
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++)
		rd_help_add(*cmd, &out);
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

static void every_option_has_help_and_a_name_of_its_own(void **state)
{
	(void)state;
	for (const struct rd_cmd *const *cmd = rd_commands; *cmd; cmd++) {
		assert_non_null((*cmd)->summary);
		assert_non_null((*cmd)->description);
		for (const struct rd_opt *opt = (*cmd)->opts; opt && opt->name; opt++) {
			assert_true(opt->help && *opt->help);
			assert_true(opt->help[strlen(opt->help) - 1] != '.');
			for (const struct rd_opt *other = opt + 1; other->name; other++) {
				assert_string_not_equal(opt->name, other->name);
				assert_true(!opt->letter || opt->letter != other->letter);
			}
			for (const struct rd_opt *global = rd_global_opts; global->name; global++)
				assert_string_not_equal(opt->name, global->name);
		}
	}
}

static void names_one_slip_apart_are_near(void **state)
{
	(void)state;
	assert_int_equal(rd_name_distance("json", "json"), 0);
	assert_int_equal(rd_name_distance("json", "jsno"), 1);
	assert_int_equal(rd_name_distance("json", "jso"), 1);
	assert_int_equal(rd_name_distance("", "json"), 4);
	assert_true(rd_name_distance("json", "this-name-is-longer-than-any-option-could-ever-be") == SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(options_of_the_traced_command_are_left_alone),   TEST(options_may_stand_behind_the_operand),
		TEST(what_does_not_go_together_is_refused),	      TEST(a_command_may_have_a_letter_of_its_own),
		TEST(a_mistyped_option_is_answered_with_the_nearest), TEST(help_fits_a_terminal_of_80_columns),
		TEST(every_option_has_help_and_a_name_of_its_own),    TEST(names_one_slip_apart_are_near),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
