/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is folded below what, what a profile mutes, and in which order the rest stands. */
#include "unit.h"

#include "diagnose/findings/findings.h"
#include "nicmap-host.h"

/* Two NICs below switches of their own; the first has an interface. */
struct place {
	struct rd_host host;
	struct rd_findings findings;
	struct rd_profile profile;
};

static void make(struct place *at)
{
	for (unsigned n = 0; n < 2; n++) {
		char name[16], addr[24], root[24];
		unsigned bus = 0x10 + 0x10 * n;
		int up;

		snprintf(root, sizeof(root), "pci0000:%02x", bus);
		up = made_switch(&at->host, bus, root, (int)n);
		snprintf(name, sizeof(name), "mlx5_%u", n);
		snprintf(addr, sizeof(addr), "0000:%02x:00.0", bus + 8);
		made_nic(&at->host, name, addr, made_port_of(&at->host, up, 0), root, (int)n, 400);
	}
	made_nic(&at->host, "mlx5_10", "0000:40:00.0", -1, "pci0000:40", 0, 400);
	made_port(&at->host, 0)->netdevs = calloc(1, sizeof(int));
	made_port(&at->host, 0)->netdevs[0] = made_netdev(&at->host, "eth0");
	made_port(&at->host, 0)->n_netdevs = 1;
}

static void done(struct place *at)
{
	rd_findings_deinit(&at->findings);
	rd_profile_deinit(&at->profile);
	rd_host_deinit(&at->host);
}

static void say(struct place *at, const char *id, enum rd_severity severity, const char *subject)
{
	const struct rd_finding finding = {
		.id = id, .title = "title", .severity = severity, .subject = rd_text("%s", subject)
	};

	rd_finding_add(&at->findings, &finding);
}

/* "CAUSE SUBJECT" of the finding about this; "" if it stands by itself. */
static const char *cause_of(const struct place *at, const char *id, const char *subject)
{
	static char text[128];

	for (size_t i = 0; i < at->findings.n; i++) {
		const struct rd_finding *f = &at->findings.v[i];

		if (strcmp(f->id, id) != 0 || strcmp(f->subject, subject) != 0)
			continue;
		snprintf(text, sizeof(text), "%s%s%s", f->caused_by.id ? f->caused_by.id : "",
			 f->caused_by.id ? " " : "", f->caused_by.id ? f->caused_by.subject : "");
		return text;
	}
	return "not there";
}

#define PLACE_TEST(name) TEST_ON(name, struct place, at, { 0 }, done)

PLACE_TEST(what_follows_is_folded_below_its_own_cause)
{
	make(at);
	say(at, "gid-usable", RD_SEV_CRITICAL, "mlx5_0/1");
	say(at, "gid-usable", RD_SEV_CRITICAL, "mlx5_10/1");
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_0/1");
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_1/1");
	say(at, "roce-netdev", RD_SEV_CRITICAL, "eth0");
	say(at, "mtu-uniform", RD_SEV_WARNING, "mlx5_10/1");
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "gid-usable", "mlx5_0/1"), "port-state mlx5_0/1");
	/* The name of the other begins with that of one that is down. */
	assert_string_equal(cause_of(at, "gid-usable", "mlx5_10/1"), "");
	assert_string_equal(cause_of(at, "mtu-uniform", "mlx5_10/1"), "");
	/* By way of the interface. */
	assert_string_equal(cause_of(at, "roce-netdev", "eth0"), "port-state mlx5_0/1");
	assert_string_equal(cause_of(at, "port-state", "mlx5_1/1"), "");
	assert_int_equal(rd_findings_count(&at->findings, RD_SEV_CRITICAL), 3);
	assert_int_equal(rd_findings_worst(&at->findings), RD_SEV_CRITICAL);
}

PLACE_TEST(a_chain_ends_at_what_stands_by_itself)
{
	make(at);
	say(at, "link-layer-uniform", RD_SEV_WARNING, "mlx5_1/1");
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_1/1");
	say(at, "neighbour-failed", RD_SEV_WARNING, "mlx5_1/1");
	say(at, "aer-correctable", RD_SEV_WARNING, "0000:40:00.0");
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "port-state", "mlx5_1/1"), "link-layer-uniform mlx5_1/1");
	assert_string_equal(cause_of(at, "neighbour-failed", "mlx5_1/1"), "link-layer-uniform mlx5_1/1");
	/* A cause counts as much as the worst that follows from it. */
	assert_string_equal(at->findings.v[0].id, "link-layer-uniform");
	assert_int_equal(rd_findings_worst(&at->findings), RD_SEV_CRITICAL);
}

/* Each by its own, and without comparing all with all objects of the host: that would take minutes. */
PLACE_TEST(thousands_of_devices_are_folded_in_a_moment)
{
	enum { MANY = 2000 };

	for (unsigned n = 0; n < MANY; n++) {
		char name[16], addr[24], port[24];

		snprintf(name, sizeof(name), "mlx5_%u", n);
		snprintf(addr, sizeof(addr), "%04x:01:00.0", n);
		snprintf(port, sizeof(port), "mlx5_%u/1", n);
		made_nic(&at->host, name, addr, -1, "pci0000:00", 0, 400);
		say(at, "port-state", RD_SEV_CRITICAL, port);
		say(at, "gid-usable", RD_SEV_CRITICAL, port);
		say(at, "pcie-link-width", RD_SEV_WARNING, addr);
	}
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "gid-usable", "mlx5_1/1"), "port-state mlx5_1/1");
	assert_string_equal(cause_of(at, "gid-usable", "mlx5_1999/1"), "port-state mlx5_1999/1");
	assert_int_equal(rd_findings_count(&at->findings, RD_SEV_CRITICAL), MANY);
}

PLACE_TEST(a_bridge_explains_what_hangs_below_it)
{
	make(at);
	say(at, "pcie-link-width", RD_SEV_CRITICAL, at->host.pcis[0].addr);
	say(at, "pcie-bandwidth", RD_SEV_WARNING, "0000:18:00.0");
	say(at, "pcie-bandwidth", RD_SEV_WARNING, "0000:28:00.0");
	say(at, "nic-driver", RD_SEV_CRITICAL, "0000:28:00.0");
	say(at, "gpu-nic-socket", RD_SEV_WARNING, "mlx5_10");
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "pcie-bandwidth", "0000:18:00.0"), "pcie-link-width 0000:10:00.0");
	assert_string_equal(cause_of(at, "pcie-bandwidth", "0000:28:00.0"), "");
	/* The NIC without a driver is on the other node. */
	assert_string_equal(cause_of(at, "gpu-nic-socket", "mlx5_10"), "");
}

/* Nodes of one socket (NPS4, SNC). */
PLACE_TEST(a_nic_of_the_socket_is_why_there_is_none)
{
	make(at);
	for (int node = 0; node < 2; node++) {
		struct rd_numa *numa = rd_host_add_numa(&at->host);

		numa->id = node;
		RD_SET(numa->package, 0);
	}
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_1/1");
	say(at, "gpu-nic-socket", RD_SEV_WARNING, "mlx5_10");
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "gpu-nic-socket", "mlx5_10"), "port-state mlx5_1/1");
}

PLACE_TEST(what_is_lossy_differs_from_the_others)
{
	make(at);
	say(at, "roce-lossless", RD_SEV_WARNING, "mlx5_1/1 (eth1)");
	say(at, "roce-pfc-uniform", RD_SEV_WARNING, "mlx5_1/1 (eth1)");
	say(at, "roce-pfc-uniform", RD_SEV_WARNING, "mlx5_2/1 (eth2)");
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "roce-pfc-uniform", "mlx5_1/1 (eth1)"), "roce-lossless mlx5_1/1 (eth1)");
	assert_string_equal(cause_of(at, "roce-pfc-uniform", "mlx5_2/1 (eth2)"), "");
}

PLACE_TEST(nothing_follows_from_what_is_well)
{
	make(at);
	say(at, "port-state", RD_SEV_NOTE, "mlx5_0/1");
	say(at, "gid-usable", RD_SEV_CRITICAL, "mlx5_0/1");
	rd_diagnose(&at->host, NULL, 0, &at->findings);
	assert_string_equal(cause_of(at, "gid-usable", "mlx5_0/1"), "");
	assert_string_equal(at->findings.v[0].id, "gid-usable");
}

/* 2026-11-22. */
#define TODAY 20779

static void take_profile(struct place *at, const char *text)
{
	assert_int_equal(rd_profile_parse(text, strlen(text), "profile", &at->profile, NULL), 0);
}

PLACE_TEST(what_a_profile_ignores_is_muted_with_what_follows)
{
	make(at);
	take_profile(at, "ignore = port-state@mlx5_0/1 until 2026-11-22 cable ordered\n"
			 "ignore = link-downed until 2026-11-21 was looked at\n");
	assert_int_equal(rd_profile_day(UINT64_C(1795305600) * 1000000000), TODAY);
	say(at, "gid-usable", RD_SEV_CRITICAL, "mlx5_0/1");
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_0/1");
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_1/1");
	say(at, "link-downed", RD_SEV_WARNING, "mlx5_10/1");
	rd_diagnose(&at->host, &at->profile, TODAY, &at->findings);
	assert_int_equal(at->findings.n, 5);
	assert_string_equal(at->findings.v[0].subject, "mlx5_1/1");
	assert_string_equal(at->findings.v[1].id, "link-downed"); /* the finding says that its line has ended */
	ASSERT_EACH(READS(at->findings.v[2].id, "ignore-ended"), IS(at->findings.v[2].severity, RD_SEV_NOTE),
		    READS(at->findings.v[3].muted, "until 2026-11-22: cable ordered"),
		    READS(at->findings.v[4].muted, "until 2026-11-22: cable ordered"),
		    IS(rd_findings_count(&at->findings, RD_SEV_CRITICAL), 1));
}

PLACE_TEST(what_is_muted_counts_for_nothing)
{
	make(at);
	take_profile(at, "ignore = port-state until 2026-12-31 rack is being cabled\n");
	say(at, "port-state", RD_SEV_CRITICAL, "mlx5_0/1");
	rd_diagnose(&at->host, &at->profile, TODAY, &at->findings);
	assert_int_equal(rd_findings_worst(&at->findings), RD_SEV_SKIP);
}

/* 4096 bytes of it at most, of which the last say how many there were; no character of UTF-8 is cut in two. */
TEST(a_long_text_is_cut_and_says_how_long_it_was)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_finding finding = { .id = "x", .subject = strdup("s"), .observed = calloc(1, 10001) };
	const char *end;

	for (size_t i = 0; i < 5000; i++)
		memcpy(finding.observed + 2 * i, "\xc3\xa4", 2);
	finding.observed[0] = finding.observed[1] = 'x';
	rd_finding_add(&findings, &finding);
	end = strstr(findings.v[0].observed, "...");
	assert_non_null(end);
	ASSERT_EACH(READS(end, "... (10000 bytes)"), IS(strlen(findings.v[0].observed) < RD_FINDING_TEXT, true));
	assert_memory_equal(end - 2, "\xc3\xa4", 2);
}
