/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "render/render.h"

static void add(struct rd_findings *findings, const char *id, enum rd_severity severity, const char *observed)
{
	struct rd_finding finding = { .id = id,
				      .severity = severity,
				      .title = "Fault",
				      .subject = rd_dup("mlx5_0/1"),
				      .observed = rd_dup(observed) };

	rd_finding_add(findings, &finding);
}

static void assert_page(const struct rd_report *report, struct rd_finding_style style, const char *expected)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_render_headline(report, &out);
	rd_render_results(report, &style, &out);
	rd_render_notes(report, &out);
	assert_string_equal(out.data ? out.data : "", expected);
}

static void make_results(struct rd_findings *results)
{
	add(results, "slow", RD_SEV_WARNING, "a|b");
	add(results, "first", RD_SEV_UNKNOWN, "not root");
	add(results, "other", RD_SEV_UNKNOWN, "no file");
	add(results, "second", RD_SEV_UNKNOWN, "not root");
	add(results, "remark", RD_SEV_NOTE, "old");
	add(results, "good", RD_SEV_OK, "full width");
	add(results, "none", RD_SEV_SKIP, "no switch");
}

TEST(unknown_rules_are_one_line)
{
	_cleanup_(rd_findings_deinit) struct rd_findings results = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { .headline = rd_dup("3 results"), .results = &results };

	make_results(&results);
	assert_page(&report, (struct rd_finding_style){ .gaps = true },
		    "3 results\n"
		    "\nwarning: mlx5_0/1: Fault; a|b [slow]\n"
		    "\nnote: mlx5_0/1: Fault; old [remark]\n"
		    "\nunknown: 3 rules, for 2 reasons, most often: not root; -v lists them\n");
}

TEST(what_passed_is_shown_only_when_asked)
{
	_cleanup_(rd_findings_deinit) struct rd_findings results = { 0 };
	struct rd_report report = { .results = &results };

	add(&results, "good", RD_SEV_OK, "full width");
	add(&results, "none", RD_SEV_SKIP, "no switch");
	assert_page(&report, (struct rd_finding_style){ 0 }, "");
	assert_page(&report, (struct rd_finding_style){ .verbose = true },
		    "\npass: good: mlx5_0/1\nskip: none: no switch\n");
	assert_page(&report, (struct rd_finding_style){ .verbose = true, .least = RD_SEV_WARNING }, "");
}

TEST(less_severe_results_are_left_out)
{
	_cleanup_(rd_findings_deinit) struct rd_findings results = { 0 };
	struct rd_report report = { .results = &results };

	make_results(&results);
	assert_page(&report, (struct rd_finding_style){ .least = RD_SEV_WARNING },
		    "warning: mlx5_0/1: Fault; a|b [slow]\n");
	assert_page(&report, (struct rd_finding_style){ .least = RD_SEV_CRITICAL }, "");
}

/* In plugin output the first bar of any line starts performance data. */
TEST(no_bar_follows_performance_data)
{
	_cleanup_(rd_findings_deinit) struct rd_findings results = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { .headline = rd_dup("RDMA WARNING - x"),
								.perfdata = rd_dup("failed=0"),
								.results = &results };

	add(&results, "slow", RD_SEV_WARNING, "a|b");
	assert_page(&report, (struct rd_finding_style){ 0 },
		    "RDMA WARNING - x | failed=0\nwarning: mlx5_0/1: Fault; a/b [slow]\n");
}

TEST(a_hostile_name_cannot_break_a_line)
{
	_cleanup_(rd_report_deinit) struct rd_report report = { .headline = rd_dup("of a\nb") };

	rd_report_note(&report, "nccl: %s", "\033[2J");
	rd_report_note(&report, "%d more rows", 2);
	assert_page(&report, (struct rd_finding_style){ 0 }, "of a\\x0ab\n\nnccl: \\x1b[2J\n2 more rows\n");
}
