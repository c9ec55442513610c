/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-host.h"
#include "source/guard/source-guard.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* Limits are long enough for what answers, however busy the machine is: of the time that is left, what hangs gets a part. */

/* A host on which what has "hang" in its name never answers, "late" after two seconds; "die" ends who asks, "stop" stops
 * it; "busy" computes and "doze" wakes up now and then, without end. */
struct host {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *files;
};

static int host_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct rd_source *files = ((struct host *)src)->files;
	const char *path = query->op == RD_OP_READ ? query->data : "";

	while (strstr(path, "hang"))
		pause();
	if (strstr(path, "die"))
		raise(SIGKILL);
	if (strstr(path, "late"))
		sleep(2);
	while (strstr(path, "busy"))
		continue;
	while (strstr(path, "doze"))
		usleep(5000);
	if (strstr(path, "stop"))
		raise(SIGSTOP);
	return files->ops->get(files, query, ret, err);
}

/* A guard of such a host, whose /sys/a contains "one" and /sys/b "two". */
struct guarded {
	struct fake_host fake;
	struct host host;
	struct rd_source *guard;
};

static void host_init(struct host *host, struct rd_source *files)
{
	*host = (struct host){ .files = files, .ops = *files->ops };
	host->ops.get = host_get;
	host->src.ops = &host->ops;
}

static void begin(struct guarded *g, unsigned limit_ms)
{
	g->fake = fake_host_make();
	fake_host_text(&g->fake, "/sys/a", "one\n");
	fake_host_text(&g->fake, "/sys/b", "two\n");
	host_init(&g->host, g->fake.source);
	g->guard = rd_source_guard_open(&g->host.src, limit_ms);
}

static void end(struct guarded *g)
{
	rd_source_closep(&g->guard);
	fake_host_deinit(&g->fake);
}

/* The file is read: its text; or it is not: "", and the error. */
static void reads(struct rd_source *guard, const char *path, const char *expected, int error)
{
	_cleanup_free_ char *text = NULL;

	assert_int_equal(rd_read_textf(guard, &text, NULL, "%s", path), -error);
	assert_string_equal(text ? text : "", expected);
}

#define GUARDED_TEST(name) TEST_ON(name, struct guarded, g, { 0 }, end)

GUARDED_TEST(a_read_that_hangs_takes_nothing_with_it)
{
	_cleanup_free_ char *text = NULL;
	struct rd_err err = { 0 };

	begin(g, 10000);
	reads(g->guard, "/sys/a", "one", 0);
	assert_int_equal(rd_read_textf(g->guard, &text, &err, "/sys/hang"), -ETIMEDOUT);
	assert_string_equal(err.object, "/sys/hang");
	assert_int_equal(rd_read_textf(g->guard, &text, &err, "/sys/die"), -ECHILD);
	reads(g->guard, "/sys/a", "one", 0);
	assert_int_equal(rd_source_guard_stalls(g->guard)->n, 2);
	assert_true(rd_source_guard_left(g->guard) > 0);
}

GUARDED_TEST(many_that_hang_keep_to_the_deadline)
{
	begin(g, 300);
	for (int i = 0; i < 100; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/sys/hang%d", i);
		reads(g->guard, path, "", ETIMEDOUT);
	}
	/* The others were not even asked. */
	assert_int_equal(rd_source_guard_left(g->guard), 0);
	assert_true(rd_source_guard_stalls(g->guard)->n < 100);
	assert_int_equal(rd_stalls_count(rd_source_guard_stalls(g->guard), RD_STALL_UNASKED), 1);
}

GUARDED_TEST(what_was_not_asked_for_want_of_time_is_told_once)
{
	begin(g, 0);
	reads(g->guard, "/sys/a", "", ETIMEDOUT);
	reads(g->guard, "/sys/a", "", ETIMEDOUT);
	assert_int_equal(rd_source_guard_stalls(g->guard)->n, 1);
}

TEST(answers_are_those_of_the_guarded_source)
{
	_cleanup_(rd_source_closep) struct rd_source *guard = NULL, *live = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 }, real = { 0 };
	_cleanup_free_ char *target = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
	} request = { .head = { sizeof(request), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 } };
	struct rd_err err = { 0 };
	uint64_t number = 0;

	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	guard = rd_source_guard_open(live, 60000);
	assert_string_equal(guard->ops->name, "live");
	assert_int_equal(rd_list_dir(guard, "/sys/class", &names, NULL), 0);
	assert_int_equal(rd_list_dir(live, "/sys/class", &real, NULL), 0);
	assert_int_equal(names.n, real.n);
	assert_string_equal(names.v[names.n - 1], real.v[real.n - 1]);
	assert_int_equal(rd_read_link(guard, "/proc/self/exe", &target, NULL), 0);
	assert_int_equal(rd_stat(guard, RD_OP_RDEV, "/dev/null", &number, NULL), 0);
	assert_int_equal(number, 0x103);
	assert_int_equal(rd_stat(guard, RD_OP_MODE, "/dev/null", &number, NULL), 0);
	assert_int_equal(number & 0777, 0666);
	assert_int_equal(rd_stat(guard, RD_OP_INO, "/nowhere", &number, &err), -ENOENT);
	assert_string_equal(err.object, "/nowhere");
	assert_int_equal(rd_netlink(guard, NETLINK_ROUTE, &request, sizeof(request), &bytes, NULL), 0);
	ASSERT_EACH(IS(bytes.size > 0, true), IS(rd_source_guard_stalls(guard)->n, 0));
	assert_int_equal(rd_drain_events(guard, NULL, NULL, NULL), -ENODATA);
}

/* Reads the paths of a list that ends with NULL. */
static void read_all(struct rd_source *src, void *arg)
{
	for (const char *const *path = arg; *path; path++) {
		_cleanup_free_ char *text = NULL;

		rd_read_textf(src, &text, NULL, "%s", *path);
	}
}

GUARDED_TEST(what_was_asked_ahead_is_answered_and_the_rest_as_ever)
{
	const char *paths[] = { "/sys/a", "/sys/nowhere", "/sys/hang", "/sys/b", NULL };

	begin(g, 10000);
	rd_source_guard_ahead(g->guard, read_all, paths);
	reads(g->guard, "/sys/a", "one", 0);
	reads(g->guard, "/sys/nowhere", "", ENOENT);
	reads(g->guard, "/sys/hang", "", ETIMEDOUT);
	reads(g->guard, "/sys/b", "two", 0);
	/* In another order. */
	reads(g->guard, "/sys/a", "one", 0);
	assert_int_equal(rd_source_guard_stalls(g->guard)->n, 1);
}

/* Answers are kept: what changed in the meantime is not seen. */
GUARDED_TEST(what_was_asked_ahead_is_not_asked_again)
{
	const char *paths[] = { "/sys/a", NULL };

	begin(g, 60000);
	rd_source_guard_ahead(g->guard, read_all, paths);
	fake_host_text(&g->fake, "/sys/a", "two\n");
	reads(g->guard, "/sys/a", "one", 0);
	reads(g->guard, "/sys/a", "one", 0);
	rd_source_guard_renew(g->guard, 60000);
	reads(g->guard, "/sys/a", "two", 0);
}

static const struct rd_stall *stall_of(struct rd_source *guard, const char *path)
{
	const struct rd_stalls *stalls = rd_source_guard_stalls(guard);

	for (size_t i = 0; i < stalls->n; i++)
		if (strcmp(stalls->v[i].err.object, path) == 0)
			return &stalls->v[i];
	fail_msg("%s answered", path);
	return NULL;
}

static enum rd_stall_kind kind_of(struct rd_source *guard, const char *path)
{
	return stall_of(guard, path)->kind;
}

/* Each costs its share, and what lies behind it is still asked by one child. What comes late is an answer. */
GUARDED_TEST(the_others_are_read_around_what_hangs)
{
	const char *paths[] = { "/sys/hang1", "/sys/a", "/sys/die", "/sys/hang2", "/sys/late", "/sys/b", NULL };

	begin(g, 16000);
	fake_host_text(&g->fake, "/sys/late", "three\n");
	rd_source_guard_ahead(g->guard, read_all, paths);
	assert_true(rd_source_guard_left(g->guard) > 0);
	reads(g->guard, "/sys/b", "two", 0);
	reads(g->guard, "/sys/late", "three", 0);
	reads(g->guard, "/sys/hang1", "", ETIMEDOUT);
	reads(g->guard, "/sys/die", "", ECHILD);
	ASSERT_EACH(IS(rd_source_guard_stalls(g->guard)->n, 3), IS(kind_of(g->guard, "/sys/hang1"), RD_STALL_BLOCKED),
		    IS(kind_of(g->guard, "/sys/hang2"), RD_STALL_BLOCKED),
		    IS(kind_of(g->guard, "/sys/die"), RD_STALL_DIED));
}

/* At work without end, again and again awake, stopped: none of them is shown to be blocked. */
TEST(what_is_slow_is_not_called_blocked)
{
	static const char *const paths[] = { "/sys/busy", "/sys/doze", "/sys/stop" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++) {
		_cleanup_(end) struct guarded g;

		begin(&g, 2000);
		reads(g.guard, paths[i], "", ETIMEDOUT);
		assert_int_not_equal(kind_of(g.guard, paths[i]), RD_STALL_BLOCKED);
		if (i < 2)
			assert_int_equal(kind_of(g.guard, paths[i]), RD_STALL_SLOW);
	}
}

/* Half a second is the least that is called so. */
GUARDED_TEST(a_short_wait_shows_nothing)
{
	begin(g, 400);
	reads(g->guard, "/sys/hang", "", ETIMEDOUT);
	/* A busy machine may look later than the limit. */
	if (stall_of(g->guard, "/sys/hang")->ms < 500)
		assert_int_not_equal(kind_of(g->guard, "/sys/hang"), RD_STALL_BLOCKED);
}

/* What is not there, and what is no bundle, ends the questions; one that hangs keeps to the deadline. */
TEST(a_bundle_is_opened_under_the_deadline)
{
	_cleanup_(rd_source_closep) struct rd_source *none = NULL, *guard = NULL;
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	struct rd_err err = { 0 };

	none = rd_source_guard_open_bundle("/nowhere.tar", 60000);
	assert_int_equal(rd_source_guard_ready(none, &err), -ENOENT);
	assert_string_equal(err.object, "/nowhere.tar");
	reads(none, "/sys/a", "", ENOENT);

	fake_host_text(&fake, "/sys/a", "one\n");
	guard = rd_source_guard_open_bundle(fake.root, 60000);
	assert_int_equal(rd_source_guard_ready(guard, &err), 0);
	reads(guard, "/sys/a", "one", 0);
	assert_int_equal(rd_source_bundle_next(guard, NULL), -ENODATA);
}

/* Who reads our output to its end must not wait for a child that hangs. */
TEST(what_hangs_holds_no_output_of_ours)
{
	int ends[2], status;
	char byte;
	pid_t pid;

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
		guard = rd_source_guard_open(&host.src, 100);
		_exit(rd_read_textf(guard, &text, NULL, "/hang") == -ETIMEDOUT ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ends[0]);
}
