/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --probe: what is reported of calls that were made to fail. */
#include "unit.h"

#include "collect/kernel/kernel.h"
#include "report/trace/report-trace.h"

static const struct rd_audit_probe seen = {
	.name = (char *)"a", .err = EFAULT, .seen = true, .origin = (char *)"f.isra.0"
};
static const struct rd_audit_probe lost = { .name = (char *)"b", .err = EINVAL };
static const struct rd_audit_probe fine = { .name = (char *)"c", .err = 0 };
static const struct rd_audit_probe none = { .name = (char *)"d", .err = -1 };

/* "RESULT RESULT …; FINDING …; STATUS" */
static void expect(const struct rd_audit_probe *probes, size_t n, const struct rd_audit_set *baseline, int status,
		   const char *expected)
{
	struct rd_report report;
	char text[256] = "";

	rd_report_init(&report, "test");
	report.status = status;
	rd_report_audit_probes(&report, probes, n, baseline);
	for (size_t i = 0; i < report.sections[0]->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			 report.sections[0]->rows[i].cells[2].s);
	for (size_t i = 0; i < report.findings.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "[%s] ", report.findings.v[i].id);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d", report.status);
	assert_string_equal(text, expected);
	rd_report_deinit(&report);
}

TEST(results_and_status)
{
	expect(&seen, 1, NULL, 0, "seen 0");
	expect(&seen, 1, NULL, 2, "seen 2");
	expect(&lost, 1, NULL, 0, "not-seen [probe-not-seen] 2");
	expect((const struct rd_audit_probe[]){ seen, fine, none }, 3, NULL, 0, "seen did-not-fail not-tried 0");
	expect((const struct rd_audit_probe[]){ fine, none }, 2, NULL, 0, "did-not-fail not-tried 3");
	expect((const struct rd_audit_probe[]){ seen, lost }, 2, NULL, 1, "seen not-seen [probe-not-seen] 2");
}

TEST(origins_of_a_baseline)
{
	struct rd_audit_probe same = { .name = (char *)"a", .origin = (char *)"f.constprop.1" };
	struct rd_audit_probe other = { .name = (char *)"a", .origin = (char *)"f_other" };
	struct rd_audit_set baseline = { .probes = &same, .n_probes = 1 };

	expect(&seen, 1, &baseline, 0, "seen 0");
	baseline.probes = &other;
	expect(&seen, 1, &baseline, 0, "other-origin [probe-other-origin] 1");
	expect(&seen, 1, &baseline, 2, "other-origin [probe-other-origin] 2");
	baseline.n_probes = 0;
	expect(&seen, 1, &baseline, 0, "seen 0");
}

TEST(read_from_a_document)
{
	static const char text[] =
		"{\"schema\":\"" RD_AUDIT_SCHEMA "\",\"kernel\":\"k\",\"complete\":false,"
		"\"functions\":[{\"function\":\"f\",\"module\":\"m\"}],\"modules\":[{\"module\":\"m\"}],"
		"\"probes\":[{\"call\":\"a\",\"errno\":\"EFAULT\",\"origin\":\"f_other\",\"new\":[1]},{\"call\":\"b\",\"origin\":null}]}";
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set set = { 0 };

	assert_int_equal(rd_audit_baseline_parse(text, sizeof(text) - 1, &set, NULL), 0);
	assert_int_equal(set.n_probes, 2);
	ASSERT_EACH(READS(set.probes[0].name, "a"), READS(set.probes[0].origin, "f_other"));
	assert_null(set.probes[1].origin);
	expect(&seen, 1, &set, 0, "other-origin [probe-other-origin] 1");
}
