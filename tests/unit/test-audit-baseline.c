/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The document of trace-errno --audit, written and read again, and documents that are wrong. */
#include "unit.h"

#include "analyse/trace/audit.h"
#include "collect/kernel/kernel.h"
#include "render/render.h"
#include "report/trace/report-trace.h"

static uint32_t calls[] = { 1, 2 }, back[] = { 2 }, first_root[] = { 0 };
static struct rd_module modules[] = { { .name = "core", .has_btf = true, .file_matches = true },
				      { .name = "drv", .version = "24.10-\"1\"", .has_btf = true, .note = "no file" },
				      { .name = "bare", .file_matches = true, .unnamed = 3 } };
static struct rd_fn fns[] = {
	{ .name = "ioctl",
	  .rule = RD_RULE_ENTRY,
	  .selected = true,
	  .attachable = 1 << RD_BACKEND_FEXIT | 1 << RD_BACKEND_FEXIT_MULTI | 1 << RD_BACKEND_KPROBE_MULTI |
			1 << RD_BACKEND_KPROBE,
	  .size = 4000000000u,
	  .calls = calls,
	  .n_calls = 2,
	  .roots = first_root,
	  .n_roots = 1 },
	{ .name = "check.isra.0",
	  .taken = true,
	  .selected = true,
	  .attachable = 1 << RD_BACKEND_KPROBE,
	  .size = 100,
	  .loaded = { ~1ull, ~0ull, ~0ull },
	  .calls = back,
	  .n_calls = 1 },
	{ .name = "map", .module = 1, .rule = RD_RULE_QUERY },
};
static struct rd_root roots[] = { { .fn = 0, .via = "ioctl handler" } };
static const struct rd_fnset set = {
	.kernel = "9.9-1-amd64",
	.backends = UINT8_MAX,
	.modules = modules,
	.n_modules = 3,
	.fns = fns,
	.n_fns = 3,
	.roots = roots,
	.n_roots = 1,
};

/* The document of the set. */
static void write_document(bool complete, struct rd_buf *out)
{
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set now;
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_audit_take(&set, complete, &now);
	rd_report_init(&report, RD_AUDIT_SCHEMA);
	rd_report_audit(&report, &set, &now, NULL, NULL);
	rd_render_json(&report, "1.0", out);
}

/* Returns 0 or -errno; an error has a text and, unless the document is too large, a hint. */
static int parse(const char *text, size_t size, struct rd_audit_set *ret)
{
	char *copy = malloc(size ? size : 1); /* nothing lies behind it */
	struct rd_err err = { 0 };
	int r;

	assert_non_null(copy);
	memcpy(copy, text, size);
	r = rd_audit_baseline_parse(copy, size, ret, &err);
	free(copy);
	ASSERT_EACH(IS(r, -err.code), IS(!r, !err.message[0]),
		    IS(r != -EBADMSG || strstr(err.hint, "--write-baseline"), true));
	return r;
}

TEST(what_was_written_is_read_the_same)
{
	for (int complete = 0; complete < 2; complete++) {
		_cleanup_(rd_audit_deinit) struct rd_audit audit = { 0 };
		_cleanup_buf_ struct rd_buf text = { 0 };
		struct rd_audit_set taken, read;

		write_document(complete, &text);
		assert_int_equal(parse(text.data, text.len, &read), 0);
		rd_audit_take(&set, complete, &taken);
		ASSERT_EACH(READS(read.kernel, taken.kernel), IS(read.complete, complete), IS(read.n, taken.n));
		for (size_t i = 0; i < read.n; i++) {
			const struct rd_audit_fn *x = &read.fns[i], *y = &taken.fns[i];

			ASSERT_EACH(READS(x->function, y->function), READS(x->module, y->module),
				    IS(x->selected, y->selected), IS(x->rule, y->rule),
				    IS(x->attachable, y->attachable), IS(x->size, y->size));
			assert_memory_equal(x->errnos, y->errnos, sizeof(x->errnos));
			ASSERT_EACH(IS(x->taken, y->taken), IS(x->root, y->root),
				    READS(x->via ? x->via : "", y->via ? y->via : ""), IS(x->n_calls, y->n_calls));
			for (uint32_t c = 0; c < x->n_calls; c++)
				assert_string_equal(x->calls[c], y->calls[c]);
		}
		assert_int_equal(read.n_modules, 3);
		ASSERT_EACH(READS(read.modules[1].name, "drv"), READS(read.fns[0].via, "ioctl handler"),
			    IS(read.fns[1].taken && !read.fns[0].taken, true),
			    IS(read.modules[0].has_btf && read.modules[0].has_file, true),
			    IS(read.modules[2].stripped && !read.modules[0].stripped, true),
			    IS(read.modules[1].has_btf && !read.modules[1].has_file, true));
		rd_audit_compare(&read, &taken, &audit);
		ASSERT_EACH(IS(audit.n + audit.missing.n, 0), IS(audit.compared, 2));
		rd_audit_set_deinit(&read);
		rd_audit_set_deinit(&taken);
	}
}

TEST(a_document_that_is_cut_off_is_refused)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_audit_set read;

	write_document(true, &text);
	while (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	for (size_t size = 0; size < text.len; size++)
		assert_int_equal(parse(text.data, size, &read), -EBADMSG);
	assert_int_equal(parse("", 0, &read), -EBADMSG);
}

#define SCHEMA "\"schema\": \"" RD_AUDIT_SCHEMA "\""
#define MODULES "\"modules\": [{\"module\": \"drv\", \"btf\": true, \"file_matches\": true}]"
#define FUNCTIONS \
	"\"functions\": [{\"function\": \"open\", \"module\": \"drv\", \"selected\": true, \"attachable\": []}]"
#define NAMES "\"function\": \"f\", \"module\": \"m\""
#define KERNEL "\"kernel\": \"9.9\""
#define GOOD "{" SCHEMA ", " KERNEL ", " FUNCTIONS ", " MODULES "}"

TEST(documents_of_something_else_are_refused)
{
	static const char *const bad[] = {
		"{}",
		"[]",
		"null",
		"\"x\"",
		"\x7f"
		"ELF",
		GOOD " x",
		"{" KERNEL ", " FUNCTIONS ", " MODULES "}",
		"{\"schema\": \"rdmadiag/trace-errno/1\", " KERNEL ", " FUNCTIONS ", " MODULES "}",
		"{\"schema\": \"" RD_AUDIT_SCHEMA "0\", " KERNEL ", " FUNCTIONS ", " MODULES "}",
		"{\"schema\": 1, " KERNEL ", " FUNCTIONS ", " MODULES "}",
		"{\"schema\": [\"" RD_AUDIT_SCHEMA "\"], " KERNEL ", " FUNCTIONS ", " MODULES "}",
		"{" SCHEMA ", " FUNCTIONS ", " MODULES "}",
		"{" SCHEMA ", " KERNEL ", " MODULES "}",
		"{" SCHEMA ", " KERNEL ", " FUNCTIONS "}",
		"{" SCHEMA ", " KERNEL ", \"functions\": [], " MODULES "}",
		"{" SCHEMA ", " KERNEL ", \"functions\": {}, " MODULES "}",
		"{" SCHEMA ", " KERNEL ", \"functions\": null, " MODULES "}",
		"{" SCHEMA ", " KERNEL ", \"functions\": [null], " MODULES "}",
		"{" SCHEMA ", " KERNEL ", \"functions\": [[]], " MODULES "}",
		"{" SCHEMA ", " KERNEL ", \"functions\": [\"open\"], " MODULES "}",
		"{" SCHEMA ", \"kernel\": 9, " FUNCTIONS ", " MODULES "}",
		"{" SCHEMA ", " KERNEL ", " FUNCTIONS ", \"modules\": [\"drv\"]}",
		"{" SCHEMA ", " KERNEL ", " FUNCTIONS ", \"modules\": \"drv\"}",
	};
	struct rd_audit_set read;

	assert_int_equal(parse(GOOD, strlen(GOOD), &read), 0);
	rd_audit_set_deinit(&read);
	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++)
		if (parse(bad[i], strlen(bad[i]), &read) != -EBADMSG)
			fail_msg("%s", bad[i]);
}

/* The first function of a document whose only function has these members; -errno. */
static int parse_members(const char *members, struct rd_audit_set *ret)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_printf(&text, "{%s, %s, \"functions\": [{%s%s%s}], %s}", SCHEMA, KERNEL,
		      strstr(members, "\"function\"") ? "" : "\"function\": \"f\", \"module\": \"m\"",
		      *members && !strstr(members, "\"function\"") ? ", " : "", members, MODULES);
	return parse(text.data, text.len, ret);
}

TEST(members_of_a_function_with_another_type_are_skipped_or_refused)
{
	static const struct {
		const char *members;
		int r;
	} cases[] = {
		{ "", 0 },
		{ "\"function\": 7, \"module\": \"m\"", -EBADMSG },
		{ "\"function\": \"f\", \"module\": null", -EBADMSG },
		{ "\"selected\": true", -EBADMSG },
		{ "\"selected\": true, \"attachable\": null", -EBADMSG },
		{ "\"selected\": true, \"attachable\": [], \"size_bytes\": 1", -EBADMSG },
		{ "\"attachable\": {}", -EBADMSG },
		{ "\"selected\": \"yes\", \"reason\": [1], \"attachable\": null", 0 },
		{ "\"errnos\": \"EIO\"", -EBADMSG },
		{ "\"calls\": 8", -EBADMSG },
		{ "\"attachable\": [1, null, \"none\", \"jprobe\", \"\"], \"errnos\": [{}, \"E\", \"0\", \"-5\", \"192\", \"9999999999\"]",
		  0 },
		{ "\"calls\": [[\"map\"], false]", 0 },
		{ "\"reason\": \"because\", \"size_bytes\": null", 0 },
		{ "\"size_bytes\": \"100\"", -EBADMSG },
		{ "\"size_bytes\": -1", -EBADMSG },
		{ "\"size_bytes\": 1.5", -EBADMSG },
		{ "\"size_bytes\": true", -EBADMSG },
		{ "\"size_bytes\": 4294967296", -EBADMSG },
		{ "\"size_bytes\": 18446744073709551616", -EBADMSG },
		{ "\"calls\": [\"map\"", -EBADMSG },
		{ "\"calls\": [\"map\",]", -EBADMSG },
		{ "\"function\": \"a\\u0000b\"", -EBADMSG },
		{ "7: 1", -EBADMSG },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		static const uint64_t none[3];
		struct rd_audit_set read;
		int r = parse_members(cases[i].members, &read);

		if (r != cases[i].r)
			fail_msg("%s: %d", cases[i].members, r);
		if (r)
			continue;
		assert_int_equal(read.n, 1);
		ASSERT_EACH(READS(read.fns[0].function, "f"), READS(read.fns[0].module, "m"),
			    IS(read.fns[0].selected, false), IS(read.fns[0].rule, RD_RULE_NOT_REACHED));
		assert_int_equal(read.fns[0].attachable + read.fns[0].size + read.fns[0].n_calls, 0);
		assert_memory_equal(read.fns[0].errnos, none, sizeof(none));
		rd_audit_set_deinit(&read);
	}
}

TEST(members_that_come_twice_leak_nothing)
{
	static const char twice[] = "{" SCHEMA ", " KERNEL ", \"kernel\": \"8.8\", " FUNCTIONS ", " FUNCTIONS
				    ", " MODULES ", " MODULES ", \"functions\": 7}";
	struct rd_audit_set read;

	assert_int_equal(parse(twice, strlen(twice), &read), 0);
	ASSERT_EACH(READS(read.kernel, "9.9"), IS(read.n, 1), IS(read.n_modules, 1));
	rd_audit_set_deinit(&read);
	assert_int_equal(parse_members("\"function\": \"a\", \"function\": \"b\", \"module\": \"c\", \"module\": \"d\", "
				       "\"calls\": [\"e\"], \"calls\": [\"f\"], \"size_bytes\": 1, \"size_bytes\": 2, "
				       "\"reason\": \"query\", \"reason\": \"cold\"",
				       &read),
			 0);
	ASSERT_EACH(READS(read.fns[0].function, "a"), READS(read.fns[0].module, "c"), IS(read.fns[0].n_calls, 2));
	rd_audit_set_deinit(&read);
}

TEST(members_that_are_not_known_are_skipped)
{
	static const char newer[] =
		"{" SCHEMA ", \"new\": {\"a\": [1, {\"b\": null}, -2.5e3]}, " KERNEL
		", \"modules\": [{\"new\": [], \"module\": \"drv\", \"version\": \"1\"}], \"findings\": [], "
		"\"functions\": [{\"calls\": [\"map\"], \"new\": [[\"x\"]], \"function\": \"open\", \"module\": \"drv\"}]}";
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set read;

	assert_int_equal(parse(newer, strlen(newer), &read), 0);
	ASSERT_EACH(READS(read.fns[0].function, "open"), READS(read.fns[0].calls[0], "map"),
		    READS(read.modules[0].name, "drv"));
}

/* A document with `n` times `element`, separated by commas, in the list between `before` and `after`. */
static int parse_many(const char *before, const char *element, size_t n, const char *after, struct rd_audit_set *ret)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_buf_printf(&text, "{%s, %s, %s", SCHEMA, KERNEL, before);
	for (size_t i = 0; i < n; i++)
		rd_buf_printf(&text, "%s%s", i ? "," : "", element);
	rd_buf_printf(&text, "%s}", after);
	return parse(text.data, text.len, ret);
}

TEST(lists_without_end_are_refused)
{
	static const struct {
		const char *before, *element, *after;
		size_t max;
	} cases[] = {
		{ "\"functions\": [", "{" NAMES "}", "], " MODULES, 1000 },
		{ FUNCTIONS ", \"modules\": [", "{}", "]", 128 },
		{ "\"functions\": [{" NAMES ", \"calls\": [", "\"a\"", "]}], " MODULES, 4096 },
		{ "\"functions\": [{" NAMES ", \"errnos\": [", "\"EIO\"", "]}], " MODULES, 4096 },
		{ "\"functions\": [{" NAMES ", \"attachable\": [", "\"x\"", "]}], " MODULES, 4096 },
	};
	struct rd_audit_set read;

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse_many(cases[i].before, cases[i].element, cases[i].max, cases[i].after, &read), 0);
		rd_audit_set_deinit(&read);
		assert_int_equal(parse_many(cases[i].before, cases[i].element, cases[i].max + 1, cases[i].after, &read),
				 -EFBIG);
	}
}

TEST(more_functions_than_a_kernel_has_are_refused)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_audit_set read;

	for (size_t n = RD_AUDIT_FNS_MAX; n <= RD_AUDIT_FNS_MAX + 1; n++) {
		text.len = 0;
		rd_buf_printf(&text, "{%s, %s, %s, \"functions\": [{" NAMES "}", SCHEMA, KERNEL, MODULES);
		for (size_t i = 1; i < n; i++)
			rd_buf_printf(&text, ",{\"function\": \"f%zu\", \"module\": \"m\"}", i);
		rd_buf_str(&text, "]}");
		if (n == RD_AUDIT_FNS_MAX) {
			assert_int_equal(parse(text.data, text.len, &read), 0);
			rd_audit_set_deinit(&read);
		} else {
			assert_int_equal(parse(text.data, text.len, &read), -EFBIG);
		}
	}
}

TEST(deep_nesting_is_refused)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_audit_set read;

	for (int object = 0; object < 2; object++) {
		text.len = 0;
		rd_buf_printf(&text, "{%s, \"new\": ", SCHEMA);
		for (int i = 0; i < 200000; i++)
			rd_buf_str(&text, object ? "{\"x\":" : "[");
		assert_int_equal(parse(text.data, text.len, &read), -EBADMSG);
	}
}
