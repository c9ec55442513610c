/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <sys/resource.h>

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
#ifdef RD_SANITIZED
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

static void ends_in_fork(bool library)
{
	pid_t pid;
	int status;

	begin();
	pid = fork();
	if (pid == 0 && library)
		exit(1);
	if (pid == 0)
		rd_out_of_memory();
	waitpid(pid, &status, 0);
	exit(rd_end_in_order(WEXITSTATUS(status) + 10));
}

static void fork_has_no_memory(void)
{
	ends_in_fork(false);
}

static void fork_exits(void)
{
	ends_in_fork(true);
}

/* What a process writes to standard error that does this, and ends with this status. */
static const char *ended(int expected, void (*what)(void))
{
	static char said[1024];
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
	while ((got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	ASSERT_EACH(IS(WIFEXITED(status), true), IS(WEXITSTATUS(status), expected));
	return said;
}

TEST(without_memory_all_is_given_back_and_the_exit_status_is_unknown)
{
	static const char first[] = "gave back\ntidied\nrdmadiag: out of memory";
	const char *said = ended(3, no_memory);

	assert_memory_equal(said, first, sizeof(first) - 1);
	assert_non_null(strstr(said, "\n  try: "));
}

TEST(every_kind_of_allocation_ends_so_and_a_checked_buffer_can_be_used_again)
{
	static void (*const kinds[])(void) = { no_memory_to_alloc, no_memory_to_copy, no_memory_to_print,
					       no_memory_to_reserve, no_memory_for_a_buffer };

	NEEDS_OWN_ALLOCATOR();
	for (size_t i = 0; i < RD_ARRAY_SIZE(kinds); i++)
		ASSERT_HAS(ended(3, kinds[i]), "gave back\n", "out of memory");
	assert_string_equal(ended(17, no_memory_for_a_checked_buffer), "");
}

TEST(a_library_that_exits_does_not_choose_the_exit_status)
{
	static const char first[] = "gave back\ntidied\nrdmadiag: a library called exit()";

	assert_memory_equal(ended(3, library_exits), first, sizeof(first) - 1);
}

/* Nor does a forked process give back what is not its own. */
TEST(an_end_in_order_says_nothing_and_keeps_its_status)
{
	assert_string_equal(ended(1, in_order), "");
	assert_string_equal(ended(13, fork_has_no_memory), "");
	assert_string_equal(ended(11, fork_exits), "");
}
