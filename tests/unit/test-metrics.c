/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "render/render.h"

static char *page(const struct rd_report *report, enum rd_metrics_format format)
{
	struct rd_buf out = { 0 };

	rd_render_metrics(report, "counters", "1.0", format, &out);
	return out.data;
}

static void assert_has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in:\n%s", line, text);
}

static void fill(struct rd_report *report)
{
	const struct rd_label labels[] = { { "device", "mlx5_0" }, { "port", "1" }, { "netdev", NULL } };
	struct rd_metrics *m = &report->metrics;
	struct rd_metric *family;

	rd_report_init(report, "rdmadiag/counters/1");
	family = rd_metrics_family(m, "port_xmit_data", RD_METRIC_COUNTER, "bytes", "Sent, \"all\" of \\it.\n");
	rd_metric_uint(family, UINT64_MAX, labels, 3);
	family = rd_metrics_family(m, "share", RD_METRIC_GAUGE, "ratio", "Share.");
	rd_metric_double(family, 0.1, labels, 2);
	rd_metric_double(family, 0.0 / 0.0, NULL, 0);
}

TEST(a_counter_is_named_as_each_format_wants_it)
{
	_cleanup_free_ char *om = NULL, *text = NULL;
	_cleanup_(rd_report_deinit) struct rd_report report;

	fill(&report);
	om = page(&report, RD_OPENMETRICS);
	text = page(&report, RD_PROMETHEUS_TEXT);
	assert_has(om, "# HELP rdmadiag_port_xmit_data_bytes Sent, \\\"all\\\" of \\\\it.\\\\x0a\n"
		       "# TYPE rdmadiag_port_xmit_data_bytes counter\n"
		       "# UNIT rdmadiag_port_xmit_data_bytes bytes\n"
		       "rdmadiag_port_xmit_data_bytes_total{device=\"mlx5_0\",port=\"1\"} 18446744073709551615\n");
	assert_has(text, "# HELP rdmadiag_port_xmit_data_bytes_total Sent, \"all\" of \\\\it.\\\\x0a\n"
			 "# TYPE rdmadiag_port_xmit_data_bytes_total counter\n"
			 "rdmadiag_port_xmit_data_bytes_total{device=\"mlx5_0\",port=\"1\"} 18446744073709551615\n");
	assert_has(om, "rdmadiag_share_ratio{device=\"mlx5_0\",port=\"1\"} 0.1\n");
	ASSERT_EACH(LACKS(text, "UNIT"), LACKS(text, "EOF"), LACKS(om, "nan"),
		    READS(om + strlen(om) - strlen("# EOF\n"), "# EOF\n"));
}

TEST(names_of_drivers_become_names_of_metrics)
{
	static const struct {
		const char *name, *unit, *expected;
	} cases[] = {
		{ "cnpHandled", NULL, "rdmadiag_cnp_handled" },
		{ "Nak Sequence Error", NULL, "rdmadiag_nak_sequence_error" },
		{ "RxECNMrkd", NULL, "rdmadiag_rx_ecnmrkd" },
		{ "tx_prio0_pause", NULL, "rdmadiag_tx_prio0_pause" },
		{ "rx_bytes", "bytes", "rdmadiag_rx_bytes" },
		{ "rx-total", NULL, "rdmadiag_rx" },
		{ "port_xmit_data", "bytes", "rdmadiag_port_xmit_data_bytes" },
		{ "\033[31m \xff", NULL, "rdmadiag_31m" },
		{ "", NULL, "rdmadiag" },
	};
	_cleanup_(rd_metrics_deinit) struct rd_metrics metrics = { 0 };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const struct rd_metric *m =
			rd_metrics_family(&metrics, cases[i].name, RD_METRIC_COUNTER, cases[i].unit, NULL);

		assert_non_null(m);
		assert_string_equal(m->name, cases[i].expected);
	}
}

TEST(a_hostile_label_stays_a_label)
{
	const struct rd_label labels[] = { { "counter", "a\"} 1\nevil\\ \xff\033[2J" } };
	_cleanup_free_ char *text = NULL;
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "x");
	rd_metric_uint(rd_metrics_family(&report.metrics, "x", RD_METRIC_GAUGE, NULL, "X."), 7, labels, 1);
	text = page(&report, RD_PROMETHEUS_TEXT);
	assert_has(text, "rdmadiag_x{counter=\"a\\\"} 1\\\\x0aevil\\\\ \\\\xff\\\\x1b[2J\"} 7\n");
}

TEST(of_two_samples_with_the_same_labels_one_is_left)
{
	const struct rd_label a[] = { { "port", "1" } }, b[] = { { "port", "2" } };
	_cleanup_free_ char *text = NULL;
	struct rd_metric *family;
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "x");
	family = rd_metrics_family(&report.metrics, "x", RD_METRIC_GAUGE, NULL, "X.");
	rd_metric_uint(family, 1, b, 1);
	rd_metric_uint(family, 2, a, 1);
	rd_metric_uint(family, 3, b, 1);
	text = page(&report, RD_PROMETHEUS_TEXT);
	assert_has(text, "rdmadiag_x{port=\"1\"} 2\nrdmadiag_x{port=\"2\"} 1\n");
	assert_null(strstr(text, "} 3\n"));
}

TEST(every_page_says_what_came_out_and_when)
{
	const struct rd_err error = { .code = 2 };
	_cleanup_free_ char *text = NULL;
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "x");
	report.time = 1700000000123456789u;
	report.status = 3;
	rd_errlist_add(&report.errors, &error);
	text = page(&report, RD_PROMETHEUS_TEXT);
	assert_has(text, "rdmadiag_status{command=\"counters\"} 3\n");
	assert_has(text, "rdmadiag_findings{command=\"counters\",severity=\"critical\"} 0\n");
	assert_has(text, "rdmadiag_read_errors{command=\"counters\"} 1\n");
	assert_has(text, "rdmadiag_read_time_seconds{command=\"counters\"} 1700000000.123456\n");
	assert_has(text, "rdmadiag_build_info{command=\"counters\",version=\"1.0\"} 1\n");
}

enum { NAME, PORT, COUNT };

TEST(a_section_becomes_a_family_and_what_is_unknown_no_sample)
{
	static const struct rd_column columns[] = {
		[NAME] = { .key = "name", .type = RD_T_STR },
		[PORT] = { .key = "port", .type = RD_T_UINT },
		[COUNT] = { .key = "count", .type = RD_T_UINT },
	};
	static const int labels[] = { NAME, PORT, -1 };
	struct rd_section *section = rd_section_create("things", columns, RD_ARRAY_SIZE(columns));
	_cleanup_free_ char *text = NULL;
	struct rd_metric *family;
	_cleanup_(rd_report_deinit) struct rd_report report;
	struct rd_row *row;

	rd_report_init(&report, "x");
	row = rd_section_add(section);
	rd_row_set(row, NAME, RD_STR("known"));
	rd_row_set(row, COUNT, RD_UINT(5));
	row = rd_section_add(section);
	rd_row_set(row, NAME, RD_STR("unread"));
	rd_row_set(row, PORT, RD_UINT(1));
	family = rd_metrics_family(&report.metrics, "things", RD_METRIC_GAUGE, NULL, "Things.");
	rd_metrics_add_section(family, section, COUNT, labels);
	text = page(&report, RD_PROMETHEUS_TEXT);
	assert_has(text, "rdmadiag_things{name=\"known\"} 5\n");
	assert_null(strstr(text, "unread"));
	rd_section_destroy(section);
}

TEST(time_is_utc_to_the_microsecond)
{
	char text[RD_RFC3339_SIZE];

	assert_int_equal(rd_rfc3339(1700000000123456789u, text), 0);
	assert_string_equal(text, "2023-11-14T22:13:20.123456Z");
	assert_int_equal(rd_rfc3339(0, text), 0);
	assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
}
