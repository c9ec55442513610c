/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that go through code without frame pointers: what follows is any numbers, and is not shown. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "trace/symbols/ustack-priv.h"
#include "traced.h"

/* Long enough that the address is not its first. */
__attribute__((noinline)) static int a_function_of_the_test(int a)
{
	for (int i = 0; i < a; i++)
		a ^= i * 7;
	return a;
}

static uint64_t inside(void *function)
{
	return (uint64_t)(uintptr_t)function + 5;
}

/* Behind the function of the test is a frame at `addr`, and then the function again. Returns how many frames are left. */
static size_t resolve_behind(struct rd_ustack *us, pid_t pid, uint64_t addr, struct rd_ustack_cut *cut)
{
	struct rd_frame frames[4] = { { .addr = inside(getsubopt) },
				      { .addr = inside(a_function_of_the_test) },
				      { .addr = addr },
				      { .addr = inside(a_function_of_the_test) } };
	struct rd_err err = { 0 };
	size_t n = 4;

	assert_int_equal(rd_ustack_resolve(us, (uint32_t)pid, frames, &n, cut, &err), 0);
	assert_in_range(n, 1, 4);
	assert_int_equal(cut->dropped, 4 - n);
	assert_int_equal(cut->why != NULL, n < 4);
	assert_non_null(frames[0].object);
	assert_string_equal(frames[1].function, "a_function_of_the_test");
	for (size_t i = n; i < 4; i++) {
		assert_null(frames[i].object);
		assert_null(frames[i].function);
		assert_null(frames[i].file);
	}
	traced_free_frames(frames, n);
	return n;
}

/* In a library without frame pointers, that register has any number. */
static void a_frame_that_is_no_code_ends_the_stack(void **state)
{
	static int data = 1;
	int on_stack = 0;
	_cleanup_free_ int *on_heap = calloc(1, sizeof(*on_heap));
	const uint64_t wrong[] = {
		0,
		1,
		4096,
		(uint64_t)(uintptr_t)&data,
		(uint64_t)(uintptr_t)&on_stack,
		(uint64_t)(uintptr_t)on_heap,
		/* In the file of the test, and in a part that is only read. */
		(uint64_t)(uintptr_t) "text",
		UINT64_C(1) << 63,
		UINT64_MAX,
	};
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start();
	struct rd_ustack_cut cut;

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(wrong); i++) {
		assert_int_equal(resolve_behind(us, pid, wrong[i], &cut), 2);
		assert_non_null(strstr(cut.why, "is not in executable memory"));
	}
	assert_int_equal(resolve_behind(us, pid, inside(getsubopt), &cut), 4);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* It is the instruction pointer: whatever we know about memory, the program ran there. */
static void the_first_frame_stays(void **state)
{
	struct rd_frame frames[3] = { { .addr = 1 }, { .addr = inside(a_function_of_the_test) }, { .addr = 1 } };
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start();
	struct rd_ustack_cut cut;
	struct rd_err err = { 0 };
	size_t n = 3;

	(void)state;
	assert_int_equal(rd_ustack_resolve(us, (uint32_t)pid, frames, &n, &cut, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(cut.dropped, 1);
	assert_null(frames[0].object);
	assert_string_equal(frames[1].function, "a_function_of_the_test");
	traced_free_frames(frames, n);
	rd_ustack_destroy(us);
	traced_end(pid);
}

static uint64_t map_anonymous(int prot, size_t size)
{
	void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return (uint64_t)(uintptr_t)at;
}

/* Where the vdso is executable; 0: there is none. */
static uint64_t find_vdso(void)
{
	struct rd_maps maps;
	uint64_t at = 0;

	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	assert_true(maps.complete);
	for (size_t i = 0; i < maps.n_areas && !at; i++)
		if (maps.areas[i].file >= 0 && strcmp(maps.v[maps.areas[i].file].name, "[vdso]") == 0)
			at = maps.areas[i].start;
	rd_maps_deinit(&maps);
	return at;
}

static void code_without_a_file_is_code(void **state)
{
	uint64_t code = map_anonymous(PROT_READ | PROT_EXEC, 8192), vdso = find_vdso();
	struct rd_ustack *us = traced_ustack();
	pid_t pid = traced_start();
	struct rd_ustack_cut cut;

	(void)state;
	munmap((void *)(uintptr_t)(code + 4096), 4096);
	assert_int_equal(resolve_behind(us, pid, code + 16, &cut), 4);
	/* The last instruction may be a call that does not return. */
	assert_int_equal(resolve_behind(us, pid, code + 8192, &cut), 4);
	assert_int_equal(resolve_behind(us, pid, code, &cut), 2);
	if (vdso)
		assert_int_equal(resolve_behind(us, pid, vdso + 16, &cut), 4);
	munmap((void *)(uintptr_t)code, 4096);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* Maps generated code at `at` and a file behind it, once a byte arrives. */
static pid_t start_mapper(uint64_t at, int go, int done)
{
	pid_t pid = fork();
	char *to = (char *)(uintptr_t)at, byte;
	int file;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	file = open("/proc/self/exe", O_RDONLY);
	if (mmap(to, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    mmap(to + 8192, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED ||
	    write(done, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* The maps as they were when the process was first seen have neither the generated code nor the library. */
static void code_that_came_later_is_code(void **state)
{
	uint64_t at = map_anonymous(PROT_NONE, 3 * 4096);
	struct rd_ustack *us = traced_ustack();
	struct rd_ustack_cut cut;
	int go[2], done[2];
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	pid = start_mapper(at, go[0], done[1]);
	close(done[1]);
	assert_int_equal(resolve_behind(us, pid, at + 16, &cut), 2);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	assert_int_equal(resolve_behind(us, pid, at + 16, &cut), 4);
	assert_int_equal(resolve_behind(us, pid, at + 8192 + 16, &cut), 4);
	assert_int_equal(resolve_behind(us, pid, at + 4096 + 16, &cut), 2);
	close(go[0]);
	close(go[1]);
	close(done[0]);
	munmap((void *)(uintptr_t)at, 3 * 4096);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* Nothing is known about the memory of the one; of the other, what was. */
static void a_process_that_has_ended_is_judged_by_what_it_had(void **state)
{
	struct rd_frame frames[2] = { { .addr = inside(getsubopt) }, { .addr = 1 } };
	struct rd_ustack *us = traced_ustack();
	pid_t unseen = traced_start(), seen = traced_start();
	struct rd_ustack_cut cut;
	siginfo_t info;
	struct rd_err err = { 0 };
	size_t n = 2;

	(void)state;
	assert_int_equal(resolve_behind(us, seen, inside(getsubopt), &cut), 4);
	traced_end(unseen);
	/* At first, its parent has not noticed. */
	kill(seen, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)seen, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(resolve_behind(us, seen, inside(getsubopt), &cut), 4);
	traced_end(seen);
	assert_int_equal(rd_ustack_resolve(us, (uint32_t)unseen, frames, &n, &cut, &err), 0);
	assert_int_equal(n, 2);
	assert_null(cut.why);
	assert_int_equal(resolve_behind(us, seen, inside(getsubopt), &cut), 4);
	assert_int_equal(resolve_behind(us, seen, 1, &cut), 2);
	assert_non_null(strstr(cut.why, "when the mappings were last read"));
	rd_ustack_destroy(us);
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
		map_anonymous(i % 2 ? PROT_READ | PROT_EXEC : PROT_READ, 4096);
	if (write(ready, "", 1) == 1 && read(go, &byte, 1) == 1)
		usleep(after_us);
	_exit(0);
}

/* The kernel then lists a part of its mappings, as if these were all. Libraries come last. */
static void a_process_that_ends_while_it_is_read_keeps_what_was_known(void **state)
{
	struct rd_ustack *us = traced_ustack();
	struct rd_ustack_cut cut;
	int ready[2], go[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	for (unsigned i = 0; i < 30; i++) {
		pid_t pid = start_short_lived(i * 200, ready[1], go[0]);

		assert_int_equal(read(ready[0], &byte, 1), 1);
		assert_int_equal(resolve_behind(us, pid, 1, &cut), 2);
		assert_int_equal(write(go[1], "", 1), 1);
		while (waitpid(pid, NULL, WNOHANG) == 0)
			assert_int_equal(resolve_behind(us, pid, 1, &cut), 2);
		assert_int_equal(resolve_behind(us, pid, 1, &cut), 2);
	}
	for (size_t i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	rd_ustack_destroy(us);
}

static void make_file(const char *path, off_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0755);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

/* A mapping of four pages of a file that may have fewer bytes. */
static uint64_t map_file(const char *path, off_t size)
{
	void *at;
	int fd;

	make_file(path, size);
	fd = open(path, O_RDONLY);
	at = mmap(NULL, 4 * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	return (uint64_t)(uintptr_t)at;
}

/* On some file systems, only root can find out which file is mapped. */
static bool has_size(uint64_t at)
{
	const struct rd_area *area;
	struct rd_maps maps;
	uint64_t size = 0;
	int fd;

	assert_int_equal(rd_maps_read(getpid(), &maps), 0);
	area = rd_maps_code(&maps, at);
	assert_non_null(area);
	fd = rd_maps_open(getpid(), &maps.v[area->file], true, &size);
	if (fd >= 0)
		close(fd);
	rd_maps_deinit(&maps);
	return size != 0;
}

static void a_frame_beyond_the_end_of_its_file_ends_the_stack(void **state)
{
	struct rd_ustack *us = traced_ustack();
	struct rd_ustack_cut cut;
	char path[64];
	uint64_t at;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/rd-ustack-short-%d", (int)getpid());
	at = map_file(path, 6000);
	if (!has_size(at)) {
		unlink(path);
		rd_ustack_destroy(us);
		SKIP("cannot find out which file is mapped");
	}
	pid = traced_start();
	assert_int_equal(resolve_behind(us, pid, at + 16, &cut), 4);
	/* Behind the call that is the last instruction of the file. */
	assert_int_equal(resolve_behind(us, pid, at + 6000, &cut), 4);
	assert_int_equal(resolve_behind(us, pid, at + 6001, &cut), 2);
	assert_non_null(strstr(cut.why, "beyond the end of its file"));
	assert_int_equal(resolve_behind(us, pid, at + 3 * 4096, &cut), 2);
	assert_int_equal(resolve_behind(us, pid, at + 4 * 4096 + 1, &cut), 2);
	assert_non_null(strstr(cut.why, "executable"));
	unlink(path);
	munmap((void *)(uintptr_t)at, 4 * 4096);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* An update of a library leaves a shorter file at its path. */
static void the_file_that_replaced_another_has_no_say(void **state)
{
	struct rd_ustack *us = traced_ustack();
	pid_t pid;
	struct rd_ustack_cut cut;
	char path[64];
	uint64_t at;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/rd-ustack-replaced-%d", (int)getpid());
	at = map_file(path, 4 * 4096);
	pid = traced_start();
	unlink(path);
	make_file(path, 100);
	assert_int_equal(resolve_behind(us, pid, at + 2 * 4096, &cut), 4);
	unlink(path);
	munmap((void *)(uintptr_t)at, 4 * 4096);
	rd_ustack_destroy(us);
	traced_end(pid);
}

/* As far as they are understood; what is not complete is no reason to end a stack. */
static struct rd_maps parse_maps(const char *text, bool whole)
{
	_cleanup_free_ char *copy = strdup(text);
	struct rd_maps maps;

	rd_maps_parse(copy, whole, &maps);
	return maps;
}

static void maps_are_foreign(void **state)
{
	struct rd_maps maps = parse_maps("1000-2000 r-xp 00000000 fe:01 7 /a\\012b\\040 c (deleted)\n"
					 "3000-4000 --xp 00000000 00:00 0 \n"
					 "4000-5000 rw-p 00000000 00:00 0 [anon:/usr/lib/libc.so.6]\n"
					 "5000-6000 r-xs fffffffffffff000 00:05 8 /dev/x\n"
					 "6000-7000 r-xp 00000000 00:00 0 [anon:[vdso]]\n"
					 "7fff00000000-7fff00001000 rwxp 00000000 00:00 0 [stack]\n"
					 "ffffffffff600000-ffffffffffffffff --xp 00000000 00:00 0 [vsyscall]\n",
					 true);

	(void)state;
	assert_true(maps.complete);
	assert_int_equal(maps.n, 2);
	assert_int_equal(maps.n_areas, 6);
	assert_string_equal(maps.v[rd_maps_code(&maps, 0x1fff)->file].name, "/a\\012b\\040 c (deleted)");
	assert_null(rd_maps_code(&maps, 0x2000));
	assert_int_equal(rd_maps_code(&maps, 0x3000)->file, -1);
	assert_null(rd_maps_code(&maps, 0x4000));
	assert_int_equal(rd_maps_code(&maps, 0x5000)->offset, UINT64_C(0xfffffffffffff000));
	assert_true(rd_area_past_end(rd_maps_code(&maps, 0x5000), 0x10000, 0x5fff));
	assert_false(rd_area_past_end(rd_maps_code(&maps, 0x5000), UINT64_MAX, 0x5000));
	assert_true(rd_area_past_end(rd_maps_code(&maps, 0x5000), UINT64_MAX, 0x5fff));
	assert_int_equal(rd_maps_code(&maps, 0x6000)->file, -1);
	assert_non_null(rd_maps_code(&maps, 0x7fff00000fff));
	assert_non_null(rd_maps_code(&maps, UINT64_C(0xfffffffffffffffe)));
	assert_null(rd_maps_code(&maps, UINT64_MAX));
	assert_null(rd_maps_code(&maps, 0));
	rd_maps_deinit(&maps);
}

#define A_LINE "1000-2000 r-xp 00000000 fe:01 7 /a\n"

static void maps_that_are_not_understood_are_not_complete(void **state)
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

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(texts); i++) {
		maps = parse_maps(texts[i], true);
		assert_false(maps.complete);
		assert_int_equal(maps.n_areas, 1);
		rd_maps_deinit(&maps);
	}
	maps = parse_maps(A_LINE, false);
	assert_false(maps.complete);
	rd_maps_deinit(&maps);
	maps = parse_maps(A_LINE, true);
	assert_true(maps.complete);
	rd_maps_deinit(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_frame_that_is_no_code_ends_the_stack),
		TEST(the_first_frame_stays),
		TEST(code_without_a_file_is_code),
		TEST(code_that_came_later_is_code),
		TEST(a_process_that_has_ended_is_judged_by_what_it_had),
		TEST(a_process_that_ends_while_it_is_read_keeps_what_was_known),
		TEST(a_frame_beyond_the_end_of_its_file_ends_the_stack),
		TEST(the_file_that_replaced_another_has_no_say),
		TEST(maps_are_foreign),
		TEST(maps_that_are_not_understood_are_not_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
