/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/end.h"

#include <string.h>
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

static void without_memory_all_is_given_back_and_the_exit_status_is_unknown(void **state)
{
	static const char first[] = "gave back\ntidied\nrdmadiag: out of memory";
	char said[1024];

	(void)state;
	assert_int_equal(run(no_memory, said, sizeof(said)), 3);
	assert_memory_equal(said, first, sizeof(first) - 1);
	assert_non_null(strstr(said, "\n  try: "));
}

static void a_library_that_exits_does_not_choose_the_exit_status(void **state)
{
	static const char first[] = "gave back\ntidied\nrdmadiag: a library gave up";
	char said[1024];

	(void)state;
	assert_int_equal(run(library_exits, said, sizeof(said)), 3);
	assert_memory_equal(said, first, sizeof(first) - 1);
}

static void an_end_in_order_says_nothing_and_keeps_its_status(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(run(in_order, said, sizeof(said)), 1);
	assert_string_equal(said, "");
}

static void a_forked_process_leaves_alone_what_is_not_its_own(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(run(fork_has_no_memory, said, sizeof(said)), 13);
	assert_string_equal(said, "");
	assert_int_equal(run(fork_exits, said, sizeof(said)), 11);
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_memory_all_is_given_back_and_the_exit_status_is_unknown),
		TEST(a_library_that_exits_does_not_choose_the_exit_status),
		TEST(an_end_in_order_says_nothing_and_keeps_its_status),
		TEST(a_forked_process_leaves_alone_what_is_not_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
