/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults that break the pattern of a host: each is said by its own rule. */
#include "unit.h"

#include "nicmap-host.h"
#include "symmetry-host.h"

PATTERN_TEST(an_accelerator_is_gone)
{
	pattern_eight(m, 5, -1);
	pattern_wrong(m, "gpu-missing", RD_SEV_CRITICAL);
	pattern_nested(m, 2, -1);
	pattern_wrong(m, "gpu-missing", RD_SEV_CRITICAL);
	/* A NIC and no accelerator, beside three pairs. */
	pattern_server(m, 4, 1, 1, 0, -1);
	pattern_wrong(m, "gpu-missing", RD_SEV_CRITICAL);
	/* Two switches with four slots each, no NIC to tie anything to. */
	pattern_server(m, 2, 4, 0, 6, -1);
	pattern_wrong(m, "gpu-missing", RD_SEV_CRITICAL);
	/* One switch. */
	pattern_server(m, 1, 8, 0, 0, -1);
	pattern_wrong(m, "gpu-missing", RD_SEV_CRITICAL);
	/* With storage NICs on some switches. */
	pattern_eight(m, 5, -1);
	pattern_add_nic_below(m, 0, 4, 0x23, 400);
	pattern_add_nic_below(m, 2, 4, 0x23, 400);
	pattern_wrong(m, "gpu-missing", RD_SEV_CRITICAL);
}

/* A guest without visible switches; the last NIC is of the board `last`. */
static struct pattern guest_with(unsigned gpus, unsigned nics, unsigned last)
{
	struct pattern m = { 0 };

	RD_SET(m.host.guest, true);
	for (unsigned n = 0; n < gpus + nics; n++) {
		char addr[32];

		snprintf(addr, sizeof(addr), "00:%02x.0", 4 + n);
		if (n < gpus)
			pattern_add_gpu(&m, addr, -1, "pci0000:00", 0);
		else
			pattern_add_nic(&m, addr, -1, "pci0000:00", 0, n + 1 == gpus + nics ? last : 0x41, 200);
	}
	return m;
}

TEST(seven_and_eight_of_a_guest)
{
	_cleanup_(pattern_done) struct pattern m = guest_with(7, 8, 0x41), nics = guest_with(8, 7, 0x41),
					       replaced = guest_with(8, 8, 0x42), four = guest_with(8, 4, 0x41);

	pattern_wrong(&m, "gpu-missing", RD_SEV_WARNING);
	pattern_wrong(&nics, "nic-missing", RD_SEV_WARNING);
	assert_true(pattern_says(&replaced, "nic-missing") <= RD_SEV_OK);
	assert_true(pattern_says(&four, "nic-missing") <= RD_SEV_OK);
}

/* No board of these has seven; a guest, or a chassis of cards, may have any number. */
TEST(seven_of_a_board)
{
	static const struct {
		uint16_t device;
		bool guest;
		enum rd_severity wanted;
	} kinds[] = { { 0x2330, false, RD_SEV_CRITICAL },
		      { 0x2330, true, RD_SEV_SKIP },
		      { 0x26b9, false, RD_SEV_SKIP } };

	for (size_t k = 0; k < RD_ARRAY_SIZE(kinds); k++)
		for (unsigned all = 7; all <= 8; all++) {
			_cleanup_(pattern_done) struct pattern m = { 0 };

			RD_SET(m.host.guest, kinds[k].guest);
			for (unsigned n = 0; n < all; n++) {
				char addr[32];

				snprintf(addr, sizeof(addr), "00:%02x.0", 4 + n);
				pattern_add_gpu(&m, addr, -1, "pci0000:00", 0);
				RD_SET(pattern_gpu(&m, n)->device, kinds[k].device);
			}
			assert_int_equal(pattern_says(&m, "gpu-missing"), all == 7 ? kinds[k].wanted : RD_SEV_SKIP);
		}
}

PATTERN_TEST(a_nic_does_not_answer)
{
	for (size_t i = 0; i < m->host.n_pcis; i++)
		m->host.pcis[i].config_read = true;
	assert_int_equal(pattern_says(m, "pcie-no-answer"), RD_SEV_OK);
	m->host.pcis[m->host.ibdevs[2].pci].no_answer = true;
	assert_int_equal(pattern_says(m, "pcie-no-answer"), RD_SEV_CRITICAL);
}

PATTERN_TEST(a_nic_is_gone)
{
	pattern_eight(m, -1, 3);
	pattern_wrong(m, "nic-missing", RD_SEV_CRITICAL);
	pattern_nested(m, -1, 7);
	pattern_wrong(m, "nic-missing", RD_SEV_CRITICAL);
	pattern_server(m, 4, 2, 1, -1, 2);
	pattern_wrong(m, "nic-missing", RD_SEV_CRITICAL);
}

PATTERN_TEST(another_driver)
{
	pattern_text(&pattern_gpu(m, 6)->driver, "vfio-pci");
	pattern_wrong(m, "gpu-driver", RD_SEV_WARNING);
	pattern_text(&pattern_gpu(m, 6)->driver, "nouveau");
	pattern_wrong(m, "gpu-driver", RD_SEV_CRITICAL);
	/* All alike: nothing is odd, and nothing computes. */
	for (int i = 0; i < 8; i++)
		pattern_text(&pattern_gpu(m, i)->driver, "nouveau");
	pattern_wrong(m, "gpu-driver", RD_SEV_CRITICAL);
	pattern_text(&pattern_gpu(m, 6)->driver, NULL);
	pattern_wrong(m, "gpu-driver", RD_SEV_CRITICAL);
	pattern_text(&pattern_nic(m, 6)->driver, "vfio-pci");
	pattern_wrong(m, "nic-driver", RD_SEV_WARNING);
}

PATTERN_TEST(a_narrow_link)
{
	RD_SET(pattern_nic(m, 1)->now.width, 8);
	pattern_wrong(m, "pcie-link-width", RD_SEV_CRITICAL);
	/* A port of 200 still gets all it can. */
	for (unsigned n = 0; n < 8; n++)
		RD_SET(pattern_port(m, n)->rate_gbps, 200);
	RD_SET(pattern_nic(m, 1)->now.width, 8);
	pattern_wrong(m, "pcie-link-width", RD_SEV_WARNING);
	RD_SET(pattern_gpu(m, 1)->now.width, 4);
	pattern_wrong(m, "pcie-link-width", RD_SEV_CRITICAL);
	/* All of them: the board may be made so, and no one of them is to blame. */
	for (unsigned n = 0; n < 8; n++)
		RD_SET(pattern_gpu(m, n)->now.width, 8);
	pattern_wrong(m, "pcie-link-width", RD_SEV_WARNING);
	/* The slot can no more. */
	RD_SET(pattern_gpu(m, 1)->now.width, 8);
	RD_SET(pattern_pci(m, pattern_gpu(m, 1)->parent)->max.width, 8);
	pattern_wrong(m, "pcie-link-width", RD_SEV_CRITICAL);
	/* The switch's uplink; one inside a tree of them. */
	RD_SET(pattern_pci(m, m->ups[2])->now.width, 8);
	pattern_wrong(m, "pcie-link-width", RD_SEV_CRITICAL);
	pattern_nested(m, -1, -1);
	RD_SET(pattern_pci(m, m->ups[4])->now.width, 8);
	pattern_wrong(m, "pcie-link-width", RD_SEV_CRITICAL);
}

PATTERN_TEST(a_slow_link)
{
	RD_SET(pattern_nic(m, 1)->now.mtps, 16000);
	pattern_wrong(m, "pcie-link-speed", RD_SEV_CRITICAL);
	RD_SET(pattern_pci(m, m->ups[0])->now.mtps, 16000);
	pattern_wrong(m, "pcie-link-speed", RD_SEV_CRITICAL);
	/* The root port can no more than the generation before. */
	RD_SET(pattern_pci(m, m->ups[0])->now.mtps, 16000);
	RD_SET(pattern_pci(m, pattern_pci(m, m->ups[0])->parent)->max.mtps, 16000);
	pattern_wrong(m, "pcie-link-speed", RD_SEV_CRITICAL);
	/* Of an accelerator the highest counts, the speed of the moment is not told apart from idling. */
	RD_SET(pattern_gpu(m, 1)->max.mtps, 16000);
	RD_SET(pattern_gpu(m, 1)->now.mtps, 16000);
	pattern_wrong(m, "pcie-link-speed", RD_SEV_CRITICAL);
	RD_SET(pattern_gpu(m, 1)->now.mtps, 2500);
	pattern_wrong(m, "pcie-link-speed", RD_SEV_UNKNOWN);
}

PATTERN_TEST(a_node_that_contradicts_the_switch)
{
	RD_SET(pattern_gpu(m, 7)->numa, 0);
	pattern_wrong(m, "numa-switch", RD_SEV_WARNING);
	RD_SET(pattern_nic(m, 0)->numa, 1);
	pattern_wrong(m, "numa-switch", RD_SEV_WARNING);
}

PATTERN_TEST(a_setting_that_no_twin_has)
{
	RD_SET(pattern_nic(m, 4)->config.dev_ctl, 0x2030);
	pattern_wrong(m, "pcie-mrrs", RD_SEV_WARNING);
	RD_SET(pattern_nic(m, 4)->config.dev_ctl, 0x5010);
	pattern_wrong(m, "pcie-mps", RD_SEV_WARNING);
	RD_SET(pattern_nic(m, 4)->config.dev_ctl, 0x5020);
	pattern_wrong(m, "relaxed-ordering", RD_SEV_WARNING);
	pattern_text(&m->host.ibdevs[m->nics[4]].firmware, "28.39.1002");
	pattern_wrong(m, "firmware-uniform", RD_SEV_WARNING);
	RD_SET(pattern_port(m, 4)->mtu, 2048);
	pattern_wrong(m, "mtu-uniform", RD_SEV_WARNING);
	RD_SET(pattern_port(m, 4)->rate_gbps, 200);
	pattern_wrong(m, "port-speed-uniform", RD_SEV_WARNING);
	/* More than its twins have is no fault. */
	for (unsigned n = 1; n < 8; n++) {
		RD_SET(pattern_nic(m, n)->config.dev_ctl, 0x2030);
		RD_SET(pattern_port(m, n)->mtu, 2048);
	}
	pattern_quiet(m);
}

PATTERN_TEST(another_link_layer)
{
	pattern_text(&pattern_port(m, 4)->link_layer, "Ethernet");
	pattern_wrong(m, "link-layer-uniform", RD_SEV_WARNING);
	/* Down, as it is when the switch speaks the other one. */
	pattern_text(&pattern_port(m, 4)->link_layer, "Ethernet");
	pattern_text(&pattern_port(m, 4)->state, "DOWN");
	pattern_wrong(m, "link-layer-uniform", RD_SEV_WARNING);
}

static void make_roce(struct pattern *m, unsigned odd_index)
{
	pattern_eight(m, -1, -1);
	for (unsigned n = 0; n < 8; n++) {
		char ip[16];

		snprintf(ip, sizeof(ip), "10.0.%u.1", n);
		made_gid(&m->host, m->nics[n], 1, "fe80::1", RD_GID_ROCE_V2, "eth0");
		if (n == 3 && odd_index == 0)
			continue;
		made_gid(&m->host, m->nics[n], 2, ip, RD_GID_ROCE_V1, "eth0");
		made_gid(&m->host, m->nics[n], n == 3 ? odd_index : 3, ip, RD_GID_ROCE_V2, "eth0");
		/* A second address on some. */
		if (n % 2)
			made_gid(&m->host, m->nics[n], 7, "10.9.9.9", RD_GID_ROCE_V2, "eth0");
	}
}

PATTERN_TEST(another_gid_table)
{
	make_roce(m, 3);
	pattern_quiet(m);
	make_roce(m, 5);
	pattern_wrong(m, "gid-uniform", RD_SEV_WARNING);
	/* That there is none is what gid-usable says. */
	make_roce(m, 0);
	pattern_quiet(m);
}
