/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"

static struct rd_ksym listed[] = {
	{ 0xffffffff81000000, (char *)"_stext", NULL },
	{ 0xffffffff81000000, (char *)"startup_64", NULL },
	{ 0xffffffff81000400, (char *)"do_syscall_64", NULL },
	{ 0xffffffffc0300000, (char *)"first", (char *)"ib_core" },
	{ 0xffffffffc0300100, (char *)"second", (char *)"ib_core" },
	{ 0xffffffffc0400000, (char *)"third.part.0", (char *)"ib_uverbs" },
	{ 0xffffffffc0500000, (char *)"bpf_trampoline_1", (char *)"bpf" },
};
static const struct rd_ksyms all = { .v = listed, .n = RD_ARRAY_SIZE(listed) };

/* `function` NULL: none has the address. */
static void assert_found(const struct rd_ksyms *s, uint64_t addr, const char *function, const char *module,
			 uint64_t offset)
{
	struct rd_frame frame = { .addr = addr };
	size_t n = 1;

	rd_symbols_resolve(s, &frame, &n);
	ASSERT_EACH(IS(n, 1), IS(frame.offset, offset));
	if (function)
		assert_string_equal(frame.function, function);
	else
		assert_null(frame.function);
	if (module)
		assert_string_equal(frame.object, module);
	else
		assert_null(frame.object);
	RD_FREE(frame.function, frame.object);
}

TEST(an_address_finds_its_function)
{
	assert_found(&all, 0xffffffffc0300000, "first", "ib_core", 0);
	assert_found(&all, 0xffffffffc03000ff, "first", "ib_core", 0xff);
	assert_found(&all, 0xffffffffc0300100, "second", "ib_core", 0);
	assert_found(&all, 0xffffffffc0400010, "third.part.0", "ib_uverbs", 0x10);
	assert_found(&all, 0xffffffff81000510, "do_syscall_64", NULL, 0x110);
	assert_found(&all, 0xffffffff81000001, "_stext", NULL, 1);
	assert_found(&all, 0x1000, NULL, NULL, 0);
	assert_found(&all, UINT64_MAX, NULL, NULL, 0);
}

TEST(hidden_addresses_give_no_names)
{
	assert_found(&(struct rd_ksyms){ 0 }, 0xffffffffc0300000, NULL, NULL, 0);
}

TEST(a_stack_loses_the_frames_of_the_tracing_itself)
{
	struct rd_frame *frames = calloc(8, sizeof(*frames));
	const uint64_t addrs[] = { 0xffffffffc0500010, 0xffffffffc0300005, 0xffffffffc0300150, 0xffffffffc0500020,
				   0xffffffffc0300105, 0xffffffffc0400080, 0xffffffff81000450, 0x10 };
	const char *left[] = { "first", "second", "third.part.0", "do_syscall_64" };
	_cleanup_(rd_event_deinit) struct rd_event ev = { .kstack = frames, .n_kstack = 8 };

	assert_non_null(frames);
	for (size_t i = 0; i < 8; i++)
		frames[i].addr = addrs[i];
	rd_symbols_resolve(&all, ev.kstack, &ev.n_kstack);
	assert_int_equal(ev.n_kstack, 5);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(frames[i].function, left[i]);
	assert_int_equal(frames[0].offset, 5); /* the origin stands at its call of the trampoline */
	ASSERT_EACH(IS(frames[1].offset, 0x50), IS(frames[4].function == NULL, true));
}
