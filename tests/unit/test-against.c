/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run did, held against what is predicted of a host. */
#include "unit.h"

#include "analyse/nccl/nccl.h"
#include "analyse/nicmap/nicmap.h"
#include "analyse/run/against.h"
#include "collect/host/host.h"
#include "collect/nccl/runlog.h"
#include "nicmap-host.h"

#define LINE "node-1:1:2 [0] NCCL INFO "
#define USING \
	LINE "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:192.0.2.1<0>\n" LINE "Using network IB\n"
#define RANKS                                                                         \
	LINE "comm 0x1 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 23000 - Init\n" LINE \
	     "comm 0x1 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 43000 - Init\n"

/* Two switches, each with an accelerator (23:00.0, 43:00.0) and a NIC (mlx5_0, mlx5_1). */
struct place {
	struct rd_host host;
	struct rd_nicmap map;
	struct rd_runlog log;
	struct rd_against against;
};

static void add_group(struct rd_host *host, unsigned bus, const char *root, int numa, const char *nic)
{
	int up = made_switch(host, bus, root, numa), gpu;
	char addr[16];

	snprintf(addr, sizeof(addr), "%02x:00.0", bus + 3);
	gpu = made_gpu(host, addr, made_port_of(host, up, 0), root, numa);
	host->gpus[gpu].index = (unsigned)gpu;
	host->gpus[gpu].dev = gpu;
	snprintf(addr, sizeof(addr), "%02x:00.0", bus + 4);
	made_nic(host, nic, addr, made_port_of(host, up, 1), root, numa, 400);
}

static void setup(struct place *at)
{
	for (int node = 0; node < 2; node++)
		rd_host_add_numa(&at->host)->id = node;
	add_group(&at->host, 0x20, "pci0000:20", 0, "mlx5_0");
	add_group(&at->host, 0x40, "pci0000:40", 1, "mlx5_1");
	rd_nicmap_analyse(&at->host, NULL, 0, &at->map);
}

static void release(struct place *at)
{
	rd_against_deinit(&at->against);
	rd_runlog_deinit(&at->log);
	rd_nicmap_deinit(&at->map);
	rd_host_deinit(&at->host);
}

static void compare_as(struct place *at, const char *name, const char *text)
{
	rd_against_deinit(&at->against);
	rd_runlog_deinit(&at->log);
	assert_int_equal(rd_runlog_parse("run.log", text, strlen(text), &at->log, NULL), 0);
	rd_against_log(&at->host, NULL, &at->map, &at->log, &at->log.v[0], name, &at->against);
}

/* With the log that the format makes. */
static __attribute__((format(printf, 2, 3))) void compare(struct place *at, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	assert_in_range(vsnprintf(text, sizeof(text), format, args), 1, sizeof(text) - 1);
	va_end(args);
	compare_as(at, "node-1", text);
}

static const struct rd_against_row *row(const struct place *at, const char *topic, const char *subject)
{
	for (size_t i = 0; i < at->against.n; i++)
		if (strcmp(at->against.v[i].topic, topic) == 0 && strcmp(at->against.v[i].subject, subject) == 0)
			return &at->against.v[i];
	return NULL;
}

static void is(const struct place *at, const char *topic, const char *subject, enum rd_verdict verdict)
{
	const struct rd_against_row *found = row(at, topic, subject);

	if (!found)
		print_error("no row %s %s\n", topic, subject);
	assert_non_null(found);
	assert_string_equal(rd_verdict_name(found->verdict), rd_verdict_name(verdict));
}

static const struct rd_finding *finding(const struct place *at, const char *id)
{
	for (size_t i = 0; i < at->against.findings.n; i++)
		if (strcmp(at->against.findings.v[i].id, id) == 0)
			return &at->against.findings.v[i];
	return NULL;
}

static bool mentions(const char *text, const char *what)
{
	return text && strstr(text, what) != NULL;
}

#define PLACE_TEST(name) TEST_BEGUN(name, struct place, at, setup, release)

PLACE_TEST(what_was_predicted_agrees)
{
	compare(at, USING RANKS LINE "Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0/GDRDMA\n" LINE
				     "Channel 00/0 : 3[1] -> 1[1] [receive] via NET/IB/1/GDRDMA\n");
	is(at, "network", "NCCL", RD_VERDICT_SAME);
	is(at, "device", "mlx5_0/1", RD_VERDICT_SAME);
	is(at, "order", "2 devices", RD_VERDICT_SAME);
	is(at, "gpu", "2 GPUs", RD_VERDICT_SAME);
	is(at, "nic", "GPU0", RD_VERDICT_SAME);
	is(at, "nic", "GPU1", RD_VERDICT_SAME);
	ASSERT_EACH(IS(at->against.n_of[RD_VERDICT_DIFFERS], 0), IS(at->against.findings.n, 0));
}

PLACE_TEST(sockets_are_critical_and_say_why)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "NCCL_IB_DISABLE set by environment to 1.\n", "NCCL_IB_DISABLE=1" },
		{ "NCCL_NET set by environment to Socket\n", "NCCL_NET=Socket" },
		{ "NCCL_IB_HCA set to mlx4_0\n", "NCCL_IB_HCA=mlx4_0" },
		{ "NET/IB : No device found.\n", "/dev/infiniband" },
		{ "NET/IB : No device found.\nlibibverbs: Warning: Driver ionic does not support the kernel ABI of 4 (supports "
		  "1 to 1) for device /sys/class/infiniband/ionic_0\n",
		  "driver ionic does not support the kernel ABI of 4 (supports 1 to 1)" },
		{ "NET/IB : No IP interface found.\n", "IP interface" },
		{ "NCCL_IB_DISABLE set by environment to 0.\n", "does not contain the reason" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		compare(at, LINE "%s" LINE "Using network Socket\n", cases[i].line);
		is(at, "network", "NCCL", RD_VERDICT_DIFFERS);
		assert_int_equal(finding(at, "against-tcp")->severity, RD_SEV_CRITICAL);
		assert_true(mentions(finding(at, "against-tcp")->observed, cases[i].said));
	}
}

static void set_state(struct place *at, const char *ibdev, const char *value)
{
	struct rd_port *port = &at->host.ports[at->host.ibdevs[rd_host_find_ibdev(&at->host, ibdev)].first_port];

	free(port->state);
	port->state = strdup(value);
}

PLACE_TEST(sockets_without_rdma_are_as_predicted)
{
	set_state(at, "mlx5_0", "DOWN");
	set_state(at, "mlx5_1", "DOWN");
	compare(at, LINE "NET/IB : No device found.\n" LINE "Using network Socket\n");
	is(at, "network", "NCCL", RD_VERDICT_SAME);
	assert_int_equal(at->against.findings.n, 0);
	compare(at, USING);
	assert_int_equal(finding(at, "against-rdma")->severity, RD_SEV_CRITICAL);
	assert_non_null(finding(at, "against-down"));
}

PLACE_TEST(devices_that_the_run_did_not_have)
{
	static const char one[] = LINE "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:192.0.2.1<0>\n";
	char text[512];

	compare(at, "%s", one);
	is(at, "device", "mlx5_1/1", RD_VERDICT_DIFFERS);
	assert_true(mentions(finding(at, "against-not-used")->observed, "not logged"));
	/* A variable accounts for it, and NCCL's rules are applied with it. */
	compare(at, "%s%s%s", one, LINE "NCCL_IB_HCA set to ^mlx5_1\n",
		RANKS LINE "Channel 00/0 : 3[1] -> 1[1] [receive] via NET/IB/0\n");
	is(at, "device", "mlx5_1/1", RD_VERDICT_SAME);
	is(at, "nic", "GPU1", RD_VERDICT_SAME);
	assert_int_equal(at->against.n_of[RD_VERDICT_DIFFERS], 0);
	/* A container, which has a name of its own. */
	snprintf(text, sizeof(text), "%s%s", one, LINE "NCCL_DEBUG set by environment to INFO\n");
	compare_as(at, "gpu-7", text);
	assert_true(mentions(finding(at, "against-not-used")->observed, "node-1"));
	/* Processes that were given one NIC each. */
	compare(at, "%s%s", one, LINE "NCCL_IB_HCA set to mlx5_0\n" LINE "NCCL_IB_HCA set to mlx5_1\n");
	is(at, "device", "mlx5_1/1", RD_VERDICT_UNKNOWN);
	/* A line that was cut off when it was copied. */
	compare(at, LINE "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5\n");
	is(at, "device", "mlx5_0/1", RD_VERDICT_SAME);
	is(at, "device", "mlx5_1/1", RD_VERDICT_UNKNOWN);
}

PLACE_TEST(devices_that_are_down_gone_or_changed)
{
	set_state(at, "mlx5_1", "DOWN");
	compare(at, LINE "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB [2]mlx5_9:1/IB ; OOB eth0:192.0.2.1<0>\n");
	is(at, "device", "mlx5_1/1", RD_VERDICT_DIFFERS);
	assert_true(mentions(finding(at, "against-down")->observed, "DOWN now"));
	is(at, "device", "mlx5_9/1", RD_VERDICT_DIFFERS);
	assert_non_null(finding(at, "against-not-here"));
	is(at, "link", "mlx5_0/1", RD_VERDICT_DIFFERS);
}

PLACE_TEST(order_goes_by_version)
{
	static const char list[] = LINE "NET/IB : Using [0]mlx5_1:1/IB [1]mlx5_0:1/IB ; OOB eth0:192.0.2.1<0>\n";

	compare(at, "NCCL version 2.28.9+cuda12.9\n%s", list);
	is(at, "order", "2 devices", RD_VERDICT_UNKNOWN);
	assert_true(mentions(row(at, "order", "2 devices")->reason, "2.29.7"));
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s", list);
	is(at, "order", "2 devices", RD_VERDICT_DIFFERS);
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s", list,
		LINE "NCCL_IB_DEVICE_PCI_ORDER set by environment to 0.\n");
	is(at, "order", "2 devices", RD_VERDICT_SAME);
	compare(at, "%s", list);
	is(at, "order", "2 devices", RD_VERDICT_UNKNOWN);
}

PLACE_TEST(another_nic_is_only_wrong_where_that_is_certain)
{
	/* A ring of two GPUs enters and leaves by one NIC. */
	compare(at, "NCCL version 2.27.5+cuda12.9\n" USING RANKS LINE
		    "Channel 00/0 : 3[1] -> 1[1] [receive] via NET/IB/0\n");
	is(at, "nic", "GPU1", RD_VERDICT_UNKNOWN);
	/* Point-to-point takes a GPU's own. */
	compare(at, "NCCL version 2.27.5+cuda12.9\n" USING RANKS LINE
		    "Channel 00/1 : 1[1] -> 3[1] [send] via NET/IB/0/Shared\n");
	is(at, "nic", "GPU1", RD_VERDICT_DIFFERS);
	assert_non_null(finding(at, "against-nic"));
	/* Before 2.19 they were dealt out otherwise. */
	compare(at, "NCCL version 2.18.3+cuda12.0\n" USING RANKS LINE
		    "Channel 00/1 : 1[43000] -> 3[43000] [send] via NET/IB/0/Shared\n");
	is(at, "nic", "GPU1", RD_VERDICT_UNKNOWN);
	assert_true(mentions(row(at, "nic", "GPU1")->reason, "2.19.1"));
	/* A variable. */
	compare(at, "NCCL version 2.27.5+cuda12.9\n" USING RANKS LINE "NCCL_CROSS_NIC set by environment to 1.\n" LINE
		    "Channel 00/1 : 1[1] -> 3[1] [send] via NET/IB/0/Shared\n");
	is(at, "nic", "GPU1", RD_VERDICT_UNKNOWN);
	assert_true(mentions(row(at, "nic", "GPU1")->reason, "NCCL_CROSS_NIC=1"));
	/* By way of the GPU next to it. */
	compare(at, "NCCL version 2.27.5+cuda12.9\n" USING RANKS LINE
		    "Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0(0)/GDRDMA\n");
	is(at, "nic", "GPU1", RD_VERDICT_SAME);
	assert_true(mentions(row(at, "nic", "GPU1")->reason, "PXN"));
	/* Numbers that mean other NICs in other processes. */
	compare(at, LINE "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:192.0.2.1<0>\n" LINE
			 "NET/IB : Using [0]mlx5_1:1/IB ; OOB e:1<0>\n" RANKS LINE
			 "Channel 00/1 : 1[1] -> 3[1] [send] via NET/IB/0/Shared\n");
	assert_null(row(at, "nic", "GPU1"));
	is(at, "nic", "channels", RD_VERDICT_UNKNOWN);
}

static void set_gpudirect(struct place *at, bool value)
{
	for (size_t i = 0; i < at->host.n_gpus; i++)
		RD_SET(at->host.gpus[i].gdr, value);
}

PLACE_TEST(gpudirect)
{
	static const char text[] = "NCCL version 2.27.5+cuda12.9\n" USING RANKS LINE
				   "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n" LINE
				   "Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0\n";

	compare(at, "%s", text);
	is(at, "gpudirect", "GPU0 and mlx5_0", RD_VERDICT_UNKNOWN);
	assert_true(mentions(row(at, "gpudirect", "GPU0 and mlx5_0")->reason, "topology file"));
	set_gpudirect(at, true);
	compare(at, "%s", text);
	is(at, "gpudirect", "mlx5_0", RD_VERDICT_DIFFERS);
	is(at, "gpudirect", "GPU0 and mlx5_0", RD_VERDICT_DIFFERS);
	assert_true(mentions(finding(at, "against-gpudirect")->fix, "modprobe nvidia_peermem"));
	compare(at, "%s%s", text, LINE "NCCL_NET_GDR_READ set by environment to 0\n");
	is(at, "gpudirect", "GPU0 and mlx5_0", RD_VERDICT_UNKNOWN);
	/* What the run was told of distances is applied. That no GPU is near enough says nothing about the NIC. */
	compare(at, "%s%s", text, LINE "NCCL_NET_GDR_LEVEL set by environment to LOC\n");
	is(at, "gpudirect", "GPU0 and mlx5_0", RD_VERDICT_SAME);
	is(at, "gpudirect", "mlx5_0", RD_VERDICT_UNKNOWN);
	for (int level = 0; level < 2; level++) {
		compare(at, "%s%sNCCL_NET_GDR_LEVEL set by environment to %d\n", text, LINE, level);
		is(at, "gpudirect", "GPU0 and mlx5_0", level == 0 ? RD_VERDICT_SAME : RD_VERDICT_DIFFERS);
	}
	set_gpudirect(at, false);
	compare(at, "%s", text);
	is(at, "gpudirect", "GPU0 and mlx5_0", RD_VERDICT_SAME);
	/* 2.24 counts ranks, until then busIds stood there. */
	set_gpudirect(at, true);
	compare(at, "NCCL version 2.24.3+cuda12.6\n" USING RANKS LINE
		    "GPU Direct RDMA Disabled for GPU 1 / HCA 1 (distance 7 > 5)\n");
	is(at, "gpudirect", "GPU1 and mlx5_1", RD_VERDICT_DIFFERS);
	compare(at, "NCCL version 2.21.5+cuda12.6\n" USING LINE
		    "GPU Direct RDMA Enabled for GPU 43000 / HCA 1 (distance 4 <= 5), read 1\n");
	is(at, "gpudirect", "GPU1 and mlx5_1", RD_VERDICT_SAME);
}

/* A second port of mlx5_0's card. */
PLACE_TEST(merged)
{
	static const char using[] = LINE
		"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [RO]; OOB eth0:192.0.2.1<0>\n";
	static const char apart[] = LINE "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\n";
	static const char fused[] = LINE "NET/IB : Made virtual device [3] name=mlx5_0+mlx5_2 speed=800000 ndevs=2\n";
	static const char off[] = LINE "NCCL_IB_MERGE_NICS set by environment to 0.\n";
	int first = at->host.ibdevs[rd_host_find_ibdev(&at->host, "mlx5_0")].pci;
	struct rd_pci *second;

	made_nic(&at->host, "mlx5_2", "24:00.1", at->host.pcis[first].parent, "pci0000:20", 0, 400);
	rd_nicmap_deinit(&at->map);
	rd_nicmap_analyse(&at->host, NULL, 0, &at->map);
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s", using, fused);
	is(at, "merged", "mlx5_0+mlx5_2", RD_VERDICT_SAME);
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s", using, apart);
	is(at, "merged", "mlx5_0+mlx5_2", RD_VERDICT_DIFFERS);
	/* 2.24.3 asks how far they are apart, until then PCI addresses decided. */
	compare(at, "NCCL version 2.21.5+cuda12.4\n%s%s", using, apart);
	is(at, "merged", "mlx5_0+mlx5_2", RD_VERDICT_UNKNOWN);
	assert_true(mentions(row(at, "merged", "mlx5_0+mlx5_2")->reason, "2.24.3"));
	/* Variables and releases by which they stay apart. */
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s%s", using, apart, off);
	assert_null(row(at, "merged", "mlx5_0+mlx5_2"));
	compare(at, "NCCL version 2.18.3+cuda12.0\n%s%s", using, apart);
	assert_null(row(at, "merged", "mlx5_0+mlx5_2"));
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s%s", using, fused, off);
	is(at, "merged", "mlx5_0+mlx5_2", RD_VERDICT_DIFFERS);
	/* As far apart as two sockets. */
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s%s", using,
		LINE "NET/IB : Made virtual device [3] name=mlx5_0+mlx5_2+mlx5_1 speed=1200000 ndevs=3\n",
		LINE "NCCL_NET_MERGE_LEVEL set by environment to SYS\n");
	is(at, "merged", "mlx5_0+mlx5_2+mlx5_1", RD_VERDICT_SAME);
	/* Virtual functions stand on one bus, with device numbers of their own. */
	second = &at->host.pcis[at->host.ibdevs[rd_host_find_ibdev(&at->host, "mlx5_2")].pci];
	second->dev = 1;
	second->fn = 0;
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s", using, fused);
	is(at, "merged", "mlx5_0+mlx5_2", RD_VERDICT_SAME);
	compare(at, "NCCL version 2.30.3+cuda13.0\n%s%s%s", using, fused,
		LINE "NCCL_IB_MERGE_VFS set by environment to 0.\n");
	is(at, "merged", "mlx5_0+mlx5_2", RD_VERDICT_DIFFERS);
	/* A log that does not list NICs says nothing about merging. */
	compare(at, "%s", using);
	assert_null(row(at, "merged", "mlx5_0+mlx5_2"));
}

PLACE_TEST(a_log_of_another_host_is_no_evidence)
{
	static const char other[] =
		"x:1:2 [0] NCCL INFO NET/IB : Using [0]rocep1s0:1/RoCE ; OOB eth0:192.0.2.1<0>\n"
		"x:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 99000 - Init\n";

	compare(at, "%s", other);
	ASSERT_EACH(IS(at->against.n, 0), IS(finding(at, "against-elsewhere")->severity, RD_SEV_UNKNOWN));
	/* Of the same name it is this one, with other devices. */
	compare_as(at, "x", other);
	is(at, "device", "rocep1s0/1", RD_VERDICT_DIFFERS);
	is(at, "gpu", "0000:99:00.0", RD_VERDICT_DIFFERS);
}

PLACE_TEST(other_stacks)
{
	compare(at, "[1.2] [node-1:7:0] ucp_worker.c:1 UCX  INFO  inter-node cfg#1 tag(tcp/eth0)\n");
	assert_int_equal(finding(at, "against-tcp")->severity, RD_SEV_CRITICAL);
	compare(at,
		"[1.2] [node-1:7:0] ucp_worker.c:1 UCX  INFO  inter-node cfg#1 tag(rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_7:1 tcp/eth0)\n");
	is(at, "UCX", "mlx5_0/1", RD_VERDICT_SAME);
	is(at, "UCX", "mlx5_7/1", RD_VERDICT_DIFFERS);
	assert_null(finding(at, "against-tcp"));
	compare(at,
		"I1 1 topology.cpp:93] mlx5_0:1 is not active (state: 1)\nI1 1 topology.cpp:124] Device mlx5_1 port 1 is available\n"
		"{\"cuda:0\":[[\"mlx5_0\"],[\"mlx5_1\"]],\"cuda:1\":[[\"mlx5_0\"],[\"mlx5_1\"]]}\n"
		"x.cpp 1 [0] IBGDA: device used mlx5_0, data_direct support: 0\nx.cpp 1 [1] IBGDA: device used mlx5_0, data_direct support: 0\n"
		"x.cpp 1 [9] IBGDA: device used mlx5_0, data_direct support: 0\n");
	is(at, "Mooncake", "mlx5_0", RD_VERDICT_DIFFERS);
	is(at, "Mooncake", "mlx5_1", RD_VERDICT_SAME);
	is(at, "Mooncake", "cuda:0", RD_VERDICT_SAME);
	is(at, "Mooncake", "cuda:1", RD_VERDICT_UNKNOWN);
	is(at, "NVSHMEM", "PE 0", RD_VERDICT_SAME);
	is(at, "NVSHMEM", "PE 1", RD_VERDICT_DIFFERS);
	is(at, "NVSHMEM", "PE 9", RD_VERDICT_UNKNOWN);
}

static void read_topology(struct rd_buf *text, struct rd_host *file)
{
	assert_int_equal(rd_collect_nccl_xml("topo.xml", text->data, text->len, file, NULL), 0);
}

PLACE_TEST(topology_files)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	_cleanup_(rd_host_deinit) struct rd_host file = { 0 };

	rd_nccl_xml_write(&at->host, &text);
	read_topology(&text, &file);
	rd_against_topology(&at->host, &at->map, &file, NULL, &at->against);
	assert_int_equal(at->against.n_of[RD_VERDICT_DIFFERS] + at->against.n_of[RD_VERDICT_UNKNOWN], 0);
	is(at, "distance", "GPU0 and mlx5_0", RD_VERDICT_SAME);
	is(at, "rate", "mlx5_0", RD_VERDICT_SAME);
	rd_against_deinit(&at->against);
	/* It was another NIC at another rate and place. */
	RD_SET(file.ports[0].rate_gbps, 100);
	file.ibdevs[0].pci = file.gpus[1].pci;
	rd_against_topology(&at->host, &at->map, &file, NULL, &at->against);
	is(at, "rate", "mlx5_0", RD_VERDICT_DIFFERS);
	is(at, "nic", "mlx5_0", RD_VERDICT_DIFFERS);
	is(at, "distance", "GPU0 and mlx5_0", RD_VERDICT_DIFFERS);
	is(at, "gpu", "GPU0", RD_VERDICT_SAME);
}

PLACE_TEST(a_topology_file_of_another_host)
{
	static char text[] =
		"<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:99:00.0\" class=\"0x030200\"><gpu dev=\"0\"/></pci>"
		"<pci busid=\"0000:9a:00.0\" class=\"0x020700\"><nic><net name=\"x_0\" dev=\"0\"/></nic></pci></cpu></system>";
	struct rd_buf buf = { .data = text, .len = sizeof(text) - 1 };
	_cleanup_(rd_host_deinit) struct rd_host file = { 0 };

	read_topology(&buf, &file);
	rd_against_topology(&at->host, &at->map, &file, NULL, &at->against);
	ASSERT_EACH(IS(at->against.n, 0), IS(finding(at, "against-elsewhere") != NULL, true));
}
