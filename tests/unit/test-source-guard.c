/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-host.h"
#include "source/source-guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* A host on which what has "hang" in its name never answers, and "die" ends who asks. */
struct host {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *files;
};

static int host_read(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	while (strstr(path, "hang"))
		pause();
	if (strstr(path, "die"))
		raise(SIGKILL);
	return rd_read_file(((struct host *)src)->files, path, ret, err);
}

static void host_init(struct host *host, struct rd_source *files)
{
	*host = (struct host){ .files = files, .ops = *files->ops };
	host->ops.read_file = host_read;
	host->src.ops = &host->ops;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void a_read_that_hangs_takes_nothing_with_it(void **state)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL;
	struct fake_host fake;
	struct host host;
	struct rd_err err = { 0 };
	double begin = seconds();

	(void)state;
	fake_host_init(&fake);
	fake_host_text(&fake, "/sys/a", "one\n");
	host_init(&host, fake.source);
	assert_int_equal(rd_source_guard_open(&host.src, 4000, &guard, NULL), 0);
	assert_int_equal(rd_read_textf(guard, &text, NULL, "/sys/a"), 0);
	assert_string_equal(text, "one");
	assert_int_equal(rd_read_textf(guard, &again, &err, "/sys/hang"), -ETIMEDOUT);
	assert_string_equal(err.object, "/sys/hang");
	assert_int_equal(rd_read_textf(guard, &again, &err, "/sys/die"), -ECHILD);
	assert_int_equal(rd_read_textf(guard, &again, NULL, "/sys/a"), 0);
	assert_string_equal(again, "one");
	assert_int_equal(rd_source_guard_stalls(guard)->n, 2);
	assert_true(seconds() - begin < 3);
	fake_host_deinit(&fake);
}

static void many_that_hang_keep_to_the_deadline(void **state)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL;
	struct fake_host fake;
	struct host host;
	double begin = seconds(), took;

	(void)state;
	fake_host_init(&fake);
	host_init(&host, fake.source);
	assert_int_equal(rd_source_guard_open(&host.src, 300, &guard, NULL), 0);
	for (int i = 0; i < 100; i++) {
		char *text = NULL;

		assert_int_equal(rd_read_textf(guard, &text, NULL, "/sys/hang"), -ETIMEDOUT);
	}
	took = seconds() - begin;
	assert_true(took > 0.25 && took < 2);
	fake_host_deinit(&fake);
}

static void what_was_not_asked_for_want_of_time_is_told_once(void **state)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL;
	_cleanup_free_ char *text = NULL;
	struct fake_host fake;
	struct host host;

	(void)state;
	fake_host_init(&fake);
	fake_host_text(&fake, "/sys/a", "one\n");
	host_init(&host, fake.source);
	assert_int_equal(rd_source_guard_open(&host.src, 0, &guard, NULL), 0);
	assert_int_equal(rd_read_textf(guard, &text, NULL, "/sys/a"), -ETIMEDOUT);
	assert_int_equal(rd_read_textf(guard, &text, NULL, "/sys/a"), -ETIMEDOUT);
	assert_int_equal(rd_source_guard_stalls(guard)->n, 1);
	fake_host_deinit(&fake);
}

static void answers_are_those_of_the_guarded_source(void **state)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL, *live = NULL;
	_cleanup_names_ struct rd_names names = { 0 }, real = { 0 };
	_cleanup_free_ char *target = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
	} request = { .head = { sizeof(request), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 } };
	struct rd_err err = { 0 };
	uint64_t number = 0;

	(void)state;
	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	assert_int_equal(rd_source_guard_open(live, 20000, &guard, NULL), 0);
	assert_string_equal(guard->ops->name, "live");
	assert_int_equal(rd_list_dir(guard, "/sys/class", &names, NULL), 0);
	assert_int_equal(rd_list_dir(live, "/sys/class", &real, NULL), 0);
	assert_int_equal(names.n, real.n);
	assert_string_equal(names.v[names.n - 1], real.v[real.n - 1]);
	assert_int_equal(rd_read_link(guard, "/proc/self/exe", &target, NULL), 0);
	assert_int_equal(guard->ops->stat_rdev(guard, "/dev/null", &number, NULL), 0);
	assert_int_equal(number, 0x103);
	assert_int_equal(guard->ops->stat_mode(guard, "/dev/null", &number, NULL), 0);
	assert_int_equal(number & 0777, 0666);
	assert_int_equal(guard->ops->stat_ino(guard, "/nowhere", &number, &err), -ENOENT);
	assert_string_equal(err.object, "/nowhere");
	assert_int_equal(rd_netlink(guard, NETLINK_ROUTE, &request, sizeof(request), &bytes, NULL), 0);
	assert_true(bytes.size > 0);
	assert_int_equal(rd_source_guard_stalls(guard)->n, 0);
	assert_int_equal(guard->ops->drain_events(guard, NULL, NULL, NULL), -ENODATA);
}

static void read_three(struct rd_source *src, void *arg)
{
	static const char *const paths[] = { "/sys/a", "/sys/nowhere", "/sys/hang", "/sys/b" };

	(void)arg;
	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++) {
		_cleanup_free_ char *text = NULL;

		rd_read_textf(src, &text, NULL, "%s", paths[i]);
	}
}

static void what_was_asked_ahead_is_answered_and_the_rest_as_ever(void **state)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL, *last = NULL, *none = NULL;
	struct fake_host fake;
	struct host host;

	(void)state;
	fake_host_init(&fake);
	fake_host_text(&fake, "/sys/a", "one\n");
	fake_host_text(&fake, "/sys/b", "two\n");
	host_init(&host, fake.source);
	assert_int_equal(rd_source_guard_open(&host.src, 2000, &guard, NULL), 0);
	rd_source_guard_ahead(guard, read_three, NULL);
	assert_int_equal(rd_read_textf(guard, &text, NULL, "/sys/a"), 0);
	assert_string_equal(text, "one");
	assert_int_equal(rd_read_textf(guard, &none, NULL, "/sys/nowhere"), -ENOENT);
	assert_int_equal(rd_read_textf(guard, &none, NULL, "/sys/hang"), -ETIMEDOUT);
	assert_int_equal(rd_read_textf(guard, &last, NULL, "/sys/b"), 0);
	assert_string_equal(last, "two");
	/* In another order. */
	assert_int_equal(rd_read_textf(guard, &again, NULL, "/sys/a"), 0);
	assert_string_equal(again, "one");
	assert_int_equal(rd_source_guard_stalls(guard)->n, 1);
	fake_host_deinit(&fake);
}

/* Answers are kept: what changed in the meantime is not seen. */
static void read_one(struct rd_source *src, void *arg)
{
	_cleanup_free_ char *text = NULL;

	(void)arg;
	rd_read_textf(src, &text, NULL, "/sys/a");
}

static void what_was_asked_ahead_is_not_asked_again(void **state)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL;
	struct fake_host fake;

	(void)state;
	fake_host_init(&fake);
	fake_host_text(&fake, "/sys/a", "one\n");
	assert_int_equal(rd_source_guard_open(fake.source, 10000, &guard, NULL), 0);
	rd_source_guard_ahead(guard, read_one, NULL);
	fake_host_text(&fake, "/sys/a", "two\n");
	assert_int_equal(rd_read_textf(guard, &text, NULL, "/sys/a"), 0);
	assert_string_equal(text, "one");
	assert_int_equal(rd_read_textf(guard, &again, NULL, "/sys/a"), 0);
	assert_string_equal(again, "two");
	fake_host_deinit(&fake);
}

/* Who reads our output to its end must not wait for a child that hangs. */
static void what_hangs_holds_no_output_of_ours(void **state)
{
	int ends[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct rd_source *guard = NULL;
		struct fake_host fake = { 0 };
		struct host host;
		char *text = NULL;

		close(ends[0]);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[1]);
		if (rd_source_live_open(NULL, &fake.source, NULL) < 0)
			_exit(1);
		host_init(&host, fake.source);
		if (rd_source_guard_open(&host.src, 100, &guard, NULL) < 0)
			_exit(1);
		_exit(rd_read_textf(guard, &text, NULL, "/hang") == -ETIMEDOUT ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_that_hangs_takes_nothing_with_it),
		TEST(many_that_hang_keep_to_the_deadline),
		TEST(what_was_not_asked_for_want_of_time_is_told_once),
		TEST(answers_are_those_of_the_guarded_source),
		TEST(what_was_asked_ahead_is_answered_and_the_rest_as_ever),
		TEST(what_was_asked_ahead_is_not_asked_again),
		TEST(what_hangs_holds_no_output_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
