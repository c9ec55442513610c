/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"

#include <string.h>

static void parse(const char *text, struct rd_symbols *ret)
{
	struct rd_err err = { 0 };

	assert_int_equal(rd_symbols_parse(text, ret, &err), 0);
}

static void assert_found(const struct rd_symbols *s, uint64_t addr, const char *function, const char *module,
			 uint64_t offset)
{
	const char *f = NULL, *m = NULL;
	uint64_t o = 0;

	assert_true(rd_symbols_find(s, addr, &f, &m, &o));
	assert_string_equal(f, function);
	assert_int_equal(o, offset);
	if (module)
		assert_string_equal(m, module);
	else
		assert_null(m);
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T startup_64\n"
			       "ffffffff81000400 t do_syscall_64\n"
			       "ffffffff81000500 D some_data\n"
			       "ffffffffc0300100 t second\t[ib_core]\n"
			       "ffffffffc0300000 t first\t[ib_core]\n"
			       "ffffffffc0400000 W third.part.0\t[ib_uverbs]\n"
			       "ffffffffc0500000 t bpf_trampoline_1\t[bpf]\n";

static void an_address_finds_its_function(void **state)
{
	_cleanup_(rd_symbols_deinit) struct rd_symbols s = { 0 };
	const char *f, *m;
	uint64_t o;

	parse(kallsyms, &s);
	assert_found(&s, 0xffffffffc0300000, "first", "ib_core", 0);
	assert_found(&s, 0xffffffffc03000ff, "first", "ib_core", 0xff);
	assert_found(&s, 0xffffffffc0300100, "second", "ib_core", 0);
	assert_found(&s, 0xffffffffc0400010, "third.part.0", "ib_uverbs", 0x10);
	assert_found(&s, 0xffffffff81000510, "do_syscall_64", NULL, 0x110);
	assert_false(rd_symbols_find(&s, 0x1000, &f, &m, &o));
	assert_false(rd_symbols_find(&s, UINT64_MAX, &f, &m, &o));
}

static void hidden_addresses_give_no_names(void **state)
{
	_cleanup_(rd_symbols_deinit) struct rd_symbols s = { 0 };
	struct rd_frame frame = { .addr = 0xffffffffc0300000 };
	size_t n = 1;

	parse("0000000000000000 T _stext\n0000000000000000 t first\t[ib_core]\n", &s);
	assert_int_equal(s.n, 0);
	rd_symbols_resolve(&s, &frame, &n);
	assert_int_equal(n, 1);
	assert_null(frame.function);
}

static void lines_in_no_known_form_do_no_harm(void **state)
{
	_cleanup_(rd_symbols_deinit) struct rd_symbols s = { 0 };
	static char longest[1200] = "ffffffff81000000 t ";

	parse("\n\nzz\nffffffff81000000\nffffffff81000000 t\nffffffff81000000 t \nffffffff81000000  x\n"
	      "ffffffffffffffffffff t far\nffffffff81000010 t ok [\nffffffff81000020 t ok2 []\nffffffff81000030 t last",
	      &s);
	assert_int_equal(s.n, 3);
	assert_found(&s, 0xffffffff81000010, "ok", NULL, 0);
	assert_found(&s, 0xffffffff81000020, "ok2", NULL, 0);
	assert_found(&s, 0xffffffff81000031, "last", NULL, 1);

	memset(longest + strlen(longest), 'x', 1000);
	rd_symbols_deinit(&s);
	parse(longest, &s);
	assert_int_equal(s.n, 0);
}

static void a_stack_loses_the_frames_of_the_tracing_itself(void **state)
{
	_cleanup_(rd_symbols_deinit) struct rd_symbols s = { 0 };
	struct rd_frame *frames = calloc(8, sizeof(*frames));
	const uint64_t addrs[] = { 0xffffffffc0500010, 0xffffffffc0300005, 0xffffffffc0300150, 0xffffffffc0500020,
				   0xffffffffc0300105, 0xffffffffc0400080, 0xffffffff81000450, 0x10 };
	const char *left[] = { "first", "second", "third.part.0", "do_syscall_64" };
	_cleanup_(rd_event_deinit) struct rd_event ev = { .kstack = frames, .n_kstack = 8 };

	assert_non_null(frames);
	for (size_t i = 0; i < 8; i++)
		frames[i].addr = addrs[i];
	parse(kallsyms, &s);
	rd_symbols_resolve(&s, ev.kstack, &ev.n_kstack);
	assert_int_equal(ev.n_kstack, 5);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(frames[i].function, left[i]);
	assert_int_equal(frames[0].offset, 5); /* the origin stands at its call of the trampoline */
	assert_int_equal(frames[1].offset, 0x50);
	assert_null(frames[4].function);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_address_finds_its_function),
		TEST(hidden_addresses_give_no_names),
		TEST(lines_in_no_known_form_do_no_harm),
		TEST(a_stack_loses_the_frames_of_the_tracing_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
