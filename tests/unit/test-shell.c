/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the shell, numbered findings. */
#include "unit.h"

#include "cmd/shell/shell.h"
#include "render/render.h"

/* "word|word" of a line; "!" and the message if it is refused. */
static char *parsed(const char *text)
{
	struct rd_buf out = { 0 };
	struct shell_line line;
	struct rd_err err = { 0 };

	rd_buf_str(&out, "");
	if (shell_line_parse(text, &line, &err) < 0) {
		rd_buf_printf(&out, "!%s: %s", err.object, err.message);
		return out.data;
	}
	for (size_t i = 0; i < line.n; i++)
		rd_buf_printf(&out, "%s%s", i ? "|" : "", line.words[i]);
	if (line.n > 0)
		assert_null(line.words[line.n]);
	if (line.program)
		rd_buf_printf(&out, " to {%s}", line.program);
	if (line.file)
		rd_buf_printf(&out, " %s %s", line.append ? "append" : "file", line.file);
	shell_line_deinit(&line);
	return out.data;
}

TEST(a_line_is_words_and_where_the_output_goes)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "  # nothing", "" },
		{ "topo-check", "topo-check" },
		{ "\tqp-state  --state ERR\r", "qp-state|--state|ERR" },
		{ "a 'b c' \"d 'e\" f\\ g # h", "a|b c|d 'e|f g" },
		{ "a ''", "a|" },
		{ "a b#c", "a|b#c" },
		{ "a \"x\\\"y\" '\\'", "a|x\"y|\\" },
		{ "a '|' \">\" \\>", "a|||>|>" },
		{ "a|grep 'x y' | wc -l >f # b", "a to {grep 'x y' | wc -l >f # b}" },
		{ "a >> 'my file'", "a append my file" },
		{ "a 'b", "!quote: it is not closed" },
		{ "| wc", "!|: there is no command before it" },
		{ "> f", "!>: there is no command before it" },
		{ "a | ", "!|: a command of sh is expected" },
		{ "a > ", "!>: a file is expected" },
		{ "a > f > g", "!>: two files are given for the output" },
		{ "a > f | wc", "!|: the output goes to a file already" },
		{ "a > f b", "!b: unexpected word after a file" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *found = parsed(cases[i].text);

		assert_string_equal(found, cases[i].expected);
	}
}

static void typed(const char *text, const char *expected, bool command)
{
	_cleanup_(rd_buf_deinit) struct rd_buf out = { 0 };
	_cleanup_(shell_line_deinit) struct shell_line line;
	bool found;

	shell_line_typed(text, &line, &found);
	rd_buf_str(&out, "");
	for (size_t i = 0; i < line.n; i++)
		rd_buf_printf(&out, "%s%s", i ? "|" : "", line.words[i]);
	ASSERT_EACH(READS(out.data, expected), IS(found, command));
}

TEST(the_word_at_the_cursor_is_the_last_one)
{
	typed("", "", true);
	typed("qp", "qp", true);
	typed("qp-state ", "qp-state|", true);
	typed("qp-state --st", "qp-state|--st", true);
	typed("use 'my fi", "use|my fi", true);
	typed("use 'my ", "use|my ", true);
	typed("qp-state | inc", "qp-state|inc", false);
	typed("qp-state > ", "qp-state|", false);
	typed("qp-state # x", "qp-state", false);
}

static struct shell_findings known;

static void take(unsigned number, const char *text, const char *fix)
{
	uint32_t head[] = { number, (uint32_t)strlen(text), (uint32_t)strlen(fix) };
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_add(&out, head, sizeof(head));
	rd_buf_str(&out, text);
	rd_buf_str(&out, fix);
	for (size_t i = 0; i < out.len; i++)
		shell_findings_take(&known, out.data + i, 1);
}

TEST(findings_are_known_by_number_until_the_next_report)
{
	assert_null(shell_findings_get(&known, 1));
	take(1, "critical: a\n", "do a\n");
	take(2, "warning: b\n", "");
	assert_string_equal(shell_findings_get(&known, 1)->fix, "do a\n");
	assert_string_equal(shell_findings_get(&known, 2)->text, "warning: b\n");
	assert_null(shell_findings_get(&known, 3));
	take(1, "critical: c\n", "do c\n");
	assert_string_equal(shell_findings_get(&known, 1)->text, "critical: c\n");
	assert_null(shell_findings_get(&known, 2));
	/* A command that sends nonsense takes neither memory nor the rest. */
	take(2, "d\n", "");
	for (int i = 0; i < 40; i++) {
		char junk[65536];

		memset(junk, 0xff, sizeof(junk));
		shell_findings_take(&known, junk, sizeof(junk));
	}
	ASSERT_EACH(IS(known.n, 2), IS(known.pending.len <= SHELL_FINDINGS_BYTES, true));
	shell_findings_deinit(&known);
}

static struct rd_buf numbered;

static void note_number(unsigned number, const char *text, const char *fix)
{
	rd_buf_printf(&numbered, "%u{%s}{%s}", number, text, fix);
}

TEST(findings_alike_have_one_number_and_all_fixes)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	const struct rd_finding_style style = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (int i = 0; i < 3; i++) {
		struct rd_finding finding = { .id = "r",
					      .severity = RD_SEV_WARNING,
					      .title = "bad",
					      .why = "so",
					      .subject = strdup(i ? "b" : "a"),
					      .fix = strdup(i ? "do b\n# then wait" : "do a\n# then wait") };

		rd_finding_add(&findings, &finding);
	}
	rd_render_number_findings(note_number);
	rd_render_findings(&findings, &style, &out);
	assert_non_null(strstr(out.data, "[1] warning: a and 2 more: bad [r]\n"));
	assert_non_null(strstr(numbered.data, "  why: so\n}{for i in a b; do do $i; done\n# then wait\n}"));
	rd_render_findings(&findings, &style, &out);
	assert_non_null(strstr(out.data, "[2] warning: a"));
	rd_render_restart_numbers();
	out.len = 0;
	rd_render_findings(&findings, &style, &out);
	assert_non_null(strstr(out.data, "[1] warning: a"));
	rd_render_number_findings(NULL);
	rd_buf_deinit(&numbered);
}
