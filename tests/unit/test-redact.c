/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must not be found in a redacted bundle, in any form, and what must still fit together in it. */
#include "fake-host.h"
#include "fake-netlink.h"
#include "tar.h"
#include "tests/source-parts.h"
#include "unit.h"

#include "analyse/qp/qp-verdict-priv.h"
#include "base/klog-form.h"
#include "source/record/record.h"
#include "source/redact/redact.h"

#include <arpa/inet.h>
#include <linux/devlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#define MAC "\x02\xc9\x03\xa1\xb2\xc3"
#define GUID "\x00\x02\xc9\x03\x00\xa1\xb2\xc4"
#define IPV4 "\x0a\x01\x14\x1e"

/* Planted in files, names, links, messages and the log: each is in a bundle, and in no form in a redacted one. */
static const char *const planted[] = {
	"gpu-node-17",
	"GPU-NODE-17",
	"example.org",
	"02:c9:03:a1:b2:c3",
	"02c903a1b2c3",
	"0002:c903:00a1:b2c4",
	"0002c90300a1b2c4",
	"0x0002c90300a1b2c4",
	"00c9:03ff:fea1:b2c3",
	"10.1.20.30",
	"1E14010A",
	"10.1.20.1",
	"SN-4711-0815",
	"2001:0db8:0001:0002",
	"fd00:1:2:3",
	"--secret-token",
	"root=UUID",
	"GPU-5f1c2d3e",
	"5f1c2d3e-0000-1111-2222-333344445555",
	"USB-SN-99",
	"a program's secret",
	"acme_solver",	    /* comm, and in the log */
	"alice",	    /* a user, in a home directory and the log */
	"topology-of-acme", /* a file in a variable */
	"etcd.acme.example:2379",
	"acme-communicator-7",
	"job_4711234",
	"uid_1042",
	"3a4b5c6d_7e8f_4a0b_9c1d_2e3f4a5b6c7d",
	"3a4b5c6d-7e8f-4a0b-9c1d-2e3f4a5b6c7d",
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"acme-batch.service",
	"acme.slice",
	"acme-trainer", /* the file of a mapping */
	"rail to rack 12",
	"spine-acme-3",
	"VPD-SERIAL-77",
	"0xfeedfacecafebeef", /* guid of an NCCL topology */
	"alias-of-acme",      /* in a message of rtnetlink */
	"DEVLINK-SN-5",
	"acme-storage-if", /* in the log */
	"acme-kernel-module",
	"0000:0000:0000:0000:0000:ffff:0a01:141e",
	"login-acme-2",	       /* another host, in the log */
	"sys/net/gpu-node-17", /* a folder */
};

/* Parts of these. */
static const char *const parts[] = {
	"c9:3ff:fea1:b2c3", "4711",	"2001:db8:1:2", "acme",	    "1042",
	"3a4b5c6d",	    "01234567", "rack",		"feedface", "solver",
};

static const struct rd_buf raws[] = {
	{ (char *)MAC, 6, 0, false },
	{ (char *)GUID, 8, 0, false },
	{ (char *)"\xc4\xb2\xa1\x00\x03\xc9\x02\x00", 8, 0, false },
	{ (char *)IPV4, 4, 0, false },
	{ (char *)"\x00\xc9\x03\xff\xfe\xa1\xb2\xc3", 8, 0, false },
	{ (char *)"\xc3\xb2\xa1\xfe\xff\x03\xc9\x00", 8, 0, false },
};

static struct nlmsghdr route_request = { .nlmsg_type = RTM_GETADDR, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP };
static struct nlmsghdr link_request = { .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP };
static struct nlmsghdr devlink_request = { .nlmsg_type = 0x20, .nlmsg_flags = NLM_F_REQUEST };
static struct nlmsghdr rdma_request = { .nlmsg_type = 0x1401, .nlmsg_flags = NLM_F_REQUEST };

/* A host whose files are in a folder and whose kernel answers two requests. */
struct host {
	struct rd_source src;
	struct source_parts ops;
};

static uint64_t host_now(struct rd_source *src, int clock)
{
	return 1;
}

static int host_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			struct rd_err *err)
{
	struct rd_buf out = { 0 }, body = { 0 };
	struct nlmsghdr head = { 0 };
	struct ifaddrmsg address = { .ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 2 };
	struct ifinfomsg link = { .ifi_index = 2 };
	uint8_t storage[128] = { AF_INET, 0, 0x12, 0xb7 };

	if (protocol == NETLINK_ROUTE && ((const struct nlmsghdr *)request)->nlmsg_type == RTM_GETLINK) {
		rd_buf_add(&body, &link, sizeof(link));
		fake_attr(&body, IFLA_IFALIAS, "alias-of-acme", 14);
		head.nlmsg_type = RTM_NEWLINK;
	} else if (protocol == NETLINK_ROUTE) {
		rd_buf_add(&body, &address, sizeof(address));
		fake_attr(&body, IFA_LOCAL, IPV4, 4);
		fake_attr(&body, 77, "\x01\x02" MAC "\x01\x02", 10);
		fake_attr(&body, IFA_LABEL, "enx02c903a1b2c3", 16);
		head.nlmsg_type = RTM_NEWADDR;
	} else if (protocol == NETLINK_GENERIC) {
		rd_buf_add(&body, "\x33\x01\0\0", 4);
		fake_attr(&body, DEVLINK_ATTR_INFO_SERIAL_NUMBER, "DEVLINK-SN-5", 13);
		head.nlmsg_type = 0x20;
	} else {
		memcpy(storage + 4, IPV4, 4);
		fake_attr(&body, RDMA_NLDEV_ATTR_NODE_GUID, raws[2].data, 8);
		fake_attr(&body, RDMA_NLDEV_ATTR_RES_DST_ADDR, storage, sizeof(storage));
		fake_attr(&body, RDMA_NLDEV_ATTR_FW_VERSION, "218.0.219.13", 13);
		head.nlmsg_type = 0x1401;
	}
	head.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body.len);
	rd_buf_add(&out, &head, sizeof(head));
	rd_buf_add(&out, body.data, body.len);
	rd_buf_deinit(&body);
	*ret = (struct rd_bytes){ (uint8_t *)out.data, out.len };
	return 0;
}

static void make_files(struct fake_host *host)
{
	assert_int_equal(
		fake_host_run(
			host,
			"mkdir -p proc/sys/kernel proc/net proc/7 sys/net/enx02c903a1b2c3 sys/ib sys/pci &&"
			"echo gpu-node-17.example.org > proc/sys/kernel/hostname &&"
			"echo 'GPU-NODE-17 HCA-1' > sys/ib/node_desc && echo 218.0.219.13 > sys/ib/fw_ver &&"
			"echo 0002:c903:00a1:b2c4 > sys/ib/node_guid && echo 0x0002c90300a1b2c4 > sys/ib/guid2 &&"
			"echo fe80:0000:0000:0000:00c9:03ff:fea1:b2c3 > sys/ib/gid0 &&"
			"echo 0000:0000:0000:0000:0000:ffff:0a01:141e > sys/ib/gid1 &&"
			"echo 2001:0db8:0001:0002:00c9:03ff:fea1:b2c3 > sys/ib/gid2 &&"
			"echo fd00:1:2:3::9 > sys/ib/gid3 &&"
			"echo 02:c9:03:a1:b2:c3 > sys/net/enx02c903a1b2c3/address && echo SN-4711-0815 > sys/pci/serial &&"
			"printf 'Model: H100\\nGPU UUID: GPU-5f1c2d3e-0000-1111-2222-333344445555\\nSerial Number: SN-4711-0815\\n'"
			" > sys/pci/information && ln -s ../net/enx02c903a1b2c3 sys/pci/netdev &&"
			"printf 'python\\0train.py\\0--secret-token\\0' > proc/7/cmdline &&"
			"echo 'BOOT_IMAGE=/vmlinuz root=UUID=5f1c2d3e-0000-1111-2222-333344445555 iommu=pt' > proc/cmdline &&"
			"printf 'Iface\\tDestination\\tGateway\\neth0\\t00000000\\t0114010A\\neth0\\t1E14010A\\t00000000\\n'"
			" > proc/net/route && mkdir dev && printf '%s\\n'"
			" '6,0,0,-;Command line: root=UUID=5f1c2d3e-0000-1111-2222-333344445555 iommu=pt'"
			" '6,1,5,-;usb 1-1: SerialNumber: USB-SN-99' '12,2,6,-;a program'\\''s secret'"
			" '4,3,7,-;mlx5_core 0000:1b:00.0 enx02c903a1b2c3: Link down from 10.1.20.30' ' DEVICE=+pci:0000:1b:00.0'"
			" > dev/kmsg && echo 'via 10.1.20.1 dev eth0 src 10.1.20.30' > proc/net/text &&"
			"printf '200000000000000000c903fffea1b2c3 02 40\\n' > proc/net/if_inet6 &&"
			"(head -c 256 /dev/zero; printf '\\003\\000\\001\\000\\303\\262\\241\\376\\377\\003\\311\\000';"
			" head -c 100 /dev/zero) > sys/pci/config"),
		0);
}

#define UID "3a4b5c6d_7e8f_4a0b_9c1d_2e3f4a5b6c7d"
#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define GROUP \
	"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID ".slice/cri-containerd-" CONTAINER ".scope"

/* What belongs to people: their programs, jobs, containers, files. */
static void make_named(struct fake_host *host)
{
	assert_int_equal(
		fake_host_run(
			host,
			"echo acme_solver > proc/7/comm && mkdir -p etc sys/fs/cgroup/" GROUP
			" sys/fs/cgroup/acme.slice/acme-batch.service proc/8 &&"
			"printf '4:memory:/slurm/uid_1042/job_4711234/step_0\\n0::/" GROUP "\\n' > proc/7/cgroup &&"
			"echo 0::/kubepods/besteffort/pod3a4b5c6d-7e8f-4a0b-9c1d-2e3f4a5b6c7d > proc/8/cgroup &&"
			"printf 'NCCL_TOPO_FILE=/home/alice/topology-of-acme.xml\\0MC_METADATA_SERVER=etcd.acme.example:2379\\0"
			"NCCL_HOSTID=acme-communicator-7\\0NCCL_IB_HCA=mlx5_0:1\\0' > proc/7/environ &&"
			"mkdir -p job && printf 'fds 9\\ndev uverbs0 231:192 0660 0 27 acl=1.6.0,2.6.1042\\nlib /home/alice/venv/libnccl.so.2\\nenv OMPI_MCA_x=login-acme-2\\nenv NCCL_TOPO_FILE=/home/alice/t\\n' > job/7 && printf 'Name:\\tacme_solver\\nState:\\tT (stopped)\\nUid:\\t1042\\t1042\\nCapEff:\\t00000000\\n' > proc/7/status && echo '7 (acme_solver) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9100 4711234 94011' > proc/7/stat &&"
			"printf '0040-0050 r-xp 0 08:01 42 /opt/acme-trainer\\n0060-0070 r--p 0 0 0\\n' > proc/7/maps &&"
			"echo 'rail to rack 12' > sys/net/enx02c903a1b2c3/ifalias &&"
			"mkdir -p run/rdmadiag && printf 'rdmadiag recent\\0acme_solver' > run/rdmadiag/trace-errno && mkdir -p sys/other sys/net/gpu-node-17 && echo 1 > sys/net/gpu-node-17/mtu && echo 'spine-acme-3 mlx5_0' > sys/other/node_desc &&"
			"printf '\\220\\020\\000SN\\015VPD-SERIAL-77' > sys/pci/vpd &&"
			"echo '<net guid=\"0xfeedfacecafebeef\" name=\"mlx5_0\"/>' > nccl-topo.xml &&"
			"printf '%s\\n' '4,4,8,-;Memory cgroup out of memory: Killed process 77 (acme_solver) of alice'"
			" '4,5,9,-;mlx5_core 0000:1b:00.0 acme-storage-if: Link down' '4,6,9,-;acme-kernel-module: hello'"
			" '4,7,9,-;nfs: server login-acme-2 not responding' >> dev/kmsg && echo NCCL_DEBUG=INFO > etc/nccl.conf && mkdir -p etc/security && echo 'alice - memlock 64' > etc/security/limits.conf"),
		0);
}

static const char *const paths[] = {
	"/proc/sys/kernel/hostname",
	"/sys/ib/node_desc",
	"/sys/ib/fw_ver",
	"/sys/ib/node_guid",
	"/sys/ib/guid2",
	"/sys/ib/gid0",
	"/sys/ib/gid1",
	"/sys/ib/gid2",
	"/sys/ib/gid3",
	"/sys/pci/netdev/address",
	"/sys/pci/serial",
	"/sys/pci/information",
	"/proc/7/cmdline",
	"/proc/cmdline",
	"/dev/kmsg",
	"/proc/net/route",
	"/proc/net/text",
	"/proc/net/if_inet6",
	"/sys/pci/config",
	"/sys/pci/vpd",
	"/sys/other/node_desc",
	"/sys/net/gpu-node-17/mtu",
	"/sys/net/enx02c903a1b2c3/ifalias",
	"/proc/7/comm",
	"/proc/7/cgroup",
	"/proc/8/cgroup",
	"/proc/7/environ",
	"/job/7",
	"/proc/7/stat",
	"/proc/7/status",
	"/proc/7/maps",
	"/etc/nccl.conf",
	"/etc/security/limits.conf",
	"/nccl-topo.xml",
	"/run/rdmadiag/trace-errno",
};

/* Everything asked, redacted or not, saved as a plain tar. */
static void capture(const char *root, const char *tar, bool redact)
{
	struct host host = { .ops = { .ops = { .name = "live", .get = parts_get, .now = host_now },
				      .netlink = host_netlink } };
	_cleanup_(rd_source_closep) struct rd_source *record = NULL;
	_cleanup_(rd_recording_deinit) struct rd_recording recording = { 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 }, more = { 0 }, links = { 0 }, devlink = { 0 };
	_cleanup_texts_ struct rd_texts names = { 0 }, groups = { 0 }, below = { 0 }, pod = { 0 };
	struct rd_redacted redacted = { 0 };
	struct rd_err err = { 0 };

	host.src.ops = &host.ops.ops;
	route_request.nlmsg_len = rdma_request.nlmsg_len = sizeof(struct nlmsghdr);
	link_request.nlmsg_len = devlink_request.nlmsg_len = sizeof(struct nlmsghdr);
	assert_int_equal(rd_source_live_open(root, &host.ops.inner, NULL), 0);
	record = rd_source_record_open(&host.src);
	for (size_t i = 0; i < RD_ARRAY_SIZE(paths); i++)
		assert_int_not_equal(text_at(record, paths[i])[0], '(');
	assert_int_equal(rd_list_dir(record, "/sys/net", &names, NULL), 0);
	assert_int_equal(rd_list_dir(record, "/sys/fs/cgroup", &groups, NULL), 0);
	assert_int_equal(rd_list_dir(record, "/sys/fs/cgroup/acme.slice", &below, NULL), 0);
	assert_int_equal(rd_list_dir(record, "/sys/fs/cgroup/" GROUP, &pod, NULL), 0);
	assert_int_equal(rd_netlink(record, NETLINK_ROUTE, &link_request, sizeof(link_request), &links, NULL), 0);
	assert_int_equal(rd_netlink(record, NETLINK_GENERIC, &devlink_request, sizeof(devlink_request), &devlink, NULL),
			 0);
	assert_int_equal(rd_netlink(record, NETLINK_ROUTE, &route_request, sizeof(route_request), &bytes, NULL), 0);
	assert_int_equal(rd_netlink(record, NETLINK_RDMA, &rdma_request, sizeof(rdma_request), &more, NULL), 0);
	assert_int_equal(rd_source_record_take(record, &recording, NULL), 0);
	if ((redact && rd_record_redact(&recording, &(struct rd_sipkey){ { 1, 2 } }, &redacted, &err) < 0) ||
	    rd_record_save(&recording, "0", tar, true, NULL, &err) < 0)
		fail_msg("%s: %s", err.object, err.message);
	rd_source_closep(&host.ops.inner);
}

/* As text whatever its case, as digits of its bytes, and without what separates groups of digits. */
static bool is_in(const struct rd_bytes *bytes, const char *text)
{
	_cleanup_buf_ struct rd_buf all = { 0 }, bare = { 0 }, hex = { 0 };

	rd_buf_add(&all, bytes->data, bytes->size);
	for (size_t i = 0; i < all.len; i++)
		all.data[i] = all.data[i] ? all.data[i] : '\n';
	for (const char *c = text; *c; c++) {
		rd_buf_printf(&hex, "%02x", (unsigned char)*c);
		if (*c != ':' && *c != '-' && *c != '_')
			rd_buf_add(&bare, c, 1);
	}
	return strcasestr(all.data, text) || strcasestr(all.data, hex.data) ||
	       (bare.len >= 12 && strcasestr(all.data, bare.data));
}

static void read_tar(const char *tar, struct rd_bytes *ret)
{
	_cleanup_(rd_source_closep) struct rd_source *here = NULL;

	assert_int_equal(rd_source_live_open(NULL, &here, NULL), 0);
	assert_int_equal(rd_read_file(here, tar, ret, NULL), 0);
}

static void assert_nowhere(const char *tar)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	read_tar(tar, &bytes);
	for (size_t i = 0; i < RD_ARRAY_SIZE(planted); i++)
		if (is_in(&bytes, planted[i]))
			fail_msg("still there: %s", planted[i]);
	for (size_t i = 0; i < RD_ARRAY_SIZE(parts); i++)
		if (is_in(&bytes, parts[i]))
			fail_msg("a part is still there: %s", parts[i]);
	for (size_t i = 0; i < RD_ARRAY_SIZE(raws); i++)
		if (memmem(bytes.data, bytes.size, raws[i].data, raws[i].len))
			fail_msg("still there: raw bytes %zu", i);
}

/* Else the test would pass for want of what it looks for. */
static void assert_planted(const char *tar)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	read_tar(tar, &bytes);
	assert_true(RD_ARRAY_SIZE(planted) >= 40);
	for (size_t i = 0; i < RD_ARRAY_SIZE(planted); i++)
		if (!is_in(&bytes, planted[i]))
			fail_msg("not planted: %s", planted[i]);
}

TEST(nothing_that_identifies_is_left_and_the_rest_fits_together)
{
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();
	char tar[80], mac[32], ip[64], text[128];
	_cleanup_free_ char *target = NULL;
	_cleanup_texts_ struct rd_texts names = { 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_err err = { 0 };
	unsigned m[6];

	make_files(&host);
	make_named(&host);
	snprintf(tar, sizeof(tar), "%s/x.tar", host.root);
	capture(host.root, tar, false);
	assert_planted(tar);
	capture(host.root, tar, true);
	assert_nowhere(tar);
	if (rd_source_bundle_open(tar, &bundle, &err) < 0)
		fail_msg("%s: %s", err.object, err.message);

	/* The link leads to the folder of the new name, which is made of the new MAC, as is the link-local GID. */
	strcpy(mac, text_at(bundle, "/sys/pci/netdev/address"));
	assert_int_equal(sscanf(mac, "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]), 6);
	assert_int_equal(rd_read_link(bundle, "/sys/pci/netdev", &target, NULL), 0);
	snprintf(text, sizeof(text), "../net/enx%02x%02x%02x%02x%02x%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	assert_string_equal(target, text);
	assert_int_equal(rd_list_dir(bundle, "/sys/net", &names, NULL), 0);
	assert_string_equal(names.v[0], text + 7);
	snprintf(text, sizeof(text), "fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x\n", m[0] ^ 2, m[1], m[2],
		 m[3], m[4], m[5]);
	assert_string_equal(text_at(bundle, "/sys/ib/gid0"), text);

	/* The same address as text, in a GID, as the kernel's number, and in netlink. */
	assert_int_equal(sscanf(text_at(bundle, "/proc/net/text"), "via %*s dev eth0 src %63s", ip), 1);
	assert_int_equal(inet_pton(AF_INET, ip, &m[0]), 1);
	snprintf(text, sizeof(text), "eth0\t%08X\t", m[0]);
	assert_non_null(strstr(text_at(bundle, "/proc/net/route"), text));
	assert_int_equal(rd_netlink(bundle, NETLINK_ROUTE, &route_request, sizeof(route_request), &bytes, NULL), 0);
	assert_non_null(memmem(bytes.data, bytes.size, &m[0], 4));
	assert_non_null(memmem(bytes.data, bytes.size, "enx0272", 7));
	snprintf(text, sizeof(text), ":ffff:%04x:%04x\n", ntohl(m[0]) >> 16, ntohl(m[0]) & 0xffff);
	assert_non_null(strstr(text_at(bundle, "/sys/ib/gid1"), text));

	assert_string_equal(text_at(bundle, "/sys/ib/fw_ver"), "218.0.219.13\n");
	assert_non_null(strstr(text_at(bundle, "/proc/cmdline"), "iommu=pt"));
	assert_string_equal(text_at(bundle, "/etc/security/limits.conf"), "somebody - memlock 0\n");
	assert_non_null(strstr(text_at(bundle, "/job/7"), "dev uverbs0 231:192 0660 0 27 acl\n"));
	assert_string_equal(text_at(bundle, "/proc/7/stat"), ") S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9100");
	assert_string_equal(text_at(bundle, "/proc/7/status"), "State:\tT (stopped)\nCapEff:\t00000000\n");
	assert_non_null(strstr(text_at(bundle, "/dev/kmsg"), "6,0,0,-;*\n4,3,7,-;mlx5_core 0000:1b:00.0"));
	assert_non_null(strstr(text_at(bundle, "/dev/kmsg"), " Link down"));
	assert_non_null(strstr(text_at(bundle, "/dev/kmsg"), "\n DEVICE=+pci:0000:1b:00.0\n"));
	assert_non_null(strstr(text_at(bundle, "/sys/ib/node_desc"), " HCA-1"));
	strcpy(text, text_at(bundle, "/sys/pci/serial"));
	assert_non_null(strstr(text_at(bundle, "/sys/pci/information"), text));
	assert_non_null(strstr(text_at(bundle, "/sys/pci/information"), "Model: H100\n"));
}

TEST(what_only_looks_like_an_address_stays)
{
	static const char *const stay[] = {
		"0000:1b:00.0",
		"12:34:56",
		"255.255.255.0",
		"127.0.0.1",
		"0.0.0.0",
		"::1",
		"::",
		"ff:ff:ff:ff:ff:ff",
		"00:00:00:00:00:00",
		"fe80::/64",
		"mlx5_10",
		"20.31.1014",
		"deadbeef",
		"ffffffff81000000",
		"a:b",
		"face",
		"0000:0000:0000:0000:0000:0000:0000:0000",
		"pci0000:00/0000:00:02.0",
		"1.2.3",
		"4: ACTIVE",
		"5.8-2.0.3.0.1",
	};
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };

	for (size_t i = 0; i < RD_ARRAY_SIZE(stay); i++) {
		_cleanup_buf_ struct rd_buf out = { 0 };

		rd_redact_text(&redact, stay[i], strlen(stay[i]), 0, &out);
		assert_string_equal(out.data, stay[i]);
	}
}

TEST(hosts_of_one_network_stay_in_one)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	uint8_t a[4] = { 10, 1, 2, 3 }, b[4] = { 10, 1, 3, 7 }, c[4] = { 10, 2, 2, 3 }, net[4] = { 10, 1, 0, 0 };

	rd_redact_ip4(&redact, a);
	rd_redact_ip4(&redact, b);
	rd_redact_ip4(&redact, c);
	rd_redact_ip4(&redact, net);
	assert_memory_equal(a, b, 2);
	assert_memory_equal(a, net, 2);
	ASSERT_EACH(IS(a[2] ^ b[2], 2 ^ 3), IS(a[0], c[0]));
	assert_int_not_equal(a[1], c[1]);
	assert_true(a[0] >= 240);
	assert_memory_equal(net + 2, "\0\0", 2);
}

TEST(an_ipoib_address_ends_in_the_stand_in_of_its_guid)
{
	static const char text[] = "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:a1:b2:c4 0002:c903:00a1:b2c4 "
				   "(00-02-c9-a1-b2-c3, [fe80::2:c903:a1:b2c4%ib0]:80) 10.1.2.3:4791.";
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	char expected[32];
	unsigned g[8];

	rd_redact_text(&redact, text, strlen(text), 0, &out);
	assert_int_equal(sscanf(out.data, "80:00:02:08:fe:80:00:00:00:00:00:00:%x:%x:%x:%x:%x:%x:%x:%x", &g[0], &g[1],
				&g[2], &g[3], &g[4], &g[5], &g[6], &g[7]),
			 8);
	snprintf(expected, sizeof(expected), " %02x%02x:%02x%02x:%02x%02x:%02x%02x ", g[0], g[1], g[2], g[3], g[4],
		 g[5], g[6], g[7]);
	ASSERT_EACH(HAS(out.data, expected), LACKS(out.data, "a1-b2"), LACKS(out.data, "a1:b2"));
	ASSERT_HAS(out.data, "%ib0]:80) 240.", ".2.3:4791.");
}

/* Only lines that have a form stay; the first and the last record say when the log began and ended. */
TEST(of_the_kernel_log_known_forms_are_kept)
{
	static const char log[] =
		"6,7,1,-;Linux version 6.1 (alice@build.acme)\n"
		"3,8,2,-;mlx5_core 0000:5c:00.0 acme-if7: Link down by alice at 10.1.2.3\n"
		" SUBSYSTEM=pci\n DEVICE=+pci:0000:5c:00.0\n"
		"3,9,3,-;mlx5_core 0000:5c:00.0 acme-if8: Link down\n"
		"3,10,4,-;mlx5_core 0000:5c:00.0 acme-if7: Link down\n"
		"11,11,5,-;mlx5_core 0000:5c:00.0 eth0: Link down, says a program\n"
		"6,12,6,-;mlx5_0/1: QP 114233 error: local length error of job 4711234 (0x8e 0x0 0x0)\n"
		"4,13,7,-;Memory cgroup out of memory: Killed process 4242 (acme_solver) UID:1042\n"
		"6,14,8,-,caller=T1;audit: user=alice\n";
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	char a[32], b[32], c[32];

	rd_redact_add_name(&redact, "mlx5_0");
	rd_redact_kmsg(&redact, log, strlen(log), &out);
	assert_int_equal(sscanf(out.data,
				"6,7,1,-;*\n3,8,2,-;mlx5_core 0000:5c:00.0 name-%10[0-9a-f]: Link down * * * *\n", a),
			 1);
	assert_non_null(strstr(out.data, " DEVICE=+pci:0000:5c:00.0\n3,9,"));
	assert_int_equal(sscanf(strstr(out.data, "3,9,3"), "3,9,3,-;mlx5_core 0000:5c:00.0 name-%10[0-9a-f]:", b), 1);
	assert_int_equal(sscanf(strstr(out.data, "3,10,4"), "3,10,4,-;mlx5_core 0000:5c:00.0 name-%10[0-9a-f]:", c), 1);
	assert_string_equal(a, c);
	assert_string_not_equal(a, b);
	ASSERT_HAS(out.data, "-;mlx5_0/1: QP 114233 error: local length error of * * (0x8e 0x0 0x0)\n",
		   "-;Memory cgroup out of memory: Killed process 4242 (*) *\n6,14,8,-;*\n");
	ASSERT_EACH(LACKS(out.data, "says"), IS(redact.log_kept, 5), IS(redact.log_dropped, 3));
}

/* What qp-state concludes of a line it concludes of the redacted one: numbers, status, cause. */
TEST(lines_about_queue_pairs_say_the_same)
{
	static const char *const lines[] = {
		"mlx5_0/1: QP 51291 error: local length error (0x8e 0x0 0x0)",
		"mlx5_0: QPN:0x12 error status:12 of acme",
		"rxe0:qp#17 moved to error state by alice",
		"mlx5_0: qp_num=0x11a2 retry counter exceeded, acme-node",
		"bnxt_en 0000:01:00.0: qp_id 5 RNR_RETRY_EXCEEDED",
		"mlx5_0: alice: qp 12ab34 Retries exhausted",
		"mlx5_0 qp_number (99) error status = 13 node-acme.example",
	};
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };

	rd_redact_add_name(&redact, "mlx5_0");
	rd_redact_add_name(&redact, "rxe0");
	for (size_t i = 0; i < RD_ARRAY_SIZE(lines); i++) {
		_cleanup_buf_ struct rd_buf log = { 0 }, out = { 0 };
		uint32_t before = 0, after = 0;

		rd_buf_printf(&log, "3,1,1,-;%s\n", lines[i]);
		rd_redact_kmsg(&redact, log.data, log.len, &out);
		ASSERT_EACH(IS(rd_klog_form_of(lines[i]), RD_KLOG_QP), IS(rd_klog_form_of(out.data), RD_KLOG_QP));
		assert_int_equal(rd_klog_qps(lines[i], &before, 1), 1);
		assert_int_equal(rd_klog_qps(out.data, &after, 1), 1);
		assert_int_equal(before, after);
		assert_int_equal(rd_qp_log_cause(lines[i]), rd_qp_log_cause(out.data));
		assert_ptr_equal(rd_qp_log_status(lines[i]), rd_qp_log_status(out.data));
		ASSERT_EACH(LACKS(out.data, "acme"), LACKS(out.data, "alice"));
	}
}

/* "ip saddr 10.1.20.30": the value in CMP_DATA in EXPR_DATA of a rule. The number of a register stays. */
TEST(an_address_in_a_rule_of_nftables)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 }, data = { 0 }, value = { 0 };
	struct nlmsghdr head = { .nlmsg_type = 0xa06 };
	uint32_t reg = 1;

	fake_attr(&value, 1, IPV4, 4);
	fake_attr(&data, 1, &reg, 4);
	fake_attr(&data, 3, value.data, value.len);
	rd_buf_add(&out, &head, sizeof(head));
	rd_buf_add(&out, "\x01\0\0\0", 4);
	fake_attr(&out, 4, data.data, data.len);
	head.nlmsg_len = (uint32_t)out.len;
	memcpy(out.data, &head, sizeof(head));
	rd_redact_messages(&redact, "12", (uint8_t *)out.data, out.len);
	assert_null(memmem(out.data, out.len, IPV4, 4));
	assert_non_null(memmem(out.data, out.len, &reg, 4));
}
