/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/fabric/fabric.h"

#define SECOND UINT64_C(1000000000)

static struct rd_findings findings;
static struct rd_fabric_latches latches;

static void find(const char *id, enum rd_severity severity, const char *subject, const char *observed)
{
	struct rd_finding finding = { .id = id,
				      .title = "a title",
				      .severity = severity,
				      .subject = rd_dup(subject),
				      .observed = rd_dup(observed),
				      .fix = rd_dup("a fix") };

	rd_finding_add(&findings, &finding);
}

/* A sweep that found what was added since the last one. */
static void sweep(unsigned second)
{
	rd_fabric_latch(&latches, &findings, second * SECOND);
	rd_findings_deinit(&findings);
}

static int tear_down(void **state)
{
	rd_findings_deinit(&findings);
	rd_fabric_latches_deinit(&latches);
	return 0;
}

static const struct rd_fabric_latch *latch(const char *subject, enum rd_severity severity)
{
	for (size_t i = 0; i < latches.n; i++)
		if (strcmp(latches.v[i].subject, subject) == 0 && latches.v[i].severity == severity)
			return &latches.v[i];
	return NULL;
}

#define WITH_TEAR_DOWN(name) TEST_WITH(name, NULL, tear_down)

WITH_TEAR_DOWN(a_critical_finding_that_is_over_is_remembered)
{
	const struct rd_fabric_latch *l;

	sweep(1);
	find("fabric-errors", RD_SEV_CRITICAL, "leaf port 1", "+100");
	sweep(2);
	find("fabric-errors", RD_SEV_CRITICAL, "leaf port 1", "+200");
	sweep(3);
	/* The total stands: a warning from now on. */
	find("fabric-errors", RD_SEV_WARNING, "leaf port 1", "300");
	sweep(4);
	sweep(5);
	assert_int_equal(latches.n, 2);
	l = latch("leaf port 1", RD_SEV_CRITICAL);
	assert_non_null(l);
	ASSERT_EACH(IS(l->current, false), IS(l->looks.n, 2), IS(l->looks.first_ns, 2 * SECOND),
		    IS(l->looks.last_ns, 3 * SECOND), READS(l->observed, "+200"));
	l = latch("leaf port 1", RD_SEV_WARNING);
	ASSERT_EACH(IS(l->looks.first_ns, 4 * SECOND), IS(l->looks.n, 1), IS(latches.looks.n, 5));
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_CRITICAL, false), 1);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_CRITICAL, true), 0);
	find("fabric-errors", RD_SEV_CRITICAL, "leaf port 1", "+1000");
	sweep(9);
	l = latch("leaf port 1", RD_SEV_CRITICAL);
	assert_true(l->current);
	ASSERT_EACH(IS(l->looks.n, 3), IS(l->looks.first_ns, 2 * SECOND), IS(l->looks.last_ns, 9 * SECOND));
}

WITH_TEAR_DOWN(notes_and_muted_findings_are_not)
{
	find("fabric-node-new", RD_SEV_NOTE, "node", "x");
	find("fabric-errors", RD_SEV_CRITICAL, "leaf port 1", "+100");
	findings.v[1].muted = rd_dup("until tomorrow");
	sweep(1);
	assert_int_equal(latches.n, 0);
}

WITH_TEAR_DOWN(findings_with_one_key_are_one_and_count_once_for_a_sweep)
{
	for (unsigned i = 1; i <= 2; i++) {
		find("fabric-errors", RD_SEV_WARNING, "host HCA-1 port 1", "12");
		find("fabric-saturated", RD_SEV_WARNING, "host HCA-1 port 1", "15");
		find("fabric-errors", RD_SEV_WARNING, "host HCA-1 port 1", "13");
		sweep(i);
		assert_int_equal(latches.n, 2);
		ASSERT_EACH(IS(latches.v[0].looks.n, i), IS(latches.v[1].looks.n, i));
	}
}

WITH_TEAR_DOWN(what_was_seen_to_be_over_comes_back_when_it_does)
{
	find("fabric-errors", RD_SEV_WARNING, "leaf port 1", "12");
	find("fabric-errors", RD_SEV_WARNING, "leaf port 2", "12");
	sweep(1);
	find("fabric-errors", RD_SEV_WARNING, "leaf port 2", "12");
	sweep(2);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, false), 1);
	rd_fabric_latches_clear(&latches);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, false), 0);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, true), 1);
	find("fabric-errors", RD_SEV_WARNING, "leaf port 1", "12");
	sweep(3);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, false), 1); /* port 2 */
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, true), 1);
}

WITH_TEAR_DOWN(the_worst_comes_first_then_what_is_current_then_by_harm)
{
	static const char *const expected[] = { "c", "b", "e", "d", "a" };
	const struct rd_fabric_latch **ranked;

	find("fabric-errors", RD_SEV_CRITICAL, "b", "-");
	find("fabric-errors", RD_SEV_WARNING, "a", "-");
	sweep(1);
	find("fabric-errors", RD_SEV_CRITICAL, "c", "-");
	find("fabric-errors", RD_SEV_WARNING, "e", "-");
	find("fabric-errors", RD_SEV_WARNING, "d", "-");
	sweep(2);
	ranked = rd_fabric_latches_ranked(&latches);
	for (size_t i = 0; i < RD_ARRAY_SIZE(expected); i++)
		assert_string_equal(ranked[i]->subject, expected[i]);
	free(ranked);
}

WITH_TEAR_DOWN(their_number_is_limited_and_what_is_dropped_is_counted)
{
	char subject[32];

	find("fabric-node-gone", RD_SEV_CRITICAL, "old and critical", "-");
	find("fabric-errors", RD_SEV_WARNING, "old", "-");
	sweep(1);
	for (unsigned look = 2; look <= 3; look++) {
		for (unsigned i = 0; i < RD_LATCHES_MAX; i++) {
			snprintf(subject, sizeof(subject), "port %u", i);
			find("fabric-errors", RD_SEV_WARNING, subject, "-");
		}
		sweep(look);
		assert_int_equal(latches.n, RD_LATCHES_MAX);
	}
	assert_non_null(latch("old and critical", RD_SEV_CRITICAL));
	assert_null(latch("old", RD_SEV_WARNING));
	assert_non_null(latch("port 0", RD_SEV_WARNING));
	assert_int_equal(latch("port 0", RD_SEV_WARNING)->looks.n, 2);
	assert_null(latch("port 4095", RD_SEV_WARNING));
	assert_int_equal(latches.dropped, 2 + 1);
}

WITH_TEAR_DOWN(silence_that_ends_in_absence_is_not_over)
{
	find("fabric-agent-silent", RD_SEV_WARNING, "host 1", "1 of 1 ports");
	find("fabric-agent-silent", RD_SEV_WARNING, "host 2", "1 of 1 ports");
	sweep(1);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, true), 2);
	find("fabric-node-gone", RD_SEV_WARNING, "host 1", "");
	sweep(2);
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, true), 1);
	/* Of host 2 it is. */
	assert_int_equal(rd_fabric_latches_count(&latches, RD_SEV_WARNING, false), 1);
}
