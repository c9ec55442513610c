/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was answered while recording is what the bundle answers. */
#include "fake-host.h"
#include "fake-netlink.h"
#include "tar.h"
#include "tests/source-parts.h"
#include "unit.h"

#include "source/record/record.h"
#include "source/shared/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <time.h>

static void shell(struct fake_host *host, const char *command)
{
	assert_int_equal(fake_host_run(host, command), 0);
}

static void begin(struct fake_host *host)
{
	*host = fake_host_make();
	shell(host,
	      "mkdir -p proc/sys/kernel proc/7 sys/class/net sys/devices/pci0/net/eth0 sys/devices/empty bin &&"
	      "echo n1 > proc/sys/kernel/hostname && ln -s 7 proc/self && ln -s /bin/sh proc/7/exe && echo sh > bin/sh &&"
	      "ln -s ../../devices/pci0/net/eth0 sys/class/net/eth0 && echo 1500 > sys/devices/pci0/net/eth0/mtu &&"
	      "ln -s ../../../pci0 sys/devices/pci0/net/eth0/device && printf 'a\\0b' > sys/devices/pci0/config &&"
	      "ln -s nowhere sys/dangling && ln -s loop sys/loop && : > sys/devices/pci0/none &&"
	      "printf 'HOME=/root\\0NCCL_DEBUG=INFO\\0TOKEN=x\\0UCX_TLS=rc' > proc/7/environ");
}

/* Asks everything about each of these paths, and writes down every answer. */
static void ask_all(struct rd_source *source, struct rd_buf *out)
{
	static const char *const paths[] = {
		"/sys/class/net/eth0/mtu",
		"/sys/class/net/eth0/device/config",
		"/sys/class/net",
		"/sys/class/net/eth0",
		"/sys/class/net/eth0/device",
		"/sys/class/net/eth1/mtu",
		"/sys/dangling",
		"/sys/loop",
		"/sys/devices/pci0/net/eth0/mtu",
		"/sys/devices/pci0/net/eth0/mtu/x",
		"/proc/self/exe",
		"/proc/self",
		"/proc/self/environ",
		"/sys/devices/empty",
		"/sys/devices/pci0/none",
		"/none/of/this",
		"/",
		"/sys/class/net/eth0/../../net/eth0/mtu",
		"/proc/sys/kernel/hostname",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		_cleanup_texts_ struct rd_texts names = { 0 };
		_cleanup_free_ char *target = NULL;
		uint64_t ino = 0, rdev = 0;
		int r = rd_read_file(source, paths[i], &bytes, NULL);

		rd_buf_printf(out, "%s: read %d ", paths[i], r);
		rd_buf_safe(out, bytes.data ? (char *)bytes.data : "", bytes.size);
		r = rd_list_dir(source, paths[i], &names, NULL);
		rd_buf_printf(out, " list %d", r);
		for (size_t k = 0; k < names.n; k++)
			rd_buf_printf(out, " %s", names.v[k]);
		r = rd_read_link(source, paths[i], &target, NULL);
		rd_buf_printf(out, " link %d %s", r, target ? target : "");
		r = rd_stat(source, RD_OP_RDEV, paths[i], &rdev, NULL);
		rd_buf_printf(out, " rdev %d %llu", r, (unsigned long long)rdev);
		r = rd_stat(source, RD_OP_INO, paths[i], &ino, NULL);
		rd_buf_printf(out, " ino %d %llu\n", r, (unsigned long long)ino);
	}
	rd_buf_printf(out, "%llu", (unsigned long long)source->ops->now(source, CLOCK_REALTIME));
}

/* Saves and opens again what `record` has gathered. */
static void reopen(struct rd_source *record, const char *suffix, struct rd_source **ret)
{
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	struct rd_err err = { 0 };
	uint64_t size = 0;
	char path[96];

	assert_int_equal(rd_source_record_take(record, &recording, NULL), 0);
	snprintf(path, sizeof(path), "/tmp/rdmadiag-unit-%d%s", (int)getpid(), suffix);
	assert_int_equal(rd_record_save(&recording, "0", path, false, &size, &err), 0);
	assert_true(size > 0);
	if (rd_source_bundle_open(path, ret, &err) < 0)
		fail_msg("%s: %s", err.object, err.message);
	unlink(path);
}

#define HOST_TEST(name) TEST_BEGUN(name, struct fake_host, host, begin, fake_host_deinit)

HOST_TEST(a_recording_answers_as_the_host_did)
{
	static const char *const suffixes[] = { ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.zst" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(suffixes); i++) {
		_cleanup_(rd_source_closep) struct rd_source *record = NULL, *bundle = NULL;
		_cleanup_buf_ struct rd_buf first = { 0 }, again = { 0 }, replayed = { 0 }, recorded = { 0 };

		record = rd_source_record_open(host->source);
		ask_all(record, &first);
		ask_all(record, &again);
		assert_string_equal(first.data, again.data);
		reopen(record, suffixes[i], &bundle);
		ask_all(bundle, &replayed);
		assert_string_equal(first.data, replayed.data);
		rd_source_closep(&record);
		record = rd_source_record_open(bundle);
		ask_all(record, &recorded);
		assert_string_equal(first.data, recorded.data);
		ASSERT_HAS(first.data, "/sys/class/net/eth0/mtu: read 0 1500", "link 0 ../../../pci0", "link 0 /bin/sh");
	}
}

/* Of a path that only its numbers were asked of, or whose reading was refused, nobody has said of what kind it is. */
HOST_TEST(a_recording_of_a_recording_says_the_same)
{
	_cleanup_(rd_source_closep) struct rd_source *record = NULL, *bundle = NULL, *record2 = NULL, *bundle2 = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	uint64_t mode = 0, again = 0, before = 0;

	record = rd_source_record_open(host->source);
	assert_int_equal(rd_stat(record, RD_OP_MODE, "/bin/sh", &mode, NULL), 0);
	assert_int_equal(rd_stat(record, RD_OP_INO, "/sys/devices/pci0/none", &before, NULL), 0);
	assert_int_equal(rd_source_record_next(record, NULL), 0);
	assert_int_equal(rd_stat(record, RD_OP_MODE, "/bin/sh", &mode, NULL), 0);
	assert_int_equal(rd_list_dir(record, "/bin/sh", &(struct rd_texts){ 0 }, NULL), -ENOTDIR);
	reopen(record, ".tar", &bundle);
	record2 = rd_source_record_open(bundle);
	assert_int_equal(rd_stat(record2, RD_OP_MODE, "/bin/sh", &again, NULL), 0);
	assert_int_equal(again, mode);
	assert_int_equal(rd_stat(record2, RD_OP_INO, "/sys/devices/pci0/none", &again, NULL), 0);
	assert_int_equal(again, before);
	assert_int_equal(rd_source_bundle_next(bundle, NULL), 0);
	assert_int_equal(rd_source_record_next(record2, NULL), 0);
	/* Asked in the first sample only, and still so. */
	assert_int_equal(rd_stat(record2, RD_OP_MODE, "/bin/sh", &again, NULL), 0);
	assert_int_equal(again, mode);
	assert_int_equal(rd_list_dir(record2, "/bin/sh", &(struct rd_texts){ 0 }, NULL), -ENOTDIR);
	assert_int_equal(rd_read_file(record2, "/sys/none", &bytes, NULL), -ENOENT);
	reopen(record2, ".tar", &bundle2);
	assert_int_equal(rd_stat(bundle2, RD_OP_MODE, "/bin/sh", &again, NULL), 0);
	assert_int_equal(again, mode);
}

HOST_TEST(within_a_sample_a_file_does_not_change)
{
	_cleanup_(rd_source_closep) struct rd_source *record = NULL, *bundle = NULL;

	shell(host, ">sys/empty");
	record = rd_source_record_open(host->source);
	ASSERT_EACH(READS(text_at(record, "/sys/class/net/eth0/mtu"), "1500\n"),
		    READS(text_at(record, "/sys/new"), "(ENOENT)"), READS(text_at(record, "/sys/empty"), ""));
	shell(host, "echo 9000 > sys/devices/pci0/net/eth0/mtu && echo x > sys/new");
	assert_string_equal(text_at(record, "/sys/class/net/eth0/mtu"), "1500\n");
	assert_string_equal(text_at(record, "/sys/new"), "(ENOENT)");
	assert_int_equal(rd_source_record_next(record, NULL), 0);
	ASSERT_EACH(READS(text_at(record, "/sys/class/net/eth0/mtu"), "9000\n"),
		    READS(text_at(record, "/sys/new"), "x\n"), READS(text_at(record, "/sys/empty"), ""));
	shell(host, "rm sys/devices/pci0/net/eth0/mtu sys/new");
	assert_int_equal(rd_source_record_next(record, NULL), 0);
	assert_string_equal(text_at(record, "/sys/class/net/eth0/mtu"), "(ENOENT)");
	reopen(record, ".tar", &bundle);
	assert_string_equal(text_at(bundle, "/sys/class/net/eth0/mtu"), "1500\n");
	assert_string_equal(text_at(bundle, "/sys/new"), "(ENOENT)");
	assert_int_equal(rd_source_bundle_next(bundle, NULL), 0);
	ASSERT_EACH(READS(text_at(bundle, "/sys/class/net/eth0/mtu"), "9000\n"),
		    READS(text_at(bundle, "/sys/new"), "x\n"), READS(text_at(bundle, "/sys/empty"), ""));
	assert_int_equal(rd_source_bundle_next(bundle, NULL), 0);
	assert_string_equal(text_at(bundle, "/sys/class/net/eth0/mtu"), "(ENOENT)");
	/* Not asked for a third time: nothing new is known. */
	assert_string_equal(text_at(bundle, "/sys/new"), "x\n");
}

HOST_TEST(of_an_environment_only_variables_of_communication_libraries_are_kept)
{
	_cleanup_(rd_source_closep) struct rd_source *record = NULL, *bundle = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	record = rd_source_record_open(host->source);
	assert_int_equal(rd_read_file(record, "/proc/7/environ", &bytes, NULL), 0);
	assert_int_equal(bytes.size, sizeof("NCCL_DEBUG=INFO\0UCX_TLS=rc") - 1);
	assert_memory_equal(bytes.data, "NCCL_DEBUG=INFO\0UCX_TLS=rc", bytes.size);
	reopen(record, ".tar", &bundle);
	rd_bytes_deinit(&bytes);
	assert_int_equal(rd_read_file(bundle, "/proc/7/environ", &bytes, NULL), 0);
	assert_int_equal(bytes.size, sizeof("NCCL_DEBUG=INFO\0UCX_TLS=rc") - 1);
}

HOST_TEST(a_bundle_that_cannot_be_written_leaves_nothing_behind)
{
	_cleanup_(rd_source_closep) struct rd_source *record = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	struct rd_err err = { 0 };
	char path[128];

	record = rd_source_record_open(host->source);
	assert_int_equal(rd_source_record_take(record, &recording, NULL), 0);
	assert_int_equal(rd_record_save(&recording, "0", "/tmp/no-such-folder/x.tar", false, NULL, &err), -ENOENT);
	snprintf(path, sizeof(path), "%s/x.zip", host->root);
	assert_int_equal(rd_record_can_save(path, false, &err), -EINVAL);
	shell(host, "mkdir -p x.tar/in-the-way");
	snprintf(path, sizeof(path), "%s/x.tar", host->root);
	assert_true(rd_record_save(&recording, "0", path, false, NULL, &err) < 0);
	shell(host, "! ls -d .rdmadiag.* 2>/dev/null");
}

/* A host that has netlink: one answer, one refusal. */
struct talker {
	struct rd_source src;
	struct source_parts ops;
	int asked;
};

static void add_message(struct rd_buf *out, uint16_t type, const struct rd_buf *body)
{
	struct nlmsghdr head = { .nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body->len), .nlmsg_type = type };

	rd_buf_add(out, &head, sizeof(head));
	rd_buf_add(out, body->data, body->len);
}

static int talker_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			  struct rd_err *err)
{
	struct talker *talker = (struct talker *)src;
	struct rd_buf out = { 0 }, body = { 0 }, entry = { 0 };
	struct nlmsghdr head;
	uint32_t key = 0x13572468, mrn = 7;

	talker->asked++;
	memcpy(&head, request, sizeof(head));
	if (protocol != NETLINK_RDMA)
		return rd_err_set(err, EPERM, "netlink", "no");
	fake_attr(&entry, RDMA_NLDEV_ATTR_RES_MRN, &mrn, sizeof(mrn));
	fake_attr(&entry, RDMA_NLDEV_ATTR_RES_RKEY, &key, sizeof(key));
	fake_attr(&body, RDMA_NLDEV_ATTR_RES_MR_ENTRY, entry.data, entry.len);
	rd_buf_deinit(&entry);
	fake_attr(&entry, RDMA_NLDEV_ATTR_RES_MR, body.data, body.len);
	add_message(&out, head.nlmsg_type, &entry);
	add_message(&out, head.nlmsg_type, &entry);
	rd_buf_deinit(&entry);
	rd_buf_deinit(&body);
	*ret = (struct rd_bytes){ (uint8_t *)out.data, out.len };
	return 0;
}

static uint64_t talker_now(struct rd_source *src, int clock)
{
	return 1;
}

TEST(netlink_is_recorded_by_request_and_its_memory_keys_are_not)
{
	_cleanup_(rd_source_closep) struct rd_source *record = NULL, *bundle = NULL;
	_cleanup_bytes_ struct rd_bytes live = { 0 }, again = { 0 }, replayed = { 0 };
	struct nlmsghdr request = { .nlmsg_len = sizeof(request), .nlmsg_type = 0x1401, .nlmsg_flags = NLM_F_REQUEST };
	struct talker talker = { .ops = { .ops = { .name = "live", .get = parts_get, .now = talker_now },
					  .netlink = talker_netlink } };
	uint32_t key = 0x13572468;
	struct rd_err err = { 0 };

	talker.src.ops = &talker.ops.ops;
	record = rd_source_record_open(&talker.src);
	assert_int_equal(rd_netlink(record, NETLINK_RDMA, &request, sizeof(request), &live, NULL), 0);
	assert_int_equal(rd_netlink(record, NETLINK_RDMA, &request, sizeof(request), &again, NULL), 0);
	assert_int_equal(talker.asked, 1);
	assert_int_equal(rd_netlink(record, NETLINK_ROUTE, &request, sizeof(request), &again, &err), -EPERM);
	assert_null(memmem(live.data, live.size, &key, sizeof(key)));
	reopen(record, ".tar", &bundle);
	assert_int_equal(rd_netlink(bundle, NETLINK_RDMA, &request, sizeof(request), &replayed, NULL), 0);
	assert_int_equal(replayed.size, live.size);
	assert_memory_equal(replayed.data, live.data, live.size);
	assert_int_equal(rd_netlink(bundle, NETLINK_ROUTE, &request, sizeof(request), &replayed, &err), -EPERM);
	request.nlmsg_type = 0x1402;
	assert_int_equal(rd_netlink(bundle, NETLINK_RDMA, &request, sizeof(request), &replayed, &err), -ENOENT);
	request.nlmsg_seq = 1;
	assert_int_equal(rd_netlink(bundle, NETLINK_RDMA, &request, sizeof(request), &replayed, &err), -EINVAL);
}

TEST(a_netlink_answer_that_is_cut_short_is_an_error)
{
	struct nlmsghdr request = { .nlmsg_len = sizeof(request), .nlmsg_type = 0x1401, .nlmsg_flags = NLM_F_REQUEST };
	struct nlmsghdr answer = { .nlmsg_len = 32, .nlmsg_type = 0x1401 };
	char name[64], path[80], manifest[] = "{\"schema\":\"rdmadiag/bundle/1\",\"samples\":[{\"requests\":[]}]}";

	rd_nlrequest_path(NETLINK_RDMA, &request, sizeof(request), name, sizeof(name));
	snprintf(path, sizeof(path), "nl/%s", name);
	for (uint32_t claimed = 0; claimed < 64; claimed++) {
		_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
		_cleanup_buf_ struct rd_buf tar = { 0 }, file = { 0 };
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };
		uint8_t body[16] = { 0 };
		bool sound = claimed == 32 || (claimed > 28 && claimed < 32);

		answer.nlmsg_len = claimed;
		rd_buf_add(&file, &request, sizeof(request));
		rd_buf_add(&file, &answer, sizeof(answer));
		rd_buf_add(&file, body, sizeof(body));
		tar_add(&tar, "manifest.json", manifest);
		tar_add(&tar, "root/sys/x", "");
		tar_add_raw(&tar, '0', path, NULL, file.data, file.len, file.len);
		tar_end(&tar);
		assert_int_equal(tar_open(&tar, &bundle, NULL), 0);
		assert_int_equal(rd_netlink(bundle, NETLINK_RDMA, &request, sizeof(request), &bytes, NULL),
				 sound ? 0 : -EBADMSG);
	}
}

TEST(the_kernel_answers_netlink)
{
	_cleanup_(rd_source_closep) struct rd_source *live = NULL;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 }, none = { 0 };
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
	} request = { .head = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETLINK } };
	struct rd_err err = { 0 };

	assert_int_equal(rd_source_live_open(NULL, &live, NULL), 0);
	request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	assert_int_equal(rd_netlink(live, NETLINK_ROUTE, &request, sizeof(request), &bytes, &err), 0);
	assert_true(bytes.size > sizeof(request));
	assert_true(rd_nlmsgs_sound(bytes.data, bytes.size));
	request.head.nlmsg_flags = NLM_F_REQUEST;
	request.info.ifi_index = 0x7ffffff0;
	assert_int_equal(rd_netlink(live, NETLINK_ROUTE, &request, sizeof(request), &none, &err), -ENODEV);
	request.info.ifi_index = 1;
	assert_int_equal(rd_netlink(live, NETLINK_ROUTE, &request, sizeof(request), &none, &err), 0);
	assert_true(none.size > sizeof(request));
}
