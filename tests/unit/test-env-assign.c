/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NCCL gives accelerators with variables set. */
#include "unit.h"

#include "analyse/env/envcheck.h"
#include "analyse/nccl/nccl.h"
#include "analyse/shared/distance.h"
#include "nccl-host.h"

/* Two NICs of a card on the accelerator's switch, a third behind another root port. */
static void make(struct made *m)
{
	int up, port;

	up = made_switch(&m->host, 0x20, "pci0000:20", 0);
	made_gpu(&m->host, "23:00.0", made_port_of(&m->host, up, 0), "pci0000:20", 0);
	port = made_port_of(&m->host, up, 1);
	made_nic(&m->host, "mlx5_0", "24:00.0", port, "pci0000:20", 0, 100);
	made_nic(&m->host, "mlx5_1", "24:00.1", port, "pci0000:20", 0, 100);
	made_nic(&m->host, "mlx5_2", "31:00.0", made_bridge(&m->host, "20:01.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 100);
	make_nvidia(m);
	load_module(m, "nvidia_peermem");
}

/* Takes "NAME=VALUE" lines; the NICs that the accelerator gets, or what is not changed. */
static void assert_nics(struct made *m, const char *variables, const char *expected)
{
	struct rd_effects effects = { 0 };
	struct rd_nicmap map = { 0 };
	bool allowed[3] = { false };
	char text[200] = "";

	rd_effects_own(&effects, strdup(variables), strlen(variables), '\n');
	rd_effects_sort(&effects);
	if (!rd_env_nccl_settings(&m->host, &effects, allowed, &m->settings)) {
		assert_string_equal("unchanged", expected);
		rd_effects_deinit(&effects);
		return;
	}
	rd_distance_fill(&m->host, &map);
	rd_nccl_fill(&m->host, &m->system, &m->settings, &map);
	for (size_t p = 0; p < map.nccl.v[0].n_ports; p++) {
		strcat(text, p ? " " : "");
		strcat(text, m->host.ibdevs[m->host.ports[map.nccl.v[0].ports[p]].ibdev].name);
	}
	if (map.nccl.v[0].n_ports && !rd_nicmap_pair(&map, 0, (size_t)map.nccl.v[0].ports[0])->gpudirect.v)
		strcat(text, " copied");
	assert_string_equal(text, expected);
	rd_nicmap_deinit(&map);
	rd_effects_deinit(&effects);
}

NCCL_TEST(variables_change_what_an_accelerator_gets)
{
	make(m);
	assert_nics(m, "NCCL_DEBUG=INFO", "unchanged");
	assert_nics(m, "NCCL_IB_MERGE_NICS=1\nNCCL_PXN_DISABLE=0\nNCCL_NET_MERGE_LEVEL=PORT\nNCCL_NET_GDR_LEVEL=P2C",
		    "unchanged");
	assert_nics(m, "NCCL_IB_HCA=mlx5", "mlx5_0 mlx5_1");
	assert_nics(m, "NCCL_IB_HCA=^mlx5_0", "mlx5_1");
	assert_nics(m, "NCCL_IB_HCA==mlx5_2", "mlx5_2 copied");
	assert_nics(m, "NCCL_IB_HCA==mlx5_2\nNCCL_NET_GDR_LEVEL=PHB", "mlx5_2");
	assert_nics(m, "NCCL_IB_HCA==mlx5_2\nNCCL_NET_GDR_LEVEL=3", "mlx5_2");
	assert_nics(m, "NCCL_IB_MERGE_NICS=0", "mlx5_0 mlx5_1");
	assert_nics(m, "NCCL_IB_MERGE_NICS=0\nNCCL_IB_HCA=mlx5_1,mlx5_2", "mlx5_1");
	assert_nics(m, "NCCL_NET_MERGE_LEVEL=PHB", "mlx5_0 mlx5_1 mlx5_2");
	assert_nics(m, "NCCL_NET_MERGE_LEVEL=nonsense", "mlx5_0 mlx5_1");
	assert_nics(m, "NCCL_IB_HCA==nothing", "");
}

NCCL_TEST(without_rdma_there_is_nothing_to_choose)
{
	make(m);
	assert_nics(m, "NCCL_IB_HCA==mlx5_2\nNCCL_NET=Socket", "unchanged");
	assert_nics(m, "NCCL_IB_HCA==mlx5_2\nNCCL_IB_DISABLE=1", "unchanged");
	assert_nics(m, "NCCL_IB_HCA==mlx5_2\nNCCL_IB_DISABLE=0", "mlx5_2 copied");
}

NCCL_TEST(gpudirect_to_the_nearest_can_be_switched_off)
{
	make(m);
	/* LOC, and then the NICs on the switch are no nearer than the third, as NCCL sees it. */
	assert_nics(m, "NCCL_NET_GDR_LEVEL=LOC", "mlx5_0 mlx5_1 copied");
	assert_nics(m, "NCCL_NET_GDR_LEVEL=0", "mlx5_0 mlx5_1 copied");
	assert_nics(m, "NCCL_NET_GDR_LEVEL=pix", "unchanged");
}
