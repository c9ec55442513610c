/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GID indices, and what variables really select. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analyse/envcheck.h"
#include "analyse/gid.h"
#include "analyse/nccl.h"
#include "analyse/nicmap.h"
#include "nicmap-host.h"

struct env_case {
	struct rd_host host;
	struct rd_nicmap map;
	struct rd_effects effects;
	struct rd_findings findings;
};

/* mlx5_0, mlx5_1, mlx5_10 and mlx5_11, the last of which is down. */
static void start(struct env_case *c)
{
	static const char *const names[] = { "mlx5_0", "mlx5_1", "mlx5_10", "mlx5_11" };

	*c = (struct env_case){ 0 };
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		char addr[16];

		snprintf(addr, sizeof(addr), "%02zx:00.0", i + 0x10);
		made_nic(&c->host, names[i], addr, -1, "pci0000:10", -1, 400);
	}
	free(made_port(&c->host, 3)->state);
	made_port(&c->host, 3)->state = strdup("DOWN");
	assert_int_equal(rd_nicmap_analyse(&c->host, NULL, 0, &c->map), 0);
}

static void stop(struct env_case *c)
{
	rd_effects_deinit(&c->effects);
	rd_findings_deinit(&c->findings);
	rd_nicmap_deinit(&c->map);
	rd_host_deinit(&c->host);
}

static const char *check(struct env_case *c, const char *name, const char *value)
{
	rd_findings_deinit(&c->findings);
	rd_effects_deinit(&c->effects);
	assert_int_equal(rd_effects_set(&c->effects, name, value), 0);
	assert_int_equal(rd_envcheck(&c->host, &c->effects, &c->findings), 0);
	return c->effects.v[0].selects ? c->effects.v[0].selects : "";
}

static bool told(const struct env_case *c, const char *id)
{
	for (size_t i = 0; i < c->findings.n; i++)
		if (strcmp(c->findings.v[i].id, id) == 0)
			return true;
	return false;
}

static void a_name_without_equals_is_a_prefix(void **state)
{
	struct env_case c;

	(void)state;
	start(&c);
	assert_string_equal(check(&c, "NCCL_IB_HCA", "mlx5_1"), "mlx5_1:1 mlx5_10:1");
	assert_true(told(&c, "env-prefix"));
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=mlx5_1"), "mlx5_1:1");
	assert_false(told(&c, "env-prefix"));
	/* The way to say "all of mlx5" is no trap. */
	assert_string_equal(check(&c, "NCCL_IB_HCA", "mlx5"), "mlx5_0:1 mlx5_1:1 mlx5_10:1");
	assert_int_equal(c.findings.n, 0);
	stop(&c);
}

static void signs_stand_once_and_in_order(void **state)
{
	struct env_case c;

	(void)state;
	start(&c);
	assert_string_equal(check(&c, "NCCL_IB_HCA", "^=mlx5_0,mlx5_1"), "mlx5_10:1");
	assert_false(told(&c, "env-sign-misplaced"));
	/* The second entry is a name that begins with ^=. */
	assert_string_equal(check(&c, "NCCL_IB_HCA", "^=mlx5_0,^=mlx5_1"), "mlx5_1:1 mlx5_10:1");
	assert_true(told(&c, "env-sign-misplaced"));
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=^mlx5_0"), "");
	assert_true(told(&c, "env-sign-misplaced"));
	assert_true(told(&c, "env-selects-nothing"));
	stop(&c);
}

static void ports_that_are_not_there_or_down(void **state)
{
	struct env_case c;

	(void)state;
	start(&c);
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=mlx5_0:2"), "");
	assert_true(told(&c, "env-no-port"));
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=mlx5_0:abc"), ""); /* atoi makes port 0 of it */
	assert_true(told(&c, "env-no-port"));
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=mlx5_0,mlx5_11"), "mlx5_0:1");
	assert_true(told(&c, "env-port-down"));
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=mlx5_0,mlx5_7"), "mlx5_0:1");
	assert_true(told(&c, "env-no-device"));
	assert_string_equal(check(&c, "NCCL_IB_HCA", "=mlx5_0:1:3:2"), "mlx5_0:1"); /* rail and plane */
	assert_false(told(&c, "env-no-port"));
	stop(&c);
}

static void nvshmem_and_ucx_have_rules_of_their_own(void **state)
{
	struct env_case c;

	(void)state;
	start(&c);
	assert_string_equal(check(&c, "NVSHMEM_HCA_LIST", "mlx5_1:1"), "mlx5_1:1");
	assert_true(told(&c, "env-mapping-off"));
	check(&c, "NVSHMEM_HCA_LIST", "=mlx5_1:1");
	assert_true(told(&c, "env-sign-misplaced"));
	assert_string_equal(check(&c, "NVSHMEM_HCA_LIST", "^mlx5_1:1"), "mlx5_0:1 mlx5_10:1");
	check(&c, "NVSHMEM_HCA_PREFIX", "ibp");
	assert_true(told(&c, "env-no-device"));
	assert_string_equal(check(&c, "UCX_NET_DEVICES", "mlx5_0:1,mlx5_1"), "mlx5_0:1");
	assert_true(told(&c, "env-no-port"));
	stop(&c);
}

static void recommended_variables_pass_their_own_check(void **state)
{
	struct env_case c;

	(void)state;
	start(&c);
	assert_true(c.map.env.n > 0);
	for (size_t i = 0; i < c.map.env.n; i++)
		assert_int_equal(rd_effects_set(&c.effects, c.map.env.v[i].name, c.map.env.v[i].value), 0);
	assert_int_equal(rd_envcheck(&c.host, &c.effects, &c.findings), 0);
	assert_int_equal(c.findings.n, 0);
	stop(&c);
}

/* What mlx5 has for an interface with one IPv4 address. */
static void make_roce(struct rd_host *host)
{
	made_nic(host, "mlx5_0", "10:00.0", -1, "pci0000:10", -1, 100);
	made_netdev(host, "eth0");
	made_gid(host, 0, 0, "fe80::9a03:9bff:fe00:1", RD_GID_ROCE_V1, "eth0");
	made_gid(host, 0, 1, "fe80::9a03:9bff:fe00:1", RD_GID_ROCE_V2, "eth0");
	made_gid(host, 0, 2, "10.1.2.3", RD_GID_ROCE_V1, "eth0");
	made_gid(host, 0, 3, "10.1.2.3", RD_GID_ROCE_V2, "eth0");
}

static void the_gid_to_use(void **state)
{
	struct rd_host host = { 0 };
	struct rd_port *port;

	(void)state;
	make_roce(&host);
	port = made_port(&host, 0);
	rd_gid_choose(&host);
	assert_int_equal(port->gids[port->gid].index, 3);
	assert_int_equal(rd_gid_nccl(port, false, 2), 3);
	assert_int_equal(rd_gid_nccl(port, false, 1), 2);
	/* In another network namespace the kernel does not name the interface. */
	for (size_t i = 0; i < port->n_gids; i++) {
		free(port->gids[i].netdev);
		port->gids[i].netdev = NULL;
	}
	port->gid = -1;
	rd_gid_choose(&host);
	assert_int_equal(port->gid, -1);
	assert_non_null(strstr(port->gid_why, "namespace"));
	rd_host_deinit(&host);
}

static void a_global_address_where_there_is_no_ipv4(void **state)
{
	struct rd_host host = { 0 };
	struct rd_port *port;

	(void)state;
	made_nic(&host, "mlx5_0", NULL, -1, "", -1, 100);
	made_netdev(&host, "eth0");
	made_gid(&host, 0, 0, "fe80::1", RD_GID_ROCE_V1, "eth0");
	made_gid(&host, 0, 1, "fe80::1", RD_GID_ROCE_V2, "eth0");
	port = made_port(&host, 0);
	rd_gid_choose(&host);
	assert_int_equal(port->gid, -1);
	assert_non_null(strstr(port->gid_why, "link-local"));
	made_gid(&host, 0, 5, "2001:db8::1", RD_GID_ROCE_V2, "eth0");
	rd_gid_choose(&host);
	assert_int_equal(port->gids[port->gid].index, 5);
	/* NCCL stays at 0, as no GID is of the family that it wants. */
	assert_int_equal(rd_gid_nccl(port, false, 2), 0);
	rd_host_deinit(&host);
}

static void gid_indices_that_do_not_work(void **state)
{
	struct env_case c = { 0 };

	(void)state;
	make_roce(&c.host);
	assert_int_equal(rd_nicmap_analyse(&c.host, NULL, 0, &c.map), 0);
	check(&c, "NCCL_IB_GID_INDEX", "3");
	assert_int_equal(c.findings.n, 0);
	check(&c, "NCCL_IB_GID_INDEX", "1");
	assert_true(told(&c, "env-gid-bad"));
	check(&c, "NCCL_IB_GID_INDEX", "2");
	assert_true(told(&c, "env-gid-bad"));
	check(&c, "NCCL_IB_GID_INDEX", "7");
	assert_true(told(&c, "env-gid-gone"));
	check(&c, "NCCL_IB_GID_INDEX", "three");
	assert_true(told(&c, "env-no-number"));
	check(&c, "NCCL_SOCKET_IFNAME", "=eth1");
	assert_true(told(&c, "env-no-interface"));
	assert_string_equal(check(&c, "NCCL_SOCKET_IFNAME", "eth"), "eth0");
	stop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_without_equals_is_a_prefix),	  TEST(signs_stand_once_and_in_order),
		TEST(ports_that_are_not_there_or_down),		  TEST(nvshmem_and_ucx_have_rules_of_their_own),
		TEST(recommended_variables_pass_their_own_check), TEST(the_gid_to_use),
		TEST(a_global_address_where_there_is_no_ipv4),	  TEST(gid_indices_that_do_not_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
