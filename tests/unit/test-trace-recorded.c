/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written of a trace is read back as it was, and what is damaged is refused. */
#include "unit.h"

#include "collect/kernel/kernel.h"

#include <linux/types.h>

#include "bpf/record.h"

static uint32_t calls[] = { 1, 0 };
static struct rd_module modules[] = { { .name = (char *)"ib_core", .rdma = true },
				      { .name = (char *)"rdma_rxe", .has_ops = true } };
static struct rd_fn fns[] = {
	{ .name = (char *)"ib_umem_get", .calls_known = true, .errnos = { 1 << 12, 0, 5 }, .backend = RD_BACKEND_FEXIT },
	{ .name = (char *)"rxe_reg_user_mr.isra.0",
	  .module = 1,
	  .calls = calls,
	  .n_calls = 2,
	  .rule = RD_RULE_CLEANUP,
	  .indirect = true,
	  .outside = true,
	  .taken = true,
	  .member = true,
	  .selected = true },
};
static const struct rd_fnset set = { .modules = modules, .n_modules = 2, .fns = fns, .n_fns = 2 };

TEST(test_functions)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset back = { 0 };
	_cleanup_buf_ struct rd_buf text = { 0 }, again = { 0 };
	_cleanup_free_ char *copy = NULL;

	rd_trace_functions_pack(&set, &text);
	copy = rd_dup_part(text.data, text.len);
	assert_int_equal(rd_trace_functions_parse(copy, &back, NULL), 0);
	assert_int_equal(back.n_modules, 2);
	assert_true(back.modules[0].rdma && !back.modules[0].has_ops && back.modules[1].has_ops);
	assert_int_equal(back.n_fns, 2);
	ASSERT_EACH(READS(back.fns[1].name, "rxe_reg_user_mr.isra.0"), IS(back.fns[0].errnos[2], 5),
		    IS(back.fns[0].backend, RD_BACKEND_FEXIT));
	assert_true(back.fns[1].member && back.fns[1].taken && back.fns[1].indirect && !back.fns[1].calls_known);
	rd_trace_functions_pack(&back, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
}

TEST(test_damaged_functions)
{
	static const char *const bad[] = {
		"",
		"module ib_core 1",
		"module ib_core 1 0 x",
		"function f 2 0 0 0 0 0 0",		     /* no such module */
		"function f 0 ff 0 0 0 0 0",		     /* no such rule */
		"function f 0 0 5 0 0 0 0",		     /* no such backend */
		"function f 0 0 0 0 0 0 0 1",		     /* calls a function that is missing */
		"function f 0 0 0 0 0 0 0 ffffffffffffffff", /* … far beyond */
		"function f 0 0 0 0 0 0",
		"anything",
		"module",
	};
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_fnset one = { .modules = modules, .n_modules = 1 };

	rd_trace_functions_pack(&one, &text);
	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *copy = rd_alloc(text.len + 100, 1);
		_cleanup_(rd_fnset_deinit) struct rd_fnset back = { 0 };
		struct rd_err err = { 0 };

		/* The first is of another version. */
		sprintf(copy, "%.*s%s\n", i ? (int)text.len : 7, text.data, bad[i]);
		assert_int_equal(rd_trace_functions_parse(copy, &back, &err), -EBADMSG);
	}
}

struct recorded {
	struct rd_source *src;
	struct rd_trace_facts *facts;
	struct rd_buf file;
};

static void recorded_deinit(struct recorded *r)
{
	rd_trace_facts_destroy(r->facts);
	rd_source_closep(&r->src);
	rd_buf_deinit(&r->file);
}

/* Two events, the second of which has its cause. */
static void record(struct recorded *r)
{
	const struct rd_rec rec = { .time = 7,
				    .pid = 42,
				    .err = -12,
				    .origin = 0,
				    .root = 1,
				    .n_chain = 1,
				    .chain = { { .fn = 0, .err = -12 } } };
	struct rd_event ev = { .time_ns = 1000, .ibdev = (char *)"rxe0", .cgroup = (char *)"/a/job" };

	assert_int_equal(rd_source_live_open("/proc/self/fdinfo", &r->src, NULL), 0);
	r->facts = rd_trace_facts_create(r->src);
	rd_trace_recorded_pack(&ev, RD_HOST_KEPT, &rec, sizeof(rec), &r->file);
	ev.ibdev = NULL;
	ev.below_modules = (char *)"mlx5_ib";
	ev.hint = (char *)"a hint";
	ev.why = (struct rd_explanation){ .id = "memlock-limit",
					  .cause = (char *)"too much",
					  .confidence = RD_CONFIDENCE_HIGH,
					  .evidence = { (char *)"one", (char *)"two" },
					  .n_evidence = 2 };
	rd_trace_recorded_pack(&ev, RD_HOST_JUDGED, &rec, sizeof(rec), &r->file);
}

TEST(test_events)
{
	_cleanup_(recorded_deinit) struct recorded r = { 0 };
	const uint8_t *at, *end;
	enum rd_host_read host;
	struct rd_err err = { 0 };

	record(&r);
	at = (uint8_t *)r.file.data;
	end = at + r.file.len;
	{
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		assert_int_equal(rd_trace_recorded_next(r.facts, &at, end, &set, &ev, &host, &err), 1);
		ASSERT_EACH(IS(host, RD_HOST_KEPT), IS(ev.time_ns, 1000), IS(ev.at_ns, 7), READS(ev.ibdev, "rxe0"),
			    READS(ev.cgroup, "/a/job"), IS(ev.below_modules == NULL, true), IS(ev.why.id == NULL, true),
			    IS(ev.n_chain, 1));
	}
	{
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		assert_int_equal(rd_trace_recorded_next(r.facts, &at, end, &set, &ev, &host, &err), 1);
		ASSERT_EACH(IS(host, RD_HOST_JUDGED), IS(ev.ibdev == NULL, true), READS(ev.below_modules, "mlx5_ib"),
			    READS(ev.why.id, "memlock-limit"), READS(ev.why.cause, "too much"),
			    IS(ev.why.fix == NULL, true), READS(ev.hint, "a hint"), IS(ev.why.n_evidence, 2));
		ASSERT_EACH(READS(ev.why.evidence[1], "two"), IS(ev.why.confidence, RD_CONFIDENCE_HIGH));
	}
	{
		struct rd_event ev = { 0 };

		assert_int_equal(rd_trace_recorded_next(r.facts, &at, end, &set, &ev, &host, &err), 0);
	}
}

/* At each length it ends before the event that is cut, and says so. */
TEST(test_cut_events)
{
	_cleanup_(recorded_deinit) struct recorded r = { 0 };

	record(&r);
	for (size_t size = 0; size < r.file.len; size++) {
		/* Of its own, so that a read behind it is seen. */
		_cleanup_free_ uint8_t *copy = rd_alloc(size + 1, 1);
		const uint8_t *at = copy;
		enum rd_host_read host;
		struct rd_err err = { 0 };
		int events = 0, got;

		memcpy(copy, r.file.data, size);
		do {
			_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

			got = rd_trace_recorded_next(r.facts, &at, copy + size, &set, &ev, &host, &err);
			events += got > 0;
		} while (got > 0);
		ASSERT_EACH(IS(got == -EBADMSG || at == copy + size, true), IS(events < 2, true));
	}
}

TEST(test_summary)
{
	const struct rd_origin_count counts[] = {
		{ .fn = -1, .err = -22, .count = 9, .benign = 4, .method = "0x7", .ibdev = "rxe0" },
		{ .fn = 1, .err = -12, .count = 1, .object = "MR", .verb = "ibv_reg_mr" },
	};
	const struct rd_trace_summary sum = { .seconds = 1.234567891,
					      .per_backend = { [RD_BACKEND_KPROBE] = 3 },
					      .functions = 3,
					      .totals = { .events = 10, .lost = 2, .missed = { .known = RD_OK } },
					      .benign = 4,
					      .hidden = 5,
					      .early_end = RD_EARLY_END_CPU,
					      .counts = counts,
					      .n_counts = 2 };
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 }, read = { 0 };
	_cleanup_free_ struct rd_origin_count *back = NULL;
	_cleanup_bytes_ struct rd_bytes file = { 0 };
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_trace_summary ret;
	struct rd_err note = { 0 }, err = { 0 };

	rd_err_set(&note, ENOENT, "object", "a message: %d", 1);
	rd_err_hint(&note, "a hint");
	rd_errlist_add(&notes, &note);
	rd_trace_summary_pack(&sum, &notes, &text);
	rd_bytes_copy(text.data, text.len, &file);
	assert_int_equal(rd_trace_summary_parse(&file, &set, &ret, &back, &read, &err), 0);
	ASSERT_EACH(IS(ret.seconds == sum.seconds, true), IS(ret.per_backend[RD_BACKEND_KPROBE], 3),
		    IS(ret.totals.lost, 2), IS(ret.totals.missed.known, RD_OK));
	assert_int_not_equal(ret.totals.run_ns.known, RD_OK);
	ASSERT_EACH(IS(ret.hidden, 5), IS(ret.early_end, RD_EARLY_END_CPU), IS(ret.n_counts, 2), IS(back[0].fn, -1),
		    IS(back[0].err, -22), IS(back[0].object == NULL, true), READS(back[0].ibdev, "rxe0"),
		    READS(back[1].verb, "ibv_reg_mr"), IS(read.n, 1));
	ASSERT_EACH(IS(read.v[0].code, ENOENT), READS(read.v[0].message, "a message: 1"),
		    READS(read.v[0].hint, "a hint"));
}

TEST(test_damaged_summary)
{
	const struct rd_origin_count one = { .err = -22, .count = 1 };
	const struct rd_trace_summary good = { .counts = &one, .n_counts = 1 };
	struct rd_origin_count counts[] = {
		{ .fn = 2, .err = -22 }, { .fn = -2, .err = -22 }, { .err = 22 }, { .err = -4096 }
	};
	struct rd_trace_summary bad[] = { good, good, good, good, good, good, good };

	for (size_t i = 0; i < RD_ARRAY_SIZE(counts); i++)
		bad[i].counts = &counts[i];
	bad[4].early_end = RD_EARLY_END_CPU + 1;
	bad[5].seconds = -1;
	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
		_cleanup_free_ struct rd_origin_count *back = NULL;
		_cleanup_bytes_ struct rd_bytes file = { 0 };
		_cleanup_buf_ struct rd_buf text = { 0 };
		struct rd_trace_summary ret;
		struct rd_err err = { 0 };

		rd_trace_summary_pack(&bad[i], &notes, &text);
		/* The last one has lost its count. */
		rd_bytes_copy(text.data, i < 6 ? text.len : sizeof(ret), &file);
		assert_int_equal(rd_trace_summary_parse(&file, &set, &ret, &back, &notes, &err), -EBADMSG);
	}
}
