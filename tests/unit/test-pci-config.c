/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration space as a PCI function has it: what stands where, and where it ends. */
#include "unit.h"

#include "collect/host/host.h"
#include "fake-host.h"

enum { WHOLE = 4096, CAPABILITY = 0x40 };

static struct fake_host files;

static struct rd_pci read_config(const uint8_t *config, size_t size)
{
	struct rd_sysfs fs = { .src = files.source };
	struct rd_pci pci = { .addr = "0000:17:01.0" };

	fake_host_write(&files, "/sys/bus/pci/devices/0000:17:01.0/config", config, size);
	rd_collect_pci_config(&fs, &pci);
	return pci;
}

static void put(uint8_t *config, size_t at, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		config[at + i] = (uint8_t)(value >> 8 * i);
}

/* A root port with a slot: PCI Express capability of version 2. */
static void put_express(uint8_t *config, size_t at)
{
	memset(config, 0, WHOLE);
	config[0x34] = (uint8_t)at;
	put(config, at, 0x10, 2);
	put(config, at + 2, 0x0142, 2);
}

static void fill_express(uint8_t *config)
{
	put_express(config, CAPABILITY);
	put(config, CAPABILITY + 0x04, 0x10008fc2, 4);
	put(config, CAPABILITY + 0x08, 0x2936, 2);
	put(config, CAPABILITY + 0x14, 0x00180c60, 4);
	put(config, CAPABILITY + 0x24, 0x00013f97, 4);
	put(config, CAPABILITY + 0x28, 0x0409, 2);
}

TEST(the_express_capability_is_read)
{
	uint8_t config[WHOLE];
	struct rd_pci pci;

	fill_express(config);
	pci = read_config(config, WHOLE);
	ASSERT_EACH(IS(pci.kind.v, RD_PCIE_ROOT_PORT), IS(pci.config.dev_cap.v, 0x10008fc2),
		    IS(pci.config.dev_ctl.v, 0x2936), IS(pci.config.slot_cap.v, 0x00180c60),
		    IS(pci.config.dev_cap2.v, 0x00013f97), IS(pci.config.dev_ctl2.v, 0x0409));
	assert_false(pci.config_denied || pci.no_answer);
	/* No slot is behind it: what stands there is none of a slot. */
	put(config, CAPABILITY + 2, 0x0042, 2);
	pci = read_config(config, WHOLE);
	ASSERT_EACH(IS(pci.config.slot_cap.known, RD_ABSENT), IS(pci.config.dev_ctl2.known, RD_OK));
	/* Version 1 has no second set of registers. */
	put(config, CAPABILITY + 2, 0x0141, 2);
	pci = read_config(config, WHOLE);
	assert_int_equal(pci.config.slot_cap.known, RD_OK);
	ASSERT_EACH(IS(pci.config.dev_cap2.known, RD_ABSENT), IS(pci.config.dev_ctl2.known, RD_ABSENT));
}

/* The 256 bytes end; what stands behind them is something else. */
TEST(a_capability_at_the_end_is_cut)
{
	static const struct {
		size_t at;
		bool control, slot, second;
	} ends[] = {
		{ 0xd4, true, true, true },    { 0xd8, true, true, false },  { 0xe8, true, true, false },
		{ 0xec, true, false, false },  { 0xf4, true, false, false }, { 0xf8, false, false, false },
		{ 0xfc, false, false, false },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(ends); i++) {
		uint8_t config[WHOLE];
		struct rd_pci pci;

		put_express(config, ends[i].at);
		pci = read_config(config, WHOLE);
		assert_int_equal(pci.kind.known, RD_OK);
		assert_int_equal(pci.config.dev_ctl.known, ends[i].control ? RD_OK : RD_ABSENT);
		assert_int_equal(pci.config.slot_cap.known, ends[i].slot ? RD_OK : RD_ABSENT);
		assert_int_equal(pci.config.dev_ctl2.known, ends[i].second ? RD_OK : RD_ABSENT);
	}
}

TEST(what_cannot_be_read_is_denied)
{
	uint8_t config[WHOLE];
	struct rd_pci pci;

	fill_express(config);
	pci = read_config(config, 64);
	ASSERT_EACH(IS(pci.config_denied, true), IS(pci.config.dev_ctl.known, RD_DENIED),
		    IS(pci.config.slot_cap.known, RD_DENIED), IS(pci.acs_ctl.known, RD_DENIED));
	/* A function of conventional PCI has no more. */
	pci = read_config(config, 256);
	ASSERT_EACH(IS(pci.config_denied, false), IS(pci.config.dev_ctl.known, RD_OK), IS(pci.acs_ctl.known, RD_DENIED));
	memset(config, 0xff, sizeof(config));
	pci = read_config(config, WHOLE);
	ASSERT_EACH(IS(pci.no_answer, true), IS(pci.kind.known, RD_ABSENT));
	/* Nothing at all was read. */
	pci = read_config(config, 0);
	assert_false(pci.no_answer || pci.config_denied);
}

TEST(extended_capabilities_are_followed)
{
	uint8_t config[WHOLE];
	struct rd_pci pci;

	put_express(config, CAPABILITY);
	put(config, 0x100, 0x1480000f, 4); /* ATS, then 0x148 */
	put(config, 0x106, 0x8001, 2);
	put(config, 0x148, 0xff80000d, 4); /* ACS, then 0xff8 */
	put(config, 0x14e, 0x001d, 2);
	put(config, 0xff8, 0x1000000d, 4); /* another ACS, which does not count, and back to the first */
	put(config, 0xffe, 0x0003, 2);
	pci = read_config(config, WHOLE);
	ASSERT_EACH(IS(pci.config.ats_ctl.v, 0x8001), IS(pci.acs_ctl.v, 0x001d), IS(pci.acs_missing, false));
	put(config, 0x148, 0x0000000e, 4);
	pci = read_config(config, WHOLE);
	ASSERT_EACH(IS(pci.acs_missing, true), IS(pci.acs_ctl.known, RD_ABSENT));
}

static int setup(void **state)
{
	files = fake_host_make();
	return 0;
}

static int teardown(void **state)
{
	fake_host_deinit(&files);
	return 0;
}

int main(void)
{
	return unit_run(setup, teardown);
}
