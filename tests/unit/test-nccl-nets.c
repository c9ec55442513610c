/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NICs NCCL makes of ports, rule by rule: tests/rules/NCCL.md names where each was read. */
#include "unit.h"

#include "nccl-host.h"

NCCL_TEST(nics_of_one_bus_are_one)
{
	int port;

	port = made_bridge(&m->host, "20:00.0", -1, "pci0000:20", 0);
	made_gpu(&m->host, "30:00.0", port, "pci0000:20", 0);
	port = made_bridge(&m->host, "20:01.0", -1, "pci0000:20", 0);
	made_nic(&m->host, "mlx5_0", "25:00.0", port, "pci0000:20", 0, 200);
	made_nic(&m->host, "mlx5_1", "25:00.1", port, "pci0000:20", 0, 200);
	/* Virtual functions, whose device numbers go on counting. */
	made_nic(&m->host, "mlx5_2", "25:00.2", port, "pci0000:20", 0, 200);
	made_nic(&m->host, "mlx5_3", "25:01.1", port, "pci0000:20", 0, 200);
	made_nic(&m->host, "mlx5_4", "26:00.0", made_bridge(&m->host, "20:02.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 200);
	assert_nets(m, "mlx5_0+mlx5_1+mlx5_2+mlx5_3 mlx5_4");
	assert_true(m->map.nccl_nets.v[0].gbps == 800);
	/* NCCL_IB_MERGE_VFS=0: only functions of one device. */
	m->settings.merge_vfs = false;
	made_bridge(&m->host, "25:01.0", port, "pci0000:20", 0);
	assert_nets(m, "mlx5_0+mlx5_1+mlx5_2 mlx5_3 mlx5_4");
	/* NCCL_IB_MERGE_NICS=0, NCCL_NET_MERGE_LEVEL=LOC */
	m->settings.merge = false;
	assert_nets(m, "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4");
	/* NCCL_NET_MERGE_LEVEL=PHB */
	m->settings = rd_nccl_defaults();
	m->settings.merge_level = RD_PATH_PHB;
	assert_nets(m, "mlx5_0+mlx5_1+mlx5_2+mlx5_3+mlx5_4");
}

NCCL_TEST(no_more_than_eight_go_together)
{
	int port;

	port = made_bridge(&m->host, "20:00.0", -1, "pci0000:20", 0);
	for (unsigned i = 0; i < 10; i++) {
		char name[16], addr[16];

		snprintf(name, sizeof(name), "v%u", i);
		snprintf(addr, sizeof(addr), "25:%02x.%u", i / 8, i % 8);
		made_nic(&m->host, name, addr, port, "pci0000:20", 0, 50);
	}
	assert_nets(m, "v0+v1+v2+v3+v4+v5+v6+v7 v8+v9");
}

NCCL_TEST(link_layers_stay_apart)
{
	int port;

	port = made_bridge(&m->host, "20:00.0", -1, "pci0000:20", 0);
	made_nic(&m->host, "mlx5_0", "25:00.0", port, "pci0000:20", 0, 200);
	made_nic(&m->host, "mlx5_1", "25:00.1", port, "pci0000:20", 0, 200);
	free(m->host.ports[1].link_layer);
	m->host.ports[1].link_layer = strdup("Ethernet");
	assert_nets(m, "mlx5_0 mlx5_1");
}

NCCL_TEST(ports_that_are_down_excluded_or_efa_are_none)
{
	const bool allowed[] = { true, true, true, false };

	for (unsigned i = 0; i < 4; i++) {
		char name[16], addr[16];

		snprintf(addr, sizeof(addr), "20:0%u.0", i);
		snprintf(name, sizeof(name), "nic%u", i);
		made_nic(&m->host, name,
			 i == 0 ? "25:00.0" :
			 i == 1 ? "26:00.0" :
			 i == 2 ? "27:00.0" :
				  "28:00.0",
			 made_bridge(&m->host, addr, -1, "pci0000:20", 0), "pci0000:20", 0, 100);
	}
	free(m->host.ports[0].state);
	m->host.ports[0].state = strdup("DOWN");
	m->host.ibdevs[1].driver = strdup("efa");
	m->settings.allowed = allowed;
	assert_nets(m, "nic2");
}

/* A guest whose devices all stand on bus 0: NCCL takes the host bridge, 00:00.0, for the place of all of them. */
NCCL_TEST(a_flat_guest_has_one_nic)
{
	struct rd_pci *bridge;

	made_bridge(&m->host, "00:00.0", -1, "pci0000:00", 0);
	bridge = &m->host.pcis[0];
	bridge->max = bridge->now = (struct rd_pcie_link){ 0 };
	made_gpu(&m->host, "00:04.0", -1, "pci0000:00", 0);
	made_nic(&m->host, "mlx5_0", "00:05.0", -1, "pci0000:00", 0, 400);
	made_nic(&m->host, "mlx5_1", "00:06.0", -1, "pci0000:00", 0, 400);
	assert_nets(m, "mlx5_0+mlx5_1");
	/* It names no link, which counts as sixteen lanes of 8 GT/s. */
	assert_non_null(strstr(m->map.nccl.v[0].why, "12.0 GB/s"));
}

/* A virtual function alone on its bus: there is no function 0 of device 0, and NCCL finds no PCI device. */
NCCL_TEST(without_function_0_the_first_cpu_it_is)
{
	int up, port;

	up = made_switch(&m->host, 0x20, "pci0000:20", 1);
	made_gpu(&m->host, "23:00.0", made_port_of(&m->host, up, 0), "pci0000:20", 1);
	port = made_port_of(&m->host, up, 1);
	made_nic(&m->host, "mlx5_0", "24:01.2", port, "pci0000:20", 1, 200);
	assert_string_equal(nccl_path(m, 0, 0), "PHB");
	m->settings.merge_vfs = false;
	/* Function 2 of its device becomes function 0, which is not there either. */
	assert_string_equal(nccl_path(m, 0, 0), "PHB");
	made_bridge(&m->host, "24:01.0", port, "pci0000:20", 1);
	assert_string_equal(nccl_path(m, 0, 0), "PIX");
}

/* The process of the first accelerator comes first, and its CPU is where all see the NIC. */
NCCL_TEST(a_nic_without_a_function_is_on_one_cpu)
{
	made_gpu(&m->host, "23:00.0", -1, "pci0000:20", 1);
	made_gpu(&m->host, "83:00.0", -1, "pci0000:80", 0);
	made_nic(&m->host, "rxe0", NULL, -1, NULL, -1, 25);
	ASSERT_EACH(READS(nccl_path(m, 0, 0), "PHB"), READS(nccl_path(m, 1, 0), "SYS"));
}

/* A topology file can have ports as functions of their own: what they are merged into stands behind all others below that node, and
 * before those below the next. */
NCCL_TEST(merged_functions_of_a_file_come_last_below_their_node)
{
	int port;

	m->host.from_topology_file = true;
	port = made_bridge(&m->host, "20:00.0", -1, "pci0000:20", 0);
	made_gpu(&m->host, "30:00.0", port, "pci0000:20", 0);
	made_nic(&m->host, "mlx5_0", "25:00.0", port, "pci0000:20", 0, 200);
	made_nic(&m->host, "mlx5_1", "25:00.1", port, "pci0000:20", 0, 200);
	made_nic(&m->host, "mlx5_2", "26:00.0", port, "pci0000:20", 0, 200);
	assert_nets(m, "mlx5_2 mlx5_0+mlx5_1");
	made_nic(&m->host, "mlx5_3", "27:00.0", made_bridge(&m->host, "40:00.0", -1, "pci0000:40", 1), "pci0000:40", 1,
		 200);
	assert_nets(m, "mlx5_2 mlx5_0+mlx5_1 mlx5_3");
}

/* Soft devices, and those whose place NCCL does not find: all hang on the CPU. That makes them one, for which NCCL then has no
 * place; a single one it keeps. */
NCCL_TEST(merged_nics_without_a_function_are_lost)
{
	made_gpu(&m->host, "23:00.0", -1, "pci0000:20", 0);
	made_nic(&m->host, "rxe0", NULL, -1, NULL, 0, 25);
	made_nic(&m->host, "mlx5_0", "25:00.0", -1, "pci0000:20", 0, 100);
	assert_nets(m, "mlx5_0 rxe0");
	made_nic(&m->host, "rxe1", NULL, -1, NULL, 0, 25);
	assert_nets(m, "mlx5_0");
	m->settings.merge = false;
	assert_nets(m, "mlx5_0 rxe0 rxe1");
}

NCCL_TEST(cpus_come_in_the_order_in_which_nccl_meets_them)
{
	/* The first accelerator is on node 1: its NICs come first, although their addresses are higher. */
	made_gpu(&m->host, "81:00.0", made_bridge(&m->host, "80:00.0", -1, "pci0000:80", 1), "pci0000:80", 1);
	made_nic(&m->host, "low", "21:00.0", made_bridge(&m->host, "20:00.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 200);
	made_nic(&m->host, "high", "91:00.0", made_bridge(&m->host, "80:01.0", -1, "pci0000:80", 1), "pci0000:80", 1,
		 200);
	assert_nets(m, "high low");
}
