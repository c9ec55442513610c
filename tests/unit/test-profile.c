/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: what they mute; what they ask of a host that cannot be told; what is learned. More in test-check-files. */
#include "unit.h"

#include "analyse/compare/compare.h"
#include "nicmap-host.h"

static int parse(const char *text, struct rd_profile *ret, struct rd_err *err)
{
	return rd_profile_parse(text, strlen(text), "test", ret, err);
}

#define DAY_2026_12_31 20818 /* date -ud 2026-12-31 +%s, by 86400 */

TEST(a_line_that_mutes)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 };
	const struct rd_ignore *ignore;

	assert_int_equal(parse("# a comment\nignore = pcie-link-width@0000:1b:00.0 until 2026-12-31  card is ordered \n"
			       "ignore=aer-correctable until 2028-02-29 until the next firmware\n"
			       "ignore = profile-gpu@GPU 0000:*:00.0 until 2026-12-31 in repair\n",
			       &profile, NULL),
			 0);
	ASSERT_EACH(IS(profile.n, 0), IS(profile.n_ignores, 3));
	ignore = rd_profile_ignored(&profile, "pcie-link-width", "0000:1b:00.0", DAY_2026_12_31);
	assert_ptr_equal(ignore, &profile.ignores[0]);
	ASSERT_EACH(READS(ignore->reason, "card is ordered"), READS(ignore->until, "2026-12-31"), IS(ignore->line, 2),
		    IS(ignore->last_day, DAY_2026_12_31));
	assert_null(rd_profile_ignored(&profile, "pcie-link-width", "0000:1c:00.0", DAY_2026_12_31));
	assert_null(rd_profile_ignored(&profile, "pcie-link-speed", "0000:1b:00.0", DAY_2026_12_31));
	/* Without a subject: whatever it is about. */
	ignore = rd_profile_ignored(&profile, "aer-correctable", "0000:1c:00.0", DAY_2026_12_31);
	assert_ptr_equal(ignore, &profile.ignores[1]);
	assert_string_equal(ignore->reason, "until the next firmware");
	assert_non_null(rd_profile_ignored(&profile, "aer-correctable", NULL, DAY_2026_12_31));
	assert_non_null(rd_profile_ignored(&profile, "profile-gpu", "GPU 0000:5e:00.0", 0));
	assert_null(rd_profile_ignored(&profile, "profile-gpu", "NIC mlx5_0", 0));
	assert_null(rd_profile_ignored(NULL, "profile-gpu", "x", 0));
}

TEST(a_port_is_muted_in_either_spelling)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 };

	assert_int_equal(parse("ignore = dcqcn@mlx5_0:1 (eth2) until 2026-12-31 x\n"
			       "ignore = pfc@mlx5_*/1 until 2026-12-31 x\n",
			       &profile, NULL),
			 0);
	assert_non_null(rd_profile_ignored(&profile, "dcqcn", "mlx5_0/1 (eth2)", 0));
	assert_null(rd_profile_ignored(&profile, "dcqcn", "mlx5_0/2 (eth2)", 0));
	assert_non_null(rd_profile_ignored(&profile, "pfc", "mlx5_3/1", 0));
}

TEST(the_last_day_still_counts)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 };

	assert_int_equal(parse("ignore = aer until 2026-12-31 x\n", &profile, NULL), 0);
	assert_non_null(rd_profile_ignored(&profile, "aer", "y", DAY_2026_12_31));
	assert_false(rd_ignore_over(&profile.ignores[0], DAY_2026_12_31));
	assert_null(rd_profile_ignored(&profile, "aer", "y", DAY_2026_12_31 + 1));
	assert_true(rd_ignore_over(&profile.ignores[0], DAY_2026_12_31 + 1));
	/* 2026-12-31T23:59:59Z, and a second later. */
	assert_int_equal(rd_profile_day(UINT64_C(1798761599) * 1000000000), DAY_2026_12_31);
	assert_int_equal(rd_profile_day(UINT64_C(1798761600) * 1000000000), DAY_2026_12_31 + 1);
}

/* Over an old line of the same rule and subject a newer one counts. */
TEST(one_of_several_lines_is_enough)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 };

	assert_int_equal(
		parse("ignore = aer until 2026-12-30 x\nignore = aer@*:1b:* until 2026-12-31 y\n", &profile, NULL), 0);
	assert_ptr_equal(rd_profile_ignored(&profile, "aer", "0000:1b:00.0", DAY_2026_12_31), &profile.ignores[1]);
	assert_null(rd_profile_ignored(&profile, "aer", "0000:1c:00.0", DAY_2026_12_31));
}

TEST(lines_that_mute_nothing_are_refused)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "ignore =", "no rule" },
		{ "ignore = until 2026-12-31 x", "no rule" },
		{ "ignore = Two Words until 2026-12-31 x", "no rule" },
		{ "ignore = * until 2026-12-31 x", "no rule" },
		{ "ignore = aer@ until 2026-12-31 x", "nothing after @" },
		{ "ignore = aer", "until" },
		{ "ignore = aer 2026-12-31 x", "until" },
		{ "ignore = aer@x until", "invalid date" },
		{ "ignore = aer until tomorrow x", "invalid date" },
		{ "ignore = aer until 2026-02-29 x", "invalid date" },
		{ "ignore = aer until 2100-02-29 x", "invalid date" },
		{ "ignore = aer until 2026-13-01 x", "invalid date" },
		{ "ignore = aer until 2026-00-10 x", "invalid date" },
		{ "ignore = aer until 2026-04-31 x", "invalid date" },
		{ "ignore = aer until 2026-4-3 x", "invalid date" },
		{ "ignore = aer until 2026-12-31x", "invalid date" },
		{ "ignore = aer until 26-12-31 x", "invalid date" },
		{ "ignore = aer until 2026-12-31", "no reason" },
		{ "ignore = aer until 2026-12-31 \x1b[2J", "not printable" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *text = NULL;
		struct rd_profile profile = { 0 };
		struct rd_err err = { 0 };

		assert_true(asprintf(&text, "count.gpus = 8\n%s\n", bad[i].text) > 0);
		assert_int_equal(parse(text, &profile, &err), -EINVAL);
		if (!strstr(err.message, "line 2") || !strstr(err.message, bad[i].says))
			fail_msg("%s: %s", bad[i].text, err.message);
		assert_true(err.hint[0]);
		assert_int_equal(profile.n, 0);
	}
}

static bool is_aer(const char *id)
{
	return strcmp(id, "aer") == 0;
}

TEST(a_rule_that_is_none_is_named_with_its_line)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 };
	struct rd_err err = { 0 };

	assert_int_equal(parse("ignore = aer until 2026-12-31 x\n\nignore = earl until 2026-12-31 x\n", &profile, NULL),
			 0);
	assert_int_equal(rd_profile_check_ignores(&profile, is_aer, "test", &err), -EINVAL);
	ASSERT_HAS(err.message, "line 3", "earl");
	profile.ignores[1].line = 0;
	free(profile.ignores[1].rule);
	profile.ignores[1].rule = strdup("aer");
	assert_int_equal(rd_profile_check_ignores(&profile, is_aer, "test", &err), 0);
}

TEST(what_mutes_reads_as_it_was_written)
{
	static const char text[] = "count.gpus = 8\n"
				   "ignore = profile-gpu@GPU 0000:*:00.0 until 2028-02-29 in repair until noon\n"
				   "ignore = aer until 1970-01-01 x = y\n";
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	assert_int_equal(parse(text, &profile, NULL), 0);
	assert_int_equal(profile.ignores[1].last_day, 0);
	rd_profile_write(&profile, &out);
	assert_string_equal(out.data, text);
}

/* Neither a pass nor a difference, and one finding for all. */
TEST(what_could_not_be_read_is_unknown)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 }, self = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	assert_int_equal(parse("nic.*.max_read_request_bytes = 4096\nbridge.0000:01:00.0.acs_control = none\n",
			       &profile, NULL),
			 0);
	rd_profile_add(&self, "nic.m0.max_read_request_bytes", "4096");
	rd_profile_add_unknown(&self, "nic.m1.max_read_request_bytes");
	rd_profile_add_unknown(&self, "nic.m2.max_read_request_bytes");
	rd_profile_add_unknown(&self, "bridge.0000:01:00.0.acs_control");
	rd_profile_add_unknown(&self, "nic.m1.firmware");
	rd_profile_compare(&profile, &self, &findings);
	assert_int_equal(findings.n, 1);
	assert_int_equal(findings.v[0].severity, RD_SEV_UNKNOWN);
	assert_string_equal(findings.v[0].subject, "nic.m1.max_read_request_bytes and 2 more");
	rd_profile_deinit(&self);
}

static const char *of(const struct rd_host *host, const char *key, bool learn)
{
	static char value[64];
	struct rd_profile profile = { 0 };
	struct rd_port_views views;
	const char *found;

	rd_port_views_init(&views, host);
	rd_profile_of(&views, NULL, learn, &profile);
	rd_port_views_deinit(&views);
	found = rd_profile_get(&profile, key);
	snprintf(value, sizeof(value), "%s", found ? found : "-");
	rd_profile_deinit(&profile);
	return value;
}

TEST(what_changes_by_itself_is_not_learned)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int up = made_switch(&host, 0x10, "pci0000:10", 0);
	int above_gpu = made_port_of(&host, up, 0), above_nic = made_port_of(&host, up, 1);
	int gpu, nic;

	gpu = made_gpu(&host, "0000:13:00.0", above_gpu, "pci0000:10", 0);
	nic = made_nic(&host, "m0", "0000:14:00.0", above_nic, "pci0000:10", 0, 400);
	RD_SET(host.pcis[host.gpus[gpu].pci].now.mtps, 2500);
	RD_SET(host.pcis[above_gpu].now.mtps, 2500);
	RD_SET(host.pcis[above_nic].acs_ctl, 0x1d);
	RD_SET(host.pcis[host.ibdevs[nic].pci].config.dev_ctl, 0x5130);
	assert_string_equal(of(&host, "gpu.0000:13:00.0.link_mtps", true), "-");
	assert_string_equal(of(&host, "gpu.0000:13:00.0.link_mtps", false), "2500");
	assert_string_equal(of(&host, "gpu.0000:13:00.0.max_link_mtps", true), "32000");
	assert_string_equal(of(&host, "gpu.0000:13:00.0.link_width", true), "16");
	assert_string_equal(of(&host, "bridge.0000:12:00.0.link_mtps", true), "-");
	assert_string_equal(of(&host, "bridge.0000:12:01.0.link_mtps", true), "32000");
	assert_string_equal(of(&host, "bridge.0000:10:00.0.link_width", true), "16");
	assert_string_equal(of(&host, "bridge.0000:12:01.0.acs_control", true), "0x001d");
	assert_string_equal(of(&host, "bridge.0000:12:00.0.acs_control", true), "-");
	assert_string_equal(of(&host, "nic.m0.link_mtps", true), "32000");
	assert_string_equal(of(&host, "nic.m0.max_payload_bytes", true), "256");
	assert_string_equal(of(&host, "nic.m0.max_read_request_bytes", true), "4096");
	assert_string_equal(of(&host, "nic.m0.relaxed_ordering", true), "on");
	/* An interface that is not there, and a port that is down. */
	assert_string_equal(of(&host, "port.m0/1.netdev", true), "-");
	assert_string_equal(of(&host, "port.m0/1.netdev", false), "none");
	assert_string_equal(of(&host, "port.m0/1.rate_gbps", true), "400");
	free(made_port(&host, nic)->state);
	made_port(&host, nic)->state = strdup("DOWN");
	assert_string_equal(of(&host, "port.m0/1.state", true), "-");
	assert_string_equal(of(&host, "port.m0/1.rate_gbps", true), "-");
	assert_string_equal(of(&host, "port.m0/1.state", false), "DOWN");
}
