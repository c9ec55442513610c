/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From files to the model: sysfs trees and topology files, also damaged ones. */
#include "unit.h"

#include <arpa/inet.h>

#include "collect/host/host.h"
#include "fake-host.h"

/* What is read, and what it was read from. */
struct collected {
	struct fake_host fake;
	struct rd_host host;
};

static void begin(struct collected *c)
{
	c->fake = fake_host_make();
}

static void end(struct collected *c)
{
	rd_host_deinit(&c->host);
	fake_host_deinit(&c->fake);
}

#define COLLECT_TEST(name) TEST_BEGUN(name, struct collected, c, begin, end)

/* Runs it in the host's folder. */
static void run(struct collected *c, const char *command)
{
	assert_int_equal(fake_host_run(&c->fake, command), 0);
}

/* A function below /sys/devices: "CLASS VENDOR DEVICE" as in its files, without "0x". */
static void add_function(struct collected *c, const char *target, const char *identity)
{
	static const char *const files[] = { "class", "vendor", "device" };
	char line[512], path[256], words[3][16], text[24];

	snprintf(line, sizeof(line),
		 "mkdir -p sys/devices/%s sys/bus/pci/devices && ln -s ../../../devices/%s sys/bus/pci/devices/",
		 target, target);
	run(c, line);
	assert_int_equal(sscanf(identity, "%15s %15s %15s", words[0], words[1], words[2]), 3);
	for (size_t i = 0; i < RD_ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "/sys/devices/%s/%s", target, files[i]);
		snprintf(text, sizeof(text), "0x%s\n", words[i]);
		fake_host_text(&c->fake, path, text);
	}
	snprintf(path, sizeof(path), "/sys/devices/%s/numa_node", target);
	fake_host_text(&c->fake, path, "-1\n");
}

static void text(struct collected *c, const char *path, const char *text)
{
	fake_host_text(&c->fake, path, text);
}

/* Reads it, again or for the first time. */
static void collect(struct collected *c, unsigned what)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };

	rd_host_deinit(&c->host);
	c->host = (struct rd_host){ 0 };
	assert_int_equal(rd_collect_host(c->fake.source, what, &c->host, &errors, NULL), 0);
}

static void load(struct collected *c)
{
	collect(c, RD_COLLECT_ACS);
}

COLLECT_TEST(a_console_is_no_accelerator)
{
	add_function(c, "pci0000:00/0000:05:00.0", "030000 1a03 2000"); /* ASPEED */
	add_function(c, "pci0000:00/0000:06:00.0", "030000 102b 0532"); /* Matrox */
	add_function(c, "pci0000:00/0000:07:00.0", "030000 1002 515e"); /* ES1000 */
	add_function(c, "pci0000:00/0000:00:02.0", "030000 8086 4c8a"); /* iGPU */
	add_function(c, "pci0000:00/0000:08:00.0", "038000 1234 1111"); /* bochs */
	add_function(c, "pci0000:00/0000:11:00.0", "030200 10de 2330");
	add_function(c, "pci0000:00/0000:12:00.0", "030000 10de 2204");
	add_function(c, "pci0000:00/0000:13:00.0", "038000 1002 74a1");
	add_function(c, "pci0000:00/0000:14:00.0", "120000 1da3 1020");
	add_function(c, "pci0000:00/0000:15:00.0", "120000 abcd 0001");
	load(c);
	assert_int_equal(c->host.n_gpus, 5);
	ASSERT_EACH(READS(c->host.gpus[0].vendor, "NVIDIA"), READS(c->host.gpus[2].vendor, "AMD"),
		    READS(c->host.gpus[3].vendor, "Habana"), IS(c->host.gpus[4].vendor == NULL, true));
}

COLLECT_TEST(what_procfs_says_of_an_accelerator)
{
	add_function(c, "pci0000:1a/0000:1b:00.0", "030200 10de 2330");
	text(c, "/proc/driver/nvidia/gpus/0000:1b:00.0/information",
	     "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\nGPU UUID: \t GPU-1234\nDevice Minor: \t 7\n");
	load(c);
	ASSERT_EACH(READS(c->host.gpus[0].name, "NVIDIA H100 80GB HBM3"), READS(c->host.gpus[0].uuid, "GPU-1234"),
		    IS(c->host.gpus[0].minor.v, 7));
}

static void add_nic(struct collected *c)
{
	add_function(c, "pci0000:17/0000:17:01.0/0000:18:00.0", "020000 15b3 1021");
	add_function(c, "pci0000:17/0000:17:01.0", "060400 8086 352a");
	run(c, "mkdir -p sys/class/infiniband sys/class/net "
	       "sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/infiniband/mlx5_0/ports/1 && "
	       "ln -s ../../devices/pci0000:17/0000:17:01.0/0000:18:00.0/infiniband/mlx5_0 "
	       "sys/class/infiniband/mlx5_0");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0000\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3", "RoCE v2\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "bond0\n");
}

COLLECT_TEST(a_nic_behind_a_bond_and_one_in_another_namespace)
{
	add_nic(c);
	text(c, "/sys/class/net/lo/type", "772\n");
	load(c);
	assert_int_equal(c->host.n_ports, 1);
	assert_string_equal(c->host.pcis[c->host.ibdevs[0].pci].addr, "0000:18:00.0");
	assert_int_equal(c->host.ports[0].n_gids, 1); /* a bare prefix is an empty GID */
	ASSERT_EACH(IS(c->host.ports[0].netns_other, true), READS(c->host.ports[0].netdev_name, "bond0"));
	text(c, "/sys/class/net/bond0/type", "1\n");
	text(c, "/sys/class/net/bond0/mtu", "9000\n");
	text(c, "/sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
	load(c);
	ASSERT_EACH(IS(c->host.ports[0].netns_other, false),
		    IS(c->host.netdevs[c->host.ports[0].netdevs[0]].is_bond, true), IS(c->host.ports[0].mtu.v, 4096));
}

COLLECT_TEST(acs_of_a_bridge_above_a_nic)
{
	uint8_t config[4096] = {
		[0x34] = 0x40, [0x40] = 0x10, [0x42] = 0x42, [0x100] = 0x0d, [0x102] = 0x01, [0x106] = 0x1d
	};
	int bridge;

	add_nic(c);
	fake_host_write(&c->fake, "/sys/bus/pci/devices/0000:17:01.0/config", config, sizeof(config));
	load(c);
	bridge = rd_host_find_pci(&c->host, "0000:17:01.0");
	ASSERT_EACH(IS(c->host.pcis[bridge].acs_ctl.known, RD_OK), IS(c->host.pcis[bridge].acs_ctl.v, 0x1d),
		    IS(c->host.pcis[bridge].kind.v, RD_PCIE_ROOT_PORT));
	/* Without root only 64 bytes can be read; capabilities that run in a ring end, too. */
	fake_host_write(&c->fake, "/sys/bus/pci/devices/0000:17:01.0/config", config, 64);
	load(c);
	assert_int_equal(c->host.pcis[bridge].acs_ctl.known, RD_DENIED);
	config[0x40] = 1;
	config[0x41] = 0x40;
	config[0x100] = 0x0e;
	config[0x103] = 0x10;
	fake_host_write(&c->fake, "/sys/bus/pci/devices/0000:17:01.0/config", config, sizeof(config));
	load(c);
	assert_int_equal(c->host.pcis[bridge].acs_ctl.known, RD_ABSENT);
}

static void read_topology(const char *text, struct rd_host *host)
{
	assert_int_equal(rd_collect_nccl_xml("topo.xml", text, strlen(text), host, NULL), 0);
}

static int parse(const char *text, struct rd_err *err)
{
	struct rd_host host = { 0 };
	int r = rd_collect_nccl_xml("topo.xml", text, strlen(text), &host, err);

	rd_host_deinit(&host);
	return r;
}

TEST(damaged_topology_files_are_refused)
{
	static const char *const bad[] = {
		"",
		"text",
		"<",
		"<system",
		"<system>",
		"<system/",
		"<system></cpu>",
		"<system a></system>",
		"<system a=b></system>",
		"<system a=\"b></system>",
		"<!-- ",
		"<?xml ",
		"<system a=\"b\"c=\"d\"/>",
		"<system a=\"1\" a=\"1\"/>",
		"<system a=\"<\"/>",
		"<system/><system/>",
		"<system/>text",
		"<system>\xff</system>",
		"<?xml version='1.0' encoding='KOI8-R'?><system/>",
		"<html></html>",
		"<system><pci/></system>",
		"<system><pci busid=\"zz\"/></system>",
		"<system><pci busid=\"0000:00:20.0\"/></system>",
	};
	struct rd_err err;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		err = (struct rd_err){ 0 };
		assert_int_equal(parse(bad[i], &err), -EBADMSG);
		assert_true(err.message[0]);
	}
	assert_int_equal(parse("<?xml version='1.0'?><!-- x --><system version=\"1\"/>", NULL), 0);
	assert_int_equal(parse("<system>\n<cpu>\n</pci></cpu></system>", &err), -EBADMSG);
	ASSERT_EACH(READS(err.object, "topo.xml"), READS(err.message, "line 3: mismatched tag"));
}

/* No entity but XML's own: neither one that grows, nor one that is another file. */
TEST(document_types_and_entities_are_refused)
{
	static const char *const types[] = {
		"<!DOCTYPE system>\n<system/>",
		"<!DOCTYPE system SYSTEM \"file:///dev/stdin\"><system/>",
		"<!DOCTYPE s PUBLIC \"-//a//b\" \"http://127.0.0.1/b\"><system/>",
		"<!DOCTYPE s [<!ENTITY a \"b\">]><system name=\"&a;\"/>",
		"<!DOCTYPE s [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><system>&a;</system>",
		"<!DOCTYPE s [<!ENTITY % a SYSTEM \"http://127.0.0.1/b\"> %a;]><system/>",
		"<!DOCTYPE s [<!ENTITY a \"12345678\"><!ENTITY b \"&a;&a;&a;&a;\">]><system>&b;</system>",
	};
	static const char *const entities[] = { "<system name=\"&a;\"/>", "<system>&a;</system>",
						"<system name=\"&#0;\"/>" };
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	struct rd_err err;

	for (size_t i = 0; i < RD_ARRAY_SIZE(types); i++) {
		assert_int_equal(parse(types[i], &err), -EBADMSG);
		assert_non_null(strstr(err.message, "line 1: document type declarations (DOCTYPE) are not supported"));
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(entities); i++)
		assert_int_equal(parse(entities[i], &err), -EBADMSG);
	read_topology(
		"<system><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\"><nic><net name=\"&lt;&gt;&amp;&quot;&apos;&#x41;\"/>"
		"</nic></pci></cpu></system>",
		&host);
	assert_string_equal(host.ibdevs[0].name, "<>&\"'A");
}

TEST(topology_files_that_ask_for_too_much)
{
	static const struct {
		int n;
		const char *class;
		int r;
	} limits[] = { { 5000, "0x060400", -E2BIG }, { 1000, "0x060400", 0 }, { 512, "0x030200", 0 },
		       { 513, "0x030200", -E2BIG },  { 2048, "0x020700", 0 }, { 2049, "0x020700", -E2BIG } };
	_cleanup_free_ char *deep = calloc(1, 4096), *wide = calloc(1, 1 << 20);
	char *at;

	strcpy(deep, "<system>");
	for (int i = 0; i < 100; i++)
		strcat(deep, "<cpu>");
	assert_int_equal(parse(deep, NULL), -E2BIG);
	for (size_t k = 0; k < RD_ARRAY_SIZE(limits); k++) {
		at = wide + sprintf(wide, "<system><cpu numaid=\"0\">");
		for (int i = 0; i < limits[k].n; i++)
			at += sprintf(at, "<pci busid=\"%04x:00:00.0\" class=\"%s\"/>", i, limits[k].class);
		sprintf(at, "</cpu></system>");
		assert_int_equal(parse(wide, NULL), limits[k].r);
	}
}

/* text, n times what, which may hold a number, and an end. */
static int parse_many(const char *text, int n, const char *what, const char *end, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf all = { 0 };

	rd_buf_str(&all, text);
	for (int i = 0; i < n; i++)
		rd_buf_printf(&all, what, i);
	rd_buf_str(&all, end);
	return parse(all.data, err);
}

TEST(the_limit_that_was_met_is_named)
{
	static const struct {
		const char *text;
		int most;
		const char *what, *end, *said;
	} limits[] = {
		{ "<system", 32, " a%d='1'", "/>", "line 1: more than 32 attributes in an element" },
		{ "<system ", 31, "a", "='1'/>", "line 1: more than 31 bytes in a name" },
		{ "<system><", 31, "a", "/></system>", "line 1: more than 31 bytes in a name" },
		{ "<system\na='", 255, "b", "'/>", "line 1: more than 255 bytes in a value" },
		{ "<system>\n", 65535, "<a/>", "</system>", "line 2: more than 65536 elements" },
		{ "<system>", (4 << 20) - 17, "\n", "</system>", "XML file larger than 4194304 bytes" },
	};
	struct rd_err err;

	for (size_t i = 0; i < RD_ARRAY_SIZE(limits); i++) {
		int r;

		assert_int_equal(parse_many(limits[i].text, limits[i].most, limits[i].what, limits[i].end, NULL), 0);
		r = parse_many(limits[i].text, limits[i].most + 1, limits[i].what, limits[i].end, &err);
		ASSERT_EACH(IS(r == -E2BIG || r == -EFBIG, true), READS(err.message, limits[i].said));
	}
	assert_int_equal(parse_many("<system>", 64, "\n<a>", "", &err), -E2BIG);
	assert_string_equal(err.message, "line 65: more than 64 nested elements");
	assert_int_equal(parse_many("<system>", 63, "\n<a>", "", &err), -EBADMSG);
}

#define TRIE                            \
	"  +-- 0.0.0.0/0 3 0 5\n"       \
	"     |-- 0.0.0.0\n"            \
	"        /0 universe UNICAST\n" \
	"     +-- 192.0.2.0/24 2 0 2\n" \
	"        |-- 192.0.2.0\n"       \
	"           /24 link UNICAST\n" \
	"        |-- 192.0.2.2\n"       \
	"           /32 host LOCAL\n"   \
	"        |-- 192.0.2.255\n"     \
	"           /32 link BROADCAST\n"
/* Once a rule was added, local addresses are not in Main any more. */
#define TRIE_MAIN "  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.0\n        /24 link UNICAST\n"

COLLECT_TEST(addresses_whichever_table_comes_first)
{
	static const char *const tries[] = { "Main:\n" TRIE "Local:\n" TRIE, "Local:\n" TRIE "Main:\n" TRIE,
					     "Main:\n" TRIE_MAIN "Local:\n" TRIE, "Local:\n" TRIE "Main:\n" TRIE_MAIN };

	text(c, "/sys/class/net/eth0/type", "1\n");
	text(c, "/proc/net/route",
	     "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
	     "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
	for (size_t i = 0; i < RD_ARRAY_SIZE(tries); i++) {
		const struct rd_netdev *eth0;

		text(c, "/proc/net/fib_trie", tries[i]);
		load(c);
		eth0 = &c->host.netdevs[rd_host_find_netdev(&c->host, "eth0")];
		assert_int_equal(eth0->n_addrs, 1);
		assert_memory_equal(eth0->addrs[0].raw, "\300\0\2\2", 4);
		assert_int_equal(eth0->addrs[0].prefix, 24);
	}
}

COLLECT_TEST(a_link_speed_is_a_number_or_unknown)
{
	static const struct {
		const char *text;
		unsigned mtps; /* 0: unknown */
	} speeds[] = {
		{ "16.0 GT/s PCIe\n", 16000 },
		{ "2.5 GT/s\n", 2500 },
		{ "Unknown\n", 0 },
		{ "nan\n", 0 },
		{ "inf\n", 0 },
		{ "-8.0 GT/s\n", 0 },
		{ "1e300\n", 0 },
	};

	add_nic(c);
	for (size_t i = 0; i < RD_ARRAY_SIZE(speeds); i++) {
		const struct rd_pci *pci;

		text(c, "/sys/bus/pci/devices/0000:18:00.0/max_link_speed", speeds[i].text);
		load(c);
		pci = &c->host.pcis[c->host.ibdevs[0].pci];
		ASSERT_EACH(IS(pci->max.mtps.known == RD_OK, speeds[i].mtps > 0), IS(pci->max.mtps.v, speeds[i].mtps));
	}
}

/* Two interfaces in one bond, one RDMA device: mlx5's LAG as it shows in sysfs. */
COLLECT_TEST(the_rate_of_a_lag)
{
	add_nic(c);
	add_function(c, "pci0000:17/0000:17:01.0/0000:18:00.1", "020000 15b3 1021");
	for (unsigned fn = 0; fn < 2; fn++) {
		char line[512];

		snprintf(
			line, sizeof(line),
			"at=devices/pci0000:17/0000:17:01.0/0000:18:00.%u/net/eth%u; mkdir -p sys/$at/bonding_slave && "
			"ln -s ../../$at sys/class/net/eth%u && echo up >sys/$at/operstate && echo active "
			">sys/$at/bonding_slave/state && echo %s >sys/$at/speed && ln -s ../../../../../virtual/net/bond0 sys/$at/master",
			fn, fn, fn, fn ? "200000" : "400000");
		run(c, line);
	}
	run(c, "mkdir -p sys/devices/virtual/net/bond0/bonding && ln -s "
	       "../../devices/virtual/net/bond0 sys/class/net/bond0");
	text(c, "/sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
	/* Without an operstate, and read once all the same. */
	text(c, "/sys/class/net/bond0/address", "02:00:00:00:00:01\n");
	load(c);
	ASSERT_EACH(IS(c->host.ports[0].lag_active, 2), IS(c->host.ports[0].rate_gbps.v == 600, true),
		    IS(c->host.ports[0].leg_gbps.v == 400, true));
	/* The other link has gone: half of it is left. */
	text(c, "/sys/class/net/eth1/operstate", "down\n");
	load(c);
	ASSERT_EACH(IS(c->host.ports[0].lag_active, 1), IS(c->host.ports[0].rate_gbps.v == 400, true));
}

static void add_interface(struct collected *c, const char *target, const char *name)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "mkdir -p sys/devices/%s/net/%s sys/class/net && ln -s ../../devices/%s/net/%s sys/class/net/%s && "
		 "echo 1500 >sys/devices/%s/net/%s/mtu",
		 target, name, target, name, name, target, name);
	run(c, line);
}

/* Indices begin with 0: what belongs to the first function, and to the first interface, is not what belongs to none. */
COLLECT_TEST(the_first_function_is_one)
{
	add_function(c, "pci0000:00/0000:00:03.0", "020000 8086 1572");
	add_function(c, "pci0000:00/0000:00:04.0", "020000 15b3 1021");
	add_interface(c, "pci0000:00/0000:00:03.0", "ens3");
	add_interface(c, "pci0000:00/0000:00:03.0", "ens3d1");
	run(c, "at=sys/devices/pci0000:00/0000:00:03.0/net/ens3d1; mkdir -p $at/bonding_slave "
	       "sys/class/net/bond0/bonding && echo active >$at/bonding_slave/state && "
	       "ln -s ../../../../virtual/net/bond0 $at/master");
	text(c, "/sys/class/net/bond0/bonding/slaves", "ens3d1\n");
	text(c, "/sys/class/net/bond0/mtu", "1500\n");
	add_interface(c, "pci0000:00/0000:00:04.0", "ens4");
	run(c, "mkdir -p sys/class/infiniband sys/devices/virtual/infiniband/rxe0/ports/1 && "
	       "ln -s ../../devices/virtual/infiniband/rxe0 sys/class/infiniband/rxe0");
	text(c, "/sys/class/infiniband/rxe0/parent", "ens3\n");
	load(c);
	/* Also those are read that no RDMA device names. */
	assert_int_equal(c->host.n_netdevs, 4);
	assert_string_equal(c->host.netdevs[rd_host_find_netdev(&c->host, "ens3d1")].bond_state, "active");
	for (size_t i = 0; i < c->host.n_netdevs; i++)
		assert_int_equal(c->host.netdevs[i].mtu.v, 1500);
	/* The soft device stands where its interface does. */
	ASSERT_EACH(IS(c->host.ibdevs[0].pci, 0), READS(c->host.ibdevs[0].via, "netdev"));
}

/* A device of hardware has its own place, also where that is the first, whichever interface its GIDs name. */
COLLECT_TEST(hardware_has_its_own_place)
{
	add_function(c, "pci0000:00/0000:00:03.0", "020000 15b3 1021");
	add_function(c, "pci0000:00/0000:00:04.0", "020000 8086 1572");
	add_interface(c, "pci0000:00/0000:00:04.0", "ens4");
	run(c, "at=devices/pci0000:00/0000:00:03.0/infiniband/mlx5_0; mkdir -p sys/class/infiniband "
	       "sys/$at/ports/1 && ln -s ../../$at sys/class/infiniband/mlx5_0");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	text(c, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "ens4\n");
	load(c);
	assert_int_equal(c->host.ibdevs[0].pci, 0);
	assert_string_not_equal(c->host.ibdevs[0].via, "netdev");
}

/* NVSwitches are seen by class and vendor, and so are data direct functions; whose these are libmlx5 tells. */
COLLECT_TEST(what_only_nccl_asks_for)
{
	add_nic(c);
	load(c);
	assert_false(c->host.has_nvswitch || c->host.has_data_direct);
	add_function(c, "pci0000:00/0000:07:00.0", "068000 8086 0001");
	add_function(c, "pci0009:00/0009:01:00.0", "080100 8086 0001");
	text(c, "/verbs/mlx5_0", "max_qp=131072\ndata_direct=/devices/pci0009:00/0009:01:00.0\n");
	load(c);
	assert_false(c->host.has_nvswitch || c->host.has_data_direct);
	add_function(c, "pci0000:00/0000:08:00.0", "068000 10de 22a3");
	add_function(c, "pci0009:00/0009:02:00.0", "080100 15b3 2100");
	load(c);
	assert_true(c->host.has_nvswitch && c->host.has_data_direct);
	assert_string_equal(c->host.pcis[c->host.ibdevs[0].data_direct].addr, "0009:01:00.0");
	/* A function that is not there is none. */
	text(c, "/verbs/mlx5_0", "max_qp=131072\ndata_direct=/devices/pci0009:00/0009:77:00.0\n");
	load(c);
	assert_int_equal(c->host.ibdevs[0].data_direct, -1);
}

static int (*get)(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err);
static size_t n_reads;

static int count_reads(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	n_reads += query->op == RD_OP_READ;
	return get(src, query, ret, err);
}

/* What topo-check reads of 14 devices, with a GID table of 256 entries each, is less than 2,000 files. */
COLLECT_TEST(gid_tables_are_read_until_something_is_found)
{
	const struct rd_source_ops *ops = c->fake.source->ops;
	struct rd_source_ops counted = *ops;

	run(c,
	    "mkdir -p sys/class/infiniband sys/class/net/lo; for d in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do "
	    "p=sys/devices/virtual/infiniband/rxe$d/ports/1; mkdir -p $p/gids $p/gid_attrs/types $p/gid_attrs/ndevs; "
	    "ln -s ../../devices/virtual/infiniband/rxe$d sys/class/infiniband/rxe$d; echo Ethernet >$p/link_layer; "
	    "echo '4: ACTIVE' >$p/state; echo 'RoCE v2' | tee $p/gid_attrs/types/1 >$p/gid_attrs/types/200; "
	    "echo lo | tee $p/gid_attrs/ndevs/1 >$p/gid_attrs/ndevs/200; n=0; while [ $n -lt 256 ]; do "
	    "echo 0000:0000:0000:0000:0000:0000:0000:0000 >$p/gids/$n; n=$((n + 1)); done; "
	    "echo 0000:0000:0000:0000:0000:ffff:0a01:0203 | tee $p/gids/1 >$p/gids/200; done");
	get = ops->get;
	counted.get = count_reads;
	c->fake.source->ops = &counted;
	collect(c, RD_COLLECT_GIDS);
	ASSERT_EACH(IS(c->host.n_ports, 14), IS(n_reads > 14 * 17 && n_reads < 2000, true));
	assert_true(c->host.ports[0].n_gids == 1 && c->host.ports[0].gids_unread == 18);
	/* Until the end where a rule could say that it has none; not where the port is down. */
	run(c, "echo 'IB/RoCE v1' >sys/class/infiniband/rxe0/ports/1/gid_attrs/types/1; "
	       "cd sys/class/infiniband/rxe1/ports/1; echo '1: DOWN' >state; "
	       "echo 0000:0000:0000:0000:0000:0000:0000:0000 >gids/1");
	collect(c, RD_COLLECT_GIDS);
	assert_true(c->host.ports[0].n_gids == 2 && c->host.ports[0].gids[1].index == 200 &&
		    c->host.ports[0].gids_unread == 217);
	assert_true(c->host.ports[1].n_gids == 0 && c->host.ports[1].gids_unread == 16);
	collect(c, RD_COLLECT_ALL_GIDS);
	assert_true(c->host.ports[1].n_gids == 1 && c->host.ports[1].gids_unread == 0);
	c->fake.source->ops = ops;
}

TEST(addresses_of_gids)
{
	struct rd_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };
	char ip[46], expected[46];

	for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
		memset(gid.raw + 12, (int)byte, 3);
		gid.raw[15] = (uint8_t)(UINT8_MAX - byte);
		rd_gid_ip(&gid, ip);
		assert_string_equal(ip, inet_ntop(AF_INET, gid.raw + 12, expected, sizeof(expected)));
	}
	gid.raw[0] = 0xfe;
	rd_gid_ip(&gid, ip);
	assert_string_equal(ip, inet_ntop(AF_INET6, gid.raw, expected, sizeof(expected)));
}
