/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The black box: what is kept, when it is packed, and what is written. */
#include "unit.h"

#include "bpf/qp.h"
#include "bpf/record.h"
#include "cmd/trace-errno/trace.h"
#include "collect/rdma/rdma.h"
#include "fake-host.h"

#include <dirent.h>

#define SECOND UINT64_C(1000000000)

static struct rd_module module = { .name = (char *)"ib_core" };
static struct rd_fn fn = { .name = (char *)"ib_umem_get", .calls_known = true };

struct test_box {
	struct fake_host host;
	struct rd_source *src;
	struct rd_ctx ctx;
	struct trace_opts opts;
	struct trace t;
	struct trace_box *box;
	struct trace_readings readings;
	unsigned fetched;
};

static void count_fetch(void *arg)
{
	++*(unsigned *)arg;
}

static void box_deinit(struct test_box *b)
{
	free(b->box);
	rd_source_closep(&b->readings.v[0]);
	rd_source_closep(&b->readings.v[1]);
	rd_source_closep(&b->src);
	fake_host_deinit(&b->host);
}

static void box_init(struct test_box *b, unsigned freeze_on)
{
	b->host = fake_host_make();
	assert_int_equal(rd_source_live_open("/proc/self/fdinfo", &b->src, NULL), 0);
	b->ctx.source = b->src;
	b->readings = (struct trace_readings){ .fetch = count_fetch, .arg = &b->fetched, .host = b->src };
	b->opts.black_box = b->host.root;
	b->t = (struct trace){ .ctx = &b->ctx, .opts = &b->opts };
	b->t.set = (struct rd_fnset){ .modules = &module, .n_modules = 1, .fns = &fn, .n_fns = 1 };
	b->box = rd_alloc(1, sizeof(*b->box));
	b->opts.freeze_on = freeze_on;
	assert_int_equal(trace_box_start(b->box, &b->t, NULL), 0);
}

static void log_failure(struct test_box *b, uint32_t pid)
{
	const struct rd_rec rec = { .pid = pid, .err = -12, .n_chain = 1, .chain = { { .err = -12 } }, .time = 1 };
	struct rd_event ev = { .time_ns = pid };

	b->t.raw = &rec;
	b->t.raw_size = offsetof(struct rd_rec, chain) + sizeof(rec.chain[0]);
	trace_box_failure(b->box, &b->t, &ev);
}

static void report_event(struct test_box *b, enum rd_qp_what what, unsigned code, uint64_t at)
{
	const struct rd_qp_rec rec = { .time = at,
				       .event = code,
				       .role = what == RD_QP_ASYNC ? RD_QP_ROLE_EVENT : RD_QP_ROLE_DISPATCH };
	struct rd_qp_event ev = { .what = what, .mono_ns = at, .time_ns = 42 };

	RD_SET(ev.code, code);
	RD_SET(ev.before, RD_QPS_RTS);
	RD_SET(ev.age_seconds, 1.5);
	ev.age_kind = RD_AGE_EXACT;
	trace_box_qp(b->box, &ev, &rec);
}

/* The bundle that was written; NULL: none. */
static struct rd_source *open_written(struct test_box *b, uint64_t realtime)
{
	_cleanup_free_ struct dirent **names = NULL;
	_cleanup_free_ char *path = NULL;
	struct rd_source *ret = NULL;
	int n;

	trace_box_write(&b->t, b->box, realtime);
	n = scandir(b->host.root, &names, NULL, alphasort);
	if (n == 3)
		path = rd_text("%s/%s", b->host.root, names[2]->d_name);
	if (path)
		assert_int_equal(rd_source_bundle_open(path, &ret, NULL), 0);
	while (n > 0)
		free(names[--n]);
	return ret;
}

#define TEST_BOX_TEST(name) TEST_ON(name, struct test_box, b, { 0 }, box_deinit)

/* Only what was wanted is a trigger, some time after it happened; and what was asked for, at once. */
TEST_BOX_TEST(test_triggers)
{
	struct rd_err err;

	box_init(b, 1u << TRACE_FREEZE_LINK_DOWN);
	report_event(b, RD_QP_ASYNC, 1, SECOND);
	report_event(b, RD_QP_DEVICE, 8, SECOND);
	report_event(b, RD_QP_DEVICE, 9, SECOND); /* PORT_ACTIVE */
	trace_box_trigger(b->box, TRACE_FREEZE_CRASH_LOOP, SECOND);
	assert_int_equal(b->box->due, 0);
	report_event(b, RD_QP_DEVICE, 10, SECOND);
	assert_int_equal(b->box->due, 3 * SECOND);
	trace_box_pack(&b->t, b->box, &b->readings, 2 * SECOND);
	assert_int_equal(b->box->size, 0);
	trace_box_pack(&b->t, b->box, &b->readings, 3 * SECOND);
	assert_int_not_equal(b->box->size, 0);
	assert_int_equal(b->box->due, 0);
	trace_box_trigger(b->box, TRACE_FREEZE_ASKED, 4 * SECOND);
	assert_int_equal(b->box->due, 4 * SECOND);
	/* All, without a list. */
	b->opts.freeze_on = 0;
	b->opts.black_box = "/no/such/directory";
	assert_int_equal(trace_box_start(b->box, &b->t, &err), -ENOENT);
	b->opts.black_box = b->host.root;
	assert_int_equal(trace_box_start(b->box, &b->t, &err), 0);
	b->box->due = 0;
	report_event(b, RD_QP_ASYNC, 3, SECOND);
	assert_int_not_equal(b->box->due, 0);
	b->box->due = 0;
	report_event(b, RD_QP_DEVICE, 8, SECOND);
	assert_int_not_equal(b->box->due, 0);
}

/* More than there is room for: the newest are kept, each whole. */
TEST_BOX_TEST(test_newest_are_kept)
{
	_cleanup_(rd_source_closep) struct rd_source *src = NULL;
	_cleanup_bytes_ struct rd_bytes functions = { 0 }, events = { 0 }, qps = { 0 };
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 };
	struct rd_trace_facts *facts;
	struct rd_err err = { 0 };
	enum rd_host_read host;
	const uint8_t *at;
	uint32_t pid = 0, last = 20000;
	int r, n = 0;

	box_init(b, 0);
	for (uint32_t i = 1; i <= last; i++)
		log_failure(b, i);
	for (uint32_t i = 0; i < 10000; i++)
		report_event(b, RD_QP_DEVICE, 9, SECOND + i);
	trace_box_trigger(b->box, TRACE_FREEZE_ASKED, 9);
	trace_box_pack(&b->t, b->box, &b->readings, 9);
	src = open_written(b, SECOND);
	assert_non_null(src);
	assert_int_equal(rd_read_file(src, TRACE_FUNCTIONS, &functions, &err), 0);
	assert_int_equal(rd_trace_functions_parse((char *)functions.data, &set, &err), 0);
	assert_int_equal(set.n_fns, 1);
	assert_int_equal(rd_read_file(src, TRACE_EVENTS, &events, &err), 0);
	at = events.data;
	facts = rd_trace_facts_create(src);
	do {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		r = rd_trace_recorded_next(facts, &at, events.data + events.size, &set, &ev, &host, &err);
		if (r <= 0)
			break;
		assert_true(!pid || ev.pid == pid + 1);
		pid = ev.pid;
		n++;
	} while (r > 0);
	rd_trace_facts_destroy(facts);
	ASSERT_EACH(IS(r, 0), IS(pid, last), IS(n > 1000 && n < 20000, true));
	assert_int_equal(rd_read_file(src, RD_SOURCE_QP_EVENTS, &qps, &err), 0);
	at = qps.data;
	for (n = 0;; n++) {
		struct rd_qp_event ev = { 0 };

		r = rd_qp_event_next(src, &at, qps.data + qps.size, &ev, &err);
		if (r <= 0)
			break;
		ASSERT_EACH(IS(ev.time_ns, 42), IS(ev.before.v, RD_QPS_RTS));
		assert_true(ev.age_seconds.v == 1.5 && ev.age_max_seconds.known != RD_OK);
		assert_int_equal(ev.code.v, 9);
		last = (uint32_t)(ev.mono_ns - SECOND);
		rd_qp_event_deinit(&ev);
	}
	ASSERT_EACH(IS(r, 0), IS(last, 9999), IS(n > 500, true));
}

/* At most 20 a day, and the oldest are removed. */
TEST_BOX_TEST(test_bounds)
{
	struct dirent **names;
	uint64_t now = SECOND;
	int n, written = 0;

	box_init(b, 0);
	for (int i = 0; i < 50; i++, now += i == 30 ? 90000 * SECOND : SECOND) {
		trace_box_trigger(b->box, TRACE_FREEZE_ASKED, now);
		trace_box_pack(&b->t, b->box, &b->readings, now);
		written += b->box->size > 0;
		trace_box_write(&b->t, b->box, now);
		assert_int_equal(b->box->size, 0);
	}
	assert_int_equal(written, 40); /* 20, and those after a day */
	n = scandir(b->host.root, &names, NULL, alphasort);
	assert_int_equal(n, 2 + 20);
	assert_string_equal(names[n - 1]->d_name, "rdmadiag-black-box-19700102T010049Z.tar.zst");
	while (n > 0)
		free(names[--n]);
	free(names);
}

static void remove_written(struct test_box *b)
{
	_cleanup_free_ char *command = rd_text("rm %s/rdmadiag-black-box-*", b->host.root);

	assert_int_equal(system(command), 0);
}

static char *name_of(struct rd_source *src)
{
	char *text = NULL;

	rd_read_textf(src, &text, NULL, "/proc/sys/kernel/hostname");
	return text;
}

/* What was read before the reading before the last one is gone; the events are those of the first sample alone. */
TEST_BOX_TEST(test_counters_of_before_and_now)
{
	struct fake_host host = fake_host_make();
	struct rd_source *src;
	struct rd_err err;

	box_init(b, 0);
	b->readings.host = host.source;
	for (unsigned minute = 0; minute < 20; minute++) {
		_cleanup_free_ char *text = rd_text("minute %u\n", minute);

		fake_host_text(&host, "/proc/sys/kernel/hostname", text);
		trace_box_pack(&b->t, b->box, &b->readings, (minute * 60 + 1) * SECOND);
	}
	assert_int_equal(b->fetched, 4); /* 0, 5, 10, 15 */
	for (unsigned i = 0; i < 3; i++) {
		static const char *const before[] = { "minute 10", "minute 15", "now" };
		_cleanup_free_ char *then = NULL, *now = NULL;
		_cleanup_bytes_ struct rd_bytes events = { 0 };

		fake_host_text(&host, "/proc/sys/kernel/hostname", "now\n");
		log_failure(b, 1);
		trace_box_trigger(b->box, TRACE_FREEZE_ASKED, 1200 * SECOND);
		trace_box_pack(&b->t, b->box, &b->readings, 1200 * SECOND);
		src = open_written(b, (i + 1) * SECOND);
		assert_non_null(src);
		then = name_of(src);
		assert_string_equal(then, before[i]);
		assert_int_equal(rd_read_file(src, TRACE_EVENTS, &events, NULL), 0);
		assert_true(events.size > 0);
		assert_int_equal(rd_source_bundle_next(src, &err), 0);
		rd_bytes_deinit(&events);
		now = name_of(src);
		assert_string_equal(now, "now");
		assert_int_equal(rd_read_file(src, TRACE_EVENTS, &events, NULL), 0);
		assert_int_equal(events.size, 0);
		assert_int_equal(rd_source_bundle_next(src, &err), -ENODATA);
		rd_source_closep(&src);
		remove_written(b);
	}
	rd_source_closep(&b->readings.v[0]);
	rd_source_closep(&b->readings.v[1]);
	b->readings.v[0] = b->readings.v[1] = NULL;
	fake_host_deinit(&host);
}
