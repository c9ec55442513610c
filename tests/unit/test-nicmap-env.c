/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GID indices, and what variables really select. */
#include "unit.h"

#include <malloc.h>

#include "analyse/env/envcheck.h"
#include "analyse/nccl/nccl.h"
#include "analyse/nicmap/nicmap.h"
#include "analyse/shared/gid.h"
#include "model/host/system.h"
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
	made_analyse(&c->host, 0, &c->map);
}

static void stop(struct env_case *c)
{
	rd_effects_deinit(&c->effects);
	rd_findings_deinit(&c->findings);
	rd_nicmap_deinit(&c->map);
	rd_host_deinit(&c->host);
}

static void set(struct env_case *c, const char *name, const char *value)
{
	char *text = rd_text("%s=%s", name, value);

	assert_int_equal(rd_effects_own(&c->effects, text, strlen(text), '\0'), 0);
}

static const char *check(struct env_case *c, const char *name, const char *value)
{
	rd_findings_deinit(&c->findings);
	rd_effects_deinit(&c->effects);
	set(c, name, value);
	rd_envcheck(&c->map.ports, &c->effects, &c->findings);
	return c->effects.v[0].selects ? c->effects.v[0].selects : "";
}

static bool told(const struct env_case *c, const char *id)
{
	for (size_t i = 0; i < c->findings.n; i++)
		if (strcmp(c->findings.v[i].id, id) == 0)
			return true;
	return false;
}

#define ENV_CASE_TEST(name) TEST_ON(name, struct env_case, c, { 0 }, stop)

ENV_CASE_TEST(what_a_variable_selects)
{
	static const struct {
		const char *name, *value, *selects; /* selects: NULL: not looked at */
		const char *told, *not_told;	    /* findings; not_told "all": there is none */
	} cases[] = {
		/* A name without "=" is a prefix; but the way to say "all of mlx5" is no trap. */
		{ "NCCL_IB_HCA", "mlx5_1", "mlx5_1/1 mlx5_10/1", "env-prefix" },
		{ "NCCL_IB_HCA", "=mlx5_1", "mlx5_1/1", NULL, "env-prefix" },
		{ "NCCL_IB_HCA", "mlx5", "mlx5_0/1 mlx5_1/1 mlx5_10/1", NULL, "all" },
		/* Signs stand once and in order: of the second, the last entry is a name that begins with ^=. */
		{ "NCCL_IB_HCA", "^=mlx5_0,mlx5_1", "mlx5_10/1", NULL, "env-sign-misplaced" },
		{ "NCCL_IB_HCA", "^=mlx5_0,^=mlx5_1", "mlx5_1/1 mlx5_10/1", "env-sign-misplaced" },
		{ "NCCL_IB_HCA", "=^mlx5_0", "", "env-sign-misplaced" },
		{ "NCCL_IB_HCA", "=^mlx5_0", "", "env-selects-nothing" },
		/* Ports that do not exist (atoi makes port 0 of "abc"), or are down; rail and plane behind the port. */
		{ "NCCL_IB_HCA", "=mlx5_0:2", "", "env-no-port" },
		{ "NCCL_IB_HCA", "=mlx5_0:abc", "", "env-no-port" },
		{ "NCCL_IB_HCA", "=mlx5_0,mlx5_11", "mlx5_0/1", "env-port-down" },
		{ "NCCL_IB_HCA", "=mlx5_0,mlx5_7", "mlx5_0/1", "env-no-device" },
		{ "NCCL_IB_HCA", "=mlx5_0:1:3:2", "mlx5_0/1", NULL, "env-no-port" },
		/* NVSHMEM and UCX have rules of their own. */
		{ "NVSHMEM_HCA_LIST", "mlx5_1:1", "mlx5_1/1", "env-mapping-off" },
		{ "NVSHMEM_HCA_LIST", "=mlx5_1:1", NULL, "env-sign-misplaced" },
		{ "NVSHMEM_HCA_LIST", "^mlx5_1:1", "mlx5_0/1 mlx5_10/1" },
		{ "NVSHMEM_HCA_PREFIX", "ibp", NULL, "env-no-device" },
		{ "UCX_NET_DEVICES", "mlx5_0:1,mlx5_1", "mlx5_0/1 mlx5_1/1", "env-no-port" },
	};

	start(c);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		const char *selects = check(c, cases[i].name, cases[i].value), *absent = cases[i].not_told;

		if ((cases[i].selects && strcmp(selects, cases[i].selects) != 0) ||
		    (cases[i].told && !told(c, cases[i].told)) ||
		    (absent && (strcmp(absent, "all") == 0 ? c->findings.n > 0 : told(c, absent))))
			fail_msg("%s=%s selects \"%s\", %zu findings", cases[i].name, cases[i].value, selects,
				 c->findings.n);
	}
}

ENV_CASE_TEST(recommended_variables_pass_their_own_check)
{
	start(c);
	assert_true(c->map.env.n > 0);
	for (size_t i = 0; i < c->map.env.n; i++)
		set(c, c->map.env.v[i].name, c->map.env.v[i].value);
	rd_envcheck(&c->map.ports, &c->effects, &c->findings);
	assert_int_equal(c->findings.n, 0);
}

/* What mlx5 has for an interface with one IPv4 address. */
static void make_roce(struct rd_host *host)
{
	made_nic(host, "mlx5_0", "10:00.0", -1, "pci0000:10", -1, 100);
	made_netdev(host, "eth0");
	made_gids(host, 0, "0 v1 fe80::9a03:9bff:fe00:1, 1 v2 fe80::9a03:9bff:fe00:1, 2 v1 10.1.2.3, 3 v2 10.1.2.3");
}

TEST(the_gid_to_use)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	_cleanup_(rd_port_views_deinit) struct rd_port_views views;
	struct rd_port *port;

	make_roce(&host);
	port = made_port(&host, 0);
	rd_port_views_init(&views, &host);
	rd_gid_choose(&views);
	ASSERT_EACH(IS(rd_port_gid_index(&views, 0), 3), IS(rd_gid_nccl(port, false, 2, NULL), 3),
		    IS(rd_gid_nccl(port, false, 1, NULL), 2));
	/* In another network namespace the kernel does not name the interface. */
	for (size_t i = 0; i < port->n_gids; i++) {
		free(port->gids[i].netdev);
		port->gids[i].netdev = NULL;
	}
	rd_gid_choose(&views);
	ASSERT_EACH(IS(views.v[0].gid, -1), HAS(views.v[0].gid_why, "namespace"));
}

TEST(each_port_has_a_view_of_its_own)
{
	_cleanup_free_ char *first = NULL, *second = NULL;
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	_cleanup_(rd_port_views_deinit) struct rd_port_views views;

	made_nic(&host, "mlx5_0", NULL, -1, "", -1, 100);
	made_nic(&host, "mlx5_1", NULL, -1, "", -1, 100);
	made_netdev(&host, "eth0");
	made_gids(&host, 0, "1 v2 fe80::1");
	made_gids(&host, 1, "3 v2 10.1.2.3");
	rd_port_views_init(&views, &host);
	assert_int_equal(views.n, 2);
	for (size_t p = 0; p < views.n; p++) {
		ASSERT_EACH(IS(rd_port_gid_index(&views, p), -1), IS(views.v[p].gid_nccl, -1),
			    IS(views.v[p].role, RD_ROLE_UNKNOWN));
	}
	rd_gid_choose(&views);
	ASSERT_EACH(IS(rd_port_gid_index(&views, 0), -1), HAS(views.v[0].gid_why, "link-local"),
		    IS(rd_port_gid_index(&views, 1), 3));
	first = rd_port_nccl_gid(&views, 0);
	second = rd_port_nccl_gid(&views, 1);
	ASSERT_EACH(READS(first, "index 0, which is empty"), READS(second, "index 3 (10.1.2.3, RoCE v2)"));
}

TEST(a_global_address_where_there_is_no_ipv4)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	_cleanup_(rd_port_views_deinit) struct rd_port_views views;
	struct rd_port *port;

	made_nic(&host, "mlx5_0", NULL, -1, "", -1, 100);
	made_netdev(&host, "eth0");
	made_gids(&host, 0, "0 v1 fe80::1, 1 v2 fe80::1");
	port = made_port(&host, 0);
	rd_port_views_init(&views, &host);
	rd_gid_choose(&views);
	ASSERT_EACH(IS(views.v[0].gid, -1), HAS(views.v[0].gid_why, "link-local"));
	made_gid(&host, 0, 5, "2001:db8::1", RD_GID_ROCE_V2, "eth0");
	rd_gid_choose(&views);
	assert_int_equal(rd_port_gid_index(&views, 0), 5);
	/* NCCL stays at 0, as no GID is of the family that it wants. */
	assert_int_equal(rd_gid_nccl(port, false, 2, NULL), 0);
}

/* Which NICs are chosen says nothing of GIDs: NCCL takes its own, which may be no good. */
TEST(the_gid_that_nccl_takes_by_itself)
{
	struct env_case c = { 0 };

	make_roce(&c.host);
	made_analyse(&c.host, 0, &c.map);
	check(&c, "NCCL_IB_HCA", "mlx5_0");
	assert_int_equal(c.findings.n, 0);
	stop(&c);

	memset(&c, 0, sizeof(c));
	made_nic(&c.host, "mlx5_0", "10:00.0", -1, "pci0000:10", -1, 100);
	made_netdev(&c.host, "eth0");
	made_gids(&c.host, 0, "0 v1 fe80::1, 5 v2 2001:db8::1");
	made_analyse(&c.host, 0, &c.map);
	check(&c, "NCCL_IB_HCA", "mlx5_0");
	assert_true(told(&c, "env-gid-bad"));
	/* Where the index is given, that is looked at, once. */
	rd_findings_deinit(&c.findings);
	set(&c, "NCCL_IB_GID_INDEX", "5");
	rd_envcheck(&c.map.ports, &c.effects, &c.findings);
	assert_int_equal(c.findings.n, 0);
	stop(&c);
}

ENV_CASE_TEST(gid_indices_that_do_not_work)
{
	make_roce(&c->host);
	made_analyse(&c->host, 0, &c->map);
	check(c, "NCCL_IB_GID_INDEX", "3");
	assert_int_equal(c->findings.n, 0);
	check(c, "NCCL_IB_GID_INDEX", "1");
	assert_true(told(c, "env-gid-bad"));
	check(c, "NCCL_IB_GID_INDEX", "2");
	assert_true(told(c, "env-gid-bad"));
	check(c, "NCCL_IB_GID_INDEX", "7");
	assert_true(told(c, "env-gid-gone"));
	check(c, "NCCL_IB_GID_INDEX", "three");
	assert_true(told(c, "env-no-number"));
	check(c, "NCCL_SOCKET_IFNAME", "=eth1");
	assert_true(told(c, "env-no-interface"));
	assert_string_equal(check(c, "NCCL_SOCKET_IFNAME", "eth"), "eth0");
}

static const char *effect_of(struct env_case *c, const char *name)
{
	const struct rd_effect *effect = rd_effects_find(&c->effects, name);

	assert_non_null(effect);
	return effect->effect ? effect->effect : "";
}

/* 79,000 bytes of a list, as lines of a file. */
static char *long_list(const char *name, const char *entry, size_t *size)
{
	char *text = calloc(1, 80000);

	assert_non_null(text);
	*size = (size_t)snprintf(text, 80000, "%s=", name);
	for (unsigned i = 1000; *size < 79000; i++)
		*size += (size_t)snprintf(text + *size, 80000 - *size, entry, i);
	return text;
}

ENV_CASE_TEST(a_long_list_is_kept_once)
{
	static const char *const lists[][2] = {
		{ "NCCL_IB_HCA", "mlx5_%u," },
		{ "NVSHMEM_HCA_LIST", "mlx5_%u:1," },
		{ "UCX_NET_DEVICES", "mlx5_%u:1," },
		{ "UCX_TLS", "tl%u," },
		{ "NCCL_FOO", "%u," },
		{ "NCCL_NET_FORCE_MERGE", "mlx5_%u;" },
		{ "NCCL_SOCKET_IFNAME", "eth%u," },
	};

	start(c);
	for (size_t i = 0; i < RD_ARRAY_SIZE(lists); i++) {
		size_t size, before = mallinfo2().uordblks, told = 0;
		char *text = long_list(lists[i][0], lists[i][1], &size);

		rd_effects_own(&c->effects, text, size, '\n');
		rd_envcheck(&c->map.ports, &c->effects, &c->findings);
		/* The text itself, and less than a tenth of it for all that is said of it. */
		assert_in_range(mallinfo2().uordblks - before, 0, 80000 + 8000);
		for (size_t f = 0; f < c->findings.n; f++)
			told += strlen(c->findings.v[f].subject) +
				(c->findings.v[f].observed ? strlen(c->findings.v[f].observed) : 0);
		assert_in_range(told, 0, 3000);
		rd_effects_deinit(&c->effects);
		rd_findings_deinit(&c->findings);
	}
}

ENV_CASE_TEST(lines_as_a_shell_has_them)
{
	static const char text[] =
		"export A=1\n# NCCL_NET=Socket\n  NCCL_IB_TC = 3\nexport\tNCCL_IB_SL='3' # priority\n"
		"declare -x NCCL_IB_HCA=\"=mlx5_0\"\r\nNCCL_IB_SL=4\nNCCL_DEBUG=INFO # all\nNCCL_PROTO\n=x\n";

	start(c);
	rd_effects_own(&c->effects, strdup(text), sizeof(text) - 1, '\n');
	rd_effects_sort(&c->effects);
	assert_string_equal(rd_effects_get(&c->effects, "NCCL_IB_SL"), "4");
	assert_string_equal(rd_effects_get(&c->effects, "NCCL_IB_HCA"), "=mlx5_0");
	assert_string_equal(rd_effects_get(&c->effects, "NCCL_DEBUG"), "INFO");
	assert_null(rd_effects_get(&c->effects, "NCCL_NET"));
	assert_null(rd_effects_get(&c->effects, "NCCL_PROTO"));
	rd_effects_deinit(&c->effects);
	/* A block of environment is what getenv sees: the first of a name, quotes and all. */
	c->effects.first_wins = true;
	rd_effects_own(&c->effects, memcpy(calloc(1, 64), "NCCL_NET=\"IB\"\0NCCL_NET=Socket", 30), 30, '\0');
	rd_effects_sort(&c->effects);
	ASSERT_EACH(IS(c->effects.n, 1), READS(rd_effects_get(&c->effects, "NCCL_NET"), "\"IB\""));
}

TEST(names_that_were_probably_meant)
{
	static const struct {
		const char *name, *near;
	} cases[] = {
		{ "NCCL_IB_HAC", "NCCL_IB_HCA" },
		{ "NCCL_IB_HCAS", "NCCL_IB_HCA" },
		{ "nccl_ib_hca", "NCCL_IB_HCA" },
		{ "NCCL_SOCKET_IF_NAME", "NCCL_SOCKET_IFNAME" },
		{ "NCCL_GDR_LEVEL", "NCCL_NET_GDR_LEVEL" },
		{ "NCCL_GID_INDEX", "NCCL_IB_GID_INDEX" },
		{ "NCCL_TC", "NCCL_IB_TC" },
		{ "NCLL_DEBUG", "NCCL_DEBUG" },
		{ "NVSHEM_HCA_LIST", "NVSHMEM_HCA_LIST" },
		{ "UCX_IB_GIDINDEX", "UCX_IB_GID_INDEX" },
		{ "UCX_NET_DEVICE", "UCX_NET_DEVICES" },
		{ "FI_PROVIDERS", "FI_PROVIDER" },
		{ "MC_FOCRE_MNNVL", "MC_FORCE_MNNVL" },
		{ "MC_IB_GID_INDEX", "MC_GID_INDEX" },
		/* Nothing is like these; two edits are as many as between names of different releases. */
		{ "NCCL_PQX_ENABLE", NULL },
		{ "NVSHMEM_TMX_POLICI", NULL },
		{ "NCCL_FOO_BAR", NULL },
		{ "NCCL_ENABLE", NULL },
		{ "NCCL_", NULL },
		{ "FI_OFI_RXR_RX_COPY_UNEXP", NULL },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		char *near = rd_env_name_near(cases[i].name);

		if (cases[i].near)
			assert_string_equal(near ? near : "(none)", cases[i].near);
		else
			assert_null(near);
		assert_int_equal(rd_env_name_known(cases[i].name, NULL, NULL), RD_ENV_NAME_UNKNOWN);
		free(near);
	}
	assert_int_equal(rd_env_name_known("UCX_RC_MLX5_TX_QUEUE_LEN", NULL, NULL), RD_ENV_NAME_KNOWN);
	assert_int_equal(rd_env_name_known("NCCL_RUN_DIAGNOSTICS", NULL, NULL), RD_ENV_NAME_KNOWN);
	assert_int_equal(rd_env_name_known("NVSHMEM_GPUNETIO_NIC_HANDLER", NULL, NULL), RD_ENV_NAME_KNOWN);
	assert_int_equal(rd_env_name_known("NCCL_GIN_MLOPART", NULL, NULL), RD_ENV_NAME_OTHER);
	assert_int_equal(rd_env_name_known("NCCL_BLOCKING_WAIT", NULL, NULL), RD_ENV_NAME_OTHER);
	assert_int_equal(rd_env_name_known("NCCL_LL_THRESHOLD", NULL, NULL), RD_ENV_NAME_RETIRED);
	ASSERT_EACH(IS(rd_env_name_known("RCCL_DEBUG", NULL, NULL), RD_ENV_NAME_FOREIGN),
		    IS(rd_env_name_known("NCLL_FOO", NULL, NULL), RD_ENV_NAME_FOREIGN),
		    IS(rd_env_distance("abcd", "abdc", 2), 1), IS(rd_env_distance("abcd", "bcde", 2), 2),
		    IS(rd_env_distance("abcd", "wxyz", 2), 3), IS(rd_env_distance("", "ab", 2), 2));
}

ENV_CASE_TEST(times_until_a_peer_is_given_up)
{
	start(c);
	check(c, "NCCL_IB_TIMEOUT", "20");
	assert_non_null(strstr(effect_of(c, "NCCL_IB_TIMEOUT"), "2^20 = 4.29 s; with 7 retries"));
	assert_non_null(strstr(effect_of(c, "NCCL_IB_TIMEOUT"), "after 34.4 s at the earliest, 4 times that"));
	assert_int_equal(c->findings.n, 0);
	rd_effects_deinit(&c->effects);
	set(c, "NCCL_IB_RETRY_CNT", "3");
	set(c, "NCCL_IB_TIMEOUT", "22");
	rd_envcheck(&c->map.ports, &c->effects, &c->findings);
	assert_non_null(strstr(effect_of(c, "NCCL_IB_TIMEOUT"), "with 3 retries"));
	assert_non_null(strstr(effect_of(c, "NCCL_IB_TIMEOUT"), "after 68.7 s"));
}

/* Nothing is wrong with a default that somebody wrote down. */
ENV_CASE_TEST(defaults_are_no_findings)
{
	static const char *const defaults[][2] = {
		{ "NCCL_IB_TIMEOUT", "20" },
		{ "NCCL_IB_RETRY_CNT", "7" },
		{ "NCCL_IB_SL", "-1" },
		{ "NCCL_IB_TC", "-1" },
		{ "NCCL_IB_GID_INDEX", "-1" },
		{ "NCCL_IB_DISABLE", "0" },
		{ "NCCL_IB_MERGE_VFS", "1" },
		{ "NCCL_IB_MERGE_NICS", "1" },
		{ "NCCL_CROSS_NIC", "2" },
		{ "NCCL_PXN_DISABLE", "0" },
		{ "NCCL_IB_DATA_DIRECT", "1" },
		{ "NCCL_NET_GDR_LEVEL", "PXB" },
		{ "NCCL_NET_MERGE_LEVEL", "PORT" },
		{ "NCCL_NETDEVS_POLICY", "AUTO" },
		{ "NCCL_IB_PKEY", "0" },
		{ "NCCL_IB_ADDR_FAMILY", "AF_INET" },
		{ "NCCL_IB_ROCE_VERSION_NUM", "2" },
		{ "NCCL_IB_ADDR_RANGE", "" },
		{ "NCCL_IB_PCI_RELAXED_ORDERING", "2" },
		{ "UCX_TLS", "all" },
		{ "UCX_NET_DEVICES", "all" },
		{ "UCX_IB_GID_INDEX", "auto" },
		{ "UCX_IB_SL", "auto" },
		{ "UCX_IB_TRAFFIC_CLASS", "auto" },
		{ "UCX_RC_TIMEOUT", "1.0s" },
		{ "UCX_RC_RETRY_COUNT", "7" },
		{ "FI_EFA_IFACE", "all" },
		{ "NVSHMEM_REMOTE_TRANSPORT", "ibrc" },
		{ "NVSHMEM_IBGDA_NIC_HANDLER", "auto" },
		{ "NVSHMEM_HCA_PREFIX", "mlx5" },
		{ "NVSHMEM_IB_ADDR_RANGE", "::/0" },
		{ "MC_MTU", "4096" },
		{ "MC_RETRY_CNT", "9" },
		{ "MC_IB_PORT", "1" },
		{ "MC_NUM_QP_PER_EP", "2" },
	};

	start(c);
	for (size_t i = 0; i < RD_ARRAY_SIZE(defaults); i++) {
		check(c, defaults[i][0], defaults[i][1]);
		if (c->findings.n)
			fail_msg("%s=%s: %s", defaults[i][0], defaults[i][1], c->findings.v[0].title);
		assert_int_equal(c->effects.v[0].judged, RD_JUDGED_YES);
	}
}

/* As ucp_is_resource_in_transports_list reads it: an alias that is excluded leaves its auxiliary transports. */
TEST(transports_of_ucx)
{
	static const struct {
		const char *value;
		bool any, efa;
	} rows[] = {
		{ "all", true, true },
		{ "tcp,sm", false, false },
		{ "rc,tcp", true, false },
		{ "^tcp", true, true },
		{ "^ib", false, false },
		{ "^rc", true, true },
		{ "^rc,dc", true, true },
		{ "^rc,dc,ud", false, true },
		{ "^rc,dc,ud,srd", false, false },
		{ "^tcp,ud,dc_x,rc_v,rc_x", false, true },
		{ "^\\rc_verbs,\\rc_mlx5,dc,ud", false, true },
		{ "^rc_x,dc_x,ud_x", true, true },
		{ "^rc_mlx5,rc_verbs,ud_mlx5,ud_verbs", true, true },
		{ "^srd,ud", true, false },
		{ "^all", false, false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(rows); i++)
		if (rd_env_ucx_allows_rdma(rows[i].value, false) != rows[i].any ||
		    rd_env_ucx_allows_rdma(rows[i].value, true) != rows[i].efa)
			fail_msg("%s", rows[i].value);
}

TEST(options_of_the_driver_are_read_as_it_reads_them)
{
	static const struct {
		const char *registry;
		bool maps;
	} rows[] = {
		{ NULL, false },
		{ "", false },
		{ "PeerMappingOverride=1;", true },
		{ "RmMsg=2;PeerMappingOverride=1", true },
		{ " PeerMappingOverride = 0x1 ", true },
		{ "PeerMappingOverride=01;;", true },
		{ "PeerMappingOverride=0", false },
		{ "PeerMappingOverride=10", false },
		{ "NoPeerMappingOverride=1", false },
		{ "PeerMappingOverride", false },
		{ "PeerMappingOverride=1;PeerMappingOverride=0", false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(rows); i++) {
		const struct rd_system system = { .nvidia_registry = (char *)rows[i].registry };

		if (rd_maps_peers(&system) != rows[i].maps)
			fail_msg("%s", rows[i].registry);
	}
}
