/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's rules, one by one: which NICs it makes of ports, how it gets to them, whom it gives them. tests/rules/NCCL.md names
 * where each was read. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analyse/distance.h"
#include "analyse/nccl-priv.h"
#include "analyse/nccl-xml.h"
#include "collect/host.h"
#include "nicmap-host.h"

/* A host, and what NCCL makes of it. */
struct made {
	struct rd_host host;
	struct rd_nccl_settings settings;
	struct rd_system system;
	bool with_system;
	struct rd_nicmap map;
};

static void start(struct made *m)
{
	*m = (struct made){ .settings = rd_nccl_defaults() };
}

static void judge(struct made *m)
{
	rd_nicmap_deinit(&m->map);
	assert_int_equal(rd_distance_fill(&m->host, &m->map), 0);
	assert_int_equal(rd_nccl_fill(&m->host, m->with_system ? &m->system : NULL, &m->settings, &m->map), 0);
}

static void stop(struct made *m)
{
	rd_nicmap_deinit(&m->map);
	rd_host_deinit(&m->host);
	rd_system_deinit(&m->system);
}

/* "mlx5_0+mlx5_1 mlx5_2" */
static void assert_nets(struct made *m, const char *expected)
{
	char text[1024] = "";

	judge(m);
	for (size_t i = 0; i < m->map.nccl_nets.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 m->map.nccl_nets.v[i].name);
	assert_string_equal(text, expected);
}

static const char *path(struct made *m, size_t gpu, size_t ibdev)
{
	judge(m);
	return rd_path_name(rd_nicmap_pair(&m->map, gpu, ibdev)->nccl);
}

static const char *first(struct made *m, size_t gpu)
{
	judge(m);
	assert_true(m->map.nccl.v[gpu].n_ports > 0);
	return m->host.ibdevs[m->host.ports[m->map.nccl.v[gpu].ports[0]].ibdev].name;
}

/* "yes: nvidia_peermem" */
static void assert_gpudirect(struct made *m, size_t gpu, size_t ibdev, const char *expected)
{
	const struct rd_pair *pair;
	char text[200];

	judge(m);
	pair = rd_nicmap_pair(&m->map, gpu, ibdev);
	snprintf(text, sizeof(text), "%s: %s",
		 pair->gpudirect.known != RD_OK ? "unknown" :
		 pair->gpudirect.v		? "yes" :
						  "no",
		 pair->gpudirect_why);
	assert_memory_equal(text, expected, strlen(expected));
}

/* Accelerators are NVIDIA's from here on. */
static void make_nvidia(struct made *m)
{
	for (size_t g = 0; g < m->host.n_gpus; g++)
		m->host.gpus[g].vendor = "NVIDIA";
}

static void load(struct made *m, const char *module)
{
	m->with_system = m->system.modules_known = true;
	assert_int_equal(rd_grow(&m->system.modules, &m->system.cap_modules, m->system.n_modules + 1,
				 sizeof(*m->system.modules)),
			 0);
	m->system.modules[m->system.n_modules++] = (struct rd_module){ .name = strdup(module) };
}

static void nics_of_one_bus_are_one(void **state)
{
	struct made m;
	int port;

	(void)state;
	start(&m);
	port = made_bridge(&m.host, "20:00.0", -1, "pci0000:20", 0);
	made_gpu(&m.host, "30:00.0", port, "pci0000:20", 0);
	port = made_bridge(&m.host, "20:01.0", -1, "pci0000:20", 0);
	made_nic(&m.host, "mlx5_0", "25:00.0", port, "pci0000:20", 0, 200);
	made_nic(&m.host, "mlx5_1", "25:00.1", port, "pci0000:20", 0, 200);
	/* Virtual functions, whose device numbers go on counting. */
	made_nic(&m.host, "mlx5_2", "25:00.2", port, "pci0000:20", 0, 200);
	made_nic(&m.host, "mlx5_3", "25:01.1", port, "pci0000:20", 0, 200);
	made_nic(&m.host, "mlx5_4", "26:00.0", made_bridge(&m.host, "20:02.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 200);
	assert_nets(&m, "mlx5_0+mlx5_1+mlx5_2+mlx5_3 mlx5_4");
	assert_true(m.map.nccl_nets.v[0].gbps == 800);
	/* NCCL_IB_MERGE_VFS=0: only functions of one device. */
	m.settings.merge_vfs = false;
	made_bridge(&m.host, "25:01.0", port, "pci0000:20", 0);
	assert_nets(&m, "mlx5_0+mlx5_1+mlx5_2 mlx5_3 mlx5_4");
	/* NCCL_IB_MERGE_NICS=0, NCCL_NET_MERGE_LEVEL=LOC */
	m.settings.merge = false;
	assert_nets(&m, "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4");
	/* NCCL_NET_MERGE_LEVEL=PHB */
	m.settings = rd_nccl_defaults();
	m.settings.merge_level = RD_PATH_PHB;
	assert_nets(&m, "mlx5_0+mlx5_1+mlx5_2+mlx5_3+mlx5_4");
	stop(&m);
}

static void no_more_than_eight_go_together(void **state)
{
	struct made m;
	int port;

	(void)state;
	start(&m);
	port = made_bridge(&m.host, "20:00.0", -1, "pci0000:20", 0);
	for (unsigned i = 0; i < 10; i++) {
		char name[16], addr[16];

		snprintf(name, sizeof(name), "v%u", i);
		snprintf(addr, sizeof(addr), "25:%02x.%u", i / 8, i % 8);
		made_nic(&m.host, name, addr, port, "pci0000:20", 0, 50);
	}
	assert_nets(&m, "v0+v1+v2+v3+v4+v5+v6+v7 v8+v9");
	stop(&m);
}

static void link_layers_stay_apart(void **state)
{
	struct made m;
	int port;

	(void)state;
	start(&m);
	port = made_bridge(&m.host, "20:00.0", -1, "pci0000:20", 0);
	made_nic(&m.host, "mlx5_0", "25:00.0", port, "pci0000:20", 0, 200);
	made_nic(&m.host, "mlx5_1", "25:00.1", port, "pci0000:20", 0, 200);
	free(m.host.ports[1].link_layer);
	m.host.ports[1].link_layer = strdup("Ethernet");
	assert_nets(&m, "mlx5_0 mlx5_1");
	stop(&m);
}

static void ports_that_are_down_excluded_or_efa_are_none(void **state)
{
	const bool allowed[] = { true, true, true, false };
	struct made m;

	(void)state;
	start(&m);
	for (unsigned i = 0; i < 4; i++) {
		char name[16], addr[16];

		snprintf(addr, sizeof(addr), "20:0%u.0", i);
		snprintf(name, sizeof(name), "nic%u", i);
		made_nic(&m.host, name,
			 i == 0 ? "25:00.0" :
			 i == 1 ? "26:00.0" :
			 i == 2 ? "27:00.0" :
				  "28:00.0",
			 made_bridge(&m.host, addr, -1, "pci0000:20", 0), "pci0000:20", 0, 100);
	}
	free(m.host.ports[0].state);
	m.host.ports[0].state = strdup("DOWN");
	m.host.ibdevs[1].driver = strdup("efa");
	m.settings.allowed = allowed;
	assert_nets(&m, "nic2");
	stop(&m);
}

/* A guest whose devices all stand on bus 0: NCCL takes the host bridge, 00:00.0, for the place of all of them. */
static void a_flat_guest_has_one_nic(void **state)
{
	struct made m;
	struct rd_pci *bridge;

	(void)state;
	start(&m);
	made_bridge(&m.host, "00:00.0", -1, "pci0000:00", 0);
	bridge = &m.host.pcis[0];
	bridge->max = bridge->now = (struct rd_pcie_link){ 0 };
	made_gpu(&m.host, "00:04.0", -1, "pci0000:00", 0);
	made_nic(&m.host, "mlx5_0", "00:05.0", -1, "pci0000:00", 0, 400);
	made_nic(&m.host, "mlx5_1", "00:06.0", -1, "pci0000:00", 0, 400);
	assert_nets(&m, "mlx5_0+mlx5_1");
	/* It names no link, which counts as sixteen lanes of 8 GT/s. */
	assert_non_null(strstr(m.map.nccl.v[0].why, "12.0 GB/s"));
	stop(&m);
}

/* A virtual function alone on its bus: there is no function 0 of device 0, and NCCL finds no PCI device. */
static void without_function_0_the_first_cpu_it_is(void **state)
{
	struct made m;
	int up, port;

	(void)state;
	start(&m);
	up = made_switch(&m.host, 0x20, "pci0000:20", 1);
	made_gpu(&m.host, "23:00.0", made_port_of(&m.host, up, 0), "pci0000:20", 1);
	port = made_port_of(&m.host, up, 1);
	made_nic(&m.host, "mlx5_0", "24:01.2", port, "pci0000:20", 1, 200);
	assert_string_equal(path(&m, 0, 0), "PHB");
	m.settings.merge_vfs = false;
	/* Function 2 of its device becomes function 0, which is not there either. */
	assert_string_equal(path(&m, 0, 0), "PHB");
	made_bridge(&m.host, "24:01.0", port, "pci0000:20", 1);
	assert_string_equal(path(&m, 0, 0), "PIX");
	stop(&m);
}

/* Soft devices, and those whose place NCCL does not find: all hang on the CPU, and that makes them one. */
static void nics_without_a_function_are_one(void **state)
{
	struct made m;

	(void)state;
	start(&m);
	made_gpu(&m.host, "23:00.0", -1, "pci0000:20", 0);
	made_nic(&m.host, "rxe0", NULL, -1, NULL, 0, 25);
	made_nic(&m.host, "mlx5_0", "25:00.0", -1, "pci0000:20", 0, 100);
	made_nic(&m.host, "rxe1", NULL, -1, NULL, 0, 25);
	assert_nets(&m, "mlx5_0 rxe0+rxe1");
	stop(&m);
}

/* Two accelerators on one switch, of which one has its NIC beside it, behind another root port the other accelerator. */
static void make_pxn(struct made *m)
{
	int up;

	start(m);
	up = made_switch(&m->host, 0x20, "pci0000:20", 0);
	made_gpu(&m->host, "23:00.0", made_port_of(&m->host, up, 0), "pci0000:20", 0);
	made_nic(&m->host, "mlx5_0", "24:00.0", made_port_of(&m->host, up, 1), "pci0000:20", 0, 200);
	made_gpu(&m->host, "31:00.0", made_bridge(&m->host, "20:01.0", -1, "pci0000:20", 0), "pci0000:20", 0);
	make_nvidia(m);
}

static void nvlink_leads_to_a_neighbours_nic(void **state)
{
	struct made m;

	(void)state;
	make_pxn(&m);
	assert_string_equal(path(&m, 1, 0), "PHB");
	m.host.has_nvswitch = true;
	assert_string_equal(path(&m, 1, 0), "PXN");
	assert_int_equal(rd_nicmap_pair(&m.map, 1, 0)->via, 0);
	assert_string_equal(m.map.nccl.v[1].why, "PXN over the NVLink of GPU0, 25.0 GB/s");
	/* The way back does not lead over it: the NIC's nearest accelerator stays the first. */
	assert_string_equal(path(&m, 0, 0), "PIX");
	/* NCCL_PXN_DISABLE=1 */
	m.settings.pxn = false;
	assert_string_equal(path(&m, 1, 0), "PHB");
	stop(&m);
}

static void nvlinks_of_a_topology_file_count(void **state)
{
	struct made m;
	struct rd_gpu *gpu;

	(void)state;
	make_pxn(&m);
	gpu = &m.host.gpus[1];
	assert_int_equal(rd_grow(&gpu->nvlinks, &gpu->cap_nvlinks, 1, sizeof(*gpu->nvlinks)), 0);
	gpu->nvlinks[gpu->n_nvlinks++] = (struct rd_nvlink){ .target = "0000:99:00.0", .n = 4 };
	assert_string_equal(path(&m, 1, 0), "PHB");
	/* From the accelerator beside the NIC, as NCCL asks. */
	gpu = &m.host.gpus[0];
	assert_int_equal(rd_grow(&gpu->nvlinks, &gpu->cap_nvlinks, 1, sizeof(*gpu->nvlinks)), 0);
	gpu->nvlinks[gpu->n_nvlinks++] = (struct rd_nvlink){ .target = "0000:31:00.0", .n = 4 };
	assert_string_equal(path(&m, 1, 0), "PXN");
	stop(&m);
}

static void pxn_needs_gpudirect_beside_the_nic(void **state)
{
	struct made m;

	(void)state;
	make_pxn(&m);
	m.host.has_nvswitch = true;
	load(&m, "nvidia");
	RD_SET(m.system.nvidia_open, false);
	assert_string_equal(path(&m, 1, 0), "PHB");
	assert_gpudirect(&m, 0, 0, "no: nvidia_peermem is not loaded, and DMA-BUF is not available");
	load(&m, "nvidia_peermem");
	assert_string_equal(path(&m, 1, 0), "PXN");
	assert_gpudirect(&m, 1, 0, "yes: nvidia_peermem");
	stop(&m);
}

/* What is on one switch counts as no nearer than what is on one processor: all are as good. */
static void without_gpudirect_the_way_leads_through_the_processor(void **state)
{
	struct made m;

	(void)state;
	make_pxn(&m);
	made_nic(&m.host, "mlx5_1", "41:00.0", made_bridge(&m.host, "20:02.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 200);
	assert_string_equal(path(&m, 0, 0), "PIX");
	assert_int_equal(m.map.nccl.v[0].n_ports, 1);
	load(&m, "nvidia");
	RD_SET(m.system.nvidia_open, false);
	assert_string_equal(path(&m, 0, 0), "PHB");
	assert_non_null(strstr(m.map.nccl.v[0].why, "2 NICs as good, dealt out among 2"));
	stop(&m);
}

static void gpudirect_by_what_and_how_far(void **state)
{
	struct made m;

	(void)state;
	make_pxn(&m);
	assert_gpudirect(&m, 0, 0, "unknown: the topology file does not say");
	assert_gpudirect(&m, 1, 0, "no: PHB is farther than NCCL_NET_GDR_LEVEL allows");
	m.with_system = true;
	assert_gpudirect(&m, 0, 0, "unknown: /proc/modules could not be read");
	load(&m, "nvidia");
	assert_gpudirect(&m, 0, 0,
			 "unknown: nvidia_peermem is not loaded; could not determine whether the nvidia driver");
	RD_SET(m.system.nvidia_open, true);
	assert_gpudirect(&m, 0, 0, "unknown: nvidia_peermem is not loaded; could not determine whether this kernel's");
	RD_SET(m.system.dmabuf, true);
	assert_gpudirect(&m, 0, 0, "yes: DMA-BUF");
	/* NCCL_NET_GDR_LEVEL=PHB and LOC */
	m.settings.gdr_level = RD_PATH_PHB;
	assert_gpudirect(&m, 1, 0, "yes: DMA-BUF");
	m.settings.gdr_level = RD_PATH_UNKNOWN;
	assert_gpudirect(&m, 0, 0, "no: ");
	m.settings = rd_nccl_defaults();
	RD_SET(m.host.ports[0].gdr, false);
	assert_gpudirect(&m, 0, 0, "no: gdr=\"0\" at this NIC");
	m.host.gpus[0].name = strdup("NVIDIA GB10");
	m.host.ports[0].gdr.known = RD_ABSENT;
	assert_gpudirect(&m, 0, 0, "no: GB10 does not support");
	stop(&m);
}

/* Grace: the NIC stands on a root port of its own, the accelerator's PCI link is narrow, its C2C is not. */
static void make_grace(struct made *m)
{
	start(m);
	m->host.cpu.arch = strdup("arm64");
	made_gpu(&m->host, "0009:01:00.0", made_bridge(&m->host, "0009:00:00.0", -1, "pci0009:00", 0), "pci0009:00", 0);
	RD_SET(m->host.pcis[m->host.gpus[0].pci].now.width, 1);
	made_nic(&m->host, "mlx5_0", "0000:01:00.0", made_bridge(&m->host, "0000:00:00.0", -1, "pci0000:00", 0),
		 "pci0000:00", 0, 400);
	make_nvidia(m);
	m->with_system = true;
	load(m, "nvidia_peermem");
}

static void c2c_makes_p2c(void **state)
{
	struct made m;

	(void)state;
	make_grace(&m);
	assert_string_equal(path(&m, 0, 0), "PHB");
	assert_gpudirect(&m, 0, 0, "no: PHB is farther");
	m.host.gpus[0].name = strdup("NVIDIA GH200 480GB");
	assert_string_equal(path(&m, 0, 0), "P2C");
	assert_non_null(strstr(m.map.nccl.v[0].why, "48.0 GB/s"));
	assert_gpudirect(&m, 0, 0, "yes: nvidia_peermem");
	/* NCCL_NET_GDR_C2C=0 */
	m.settings.gdr_level = RD_PATH_PXB;
	assert_gpudirect(&m, 0, 0, "no: farther than");
	stop(&m);
}

static void a_data_direct_function_is_the_place(void **state)
{
	struct made m;
	int up;

	(void)state;
	make_grace(&m);
	/* The switch of the card holds both the accelerator's port and the data direct function. */
	up = made_switch(&m.host, 0x40, "pci0009:40", 0);
	m.host.pcis[m.host.gpus[0].pci].parent = made_port_of(&m.host, up, 0);
	assert_string_equal(path(&m, 0, 0), "PHB");
	assert_nets(&m, "mlx5_0");
	m.host.ibdevs[0].data_direct = made_bridge(&m.host, "43:00.0", made_port_of(&m.host, up, 1), "pci0009:40", 0);
	assert_nets(&m, "mlx5_0_dma");
	assert_true(m.map.nccl_nets.v[0].data_direct);
	assert_string_equal(path(&m, 0, 0), "PIX");
	stop(&m);
}

/* Upstream and downstream ports of PEX89000: the inner switches of one chip are no step of their own. */
static void a_pex_switch_of_two_levels_is_one(void **state)
{
	static const uint16_t subdevices[] = { 0x0072, 0x1003 };
	struct made m;
	int outer, ports[2], inner[2];

	(void)state;
	start(&m);
	outer = made_switch(&m.host, 0x20, "pci0000:20", 0);
	for (unsigned i = 0; i < 2; i++) {
		char addr[16];

		ports[i] = made_port_of(&m.host, outer, i);
		snprintf(addr, sizeof(addr), "%02x:00.0", 0x30 + 0x10 * i);
		inner[i] = made_bridge(&m.host, addr, ports[i], "pci0000:20", 0);
	}
	made_gpu(&m.host, "33:00.0", made_port_of(&m.host, inner[0], 0), "pci0000:20", 0);
	made_nic(&m.host, "mlx5_0", "43:00.0", made_port_of(&m.host, inner[1], 0), "pci0000:20", 0, 200);
	assert_string_equal(path(&m, 0, 0), "PXB");
	for (size_t i = 0; i < m.host.n_pcis; i++) {
		struct rd_pci *pci = &m.host.pcis[i];

		RD_SET(pci->vendor, 0x1000);
		RD_SET(pci->device, 0xc030);
		RD_SET(pci->subvendor, 0x1000);
		RD_SET(pci->subdevice, subdevices[(int)i != outer]);
	}
	assert_string_equal(path(&m, 0, 0), "PIX");
	stop(&m);
}

static void processors_are_told_apart(void **state)
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

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(cpus); i++) {
		struct rd_host host = { .cpu = { .arch = (char *)cpus[i].arch, .vendor = (char *)cpus[i].vendor } };

		RD_SET(host.cpu.family, cpus[i].family);
		RD_SET(host.cpu.model, cpus[i].model);
		assert_true(rd_nccl_between_cpus(&host) == cpus[i].bw);
	}
}

static void cpus_come_in_the_order_in_which_nccl_meets_them(void **state)
{
	struct made m;

	(void)state;
	start(&m);
	/* The first accelerator is on node 1: its NICs come first, although their addresses are higher. */
	made_gpu(&m.host, "81:00.0", made_bridge(&m.host, "80:00.0", -1, "pci0000:80", 1), "pci0000:80", 1);
	made_nic(&m.host, "low", "21:00.0", made_bridge(&m.host, "20:00.0", -1, "pci0000:20", 0), "pci0000:20", 0, 200);
	made_nic(&m.host, "high", "91:00.0", made_bridge(&m.host, "80:01.0", -1, "pci0000:80", 1), "pci0000:80", 1, 200);
	assert_nets(&m, "high low");
	stop(&m);
}

static void other_makers_accelerators_are_not_driven(void **state)
{
	struct made m;

	(void)state;
	make_pxn(&m);
	m.host.gpus[0].vendor = m.host.gpus[1].vendor = "Habana";
	judge(&m);
	assert_int_equal(m.map.nccl.v[0].n_ports, 0);
	assert_string_equal(m.map.nccl.note, "NCCL does not drive these accelerators");
	assert_gpudirect(&m, 0, 0, "unknown: NCCL does not drive");
	m.host.gpus[0].vendor = "AMD";
	assert_string_equal(first(&m, 0), "mlx5_0");
	stop(&m);
}

static void more_accelerators_than_any_host_has_are_not_predicted(void **state)
{
	struct made m;

	(void)state;
	start(&m);
	for (unsigned i = 0; i < 65; i++) {
		char addr[16];

		snprintf(addr, sizeof(addr), "%02x:00.0", i + 1);
		made_gpu(&m.host, addr, -1, "pci0000:00", 0);
	}
	made_nic(&m.host, "mlx5_0", "f0:00.0", -1, "pci0000:00", 0, 200);
	judge(&m);
	assert_int_equal(m.map.nccl.n, 0);
	assert_string_equal(m.map.nccl.note, "more than 64 accelerators: not predicted");
	stop(&m);
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

static void a_topology_file_says_what_sysfs_does_not(void **state)
{
	struct made m;
	struct rd_buf again = { 0 };

	(void)state;
	start(&m);
	read_file(file, strlen(file), &m.host);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(m.host.n_gpus, 2);
		assert_int_equal(m.host.gpus[0].sm.v, 90);
		assert_true(m.host.gpus[0].gdr.v && !m.host.gpus[1].gdr.v && m.host.gpus[1].gdr.known == RD_OK);
		assert_int_equal(m.host.gpus[0].n_nvlinks, 1);
		assert_string_equal(m.host.gpus[0].nvlinks[0].target, "");
		assert_string_equal(m.host.gpus[1].nvlinks[0].target, "0000:11:00.0");
		assert_int_equal(m.host.gpus[1].nvlinks[0].n, 4);
		assert_true(m.host.gpus[0].c2c_gbytes.v > 447 && m.host.gpus[0].c2c_gbytes.v < 448);
		assert_true(m.host.ports[0].gdr.v);
		assert_gpudirect(&m, 0, 0, "yes: gdr=\"1\" in the topology file");
		assert_gpudirect(&m, 1, 0, "no: gdr=\"0\" in the topology file");
		if (round > 0)
			break;
		/* And again from what we write of it. */
		assert_int_equal(rd_nccl_xml_write(&m.host, &again), 0);
		rd_host_deinit(&m.host);
		read_file(again.data, again.len, &m.host);
	}
	rd_buf_deinit(&again);
	stop(&m);
}

static void data_direct_functions_are_written_by_nccls_name(void **state)
{
	struct made m;
	struct rd_buf out = { 0 };

	(void)state;
	make_grace(&m);
	m.host.ibdevs[0].data_direct = made_bridge(&m.host, "43:00.0", -1, "pci0009:40", 0);
	rd_host_add_numa(&m.host)->id = 0;
	assert_int_equal(rd_nccl_xml_write(&m.host, &out), 0);
	assert_non_null(strstr(out.data, "busid=\"0000:43:00.0\""));
	assert_non_null(strstr(out.data, "name=\"mlx5_0_dma\""));
	assert_null(strstr(out.data, "busid=\"0000:01:00.0\""));
	rd_buf_deinit(&out);
	stop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nics_of_one_bus_are_one),
		TEST(no_more_than_eight_go_together),
		TEST(link_layers_stay_apart),
		TEST(ports_that_are_down_excluded_or_efa_are_none),
		TEST(a_flat_guest_has_one_nic),
		TEST(without_function_0_the_first_cpu_it_is),
		TEST(nics_without_a_function_are_one),
		TEST(nvlink_leads_to_a_neighbours_nic),
		TEST(nvlinks_of_a_topology_file_count),
		TEST(pxn_needs_gpudirect_beside_the_nic),
		TEST(without_gpudirect_the_way_leads_through_the_processor),
		TEST(gpudirect_by_what_and_how_far),
		TEST(c2c_makes_p2c),
		TEST(a_data_direct_function_is_the_place),
		TEST(a_pex_switch_of_two_levels_is_one),
		TEST(processors_are_told_apart),
		TEST(cpus_come_in_the_order_in_which_nccl_meets_them),
		TEST(other_makers_accelerators_are_not_driven),
		TEST(more_accelerators_than_any_host_has_are_not_predicted),
		TEST(a_topology_file_says_what_sysfs_does_not),
		TEST(data_direct_functions_are_written_by_nccls_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
