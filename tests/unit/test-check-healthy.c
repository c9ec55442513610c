/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Healthy hosts of kinds that a rule could take for broken ones, and the broken ones beside them. */
#include "unit.h"

#include "analyse/nicmap/nicmap.h"
#include "check-run.h"
#include "collect/host/host.h"
#include "collect/kernel/kernel.h"
#include "fake-host.h"
#include "model/host/system.h"
#include "nicmap-host.h"

struct healthy {
	struct rd_host host;
	struct rd_nicmap map;
	struct rd_system system;
	struct rd_check_input in;
	char said[512]; /* what the rule says first */
};

static void stop(struct healthy *h)
{
	rd_nicmap_deinit(&h->map);
	rd_host_deinit(&h->host);
	rd_system_deinit(&h->system);
}

/* The worst result of a rule. */
static enum rd_severity judge(struct healthy *h, const char *rule)
{
	struct rd_findings findings = { 0 };

	rd_nicmap_deinit(&h->map);
	h->map = (struct rd_nicmap){ 0 };
	rd_nicmap_analyse(&h->host, &h->system, 0, &h->map);
	h->in.host = &h->host;
	h->in.ports = &h->map.ports;
	h->in.map = &h->map;
	h->in.system = &h->system;
	check_run(&h->in, rule, &findings);
	rd_findings_sort(&findings);
	snprintf(h->said, sizeof(h->said), "%s", findings.n && findings.v[0].observed ? findings.v[0].observed : "");
	rd_findings_deinit(&findings);
	return check_worst(&h->in, rule);
}

/* The worst result of a rule is this one, and what it says first contains the words. */
static void expect(struct healthy *h, const char *rule, enum rd_severity wanted, const char *words)
{
	if (judge(h, rule) != wanted || !strstr(h->said, words))
		fail_msg("%s: %d \"%s\"", rule, judge(h, rule), h->said);
}

static void add_node(struct rd_host *host, int id, int package)
{
	struct rd_numa *numa = rd_host_add_numa(host);

	numa->id = id;
	if (package >= 0)
		RD_SET(numa->package, package);
}

/* An accelerator alone behind a root port of its own. */
static void add_gpu(struct rd_host *host, unsigned bus, int numa)
{
	char addr[16], root[16];
	int port;

	snprintf(root, sizeof(root), "pci0000:%02x", bus);
	snprintf(addr, sizeof(addr), "%02x:00.0", bus);
	port = made_bridge(host, addr, -1, root, numa);
	snprintf(addr, sizeof(addr), "%02x:00.0", bus + 1);
	made_gpu(host, addr, port, root, numa);
}

static void add_nic(struct rd_host *host, const char *name, unsigned bus, int numa)
{
	char addr[16], root[16];
	int port;

	snprintf(root, sizeof(root), "pci0000:%02x", bus);
	snprintf(addr, sizeof(addr), "%02x:00.0", bus);
	port = made_bridge(host, addr, -1, root, numa);
	snprintf(addr, sizeof(addr), "%02x:00.0", bus + 1);
	made_nic(host, name, addr, port, root, numa, 400);
}

#define HEALTHY_TEST(name) TEST_ON(name, struct healthy, h, { 0 }, stop)

HEALTHY_TEST(a_guest_without_switches_tells_no_socket)
{
	RD_SET(h->host.guest, true);
	add_node(&h->host, 0, -1);
	add_node(&h->host, 1, -1);
	made_gpu(&h->host, "0001:00:00.0", -1, "pci0001:00", 0);
	made_nic(&h->host, "mlx5_0", "0101:00:00.0", -1, "pci0101:00", 0, 400);
	made_nic(&h->host, "mlx5_1", "0102:00:00.0", -1, "pci0102:00", 1, 400);
	expect(h, "gpu-nic-socket", RD_SEV_UNKNOWN, "");
	/* With none on its own node, that it is on another is known. */
	made_gpu(&h->host, "0003:00:00.0", -1, "pci0003:00", 2);
	expect(h, "gpu-nic-socket", RD_SEV_WARNING, "NUMA node");
}

/* EPYC with NPS4, Xeon with SNC: four nodes of one socket, and the NIC on one of them. */
HEALTHY_TEST(nodes_of_one_socket_are_near)
{
	for (int node = 0; node < 8; node++)
		add_node(&h->host, node, node / 4);
	add_gpu(&h->host, 0x10, 3);
	add_nic(&h->host, "mlx5_0", 0x20, 1);
	expect(h, "gpu-nic-socket", RD_SEV_OK, "");
	add_gpu(&h->host, 0x80, 5);
	/* The only NIC cannot be near both. */
	expect(h, "gpu-nic-socket", RD_SEV_NOTE, "");
	add_nic(&h->host, "mlx5_1", 0x30, 2);
	expect(h, "gpu-nic-socket", RD_SEV_WARNING, "another socket");
	/* Where sysfs does not tell sockets, nobody says the word. */
	for (size_t i = 0; i < h->host.n_numas; i++)
		h->host.numas[i].package.known = RD_ABSENT;
	expect(h, "gpu-nic-socket", RD_SEV_WARNING, "");
	ASSERT_EACH(LACKS(h->said, "socket"), HAS(h->said, "NUMA node"));
}

/* One socket whose firmware names no node for slots: two host bridges are not two sockets. */
HEALTHY_TEST(the_only_node_is_everybodys)
{
	add_node(&h->host, 0, 0);
	add_gpu(&h->host, 0x10, -1);
	add_nic(&h->host, "mlx5_0", 0x20, -1);
	expect(h, "gpu-nic-socket", RD_SEV_OK, "");
	/* Of two nodes it could be either. */
	add_node(&h->host, 1, 1);
	expect(h, "gpu-nic-socket", RD_SEV_UNKNOWN, "");
}

TEST(sockets_of_nodes_are_read)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	struct rd_sysfs fs = { 0 };

	fs.src = fake.source;
	fake_host_text(&fake, "/sys/devices/system/node/node0/cpulist", "0-15,64-79\n");
	fake_host_text(&fake, "/sys/devices/system/node/node1/cpulist", "16-31\n");
	fake_host_text(&fake, "/sys/devices/system/node/node2/cpulist", "32-47\n");
	fake_host_text(&fake, "/sys/devices/system/node/node3/cpulist", "\n"); /* memory of an accelerator */
	fake_host_text(&fake, "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	fake_host_text(&fake, "/sys/devices/system/cpu/cpu16/topology/physical_package_id", "0\n");
	fake_host_text(&fake, "/sys/devices/system/cpu/cpu32/topology/physical_package_id", "36\n");
	rd_collect_numa(&fs, &host);
	ASSERT_EACH(IS(host.n_numas, 4), IS(rd_host_same_socket(&host, 0, 1), 1),
		    IS(rd_host_same_socket(&host, 1, 2), 0), IS(rd_host_same_socket(&host, 1, 3), -1),
		    IS(rd_host_same_socket(&host, 3, 3), 1));
	assert_string_equal(rd_host_find_numa(&host, 3)->cpulist, "");
	assert_int_equal(rd_host_same_socket(&host, -1, -1), -1);
}

/* What the driver and the kernel say of NVIDIA's module; NULL: no such file. */
static void load_nvidia(struct rd_system *system, const char *version, const char *taint)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();

	rd_system_deinit(system);
	*system = (struct rd_system){ 0 };
	fake_host_text(&fake, "/proc/modules",
		       "ib_uverbs 1 0 - Live 0x0\nib_core 1 1 ib_uverbs, Live 0x0\nnvidia 1 0 - Live 0x0\n");
	fake_host_text(&fake, "/sys/kernel/btf/ib_uverbs", "ib_umem_dmabuf_get");
	if (version)
		fake_host_text(&fake, "/proc/driver/nvidia/version", version);
	if (taint)
		fake_host_text(&fake, "/sys/module/nvidia/taint", taint);
	assert_int_equal(rd_collect_system(fake.source, 0, system, NULL, NULL), 0);
}

HEALTHY_TEST(no_version_of_the_driver_is_not_its_closed_flavour)
{
	add_node(&h->host, 0, 0);
	add_gpu(&h->host, 0x10, 0);
	h->host.gpus[0].vendor = "NVIDIA";
	add_nic(&h->host, "mlx5_0", 0x20, 0);
	load_nvidia(&h->system, NULL, NULL);
	expect(h, "peermem", RD_SEV_UNKNOWN, "");
	expect(h, "dmabuf", RD_SEV_UNKNOWN, "");
	load_nvidia(&h->system, NULL, "OE\n");
	expect(h, "peermem", RD_SEV_OK, "");
	load_nvidia(&h->system, NULL, "POE\n");
	expect(h, "peermem", RD_SEV_CRITICAL, "");
	load_nvidia(&h->system, "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n",
		    NULL);
	expect(h, "peermem", RD_SEV_OK, "");
	assert_string_equal(h->system.nvidia_version, "580.65.06");
	load_nvidia(&h->system,
		    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  384.98  Thu Oct 26 15:16:01 PDT 2017\n", NULL);
	expect(h, "peermem", RD_SEV_CRITICAL, "");
	assert_string_equal(h->system.nvidia_version, "384.98");
}

/* A RoCE port with these GIDs: "1" or "2" is the version, then the address. */
static void start_roce(struct healthy *h, const char *const *gids)
{
	*h = (struct healthy){ 0 };
	add_nic(&h->host, "mlx5_0", 0x20, 0);
	made_netdev(&h->host, "eth0");
	for (unsigned i = 0; gids[i]; i++)
		made_gid(&h->host, 0, i, gids[i] + 2, *gids[i] == '2' ? RD_GID_ROCE_V2 : RD_GID_ROCE_V1, "eth0");
	made_port(&h->host, 0)->gids_known = true;
}

/* An IPv4 address on the interface, which the GID table should have, too. */
static void give_address(struct healthy *h)
{
	struct rd_port *port = made_port(&h->host, 0);
	struct rd_netdev *netdev = &h->host.netdevs[0];

	port->netdevs = calloc(1, sizeof(*port->netdevs));
	port->n_netdevs = 1;
	netdev->addrs = calloc(1, sizeof(*netdev->addrs));
	netdev->addrs[0] = (struct rd_addr){ .raw = { 10, 0, 0, 1 }, .prefix = 24 };
	netdev->n_addrs = 1;
}

/* ConnectX-3: works on its subnet, and no address makes version 2 of it. */
HEALTHY_TEST(roce_v1_is_a_matter_of_the_type_of_gids)
{
	static const char *const gids[] = { "1 fe80::1", "1 10.0.0.1", NULL };

	start_roce(h, gids);
	expect(h, "gid-usable", RD_SEV_OK, "");
	expect(h, "gid-v2", RD_SEV_WARNING, "");
}

TEST(which_gid_nccl_takes_where_there_is_no_ipv4)
{
	static const char *const v6[] = { "1 fe80::1", "2 fe80::1", "1 2001:db8::1", "2 2001:db8::1", NULL };
	static const char *const v4[] = { "1 fe80::1", "2 fe80::1", "1 10.0.0.1", "2 10.0.0.1", NULL };
	static const char *const none[] = { "1 fe80::1", "2 fe80::1", NULL };
	struct healthy h;

	start_roce(&h, v6);
	expect(&h, "gid-usable", RD_SEV_NOTE, "selects index 0 (fe80::1, RoCE v1)");
	stop(&h);
	start_roce(&h, v4);
	expect(&h, "gid-usable", RD_SEV_OK, "");
	stop(&h);
	start_roce(&h, none);
	/* Nothing shows that anybody means to use RDMA on it. */
	expect(&h, "gid-usable", RD_SEV_NOTE, "");
	give_address(&h);
	expect(&h, "gid-usable", RD_SEV_CRITICAL, "link-local");
	assert_non_null(strstr(h.said, "selects index 0 (fe80::1, RoCE v1)"));
	stop(&h);
}

HEALTHY_TEST(types_that_nobody_told_are_no_other_namespace)
{
	static const char *const gids[] = { "2 fe80::1", "2 10.0.0.1", NULL };

	start_roce(h, gids);
	for (size_t i = 0; i < h->host.ports[0].n_gids; i++)
		h->host.ports[0].gids[i].type = RD_GID_UNKNOWN;
	expect(h, "gid-usable", RD_SEV_UNKNOWN, "");
	assert_null(strstr(h->map.ports.v[0].gid_why, "namespace"));
}

static void set_layer(struct rd_port *port, const char *layer)
{
	free(port->link_layer);
	port->link_layer = strdup(layer);
}

HEALTHY_TEST(efa_is_no_infiniband)
{
	static const char *const gids[] = { "1 fe80::1", NULL };

	start_roce(h, gids);
	set_layer(&h->host.ports[0], "Unknown");
	h->host.ports[0].gids[0].type = RD_GID_UNKNOWN;
	h->host.ibdevs[0].driver = strdup("efa");
	expect(h, "port-state", RD_SEV_UNKNOWN, "EFA");
	ASSERT_EACH(IS(h->map.ports.v[0].gid, 0), HAS(h->map.ports.v[0].gid_why, "EFA"), IS(h->map.env.n, 0));
	/* Where an interface is known to be its, that has a carrier or not. */
	h->host.netdevs[0].operstate = strdup("up");
	h->host.ports[0].netdevs = calloc(1, sizeof(int));
	h->host.ports[0].n_netdevs = 1;
	expect(h, "port-state", RD_SEV_OK, "");
	/* Any other driver is believed. */
	h->host.ports[0].n_netdevs = 0;
	free(h->host.ibdevs[0].driver);
	h->host.ibdevs[0].driver = strdup("mlx5_core");
	set_layer(&h->host.ports[0], "InfiniBand");
	expect(h, "port-state", RD_SEV_OK, "");
	assert_true(h->map.env.n > 0);
}

HEALTHY_TEST(the_ports_of_a_gaudi_are_link_local_by_design)
{
	made_nic(&h->host, "hbl_0", "19:00.0", -1, "pci0000:10", 0, 200);
	h->host.ibdevs[0].driver = strdup("habanalabs");
	for (unsigned p = 1; p < 24; p++) {
		struct rd_port *port = rd_host_add_port(&h->host, 0);

		port->num = p + 1;
		port->state = strdup("ACTIVE");
	}
	made_netdev(&h->host, "eth0");
	made_gid(&h->host, 0, 0, "fe80::1", RD_GID_ROCE_V2, "eth0");
	h->host.netdevs[0].operstate = strdup("down");
	for (size_t p = 0; p < h->host.n_ports; p++) {
		struct rd_port *port = &h->host.ports[p];

		set_layer(port, "Ethernet");
		port->gids_known = true;
		port->netdevs = calloc(1, sizeof(int));
		port->n_netdevs = 1;
	}
	expect(h, "gid-usable", RD_SEV_SKIP, "");
	expect(h, "gid-v2", RD_SEV_SKIP, "");
	expect(h, "roce-mtu", RD_SEV_SKIP, "");
	expect(h, "roce-netdev", RD_SEV_SKIP, "");
	assert_int_equal(h->map.env.n, 0);
}

/* The driver says 1 for every port. */
HEALTHY_TEST(the_lid_of_irdma_is_a_constant)
{
	static const char *const gids[] = { "2 fe80::1", "2 10.0.0.1", NULL };

	start_roce(h, gids);
	RD_SET(h->host.ports[0].lid, 1);
	expect(h, "roce-lid", RD_SEV_WARNING, "");
	h->host.ibdevs[0].driver = strdup("ice");
	expect(h, "roce-lid", RD_SEV_NOTE, "");
}

/* A process with a limit of 8 MiB; NULL: no such file. */
static void of_process(const char *status, const char *uid_map, enum rd_severity wanted, const char *words)
{
	_cleanup_(stop) struct healthy h = { 0 };
	struct fake_host fake = fake_host_make();

	fake_host_text(&fake, "/proc/812/comm", "python3\n");
	fake_host_text(&fake, "/proc/812/limits",
		       "Limit                     Soft Limit           Hard Limit           Units\n"
		       "Max locked memory         8388608              8388608              bytes\n");
	if (status)
		fake_host_text(&fake, "/proc/812/status", status);
	if (uid_map)
		fake_host_text(&fake, "/proc/812/uid_map", uid_map);
	assert_int_equal(rd_collect_system(fake.source, 812, &h.system, NULL, NULL), 0);
	fake_host_deinit(&fake);
	expect(&h, "memlock", wanted, words);
}

#define IDS "         0          0 4294967295\n"

TEST(a_limit_does_not_hold_with_cap_ipc_lock_in_effect)
{
	/* Of a container with IPC_LOCK added: root has it, another user only may get it. */
	static const char root[] = "Uid:\t0\nCapInh:\t0\nCapPrm:\t00000000a80465fb\nCapEff:\t00000000a80465fb\n";
	static const char user[] = "Uid:\t1000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
				   "CapBnd:\t00000000a80465fb\n";
	static const char without[] = "Uid:\t0\nCapPrm:\t00000000a80425fb\nCapEff:\t00000000a80425fb\n";

	of_process(root, IDS, RD_SEV_OK, "");
	of_process(user, IDS, RD_SEV_CRITICAL, "effective");
	of_process(without, IDS, RD_SEV_CRITICAL, "");
	/* Root of a user namespace is not who the kernel asks for. */
	of_process(root, "         0     100000      65536\n", RD_SEV_CRITICAL, "");
	of_process(NULL, IDS, RD_SEV_UNKNOWN, "");
	of_process(root, NULL, RD_SEV_UNKNOWN, "");
}

/* One line about the NIC at 21:00.0, and perhaps one that came later. */
static void of_power(struct healthy *h, const char *line, const char *later, enum rd_severity wanted, const char *words)
{
	_cleanup_(rd_klog_deinit) struct rd_klog klog = { 0 };
	char text[1024];
	struct rd_bytes bytes;

	snprintf(text, sizeof(text), "6,0,1,-;Linux version\n3,1,2000000,-;mlx5_core 0000:21:00.0: %s\n", line);
	if (later)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "6,2,3000000,-;mlx5_core 0000:21:00.0: %s\n",
			 later);
	bytes = (struct rd_bytes){ (uint8_t *)strdup(text), strlen(text) };
	rd_klog_parse(&bytes, &klog);
	h->in.klog = &klog;
	expect(h, "log-slot-power", wanted, words);
	h->in.klog = NULL;
}

HEALTHY_TEST(a_line_about_power_is_no_fault_of_a_nic_that_works)
{
	static const char line[] =
		"mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).";
	struct rd_pci *nic;

	add_node(&h->host, 0, 0);
	add_gpu(&h->host, 0x10, 0);
	add_nic(&h->host, "mlx5_0", 0x20, 0);
	add_nic(&h->host, "mlx5_1", 0x30, 0);
	nic = &h->host.pcis[h->host.ibdevs[0].pci];
	of_power(h, line, NULL, RD_SEV_NOTE, "");
	RD_SET(nic->now.width, 8);
	of_power(h, line, NULL, RD_SEV_WARNING, "x8 of x16");
	/* The firmware took it back. */
	of_power(h, line, "PCIe slot advertised sufficient power (75W).", RD_SEV_OK, "");
	RD_SET(nic->now.width, 16);
	free(h->host.ports[0].state);
	h->host.ports[0].state = strdup("DOWN");
	of_power(h, line, NULL, RD_SEV_CRITICAL, "mlx5_0/1 is DOWN");
	of_power(h, "PCIe slot power capability was not advertised.", NULL, RD_SEV_WARNING, "");
}
