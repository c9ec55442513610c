/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From files to the model: sysfs trees and topology files, also damaged ones. */
#include "unit.h"

#include "base/buf.h"
#include "collect/host/host.h"
#include "fake-host.h"

static void add_function(struct fake_host *fake, const char *addr, const char *target, const char *class,
			 const char *vendor, const char *device)
{
	char line[512], path[256];

	snprintf(line, sizeof(line),
		 "mkdir -p sys/devices/%s sys/bus/pci/devices && ln -s ../../../devices/%s "
		 "sys/bus/pci/devices/%s",
		 target, target, addr);
	assert_int_equal(fake_host_run(fake, line), 0);
	snprintf(path, sizeof(path), "/sys/devices/%s/class", target);
	fake_host_text(fake, path, class);
	snprintf(path, sizeof(path), "/sys/devices/%s/vendor", target);
	fake_host_text(fake, path, vendor);
	snprintf(path, sizeof(path), "/sys/devices/%s/device", target);
	fake_host_text(fake, path, device);
	snprintf(path, sizeof(path), "/sys/devices/%s/numa_node", target);
	fake_host_text(fake, path, "-1\n");
}

static void load(struct fake_host *fake, struct rd_host *host)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };

	*host = (struct rd_host){ 0 };
	assert_int_equal(rd_collect_host(fake->source, RD_COLLECT_ACS, host, &errors, NULL), 0);
}

TEST(a_console_is_no_accelerator)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	_cleanup_(rd_host_deinit) struct rd_host host;

	add_function(&fake, "0000:05:00.0", "pci0000:00/0000:05:00.0", "0x030000\n", "0x1a03\n",
		     "0x2000\n"); /* ASPEED */
	add_function(&fake, "0000:06:00.0", "pci0000:00/0000:06:00.0", "0x030000\n", "0x102b\n",
		     "0x0532\n"); /* Matrox */
	add_function(&fake, "0000:07:00.0", "pci0000:00/0000:07:00.0", "0x030000\n", "0x1002\n",
		     "0x515e\n"); /* ES1000 */
	add_function(&fake, "0000:00:02.0", "pci0000:00/0000:00:02.0", "0x030000\n", "0x8086\n", "0x4c8a\n"); /* iGPU */
	add_function(&fake, "0000:08:00.0", "pci0000:00/0000:08:00.0", "0x038000\n", "0x1234\n", "0x1111\n"); /* bochs */
	add_function(&fake, "0000:11:00.0", "pci0000:00/0000:11:00.0", "0x030200\n", "0x10de\n", "0x2330\n");
	add_function(&fake, "0000:12:00.0", "pci0000:00/0000:12:00.0", "0x030000\n", "0x10de\n", "0x2204\n");
	add_function(&fake, "0000:13:00.0", "pci0000:00/0000:13:00.0", "0x038000\n", "0x1002\n", "0x74a1\n");
	add_function(&fake, "0000:14:00.0", "pci0000:00/0000:14:00.0", "0x120000\n", "0x1da3\n", "0x1020\n");
	add_function(&fake, "0000:15:00.0", "pci0000:00/0000:15:00.0", "0x120000\n", "0xabcd\n", "0x0001\n");
	load(&fake, &host);
	assert_int_equal(host.n_gpus, 5);
	assert_string_equal(host.gpus[0].vendor, "NVIDIA");
	assert_string_equal(host.gpus[2].vendor, "AMD");
	assert_string_equal(host.gpus[3].vendor, "Habana");
	assert_null(host.gpus[4].vendor);
}

TEST(what_procfs_says_of_an_accelerator)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	_cleanup_(rd_host_deinit) struct rd_host host;

	add_function(&fake, "0000:1b:00.0", "pci0000:1a/0000:1b:00.0", "0x030200\n", "0x10de\n", "0x2330\n");
	fake_host_text(&fake, "/proc/driver/nvidia/gpus/0000:1b:00.0/information",
		       "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\nGPU UUID: \t GPU-1234\nDevice Minor: \t 7\n");
	load(&fake, &host);
	assert_string_equal(host.gpus[0].name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(host.gpus[0].uuid, "GPU-1234");
	assert_int_equal(host.gpus[0].minor.v, 7);
}

static void add_nic(struct fake_host *fake)
{
	add_function(fake, "0000:18:00.0", "pci0000:17/0000:17:01.0/0000:18:00.0", "0x020000\n", "0x15b3\n", "0x1021\n");
	add_function(fake, "0000:17:01.0", "pci0000:17/0000:17:01.0", "0x060400\n", "0x8086\n", "0x352a\n");
	assert_int_equal(fake_host_run(fake,
				       "mkdir -p sys/class/infiniband sys/class/net "
				       "sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/infiniband/mlx5_0/ports/1 && "
				       "ln -s ../../devices/pci0000:17/0000:17:01.0/0000:18:00.0/infiniband/mlx5_0 "
				       "sys/class/infiniband/mlx5_0"),
			 0);
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0000\n");
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3", "RoCE v2\n");
	fake_host_text(fake, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "bond0\n");
}

TEST(a_nic_behind_a_bond_and_one_in_another_namespace)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	struct rd_host host;

	add_nic(&fake);
	fake_host_text(&fake, "/sys/class/net/lo/type", "772\n");
	load(&fake, &host);
	assert_int_equal(host.n_ports, 1);
	assert_string_equal(host.pcis[host.ibdevs[0].pci].addr, "0000:18:00.0");
	assert_int_equal(host.ports[0].n_gids, 1); /* a bare prefix is an empty GID */
	assert_true(host.ports[0].netns_other);
	assert_string_equal(host.ports[0].netdev_name, "bond0");
	rd_host_deinit(&host);
	fake_host_text(&fake, "/sys/class/net/bond0/type", "1\n");
	fake_host_text(&fake, "/sys/class/net/bond0/mtu", "9000\n");
	fake_host_text(&fake, "/sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
	load(&fake, &host);
	assert_false(host.ports[0].netns_other);
	assert_true(host.netdevs[host.ports[0].netdevs[0]].is_bond);
	assert_int_equal(host.ports[0].mtu.v, 4096);
	rd_host_deinit(&host);
}

TEST(acs_of_a_bridge_above_a_nic)
{
	uint8_t config[4096] = {
		[0x34] = 0x40, [0x40] = 0x10, [0x42] = 0x42, [0x100] = 0x0d, [0x102] = 0x01, [0x106] = 0x1d
	};
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	struct rd_host host;
	int bridge;

	add_nic(&fake);
	fake_host_write(&fake, "/sys/bus/pci/devices/0000:17:01.0/config", config, sizeof(config));
	load(&fake, &host);
	bridge = rd_host_find_pci(&host, "0000:17:01.0");
	assert_int_equal(host.pcis[bridge].acs_ctl.known, RD_OK);
	assert_int_equal(host.pcis[bridge].acs_ctl.v, 0x1d);
	assert_int_equal(host.pcis[bridge].kind.v, RD_PCIE_ROOT_PORT);
	rd_host_deinit(&host);
	/* Without root only 64 bytes can be read; capabilities that run in a ring end, too. */
	fake_host_write(&fake, "/sys/bus/pci/devices/0000:17:01.0/config", config, 64);
	load(&fake, &host);
	assert_int_equal(host.pcis[bridge].acs_ctl.known, RD_DENIED);
	rd_host_deinit(&host);
	config[0x40] = 1;
	config[0x41] = 0x40;
	config[0x100] = 0x0e;
	config[0x103] = 0x10;
	fake_host_write(&fake, "/sys/bus/pci/devices/0000:17:01.0/config", config, sizeof(config));
	load(&fake, &host);
	assert_int_equal(host.pcis[bridge].acs_ctl.known, RD_ABSENT);
	rd_host_deinit(&host);
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
	assert_string_equal(err.object, "topo.xml");
	assert_string_equal(err.message, "line 3: mismatched tag");
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
		assert_true(r == -E2BIG || r == -EFBIG);
		assert_string_equal(err.message, limits[i].said);
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

TEST(addresses_whichever_table_comes_first)
{
	static const char *const tries[] = { "Main:\n" TRIE "Local:\n" TRIE, "Local:\n" TRIE "Main:\n" TRIE,
					     "Main:\n" TRIE_MAIN "Local:\n" TRIE, "Local:\n" TRIE "Main:\n" TRIE_MAIN };

	for (size_t i = 0; i < RD_ARRAY_SIZE(tries); i++) {
		struct fake_host fake = fake_host_make();
		struct rd_host host;
		int eth0;

		fake_host_text(&fake, "/sys/class/net/eth0/type", "1\n");
		fake_host_text(&fake, "/proc/net/route",
			       "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
			       "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
		fake_host_text(&fake, "/proc/net/fib_trie", tries[i]);
		load(&fake, &host);
		eth0 = rd_host_find_netdev(&host, "eth0");
		assert_int_equal(host.netdevs[eth0].n_addrs, 1);
		assert_memory_equal(host.netdevs[eth0].addrs[0].raw, "\300\0\2\2", 4);
		assert_int_equal(host.netdevs[eth0].addrs[0].prefix, 24);
		rd_host_deinit(&host);
		fake_host_deinit(&fake);
	}
}

TEST(a_link_speed_is_a_number_or_unknown)
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
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();

	add_nic(&fake);
	for (size_t i = 0; i < RD_ARRAY_SIZE(speeds); i++) {
		const struct rd_pci *pci;
		struct rd_host host;

		fake_host_text(&fake, "/sys/bus/pci/devices/0000:18:00.0/max_link_speed", speeds[i].text);
		load(&fake, &host);
		pci = &host.pcis[host.ibdevs[0].pci];
		assert_int_equal(pci->max.mtps.known == RD_OK, speeds[i].mtps > 0);
		assert_int_equal(pci->max.mtps.v, speeds[i].mtps);
		rd_host_deinit(&host);
	}
}

/* Two interfaces in one bond, one RDMA device: mlx5's LAG as it shows in sysfs. */
TEST(the_rate_of_a_lag)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	struct rd_host host;

	add_nic(&fake);
	add_function(&fake, "0000:18:00.1", "pci0000:17/0000:17:01.0/0000:18:00.1", "0x020000\n", "0x15b3\n",
		     "0x1021\n");
	for (unsigned fn = 0; fn < 2; fn++) {
		char line[512];

		snprintf(
			line, sizeof(line),
			"at=devices/pci0000:17/0000:17:01.0/0000:18:00.%u/net/eth%u; mkdir -p sys/$at/bonding_slave && "
			"ln -s ../../$at sys/class/net/eth%u && echo up >sys/$at/operstate && echo active "
			">sys/$at/bonding_slave/state && echo %s >sys/$at/speed && ln -s ../../../../../virtual/net/bond0 sys/$at/master",
			fn, fn, fn, fn ? "200000" : "400000");
		assert_int_equal(fake_host_run(&fake, line), 0);
	}
	assert_int_equal(fake_host_run(&fake, "mkdir -p sys/devices/virtual/net/bond0/bonding && ln -s "
					      "../../devices/virtual/net/bond0 sys/class/net/bond0"),
			 0);
	fake_host_text(&fake, "/sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
	/* Without an operstate, and read once all the same. */
	fake_host_text(&fake, "/sys/class/net/bond0/address", "02:00:00:00:00:01\n");
	load(&fake, &host);
	assert_int_equal(host.ports[0].lag_active, 2);
	assert_true(host.ports[0].rate_gbps.v == 600);
	assert_true(host.ports[0].leg_gbps.v == 400);
	rd_host_deinit(&host);
	/* The other link has gone: half of it is left. */
	fake_host_text(&fake, "/sys/class/net/eth1/operstate", "down\n");
	load(&fake, &host);
	assert_int_equal(host.ports[0].lag_active, 1);
	assert_true(host.ports[0].rate_gbps.v == 400);
	rd_host_deinit(&host);
}

static void add_interface(struct fake_host *fake, const char *target, const char *name)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "mkdir -p sys/devices/%s/net/%s sys/class/net && ln -s ../../devices/%s/net/%s sys/class/net/%s && "
		 "echo 1500 >sys/devices/%s/net/%s/mtu",
		 target, name, target, name, name, target, name);
	assert_int_equal(fake_host_run(fake, line), 0);
}

/* Indices begin with 0: what belongs to the first function, and to the first interface, is not what belongs to none. */
TEST(the_first_function_is_one)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	_cleanup_(rd_host_deinit) struct rd_host host;

	add_function(&fake, "0000:00:03.0", "pci0000:00/0000:00:03.0", "0x020000\n", "0x8086\n", "0x1572\n");
	add_function(&fake, "0000:00:04.0", "pci0000:00/0000:00:04.0", "0x020000\n", "0x15b3\n", "0x1021\n");
	add_interface(&fake, "pci0000:00/0000:00:03.0", "ens3");
	add_interface(&fake, "pci0000:00/0000:00:03.0", "ens3d1");
	assert_int_equal(fake_host_run(&fake,
				       "at=sys/devices/pci0000:00/0000:00:03.0/net/ens3d1; mkdir -p $at/bonding_slave "
				       "sys/class/net/bond0/bonding && echo active >$at/bonding_slave/state && "
				       "ln -s ../../../../virtual/net/bond0 $at/master"),
			 0);
	fake_host_text(&fake, "/sys/class/net/bond0/bonding/slaves", "ens3d1\n");
	fake_host_text(&fake, "/sys/class/net/bond0/mtu", "1500\n");
	add_interface(&fake, "pci0000:00/0000:00:04.0", "ens4");
	assert_int_equal(fake_host_run(&fake,
				       "mkdir -p sys/class/infiniband sys/devices/virtual/infiniband/rxe0/ports/1 && "
				       "ln -s ../../devices/virtual/infiniband/rxe0 sys/class/infiniband/rxe0"),
			 0);
	fake_host_text(&fake, "/sys/class/infiniband/rxe0/parent", "ens3\n");
	load(&fake, &host);
	/* Also those are read that no RDMA device names. */
	assert_int_equal(host.n_netdevs, 4);
	assert_string_equal(host.netdevs[rd_host_find_netdev(&host, "ens3d1")].bond_state, "active");
	for (size_t i = 0; i < host.n_netdevs; i++)
		assert_int_equal(host.netdevs[i].mtu.v, 1500);
	/* The soft device stands where its interface does. */
	assert_int_equal(host.ibdevs[0].pci, 0);
	assert_string_equal(host.ibdevs[0].via, "netdev");
}

/* A device of hardware has its own place, also where that is the first, whichever interface its GIDs name. */
TEST(hardware_has_its_own_place)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	_cleanup_(rd_host_deinit) struct rd_host host;

	add_function(&fake, "0000:00:03.0", "pci0000:00/0000:00:03.0", "0x020000\n", "0x15b3\n", "0x1021\n");
	add_function(&fake, "0000:00:04.0", "pci0000:00/0000:00:04.0", "0x020000\n", "0x8086\n", "0x1572\n");
	add_interface(&fake, "pci0000:00/0000:00:04.0", "ens4");
	assert_int_equal(
		fake_host_run(&fake,
			      "at=devices/pci0000:00/0000:00:03.0/infiniband/mlx5_0; mkdir -p sys/class/infiniband "
			      "sys/$at/ports/1 && ln -s ../../$at sys/class/infiniband/mlx5_0"),
		0);
	fake_host_text(&fake, "/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
	fake_host_text(&fake, "/sys/class/infiniband/mlx5_0/ports/1/gids/3",
		       "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	fake_host_text(&fake, "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "ens4\n");
	load(&fake, &host);
	assert_int_equal(host.ibdevs[0].pci, 0);
	assert_string_not_equal(host.ibdevs[0].via, "netdev");
}

/* NVSwitches are seen by class and vendor, and so are data direct functions; whose these are libmlx5 tells. */
TEST(what_only_nccl_asks_for)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	struct rd_host host;

	add_nic(&fake);
	load(&fake, &host);
	assert_false(host.has_nvswitch || host.has_data_direct);
	rd_host_deinit(&host);
	add_function(&fake, "0000:07:00.0", "pci0000:00/0000:07:00.0", "0x068000\n", "0x8086\n", "0x0001\n");
	add_function(&fake, "0009:01:00.0", "pci0009:00/0009:01:00.0", "0x080100\n", "0x8086\n", "0x0001\n");
	fake_host_text(&fake, "/verbs/mlx5_0", "max_qp=131072\ndata_direct=/devices/pci0009:00/0009:01:00.0\n");
	load(&fake, &host);
	assert_false(host.has_nvswitch || host.has_data_direct);
	rd_host_deinit(&host);
	add_function(&fake, "0000:08:00.0", "pci0000:00/0000:08:00.0", "0x068000\n", "0x10de\n", "0x22a3\n");
	add_function(&fake, "0009:02:00.0", "pci0009:00/0009:02:00.0", "0x080100\n", "0x15b3\n", "0x2100\n");
	load(&fake, &host);
	assert_true(host.has_nvswitch && host.has_data_direct);
	assert_string_equal(host.pcis[host.ibdevs[0].data_direct].addr, "0009:01:00.0");
	rd_host_deinit(&host);
	/* A function that is not there is none. */
	fake_host_text(&fake, "/verbs/mlx5_0", "max_qp=131072\ndata_direct=/devices/pci0009:00/0009:77:00.0\n");
	load(&fake, &host);
	assert_int_equal(host.ibdevs[0].data_direct, -1);
	rd_host_deinit(&host);
}

static int (*get)(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err);
static size_t n_reads;

static int count_reads(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	n_reads += query->op == RD_OP_READ;
	return get(src, query, ret, err);
}

/* What topo-check reads of 14 devices, with a GID table of 256 entries each, is less than 2,000 files. */
TEST(gid_tables_are_read_until_something_is_found)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	const struct rd_source_ops *ops = fake.source->ops;
	struct rd_source_ops counted = *ops;
	struct rd_host host = { 0 };

	assert_int_equal(
		fake_host_run(
			&fake,
			"mkdir -p sys/class/infiniband sys/class/net/lo; for d in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do "
			"p=sys/devices/virtual/infiniband/rxe$d/ports/1; mkdir -p $p/gids $p/gid_attrs/types $p/gid_attrs/ndevs; "
			"ln -s ../../devices/virtual/infiniband/rxe$d sys/class/infiniband/rxe$d; echo Ethernet >$p/link_layer; "
			"echo '4: ACTIVE' >$p/state; echo 'RoCE v2' | tee $p/gid_attrs/types/1 >$p/gid_attrs/types/200; "
			"echo lo | tee $p/gid_attrs/ndevs/1 >$p/gid_attrs/ndevs/200; n=0; while [ $n -lt 256 ]; do "
			"echo 0000:0000:0000:0000:0000:0000:0000:0000 >$p/gids/$n; n=$((n + 1)); done; "
			"echo 0000:0000:0000:0000:0000:ffff:0a01:0203 | tee $p/gids/1 >$p/gids/200; done"),
		0);
	get = ops->get;
	counted.get = count_reads;
	fake.source->ops = &counted;
	assert_int_equal(rd_collect_host(fake.source, RD_COLLECT_GIDS, &host, NULL, NULL), 0);
	assert_int_equal(host.n_ports, 14);
	assert_true(n_reads > 14 * 17 && n_reads < 2000);
	assert_true(host.ports[0].n_gids == 1 && host.ports[0].gids_unread == 18);
	rd_host_deinit(&host);
	/* Until the end where a rule could say that it has none; not where the port is down. */
	assert_int_equal(fake_host_run(&fake, "echo 'IB/RoCE v1' >sys/class/infiniband/rxe0/ports/1/gid_attrs/types/1; "
					      "cd sys/class/infiniband/rxe1/ports/1; echo '1: DOWN' >state; "
					      "echo 0000:0000:0000:0000:0000:0000:0000:0000 >gids/1"),
			 0);
	host = (struct rd_host){ 0 };
	assert_int_equal(rd_collect_host(fake.source, RD_COLLECT_GIDS, &host, NULL, NULL), 0);
	assert_true(host.ports[0].n_gids == 2 && host.ports[0].gids[1].index == 200 && host.ports[0].gids_unread == 217);
	assert_true(host.ports[1].n_gids == 0 && host.ports[1].gids_unread == 16);
	rd_host_deinit(&host);
	host = (struct rd_host){ 0 };
	assert_int_equal(rd_collect_host(fake.source, RD_COLLECT_ALL_GIDS, &host, NULL, NULL), 0);
	assert_true(host.ports[1].n_gids == 1 && host.ports[1].gids_unread == 0);
	rd_host_deinit(&host);
	fake.source->ops = ops;
}
