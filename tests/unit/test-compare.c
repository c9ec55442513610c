/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that should be alike: who is named, who is not, and what follows from what. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analyse/compare/compare.h"
#include "base/text.h"

#define HOSTS 1000
#define RAILS 8

/* Eight accelerators, each with a NIC of 400 Gbit/s, all active. */
static void make(struct rd_compared *host, size_t number, size_t gpus)
{
	*host = (struct rd_compared){
		.name = rd_text("n%zu", number),
		.gpus = calloc(gpus, sizeof(*host->gpus)),
		.nics = calloc(gpus, sizeof(*host->nics)),
		.ports = calloc(gpus, sizeof(*host->ports)),
		.rails = calloc(gpus, sizeof(*host->rails)),
		.n_gpus = gpus,
		.n_nics = gpus,
		.n_ports = gpus,
		.n_rails = gpus,
	};
	for (size_t i = 0; i < gpus; i++) {
		host->gpus[i] = rd_text("0000:1%zu:00.0", i);
		host->nics[i] = rd_text("0000:2%zu:00.0", i);
		host->ports[i] = (struct rd_compared_port){
			.place = rd_text("0000:2%zu:00.0/1", i),
			.label = rd_text("mlx5_%zu/1", i),
			.board = strdup("MT_838"),
			.subnet = rd_text("10.%zu.0.0/16", i),
			.rate = strdup("400"),
			.firmware = strdup("28.41"),
			.state = strdup("ACTIVE"),
			.link_layer = strdup("InfiniBand"),
			.compute = true,
		};
		host->rails[i] = (struct rd_rail){ .gpu = (int)i, .port = i, .nic = rd_text("mlx5_%zu:1", i) };
	}
}

static struct rd_compared *make_fleet(size_t n)
{
	struct rd_compared *hosts = calloc(n, sizeof(*hosts));

	for (size_t h = 0; h < n; h++)
		make(&hosts[h], h, RAILS);
	return hosts;
}

static void unmake_fleet(struct rd_compared *hosts, size_t n)
{
	for (size_t h = 0; h < n; h++)
		rd_compared_deinit(&hosts[h]);
	free(hosts);
}

static void set(char **text, const char *value)
{
	free(*text);
	*text = value ? strdup(value) : NULL;
}

/* As if it had fallen off the bus: what comes after moves up, and keeps its address. */
static void lose_gpu(struct rd_compared *host, size_t i)
{
	free(host->gpus[i]);
	memmove(&host->gpus[i], &host->gpus[i + 1], (host->n_gpus - i - 1) * sizeof(*host->gpus));
	host->n_gpus--;
	free(host->rails[i].nic);
	memmove(&host->rails[i], &host->rails[i + 1], (host->n_rails - i - 1) * sizeof(*host->rails));
	host->n_rails--;
	for (size_t r = i; r < host->n_rails; r++)
		host->rails[r].gpu--;
}

static const struct rd_finding *find(const struct rd_comparison *found, const char *id)
{
	for (size_t i = 0; i < found->findings.n; i++)
		if (strcmp(found->findings.v[i].id, id) == 0)
			return &found->findings.v[i];
	return NULL;
}

static size_t graver(const struct rd_comparison *found)
{
	size_t n = 0;

	for (size_t i = 0; i < found->findings.n; i++)
		n += found->findings.v[i].severity == RD_SEV_WARNING ||
		     found->findings.v[i].severity == RD_SEV_CRITICAL;
	return n;
}

static void hosts_that_are_alike(void **state)
{
	for (size_t n = 1; n <= 5; n++) {
		struct rd_compared *hosts = make_fleet(n);
		struct rd_comparison found = { 0 };

		/* Subnets that are another on each host, and what was not read, are no differences. */
		for (size_t h = 0; h < n; h++) {
			free(hosts[h].ports[0].subnet);
			hosts[h].ports[0].subnet = rd_text("10.0.%zu.0/31", h);
		}
		set(&hosts[0].ports[1].rate, NULL);
		set(&hosts[0].ports[2].state, NULL);
		set(&hosts[0].ports[3].firmware, NULL);
		rd_compare(hosts, n, &found);
		assert_int_equal(found.findings.n, 0);
		rd_comparison_deinit(&found);
		unmake_fleet(hosts, n);
	}
}

static void a_lost_gpu_is_critical_and_explains_the_rest(void **state)
{
	static const size_t sizes[] = { 2, 3, 8, HOSTS };

	for (size_t i = 0; i < RD_ARRAY_SIZE(sizes); i++) {
		struct rd_compared *hosts = make_fleet(sizes[i]);
		struct rd_comparison found = { 0 };

		lose_gpu(&hosts[1], 3);
		rd_compare(hosts, sizes[i], &found);
		assert_int_equal(found.findings.n, 1);
		assert_string_equal(found.findings.v[0].id, "gpu-missing");
		assert_int_equal(found.findings.v[0].severity, RD_SEV_CRITICAL);
		assert_string_equal(found.findings.v[0].subject, "n1 GPU 0000:13:00.0");
		assert_non_null(strstr(found.findings.v[0].fix, "0000:13:00.0"));
		rd_comparison_deinit(&found);
		unmake_fleet(hosts, sizes[i]);
	}
}

/* Each of three hosts has another fault: two are still more than one. */
static void no_two_hosts_are_alike(void **state)
{
	struct rd_compared *hosts = make_fleet(3);
	struct rd_comparison found = { 0 };

	lose_gpu(&hosts[1], 3);
	lose_gpu(&hosts[2], 5);
	rd_compare(hosts, 3, &found);
	assert_int_equal(graver(&found), 2);
	assert_string_equal(found.findings.v[0].subject, "n1 GPU 0000:13:00.0");
	assert_string_equal(found.findings.v[1].subject, "n2 GPU 0000:15:00.0");
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 3);
}

/* Half of the hosts have four accelerators, and one of the others has lost one. */
static void two_kinds_of_host(void **state)
{
	struct rd_compared *hosts = calloc(10, sizeof(*hosts));
	struct rd_comparison found = { 0 };
	const struct rd_finding *kinds;

	for (size_t h = 0; h < 10; h++)
		make(&hosts[h], h, h % 2 ? 4 : RAILS);
	rd_compare(hosts, 10, &found);
	assert_int_equal(found.findings.n, 1);
	kinds = find(&found, "host-kinds");
	assert_int_equal(kinds->severity, RD_SEV_NOTE);
	assert_string_equal(kinds->subject, "n1, n3 and 3 more");
	rd_comparison_deinit(&found);
	lose_gpu(&hosts[4], 6);
	rd_compare(hosts, 10, &found);
	assert_int_equal(graver(&found), 1);
	assert_string_equal(found.findings.v[0].subject, "n4 GPU 0000:16:00.0");
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 10);
}

/* The same one is missing on two hosts: of four these are two kinds, of eight they have lost it. */
static void as_many_with_as_without(void **state)
{
	for (size_t n = 4; n <= 8; n += 4) {
		struct rd_compared *hosts = make_fleet(n);
		struct rd_comparison found = { 0 };

		lose_gpu(&hosts[0], 3);
		lose_gpu(&hosts[1], 3);
		rd_compare(hosts, n, &found);
		assert_int_equal(found.findings.n, 1);
		assert_string_equal(found.findings.v[0].id, n == 4 ? "host-kinds" : "gpu-missing");
		assert_string_equal(found.findings.v[0].subject, n == 4 ? "n0 and n1" : "n0 and n1: GPU 0000:13:00.0");
		rd_comparison_deinit(&found);
		unmake_fleet(hosts, n);
	}
}

/* Other bus numbers are no lost accelerators. */
static void a_host_with_other_addresses(void **state)
{
	struct rd_compared *hosts = make_fleet(4);
	struct rd_comparison found = { 0 };

	for (size_t i = 0; i < RAILS; i++) {
		hosts[2].gpus[i][5] = '3';
		hosts[2].nics[i][5] = '4';
		hosts[2].ports[i].place[5] = '4';
	}
	rd_compare(hosts, 4, &found);
	assert_int_equal(graver(&found), 0);
	assert_non_null(find(&found, "host-kinds"));
	rd_comparison_deinit(&found);
	lose_gpu(&hosts[2], 0);
	rd_compare(hosts, 4, &found);
	assert_int_equal(graver(&found), 1);
	assert_string_equal(found.findings.v[0].subject, "n2 GPUs");
	assert_string_equal(found.findings.v[0].expected, "8, as on 3 of 4 hosts");
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 4);
}

static void a_slow_port_comes_before_what_nccl_makes_of_it(void **state)
{
	struct rd_compared *hosts = make_fleet(HOSTS);
	struct rd_comparison found = { 0 };

	for (size_t h = 7; h < HOSTS; h += 25) {
		set(&hosts[h].ports[5].rate, "200");
		hosts[h].rails[5].port = 4;
	}
	/* This one's choice has no such reason. */
	hosts[3].rails[5].port = 4;
	rd_compare(hosts, HOSTS, &found);
	assert_int_equal(found.findings.n, 3);
	assert_string_equal(found.findings.v[0].id, "rail-rate");
	assert_string_equal(found.findings.v[0].subject, "n7, n32 and 38 more: mlx5_5/1");
	assert_string_equal(found.findings.v[0].observed, "mlx5_5/1 runs at 200 of 400 Gbit/s");
	assert_string_equal(found.findings.v[0].expected, "400, as on 960 of 1000 hosts");
	assert_null(found.findings.v[0].caused_by.id);
	assert_string_equal(found.findings.v[1].subject, "n3 GPU5");
	assert_null(found.findings.v[1].caused_by.id);
	assert_string_equal(found.findings.v[2].id, "rail-name");
	assert_string_equal(found.findings.v[2].subject, "n7, n32 and 38 more: GPU5");
	assert_string_equal(found.findings.v[2].caused_by.id, "rail-rate");
	assert_string_equal(found.findings.v[2].caused_by.subject, found.findings.v[0].subject);
	assert_true(found.rails[7][5]);
	assert_false(found.rails[7][6]);
	assert_false(found.rails[8][5]);
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, HOSTS);
}

static void mtus_are_compared_also_of_two_hosts(void **state)
{
	struct rd_compared *hosts = make_fleet(3);
	struct rd_comparison found = { 0 };

	for (size_t h = 0; h < 3; h++)
		set(&hosts[h].ports[5].mtu, "RDMA MTU 4096");
	rd_compare(hosts, 3, &found);
	assert_int_equal(found.findings.n, 0);
	rd_comparison_deinit(&found);
	set(&hosts[1].ports[5].mtu, "RDMA MTU 1024");
	for (size_t n = 2; n <= 3; n++) {
		rd_compare(hosts, n, &found);
		assert_int_equal(found.findings.n, 1);
		assert_string_equal(found.findings.v[0].id, "rail-mtu");
		assert_int_equal(found.findings.v[0].severity, RD_SEV_WARNING);
		assert_non_null(strstr(found.findings.v[0].observed, "RDMA MTU 1024"));
		rd_comparison_deinit(&found);
	}
	/* Of a port that is down no MTU is known. */
	set(&hosts[1].ports[5].mtu, NULL);
	rd_compare(hosts, 2, &found);
	assert_int_equal(found.findings.n, 0);
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 3);
}

static void all_rails_of_one_host_are_one_finding(void **state)
{
	struct rd_compared *hosts = make_fleet(4);
	struct rd_comparison found = { 0 };

	for (size_t i = 0; i < RAILS; i++)
		set(&hosts[2].ports[i].rate, "200");
	rd_compare(hosts, 4, &found);
	assert_int_equal(found.findings.n, 1);
	assert_string_equal(found.findings.v[0].subject, "n2 mlx5_0/1, mlx5_1/1 and 6 more");
	assert_non_null(strstr(found.findings.v[0].observed, "mlx5_7/1 run at 200 of 400 Gbit/s"));
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 4);
}

/* Which of two hosts is wrong cannot be told, unless its own other ports tell. A faster port is not wrong. */
static void nobody_is_blamed_by_half(void **state)
{
	struct rd_compared *hosts = make_fleet(2);
	struct rd_comparison found = { 0 };

	for (size_t i = 0; i < RAILS; i++)
		set(&hosts[1].ports[i].rate, "200");
	set(&hosts[0].ports[0].firmware, "28.39");
	rd_compare(hosts, 2, &found);
	assert_int_equal(found.findings.n, 2);
	assert_int_equal(graver(&found), 0);
	assert_int_equal(found.findings.v[0].severity, RD_SEV_UNKNOWN);
	assert_string_equal(found.findings.v[0].subject, "mlx5_0/1 and 7 more");
	assert_string_equal(found.findings.v[0].observed, "200 on n1; 400 on n0");
	rd_comparison_deinit(&found);
	for (size_t i = 1; i < RAILS; i++)
		set(&hosts[1].ports[i].rate, "400");
	rd_compare(hosts, 2, &found);
	assert_int_equal(graver(&found), 1);
	assert_string_equal(found.findings.v[0].subject, "n1 mlx5_0/1");
	assert_string_equal(found.findings.v[0].expected, "400, as on 15 of 16 ports of such cards");
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 2);
	hosts = make_fleet(5);
	set(&hosts[1].ports[0].rate, "800");
	rd_compare(hosts, 5, &found);
	assert_int_equal(found.findings.n, 0);
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 5);
}

static void ports_that_are_down(void **state)
{
	struct rd_compared *hosts = make_fleet(6);
	struct rd_comparison found = { 0 };

	set(&hosts[1].ports[0].state, "DOWN");
	set(&hosts[2].ports[1].state, "DOWN");
	hosts[2].ports[1].compute = false;
	/* Down on all but one: a spare port. */
	for (size_t h = 1; h < 6; h++)
		set(&hosts[h].ports[7].state, "DOWN");
	rd_compare(hosts, 6, &found);
	assert_int_equal(found.findings.n, 2);
	assert_int_equal(found.findings.v[0].severity, RD_SEV_CRITICAL);
	assert_string_equal(found.findings.v[0].subject, "n1 mlx5_0/1");
	assert_int_equal(found.findings.v[1].severity, RD_SEV_WARNING);
	assert_string_equal(found.findings.v[1].subject, "n2 mlx5_1/1");
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 6);
}

static void other_names_layers_and_subnets(void **state)
{
	struct rd_compared *hosts = make_fleet(6);
	struct rd_comparison found = { 0 };

	set(&hosts[1].ports[0].label, "mlx5_9/1");
	set(&hosts[2].ports[1].link_layer, "Ethernet");
	set(&hosts[2].ports[1].rate, "100");
	set(&hosts[3].ports[2].subnet, "10.3.0.0/16");
	set(&hosts[3].ports[3].subnet, "10.2.0.0/16");
	rd_compare(hosts, 6, &found);
	assert_int_equal(found.findings.n, 5);
	assert_string_equal(found.findings.v[0].id, "rail-layer");
	assert_string_equal(find(&found, "rail-rate")->caused_by.id, "rail-layer");
	assert_string_equal(find(&found, "nic-name")->subject, "n1 mlx5_9/1");
	assert_string_equal(find(&found, "rail-subnet")->subject, "n3 mlx5_3/1");
	rd_comparison_deinit(&found);
	unmake_fleet(hosts, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hosts_that_are_alike),
		TEST(a_lost_gpu_is_critical_and_explains_the_rest),
		TEST(no_two_hosts_are_alike),
		TEST(two_kinds_of_host),
		TEST(as_many_with_as_without),
		TEST(a_host_with_other_addresses),
		TEST(a_slow_port_comes_before_what_nccl_makes_of_it),
		TEST(mtus_are_compared_also_of_two_hosts),
		TEST(all_rails_of_one_host_are_one_finding),
		TEST(nobody_is_blamed_by_half),
		TEST(ports_that_are_down),
		TEST(other_names_layers_and_subnets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
