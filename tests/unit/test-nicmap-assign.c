/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Roles, and which NIC each library gives to whom: the cases that users published. */
#include "unit.h"

#include "analyse/nccl/nccl.h"
#include "analyse/nicmap/nicmap.h"
#include "nicmap-host.h"

static const char *first(const struct rd_host *host, const struct rd_choices *choices, size_t i)
{
	assert_true(i < choices->n);
	assert_true(choices->v[i].n_ports > 0);
	return host->ibdevs[host->ports[choices->v[i].ports[0]].ibdev].name;
}

static bool remarked(const struct rd_nicmap *map, const char *id)
{
	for (size_t i = 0; i < map->findings.n; i++)
		if (strcmp(map->findings.v[i].id, id) == 0)
			return true;
	for (size_t i = 0; i < map->backup_findings.n; i++)
		if (strcmp(map->backup_findings.v[i].id, id) == 0)
			return true;
	return false;
}

/* A switch with accelerators and NICs; NICs are called mlx5_N, counted on. */
static void add_group(struct rd_host *host, unsigned bus, const char *root, int numa, unsigned gpus, unsigned nics,
		      double gbps)
{
	int up = made_switch(host, bus, root, numa);
	char name[32], addr[16];

	for (unsigned i = 0; i < gpus; i++) {
		snprintf(addr, sizeof(addr), "%02x:00.0", bus + 3 + i);
		made_gpu(host, addr, made_port_of(host, up, i), root, numa);
	}
	for (unsigned i = 0; i < nics; i++) {
		snprintf(addr, sizeof(addr), "%02x:00.0", bus + 3 + gpus + i);
		snprintf(name, sizeof(name), "mlx5_%zu", host->n_ibdevs);
		made_nic(host, name, addr, made_port_of(host, up, gpus + i), root, numa, gbps);
	}
}

struct placed {
	struct rd_host host;
	struct rd_nicmap map;
};

static void done(struct placed *at)
{
	rd_nicmap_deinit(&at->map);
	rd_host_deinit(&at->host);
}

#define PLACED_TEST(name) TEST_ON(name, struct placed, at, { 0 }, done)

PLACED_TEST(two_accelerators_two_nics_one_switch)
{
	add_group(&at->host, 0x20, "pci0000:20", 0, 2, 2, 400);
	made_analyse(&at->host, 0, &at->map);
	assert_string_equal(first(&at->host, &at->map.nccl, 0), "mlx5_0");
	assert_string_equal(first(&at->host, &at->map.nccl, 1), "mlx5_1");
	/* The first pass gives both mlx5_0, the second moves the first of them. */
	assert_string_equal(first(&at->host, &at->map.nvshmem, 0), "mlx5_1");
	assert_string_equal(first(&at->host, &at->map.nvshmem, 1), "mlx5_0");
	assert_false(remarked(&at->map, "nic-shared"));
}

TEST(a_shared_nic_beside_an_idle_one_is_told)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	struct rd_nicmap map = { 0 };

	/* Three share two: nobody has two more users than the other. Then with a third NIC that one process leaves idle. */
	add_group(&host, 0x20, "pci0000:20", 0, 3, 2, 400);
	made_analyse(&host, 0, &map);
	assert_false(remarked(&map, "nic-shared"));
	/* NCCL counts its own number of an accelerator: two with even ones fall on the same NIC. */
	host.gpus[0].dev = 0;
	host.gpus[1].dev = 2;
	host.n_gpus = 2;
	made_analyse(&host, 0, &map);
	assert_string_equal(first(&host, &map.nccl, 0), first(&host, &map.nccl, 1));
	assert_true(remarked(&map, "nic-shared"));
	rd_nicmap_deinit(&map);
	host.n_gpus = 3;
}

PLACED_TEST(two_accelerators_per_nic)
{
	add_group(&at->host, 0x20, "pci0000:20", 0, 2, 1, 400);
	add_group(&at->host, 0x40, "pci0000:40", 1, 2, 1, 400);
	made_analyse(&at->host, 0, &at->map);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(first(&at->host, &at->map.nccl, i), i < 2 ? "mlx5_0" : "mlx5_1");
		assert_string_equal(first(&at->host, &at->map.nvshmem, i), i < 2 ? "mlx5_0" : "mlx5_1");
	}
	/* The only other one is farther away. */
	assert_false(remarked(&at->map, "nic-shared"));
}

static void make_dual_port(struct rd_host *host)
{
	int up = made_switch(host, 0x20, "pci0000:20", 0), port;

	made_gpu(host, "23:00.0", made_port_of(host, up, 0), "pci0000:20", 0);
	made_gpu(host, "24:00.0", made_port_of(host, up, 1), "pci0000:20", 0);
	port = made_port_of(host, up, 2);
	made_nic(host, "mlx5_0", "25:00.0", port, "pci0000:20", 0, 200);
	made_nic(host, "mlx5_1", "25:00.1", port, "pci0000:20", 0, 200);
}

PLACED_TEST(ports_of_a_dual_port_card)
{
	make_dual_port(&at->host);
	made_analyse(&at->host, 0, &at->map);
	/* NCCL fuses them; NVSHMEM deals them out. */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(at->map.nccl.v[i].n_ports, 2);
	assert_string_equal(first(&at->host, &at->map.nvshmem, 0), "mlx5_1");
	assert_string_equal(first(&at->host, &at->map.nvshmem, 1), "mlx5_0");
	assert_string_equal(at->host.ibdevs[at->host.ports[at->map.nvshmem.v[0].backup].ibdev].name, "mlx5_0");
	assert_non_null(strstr(at->map.nvshmem.v[0].backup_why, "both are on one card"));
}

PLACED_TEST(fewer_processes_than_accelerators)
{
	add_group(&at->host, 0x20, "pci0000:20", 0, 2, 2, 400);
	add_group(&at->host, 0x40, "pci0000:40", 1, 2, 2, 400);
	made_analyse(&at->host, 2, &at->map);
	/* Four NICs for two processes: two for each, of those on their own switch, and then each shares both. */
	assert_int_equal(at->map.nvshmem.n, 2);
	ASSERT_EACH(IS(at->map.nvshmem.v[0].n_ports, 2), IS(at->map.nvshmem.v[1].n_ports, 2));
	for (size_t i = 0; i < 2; i++)
		for (size_t p = 0; p < 2; p++)
			assert_int_equal(rd_ibdev_numa(&at->host, at->host.ports[at->map.nvshmem.v[i].ports[p]].ibdev),
					 0);
	made_analyse(&at->host, 4, &at->map);
	assert_int_equal(at->map.nvshmem.n, 4);
	assert_int_equal(at->map.nvshmem.v[0].n_ports, 1);
}

PLACED_TEST(bandwidth_comes_before_distance_for_nccl)
{
	int up = made_switch(&at->host, 0x20, "pci0000:20", 0), port;

	/* Two slow dual-port cards on the accelerator's own switch, the fast one behind another root port. */
	made_gpu(&at->host, "23:00.0", made_port_of(&at->host, up, 0), "pci0000:20", 0);
	for (unsigned card = 0; card < 2; card++) {
		char name[16], addr[16];

		port = made_port_of(&at->host, up, 1 + card);
		for (unsigned fn = 0; fn < 2; fn++) {
			snprintf(name, sizeof(name), "slow%u%u", card, fn);
			snprintf(addr, sizeof(addr), "%02x:00.%u", 0x24 + card, fn);
			made_nic(&at->host, name, addr, port, "pci0000:20", 0, 25);
		}
	}
	port = made_bridge(&at->host, "20:01.0", -1, "pci0000:20", 0);
	made_nic(&at->host, "fast", "30:00.0", port, "pci0000:20", 0, 200);
	made_analyse(&at->host, 0, &at->map);
	assert_string_equal(first(&at->host, &at->map.nccl, 0), "fast");
	for (size_t p = 0; p < 4; p++)
		assert_int_not_equal(at->map.ports.v[p].role, RD_ROLE_COMPUTE);
	assert_int_equal(at->map.ports.v[4].role, RD_ROLE_COMPUTE);
	/* NVSHMEM goes by distance alone: that is worth a warning. */
	assert_true(remarked(&at->map, "nic-not-compute"));
}

/* The table of a DGX A100: eight single-port NICs, two below each pair of accelerators, and a dual-port card far away. */
static void make_dgx_a100(struct rd_host *host)
{
	static const int nodes[] = { 3, 1, 7, 5 };
	int port;

	for (unsigned i = 0; i < 4; i++) {
		char root[16];

		snprintf(root, sizeof(root), "pci0000:%02x", 0x10 * (i + 1));
		add_group(host, 0x10 * (i + 1), root, nodes[i], 2, 2, 200);
	}
	port = made_bridge(host, "60:00.0", -1, "pci0000:60", 0);
	made_nic(host, "mlx5_8", "61:00.0", port, "pci0000:60", 0, 200);
	made_nic(host, "mlx5_9", "61:00.1", port, "pci0000:60", 0, 200);
	/* Its links and processors matter: the two far ports together are a NIC of 400 Gb/s. */
	host->cpu.arch = strdup("x86_64");
	host->cpu.vendor = strdup("AuthenticAMD");
	for (size_t i = 0; i < host->n_pcis; i++)
		host->pcis[i].max.mtps.v = host->pcis[i].now.mtps.v = 16000;
}

PLACED_TEST(roles_and_assignment_of_a_dgx_a100)
{
	make_dgx_a100(&at->host);
	made_analyse(&at->host, 0, &at->map);
	for (size_t p = 0; p < 10; p++)
		assert_int_equal(at->map.ports.v[p].role, p < 8 ? RD_ROLE_COMPUTE : RD_ROLE_STORAGE);
	for (size_t g = 0; g < 8; g++) {
		bool used[10] = { false };

		assert_int_equal(at->host.ports[at->map.nccl.v[g].ports[0]].ibdev / 2, g / 2);
		assert_int_equal(at->host.ports[at->map.nvshmem.v[g].ports[0]].ibdev / 2, g / 2);
		for (size_t o = 0; o < 8; o++) {
			assert_false(used[at->map.nvshmem.v[o].ports[0]]);
			used[at->map.nvshmem.v[o].ports[0]] = true;
		}
	}
	/* The neighbour: even + 1, odd - 1, on the same switch. */
	assert_int_equal(at->host.ports[at->map.nccl.v[0].backup].ibdev, 1);
	assert_int_equal(at->host.ports[at->map.nccl.v[1].backup].ibdev, 0);
	assert_non_null(strstr(at->map.nccl.v[0].backup_why, "both are below the switch at 0000:11:00.0"));
	assert_int_equal(at->map.findings.n, 0);
}

PLACED_TEST(a_port_that_is_down_is_passed_over_and_told)
{
	make_dgx_a100(&at->host);
	free(at->host.ports[0].state);
	at->host.ports[0].state = strdup("DOWN");
	made_analyse(&at->host, 0, &at->map);
	ASSERT_EACH(IS(at->map.ports.v[0].role, RD_ROLE_COMPUTE), READS(first(&at->host, &at->map.nccl, 0), "mlx5_1"),
		    READS(first(&at->host, &at->map.nvshmem, 0), "mlx5_1"));
}

/* One of eight that stand next to eight accelerators: routed over by mistake (backend-default-route), no front-end. */
PLACED_TEST(the_default_route_does_not_unmake_a_compute_nic)
{
	struct rd_port *port;

	make_dgx_a100(&at->host);
	made_netdev(&at->host, "eno1");
	at->host.netdevs[0].default_route = true;
	port = &at->host.ports[2];
	assert_int_equal(rd_grow(&port->netdevs, &port->cap_netdevs, 1, sizeof(int)), 0);
	port->netdevs[port->n_netdevs++] = 0;
	made_analyse(&at->host, 0, &at->map);
	assert_int_equal(at->map.ports.v[2].role, RD_ROLE_COMPUTE);
}

/* NCCL has the other port of what it merged; a library that goes by the order of devices meets a storage NIC. */
TEST(what_libraries_fail_over_to)
{
	struct rd_host host = { 0 };
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap map = { 0 };

	make_dgx_a100(&host);
	free(host.ports[1].state);
	host.ports[1].state = strdup("DOWN");
	made_analyse(&host, 0, &map);
	for (size_t g = 0; g < 8; g++)
		assert_int_equal(map.nccl.v[g].library_backup, -1);
	/* Among those that are up mlx5_0 is the first, mlx5_2 the second; the last compute NIC is beside the storage card. */
	ASSERT_EACH(IS(map.nvshmem.v[0].ports[0], 0), IS(map.nvshmem.v[0].library_backup, 2));
	for (size_t g = 0; g < 8; g++) {
		if (map.nvshmem.v[g].ports[0] == 7)
			assert_int_equal(map.nvshmem.v[g].library_backup, 8);
	}
	assert_true(remarked(&map, "backup-not-compute"));
	rd_host_deinit(&host);
	host = (struct rd_host){ 0 };
	make_dual_port(&host);
	made_analyse(&host, 0, &map);
	assert_int_equal(map.nccl.v[0].library_backup, 1);
	assert_non_null(strstr(map.nccl.v[0].library_backup_why, "NCCL_IB_RESILIENCY_PORT_FAILOVER=1"));
	assert_int_equal(map.nvshmem.v[0].library_backup, map.nvshmem.v[0].ports[0] == 0 ? 1 : 0);
	assert_string_equal(map.nvshmem.v[0].library_backup_why, "other port of the card");
	assert_false(remarked(&map, "backup-not-compute"));
	rd_host_deinit(&host);
}

PLACED_TEST(nics_that_nccl_loses_are_told)
{
	made_gpu(&at->host, "23:00.0", -1, "pci0000:20", 0);
	made_nic(&at->host, "rxe0", NULL, -1, NULL, 0, 25);
	made_analyse(&at->host, 0, &at->map);
	assert_false(remarked(&at->map, "nccl-nic-lost"));
	made_nic(&at->host, "rxe1", NULL, -1, NULL, 0, 25);
	made_analyse(&at->host, 0, &at->map);
	ASSERT_EACH(IS(remarked(&at->map, "nccl-nic-lost"), true), IS(at->map.nccl_nets.n, 0),
		    IS(at->map.nccl_nets.n_lost, 2));
}

TEST(without_accelerators_or_nics_nothing_is_chosen)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 }, empty = { 0 };
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap map = { 0 };

	made_analyse(&empty, 8, &map);
	assert_int_equal(map.nccl.n + map.nvshmem.n, 0);
	add_group(&host, 0x20, "pci0000:20", 0, 2, 0, 400);
	made_analyse(&host, 8, &map);
	assert_int_equal(map.nvshmem.n, 0);
}
