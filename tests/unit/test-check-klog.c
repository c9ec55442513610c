/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each rule about the kernel log: a line that drivers print, and one much like it that means nothing. */
#include "unit.h"

#include "base/buf.h"
#include "check-run.h"
#include "collect/kernel/klog.h"
#include "model/nicmap/port-view.h"
#include "source/redact/redact.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* `redacted`: as a redacted recording has it. */
static void log_of(struct rd_klog *klog, int priority, unsigned times, const char *line, bool redacted)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	char text[16384] = "6,0,1,-;Linux version\n";
	struct rd_bytes bytes;
	size_t at = strlen(text);

	for (unsigned i = 1; i <= times; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d,%u,%u,-;%s\n", priority, i, i * 1000000, line);
	rd_redact_kmsg(&redact, text, at, &out);
	bytes = (struct rd_bytes){ (uint8_t *)strdup(redacted ? out.data : text), redacted ? out.len : at };
	*klog = (struct rd_klog){ 0 };
	assert_int_equal(rd_klog_parse(&bytes, klog), 0);
	assert_true(redacted || klog->n == times + 1);
}

static enum rd_severity result_of(const char *rule, int priority, unsigned times, const char *line)
{
	enum rd_severity result[2];

	for (int redacted = 0; redacted < 2; redacted++) {
		struct rd_host host = { 0 };
		struct rd_klog klog;
		struct rd_check_input in = { .host = &host, .klog = &klog };

		log_of(&klog, priority, times, line, redacted);
		result[redacted] = check_worst(&in, rule);
		rd_klog_deinit(&klog);
	}
	assert_int_equal(result[0], result[1]);
	return result[0];
}

static const struct {
	const char *rule;
	enum rd_severity result;
	unsigned times;
	const char *bad, *good;
} cases[] = {
	{ "log-nic-health", RD_SEV_CRITICAL, 1,
	  "mlx5_core 0000:5c:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count",
	  "mlx5_core 0000:5c:00.0: firmware version: 28.39.1002" },
	{ "log-mkey-limit", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:41:00.0: mlx5_cmd_out_err:800:(pid 233522): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x18af6), err(-12)",
	  "mlx5_core 0000:41:00.0: mlx5_cmd_out_err:800:(pid 233522): CREATE_MKEY(0x200) op_mod(0x0) failed, status bad resource(0x5)" },
	{ "log-qp-limit", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x19c6d6)",
	  "mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): MODIFY_QP(0x500) failed, status limits exceeded(0x8)" },
	{ "log-uar-limit", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:61:00.0: mlx5_cmd_check:795:(pid 53945): ALLOC_UAR(0x802) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x5a7939)",
	  "mlx5_core 0000:61:00.0: ALLOC_UAR(0x802) done" },
	{ "log-uar-pages", RD_SEV_CRITICAL, 1, "mlx4_core 0004:02:00.0: Only 64 UAR pages (need more than 128)",
	  "mlx4_core 0004:02:00.0: Increase firmware log2_uar_bar_megabytes?" },
	{ "log-retry-count", RD_SEV_WARNING, 1,
	  "mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)",
	  "mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1)" },
	{ "log-slot-power", RD_SEV_UNKNOWN, 1, /* of a NIC that the host has not; others: test-check-healthy.c */
	  "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).",
	  "mlx5_core 0000:5c:00.0: PCIe slot advertised sufficient power (75W)." },
	{ "log-optics", RD_SEV_CRITICAL, 1, "mlx5_core: Port module event[error]: module 2, High Temperature detected",
	  "mlx5_core 0000:5c:00.0: Port module event: module 0, Cable plugged" },
	{ "log-link-flaps", RD_SEV_WARNING, 6, "mlx5_core 0000:5c:00.0 eth2: Link down",
	  "mlx5_core 0000:5c:00.0 eth2: Link up" },
	{ "log-peermem-symbols", RD_SEV_CRITICAL, 1,
	  "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
	  "nvidia_peermem: loading out-of-tree module taints kernel." },
	{ "log-rdma-symbols", RD_SEV_WARNING, 1, "ksmbd: disagrees about version of symbol rdma_rw_ctx_destroy",
	  "ksmbd: disagrees about version of symbol crypto_alloc" },
	{ "log-peermem", RD_SEV_NOTE, 1,
	  "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
	  "nvidia-peermem nv_get_p2p_free_callback:99" },
	{ "log-pin-pages", RD_SEV_WARNING, 1, "ib_umem_get: failed to get user pages, nr_pages=512",
	  "ib_umem_get: done" },
	{ "log-oom", RD_SEV_WARNING, 1, "Memory cgroup out of memory: Killed process 4711 (python) total-vm:1kB",
	  "oom_reaper: reaped process 4711" },
	{ "log-pcie-errors", RD_SEV_CRITICAL, 1,
	  "mlx5_core 0000:5c:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer",
	  "mlx5_core 0000:5c:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer" },
};

static void each_rule_knows_its_line_and_no_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		assert_int_equal(result_of(cases[i].rule, 3, cases[i].times, cases[i].bad), cases[i].result);
		assert_int_equal(result_of(cases[i].rule, 3, cases[i].times, cases[i].good), RD_SEV_OK);
		/* What a program wrote there is no evidence: 11 is facility 1, level 3. */
		assert_int_equal(result_of(cases[i].rule, 11, cases[i].times, cases[i].bad), RD_SEV_OK);
	}
}

static void every_rule_about_the_log_has_a_case(void **state)
{
	(void)state;
	for (size_t i = 0; i < rd_n_checks; i++) {
		bool has = false;

		if (strncmp(rd_checks[i]->id, "log-", 4) != 0)
			continue;
		for (size_t k = 0; k < RD_ARRAY_SIZE(cases); k++)
			has |= strcmp(cases[k].rule, rd_checks[i]->id) == 0;
		assert_true(has);
	}
}

static void few_lines_of_a_kind_are_no_flapping(void **state)
{
	(void)state;
	assert_int_equal(result_of("log-link-flaps", 6, 2, "mlx5_core 0000:5c:00.0 eth2: Link down"), RD_SEV_OK);
}

/* All ports go down once when a host boots, or its network is restarted. */
static void lines_about_many_devices_are_no_flapping(void **state)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_bytes bytes;
	struct rd_host host = { 0 };
	struct rd_klog klog = { 0 };
	struct rd_check_input in = { .host = &host, .klog = &klog };

	(void)state;
	for (unsigned n = 0; n < 12; n++)
		rd_buf_printf(&text, "6,%u,1000000,-;mlx5_core 0000:%02x:00.0 eth%u: Link down\n", n, 0x10 + n, n);
	bytes = (struct rd_bytes){ (uint8_t *)strdup(text.data), text.len };
	assert_int_equal(rd_klog_parse(&bytes, &klog), 0);
	assert_int_equal(check_worst(&in, "log-link-flaps"), RD_SEV_OK);
	rd_klog_deinit(&klog);
}

/* A fix is to be pasted: it names the device of the line. */
static void the_fix_names_the_device(void **state)
{
	struct rd_pci pci = { .addr = "0000:5c:00.0", .domain = 0, .bus = 0x5c };
	struct rd_host host = { .pcis = &pci, .n_pcis = 1 };
	struct rd_klog klog;
	struct rd_check_input in = { .host = &host, .klog = &klog };
	struct rd_findings findings = { 0 };
	bool *chosen = calloc(rd_n_checks, sizeof(*chosen));

	(void)state;
	for (size_t i = 0; i < rd_n_checks; i++)
		chosen[i] = strcmp(rd_checks[i]->id, "log-nic-health") == 0;
	log_of(&klog, 3, 1, cases[0].bad, false);
	rd_checks_run(&in, chosen, &findings);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].fix, "devlink health show pci/0000:5c:00.0\n# "));
	rd_findings_deinit(&findings);
	rd_klog_deinit(&klog);
	free(chosen);
}

/* Long ago is no reason to drain a host. */
static void an_old_line_warns(void **state)
{
	static const char text[] = "3,1,1000000,-;x: device's health compromised\n6,2,180000000000,-;later\n";
	struct rd_bytes bytes = { (uint8_t *)strdup(text), strlen(text) };
	struct rd_host host = { 0 };
	struct rd_klog klog = { 0 };
	struct rd_check_input in = { .host = &host, .klog = &klog };

	(void)state;
	assert_int_equal(rd_klog_parse(&bytes, &klog), 0);
	assert_int_equal(check_worst(&in, "log-nic-health"), RD_SEV_WARNING);
	rd_klog_deinit(&klog);
}

static void a_log_that_may_not_be_read_is_unknown(void **state)
{
	struct rd_klog klog = { .known = RD_DENIED };
	struct rd_host host = { 0 };
	struct rd_check_input in = { .host = &host, .klog = &klog };

	(void)state;
	assert_int_equal(check_worst(&in, "log-oom"), RD_SEV_UNKNOWN);
	klog.known = RD_ABSENT;
	assert_int_equal(check_worst(&in, "log-oom"), RD_SEV_UNKNOWN);
	in.klog = NULL;
	assert_int_equal(check_worst(&in, "log-oom"), RD_SEV_UNKNOWN);
}

/* A read that was given up is not a host without a log. */
static void a_log_that_gave_no_answer_is_not_called_absent(void **state)
{
	struct rd_klog klog = { .code = ETIMEDOUT };
	struct rd_host host = { 0 };
	struct rd_port_views ports = { .host = &host };
	struct rd_check_input in = { .host = &host, .ports = &ports, .klog = &klog };
	struct rd_findings findings = { 0 };
	size_t told = 0;

	(void)state;
	rd_checks_run(&in, NULL, &findings);
	for (size_t i = 0; i < findings.n; i++) {
		if (findings.v[i].severity != RD_SEV_UNKNOWN || strcmp(findings.v[i].subject, "kernel log") != 0)
			continue;
		assert_string_equal(findings.v[i].observed, "/dev/kmsg could not be read: Connection timed out");
		told++;
	}
	assert_true(told > 5);
	rd_findings_deinit(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_rule_knows_its_line_and_no_other),
		TEST(every_rule_about_the_log_has_a_case),
		TEST(few_lines_of_a_kind_are_no_flapping),
		TEST(lines_about_many_devices_are_no_flapping),
		TEST(the_fix_names_the_device),
		TEST(an_old_line_warns),
		TEST(a_log_that_may_not_be_read_is_unknown),
		TEST(a_log_that_gave_no_answer_is_not_called_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
