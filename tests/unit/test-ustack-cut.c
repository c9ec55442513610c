/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that end before the first function of their thread: why, and that nothing is shown that is not a caller. */
#include "unit.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include "trace/symbols/ustack-priv.h"
#include "traced.h"

/* The place of an address in the copy; on arm64 it may be signed, above the bits of addresses. */
static uint64_t *find_word(struct rd_rec_user *user, uint64_t word)
{
#ifdef __aarch64__
	const uint64_t bits = (UINT64_C(1) << 36) - 1;
#else
	const uint64_t bits = UINT64_MAX;
#endif
	uint64_t *stack = (uint64_t *)(user + 1);

	for (size_t i = 0; i < user->size / sizeof(*stack); i++)
		if ((stack[i] & bits) == (word & bits))
			return &stack[i];
	return NULL;
}

TEST(a_return_address_follows_a_call)
{
	static int data = 1;
	struct {
		uint64_t address;
		const char *why;
	} wrong[] = {
		{ 1, "not in executable memory" },
		{ (uint64_t)(uintptr_t)&data, "not in executable memory" },
#ifndef __aarch64__ /* linkers put constants into the segment of the code there */
		{ (uint64_t)(uintptr_t) "text", "not in executable memory" },
#endif
		{ UINT64_MAX, "not in executable memory" },
		{ (uint64_t)(uintptr_t)traced_below, "no call instruction" },
		{ (uint64_t)(uintptr_t)traced_below + 4, "no call instruction" },
		{ (uint64_t)(uintptr_t)getsubopt + 4, "no call instruction" },
	};
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start(3);
	_cleanup_free_ struct rd_rec_user *user = traced_copy(pid);
	_cleanup_(rd_event_deinit) struct rd_event whole = traced_resolve(us, pid, user, 0);
	size_t at = traced_find(&whole, "traced_below") + 1;
	uint64_t *slot = find_word(user, whole.ustack[at].addr);

	ASSERT_EACH(IS(slot != NULL, true), IS(whole.ustack_end == NULL, true));
	for (size_t i = 0; i < RD_ARRAY_SIZE(wrong); i++) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		*slot = wrong[i].address;
		ev = traced_resolve(us, pid, user, 0);
		assert_int_equal(ev.n_ustack, at);
		ASSERT_EACH(READS(ev.ustack[at - 1].function, "traced_below"), HAS(ev.ustack_end, wrong[i].why));
	}
	rd_ustack_destroy(us);
	traced_end(pid);
}

TEST(a_copy_that_is_too_short_says_why)
{
	static const char *const why[] = { "not in memory", "64 KiB", "no room", "lockdown" };
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start(20);
	_cleanup_free_ struct rd_rec_user *user = traced_copy(pid);
	size_t before = 0;

	for (user->size = 0; user->size < 512; user->size += 8) {
		_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

		user->end = user->size / 8 % 3;
		ev = traced_resolve(us, pid, user, 0);
		assert_in_range(ev.n_ustack, before ? before : 1, 24);
		assert_non_null(strstr(ev.ustack_end, why[user->end]));
		before = ev.n_ustack;
	}
	assert_true(before > 4);
	user->end = RD_USER_LOCKED;
	{
		_cleanup_(rd_event_deinit) struct rd_event ev = traced_resolve(us, pid, user, 0);

		assert_int_equal(ev.n_ustack, 0);
		assert_non_null(strstr(ev.ustack_end, why[RD_USER_LOCKED]));
	}
	rd_ustack_destroy(us);
	traced_end(pid);
}

TEST(more_frames_than_are_shown_are_mentioned)
{
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start(200);
	_cleanup_free_ struct rd_rec_user *user = traced_copy(pid);
	_cleanup_(rd_event_deinit) struct rd_event ev = traced_resolve(us, pid, user, 0);

	ASSERT_EACH(IS(ev.n_ustack, RD_USER_FRAMES), HAS(ev.ustack_end, "more than 128"));
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* Maps generated code once a byte arrives. */
static pid_t start_mapper(uint64_t at, int go, int done)
{
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) != 1 ||
	    mmap((void *)(uintptr_t)at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED ||
	    write(done, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

TEST(generated_code_ends_the_stack)
{
	void *at = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rd_ustack *us = traced_ustack();
	int go[2], done[2];
	_cleanup_free_ struct rd_rec_user *user = NULL;
	_cleanup_(rd_event_deinit) struct rd_event before = { 0 }, after = { 0 };
	pid_t pid;
	char byte;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	pid = start_mapper((uint64_t)(uintptr_t)at, go[0], done[1]);
	user = traced_copy(pid);
	*traced_pc(user) = (uint64_t)(uintptr_t)at + 16;
	before = traced_resolve(us, pid, user, 0);
	ASSERT_EACH(IS(before.n_ustack, 1), HAS(before.ustack_end, "not in executable memory"));
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	/* The files are the same, what is executable is not. */
	after = traced_resolve(us, pid, user, 0);
	ASSERT_EACH(IS(after.n_ustack, 1), HAS(after.ustack_end, "generated code"));
	for (size_t i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
	munmap(at, 4096);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* Has so many mappings that it takes a while to read them, and ends some time after it may. */
static pid_t start_short_lived(unsigned after_us, int ready, int go)
{
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 5000; i++)
		mmap(NULL, 4096, i % 2 ? PROT_READ | PROT_EXEC : PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (write(ready, "", 1) == 1 && read(go, &byte, 1) == 1)
		usleep(after_us);
	_exit(0);
}

/* The kernel then lists a part of its mappings, as if these were all. Libraries come last. */
TEST(a_process_that_ends_while_it_is_read_keeps_what_was_known)
{
	struct rd_ustack *us = traced_ustack();
	int ready[2], go[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	for (unsigned i = 0; i < 10; i++) {
		pid_t pid = start_short_lived(i * 600, ready[1], go[0]);
		_cleanup_free_ struct rd_rec_user *user = NULL;
		_cleanup_(rd_event_deinit) struct rd_event first = { 0 };
		bool ended = false;

		assert_int_equal(read(ready[0], &byte, 1), 1);
		user = traced_copy(pid);
		first = traced_resolve(us, pid, user, 0);
		assert_null(first.ustack_end);
		assert_int_equal(write(go[1], "", 1), 1);
		while (!ended) {
			_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };

			ended = waitpid(pid, NULL, WNOHANG) != 0;
			ev = traced_resolve(us, pid, user, 0);
			ASSERT_EACH(IS(ev.n_ustack, first.n_ustack), IS(ev.ustack_end == NULL, true));
		}
	}
	for (size_t i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	rd_ustack_destroy(us);
}

/* As far as they are understood; what is not complete is no reason to end a stack. */
static struct rd_maps parse_maps(const char *text, bool whole)
{
	_cleanup_free_ char *copy = strdup(text);
	struct rd_maps maps;

	rd_maps_parse(copy, whole, &maps);
	return maps;
}

TEST(maps_are_foreign)
{
	_cleanup_(rd_maps_deinit) struct rd_maps maps =
		parse_maps("1000-2000 r-xp 00000000 fe:01 7 /a\\012b\\040 c (deleted)\n"
			   "3000-4000 --xp 00000000 00:00 0 \n"
			   "4000-5000 rw-p 00000000 00:00 0 [anon:/usr/lib/libc.so.6]\n"
			   "5000-6000 r-xs fffffffffffff000 00:05 8 /dev/x\n"
			   "6000-7000 r-xp 00000000 00:00 0 [anon:[vdso]]\n"
			   "7fff00000000-7fff00001000 rwxp 00000000 00:00 0 [stack]\n"
			   "ffffffffff600000-ffffffffffffffff --xp 00000000 00:00 0 [vsyscall]\n",
			   true);

	ASSERT_EACH(IS(maps.complete, true), IS(maps.n, 2), IS(maps.n_areas, 6));
	assert_string_equal(maps.v[rd_maps_code(&maps, 0x1fff)->file].name, "/a\\012b\\040 c (deleted)");
	ASSERT_EACH(IS(rd_maps_code(&maps, 0x2000) == NULL, true), IS(rd_maps_code(&maps, 0x3000)->file, -1),
		    IS(rd_maps_code(&maps, 0x4000) == NULL, true),
		    IS(rd_maps_code(&maps, 0x5000)->offset, UINT64_C(0xfffffffffffff000)),
		    IS(rd_maps_code(&maps, 0x6000)->file, -1), IS(rd_maps_code(&maps, 0x7fff00000fff) != NULL, true),
		    IS(rd_maps_code(&maps, UINT64_C(0xfffffffffffffffe)) != NULL, true),
		    IS(rd_maps_code(&maps, UINT64_MAX) == NULL, true), IS(rd_maps_code(&maps, 0) == NULL, true));
}

#define A_LINE "1000-2000 r-xp 00000000 fe:01 7 /a\n"

TEST(maps_that_are_not_understood_are_not_complete)
{
	static const char *const texts[] = {
		A_LINE "\n" A_LINE,
		A_LINE "3000-\n" A_LINE,
		A_LINE "3000-3000 r-xp 00000000 fe:01 7 /a\n" A_LINE,
		A_LINE "3000-2000 r-xp 00000000 fe:01 7 /a\n" A_LINE,
		A_LINE "1fff-3000 r-xp 00000000 fe:01 7 /a\n",
		A_LINE "1fff-3000 r-xp 00000000 fe:01 7 /a",
		A_LINE A_LINE,
		A_LINE "10000000000000000-20000000000000000 r-xp 00000000 fe:01 7 /a\n" A_LINE,
	};
	struct rd_maps maps;

	for (size_t i = 0; i < RD_ARRAY_SIZE(texts); i++) {
		maps = parse_maps(texts[i], true);
		ASSERT_EACH(IS(maps.complete, false), IS(maps.n_areas, 1));
		rd_maps_deinit(&maps);
	}
	maps = parse_maps(A_LINE, false);
	assert_false(maps.complete);
	rd_maps_deinit(&maps);
	maps = parse_maps(A_LINE, true);
	assert_true(maps.complete);
	rd_maps_deinit(&maps);
}
