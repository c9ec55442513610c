/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that has given up its privileges can still have done for it, and what not. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dcbnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "confine/confine.h"
#include "source/opener/new-file.h"
#include "source/opener/opener-priv.h"
#include "unit.h"

#define ETHTOOL 21
#define DEVLINK 22

static struct opener_name known[] = {
	{ RD_OPENER_INPUT, (char *)"bundle.tar", (char *)"/home/me/bundle.tar", NULL },
	{ RD_OPENER_OUTPUT, (char *)"out.json", (char *)"/home/me/out.json", NULL },
	{ RD_OPENER_FOLDER, (char *)"/usr/share/rdmadiag", (char *)"/usr/share/rdmadiag", NULL },
	{ RD_OPENER_PROCESS, (char *)"/proc/17", (char *)"/proc/17", NULL },
};

static const struct opener_names file_only = { .v = known, .n = RD_ARRAY_SIZE(known) };
static const struct opener_names with_host = {
	.v = known, .n = RD_ARRAY_SIZE(known), .host = true, .families = { ETHTOOL, DEVLINK }
};

static bool may_ask(const struct opener_names *names, enum rd_op op, int protocol, const void *data, size_t size)
{
	return rd_opener_may_ask(names, &(struct rd_query){ op, protocol, size, data });
}

static bool may(const struct opener_names *names, enum rd_op op, const char *path)
{
	return may_ask(names, op, 0, path, strlen(path) + 1);
}

static void files_that_were_named_are_read_and_no_other(void **state)
{
	(void)state;
	assert_true(may(&file_only, RD_OP_READ, "bundle.tar"));
	assert_true(may(&file_only, RD_OP_READ, "/home/me/bundle.tar"));
	assert_true(may(&file_only, RD_OP_READ, "/usr/share/rdmadiag/hints"));
	assert_true(may(&file_only, RD_OP_LINK, "/proc/self/exe"));
	assert_false(may(&file_only, RD_OP_LIST, "bundle.tar"));
	assert_false(may(&file_only, RD_OP_READ, "out.json"));
	assert_false(may(&file_only, RD_OP_READ, "/home/me/bundle.tar.old"));
	assert_false(may(&file_only, RD_OP_READ, "/usr/share/rdmadiag/../shadow"));
	assert_false(may(&file_only, RD_OP_READ, "/usr/share/rdmadiag/more/hints"));
	assert_false(may(&file_only, RD_OP_READ, "/usr/share/rdmadiag/.."));
	assert_false(may(&file_only, RD_OP_READ, "/etc/shadow"));
	assert_false(may(&file_only, RD_OP_READ, "/sys/class/net/eth0/mtu"));
	assert_false(may(&file_only, RD_OP_LIST, "/proc"));
	assert_false(may(&file_only, RD_OP_READ, ""));
}

static void facts_of_the_host_are_read_where_the_command_is_about_it(void **state)
{
	static const char *const read[] = {
		"/sys/class/infiniband/mlx5_0/ports/1/pkeys/0",
		"/sys/class/infiniband/mlx5_0/device/resource",
		"/sys/class/net/ib0/pkey",
		"/sys/devices/pci0000:00/0000:00:01.0/config",
		"/sys/module/nvidia/version",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/proc/sys/net/ipv4/conf/eth0/rp_filter",
		"/proc/driver/nvidia/gpus/0000:65:00.0/information",
		"/proc/1/stat",
		"/proc/net/route",
		"/dev/kmsg",
		"/ethtool/eth0/stats",
		"/verbs/mlx5_0",
		"/bpf/rdmadiag_qps",
		/* Names that an administrator chose. */
		"/sys/class/net/secret0/mtu",
		"/sys/class/net/rom/mtu",
		"/sys/fs/cgroup/system.slice/systemd-ask-password.service/cgroup.procs",
	};
	static const char *const not_read[] = {
		/* Devices and tracing, where being read does something. */
		"/dev/infiniband/issm0",
		"/dev/sda",
		"/sys/kernel/tracing/trace_pipe",
		"/sys/kernel/debug/tracing/trace_pipe",
		"/sys/class/net/eth0/device/resource0",
		"/sys/class/net/eth0/device/rom",
		"/proc/sys/vm/stat_refresh",
		"/proc/sys/fs/binfmt_misc/status",
		/* Other file systems, in which everybody may make links. */
		"/sys/fs/bpf/x",
		"/sys/fs/selinux/enforce",
		/* Secrets. */
		"/etc/shadow",
		"/proc/sys/net/ipv4/tcp_fastopen_key",
		"/proc/sys/net/ipv6/conf/eth0/stable_secret",
		"/sys/devices/virtual/nvme-fabrics/ctl/nvme0/dhchap_secret",
		"/sys/devices/virtual/nvme-fabrics/ctl/nvme0/tls_key",
		"/sys/devices/virtual/devcoredump/devcd1/data",
		"/proc/1/environ",
		"/proc/1/maps",
		"/proc/171/environ",
		"/proc/1/mem",
		"/proc/17/mem",
		"/proc/17/task/17/environ",
		"/proc/1/root/etc/shadow",
		"/proc/self/mem",
		"/proc/kcore",
		/* Spelled otherwise. */
		"/sys//kernel/tracing/trace_pipe",
		"/sys/./kernel/debug/x",
		"/sys/../etc/shadow",
		"/sys/class/net/..",
		"/sys/class/net/",
		"/sys/class/network",
		"sys/class/net/eth0/mtu",
	};

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(read); i++)
		if (!may(&with_host, RD_OP_READ, read[i]) || may(&file_only, RD_OP_READ, read[i]))
			fail_msg("%s", read[i]);
	for (size_t i = 0; i < RD_ARRAY_SIZE(not_read); i++)
		if (may(&with_host, RD_OP_READ, not_read[i]))
			fail_msg("%s", not_read[i]);
	assert_true(may(&with_host, RD_OP_LIST, "/sys/class/infiniband"));
	assert_true(may(&with_host, RD_OP_LINK, "/sys/class/net/secret0"));
	assert_true(may(&with_host, RD_OP_LIST, "/sys/class/net/...x/.y/..z"));
	assert_true(may(&with_host, RD_OP_RDEV, "/dev/infiniband/uverbs0"));
	/* The process that --pid names. */
	assert_true(may(&with_host, RD_OP_READ, "/proc/17/environ"));
	assert_true(may(&with_host, RD_OP_READ, "/proc/17/maps"));
	assert_false(may(&with_host, RD_OP_MODE, "/dev/infiniband/../../etc/shadow"));
	assert_false(may(&with_host, RD_OP_LIST, "/sys/kernel/debug"));
	assert_false(may(&with_host, RD_OP_LIST, "/sys/kernel/tracing/"));
	assert_false(may(&with_host, RD_OP_LIST, "/sys"));
	assert_false(may(&with_host, RD_OP_LIST, "/root"));
}

static void a_path_is_one_string(void **state)
{
	static const char two[] = "/sys/class\0/../../etc/shadow", open_end[] = { '/', 's', 'y', 's', '/' };

	(void)state;
	assert_false(may_ask(&with_host, RD_OP_READ, 0, two, sizeof(two)));
	assert_false(may_ask(&with_host, RD_OP_READ, 0, open_end, sizeof(open_end)));
}

static bool may_request(const struct opener_names *names, int protocol, uint16_t type, uint16_t flags, uint8_t command)
{
	struct {
		struct nlmsghdr head;
		uint8_t body[20];
	} message = { .head = { sizeof(message), type, NLM_F_REQUEST | flags, 0, 0 } };

	message.body[0] = command;
	return may_ask(names, RD_OP_NETLINK, protocol, &message, sizeof(message));
}

static void netlink_is_asked_and_changes_nothing(void **state)
{
	static const uint16_t changes[] = {
		RTM_NEWLINK, RTM_DELLINK, RTM_SETLINK, RTM_NEWADDR, RTM_DELROUTE, RTM_SETDCB
	};
	static const uint16_t rdma_changes[] = { RDMA_NLDEV_CMD_SET,	  RDMA_NLDEV_CMD_NEWLINK,
						 RDMA_NLDEV_CMD_DELLINK,  RDMA_NLDEV_CMD_SYS_SET,
						 RDMA_NLDEV_CMD_STAT_SET, RDMA_NLDEV_CMD_STAT_DEL };
	const int nft = NFNL_SUBSYS_NFTABLES << 8;

	(void)state;
	assert_true(may_request(&with_host, NETLINK_ROUTE, RTM_GETLINK, NLM_F_DUMP, 0));
	assert_false(may_request(&file_only, NETLINK_ROUTE, RTM_GETLINK, NLM_F_DUMP, 0));
	for (size_t i = 0; i < RD_ARRAY_SIZE(changes); i++)
		assert_false(may_request(&with_host, NETLINK_ROUTE, changes[i], NLM_F_DUMP, 0));
	assert_true(may_request(&with_host, NETLINK_RDMA, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET), 0,
				0));
	assert_true(may_request(&with_host, NETLINK_RDMA,
				RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET_RAW), 0, 0));
	for (size_t i = 0; i < RD_ARRAY_SIZE(rdma_changes); i++)
		assert_false(may_request(&with_host, NETLINK_RDMA, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, rdma_changes[i]),
					 NLM_F_DUMP, 0));
	assert_true(may_request(&with_host, NETLINK_NETFILTER, nft | NFT_MSG_GETRULE, NLM_F_DUMP, 0));
	assert_false(may_request(&with_host, NETLINK_NETFILTER, nft | NFT_MSG_NEWRULE, NLM_F_DUMP, 0));
	assert_true(may_request(&with_host, NETLINK_GENERIC, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY));
	assert_true(may_request(&with_host, NETLINK_GENERIC, DEVLINK, NLM_F_DUMP, DEVLINK_CMD_INFO_GET));
	assert_false(may_request(&with_host, NETLINK_GENERIC, DEVLINK, 0, DEVLINK_CMD_RELOAD));
	/* Lists of other families hold secrets (WireGuard's keys), and devlink's may hold memory of the device. */
	assert_false(may_request(&with_host, NETLINK_GENERIC, 30, NLM_F_DUMP, DEVLINK_CMD_INFO_GET));
	assert_false(may_request(&with_host, NETLINK_GENERIC, DEVLINK, NLM_F_DUMP, DEVLINK_CMD_REGION_READ));
	assert_false(may_request(&with_host, NETLINK_GENERIC, 0, NLM_F_DUMP, DEVLINK_CMD_INFO_GET));
	assert_true(may_request(&with_host, NETLINK_GENERIC, ETHTOOL, 0, ETHTOOL_MSG_PAUSE_GET));
	assert_false(may_request(&with_host, NETLINK_GENERIC, ETHTOOL, 0, ETHTOOL_MSG_PAUSE_SET));
	assert_false(may_request(&with_host, NETLINK_KOBJECT_UEVENT, 20, NLM_F_DUMP, 0));
}

static bool may_ask_dcb(uint16_t type, uint8_t command)
{
	struct {
		struct nlmsghdr head;
		struct dcbmsg dcb;
	} message = { { sizeof(message), type, NLM_F_REQUEST, 0, 0 }, { .cmd = command } };

	return may_ask(&with_host, RD_OP_NETLINK, NETLINK_ROUTE, &message, sizeof(message));
}

static void dcb_is_asked_by_its_command(void **state)
{
	struct nlmsghdr bare = { sizeof(bare), RTM_GETDCB, NLM_F_REQUEST, 0, 0 };

	(void)state;
	assert_true(may_ask_dcb(RTM_GETDCB, DCB_CMD_IEEE_GET));
	assert_false(may_ask_dcb(RTM_GETDCB, DCB_CMD_IEEE_SET));
	assert_false(may_ask_dcb(RTM_GETDCB, DCB_CMD_SDCBX));
	assert_false(may_ask_dcb(RTM_SETDCB, DCB_CMD_IEEE_GET));
	assert_false(may_ask(&with_host, RD_OP_NETLINK, NETLINK_ROUTE, &bare, sizeof(bare)));
}

static void datagrams_ask_and_change_nothing(void **state)
{
	struct rd_mad mad = { .data = { 1, 0x81, 1, 1 } };

	(void)state;
	assert_true(rd_opener_may_send(&mad));
	mad.data[3] = 2; /* Set */
	assert_false(rd_opener_may_send(&mad));
}

/* The same in a process of its own, in a folder that is made for it. */
static char folder[] = "/tmp/test-opener.XXXXXX";

static char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int answer_of_child;

static int run(void (*fn)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		fn();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

#define CHECK(what)                                                                        \
	do {                                                                               \
		if (!(what)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			_exit(1);                                                          \
		}                                                                          \
	} while (0)

static void give_up(void)
{
	struct rd_err err;

	umask(027);
	rd_opener_name(RD_OPENER_INPUT, in_folder("in"));
	rd_opener_name(RD_OPENER_INPUT, in_folder("closed"));
	rd_opener_name(RD_OPENER_INPUT, in_folder("link"));
	rd_opener_name(RD_OPENER_OUTPUT, in_folder("out"));
	rd_opener_name(RD_OPENER_NEW_FILE, in_folder("new"));
	rd_opener_name(RD_OPENER_BUNDLE, ".");
	CHECK(rd_opener_start(false, &err) == 0);
	CHECK(rd_confine(RD_CONFINE_CHILDREN, NULL, &err) == 0);
}

static void read_what_was_named(void)
{
	char text[16] = "";
	struct rd_bytes walk;
	int fd;

	give_up();
	CHECK(open(in_folder("in"), O_RDONLY | O_CLOEXEC) < 0);
	fd = rd_opener_open(in_folder("in"));
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) == 3 && strcmp(text, "in\n") == 0);
	CHECK(rd_opener_open(in_folder("other")) == -EPERM);
	CHECK(rd_opener_open(in_folder("out")) == -EPERM);
	/* Nobody but its owner may look into it. */
	CHECK(rd_opener_walk(in_folder("closed"), &walk) == 0);
	CHECK(memmem(walk.data, walk.size, "file\0closed\n", 12));
}

/* Whoever may write to the folder has it name another file meanwhile. */
static void read_another_file(void)
{
	int ready[2], fd;
	char byte;
	pid_t other;

	CHECK(pipe(ready) == 0);
	other = fork();
	if (other == 0) {
		close(ready[1]);
		/* Ends when the first has read. */
		_exit(read(ready[0], &byte, 1) == 1 && unlink(in_folder("link")) == 0 &&
				      symlink("other", in_folder("link")) == 0 ?
			      0 :
			      1);
	}
	CHECK(other > 0);
	give_up();
	fd = rd_opener_open(in_folder("link"));
	CHECK(fd >= 0);
	CHECK(write(ready[1], "x", 1) == 1);
	CHECK(waitpid(other, NULL, 0) == other);
	CHECK(rd_opener_open(in_folder("link")) == -ESTALE);
	CHECK(rd_opener_open(in_folder("in")) >= 0);
	CHECK(rd_opener_open(in_folder("in")) >= 0);
}

static int make_and_name(const char *path, bool replace, mode_t mode)
{
	struct rd_err err;
	int fd = rd_opener_call(OPENER_CREATE, path, replace, true, &err);

	if (fd < 0)
		return fd;
	close(fd);
	return rd_opener_call(OPENER_FINISH, NULL, mode, false, &err);
}

static void make_what_may_be_made(void)
{
	struct rd_child_state state;
	struct rd_err err;
	pid_t pid, child;
	int fd, status;

	CHECK(chdir(folder) == 0);
	give_up();
	CHECK(make_and_name(in_folder("new"), true, 0666) == -EPERM);
	CHECK(make_and_name(in_folder("new"), false, 07777) == 0);
	CHECK(make_and_name(in_folder("new"), false, 0666) == -EEXIST);
	CHECK(make_and_name("x.tar.zst", false, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-x.so", false, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-/x.tar.zst", false, 0666) == -EPERM);
	CHECK(make_and_name("rdmadiag-x.tar.zst", true, 0666) == -EPERM);
	/* Nothing about a process that did not start here. */
	rd_opener_look(1, &state);
	CHECK(!state.known && !state.state);
	rd_opener_look(getpid(), &state);
	CHECK(state.state);
	/* The opener of a child makes none of its own. */
	fd = rd_opener_fork(&pid, &err);
	CHECK(fd >= 0);
	child = fork();
	if (child == 0) {
		rd_opener_take(fd);
		CHECK(make_and_name("rdmadiag-z.tar.zst", false, 0666) == -EPERM);
		CHECK(make_and_name(in_folder("out"), true, 0666) == 0);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(make_and_name("rdmadiag-x.tar.zst", false, 0666) == 0);
	CHECK(make_and_name("rdmadiag-y.tar.zst", false, 0666) == -EPERM);
}

/* A child that outlives us has no opener any more. */
static void leave_a_child(void)
{
	int ready[2], tries = 6000;
	char byte;

	give_up();
	/* Its other end is not the opener's. */
	CHECK(pipe(ready) == 0);
	CHECK(rd_opener_open(in_folder("in")) >= 0);
	if (fork() == 0) {
		close(ready[1]);
		CHECK(read(ready[0], &byte, 1) == 0);
		/* Our end of the pipe closes a moment before we have ended. */
		while (rd_opener_open(in_folder("in")) >= 0 && --tries > 0)
			usleep(10000);
		byte = tries > 0 ? 'n' : 'y';
		CHECK(write(answer_of_child, &byte, 1) == 1);
		_exit(0);
	}
}

static void write_what_was_named(void)
{
	const struct rd_buf text = { .data = (char *)"written\n", .len = 8 };
	struct rd_new_file file;
	struct rd_err err;

	give_up();
	CHECK(rd_replace_file(in_folder("out"), &text, &err) == 0);
	CHECK(rd_replace_file(in_folder("other"), &text, &err) == -EPERM);
	CHECK(rd_open_for_update(in_folder("in"), &err) == -EPERM);
	/* Without replacing. */
	CHECK(rd_new_file_open(&file, in_folder("out"), false, &err) == -EEXIST);
	rd_new_file_deinit(&file);
}

static void end_while_writing(void)
{
	struct rd_new_file file;
	struct rd_err err;

	give_up();
	CHECK(rd_new_file_open(&file, in_folder("out"), true, &err) == 0);
	CHECK(write(file.fd, "half", 4) == 4);
	raise(SIGKILL);
}

static void what_was_named_is_opened(void **state)
{
	(void)state;
	write_text("in", "in\n");
	write_text("other", "other\n");
	mkdir(in_folder("closed"), 0700);
	write_text("closed/file", "closed\n");
	chmod(in_folder("closed/file"), 0600);
	assert_int_equal(run(read_what_was_named), 0);
}

static void another_file_of_the_same_name_is_not_read(void **state)
{
	(void)state;
	assert_int_equal(symlink("in", in_folder("link")), 0);
	assert_int_equal(run(read_another_file), 0);
}

static void what_is_made_has_the_name_and_mode_it_may_have(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(run(make_what_may_be_made), 0);
	assert_int_equal(stat(in_folder("new"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void an_opener_ends_with_who_started_it(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	answer_of_child = ends[1];
	assert_int_equal(run(leave_a_child), 0);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'n');
	close(ends[0]);
}

static size_t files(void)
{
	size_t n = 0;
	char command[128], line[256];
	FILE *list;

	snprintf(command, sizeof(command), "ls -A %s", folder);
	list = popen(command, "r");
	assert_non_null(list);
	while (fgets(line, sizeof(line), list))
		n++;
	pclose(list);
	return n;
}

static void what_was_named_is_written_whole_or_not_at_all(void **state)
{
	char text[16] = "";
	size_t before;
	int fd;

	(void)state;
	assert_int_equal(run(write_what_was_named), 0);
	fd = open(in_folder("out"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 8);
	close(fd);
	before = files();
	assert_true(WIFSIGNALED(run(end_while_writing)));
	/* The opener ends a moment later. */
	for (int i = 0; i < 6000 && files() != before; i++)
		usleep(10000);
	assert_int_equal(files(), before);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_were_named_are_read_and_no_other),
		cmocka_unit_test(facts_of_the_host_are_read_where_the_command_is_about_it),
		cmocka_unit_test(a_path_is_one_string),
		cmocka_unit_test(netlink_is_asked_and_changes_nothing),
		cmocka_unit_test(dcb_is_asked_by_its_command),
		cmocka_unit_test(datagrams_ask_and_change_nothing),
		cmocka_unit_test(what_was_named_is_opened),
		cmocka_unit_test(another_file_of_the_same_name_is_not_read),
		cmocka_unit_test(what_is_made_has_the_name_and_mode_it_may_have),
		cmocka_unit_test(an_opener_ends_with_who_started_it),
		cmocka_unit_test(what_was_named_is_written_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
