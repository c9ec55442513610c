/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "fake-host.h"

#include <bpf/libbpf.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <time.h>

static void begin(struct fake_host *host)
{
	*host = fake_host_make();
	assert_int_equal(
		fake_host_run(
			host,
			"mkdir -p sys/class/infiniband/rxe0 etc dir && printf 'rxe0 node \\n\\n' > sys/node && "
			"printf secret > etc/shadow && ln -s /etc/shadow absolute && ln -s ../../../../etc/shadow dir/up && "
			"touch dir/b dir/a dir/c && : > empty && mkfifo fifo && printf 'a\\0b' > binary"),
		0);
}

TEST(a_file_is_read_whole_whatever_size_it_claims)
{
	_cleanup_(rd_source_closep) struct rd_source *live = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	/* procfs says 0 for every file. */
	assert_int_equal(rd_read_file(live, "/proc/self/status", &bytes, NULL), 0);
	assert_true(bytes.size > 100);
	ASSERT_EACH(IS(bytes.data[bytes.size], 0), IS(strncmp((char *)bytes.data, "Name:", 5), 0));
}

#define HOST_TEST(name) TEST_BEGUN(name, struct fake_host, host, begin, fake_host_deinit)

HOST_TEST(a_missing_file_is_told_from_a_forbidden_one)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err;

	assert_int_equal(rd_read_file(host->source, "/nothing", &bytes, &err), -ENOENT);
	ASSERT_EACH(IS(err.code, ENOENT), READS(err.object, "/nothing"));
	assert_int_equal(rd_read_file(host->source, "/dir", &bytes, &err), -EISDIR);
	assert_null(bytes.data);
}

HOST_TEST(a_forbidden_file_is_no_missing_one)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char path[128];
	uid_t uid = geteuid();
	int r;

	snprintf(path, sizeof(path), "%s/sys/node", host->root);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(host->root, 0755), 0);
	if (uid == 0 && seteuid(65534) < 0)
		SKIP("cannot do without root here");
	r = rd_read_file(host->source, "/sys/node", &bytes, NULL);
	if (uid == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EACCES);
}

HOST_TEST(files_are_read_as_they_are)
{
	/* Text loses its last newlines only; links do not lead out of the folder. */
	static const char *const texts[][2] = {
		{ "sys/node", "rxe0 node" }, { "empty", "" }, { "absolute", "secret" }, { "dir/up", "secret" }
	};
	_cleanup_bytes_ struct rd_bytes binary = { 0 }, fifo = { 0 };

	for (size_t i = 0; i < RD_ARRAY_SIZE(texts); i++) {
		_cleanup_free_ char *text = NULL;

		assert_int_equal(rd_read_textf(host->source, &text, NULL, "/%s", texts[i][0]), 0);
		if (strcmp(text, texts[i][1]) != 0)
			fail_msg("%s is \"%s\"", texts[i][0], text);
	}
	/* A byte of zero is kept, and a FIFO does not hang. */
	assert_int_equal(rd_read_file(host->source, "/binary", &binary, NULL), 0);
	assert_int_equal(binary.size, 3);
	assert_memory_equal(binary.data, "a\0b", 4);
	assert_int_equal(rd_read_file(host->source, "/fifo", &fifo, NULL), 0);
	assert_int_equal(fifo.size, 0);
}

HOST_TEST(names_come_sorted)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	assert_int_equal(rd_list_dir(host->source, "/dir", &names, NULL), 0);
	assert_int_equal(names.n, 4);
	ASSERT_EACH(READS(names.v[0], "a"), READS(names.v[2], "c"), READS(names.v[3], "up"));
}

HOST_TEST(a_link_is_told_from_a_file)
{
	_cleanup_free_ char *target = NULL;

	assert_int_equal(rd_read_link(host->source, "/absolute", &target, NULL), 0);
	assert_string_equal(target, "/etc/shadow");
	assert_int_equal(rd_read_link(host->source, "/sys/node", &target, NULL), -EINVAL);
	assert_int_equal(rd_read_link(host->source, "/nothing", &target, NULL), -ENOENT);
}

HOST_TEST(a_device_number_is_zero_for_a_plain_file)
{
	_cleanup_(rd_source_closep) struct rd_source *live = NULL;
	uint64_t rdev = 1, ino = 0;

	assert_int_equal(rd_stat(host->source, RD_OP_RDEV, "/sys/node", &rdev, NULL), 0);
	assert_int_equal(rdev, 0);
	assert_int_equal(rd_stat(host->source, RD_OP_INO, "/sys/node", &ino, NULL), 0);
	assert_true(ino > 0);
	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	assert_int_equal(rd_stat(live, RD_OP_RDEV, "/dev/null", &rdev, NULL), 0);
	assert_int_equal(rdev, makedev(1, 3));
}

HOST_TEST(a_source_without_a_ring_says_so)
{
	struct rd_err err;
	int r;

	libbpf_set_print(NULL);
	assert_int_equal(rd_drain_events(host->source, NULL, NULL, &err), -ENODATA);
	r = rd_source_live_set_ring(host->source, -1, &err);
	ASSERT_EACH(IS(r < 0, true), IS(err.code, -r));
}

TEST(a_root_that_is_not_there_is_an_error)
{
	struct rd_source *source = NULL;
	struct rd_err err;

	assert_int_equal(rd_source_live_open("/no/such/root", &source, &err), -ENOENT);
	ASSERT_EACH(READS(err.object, "/no/such/root"), IS(source == NULL, true));
}

HOST_TEST(a_file_that_is_read_again_is_read_anew)
{
	char path[128], text[8];
	uint32_t slot = 0, none = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/counter", host->root);
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	assert_int_equal(pwrite(fd, "41\n", 3, 0), 3);
	assert_int_equal(rd_read_again(host->source, "/counter", &slot, text, sizeof(text)), 3);
	assert_string_equal(text, "41\n");
	assert_int_equal(pwrite(fd, "42\n", 3, 0), 3);
	assert_int_equal(rd_read_again(host->source, "/counter", &slot, text, sizeof(text)), 3);
	assert_string_equal(text, "42\n");
	/* More than there is room for is cut, not written. */
	assert_int_equal(pwrite(fd, "123456789\n", 10, 0), 10);
	assert_int_equal(rd_read_again(host->source, "/counter", &slot, text, sizeof(text)), 7);
	assert_string_equal(text, "1234567");
	assert_int_equal(rd_read_again(host->source, "/nothing", &none, text, sizeof(text)), -ENOENT);
	assert_int_equal(none, 0);
	close(fd);
}

/* In a process of its own: a hard limit that was lowered cannot be raised again. */
static int read_many(struct rd_source *source)
{
	static uint32_t slots[400];
	const struct rlimit limit = { 100, 100 };
	char text[32];

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 2;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < RD_ARRAY_SIZE(slots); i++)
			if (rd_read_again(source, "/sys/node", &slots[i], text, sizeof(text)) != 12 ||
			    strcmp(text, "rxe0 node \n\n") != 0)
				return 1;
	return 0;
}

HOST_TEST(more_files_than_may_be_open_are_read_all_the_same)
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(read_many(host->source));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

HOST_TEST(time_goes_on)
{
	uint64_t first = host->source->ops->now(host->source, CLOCK_MONOTONIC);

	assert_true(first > 0);
	assert_true(host->source->ops->now(host->source, CLOCK_MONOTONIC) >= first);
}
