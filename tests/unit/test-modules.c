/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/kernel/kernel.h"
#include "fake-host.h"

static const char proc_modules[] = "new_driver 4096 0 - Live 0x0000000000000000 (OE)\n"
				   "new_core 8192 1 new_driver, Live 0x0000000000000000\n"
				   "ib_uverbs 4096 2 new_driver,rdma_ucm, Live 0xffffffffc0100000\n"
				   "rdma_ucm 4096 0 - Live 0xffffffffc0110000\n"
				   "ib_core 4096 9 new_driver,ib_uverbs, Live 0xffffffffc0120000\n"
				   "loop 4096 0 [permanent], Live 0xffffffffc0130000\n"
				   "cut short\n"
				   "no_users 4096 0\n";

static void begin(struct fake_host *host)
{
	*host = fake_host_make();
	fake_host_text(host, "/proc/modules", proc_modules);
}

#define FAKE_HOST_TEST(name) TEST_BEGUN(name, struct fake_host, host, begin, fake_host_deinit)

FAKE_HOST_TEST(all_that_depend_on_the_core_are_found_directly_or_not)
{
	_cleanup_(rd_kmods_deinit) struct rd_kmods mods = { 0 };
	bool marked[16] = { false };

	assert_int_equal(rd_kmods_read(host->source, &mods, NULL), 0);
	assert_int_equal(mods.n, 6);
	rd_kmods_mark_users(&mods, rd_kmods_find(&mods, "ib_core"), marked);
	ASSERT_EACH(IS(marked[rd_kmods_find(&mods, "ib_core")], true),
		    IS(marked[rd_kmods_find(&mods, "ib_uverbs")], true),
		    IS(marked[rd_kmods_find(&mods, "new_driver")], true),
		    IS(marked[rd_kmods_find(&mods, "rdma_ucm")], true),
		    IS(marked[rd_kmods_find(&mods, "new_core")], false),
		    IS(marked[rd_kmods_find(&mods, "loop")], false), IS(rd_kmods_find(&mods, "cut"), -1),
		    IS(rd_kmods_find(&mods, "no_users"), -1));
	assert_true(rd_texts_has(&mods.v[rd_kmods_find(&mods, "new_core")].users, "new_driver"));
	assert_int_equal(mods.v[rd_kmods_find(&mods, "loop")].users.n, 0);
}

FAKE_HOST_TEST(module_files_are_found_whatever_dash_or_packing)
{
	static const char dep[] = "updates/dkms/new-driver.ko: kernel/a.ko\n"
				  "kernel/drivers/new_driver.ko.xz:\n"
				  "/opt/vendor/new_driver.ko.zst: x\n"
				  "kernel/new_driver_extra.ko:\n"
				  "kernel/my_new_driver.ko:\n"
				  "kernel/new_driver.koala:\n";
	_cleanup_(rd_moddep_deinit) struct rd_moddep moddep = { 0 };
	static const char *const expected[] = { "/usr/lib/modules/6.9/updates/dkms/new-driver.ko",
						"/usr/lib/modules/6.9/kernel/drivers/new_driver.ko.xz",
						"/opt/vendor/new_driver.ko.zst" };

	assert_int_equal(rd_moddep_read(host->source, "6.9", &moddep, NULL), -ENOENT);
	fake_host_text(host, "/usr/lib/modules/6.9/modules.dep", dep);
	assert_int_equal(rd_moddep_read(host->source, "6.9", &moddep, NULL), 0);
	for (size_t i = 0; i < RD_ARRAY_SIZE(expected); i++) {
		char *path = rd_moddep_path(&moddep, "new_driver", i);

		assert_string_equal(path, expected[i]);
		free(path);
	}
	assert_null(rd_moddep_path(&moddep, "new_driver", 3));
}

static bool want_mine(void *arg, const char *module)
{
	return !strcmp(module, arg);
}

FAKE_HOST_TEST(symbols_of_one_module_are_read_and_no_others)
{
	static const char text[] = "ffffffff81000000 T _stext\n"
				   "ffffffffc0100010 t mine_static\t[mine]\n"
				   "ffffffffc0100020 T mine_global\t[mine]\n"
				   "ffffffffc0100030 d mine_data\t[mine]\n"
				   "ffffffffc0200000 t other\t[other]\n"
				   "broken\n[mine]\nzzz t x\t[mine]\n"
				   "0000000000000000 t mine_hidden\t[mine]";
	_cleanup_(rd_ksyms_deinit) struct rd_ksyms syms = { 0 };

	fake_host_text(host, "/proc/kallsyms", text);
	assert_int_equal(rd_ksyms_read(host->source, want_mine, "mine", &syms, NULL), 0);
	assert_int_equal(syms.n, 3);
	ASSERT_EACH(IS(syms.v[0].addr, 0), READS(syms.v[1].name, "mine_static"), READS(syms.v[1].module, "mine"),
		    READS(syms.v[2].name, "mine_global"), IS(syms.v[2].addr, 0xffffffffc0100020));
}

FAKE_HOST_TEST(all_symbols_with_an_address_are_read_for_stacks)
{
	static const char text[] =
		"ffffffffc0100020 T mine\t[mine]\nffffffff81000000 T _stext\n0000000000000000 t hidden\n"
		"ffffffff81000010 D data\n\nzz\nffffffff81000000\nffffffff81000000 t\n"
		"ffffffff81000000 t \nffffffff81000000  x\nffffffffffffffffffff t far\n"
		"ffffffff81000030 W last.part.0";
	_cleanup_(rd_ksyms_deinit) struct rd_ksyms syms = { 0 };

	fake_host_text(host, "/proc/kallsyms", text);
	assert_int_equal(rd_ksyms_read(host->source, NULL, NULL, &syms, NULL), 0);
	assert_int_equal(syms.n, 3);
	ASSERT_EACH(READS(syms.v[0].name, "_stext"), IS(syms.v[0].module == NULL, true),
		    READS(syms.v[1].name, "last.part.0"), READS(syms.v[2].module, "mine"));
}

FAKE_HOST_TEST(what_ftrace_can_hook_is_read_wherever_tracefs_is)
{
	static const char text[] = "schedule\nmine_a [mine]\nother_a [other]\nmine_b.part.0 [mine]\n";
	_cleanup_(rd_ksyms_deinit) struct rd_ksyms syms = { 0 };

	assert_int_equal(rd_ksyms_read_filter(host->source, want_mine, "mine", &syms, NULL), -ENOENT);
	fake_host_text(host, "/sys/kernel/debug/tracing/available_filter_functions", text);
	assert_int_equal(rd_ksyms_read_filter(host->source, want_mine, "mine", &syms, NULL), 0);
	assert_int_equal(syms.n, 2);
	ASSERT_EACH(READS(syms.v[0].name, "mine_a"), READS(syms.v[1].name, "mine_b.part.0"));
}
