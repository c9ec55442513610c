/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which RDMA device a finding is about, and which findings are hidden when only some devices are shown. */
#include "unit.h"

#include "diagnose/findings/findings.h"
#include "nicmap-host.h"

enum { FIRST, SECOND, TENTH, ONE, OTHER, VF, SOFT };

static int made_interface(struct rd_host *host, const char *name, int ibdev)
{
	struct rd_port *port = made_port(host, ibdev);
	int netdev = made_netdev(host, name);

	port->netdevs = calloc(1, sizeof(int));
	port->netdevs[0] = netdev;
	port->n_netdevs = 1;
	host->netdevs[netdev].pci = host->ibdevs[ibdev].pci;
	return netdev;
}

/* Three NICs, two of which have names of which one begins the other; a card with two functions; a VF; a soft device. */
static void make(struct rd_host *host)
{
	int a, b, function;

	made_nic(host, "mlx5_0", "0000:10:00.0", made_bridge(host, "0000:0f:00.0", -1, "pci0000:0f", 0), "pci0000:0f",
		 0, 400);
	made_nic(host, "mlx5_1", "0000:20:00.0", -1, "pci0000:20", 0, 400);
	made_nic(host, "mlx5_10", "0000:30:00.0", -1, "pci0000:30", 0, 400);
	made_nic(host, "mlx5_2", "0000:40:00.0", -1, "pci0000:40", 0, 400);
	made_nic(host, "mlx5_3", "0000:40:00.1", -1, "pci0000:40", 0, 400);
	made_nic(host, "mlx5_4", "0000:10:00.4", -1, "pci0000:0f", 0, 400);
	host->pcis[host->ibdevs[VF].pci].pf = host->ibdevs[FIRST].pci;
	made_nic(host, "rxe0", NULL, -1, NULL, 0, 100);
	host->ibdevs[SOFT].parent_netdev = strdup("eth1");
	made_interface(host, "eth0", FIRST);
	made_interface(host, "eth1", SECOND);
	made_interface(host, "eth10", TENTH);
	a = made_interface(host, "eth2", ONE);
	b = made_interface(host, "eth3", OTHER);
	made_netdev(host, "bond0");
	host->netdevs[a].master = strdup("bond0");
	host->netdevs[b].master = strdup("bond0");
	made_gpu(host, "0000:50:00.0", -1, "pci0000:50", 0);
	/* Functions without RDMA device: of a card with one, and a virtual function given to a guest. */
	function = made_bridge(host, "0000:30:00.1", -1, "pci0000:30", 0);
	host->pcis[function].class.v = 0x020000;
	function = made_bridge(host, "0000:20:01.2", -1, "pci0000:20", 0);
	host->pcis[function].pf = host->ibdevs[SECOND].pci;
}

TEST(a_subject_is_of_the_device_it_names_alone)
{
	static const struct {
		const char *subject;
		int ibdev;
	} cases[] = {
		{ "mlx5_0", FIRST },
		{ "mlx5_1", SECOND },
		{ "mlx5_10", TENTH },
		{ "mlx5_1/1", SECOND },
		{ "mlx5_10/1", TENTH },
		{ "mlx5_10/1 (eth10)", TENTH },
		{ "eth10", TENTH },
		{ "0000:20:00.0", SECOND },
		{ "pci/0000:30:00.0", TENTH },
		{ "0000:30:00.1", TENTH },
		{ "0000:20:01.2", SECOND },
		{ "0000:10:00.4", VF },
		{ "0000:40:00.1", OTHER },
		{ "rxe0/1", SOFT },
		/* Not of one device. */
		{ "host", -1 },
		{ "", -1 },
		{ "mlx5_", -1 },
		{ "mlx5_7", -1 },
		{ "mlx5_1 and 3 more", -1 },
		{ "mlx5_1, mlx5_10", -1 },
		{ "mlx5_1/", -1 },
		{ "mlx5_1/x", -1 },
		{ "port.mlx5_1.rate_gbps", -1 },
		{ "bond0", -1 },
		{ "eth1", -1 },
		{ "eth1.100", -1 },
		{ "0000:0f:00.0", -1 },
		{ "0000:50:00.0", -1 },
		{ "GPU0", -1 },
		{ "3 more", -1 },
	};
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };

	make(&host);
	assert_int_equal(rd_subject_ibdev(&host, NULL), -1);
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		int found = rd_subject_ibdev(&host, cases[i].subject);

		if (found != cases[i].ibdev)
			fail_msg("'%s': %d, not %d", cases[i].subject, found, cases[i].ibdev);
	}
	/* A bond of one device is that device's. */
	free(host.netdevs[rd_host_find_netdev(&host, "eth3")].master);
	host.netdevs[rd_host_find_netdev(&host, "eth3")].master = NULL;
	assert_int_equal(rd_subject_ibdev(&host, "bond0"), ONE);
}

/* As a crafted bundle may have it. */
TEST(functions_that_name_each_other_as_physical_do_not_loop)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int a, b;

	make(&host);
	a = made_bridge(&host, "0000:60:00.0", -1, "pci0000:60", 0);
	b = made_bridge(&host, "0000:60:00.1", -1, "pci0000:60", 0);
	host.pcis[a].pf = b;
	host.pcis[b].pf = a;
	assert_int_equal(rd_subject_ibdev(&host, "0000:60:00.0"), -1);
}

static void add(struct rd_findings *findings, const char *id, const char *subject, const char *observed)
{
	const struct rd_finding finding = { .id = id,
					    .title = "title",
					    .severity = RD_SEV_WARNING,
					    .subject = rd_text("%s", subject),
					    .observed = rd_text("%s", observed) };

	rd_finding_add(findings, &finding);
}

/* The subjects that remain for these devices: "host mlx5_0". */
static const char *shown(const char *devices, struct rd_findings *findings, size_t *n)
{
	static char text[512];
	struct rd_selection selection;
	struct rd_host host = { 0 };

	make(&host);
	assert_int_equal(rd_selection_make(&host, devices, &selection, NULL), 0);
	*n = rd_findings_select(&host, &selection, findings);
	text[0] = '\0';
	for (size_t i = 0; i < findings->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i > 0 ? " " : "",
			 findings->v[i].subject);
	rd_findings_deinit(findings);
	rd_selection_deinit(&selection);
	rd_host_deinit(&host);
	return text;
}

static const char *of(const char *devices)
{
	static const char *const subjects[] = { "host",	 "mlx5_0/1", "mlx5_1/1",     "mlx5_10/1",    "mlx5_4",
						"bond0", "eth1",     "0000:0f:00.0", "0000:40:00.0", "mlx5_2" };
	struct rd_findings findings = { 0 };
	const char *text;
	size_t n;

	for (size_t i = 0; i < RD_ARRAY_SIZE(subjects); i++)
		add(&findings, "rule", subjects[i], "observed");
	text = shown(devices, &findings, &n);
	return text;
}

TEST(findings_about_other_devices_are_hidden)
{
	assert_string_equal(of("mlx5_1"), "host mlx5_1/1 bond0 eth1");
	assert_string_equal(of("mlx5_10"), "host mlx5_10/1 bond0 eth1");
	assert_string_equal(of("mlx5_10,mlx5_1/1"), "host mlx5_1/1 mlx5_10/1 bond0 eth1");
	assert_string_equal(of("eth10"), of("mlx5_10:1"));
	/* A virtual function depends on its physical function; not the other way round. */
	assert_string_equal(of("mlx5_4"), "host mlx5_0/1 mlx5_4 bond0 eth1 0000:0f:00.0");
	assert_string_equal(of("mlx5_0"), "host mlx5_0/1 bond0 eth1 0000:0f:00.0");
	/* Functions of a card share its slot, not their ports. */
	assert_string_equal(of("mlx5_3"), "host bond0 eth1 0000:40:00.0");
	/* A soft device sits on the interface of another. */
	assert_string_equal(of("rxe0"), "host mlx5_1/1 bond0 eth1");
	assert_string_equal(of(NULL),
			    "host mlx5_0/1 mlx5_1/1 mlx5_10/1 mlx5_4 bond0 eth1 0000:0f:00.0 0000:40:00.0 mlx5_2");
}

TEST(what_caused_the_findings_of_a_device_stays)
{
	struct rd_findings findings = { 0 };
	size_t n;

	add(&findings, "subnet", "mlx5_2/1", "in one subnet with mlx5_1/1");
	add(&findings, "subnet", "mlx5_10/1", "in one subnet with mlx5_2/1");
	assert_string_equal(shown("mlx5_2", &findings, &n), "mlx5_2/1");
	assert_int_equal(n, 1);
	add(&findings, "first", "mlx5_10", "observed");
	add(&findings, "second", "mlx5_10/1", "observed");
	add(&findings, "third", "mlx5_1/1", "observed");
	add(&findings, "fourth", "mlx5_0/1", "observed");
	rd_finding_blame(&findings.v[1], &findings.v[0]);
	rd_finding_blame(&findings.v[2], &findings.v[1]);
	rd_finding_blame(&findings.v[3], &findings.v[1]);
	assert_string_equal(shown("mlx5_1", &findings, &n), "mlx5_10 mlx5_10/1 mlx5_1/1");
	assert_int_equal(n, 1);
}

/* The switch is that of mlx5_0. */
TEST(what_a_fault_causes_for_a_bridge_is_hidden_with_it)
{
	static const struct {
		const char *cause, *devices, *remain;
	} cases[] = {
		{ "mlx5_2/1", "mlx5_1", "" },
		{ "mlx5_2/1", "mlx5_2", "mlx5_2/1 0000:0f:00.0" },
		{ "mlx5_2/1", "mlx5_0", "mlx5_2/1 0000:0f:00.0" },
		{ "host", "mlx5_1", "host 0000:0f:00.0" },
		{ "not in the list", "mlx5_1", "0000:0f:00.0" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_findings findings = { 0 };
		struct rd_finding none = { .id = "cause", .subject = (char *)"nothing" };
		bool listed = strcmp(cases[i].cause, "not in the list") != 0;
		size_t n;

		if (listed)
			add(&findings, "cause", cases[i].cause, "observed");
		add(&findings, "switch", "0000:0f:00.0", "observed");
		rd_finding_blame(&findings.v[findings.n - 1], listed ? &findings.v[0] : &none);
		assert_string_equal(shown(cases[i].devices, &findings, &n), cases[i].remain);
	}
}

TEST(a_name_that_is_none_is_an_error)
{
	static const char *const names[] = { "mlx5_9",	"mlx5_0,mlx5_9", "mlx5_0/2",	"",
					     "mlx5_0,", "bond0",	 "0000:0f:00.0" };
	struct rd_selection selection;
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	struct rd_err err = { 0 };

	make(&host);
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		if (rd_selection_make(&host, names[i], &selection, &err) != -ENODEV)
			fail_msg("'%s' was accepted", names[i]);
		assert_non_null(strstr(err.message, "no such RDMA device"));
		rd_selection_deinit(&selection);
	}
	assert_int_equal(rd_selection_make(&host, "mlx5_1*", &selection, &err), 0);
	assert_true(rd_selection_has_ibdev(&selection, SECOND) && rd_selection_has_port(&selection, TENTH));
	assert_false(rd_selection_has_ibdev(&selection, FIRST) || rd_selection_has_port(&selection, ONE));
	rd_selection_deinit(&selection);
}
