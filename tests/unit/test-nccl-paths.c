/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How NCCL gets from accelerators to NICs, rule by rule: tests/rules/NCCL.md names where each was read. */
#include "unit.h"

#include "analyse/nccl/nccl.h"
#include "collect/host/host.h"
#include "nccl-host.h"

/* Two accelerators on one switch, of which one has its NIC beside it, behind another root port the other accelerator. */
static void make_pxn(struct made *m)
{
	int up;

	up = made_switch(&m->host, 0x20, "pci0000:20", 0);
	made_gpu(&m->host, "23:00.0", made_port_of(&m->host, up, 0), "pci0000:20", 0);
	made_nic(&m->host, "mlx5_0", "24:00.0", made_port_of(&m->host, up, 1), "pci0000:20", 0, 200);
	made_gpu(&m->host, "31:00.0", made_bridge(&m->host, "20:01.0", -1, "pci0000:20", 0), "pci0000:20", 0);
	make_nvidia(m);
}

NCCL_TEST(nvlink_leads_to_a_neighbours_nic)
{
	make_pxn(m);
	assert_string_equal(nccl_path(m, 1, 0), "PHB");
	m->host.has_nvswitch = true;
	ASSERT_EACH(READS(nccl_path(m, 1, 0), "PXN"), IS(rd_nicmap_pair(&m->map, 1, 0)->via, 0),
		    READS(m->map.nccl.v[1].why, "PXN over NVLink of GPU0, 25.0 GB/s"));
	/* The way back does not lead over it: the NIC's nearest accelerator stays the first. */
	assert_string_equal(nccl_path(m, 0, 0), "PIX");
	/* NCCL_PXN_DISABLE=1 */
	m->settings.pxn = false;
	assert_string_equal(nccl_path(m, 1, 0), "PHB");
}

NCCL_TEST(nvlinks_of_a_topology_file_count)
{
	struct rd_gpu *gpu;

	make_pxn(m);
	gpu = &m->host.gpus[1];
	assert_int_equal(rd_grow(&gpu->nvlinks, &gpu->cap_nvlinks, 1, sizeof(*gpu->nvlinks)), 0);
	gpu->nvlinks[gpu->n_nvlinks++] = (struct rd_nvlink){ .target = "0000:99:00.0", .n = 4 };
	assert_string_equal(nccl_path(m, 1, 0), "PHB");
	/* From the accelerator beside the NIC, as NCCL asks. */
	gpu = &m->host.gpus[0];
	assert_int_equal(rd_grow(&gpu->nvlinks, &gpu->cap_nvlinks, 1, sizeof(*gpu->nvlinks)), 0);
	gpu->nvlinks[gpu->n_nvlinks++] = (struct rd_nvlink){ .target = "0000:31:00.0", .n = 4 };
	assert_string_equal(nccl_path(m, 1, 0), "PXN");
	assert_string_equal(m->map.nccl.v[1].why, "PXN over NVLink of GPU0, 25.0 GB/s");
	/* One NVLink of an A100 carries 20 GB/s, less than the NIC. */
	RD_SET(gpu->sm, 80);
	gpu->nvlinks[0].n = 1;
	assert_string_equal(nccl_path(m, 1, 0), "PXN");
	assert_string_equal(m->map.nccl.v[1].why, "PXN over NVLink of GPU0, 20.0 GB/s");
}

NCCL_TEST(pxn_needs_gpudirect_beside_the_nic)
{
	make_pxn(m);
	m->host.has_nvswitch = true;
	load_module(m, "nvidia");
	RD_SET(m->system.nvidia_open, false);
	assert_string_equal(nccl_path(m, 1, 0), "PHB");
	assert_gpudirect(m, 0, 0, "no: nvidia_peermem is not loaded, and DMA-BUF is not available");
	load_module(m, "nvidia_peermem");
	assert_string_equal(nccl_path(m, 1, 0), "PXN");
	assert_gpudirect(m, 1, 0, "yes: nvidia_peermem");
}

/* What is on one switch counts as no nearer than what is on one processor: all are as good. */
NCCL_TEST(without_gpudirect_the_way_leads_through_the_processor)
{
	make_pxn(m);
	made_nic(&m->host, "mlx5_1", "41:00.0", made_bridge(&m->host, "20:02.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 200);
	ASSERT_EACH(READS(nccl_path(m, 0, 0), "PIX"), IS(m->map.nccl.v[0].n_ports, 1));
	load_module(m, "nvidia");
	RD_SET(m->system.nvidia_open, false);
	ASSERT_EACH(READS(nccl_path(m, 0, 0), "PHB"), HAS(m->map.nccl.v[0].why, "2 equally good NICs, shared by 2"));
}

NCCL_TEST(gpudirect_by_what_and_how_far)
{
	make_pxn(m);
	assert_gpudirect(m, 0, 0, "unknown: not in the topology file");
	assert_gpudirect(m, 1, 0, "no: PHB is farther than NCCL_NET_GDR_LEVEL allows");
	m->with_system = true;
	assert_gpudirect(m, 0, 0, "unknown: could not read /proc/modules");
	load_module(m, "nvidia");
	assert_gpudirect(m, 0, 0,
			 "unknown: nvidia_peermem is not loaded; could not determine whether the nvidia driver");
	RD_SET(m->system.nvidia_open, true);
	assert_gpudirect(m, 0, 0, "unknown: nvidia_peermem is not loaded; could not determine whether this kernel's");
	RD_SET(m->system.dmabuf, true);
	assert_gpudirect(m, 0, 0, "yes: DMA-BUF");
	/* NCCL_NET_GDR_LEVEL=PHB and LOC */
	m->settings.gdr_level = RD_PATH_PHB;
	assert_gpudirect(m, 1, 0, "yes: DMA-BUF");
	m->settings.gdr_level = RD_PATH_UNKNOWN;
	assert_gpudirect(m, 0, 0, "no: ");
	m->settings = rd_nccl_defaults();
	RD_SET(m->host.ports[0].gdr, false);
	assert_gpudirect(m, 0, 0, "no: gdr=\"0\" for this NIC");
	m->host.gpus[0].name = strdup("NVIDIA GB10");
	m->host.ports[0].gdr.known = RD_ABSENT;
	assert_gpudirect(m, 0, 0, "no: GB10 does not support");
}

/* Grace: the NIC stands on a root port of its own, the accelerator's PCI link is narrow, its C2C is not. */
static void make_grace(struct made *m)
{
	m->host.cpu.arch = strdup("arm64");
	made_gpu(&m->host, "0009:01:00.0", made_bridge(&m->host, "0009:00:00.0", -1, "pci0009:00", 0), "pci0009:00", 0);
	RD_SET(m->host.pcis[m->host.gpus[0].pci].now.width, 1);
	made_nic(&m->host, "mlx5_0", "0000:01:00.0", made_bridge(&m->host, "0000:00:00.0", -1, "pci0000:00", 0),
		 "pci0000:00", 0, 400);
	make_nvidia(m);
	m->with_system = true;
	load_module(m, "nvidia_peermem");
}

NCCL_TEST(c2c_makes_p2c)
{
	make_grace(m);
	assert_string_equal(nccl_path(m, 0, 0), "PHB");
	assert_gpudirect(m, 0, 0, "no: PHB is farther");
	m->host.gpus[0].name = strdup("NVIDIA GH200 480GB");
	ASSERT_EACH(READS(nccl_path(m, 0, 0), "P2C"), HAS(m->map.nccl.v[0].why, "48.0 GB/s"));
	assert_gpudirect(m, 0, 0, "yes: nvidia_peermem");
	/* NCCL_NET_GDR_C2C=0 */
	m->settings.gdr_level = RD_PATH_PXB;
	assert_gpudirect(m, 0, 0, "no: farther than");
}

NCCL_TEST(a_data_direct_function_is_the_place)
{
	int up;

	make_grace(m);
	/* The switch of the card holds both the accelerator's port and the data direct function. */
	up = made_switch(&m->host, 0x40, "pci0009:40", 0);
	m->host.pcis[m->host.gpus[0].pci].parent = made_port_of(&m->host, up, 0);
	assert_string_equal(nccl_path(m, 0, 0), "PHB");
	assert_nets(m, "mlx5_0");
	m->host.ibdevs[0].data_direct =
		made_bridge(&m->host, "43:00.0", made_port_of(&m->host, up, 1), "pci0009:40", 0);
	assert_nets(m, "mlx5_0_dma");
	ASSERT_EACH(IS(m->map.nccl_nets.v[0].data_direct, true), READS(nccl_path(m, 0, 0), "PIX"));
}

/* Upstream and downstream ports of PEX89000: the inner switches of one chip are no step of their own. */
NCCL_TEST(a_pex_switch_of_two_levels_is_one)
{
	static const uint16_t subdevices[] = { 0x0072, 0x1003 };
	int outer, ports[2], inner[2];

	outer = made_switch(&m->host, 0x20, "pci0000:20", 0);
	for (unsigned i = 0; i < 2; i++) {
		char addr[16];

		ports[i] = made_port_of(&m->host, outer, i);
		snprintf(addr, sizeof(addr), "%02x:00.0", 0x30 + 0x10 * i);
		inner[i] = made_bridge(&m->host, addr, ports[i], "pci0000:20", 0);
	}
	made_gpu(&m->host, "33:00.0", made_port_of(&m->host, inner[0], 0), "pci0000:20", 0);
	made_nic(&m->host, "mlx5_0", "43:00.0", made_port_of(&m->host, inner[1], 0), "pci0000:20", 0, 200);
	assert_string_equal(nccl_path(m, 0, 0), "PXB");
	for (size_t i = 0; i < m->host.n_pcis; i++) {
		struct rd_pci *pci = &m->host.pcis[i];

		RD_SET(pci->vendor, 0x1000);
		RD_SET(pci->device, 0xc030);
		RD_SET(pci->subvendor, 0x1000);
		RD_SET(pci->subdevice, subdevices[(int)i != outer]);
	}
	assert_string_equal(nccl_path(m, 0, 0), "PIX");
}

TEST(processors_are_told_apart)
{
	static const struct {
		const char *arch, *vendor;
		unsigned family, model;
		float bw;
	} cpus[] = {
		{ "x86_64", "GenuineIntel", 6, 0xcf, 40 },
		{ "x86_64", "GenuineIntel", 6, 0x8f, 22 },
		{ "x86_64", "GenuineIntel", 6, 0x55, 10 },
		{ "x86_64", "GenuineIntel", 6, 0x4f, 6 },
		{ "x86_64", "AuthenticAMD", 25, 1, 16 },
		{ "x86_64", "CentaurHauls", 7, 0x5b, 9 },
		{ "x86_64", "  Shanghai  ", 7, 0x3b, 6 },
		{ "arm64", NULL, 0, 0, 6 },
		{ "ppc64", NULL, 0, 0, 32 },
		{ "riscv64", NULL, 0, 0, 5000 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cpus); i++) {
		struct rd_host host = { .cpu = { .arch = (char *)cpus[i].arch, .vendor = (char *)cpus[i].vendor } };

		RD_SET(host.cpu.family, cpus[i].family);
		RD_SET(host.cpu.model, cpus[i].model);
		assert_true(rd_nccl_between_cpus(&host) == cpus[i].bw);
	}
}

NCCL_TEST(other_makers_accelerators_are_not_driven)
{
	make_pxn(m);
	m->host.gpus[0].vendor = m->host.gpus[1].vendor = "Habana";
	nccl_judge(m);
	assert_int_equal(m->map.nccl.v[0].n_ports, 0);
	assert_string_equal(m->map.nccl.note, "NCCL does not support these accelerators");
	assert_gpudirect(m, 0, 0, "unknown: NCCL does not support");
	m->host.gpus[0].vendor = "AMD";
	assert_string_equal(nccl_first(m, 0), "mlx5_0");
}

NCCL_TEST(more_accelerators_than_any_host_has_are_not_predicted)
{
	for (unsigned i = 0; i < 65; i++) {
		char addr[16];

		snprintf(addr, sizeof(addr), "%02x:00.0", i + 1);
		made_gpu(&m->host, addr, -1, "pci0000:00", 0);
	}
	made_nic(&m->host, "mlx5_0", "f0:00.0", -1, "pci0000:00", 0, 200);
	nccl_judge(m);
	ASSERT_EACH(IS(m->map.nccl.n, 0), READS(m->map.nccl.note, "more than 64 accelerators: not predicted"));
}

static const char file[] =
	"<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">"
	"<pci busid=\"0000:10:00.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
	"<pci busid=\"0000:11:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
	"<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"><nvlink target=\"0000:05:00.0\" count=\"6\" tclass=\"0x068000\"/>"
	"<c2c bw=\"44712\" count=\"10\"/></gpu></pci>"
	"<pci busid=\"0000:12:00.0\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
	"<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\" guid=\"0x1\" gdr=\"1\"/></nic></pci></pci>"
	"<pci busid=\"0000:21:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
	"<gpu dev=\"1\" sm=\"90\" rank=\"1\" gdr=\"0\"><nvlink target=\"0000:11:00.0\" count=\"4\" tclass=\"0x030200\"/></gpu>"
	"</pci></cpu></system>";

static void read_file(const char *text, size_t size, struct rd_host *host)
{
	*host = (struct rd_host){ 0 };
	assert_int_equal(rd_collect_nccl_xml("file", text, size, host, NULL), 0);
}

NCCL_TEST(a_topology_file_says_what_sysfs_does_not)
{
	_cleanup_(rd_buf_deinit) struct rd_buf again = { 0 };

	read_file(file, strlen(file), &m->host);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(m->host.n_gpus, 2);
		assert_int_equal(m->host.gpus[0].sm.v, 90);
		assert_true(m->host.gpus[0].gdr.v && !m->host.gpus[1].gdr.v && m->host.gpus[1].gdr.known == RD_OK);
		assert_int_equal(m->host.gpus[0].n_nvlinks, 1);
		ASSERT_EACH(READS(m->host.gpus[0].nvlinks[0].target, ""),
			    READS(m->host.gpus[1].nvlinks[0].target, "0000:11:00.0"),
			    IS(m->host.gpus[1].nvlinks[0].n, 4));
		assert_true(m->host.gpus[0].c2c_gbytes.v > 447 && m->host.gpus[0].c2c_gbytes.v < 448);
		assert_true(m->host.ports[0].gdr.v);
		assert_gpudirect(m, 0, 0, "yes: gdr=\"1\" in the topology file");
		assert_gpudirect(m, 1, 0, "no: gdr=\"0\" in the topology file");
		if (round > 0)
			break;
		/* And again from what we write of it. */
		rd_nccl_xml_write(&m->host, &again);
		rd_host_deinit(&m->host);
		read_file(again.data, again.len, &m->host);
	}
}

NCCL_TEST(data_direct_functions_are_written_by_nccls_name)
{
	_cleanup_(rd_buf_deinit) struct rd_buf out = { 0 };

	make_grace(m);
	m->host.ibdevs[0].data_direct = made_bridge(&m->host, "43:00.0", -1, "pci0009:40", 0);
	rd_host_add_numa(&m->host)->id = 0;
	rd_nccl_xml_write(&m->host, &out);
	ASSERT_HAS(out.data, "busid=\"0000:43:00.0\"", "name=\"mlx5_0_dma\"");
	assert_null(strstr(out.data, "busid=\"0000:01:00.0\""));
}

NCCL_TEST(what_is_no_text_is_escaped_in_a_topology_file)
{
	_cleanup_(rd_buf_deinit) struct rd_buf out = { 0 };

	make_grace(m);
	free(m->host.ibdevs[0].sys_image_guid);
	m->host.ibdevs[0].sys_image_guid = strdup("00\x7f\xff<");
	rd_host_add_numa(&m->host)->id = 0;
	rd_nccl_xml_write(&m->host, &out);
	assert_non_null(strstr(out.data, " guid=\"0x00\\x7f\\xff&lt;\""));
}
