/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "render/render.h"
#include "report/trace/report-trace.h"

#include <json-c/json.h>
#include <time.h>

static struct rd_module modules[] = { { .name = "ib_core", .has_btf = true },
				      { .name = "ib_uverbs", .has_btf = true, .note = "no file" } };
static uint32_t roots_of_pin[] = { 0, 7 };
static struct rd_fn fns[] = {
	{ .name = "ib_umem_get",
	  .module = 0,
	  .selected = true,
	  .roots = roots_of_pin,
	  .n_roots = 2,
	  .attachable = 1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_KPROBE,
	  .backend = RD_BACKEND_FEXIT },
	{ .name = "check", .module = 1, .selected = true },
	{ .name = "ib_uverbs_ioctl", .module = 1, .rule = RD_RULE_ENTRY, .selected = true },
	{ .name = "query", .module = 9, .rule = RD_RULE_QUERY },
};
static struct rd_root roots[] = { { .fn = 2 } };
static const struct rd_fnset set = { .modules = modules,
				     .n_modules = 2,
				     .fns = fns,
				     .n_fns = 4,
				     .roots = roots,
				     .n_roots = 1,
				     .kernel = "6.1.0",
				     .backends = UINT8_MAX };

static struct rd_link chain[] = { { 0, -2, false, true }, { 1, -14, false, false }, { 2, -14, false, false } };
static struct rd_frame kstack[] = { { .function = "ib_umem_get", .object = "ib_core", .offset = 0x1a2 }, { .addr = 5 } };
static struct rd_frame ustack[] = {
	{ .function = "main", .object = "/bin/trainer", .offset = 16, .file = "t.c", .line = { 12, RD_OK } },
	{ .object = "/lib/libx.so", .offset = 255 }
};

static struct rd_event full_event(void)
{
	struct rd_event ev = {
		.time_ns = 1700000000123456789u,
		.pid = 812,
		.tid = 813,
		.uid = 1000,
		.comm = "train\x1b[31m",
		.cgroup = "/slurm/uid_1000/job_42/step_0",
		.job = "slurm:42.0",
		.ibdev = "rxe0",
		.object = "MR",
		.method = "INVOKE_WRITE:REG_MR",
		.verb = "ibv_reg_mr",
		.qpn = { 17, RD_OK },
		.err = -14,
		.root = 2,
		.origin = 0,
		.origin_exact = true,
		.chain = chain,
		.n_chain = 3,
		.dropped = 2,
		.kstack = kstack,
		.n_kstack = 2,
		.ustack = ustack,
		.n_ustack = 2,
		.why = { .id = "memory-not-mapped",
			 .cause = "nothing is mapped at 0x7000",
			 .confidence = RD_CONFIDENCE_HIGH,
			 .evidence = { "the range is 0x6000-0x8000", "read, write" },
			 .n_evidence = 2,
			 .fix = "ip link set eth0 up && ip address show dev eth0\n"
				"# first word and enough more words to reach beyond the margin of forty-two columns" },
		.hint = "nothing is mapped at 0x7000; first word and enough more words to reach beyond the margin of forty-two columns",
	};

	return ev;
}

TEST(an_event_is_one_line_of_json_with_all_keys)
{
	static const char *const keys[] = {
		"time",		"pid",		 "tid",		  "comm",	  "uid",	"cgroup",
		"job",		"ibdev",	 "port",	  "object",	  "method",	"verb",
		"qpn",		"errno",	 "code",	  "side",	  "origin",	"origin_exact",
		"origin_below", "chain",	 "chain_dropped", "kernel_stack", "user_stack", "user_stack_end",
		"benign",	"benign_reason", "cause_id",	  "cause",	  "confidence", "evidence",
		"fix",		"advice",	 "hint"
	};
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_event ev = full_event();
	struct rd_section *section = rd_report_trace_event(&ev, &set);
	struct json_object *o, *v;
	size_t i = 0;

	assert_non_null(section);
	rd_render_json_row(section, 0, &out);
	assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
	o = json_tokener_parse(out.data);
	assert_non_null(o);
	json_object_object_foreach(o, key, value)
	{
		(void)value;
		assert_string_equal(key, keys[i++]);
	}
	assert_int_equal(i, RD_ARRAY_SIZE(keys));
	assert_true(json_object_object_get_ex(o, "port", &v));
	assert_null(v);
	json_object_object_get_ex(o, "qpn", &v);
	assert_int_equal(json_object_get_int(v), 17);
	json_object_object_get_ex(o, "errno", &v);
	assert_string_equal(json_object_get_string(v), "EFAULT");
	json_object_object_get_ex(o, "code", &v);
	assert_int_equal(json_object_get_int(v), 14);
	json_object_object_get_ex(o, "origin", &v);
	assert_string_equal(json_object_to_json_string_ext(v, 0),
			    "{\"function\":\"ib_umem_get\",\"module\":\"ib_core\"}");
	json_object_object_get_ex(o, "chain", &v);
	assert_int_equal(json_object_array_length(v), 3);
	assert_string_equal(
		json_object_to_json_string_ext(json_object_array_get_idx(v, 0), 0),
		"{\"function\":\"ib_umem_get\",\"module\":\"ib_core\",\"errno\":\"ENOENT\",\"translated\":true}");
	json_object_put(o);
	rd_section_destroy(section);
}

TEST(what_is_not_known_is_null)
{
	struct rd_event ev = { .err = -99999, .origin = -1, .root = 77 };
	struct rd_section *section = rd_report_trace_event(&ev, &set);
	_cleanup_buf_ struct rd_buf out = { 0 };

	assert_non_null(section);
	rd_render_json_row(section, 0, &out);
	ASSERT_HAS(out.data, "\"verb\":null", "\"ibdev\":null", "\"kernel_stack\":null",
		   "\"origin\":{\"function\":null,\"module\":null}", "\"errno\":\"99999\"");
	rd_section_destroy(section);
}

static void assert_text(const struct rd_event *ev, bool colour, int width, const char *expected)
{
	struct rd_section *section = rd_report_trace_event(ev, &set);
	_cleanup_buf_ struct rd_buf out = { 0 };

	assert_non_null(section);
	rd_render_event(section, 0, colour, width, &out);
	assert_string_equal(out.data, expected);
	rd_section_destroy(section);
}

TEST(an_event_reads_well)
{
	struct rd_event ev = full_event();

	assert_text(
		&ev, false, 42,
		"22:13:20.123456 ibv_reg_mr: EFAULT (Bad address)  train\\x1b[31m[812/813] rxe0 qpn 17 job slurm:42.0\n"
		"    ib_umem_get     [ib_core]   ENOENT  <- origin\n"
		" -> check           [ib_uverbs] EFAULT  <- errno changed here\n"
		" -> ib_uverbs_ioctl [ib_uverbs] EFAULT\n"
		"    (2 more functions did not fit into the record)\n"
		"    kernel stack:\n"
		"        ib_umem_get+0x1a2 [ib_core]\n"
		"        ?\n"
		"    user stack:\n"
		"        main+0x10 at t.c:12 [/bin/trainer]\n"
		"        /lib/libx.so+0xff\n"
		"    cause: nothing is mapped at 0x7000\n"
		"      - the range is 0x6000-0x8000\n"
		"      - read, write\n"
		"    fix: ip link set eth0 up && ip address show dev eth0\n"
		"    advice: first word and enough more\n"
		"            words to reach beyond the\n"
		"            margin of forty-two columns\n");
}

TEST(what_is_not_sure_is_said_so)
{
	uint32_t below[] = { 1, 3 };
	struct rd_event ev = { .err = -12,
			       .origin = 0,
			       .chain = chain,
			       .n_chain = 1,
			       .below = below,
			       .n_below = 2,
			       .below_modules = "drv",
			       .pid = 1,
			       .tid = 1,
			       .why = { .evidence = { "free memory: 3 MiB" }, .n_evidence = 1, .fix = "# see dmesg" },
			       .hint = "see dmesg" };

	assert_text(&ev, false, 0,
		    "00:00:00.000000 call: ENOMEM (Cannot allocate memory)  ?[1]\n"
		    "    ib_umem_get [ib_core] ENOENT  <- at or below this function\n"
		    "    not traced: check, query, module drv (--deepen traces them)\n"
		    "    cause: cannot tell; looked at:\n"
		    "      - free memory: 3 MiB\n"
		    "    check: see dmesg\n");
	ev.why.id = "memory";
	ev.why.cause = "not enough memory";
	ev.why.confidence = RD_CONFIDENCE_MEDIUM;
	ev.why.fix = NULL;
	ev.n_below = 0;
	ev.below_modules = NULL;
	ev.hint = "of the site: call 5551234";
	assert_text(&ev, false, 0,
		    "00:00:00.000000 call: ENOMEM (Cannot allocate memory)  ?[1]\n"
		    "    ib_umem_get [ib_core] ENOENT  <- at or below this function\n"
		    "    probable cause: not enough memory\n"
		    "      - free memory: 3 MiB\n"
		    "    hint: of the site: call 5551234\n");
}

TEST(an_event_of_which_little_is_known)
{
	struct rd_event ev = { .err = -12, .origin = -1, .pid = 1, .tid = 1, .benign = "by design" };

	assert_text(&ev, false, 0,
		    "00:00:00.000000 call: ENOMEM (Cannot allocate memory)  ?[1]\n"
		    "    benign: by design\n");
	ev.object = "0x1003";
	assert_text(&ev, false, 0,
		    "00:00:00.000000 0x1003 ?: ENOMEM (Cannot allocate memory)  ?[1]\n"
		    "    benign: by design\n");
}

TEST(colour_only_if_asked_for)
{
	struct rd_event ev = { .err = -12, .origin = -1, .pid = 1, .tid = 1 };

	assert_text(&ev, true, 0,
		    "\033[2m00:00:00.000000 \033[0m\033[1mcall\033[0m: \033[1;31mENOMEM\033[0m "
		    "(Cannot allocate memory)  ?[1]\n"
		    "    \033[33mcause\033[0m: cannot tell\n");
}

static const struct rd_origin_count counts[] = {
	{ .fn = 1, .verb = "ibv_create_cq", .method = "CQ_CREATE", .ibdev = "rxe0", .err = -22, .count = 3 },
	{ .fn = 0, .verb = "ibv_reg_mr", .method = "REG_MR", .ibdev = "rxe0", .err = -14, .count = 2 },
	{ .fn = 2, .verb = "ibv_query_device", .method = "QUERY_DEVICE", .err = -28, .count = 9, .benign = 9 },
	{ .fn = 0, .verb = "ibv_reg_mr", .method = "REG_MR", .ibdev = "rxe0", .err = -14, .count = 5 },
	{ .fn = -1, .err = -5, .count = 1 },
};

static void assert_summary(bool hide_benign, const char *expected)
{
	struct rd_trace_summary sum = { .seconds = 1.5,
					.functions = 4,
					.per_backend = { [RD_BACKEND_KPROBE] = 4 },
					.totals = { .events = 20, .delivered = 18, .lost = 2 },
					.benign = 9,
					.counts = counts,
					.n_counts = RD_ARRAY_SIZE(counts) };
	struct rd_table_style style = { .no_headings = false };
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "rdmadiag/trace-errno-summary/1");
	rd_report_trace_summary(&report, &sum, &set, hide_benign);
	assert_int_equal(rd_render_table(report.sections[0], &style, &out, NULL), 0);
	assert_string_equal(out.data, expected);
}

TEST(counts_are_added_up_and_sorted_and_benign_ones_hidden)
{
	assert_summary(true, "COUNT ERRNO  VERB          IBDEV ORIGIN      MODULE\n"
			     "    7 EFAULT ibv_reg_mr    rxe0  ib_umem_get ib_core\n"
			     "    3 EINVAL ibv_create_cq rxe0  check       ib_uverbs\n"
			     "    1 EIO    -             -     -           -\n");
	assert_summary(false, "COUNT ERRNO  VERB             IBDEV ORIGIN          MODULE\n"
			      "    9 ENOSPC ibv_query_device -     ib_uverbs_ioctl ib_uverbs\n"
			      "    7 EFAULT ibv_reg_mr       rxe0  ib_umem_get     ib_core\n"
			      "    3 EINVAL ibv_create_cq    rxe0  check           ib_uverbs\n"
			      "    1 EIO    -                -     -               -\n");
}

TEST(missed_is_null_where_the_kernel_does_not_say)
{
	struct rd_trace_summary sum = { .per_backend = { [RD_BACKEND_FEXIT] = 7, [RD_BACKEND_KPROBE] = 2 } };
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "rdmadiag/trace-errno-summary/1");
	report.source = "live";
	rd_report_trace_summary(&report, &sum, &set, false);
	rd_render_json_line(&report, "0", &out);
	ASSERT_HAS(out.data, "\"missed\":null", "\"lost\":0", "\"backends\":{\"fexit\":7,\"kprobe\":2}",
		   "\"by_origin\":[]");
}

TEST(the_list_says_why)
{
	const bool match[] = { true, false, false, true };
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "rdmadiag/trace-errno-list/1");
	report.source = "live";
	rd_report_trace_list(&report, &set, match);
	rd_render_json_line(&report, "0", &out);
	ASSERT_HAS(out.data, "\"kernel\":\"6.1.0\"",
		   "{\"function\":\"ib_umem_get\",\"module\":\"ib_core\",\"selected\":true,\"reason\":"
		   "\"selected\",\"roots\":[\"ib_uverbs_ioctl\"],\"via\":null,\"attachable\":[\"fexit\",\"kprobe\"],"
		   "\"backend\":\"fexit\",",
		   "{\"function\":\"query\",\"module\":null,\"selected\":false,\"reason\":\"query\","
		   "\"roots\":[],\"via\":null,\"attachable\":[],\"backend\":null,");
	assert_null(strstr(out.data, "\"check\""));
	assert_non_null(strstr(out.data,
			       "{\"module\":\"ib_uverbs\",\"version\":null,\"functions\":2,\"selected\":2,\"btf\":true,"
			       "\"file_matches\":false,\"unnamed_functions\":null,\"note\":\"no file\"}"));
}

TEST(status_of_what_is_attached)
{
	struct rd_held held[] = {
		{ .owner = { .state = RD_HOLD_ON,
			     .since = 1,
			     .functions = { 9, 3, 0, 4 },
			     .what = "trace-errno",
			     .command = "x -- y" },
		  .programs = 5,
		  .links = 4,
		  .proc = { .pid = 70, .state = 'S' },
		  .reader = { 69, RD_OK },
		  .user = "alice" },
		{ .owner = { .state = RD_HOLD_ON }, .proc = { .pid = 71, .state = 'T' }, .run_ns = 2500000, .runs = 3 },
		{ .owner = { .state = RD_HOLD_ATTACHING } },
		{ .owner = { .state = 99 }, .proc = { .pid = 72, .state = 'R', .exiting = true } },
	};
	struct rd_held_list list = { .v = held, .n = 4 };
	struct rd_recent_file file = { .v = { { .where = { .verb = "ibv_reg_mr", .err = -12, .count = 3 },
						.comm = "trainer",
						.last_ns = 5000000000,
						.failed = 4,
						.starts = 6 },
					      { .where = { .err = -4000, .count = 1 }, .last_ns = 99000000000 } } };
	const struct rd_recent recent = { .known = RD_OK, .now_ns = 65000000000, .file = &file, .n = 2 };
	_cleanup_buf_ struct rd_buf out = { 0 }, line = { 0 };
	struct rd_report report;

	rd_report_init(&report, "rdmadiag/trace-errno-status/1");
	rd_report_trace_status(&report, &list, &recent);
	rd_render_json(&report, "1", &out);
	rd_render_json_line(&report, "1", &line);
	rd_report_deinit(&report);
	ASSERT_HAS(out.data, "\"run_statistics\": null", "\"pid\": 69", "\"functions\": 7", "\"command\": \"x -- y\"",
		   "\"state\": \"on\"", "\"state\": \"stopped\"", "\"state\": \"attaching\"",
		   "\"state\": \"detaching\"");
	/* What nobody measured is not 0: of the first nothing is known, of the second some. */
	ASSERT_EACH(HAS(out.data, "\"run_seconds\": null"), LACKS(out.data, "\"run_seconds\": 0,"),
		    HAS(out.data, "\"run_seconds\": 0.0025"));
	ASSERT_HAS(line.data,
		   "\"comm\":\"trainer\",\"pid\":null,\"job\":null,\"count\":3,\"age_seconds\":60,"
		   "\"failed\":4,\"starts\":6,\"cause\":null}",
		   "{\"errno\":\"ENOMEM\",\"verb\":\"ibv_reg_mr\",\"ibdev\":null,\"origin\":null,",
		   "\"count\":1,\"age_seconds\":0,\"failed\":null,\"starts\":null,");
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return unit_run(NULL, NULL);
}
