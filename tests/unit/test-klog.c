/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/kernel/kernel.h"
#include "fake-host.h"

static void parse(const char *text, struct rd_klog *klog)
{
	struct rd_bytes bytes = { (uint8_t *)strdup(text), strlen(text) };

	*klog = (struct rd_klog){ 0 };
	rd_klog_parse(&bytes, klog);
	assert_null(bytes.data);
}

TEST(records_have_level_time_text_and_device)
{
	_cleanup_(rd_klog_deinit) struct rd_klog klog;

	parse("\n6,339,5140900,-;NET: Registered PF_INET\n\n"
	      "3,340,5690716,-;mlx5_core 0000:5c:00.0: mlx5_pcie_event:299: insufficient power\n"
	      " SUBSYSTEM=pci\n"
	      " DEVICE=+pci:0000:5c:00.0\n"
	      "12,341,5690717,-,caller=T1;from a program\n",
	      &klog);
	ASSERT_EACH(IS(klog.known, RD_OK), IS(klog.n, 3), IS(klog.lost, true));
	ASSERT_EACH(IS(klog.v[0].level, 6), IS(klog.v[0].facility, RD_KLOG_KERN), IS(klog.v[0].seq, 339),
		    IS(klog.v[0].time_ns, 5140900000), READS(klog.v[0].text, "NET: Registered PF_INET"));
	assert_null(klog.v[0].device);
	assert_string_equal(rd_krecord_pci(&klog.v[1]), "0000:5c:00.0");
	ASSERT_EACH(IS(klog.v[2].facility, 1), IS(klog.v[2].level, 4));
	assert_null(rd_krecord_pci(&klog.v[2]));
}

TEST(escapes_become_bytes_again)
{
	_cleanup_(rd_klog_deinit) struct rd_klog klog;

	parse("6,0,1,-;a\\x5cb \\xc3\\xa9 \\x00 \\xzz \\x1b[2J\\x1\n", &klog);
	ASSERT_EACH(IS(klog.n, 1), IS(klog.lost, false));
	assert_string_equal(klog.v[0].text, "a\\b \xc3\xa9 \\x00 \\xzz \x1b[2J\\x1");
}

TEST(what_is_no_record_is_passed_over)
{
	static const char *const bad[] = {
		"",
		"\n\n",
		"x",
		"6",
		"6,1",
		"6,1,2",
		"6,1,2,-",
		"6,a,2,-;t",
		"-6,1,2,-;t",
		"6,1,99999999999999999999,-;t",
		" DEVICE=+pci:0000:00:00.0\n",
		"[ 1.0] text",
		"6,1,18446744073709551615,-;t",
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		struct rd_klog klog;

		parse(bad[i], &klog);
		assert_int_equal(klog.n, 0);
		rd_klog_deinit(&klog);
	}
}

/* The key belongs to nobody if the line before it was no record. */
TEST(a_key_belongs_to_the_record_before_it)
{
	_cleanup_(rd_klog_deinit) struct rd_klog klog;

	parse("6,1,2,-;t\nbroken\n DEVICE=n5\n6,2,3,-;u\n DEVICE=n7", &klog);
	assert_int_equal(klog.n, 2);
	ASSERT_EACH(IS(klog.v[0].device == NULL, true), READS(klog.v[1].device, "n7"));
}

TEST(a_host_without_a_log_is_absent)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	struct rd_klog klog = { 0 };
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();

	rd_collect_klog(fake.source, &klog, &errors);
	ASSERT_EACH(IS(klog.known, RD_ABSENT), IS(errors.n, 1));
	rd_klog_deinit(&klog);
	fake_host_text(&fake, "/dev/kmsg", "6,0,1,-;first\n6,1,2,-;second\n");
	rd_collect_klog(fake.source, &klog, &errors);
	ASSERT_EACH(IS(klog.known, RD_OK), IS(klog.n, 2));
	rd_klog_deinit(&klog);
}

/* 6 MiB: the newest stay, from a whole record on. */
TEST(of_a_long_log_the_newest_are_read)
{
	_cleanup_(rd_klog_deinit) struct rd_klog klog = { 0 };
	_cleanup_free_ char *text = calloc(1, 7 << 20);
	_cleanup_(fake_host_deinit) struct fake_host fake = fake_host_make();
	char *at = text;

	for (int i = 0; at < text + (6 << 20); i++)
		at += sprintf(at,
			      "6,%d,%d,-;a record of some length, which stands for very many others\n"
			      " DEVICE=n%d\n",
			      i, i, i);
	fake_host_text(&fake, "/dev/kmsg", text);
	rd_collect_klog(fake.source, &klog, NULL);
	ASSERT_EACH(IS(klog.lost, true), IS(klog.n > 20000 && klog.n < 60000, true));
	assert_int_equal(klog.v[0].seq + klog.n - 1, klog.v[klog.n - 1].seq);
	assert_int_equal(strtoull(klog.v[0].device + 1, NULL, 10), klog.v[0].seq);
}
