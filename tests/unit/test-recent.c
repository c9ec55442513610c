// SPDX-License-Identifier: GPL-2.0-or-later
/* What trace-errno --service leaves of the last hour, read as foreign input, and the rule about it. */
#include "unit.h"

#include "check-run.h"
#include "cmd/trace-errno/trace.h"
#include "diagnose/explain/log-join.h"
#include "fake-host.h"
#include "model/host/host.h"

#define SECOND UINT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define NOW (100 * HOUR)

static uint64_t monotonic, realtime;

static uint64_t test_now(struct rd_source *src, int clock)
{
	return clock == CLOCK_MONOTONIC ? monotonic : realtime;
}

struct recent_host {
	struct fake_host fake;
	struct rd_source_ops ops;
	struct rd_recent_file *file;
};

/* A service that has run for two hours and was seen alive just now. */
static void host_init(struct recent_host *h)
{
	h->fake = fake_host_make();
	h->ops = *h->fake.source->ops;
	h->ops.now = test_now;
	h->fake.source->ops = &h->ops;
	monotonic = realtime = NOW;
	h->file = rd_alloc(1, sizeof(*h->file));
	memcpy(h->file->magic, RD_RECENT_MAGIC, sizeof(h->file->magic));
	h->file->version = RD_RECENT_VERSION;
	h->file->size = sizeof(*h->file);
	h->file->since_ns = NOW - 2 * HOUR;
	h->file->written_ns = NOW;
	h->file->until_ns = NOW + 60 * SECOND;
}

static void host_deinit(struct recent_host *h)
{
	free(h->file);
	fake_host_deinit(&h->fake);
}

/* `ago`: seconds before NOW. */
static struct rd_recent_failure *failed(struct recent_host *h, const char *comm, const char *ibdev, uint64_t ago,
					const struct rd_crash_loop *loop)
{
	struct rd_failure_count where = { .function = "ib_umem_get", .verb = "ibv_reg_mr", .err = -12 };
	struct rd_event ev = { .pid = 4711, .at_ns = NOW - ago * SECOND };

	strcpy(where.ibdev, ibdev);
	strcpy(ev.comm, comm);
	return trace_recent_add(h->file, &where, &ev, 1, loop);
}

/* Starts `gap` seconds apart, of which the last failed `ago` seconds before NOW. */
static void fail_in_loop(struct recent_host *h, uint64_t gap, uint64_t ago)
{
	const struct rd_crash_loop loop = {
		.where = { .count = 7 }, .starts = 8, .gap_ns = gap * SECOND, .at_ns = NOW - ago * SECOND
	};

	failed(h, "trainer", "mlx5_0", ago, &loop);
}

static void collect(struct recent_host *h, size_t size, struct rd_recent *ret)
{
	fake_host_write(&h->fake, RD_SOURCE_RECENT, h->file, size);
	rd_collect_recent(h->fake.source, ret);
}

static enum rd_severity judge_read(struct recent_host *h)
{
	_cleanup_(rd_recent_deinit) struct rd_recent recent = { 0 };
	const struct rd_host host = { 0 };
	const struct rd_check_input in = { .host = &host, .recent = &recent };

	rd_collect_recent(h->fake.source, &recent);
	return check_worst(&in, "failed-calls");
}

static enum rd_severity judge(struct recent_host *h)
{
	fake_host_write(&h->fake, RD_SOURCE_RECENT, h->file, sizeof(*h->file));
	return judge_read(h);
}

#define RECENT_TEST(name) TEST_BEGUN(name, struct recent_host, h, host_init, host_deinit)

RECENT_TEST(no_service_is_no_pass)
{
	assert_int_equal(judge_read(h), RD_SEV_SKIP);
	/* Redacted. */
	fake_host_text(&h->fake, RD_SOURCE_RECENT, "");
	assert_int_equal(judge_read(h), RD_SEV_SKIP);
}

RECENT_TEST(a_service_without_failures_passes_after_an_hour)
{
	assert_int_equal(judge(h), RD_SEV_OK);
	h->file->since_ns = NOW - HOUR + SECOND;
	assert_int_equal(judge(h), RD_SEV_SKIP);
}

RECENT_TEST(a_service_that_ended_yesterday)
{
	fail_in_loop(h, 2, 1);
	assert_int_equal(judge(h), RD_SEV_WARNING);
	monotonic = NOW + 24 * HOUR;
	assert_int_equal(judge(h), RD_SEV_SKIP);
	/* Booted since: the clock begins again. */
	monotonic = HOUR;
	assert_int_equal(judge(h), RD_SEV_SKIP);
	/* When a directory was copied is unknown. */
	monotonic = 0;
	assert_int_equal(judge(h), RD_SEV_SKIP);
	/* The clock of a recording is stopped. */
	monotonic = NOW - 30 * SECOND;
	assert_int_equal(judge(h), RD_SEV_WARNING);
}

RECENT_TEST(a_clock_that_is_set_changes_nothing)
{
	failed(h, "trainer", "mlx5_0", 60, NULL);
	assert_int_equal(judge(h), RD_SEV_NOTE);
	realtime = NOW + 24 * HOUR;
	assert_int_equal(judge(h), RD_SEV_NOTE);
	realtime = HOUR;
	assert_int_equal(judge(h), RD_SEV_NOTE);
}

RECENT_TEST(failures_are_forgotten_after_an_hour)
{
	struct rd_recent recent;

	failed(h, "trainer", "mlx5_0", 3700, NULL);
	assert_int_equal(judge(h), RD_SEV_OK);
	for (uint64_t ago = 3700; ago > 0; ago -= 100)
		failed(h, "trainer", "mlx5_0", ago, NULL);
	collect(h, sizeof(*h->file), &recent);
	/* Those from 3500 to 100 seconds ago, and the one of the first minute. */
	assert_int_equal(recent.n, 1);
	assert_in_range(recent.file->v[0].where.count, 35, 36);
	rd_recent_deinit(&recent);
	/* A long silence empties all minutes. */
	monotonic = h->file->written_ns = h->file->until_ns = NOW + 5 * HOUR;
	failed(h, "trainer", "mlx5_0", 0, NULL);
	trace_recent_add(h->file, &h->file->v[0].where, &(struct rd_event){ .comm = "trainer", .at_ns = monotonic }, 3,
			 NULL);
	collect(h, sizeof(*h->file), &recent);
	assert_int_equal(recent.file->v[0].where.count, 3);
	rd_recent_deinit(&recent);
}

TEST(a_loop_that_goes_on_is_a_warning)
{
	static const struct {
		uint64_t gap, ago;
		enum rd_severity severity;
	} cases[] = {
		{ 2, 10, RD_SEV_WARNING },
		/* It was started again and did not fail, or was stopped. */
		{ 2, 300, RD_SEV_NOTE },
		{ 300, 480, RD_SEV_WARNING },
		{ 300, 700, RD_SEV_NOTE },
		{ 3000, 910, RD_SEV_NOTE },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		_cleanup_(host_deinit) struct recent_host h;

		host_init(&h);
		fail_in_loop(&h, cases[i].gap, cases[i].ago);
		assert_int_equal(judge(&h), cases[i].severity);
	}
}

RECENT_TEST(what_is_reported)
{
	_cleanup_(rd_recent_deinit) struct rd_recent recent = { 0 };
	const struct rd_host host = { 0 };
	const struct rd_check_input in = { .host = &host, .recent = &recent };
	struct rd_findings findings = { 0 };

	failed(h, "nccl", "mlx5_0", 3, NULL);
	failed(h, "nccl", "mlx5_0", 2, NULL);
	strcpy(failed(h, "other", "mlx5_0", 200, NULL)->cause, "the limit is 64 KiB");
	failed(h, "", "", 1, NULL)->where.err = -4000;
	fail_in_loop(h, 2, 180);
	fail_in_loop(h, 100, 150);
	collect(h, sizeof(*h->file), &recent);
	check_run(&in, "failed-calls", &findings);
	assert_int_equal(findings.n, 3);
	assert_string_equal(findings.v[0].observed,
			    "ibv_reg_mr of nccl (pid 4711) failed with ENOMEM in ib_umem_get, 2 times in the last "
			    "hour, last 2 s ago; and failures of 1 other kind");
	assert_int_equal(findings.v[0].severity, RD_SEV_NOTE);
	ASSERT_EACH(READS(findings.v[0].subject, "mlx5_0"), READS(findings.v[0].fix, "rdmadiag trace-errno --status"));
	assert_string_equal(findings.v[1].observed,
			    "ibv_reg_mr of trainer (pid 4711) failed with ENOMEM in ib_umem_get, 2 times in the last "
			    "hour, last 2 min ago; a crash loop: in 7 of its last 8 starts");
	assert_int_equal(findings.v[1].severity, RD_SEV_WARNING);
	assert_string_equal(findings.v[2].observed,
			    "ibv_reg_mr of an unknown program (pid 4711) failed with an unknown errno in ib_umem_get, 1 "
			    "time in the last hour, last 1 s ago");
	assert_string_equal(findings.v[2].subject, "host");
	rd_findings_deinit(&findings);
}

RECENT_TEST(kinds_beyond_the_limit_replace_the_oldest)
{
	struct rd_recent recent;

	for (unsigned i = 0; i < RD_RECENT_MAX + 8; i++) {
		_cleanup_free_ char *comm = rd_text("p%u", i);

		failed(h, comm, "mlx5_0", 1000 - i, NULL);
	}
	collect(h, sizeof(*h->file), &recent);
	assert_int_equal(recent.n, RD_RECENT_MAX);
	for (size_t i = 0; i < recent.n; i++)
		assert_string_not_equal(recent.file->v[i].comm, "p7");
	rd_recent_deinit(&recent);
}

RECENT_TEST(other_files_are_unknown)
{
	struct rd_recent recent;

	fail_in_loop(h, 2, 1);
	for (size_t size = 1; size < sizeof(*h->file); size += 997) {
		collect(h, size, &recent);
		ASSERT_EACH(IS(recent.known, RD_DENIED), IS(recent.file == NULL, true));
	}
	h->file->version++;
	assert_int_equal(judge(h), RD_SEV_UNKNOWN);
	h->file->version--;
	h->file->size++;
	assert_int_equal(judge(h), RD_SEV_UNKNOWN);
	h->file->size--;
	h->file->magic[0]++;
	assert_int_equal(judge(h), RD_SEV_UNKNOWN);
	h->file->magic[0]--;
	assert_int_equal(judge(h), RD_SEV_WARNING);
	assert_int_equal(fake_host_run(&h->fake, "cd run/rdmadiag && rm trace-errno && mkdir trace-errno"), 0);
	assert_int_equal(judge_read(h), RD_SEV_UNKNOWN);
	assert_int_equal(fake_host_run(&h->fake, "cd run/rdmadiag && rmdir trace-errno && mkfifo trace-errno"), 0);
	assert_int_equal(judge_read(h), RD_SEV_SKIP);
	assert_int_equal(
		fake_host_run(
			&h->fake,
			"cd run/rdmadiag && rm trace-errno && mknod trace-errno c 1 5 || ln -s trace-errno trace-errno"),
		0);
	assert_int_equal(judge_read(h), RD_SEV_UNKNOWN);
}

/* Whatever is in it: nothing is read beyond it, and nothing overflows. */
RECENT_TEST(hostile_values)
{
	_cleanup_(rd_recent_deinit) struct rd_recent recent = { 0 };
	_cleanup_free_ char *text = NULL;

	memset(h->file->v, 0xff, sizeof(h->file->v));
	memset(h->file->box, 'x', sizeof(h->file->box));
	for (size_t i = 0; i < RD_RECENT_MAX; i++) {
		h->file->v[i].where.err = i % 2 ? -12 : (int)(i << 20);
		h->file->v[i].last_ns = i % 3 ? NOW : UINT64_MAX;
	}
	collect(h, sizeof(*h->file), &recent);
	ASSERT_EACH(IS(recent.known, RD_OK), IS(recent.n, 21),
		    IS(strlen(recent.file->box), sizeof(recent.file->box) - 1));
	text = rd_recent_text(&recent, &recent.file->v[0]);
	assert_true(strlen(text) < sizeof(struct rd_recent_failure));
	assert_int_equal(judge_read(h), RD_SEV_WARNING);
}

/* The facts of a line with this form and errno. */
static size_t facts_of(const struct rd_recent *recent, const char *text, uint64_t code, char **ret)
{
	struct rd_log_form form = { .id = "f" }, number = { .table = "errno" };
	struct rd_log log = { .n = 1 };
	struct rd_host host = { 0 };
	struct rd_findings none = { 0 };
	const struct rd_log_here here = { .host = &host, .findings = &none, .recent = recent };
	size_t n;

	RD_SET(number.value, code);
	log.v = rd_alloc(1, sizeof(*log.v));
	log.v->form = &form;
	log.v->text = rd_dup(text);
	log.v->codes[0] = &number;
	rd_log_join(&log, &here);
	n = log.joins->facts.n;
	*ret = n ? rd_dup(log.joins->facts.v[0]) : NULL;
	rd_log_deinit(&log);
	return n;
}

RECENT_TEST(explain_cites_a_failure_with_verb_and_errno_of_the_line)
{
	_cleanup_(rd_recent_deinit) struct rd_recent recent = { 0 };
	_cleanup_free_ char *fact = NULL, *none = NULL;

	failed(h, "trainer", "mlx5_0", 5, NULL);
	collect(h, sizeof(*h->file), &recent);
	assert_int_equal(facts_of(&recent, "Call to ibv_reg_mr failed: Cannot allocate memory", 12, &fact), 1);
	assert_string_equal(fact,
			    "ibv_reg_mr of trainer (pid 4711) failed with ENOMEM in ib_umem_get, 1 time in the last "
			    "hour, last 5 s ago");
	assert_int_equal(facts_of(&recent, "Call to ibv_reg_mr failed: Bad address", 14, &none), 0);
	assert_int_equal(facts_of(&recent, "Call to ibv_create_cq failed: Cannot allocate memory", 12, &none), 0);
}
