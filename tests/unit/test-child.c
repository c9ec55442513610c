/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that hangs or dies must cost its caller an error and nothing else. */
#include <sys/resource.h>

#include "source/opener/child.h"
#include "unit.h"

#define LIMIT (1 << 20)

/* A child that hangs on its way out of the kernel: who waits for it never returns. */
static bool hangs_in_exit;
static int waits;

pid_t waitpid(pid_t pid, int *status, int options)
{
	if (hangs_in_exit) {
		waits += !(options & WNOHANG);
		return 0;
	}
	return wait4(pid, status, options, NULL);
}

static int answer_many(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	size_t size = *(size_t *)arg;

	ret->data = malloc(size);
	if (!ret->data)
		return -ENOMEM;
	memset(ret->data, 'x', size);
	ret->size = size;
	return 0;
}

static int refuse(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	return rd_err_set(err, EACCES, "the device", "not for you");
}

static int hang(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	signal(SIGTERM, SIG_IGN);
	while (pause() < 0)
		continue;
	return 0;
}

__attribute__((noreturn)) static int die(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	_exit(0);
}

static int talk(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	printf("a library's remark\n");
	fflush(stdout);
	return answer_many(arg, ret, err);
}

TEST(answers_of_any_size_arrive_whole)
{
	for (size_t size = 0; size <= LIMIT; size = size ? size * 4 : 1) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		assert_int_equal(rd_child_run("many", answer_many, &size, 60000, LIMIT, &bytes, NULL), 0);
		assert_int_equal(bytes.size, size);
		assert_int_equal(bytes.data[size], 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(bytes.data[i], 'x');
	}
}

TEST(answers_above_the_limit_are_refused)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };
	size_t size = LIMIT + 1;

	assert_int_equal(rd_child_run("many", answer_many, &size, 60000, LIMIT, &bytes, &err), -EFBIG);
	ASSERT_EACH(READS(err.object, "many"), IS(bytes.data == NULL, true));
}

TEST(errors_are_handed_on)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };

	assert_int_equal(rd_child_run("x", refuse, NULL, 60000, LIMIT, &bytes, &err), -EACCES);
	ASSERT_EACH(READS(err.object, "the device"), READS(err.message, "not for you"));
}

TEST(what_hangs_is_left)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };

	assert_int_equal(rd_child_run("x", hang, NULL, 50, LIMIT, &bytes, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.message, "50 ms"));
}

TEST(what_dies_is_an_error)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };

	assert_int_equal(rd_child_run("x", die, NULL, 60000, LIMIT, &bytes, &err), -ECHILD);
	assert_int_equal(err.code, ECHILD);
}

TEST(one_that_hangs_in_exit_is_not_waited_for)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };
	size_t size = 3;

	hangs_in_exit = true;
	assert_int_equal(rd_child_run("x", answer_many, &size, 60000, LIMIT, &bytes, &err), 0);
	assert_int_equal(rd_child_run("x", refuse, NULL, 60000, LIMIT, &bytes, &err), -EACCES);
	assert_int_equal(waits, 0);
	hangs_in_exit = false;
}

/* Who looks again and again must not be left with ever more dead children. */
TEST(those_left_behind_are_reaped_later)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };
	siginfo_t info = { 0 };
	bool left = false;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(rd_child_run("x", hang, NULL, 20, LIMIT, &bytes, &err), -ETIMEDOUT);
		/* Until the one just killed has ended, and not taking it away. It may have been, if it ended at once. */
		left = waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0;
	}
	if (left)
		rd_child_leave(info.si_pid);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST(what_it_prints_goes_nowhere)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	size_t size = 3;
	int ends[2], out = dup(STDOUT_FILENO);
	char heard[64];

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	assert_int_equal(rd_child_run("x", talk, &size, 60000, LIMIT, &bytes, NULL), 0);
	dup2(out, STDOUT_FILENO);
	close(out);
	close(ends[1]);
	assert_int_equal(read(ends[0], heard, sizeof(heard)), 0);
	close(ends[0]);
	assert_int_equal(bytes.size, 3);
}
