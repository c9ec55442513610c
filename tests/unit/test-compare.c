/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts that should be alike: who is named, who is not, and what follows from what. */
#include "unit.h"

#include "analyse/compare/compare.h"
#include "model/shared/facts.h"

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

/* Hosts that are alike, and what their comparison found. */
struct fleet {
	struct rd_compared *hosts;
	size_t n;
	struct rd_comparison found;
};

static struct fleet make_fleet(size_t n)
{
	struct fleet f = { .hosts = calloc(n, sizeof(*f.hosts)), .n = n };

	for (size_t h = 0; h < n; h++)
		make(&f.hosts[h], h, RAILS);
	return f;
}

static void fleet_deinit(struct fleet *f)
{
	rd_comparison_deinit(&f->found);
	for (size_t h = 0; h < f->n; h++)
		rd_compared_deinit(&f->hosts[h]);
	free(f->hosts);
}

/* Compares the first `n`. */
static void compare(struct fleet *f, size_t n)
{
	rd_comparison_deinit(&f->found);
	rd_compare(f->hosts, n, &f->found);
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

TEST(hosts_that_are_alike)
{
	for (size_t n = 1; n <= 5; n++) {
		_cleanup_(fleet_deinit) struct fleet f = make_fleet(n);

		/* Subnets that are another on each host, and what was not read, are no differences. */
		for (size_t h = 0; h < n; h++) {
			free(f.hosts[h].ports[0].subnet);
			f.hosts[h].ports[0].subnet = rd_text("10.0.%zu.0/31", h);
		}
		set(&f.hosts[0].ports[1].rate, NULL);
		set(&f.hosts[0].ports[2].state, NULL);
		set(&f.hosts[0].ports[3].firmware, NULL);
		compare(&f, n);
		assert_int_equal(f.found.findings.n, 0);
	}
}

TEST(a_lost_gpu_is_critical_and_explains_the_rest)
{
	static const size_t sizes[] = { 2, 3, 8, HOSTS };

	for (size_t i = 0; i < RD_ARRAY_SIZE(sizes); i++) {
		_cleanup_(fleet_deinit) struct fleet f = make_fleet(sizes[i]);

		lose_gpu(&f.hosts[1], 3);
		compare(&f, sizes[i]);
		assert_int_equal(f.found.findings.n, 1);
		assert_string_equal(f.found.findings.v[0].id, "gpu-missing");
		assert_int_equal(f.found.findings.v[0].severity, RD_SEV_CRITICAL);
		assert_string_equal(f.found.findings.v[0].subject, "n1 GPU 0000:13:00.0");
		assert_non_null(strstr(f.found.findings.v[0].fix, "0000:13:00.0"));
	}
}

/* Each of three hosts has another fault: two are still more than one. */
TEST(no_two_hosts_are_alike)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(3);

	lose_gpu(&f.hosts[1], 3);
	lose_gpu(&f.hosts[2], 5);
	compare(&f, 3);
	assert_int_equal(graver(&f.found), 2);
	assert_string_equal(f.found.findings.v[0].subject, "n1 GPU 0000:13:00.0");
	assert_string_equal(f.found.findings.v[1].subject, "n2 GPU 0000:15:00.0");
}

/* Half of the hosts have four accelerators, and one of the others has lost one. */
TEST(two_kinds_of_host)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(10);
	const struct rd_finding *kinds;

	for (size_t h = 1; h < 10; h += 2) {
		rd_compared_deinit(&f.hosts[h]);
		make(&f.hosts[h], h, 4);
	}
	compare(&f, 10);
	assert_int_equal(f.found.findings.n, 1);
	kinds = find(&f.found, "host-kinds");
	ASSERT_EACH(IS(kinds->severity, RD_SEV_NOTE), READS(kinds->subject, "n1, n3 and 3 more"));
	lose_gpu(&f.hosts[4], 6);
	compare(&f, 10);
	assert_int_equal(graver(&f.found), 1);
	assert_string_equal(f.found.findings.v[0].subject, "n4 GPU 0000:16:00.0");
}

/* The same one is missing on two hosts: of four these are two kinds, of eight they have lost it. */
TEST(as_many_with_as_without)
{
	for (size_t n = 4; n <= 8; n += 4) {
		_cleanup_(fleet_deinit) struct fleet f = make_fleet(n);

		lose_gpu(&f.hosts[0], 3);
		lose_gpu(&f.hosts[1], 3);
		compare(&f, n);
		assert_int_equal(f.found.findings.n, 1);
		assert_string_equal(f.found.findings.v[0].id, n == 4 ? "host-kinds" : "gpu-missing");
		assert_string_equal(f.found.findings.v[0].subject, n == 4 ? "n0 and n1" : "n0 and n1: GPU 0000:13:00.0");
	}
}

/* Other bus numbers are no lost accelerators. */
TEST(a_host_with_other_addresses)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(4);

	for (size_t i = 0; i < RAILS; i++) {
		f.hosts[2].gpus[i][5] = '3';
		f.hosts[2].nics[i][5] = '4';
		f.hosts[2].ports[i].place[5] = '4';
	}
	compare(&f, 4);
	ASSERT_EACH(IS(graver(&f.found), 0), IS(find(&f.found, "host-kinds") != NULL, true));
	lose_gpu(&f.hosts[2], 0);
	compare(&f, 4);
	assert_int_equal(graver(&f.found), 1);
	assert_string_equal(f.found.findings.v[0].subject, "n2 GPUs");
	assert_string_equal(f.found.findings.v[0].expected, "8, as on 3 of 4 hosts");
}

TEST(a_slow_port_comes_before_what_nccl_makes_of_it)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(HOSTS);

	for (size_t h = 7; h < HOSTS; h += 25) {
		set(&f.hosts[h].ports[5].rate, "200");
		f.hosts[h].rails[5].port = 4;
	}
	/* This one's choice has no such reason. */
	f.hosts[3].rails[5].port = 4;
	compare(&f, HOSTS);
	assert_int_equal(f.found.findings.n, 3);
	assert_string_equal(f.found.findings.v[0].id, "rail-rate");
	assert_string_equal(f.found.findings.v[0].subject, "n7, n32 and 38 more: mlx5_5/1");
	assert_string_equal(f.found.findings.v[0].observed, "mlx5_5/1 runs at 200 of 400 Gbit/s");
	ASSERT_EACH(READS(f.found.findings.v[0].expected, "400, as on 960 of 1000 hosts"),
		    IS(f.found.findings.v[0].caused_by.id == NULL, true),
		    READS(f.found.findings.v[1].subject, "n3 GPU5"),
		    IS(f.found.findings.v[1].caused_by.id == NULL, true), READS(f.found.findings.v[2].id, "rail-name"),
		    READS(f.found.findings.v[2].subject, "n7, n32 and 38 more: GPU5"),
		    READS(f.found.findings.v[2].caused_by.id, "rail-rate"));
	assert_string_equal(f.found.findings.v[2].caused_by.subject, f.found.findings.v[0].subject);
	assert_true(f.found.rails[7][5]);
	ASSERT_EACH(IS(f.found.rails[7][6], false), IS(f.found.rails[8][5], false));
}

TEST(mtus_are_compared_also_of_two_hosts)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(3);

	for (size_t h = 0; h < 3; h++)
		set(&f.hosts[h].ports[5].mtu, "RDMA MTU 4096");
	compare(&f, 3);
	assert_int_equal(f.found.findings.n, 0);
	set(&f.hosts[1].ports[5].mtu, "RDMA MTU 1024");
	for (size_t n = 2; n <= 3; n++) {
		compare(&f, n);
		assert_int_equal(f.found.findings.n, 1);
		assert_string_equal(f.found.findings.v[0].id, "rail-mtu");
		assert_int_equal(f.found.findings.v[0].severity, RD_SEV_WARNING);
		assert_non_null(strstr(f.found.findings.v[0].observed, "RDMA MTU 1024"));
	}
	/* Of a port that is down no MTU is known. */
	set(&f.hosts[1].ports[5].mtu, NULL);
	compare(&f, 2);
	assert_int_equal(f.found.findings.n, 0);
}

TEST(all_rails_of_one_host_are_one_finding)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(4);

	for (size_t i = 0; i < RAILS; i++)
		set(&f.hosts[2].ports[i].rate, "200");
	compare(&f, 4);
	assert_int_equal(f.found.findings.n, 1);
	assert_string_equal(f.found.findings.v[0].subject, "n2 mlx5_0/1, mlx5_1/1 and 6 more");
	assert_non_null(strstr(f.found.findings.v[0].observed, "mlx5_7/1 run at 200 of 400 Gbit/s"));
}

/* Which of two hosts is wrong cannot be told, unless its own other ports tell. A faster port is not wrong. */
TEST(nobody_is_blamed_by_half)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(2), five = make_fleet(5);

	for (size_t i = 0; i < RAILS; i++)
		set(&f.hosts[1].ports[i].rate, "200");
	set(&f.hosts[0].ports[0].firmware, "28.39");
	compare(&f, 2);
	ASSERT_EACH(IS(f.found.findings.n, 2), IS(graver(&f.found), 0));
	ASSERT_EACH(IS(f.found.findings.v[0].severity, RD_SEV_UNKNOWN),
		    READS(f.found.findings.v[0].subject, "mlx5_0/1 and 7 more"),
		    READS(f.found.findings.v[0].observed, "200 on n1; 400 on n0"));
	for (size_t i = 1; i < RAILS; i++)
		set(&f.hosts[1].ports[i].rate, "400");
	compare(&f, 2);
	assert_int_equal(graver(&f.found), 1);
	assert_string_equal(f.found.findings.v[0].subject, "n1 mlx5_0/1");
	assert_string_equal(f.found.findings.v[0].expected, "400, as on 15 of 16 ports of such cards");
	set(&five.hosts[1].ports[0].rate, "800");
	compare(&five, 5);
	assert_int_equal(five.found.findings.n, 0);
}

TEST(ports_that_are_down)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(6);

	set(&f.hosts[1].ports[0].state, "DOWN");
	set(&f.hosts[2].ports[1].state, "DOWN");
	f.hosts[2].ports[1].compute = false;
	/* Down on all but one: a spare port. */
	for (size_t h = 1; h < 6; h++)
		set(&f.hosts[h].ports[7].state, "DOWN");
	compare(&f, 6);
	assert_int_equal(f.found.findings.n, 2);
	assert_int_equal(f.found.findings.v[0].severity, RD_SEV_CRITICAL);
	ASSERT_EACH(READS(f.found.findings.v[0].subject, "n1 mlx5_0/1"),
		    IS(f.found.findings.v[1].severity, RD_SEV_WARNING),
		    READS(f.found.findings.v[1].subject, "n2 mlx5_1/1"));
}

TEST(other_names_layers_and_subnets)
{
	_cleanup_(fleet_deinit) struct fleet f = make_fleet(6);

	set(&f.hosts[1].ports[0].label, "mlx5_9/1");
	set(&f.hosts[2].ports[1].link_layer, "Ethernet");
	set(&f.hosts[2].ports[1].rate, "100");
	set(&f.hosts[3].ports[2].subnet, "10.3.0.0/16");
	set(&f.hosts[3].ports[3].subnet, "10.2.0.0/16");
	compare(&f, 6);
	assert_int_equal(f.found.findings.n, 5);
	assert_string_equal(f.found.findings.v[0].id, "rail-layer");
	assert_string_equal(find(&f.found, "rail-rate")->caused_by.id, "rail-layer");
	assert_string_equal(find(&f.found, "nic-name")->subject, "n1 mlx5_9/1");
	assert_string_equal(find(&f.found, "rail-subnet")->subject, "n3 mlx5_3/1");
}

/* The network of the interface's address, whatever its length. */
TEST(subnets_are_those_of_addresses)
{
	static const struct {
		unsigned prefix;
		const char *subnet;
	} cases[] = { { 16, "10.1.0.0/16" },  { 20, "10.1.32.0/20" }, { 31, "10.1.44.2/31" },
		      { 32, "10.1.44.3/32" }, { 33, NULL },	      { 0, NULL } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		_cleanup_(rd_compared_deinit) struct rd_compared taken = { 0 };
		struct rd_addr addrs[] = { { .v6 = true, .raw = { 0x20, 0x01 }, .prefix = 16 },
					   { .raw = { 10, 1, 44, 3 }, .prefix = (uint8_t)cases[i].prefix } };
		struct rd_netdev netdev = { .name = (char *)"eth0", .addrs = addrs, .n_addrs = 2 };
		int at = 0;
		struct rd_port port = { .num = 1, .netdevs = &at, .n_netdevs = 1 };
		struct rd_ibdev ibdev = { .name = (char *)"mlx5_0", .pci = -1, .n_ports = 1 };
		struct rd_host host = {
			.ibdevs = &ibdev, .n_ibdevs = 1, .ports = &port, .n_ports = 1, .netdevs = &netdev, .n_netdevs = 1
		};
		struct rd_nicmap map = { 0 };
		struct rd_facts facts = { 0 };

		rd_port_views_init(&map.ports, &host);
		rd_compared_take("a", &host, &map, &facts, &taken);
		rd_port_views_deinit(&map.ports);
		assert_int_equal(taken.n_ports, 1);
		if (cases[i].subnet)
			assert_string_equal(taken.ports[0].subnet, cases[i].subnet);
		else
			assert_null(taken.ports[0].subnet);
	}
}
