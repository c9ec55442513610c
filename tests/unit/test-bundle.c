/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading recorded hosts: what is in them, and what must be refused. */
#include "fake-host.h"
#include "tar.h"
#include "unit.h"

#include "source/bundle/tree.h"

#include <linux/netlink.h>
#include <time.h>

#define MANIFEST(requests)                                                                                            \
	"{\"schema\":\"rdmadiag/bundle/1\",\"byte_order\":\"little\",\"hostname\":\"n1\",\"later\":{\"a\":[1,null]}," \
	"\"samples\":[{\"realtime_ns\":1700000000000000000,\"monotonic_ns\":5,\"requests\":[" requests "]}]}"

static int open_with(const char *manifest, struct rd_source **ret, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf tar = { 0 };

	tar_add(&tar, "manifest.json", manifest);
	tar_add(&tar, "root/sys/a", "A\n");
	tar_add_raw(&tar, '5', "root/sys/dir/", NULL, NULL, 0, 0);
	tar_add(&tar, "root/sys/dir/b", "B\n");
	tar_link(&tar, "root/sys/link", "dir/b");
	tar_end(&tar);
	return tar_open(&tar, ret, err);
}

/* It is refused with this errno, and a message; `what` names it. */
static void assert_named_refused(const char *what, struct rd_buf *tar, int code)
{
	struct rd_source *source = NULL;
	struct rd_err err = { 0 };
	int r;

	tar_end(tar);
	r = tar_open(tar, &source, &err);
	if (r != -code || err.code != code || !err.message[0] || source)
		fail_msg("%s: %d, %d %s", what, r, err.code, err.message);
	rd_buf_deinit(tar);
}

static void assert_refused(struct rd_buf *tar, int code)
{
	assert_named_refused("archive", tar, code);
}

TEST(a_bare_tree_is_read_with_or_without_a_folder_above_it)
{
	static const char *const folders[] = { "", "./", "host-1/", "./host-1/" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(folders); i++) {
		_cleanup_(rd_source_closep) struct rd_source *source = NULL;
		_cleanup_texts_ struct rd_texts names = { 0 };
		_cleanup_buf_ struct rd_buf tar = { 0 };
		char path[128];
		uint64_t rdev = 1;

		snprintf(path, sizeof(path), "%ssys/devices/x/infiniband/m0/fw_ver", folders[i]);
		tar_add(&tar, path, "1.2.3\n");
		snprintf(path, sizeof(path), "%ssys/class/infiniband/m0", folders[i]);
		tar_link(&tar, path, "../../devices/x/infiniband/m0");
		tar_end(&tar);
		assert_int_equal(tar_open(&tar, &source, NULL), 0);
		assert_string_equal(source->ops->name, "bundle");
		assert_string_equal(text_at(source, "/sys/class/infiniband/m0/fw_ver"), "1.2.3\n");
		assert_string_equal(text_at(source, "/sys/class/infiniband/m0/../../infiniband/m0/fw_ver"), "1.2.3\n");
		assert_string_equal(text_at(source, "/sys/class/infiniband/m1/fw_ver"), "(ENOENT)");
		assert_string_equal(text_at(source, "/sys/class/infiniband"), "(EISDIR)");
		assert_string_equal(text_at(source, "/sys/class/infiniband/m0/fw_ver/x"), "(ENOTDIR)");
		assert_int_equal(rd_list_dir(source, "/sys/class/infiniband/", &names, NULL), 0);
		assert_int_equal(names.n, 1);
		assert_string_equal(names.v[0], "m0");
		assert_int_equal(rd_stat(source, RD_OP_RDEV, "/sys/class/infiniband/m0/fw_ver", &rdev, NULL), 0);
		assert_int_equal(rdev, 0);
		assert_int_equal(source->ops->now(source, CLOCK_REALTIME), 0);
	}
}

TEST(a_directory_is_read_like_an_archive_of_it)
{
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_err err = { 0 };
	char path[512];

	assert_int_equal(fake_host_run(&host, "mkdir -p top/sys/dir bad/sys fifo/sys && echo A > top/sys/a && "
					      "ln -s ../a top/sys/dir/up && ln -s ../../../etc/passwd bad/sys/out && "
					      "mkfifo fifo/sys/f"),
			 0);
	assert_int_equal(rd_source_bundle_open(strcat(strcpy(path, host.root), "/top"), &source, NULL), 0);
	assert_string_equal(text_at(source, "/sys/dir/up"), "A\n");
	rd_source_closep(&source);
	source = NULL;
	assert_int_equal(rd_source_bundle_open(strcat(strcpy(path, host.root), "/bad"), &source, &err), -EBADMSG);
	assert_int_equal(rd_source_bundle_open(strcat(strcpy(path, host.root), "/fifo"), &source, &err), -EBADMSG);
	assert_int_equal(rd_source_bundle_open(strcat(strcpy(path, host.root), "/fifo/sys/f"), &source, &err), -EBADMSG);
	assert_int_equal(rd_source_bundle_open(strcat(strcpy(path, host.root), "/none"), &source, &err), -ENOENT);
}

/* In a process without privilege: "shut" cannot be listed, "dark" can be listed and not searched. */
static bool sees_what_it_may(const char *root)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 };
	char *target = NULL;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return false;
	return rd_source_bundle_open(root, &source, NULL) == 0 &&
	       rd_list_dir(source, "/sys/shut", &names, NULL) == -EACCES &&
	       rd_read_link(source, "/sys/shut/one", &target, NULL) == -EACCES &&
	       rd_list_dir(source, "/sys/dark", &names, NULL) == 0 && names.n == 2 &&
	       rd_read_link(source, "/sys/dark/link", &target, NULL) == -EACCES &&
	       strcmp(text_at(source, "/sys/dark/file"), "(EACCES)") == 0 &&
	       strcmp(text_at(source, "/sys/dark/link/below"), "(EACCES)") == 0 &&
	       strcmp(text_at(source, "/sys/none"), "(ENOENT)") == 0;
}

TEST(what_may_not_be_read_in_a_directory_is_not_absent)
{
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	int status;
	pid_t child;

	assert_int_equal(
		fake_host_run(&host, "chmod 755 . && mkdir -p sys/shut sys/dark && touch sys/shut/one sys/dark/file && "
				     "ln -s ../shut sys/dark/link && chmod -R a+rX sys && chmod 700 sys/shut && "
				     "chmod 744 sys/dark"),
		0);
	if (geteuid() != 0)
		assert_int_equal(fake_host_run(&host, "chmod 0 sys/shut && chmod 444 sys/dark"), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(sees_what_it_may(host.root) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fake_host_run(&host, "chmod -R u+rwX ."), 0);
}

TEST(names_and_links_that_leave_the_bundle_are_refused)
{
	static const struct {
		const char *name, *link, *then; /* link: where it points to, else a file; then: another file */
	} cases[] = {
		{ "/sys/a" },
		{ "sys/../../a" },
		{ "sys/./a" },
		{ "sys/out", "/etc" },
		{ "sys/out", "../../etc" },
		{ "sys/out", "a/../../../etc" },
		{ "top/sys/out", "../../top/sys/a" },
		{ "sys/in", "dir", "sys/in/a" },
		{ "sys/a", NULL, "sys/a" },
		{ "sys/a", NULL, "sys/a/b" },
	};
	struct rd_buf tar = { 0 };
	const char *what;

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		if (cases[i].link)
			tar_link(&tar, cases[i].name, cases[i].link);
		else
			tar_add(&tar, cases[i].name, "evil");
		if (cases[i].then)
			tar_add(&tar, cases[i].then, "evil");
		what = cases[i].then ? cases[i].then : cases[i].link ? cases[i].link : cases[i].name;
		assert_named_refused(what, &tar, EBADMSG);
	}
	for (const char *type = "1346"; *type; type++) {
		tar_add(&tar, "sys/a", "one");
		tar_add_raw(&tar, *type, "sys/special", "sys/a", NULL, 0, 0);
		assert_refused(&tar, EBADMSG);
	}
}

TEST(links_that_go_in_circles_or_up_by_way_of_others_lead_nowhere)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_buf_ struct rd_buf tar = { 0 };

	tar_link(&tar, "sys/a", "b");
	tar_link(&tar, "sys/b", "a");
	/* Each for itself stays in the tree; together they climb out of it. */
	tar_link(&tar, "sys/d1/d2/top", "../..");
	tar_link(&tar, "sys/d1/d2/d3/out", "../top/../../../etc/passwd");
	tar_link(&tar, "sys/deep", "d1/d2/d3/out");
	tar_end(&tar);
	assert_int_equal(tar_open(&tar, &source, NULL), 0);
	ASSERT_EACH(READS(text_at(source, "/sys/a"), "(ELOOP)"), READS(text_at(source, "/sys/deep"), "(EBADMSG)"),
		    READS(text_at(source, "/../etc/passwd"), "(EBADMSG)"));
}

TEST(an_archive_that_ends_anywhere_before_its_end_is_refused)
{
	_cleanup_buf_ struct rd_buf tar = { 0 };
	size_t whole;

	tar_add(&tar, "sys/a", "one");
	tar_add(&tar, "sys/b", "");
	whole = tar.len;
	tar_end(&tar);
	for (tar.len = 0; tar.len <= whole; tar.len += 128) {
		struct rd_source *source = NULL;

		assert_int_equal(tar_open(&tar, &source, NULL), -EBADMSG);
	}
}

TEST(what_is_no_bundle_at_all_is_refused)
{
	struct rd_buf tar = { 0 };

	tar_add(&tar, "home/a", "one");
	assert_refused(&tar, EBADMSG);
	tar_add(&tar, "a/sys/x", "one");
	tar_add(&tar, "b/sys/x", "one");
	assert_refused(&tar, EBADMSG);
	rd_buf_str(&tar, "just some words in a file");
	assert_refused(&tar, EBADMSG);
	assert_refused(&tar, EBADMSG);
}

TEST(a_bomb_is_refused_before_it_takes_the_memory)
{
	char path[64], packed[80], command[256];
	struct rd_source *source = NULL;
	struct rd_buf tar = { 0 };
	struct rd_err err = { 0 };
	FILE *pipe;

	tar_add_raw(&tar, '0', "sys/huge", NULL, "", 0, (size_t)8 << 30);
	assert_refused(&tar, EFBIG);
	/* Six files of 60 MB, packed into next to nothing. */
	file_make(path, "", 0);
	snprintf(packed, sizeof(packed), "%s.zst", path);
	snprintf(command, sizeof(command), "zstd -q -1 -o %s 2>/dev/null", packed);
	pipe = popen(command, "w");
	assert_non_null(pipe);
	for (int i = 0; i < 6; i++) {
		static const char zeros[1 << 20];
		char name[32];

		snprintf(name, sizeof(name), "sys/f%d", i);
		tar_add_raw(&tar, '0', name, NULL, NULL, 0, (size_t)60 << 20);
		fwrite(tar.data, 1, tar.len, pipe);
		rd_buf_deinit(&tar);
		for (int mb = 0; mb < 60; mb++)
			fwrite(zeros, 1, sizeof(zeros), pipe);
	}
	unlink(path);
	if (pclose(pipe) != 0)
		SKIP("zstd is not here");
	assert_int_equal(rd_source_bundle_open(packed, &source, &err), -EFBIG);
	unlink(packed);
}

TEST(a_denied_file_is_denied_again_and_others_are_as_they_were)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 };
	struct rd_err err = { 0 };
	uint64_t value = 0;

	assert_int_equal(open_with(MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/a\",\"at_ns\":1},"
					    "{\"ask\":\"read\",\"path\":\"/sys/secret\",\"errno\":\"EACCES\"},"
					    "{\"ask\":\"read\",\"path\":\"/sys/gone\",\"errno\":\"ENOENT\"},"
					    "{\"ask\":\"read\",\"path\":\"/sys/a/b\",\"errno\":\"ENOTDIR\"},"
					    "{\"ask\":\"list\",\"path\":\"/sys/dir\",\"names\":[\"b\",\"never-read\"]},"
					    "{\"ask\":\"ino\",\"path\":\"/sys/dir\",\"value\":4026531836},"
					    "{\"ask\":\"rdev\",\"path\":\"/dev/x\",\"value\":59136},"
					    "{\"ask\":\"link\",\"path\":\"/proc/1/exe\",\"target\":\"/bin/init\"},"
					    "{\"ask\":\"smell\",\"path\":\"/sys/a\"}"),
				   &source, NULL),
			 0);
	ASSERT_EACH(READS(text_at(source, "/sys/a"), "A\n"), READS(text_at(source, "/sys/link"), "B\n"),
		    READS(text_at(source, "/sys/secret"), "(EACCES)"), READS(text_at(source, "/sys/gone"), "(ENOENT)"),
		    READS(text_at(source, "/sys/a/b"), "(ENOTDIR)"),
		    READS(text_at(source, "/proc/sys/kernel/hostname"), "n1"));
	assert_int_equal(rd_list_dir(source, "/sys/dir", &names, &err), 0);
	assert_int_equal(names.n, 2);
	/* Nobody asked what is in there: that is not the same as two names. */
	assert_int_equal(rd_list_dir(source, "/sys", &names, &err), -ENOENT);
	assert_int_equal(rd_stat(source, RD_OP_INO, "/sys/dir", &value, &err), 0);
	assert_int_equal(value, 4026531836);
	assert_int_equal(rd_stat(source, RD_OP_RDEV, "/dev/x", &value, &err), 0);
	assert_int_equal(value, 59136);
	assert_int_equal(source->ops->now(source, CLOCK_REALTIME), 1700000000000000000);
	assert_int_equal(source->ops->now(source, CLOCK_MONOTONIC), 5);
	assert_int_equal(rd_source_bundle_next(source, &err), -ENODATA);
}

TEST(a_manifest_that_lies_is_refused)
{
	static const char *const lies[] = {
		"",
		"{}",
		"[]",
		"{\"schema\":\"rdmadiag/bundle/1\"}",
		"{\"schema\":\"rdmadiag/bundle/2\",\"samples\":[{\"requests\":[]}]}",
		"{\"schema\":\"rdmadiag/bundle/1\",\"byte_order\":\"middle\",\"samples\":[{\"requests\":[]}]}",
		MANIFEST("") " and more",
		MANIFEST("{\"ask\":\"read\"}"),
		MANIFEST("{\"path\":\"/sys/a\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/none\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/dir\"}"),
		MANIFEST("{\"ask\":\"list\",\"path\":\"/sys/a\"}"),
		MANIFEST("{\"ask\":\"link\",\"path\":\"/sys/a\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/a\",\"errno\":\"EACCES\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/a\",\"errno\":\"ENOENT\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/x\",\"errno\":\"ENONSENSE\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/x\",\"errno\":\"-1\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/../../x\",\"errno\":\"EACCES\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/link/x\",\"errno\":\"EACCES\"}"),
		MANIFEST("{\"ask\":\"list\",\"path\":\"/sys/dir\",\"names\":[\"../x\"]}"),
		MANIFEST("{\"ask\":\"list\",\"path\":\"/sys/dir\",\"names\":[\"\"]}"),
		MANIFEST("{\"ask\":\"list\",\"path\":\"/sys/dir\",\"names\":[7]}"),
		MANIFEST("{\"ask\":\"ino\",\"path\":\"/sys/a\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/a\",\"hash\":\"0000000000000000\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/a\",\"hash\":\"09089c07b5a14cd2 \"}"),
		MANIFEST("{\"ask\":\"list\",\"path\":\"/sys/dir\",\"hash\":\"cbf29ce484222325\"}"),
		MANIFEST("{\"ask\":\"ino\",\"path\":\"/sys/a\",\"value\":99999999999999999999}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"route/18-0\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/x\",\"errno\":\"EACCES\"},"
			 "{\"ask\":\"read\",\"path\":\"/sys/x\",\"errno\":\"EPERM\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/\\u0000x\",\"errno\":\"EACCES\"}"),
		MANIFEST("{\"ask\":\"read\",\"path\":\"/sys/x\"") "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(lies); i++) {
		struct rd_source *source = NULL;
		struct rd_err err = { 0 };

		if (open_with(lies[i], &source, &err) != -EBADMSG)
			fail_msg("taken for true: %s", lies[i]);
		assert_true(err.message[0]);
	}
}

TEST(a_later_sample_has_what_changed_and_the_rest_as_before)
{
	static const char manifest[] =
		"{\"schema\":\"rdmadiag/bundle/1\",\"samples\":[{\"realtime_ns\":1,\"requests\":["
		"{\"ask\":\"list\",\"path\":\"/sys\"},{\"ask\":\"read\",\"path\":\"/sys/a\"}]},{\"realtime_ns\":2,"
		"\"requests\":[{\"ask\":\"read\",\"path\":\"/sys/a\"},{\"ask\":\"read\",\"path\":\"/sys/b\","
		"\"errno\":\"ENOENT\"},{\"ask\":\"list\",\"path\":\"/sys\",\"names\":[\"a\"]}]}]}";
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 };
	_cleanup_buf_ struct rd_buf tar = { 0 };

	tar_add(&tar, "manifest.json", manifest);
	tar_add(&tar, "root/sys/a", "1");
	tar_add(&tar, "root/sys/b", "1");
	tar_add(&tar, "root/sys/c", "1");
	tar_add(&tar, "t000/root/sys/a", "2");
	tar_end(&tar);
	assert_int_equal(tar_open(&tar, &source, NULL), 0);
	assert_string_equal(text_at(source, "/sys/a"), "1");
	assert_int_equal(rd_source_bundle_next(source, NULL), 0);
	ASSERT_EACH(READS(text_at(source, "/sys/a"), "2"), READS(text_at(source, "/sys/b"), "(ENOENT)"),
		    READS(text_at(source, "/sys/c"), "1"));
	assert_int_equal(rd_list_dir(source, "/sys", &names, NULL), 0);
	assert_int_equal(names.n, 1);
	assert_int_equal(source->ops->now(source, CLOCK_REALTIME), 2);
	assert_int_equal(rd_source_bundle_next(source, NULL), -ENODATA);
}

TEST(an_nccl_topology_is_a_host_with_nothing_else)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_buf xml = { (char *)"\n<system version=\"1\"/>\n", 23, 0, false };

	assert_int_equal(tar_open(&xml, &source, NULL), 0);
	assert_string_equal(text_at(source, RD_SOURCE_NCCL_XML), "\n<system version=\"1\"/>\n");
	assert_string_equal(text_at(source, "/sys/class/infiniband"), "(ENOENT)");
}
