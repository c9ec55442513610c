/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NICs and which transport Mooncake, NIXL and libfabric take; tests/rules/STACKS.md says of which function each rule
 * is. */
#include "unit.h"

#include "analyse/nicmap/nicmap.h"
#include "analyse/stacks/stack-priv.h"
#include "nicmap-host.h"

struct stack_case {
	struct rd_host host;
	struct rd_nicmap map;
	char text[512];
};

static void analyse(struct stack_case *c)
{
	made_analyse(&c->host, 0, &c->map);
}

static void stop(struct stack_case *c)
{
	rd_nicmap_deinit(&c->map);
	rd_host_deinit(&c->host);
}

static const struct rd_stack_choice *choice_of(const struct stack_case *c, enum rd_stack_id id, int gpu, int numa)
{
	const struct rd_stack *stack = &c->map.stacks.v[id];

	for (size_t i = 0; i < stack->n; i++)
		if (stack->v[i].gpu == gpu && stack->v[i].numa == numa)
			return &stack->v[i];
	return NULL;
}

/* Analyses; "a b | c": those that are used first, and those that stand in. */
static const char *nics(struct stack_case *c, enum rd_stack_id id, int gpu, int numa)
{
	const struct rd_stack_choice *choice;
	size_t len = 0;

	analyse(c);
	choice = choice_of(c, id, gpu, numa);
	assert_non_null(choice);
	assert_non_null(choice->why);
	c->text[0] = '\0';
	for (size_t i = 0; i < choice->n_ports; i++)
		len += (size_t)snprintf(c->text + len, sizeof(c->text) - len, "%s%s%s", i == choice->n_first ? "|" : "",
					i > 0 ? " " : "",
					rd_ibdev_label(&c->host, c->host.ports[choice->ports[i]].ibdev));
	return c->text;
}

/* Analyses. */
static const char *transport(struct stack_case *c, enum rd_stack_id id, size_t port)
{
	const struct rd_stack *stack = &c->map.stacks.v[id];
	const char *own;

	analyse(c);
	own = stack->transport ? stack->transport : stack->ports[port].transport;
	return own ? own : "";
}

static bool told(const struct stack_case *c, const char *id)
{
	for (size_t i = 0; i < c->map.stacks.findings.n; i++)
		if (strcmp(c->map.stacks.findings.v[i].id, id) == 0)
			return true;
	return false;
}

static void set_state(struct rd_host *host, int ibdev, const char *state)
{
	struct rd_port *port = made_port(host, ibdev);

	free(port->state);
	port->state = strdup(state);
}

static void add_node(struct rd_host *host, int id)
{
	struct rd_numa *numa = rd_host_add_numa(host);

	numa->id = id;
	numa->cpulist = strdup("0");
}

/* A switch with GPU0, a and b; c behind another port of the host bridge; d on the other node. */
static void start(struct stack_case *c)
{
	int up;

	*c = (struct stack_case){ 0 };
	add_node(&c->host, 0);
	add_node(&c->host, 1);
	up = made_switch(&c->host, 0x20, "pci0000:20", 0);
	made_gpu(&c->host, "23:00.0", made_port_of(&c->host, up, 0), "pci0000:20", 0);
	made_nic(&c->host, "mlx5_0", "24:00.0", made_port_of(&c->host, up, 1), "pci0000:20", 0, 400);
	made_nic(&c->host, "mlx5_1", "25:00.0", made_port_of(&c->host, up, 2), "pci0000:20", 0, 400);
	made_nic(&c->host, "mlx5_2", "31:00.0", made_bridge(&c->host, "20:01.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 400);
	made_nic(&c->host, "mlx5_3", "41:00.0", made_bridge(&c->host, "40:01.0", -1, "pci0000:40", 1), "pci0000:40", 1,
		 400);
	analyse(c);
}

#define STACK_CASE_TEST(name) TEST_ON(name, struct stack_case, c, { 0 }, stop)

STACK_CASE_TEST(mooncake_takes_the_nics_with_the_fewest_steps)
{
	start(c);
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_0 mlx5_1| mlx5_2 mlx5_3");
	assert_non_null(strstr(choice_of(c, RD_STACK_MOONCAKE, 0, -1)->why, "2 sysfs path components apart"));
	assert_string_equal(transport(c, RD_STACK_MOONCAKE, 0), "rc");
	set_state(&c->host, 0, "DOWN");
	set_state(&c->host, 1, "DOWN");
	/* Slashes that differ: above the GPU two ports of the switch and a root port, above the NIC another root port. */
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_2| mlx5_3");
	assert_non_null(strstr(choice_of(c, RD_STACK_MOONCAKE, 0, -1)->why, "4 sysfs path components apart"));
}

STACK_CASE_TEST(mooncake_takes_nics_of_the_gpus_node_however_far)
{
	int up;

	add_node(&c->host, 0);
	add_node(&c->host, 1);
	/* The GPU says node 1, and so does a NIC of another host bridge; the one beside it says node 0. */
	up = made_switch(&c->host, 0x20, "pci0000:20", 0);
	made_gpu(&c->host, "23:00.0", made_port_of(&c->host, up, 0), "pci0000:20", 1);
	made_nic(&c->host, "mlx5_0", "24:00.0", made_port_of(&c->host, up, 1), "pci0000:20", 0, 400);
	made_nic(&c->host, "mlx5_1", "41:00.0", -1, "pci0000:40", 1, 400);
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_1| mlx5_0");
	/* A node that the kernel does not name is no node. */
	RD_SET(c->host.pcis[c->host.gpus[0].pci].numa, -1);
	RD_SET(c->host.pcis[c->host.ibdevs[1].pci].numa, -1);
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_0| mlx5_1");
}

STACK_CASE_TEST(mooncake_takes_all_nics_of_a_node_for_host_memory)
{
	start(c);
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, -1, 0), "mlx5_0 mlx5_1 mlx5_2| mlx5_3");
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, -1, 1), "mlx5_3| mlx5_0 mlx5_1 mlx5_2");
}

/* Of the device that was made last. */
static void add_second_port(struct rd_host *host, const char *state)
{
	struct rd_port *port = rd_host_add_port(host, (int)host->n_ibdevs - 1);

	port->num = 2;
	port->link_layer = strdup("InfiniBand");
	port->state = strdup(state);
	RD_SET(port->rate_gbps, 400);
}

STACK_CASE_TEST(mooncake_opens_port_1_only)
{
	add_node(&c->host, 0);
	made_nic(&c->host, "mlx5_0", "24:00.0", -1, "pci0000:20", 0, 400);
	add_second_port(&c->host, "ACTIVE");
	made_gpu(&c->host, "23:00.0", -1, "pci0000:20", 0);
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_0");
	assert_string_equal(nics(c, RD_STACK_UCX, 0, -1), "mlx5_0 mlx5_0");
	/* Listed, since port 2 is up; opened with port 1, which fails, and with it RDMA. */
	set_state(&c->host, 0, "DOWN");
	assert_string_equal(transport(c, RD_STACK_MOONCAKE, 0), "none");
	assert_true(told(c, "stack-no-rdma"));
	/* Nothing is listed: TCP, which is its choice and no failure. */
	free(c->host.ports[1].state);
	c->host.ports[1].state = strdup("DOWN");
	assert_string_equal(transport(c, RD_STACK_MOONCAKE, 0), "tcp");
	assert_false(told(c, "stack-no-rdma"));
}

STACK_CASE_TEST(mooncake_has_no_place_for_a_device_on_another_interface)
{
	start(c);
	c->host.ibdevs[0].via = "netdev";
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_1| mlx5_0 mlx5_2 mlx5_3");
}

STACK_CASE_TEST(ucx_registers_gpu_memory_with_the_nearest_nics)
{
	start(c);
	assert_string_equal(nics(c, RD_STACK_UCX, 0, -1), "mlx5_0 mlx5_1| mlx5_2 mlx5_3");
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "rc_mlx5");
	assert_non_null(strstr(c->map.stacks.v[RD_STACK_UCX].note, "1.21"));
}

/* By latency they are alike; by bandwidth one host bridge has 3500 MB/s, two of a node 17000. */
STACK_CASE_TEST(ucx_counts_a_node_as_nearer_than_a_host_bridge)
{
	made_gpu(&c->host, "21:00.0", made_bridge(&c->host, "20:01.0", -1, "pci0000:20", 0), "pci0000:20", 0);
	made_nic(&c->host, "mlx5_0", "22:00.0", made_bridge(&c->host, "20:02.0", -1, "pci0000:20", 0), "pci0000:20", 0,
		 400);
	made_nic(&c->host, "mlx5_1", "41:00.0", made_bridge(&c->host, "40:01.0", -1, "pci0000:40", 0), "pci0000:40", 0,
		 400);
	made_nic(&c->host, "mlx5_2", "61:00.0", made_bridge(&c->host, "60:01.0", -1, "pci0000:60", 1), "pci0000:60", 1,
		 400);
	assert_string_equal(nics(c, RD_STACK_UCX, 0, -1), "mlx5_1| mlx5_0 mlx5_2");
	/* Mooncake counts steps. */
	assert_string_equal(nics(c, RD_STACK_MOONCAKE, 0, -1), "mlx5_0| mlx5_1 mlx5_2");
}

STACK_CASE_TEST(ucx_uses_all_nics_for_memory_that_is_not_cudas)
{
	start(c);
	RD_SET(c->host.pcis[c->host.gpus[0].pci].vendor, 0x1002);
	assert_string_equal(nics(c, RD_STACK_UCX, 0, -1), "mlx5_0 mlx5_1 mlx5_2 mlx5_3");
	assert_non_null(strstr(choice_of(c, RD_STACK_UCX, 0, -1)->why, "depends on the peer"));
}

/* Three and more as near: two of them carry a transfer. */
STACK_CASE_TEST(ucx_says_that_two_of_many_carry_a_transfer)
{
	int up = made_switch(&c->host, 0x20, "pci0000:20", 0);

	made_gpu(&c->host, "23:00.0", made_port_of(&c->host, up, 0), "pci0000:20", 0);
	made_nic(&c->host, "mlx5_0", "24:00.0", made_port_of(&c->host, up, 1), "pci0000:20", 0, 400);
	made_nic(&c->host, "mlx5_1", "25:00.0", made_port_of(&c->host, up, 2), "pci0000:20", 0, 400);
	analyse(c);
	assert_null(strstr(choice_of(c, RD_STACK_UCX, 0, -1)->why, "which two"));
	made_nic(&c->host, "mlx5_2", "26:00.0", made_port_of(&c->host, up, 3), "pci0000:20", 0, 400);
	analyse(c);
	assert_non_null(strstr(choice_of(c, RD_STACK_UCX, 0, -1)->why, "which two"));
}

STACK_CASE_TEST(ucx_leaves_out_a_port_without_a_gid_at_index_0)
{
	made_nic(&c->host, "mlx5_0", "24:00.0", -1, "pci0000:20", 0, 400);
	made_netdev(&c->host, "eth0");
	c->host.ports[0].netdev_name = strdup("eth0");
	made_gid(&c->host, 0, 3, "10.0.0.1", RD_GID_ROCE_V2, "eth0");
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "tcp");
	assert_true(told(c, "stack-no-rdma"));
	assert_non_null(strstr(c->map.stacks.findings.v[0].fix, "\nip link set eth0 up\n# "));
	assert_string_equal(transport(c, RD_STACK_MOONCAKE, 0), "rc");
	made_gid(&c->host, 0, 0, "fe80::1", RD_GID_ROCE_V1, "eth0");
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "rc_mlx5");
	assert_false(told(c, "stack-no-rdma"));
}

STACK_CASE_TEST(ucx_takes_no_iwarp)
{
	made_nic(&c->host, "i40iw0", "24:00.0", -1, "pci0000:20", 0, 40);
	c->host.ibdevs[0].driver = strdup("i40e");
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "rc_verbs");
	c->host.ibdevs[0].iwarp = true;
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "tcp");
}

STACK_CASE_TEST(transports_by_driver)
{
	made_nic(&c->host, "bnxt_re0", "24:00.0", -1, "pci0000:20", 0, 400);
	c->host.ibdevs[0].driver = strdup("bnxt_en");
	made_nic(&c->host, "roce1", "25:00.0", -1, "pci0000:20", 0, 400);
	c->host.ibdevs[1].driver = strdup("mlx5_core");
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "rc_verbs");
	assert_string_equal(transport(c, RD_STACK_UCX, 1), "rc_mlx5");
	assert_non_null(strstr(c->map.stacks.v[RD_STACK_UCX].note, "shared receive queues"));
	assert_string_equal(transport(c, RD_STACK_LIBFABRIC, 0), "verbs;ofi_rxm");
	/* ai-dynamo/nixl's libfabric backend does not look for verbs. */
	assert_string_equal(transport(c, RD_STACK_NIXL_LIBFABRIC, 0), "tcp");
	assert_true(told(c, "stack-tcp"));
}

static void add_efa(struct rd_host *host, const char *name, const char *addr, int parent, const char *root, int numa)
{
	int dev = made_nic(host, name, addr, parent, root, numa, 100);

	host->ibdevs[dev].driver = strdup("efa");
	free(made_port(host, dev)->link_layer);
	made_port(host, dev)->link_layer = strdup("Unknown");
}

/* Two GPUs and three EFA below one switch, buses in another order than names. */
static void start_efa(struct stack_case *c, unsigned gpus, unsigned efas)
{
	static const char *const addrs[] = { "2c:00.0", "2a:00.0", "2b:00.0" };
	int up;

	*c = (struct stack_case){ 0 };
	add_node(&c->host, 0);
	up = made_switch(&c->host, 0x20, "pci0000:20", 0);
	for (unsigned i = 0; i < gpus; i++) {
		char addr[16];

		snprintf(addr, sizeof(addr), "%02x:00.0", 0x24 + i);
		made_gpu(&c->host, addr, made_port_of(&c->host, up, i), "pci0000:20", 0);
	}
	for (unsigned i = 0; i < efas; i++) {
		char name[16];

		snprintf(name, sizeof(name), "efa_%u", i);
		add_efa(&c->host, name, addrs[i], made_port_of(&c->host, up, 8 + i), "pci0000:20", 0);
	}
	analyse(c);
}

STACK_CASE_TEST(nixl_deals_efa_out_among_the_gpus_of_a_bridge)
{
	start_efa(c, 2, 3);
	/* In the order of buses; the first GPU gets what is left over. */
	assert_string_equal(nics(c, RD_STACK_NIXL_LIBFABRIC, 0, -1), "efa_1 efa_2");
	assert_string_equal(nics(c, RD_STACK_NIXL_LIBFABRIC, 1, -1), "efa_0");
	assert_string_equal(nics(c, RD_STACK_NIXL_LIBFABRIC, -1, 0), "efa_0 efa_1 efa_2");
	assert_string_equal(transport(c, RD_STACK_NIXL_LIBFABRIC, 0), "efa");
}

STACK_CASE_TEST(nixl_shares_efa_where_there_are_fewer_than_gpus)
{
	start_efa(c, 3, 2);
	for (int g = 0; g < 3; g++)
		assert_string_equal(nics(c, RD_STACK_NIXL_LIBFABRIC, g, -1), "efa_1 efa_0");
}

/* Each GPU meets the EFA of its own switch, and a third one those of the host bridge that nobody nearer has. */
STACK_CASE_TEST(nixl_gives_a_gpu_the_efa_of_its_own_bridge)
{
	int up[2];

	add_node(&c->host, 0);
	for (unsigned i = 0; i < 2; i++) {
		char gpu[16], nic[16], name[16];

		up[i] = made_switch(&c->host, 0x20 + 0x10 * i, "pci0000:20", 0);
		snprintf(gpu, sizeof(gpu), "%02x:00.0", 0x23 + 0x10 * i);
		snprintf(nic, sizeof(nic), "%02x:00.0", 0x24 + 0x10 * i);
		snprintf(name, sizeof(name), "efa_%u", i);
		made_gpu(&c->host, gpu, made_port_of(&c->host, up[i], 0), "pci0000:20", 0);
		add_efa(&c->host, name, nic, made_port_of(&c->host, up[i], 1), "pci0000:20", 0);
	}
	assert_string_equal(nics(c, RD_STACK_NIXL_LIBFABRIC, 0, -1), "efa_0");
	assert_string_equal(nics(c, RD_STACK_NIXL_LIBFABRIC, 1, -1), "efa_1");
}

STACK_CASE_TEST(efa_is_listed_first_and_needs_a_build_for_it)
{
	start_efa(c, 1, 2);
	made_nic(&c->host, "mlx5_0", "41:00.0", -1, "pci0000:40", 0, 100);
	assert_string_equal(nics(c, RD_STACK_LIBFABRIC, -1, -1), "efa_0 efa_1| mlx5_0");
	assert_string_equal(transport(c, RD_STACK_UCX, 0), "srd");
	assert_non_null(strstr(c->map.stacks.v[RD_STACK_UCX].note, "1.19"));
	assert_string_equal(transport(c, RD_STACK_MOONCAKE, 0), "efa");
	ASSERT_EACH(HAS(c->map.stacks.v[RD_STACK_MOONCAKE].note, "build"), IS(told(c, "stack-srd"), true),
		    IS(told(c, "stack-tcp"), false));
}

STACK_CASE_TEST(an_accelerator_with_storage_nics_alone_is_told)
{
	start(c);
	assert_false(told(c, "stack-gpu-role"));
	for (size_t p = 0; p < c->host.n_ports; p++)
		c->map.ports.v[p].role = p < 2 ? RD_ROLE_STORAGE : RD_ROLE_COMPUTE;
	rd_findings_deinit(&c->map.stacks.findings);
	rd_stacks_judge(&c->map.ports, &c->map.stacks);
	ASSERT_EACH(IS(told(c, "stack-gpu-role"), true), IS(told(c, "stack-role"), true),
		    IS(told(c, "stack-idle"), true));
}

STACK_CASE_TEST(a_host_without_rdma_goes_by_tcp_and_nothing_is_told)
{
	made_gpu(&c->host, "23:00.0", -1, "pci0000:20", 0);
	analyse(c);
	for (int s = 0; s < RD_STACKS; s++) {
		assert_string_equal(transport(c, s, 0), "tcp");
		ASSERT_EACH(IS(c->map.stacks.v[s].n, 0), IS(c->map.stacks.v[s].note != NULL, true));
	}
	assert_int_equal(c->map.stacks.findings.n, 0);
}
