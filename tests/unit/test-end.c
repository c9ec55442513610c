/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/buf.h"
#include "base/text.h"

#include <sys/resource.h>
#include <sys/wait.h>

static void tidy(void)
{
	assert_int_equal(write(STDERR_FILENO, "tidied\n", 7), 7);
}

static void give_back(void)
{
	assert_int_equal(write(STDERR_FILENO, "gave back\n", 10), 10);
}

static void begin(void)
{
	rd_end_watch();
	rd_at_end(tidy);
	rd_at_end(give_back);
	rd_at_end(tidy);
}

static void no_memory(void)
{
	begin();
	rd_out_of_memory();
}

/* AddressSanitizer ends the program itself when the kernel gives it no memory. */
#ifdef __SANITIZE_ADDRESS__
#define NEEDS_OWN_ALLOCATOR() SKIP("AddressSanitizer ends the program before we can")
#else
#define NEEDS_OWN_ALLOCATOR()
#endif

/* Until nothing is left. An allocation that returned NULL would be written to. */
static void exhaust(void)
{
	const struct rlimit limit = { 16 << 20, 16 << 20 };

	begin();
	setrlimit(RLIMIT_AS, &limit);
	setrlimit(RLIMIT_DATA, &limit);
}

static void no_memory_to_alloc(void)
{
	exhaust();
	for (;;)
		*(volatile char *)rd_alloc(1, 4096) = 1;
}

static void no_memory_to_copy(void)
{
	static char text[4096];

	memset(text, 'x', sizeof(text) - 1);
	exhaust();
	for (;;)
		*(volatile char *)rd_dup(text) = 'y';
}

static void no_memory_to_print(void)
{
	exhaust();
	for (;;)
		*(volatile char *)rd_text("%4000s", "") = 'y';
}

static void no_memory_to_reserve(void)
{
	char *v = NULL;
	size_t cap = 0;

	exhaust();
	for (;;) {
		rd_reserve(&v, &cap, cap + 1, 1);
		v[cap - 1] = 1;
	}
}

static void no_memory_for_a_buffer(void)
{
	struct rd_buf buf = { 0 };

	exhaust();
	for (;;)
		rd_buf_printf(&buf, "%4000s", "");
}

static void no_memory_for_a_checked_buffer(void)
{
	struct rd_buf buf = RD_BUF_CHECKED;

	exhaust();
	while (!buf.failed)
		rd_buf_printf(&buf, "%4000s", "");
	rd_buf_deinit(&buf);
	rd_buf_str(&buf, "again");
	_exit(buf.failed || !buf.checked ? 90 : 17);
}

static void library_exits(void)
{
	begin();
	exit(1);
}

static void in_order(void)
{
	begin();
	exit(rd_end_in_order(1));
}

static void fork_has_no_memory(void)
{
	pid_t pid;
	int status;

	begin();
	pid = fork();
	if (pid == 0)
		rd_out_of_memory();
	waitpid(pid, &status, 0);
	exit(rd_end_in_order(WEXITSTATUS(status) + 10));
}

static void fork_exits(void)
{
	pid_t pid;
	int status;

	begin();
	pid = fork();
	if (pid == 0)
		exit(1);
	waitpid(pid, &status, 0);
	exit(rd_end_in_order(WEXITSTATUS(status) + 10));
}

/* The exit status of a process that does this, and what it writes to standard error. */
static int run(void (*what)(void), char *said, size_t size)
{
	int ends[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		what();
		_exit(99);
	}
	close(ends[1]);
	while ((got = read(ends[0], said + n, size - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(without_memory_all_is_given_back_and_the_exit_status_is_unknown)
{
	static const char first[] = "gave back\ntidied\nrdmadiag: out of memory";
	char said[1024];

	assert_int_equal(run(no_memory, said, sizeof(said)), 3);
	assert_memory_equal(said, first, sizeof(first) - 1);
	assert_non_null(strstr(said, "\n  try: "));
}

TEST(every_kind_of_allocation_ends_so)
{
	static void (*const kinds[])(void) = { no_memory_to_alloc, no_memory_to_copy, no_memory_to_print,
					       no_memory_to_reserve, no_memory_for_a_buffer };
	char said[1024];

	NEEDS_OWN_ALLOCATOR();
	for (size_t i = 0; i < RD_ARRAY_SIZE(kinds); i++) {
		assert_int_equal(run(kinds[i], said, sizeof(said)), 3);
		ASSERT_HAS(said, "gave back\n", "out of memory");
	}
}

TEST(a_checked_buffer_says_so_and_can_be_used_again)
{
	char said[1024];

	NEEDS_OWN_ALLOCATOR();
	assert_int_equal(run(no_memory_for_a_checked_buffer, said, sizeof(said)), 17);
	assert_string_equal(said, "");
}

TEST(a_library_that_exits_does_not_choose_the_exit_status)
{
	static const char first[] = "gave back\ntidied\nrdmadiag: a library called exit()";
	char said[1024];

	assert_int_equal(run(library_exits, said, sizeof(said)), 3);
	assert_memory_equal(said, first, sizeof(first) - 1);
}

TEST(an_end_in_order_says_nothing_and_keeps_its_status)
{
	char said[1024];

	assert_int_equal(run(in_order, said, sizeof(said)), 1);
	assert_string_equal(said, "");
}

TEST(a_forked_process_leaves_alone_what_is_not_its_own)
{
	char said[1024];

	assert_int_equal(run(fork_has_no_memory, said, sizeof(said)), 13);
	assert_string_equal(said, "");
	assert_int_equal(run(fork_exits, said, sizeof(said)), 11);
	assert_string_equal(said, "");
}
