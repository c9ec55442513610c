/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules and collectors of topo-check that need files with modes; sizes and profiles, also damaged ones. */
#include "unit.h"

#include "check-run.h"

#include "analyse/compare/compare.h"
#include "check/shared/check.h"
#include "collect/host/host.h"
#include "fake-host.h"
#include "model/host/host.h"
#include "model/host/profile.h"
#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"
#include "source/shared/redaction.h"

static enum rd_severity judge(struct fake_host *fake, const char *id)
{
	struct rd_system system = { 0 };
	struct rd_host host = { 0 };
	const struct rd_check_input in = { .host = &host, .system = &system };
	struct rd_findings findings = { 0 };
	enum rd_severity result;

	assert_int_equal(rd_collect_system(fake->source, 0, &system, NULL, NULL), 0);
	check_run(&in, id, &findings);
	result = rd_findings_worst(&findings);
	rd_findings_deinit(&findings);
	rd_system_deinit(&system);
	return result;
}

TEST(a_device_file_for_root_only)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();

	fake_host_text(&fake, "/sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	/* A tree without /dev tells nothing of device files. */
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_UNKNOWN);
	fake_host_text(&fake, "/dev/null", "");
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_CRITICAL);
	assert_int_equal(judge(&fake, "dev-mode"), RD_SEV_SKIP);
	fake_host_text(&fake, "/dev/infiniband/uverbs0", "");
	assert_int_equal(fake_host_run(&fake, "chmod 0666 dev/infiniband/uverbs0"), 0);
	assert_int_equal(judge(&fake, "dev-mode"), RD_SEV_OK);
	assert_int_equal(fake_host_run(&fake, "chmod 0600 dev/infiniband/uverbs0"), 0);
	assert_int_equal(judge(&fake, "dev-mode"), RD_SEV_WARNING);
}

TEST(a_container_is_given_some_devices)
{
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();

	fake_host_text(&fake, "/sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	fake_host_text(&fake, "/sys/class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n");
	fake_host_text(&fake, "/dev/null", "");
	/* None: a container cannot be told from a host without the files. */
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_CRITICAL);
	fake_host_text(&fake, "/dev/infiniband/uverbs1", "");
	/* Without processes nothing says that this is a container. */
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_UNKNOWN);
	fake_host_text(&fake, "/proc/1/comm", "sleep\n");
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_NOTE);
	/* The host itself shows the threads of the kernel. */
	fake_host_text(&fake, "/proc/2/comm", "kthreadd\n");
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_CRITICAL);
	fake_host_text(&fake, "/proc/2/comm", "sleep\n");
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_NOTE);
	fake_host_text(&fake, "/dev/infiniband/uverbs0", "");
	assert_int_equal(judge(&fake, "dev-infiniband"), RD_SEV_OK);
}

static enum rd_severity judge_flows(const struct rd_spreads *spreads, const struct rd_res *res)
{
	const struct rd_host host = { 0 };
	const struct rd_check_input in = { .host = &host, .spreads = spreads, .res = res };
	struct rd_findings findings = { 0 };
	enum rd_severity result;

	check_run(&in, "roce-flow-entropy", &findings);
	assert_int_equal(findings.n, 1);
	result = findings.v[0].severity;
	rd_findings_deinit(&findings);
	return result;
}

TEST(flows_that_no_switch_parts)
{
	struct rd_res_dev dev = { .name = (char *)"mlx5_0" };
	struct rd_res res = { .devs = &dev, .n_devs = 1 };
	struct rd_spread whole = { .flows = 4, .tuples = 3 }, peer = { .has_peer = true, .flows = 2, .tuples = 2 };
	struct rd_collision collision = { .has_peer = true, .udp_sport = 49152, .flows = 2, .lqpns = (char *)"17,18" };
	struct rd_spread both[] = { whole, peer };

	assert_int_equal(judge_flows(NULL, NULL), RD_SEV_UNKNOWN);
	assert_int_equal(judge_flows(&(struct rd_spreads){ .v = &whole, .n = 1 }, &res), RD_SEV_SKIP);
	assert_int_equal(judge_flows(&(struct rd_spreads){ .v = both, .n = 2 }, &res), RD_SEV_OK);
	assert_int_equal(
		judge_flows(&(struct rd_spreads){ .v = both, .n = 2, .collisions = &collision, .n_collisions = 1 },
			    &res),
		RD_SEV_WARNING);
}

TEST(sizes_as_systemd_writes_them)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} cases[] = {
		{ "infinity", true, RD_UNLIMITED },
		{ "unlimited", true, RD_UNLIMITED },
		{ "65536", true, 65536 },
		{ "64M", true, UINT64_C(64) << 20 },
		{ "8M:16M", true, UINT64_C(8) << 20 },
		{ "  2G", true, UINT64_C(2) << 30 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "M", false, 0 },
		{ "1X", false, 0 },
		{ "99999999999999999999", false, 0 },
		{ "99999999999E", false, 0 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		uint64_t value = 0;

		assert_int_equal(rd_size_parse(cases[i].text, &value), cases[i].good);
		if (cases[i].good)
			assert_true(value == cases[i].value);
	}
}

static int parse(const char *text, struct rd_profile *ret, struct rd_err *err)
{
	return rd_profile_parse(text, strlen(text), "test", ret, err);
}

TEST(no_secret_of_etc_environment_is_recorded)
{
	char text[] = "TOKEN=secret\nNCCL_IB_HCA=mlx5_0\nexport X=NCCL_1\nUCX_TLS=rc";
	struct rd_bytes bytes = { (uint8_t *)text, strlen(text) };

	rd_scrub_file("/etc/other", &bytes);
	assert_int_equal(bytes.size, strlen(text));
	rd_scrub_file("/etc/environment", &bytes);
	assert_string_equal((char *)bytes.data, "NCCL_IB_HCA=mlx5_0\nUCX_TLS=rc");
}

/* Mooncake's variables are kept like the others', and no secret by way of them. */
TEST(no_password_of_a_process_is_recorded)
{
	static const char environment[] =
		"MC_GID_INDEX=3\0MC_REDIS_PASSWORD=hunter2\0HOME=/root\0MC_HOST_s3=https://key:pw@host\0"
		"FI_CXI_COLL_MCAST_TOKEN=t\0MC_METADATA_SERVER=redis://u:pw@h\0NCCL_NET=IB\0"
		"MC_MS_FILTERS=mlx5_0";
	static const char kept[] = "MC_GID_INDEX=3\0NCCL_NET=IB\0MC_MS_FILTERS=mlx5_0";
	char text[sizeof(environment)];
	struct rd_bytes bytes = { (uint8_t *)text, sizeof(environment) - 1 };

	memcpy(text, environment, sizeof(environment));
	rd_scrub_file("/proc/4242/environ", &bytes);
	assert_int_equal(bytes.size, sizeof(kept) - 1);
	assert_memory_equal(text, kept, sizeof(kept) - 1);
}

TEST(no_address_in_a_process_is_recorded)
{
	char text[] = "4242 (a) b c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 867 4096 3 18446 9411 4095";
	struct rd_bytes bytes = { (uint8_t *)text, sizeof(text) - 1 };

	rd_scrub_file("/proc/stat", &bytes);
	assert_int_equal(bytes.size, sizeof(text) - 1);
	rd_scrub_file("/proc/4242/stat", &bytes);
	assert_string_equal(text, "4242 (a) b c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 867");
	rd_scrub_file("/proc/4242/stat", &bytes);
	assert_int_equal(bytes.size, strlen(text));
}

TEST(profiles_that_are_none)
{
	static const char *const bad[] = {
		"nonsense", "count.gpus", "= 5", "key = 1", "a b.c = 1", "nic.\x1b[2J.x = 1"
	};
	struct rd_profile profile = { 0 };
	struct rd_err err;
	char nul[] = "count.gpus = 8\n\0x";

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		err = (struct rd_err){ 0 };
		assert_int_equal(parse(bad[i], &profile, &err), -EINVAL);
		assert_non_null(strstr(err.message, "line 1"));
		assert_true(err.hint[0]);
	}
	assert_int_equal(rd_profile_parse(nul, sizeof(nul), "test", &profile, &err), -EINVAL);
	assert_int_equal(rd_profile_parse("", (size_t)1 << 30, "test", &profile, &err), -E2BIG);
}

TEST(a_profile_reads_as_it_was_written)
{
	_cleanup_(rd_profile_deinit) struct rd_profile first = { 0 }, second = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	assert_int_equal(parse("# comment\n\n count.gpus=8 \nport.*.rate_gbps = 400\nrule.memlock = required\n", &first,
			       NULL),
			 0);
	ASSERT_EACH(IS(first.n, 3), IS(rd_profile_requires(&first, "memlock"), true),
		    IS(rd_profile_requires(&first, "acs-redirect"), false),
		    IS(rd_profile_requires(NULL, "memlock"), false));
	rd_profile_write(&first, &out);
	assert_int_equal(rd_profile_parse(out.data, out.len, "test", &second, NULL), 0);
	assert_int_equal(second.n, first.n);
	for (size_t i = 0; i < first.n; i++) {
		ASSERT_EACH(READS(second.v[i].key, first.v[i].key), READS(second.v[i].value, first.v[i].value));
	}
	rd_profile_deinit(&second);
}

TEST(what_a_star_stands_for)
{
	assert_true(rd_profile_matches("port.*.rate_gbps", "port.mlx5_0/1.rate_gbps"));
	assert_true(rd_profile_matches("*", "anything.at.all"));
	assert_true(rd_profile_matches("a*b*c", "a.b.b.c"));
	assert_false(rd_profile_matches("port.*.rate_gbps", "port.mlx5_0/1.state"));
	ASSERT_EACH(IS(rd_profile_matches("nic", "nic.x"), false), IS(rd_profile_matches("a*b", "a"), false));
}

TEST(the_missing_are_told_first)
{
	_cleanup_(rd_profile_deinit) struct rd_profile profile = { 0 }, self = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	assert_int_equal(parse("port.m0/1.rate_gbps = 400\nnic.m1.ports = 1\nnic.m1.pci = x.y\ncount.gpus = 2\n"
			       "gpu.0000:01:00.0.name = A\nsoftware.kernel = 6.1\nmodule.x.version = 2\n",
			       &profile, NULL),
			 0);
	rd_profile_add(&self, "port.m0/1.rate_gbps", "200");
	rd_profile_add(&self, "nic.m0.ports", "1");
	rd_profile_add(&self, "count.gpus", "1");
	rd_profile_compare(&profile, &self, &findings);
	/* Modules and versions were not read: nothing is said of them. */
	assert_int_equal(findings.n, 4);
	ASSERT_EACH(READS(findings.v[0].subject, "GPU 0000:01:00.0"), READS(findings.v[1].subject, "gpus"),
		    READS(findings.v[2].subject, "NIC m1"), READS(findings.v[3].subject, "port.m0/1.rate_gbps"),
		    READS(findings.v[3].observed, "200"), READS(findings.v[3].expected, "400"));
	rd_profile_deinit(&self);
}
