/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Healthy hosts that look as if something broke their pattern. */
#include "unit.h"

#include "analyse/shared/symmetry.h"
#include "nicmap-host.h"
#include "symmetry-host.h"

PATTERN_TEST(eight_and_storage_on_two_switches)
{
	pattern_add_nic_below(m, 0, 4, 0x23, 400);
	pattern_add_nic_below(m, 2, 4, 0x23, 400);
	pattern_quiet(m);
	/* On three of four: still not the ones that go with the accelerators. */
	pattern_add_nic_below(m, 0, 4, 0x23, 400);
	pattern_add_nic_below(m, 1, 4, 0x23, 400);
	pattern_add_nic_below(m, 2, 4, 0x23, 400);
	pattern_quiet(m);
}

PATTERN_TEST(two_more_of_the_same_board_on_ethernet)
{
	pattern_add_nic_below(m, 0, 4, 0x41, 200);
	pattern_add_nic_below(m, 2, 4, 0x41, 200);
	for (unsigned n = 8; n < 10; n++) {
		pattern_text(&pattern_port(m, n)->link_layer, "Ethernet");
		RD_SET(pattern_port(m, n)->mtu, 1024);
	}
	pattern_quiet(m);
	/* One more. */
	pattern_add_nic_below(m, 0, 4, 0x41, 200);
	pattern_text(&pattern_port(m, 8)->link_layer, "Ethernet");
	RD_SET(pattern_nic(m, 8)->config.dev_ctl, 0x2030);
	pattern_quiet(m);
}

PATTERN_TEST(storage_cards_of_their_own_root_ports)
{
	for (unsigned n = 0; n < 2; n++) {
		char port[32], addr[32], root[32];
		int bridge;

		snprintf(root, sizeof(root), "pci0000:%02x", 0xa0 + n * 8);
		snprintf(port, sizeof(port), "%02x:01.0", 0xa0 + n * 8);
		snprintf(addr, sizeof(addr), "%02x:00.0", 0xa1 + n * 8);
		bridge = made_bridge(&m->host, port, -1, root, (int)n);
		pattern_add_nic(m, addr, bridge, root, (int)n, 0x41, 25);
		pattern_text(&pattern_port(m, 8 + n)->link_layer, "Ethernet");
		/* 25 Gbit/s in a riser of eight lanes. */
		RD_SET(pattern_nic(m, 8 + n)->now.width, 8);
		RD_SET(pattern_nic(m, 8 + n)->config.dev_ctl, 0x2030);
	}
	pattern_quiet(m);
}

PATTERN_TEST(a_switch_of_each_pair)
{
	pattern_nested(m, -1, -1);
	pattern_quiet(m);
}

PATTERN_TEST(idle_accelerators_of_a_maker_with_switches_inside)
{
	struct rd_symmetry symmetry = { 0 };
	struct rd_port_views views;

	pattern_server(m, 4, 0, 2, -1, -1);
	for (unsigned n = 0; n < 8; n++) {
		char addr[32], root[32], inside[32];
		int port, up, down;
		unsigned bus = 0x10 + n / 2 * 0x18 + 8 + n % 2 * 4;

		pattern_slot(m, m->ups[n / 2], 4 + n % 2, inside, root, &port);
		snprintf(addr, sizeof(addr), "%02x:00.0", bus);
		up = made_bridge(&m->host, addr, port, root, n / 4);
		pattern_ids(m, up, 0x1002, 0x1478, 0, "pcieport");
		snprintf(addr, sizeof(addr), "%02x:00.0", bus + 1);
		down = made_bridge(&m->host, addr, up, root, n / 4);
		pattern_ids(m, down, 0x1002, 0x1479, 0, "pcieport");
		snprintf(addr, sizeof(addr), "%02x:00.0", bus + 2);
		pattern_add_gpu(m, addr, down, root, n / 4);
		pattern_ids(m, m->gpus[n], 0x1002, 0x74a1, 0, "amdgpu");
		RD_SET(pattern_pci(m, up)->now.mtps, 2500);
		RD_SET(pattern_pci(m, m->gpus[n])->now.mtps, 2500);
	}
	/* All but one are idle, then all. */
	RD_SET(pattern_gpu(m, 3)->now.mtps, 32000);
	rd_port_views_init(&views, &m->host);
	rd_symmetry_find(&views, &symmetry);
	rd_port_views_deinit(&views);
	assert_int_equal(symmetry.n_odds, 0);
	rd_symmetry_deinit(&symmetry);
	RD_SET(pattern_gpu(m, 3)->now.mtps, 2500);
	assert_int_equal(pattern_says(m, "pcie-link-speed"), RD_SEV_OK);
	pattern_quiet(m);
}

TEST(four_accelerators_on_root_ports)
{
	_cleanup_(pattern_done) struct pattern m = { 0 };

	for (unsigned n = 0; n < 6; n++) {
		char port[32], addr[32], root[32];
		int bridge;

		snprintf(root, sizeof(root), "pci0000:%02x", 0x10 + n * 8);
		snprintf(port, sizeof(port), "%02x:01.0", 0x10 + n * 8);
		snprintf(addr, sizeof(addr), "%02x:00.0", 0x11 + n * 8);
		bridge = made_bridge(&m.host, port, -1, root, n / 3);
		pattern_ids(&m, bridge, 0x8086, 0x352a, 0, "pcieport");
		/* Three accelerators and an empty slot, two NICs, of which one is in a slot of eight lanes. */
		if (n < 3)
			pattern_add_gpu(&m, addr, bridge, root, n / 3);
		else if (n > 3)
			pattern_add_nic(&m, addr, bridge, root, n / 3, 0x41, 200);
	}
	RD_SET(pattern_nic(&m, 1)->now.width, 8);
	RD_SET(pattern_pci(&m, pattern_nic(&m, 1)->parent)->max.width, 8);
	pattern_quiet(&m);
}

PATTERN_TEST(switches_that_differ_by_design)
{
	char addr[32], root[32];
	int port;

	/* Two switches with two, two with one: who is to say which is right. */
	pattern_server(m, 4, 1, 1, -1, -1);
	for (unsigned s = 0; s < 2; s++) {
		pattern_slot(m, m->ups[s], 2, addr, root, &port);
		pattern_add_gpu(m, addr, port, root, 0);
	}
	pattern_quiet(m);
	/* One slot of four is empty. */
	pattern_server(m, 1, 4, 0, 2, -1);
	assert_int_equal(pattern_says(m, "gpu-missing"), RD_SEV_UNKNOWN);
	pattern_quiet(m);
	/* Three NICs to two accelerators, and one fewer below one switch: it may have been for storage. */
	pattern_server(m, 4, 2, 3, -1, 0);
	assert_int_equal(pattern_says(m, "nic-missing"), RD_SEV_UNKNOWN);
	pattern_quiet(m);
	/* Four and three, below two switches with five ports each, and no word of how many it should be. */
	pattern_server(m, 2, 2, 1, 3, -1);
	assert_int_equal(pattern_says(m, "gpu-missing"), RD_SEV_UNKNOWN);
	pattern_quiet(m);
}

PATTERN_TEST(switches_of_the_same_model_for_disks)
{
	for (unsigned s = 0; s < 1; s++) {
		int up = pattern_add_switch(m, 0x80, 1);

		for (unsigned n = 0; n < 4; n++) {
			char addr[32], root[32];
			struct rd_pci *disk;
			int port;

			pattern_slot(m, up, n, addr, root, &port);
			made_bridge(&m->host, addr, port, root, 1);
			disk = &m->host.pcis[m->host.n_pcis - 1];
			RD_SET(disk->class, 0x010802);
		}
	}
	assert_int_equal(pattern_says(m, "gpu-missing"), RD_SEV_OK);
	pattern_quiet(m);
	/* Not one disk is in it yet. */
	for (unsigned n = 0; n < 4; n++) {
		char addr[32], root[32];
		int port;

		pattern_slot(m, n ? m->ups[4] : pattern_add_switch(m, 0x80, 1), n, addr, root, &port);
	}
	pattern_quiet(m);
}

TEST(a_guest_that_sees_no_switches)
{
	_cleanup_(pattern_done) struct pattern m = { 0 };

	RD_SET(m.host.guest, true);
	for (unsigned n = 0; n < 16; n++) {
		char port[32], addr[32];
		int bridge;

		snprintf(port, sizeof(port), "00:%02x.0", 4 + n);
		snprintf(addr, sizeof(addr), "%02x:00.0", 1 + n);
		bridge = made_bridge(&m.host, port, -1, "pci0000:00", 0);
		pattern_ids(&m, bridge, 0x1b36, 0x000c, 0, "pcieport");
		/* The hypervisor's ports: one lane, payloads of 128. */
		RD_SET(pattern_pci(&m, bridge)->max.width, 1);
		RD_SET(pattern_pci(&m, bridge)->config.dev_ctl, 0x0010);
		if (n < 8) {
			pattern_add_gpu(&m, addr, bridge, "pci0000:00", 0);
		} else {
			pattern_add_nic(&m, addr, bridge, "pci0000:00", 0, 0x41, 200);
			/* Virtual functions: no link, and a Device Control register of zeros. */
			pattern_nic(&m, n - 8)->now = pattern_nic(&m, n - 8)->max = (struct rd_pcie_link){ 0 };
			RD_SET(pattern_nic(&m, n - 8)->config.dev_ctl, 0);
		}
	}
	assert_int_equal(pattern_says(&m, "pcie-link-width"), RD_SEV_UNKNOWN);
	pattern_quiet(&m);
	/* One that is shown switches. */
	RD_SET(m.host.guest, true);
	RD_SET(pattern_pci(&m, m.ups[1])->now.width, 1);
	RD_SET(pattern_pci(&m, m.ups[1])->now.mtps, 2500);
	pattern_quiet(&m);
}

TEST(accelerators_beside_nvlink_to_their_processor)
{
	_cleanup_(pattern_done) struct pattern m = { 0 };

	for (unsigned n = 0; n < 4; n++) {
		char port[32], addr[32], root[32];
		int bridge;

		snprintf(root, sizeof(root), "pci%04x:00", 8 + n);
		snprintf(port, sizeof(port), "%04x:00:00.0", 8 + n);
		snprintf(addr, sizeof(addr), "%04x:01:00.0", 8 + n);
		bridge = made_bridge(&m.host, port, -1, root, (int)n / 2);
		pattern_ids(&m, bridge, 0x10de, 0x22b8, 0, "pcieport");
		pattern_add_gpu(&m, addr, bridge, root, (int)n / 2);
		RD_SET(pattern_gpu(&m, n)->now.width, 1);
		RD_SET(pattern_gpu(&m, n)->now.mtps, 2500);
	}
	pattern_quiet(&m);
}

PATTERN_TEST(nothing_readable_but_the_tree)
{
	for (size_t i = 0; i < m->host.n_pcis; i++) {
		m->host.pcis[i].config =
			(struct rd_pci_config){ .dev_ctl = { .known = RD_DENIED }, .dev_cap = { .known = RD_DENIED } };
		m->host.pcis[i].config_denied = true;
	}
	ASSERT_EACH(IS(pattern_says(m, "pcie-mrrs"), RD_SEV_UNKNOWN), IS(pattern_says(m, "pcie-mps"), RD_SEV_UNKNOWN),
		    IS(pattern_says(m, "relaxed-ordering"), RD_SEV_UNKNOWN));
	pattern_quiet(m);
	/* Bridges without ids, links without numbers. */
	pattern_eight(m, 3, -1);
	for (size_t i = 0; i < m->host.n_pcis; i++) {
		struct rd_pci *pci = &m->host.pcis[i];

		pci->vendor.known = pci->device.known = RD_ABSENT;
		pci->now = pci->max = (struct rd_pcie_link){ 0 };
	}
	assert_int_equal(pattern_says(m, "gpu-missing"), RD_SEV_SKIP);
	assert_int_equal(pattern_says(m, "pcie-link-width"), RD_SEV_UNKNOWN);
	pattern_quiet(m);
}

PATTERN_TEST(two_groups_are_nobodys_fault)
{
	for (unsigned n = 0; n < 4; n++) {
		pattern_text(&m->host.ibdevs[m->nics[n]].firmware, "28.39.1002");
		pattern_text(&pattern_gpu(m, n)->driver, "vfio-pci");
		RD_SET(pattern_nic(m, n)->config.dev_ctl, 0x2030);
		RD_SET(pattern_port(m, n)->mtu, 2048);
		RD_SET(pattern_port(m, n)->rate_gbps, 200);
	}
	pattern_quiet(m);
}

PATTERN_TEST(soft_roce_on_an_ordinary_host)
{
	for (unsigned n = 0; n < 4; n++) {
		struct rd_ibdev *dev;

		made_nic(&m->host, "rxe0", NULL, -1, NULL, -1, 1);
		dev = &m->host.ibdevs[m->host.n_ibdevs - 1];
		dev->parent_netdev = strdup("eth0");
		pattern_text(&m->host.ports[m->host.n_ports - 1].link_layer, "Ethernet");
	}
	pattern_quiet(m);
}

PATTERN_TEST(settings_that_all_have)
{
	/* Accelerators in slots of eight lanes, and an older generation: all of them. */
	for (unsigned n = 0; n < 8; n++) {
		RD_SET(pattern_gpu(m, n)->now.width, 8);
		RD_SET(pattern_pci(m, pattern_gpu(m, n)->parent)->max.width, 8);
		RD_SET(pattern_gpu(m, n)->max.mtps, 16000);
		RD_SET(pattern_gpu(m, n)->now.mtps, 16000);
		RD_SET(pattern_nic(m, n)->config.dev_ctl, 0x2030);
	}
	pattern_quiet(m);
}

PATTERN_TEST(ports_put_to_another_use)
{
	/* Two of eight are for storage, over Ethernet. */
	for (unsigned n = 2; n < 8; n += 4) {
		pattern_text(&pattern_port(m, n)->link_layer, "Ethernet");
		RD_SET(pattern_port(m, n)->mtu, 1024);
	}
	pattern_quiet(m);
	/* One has the default route. */
	pattern_text(&pattern_port(m, 2)->link_layer, "Ethernet");
	made_netdev(&m->host, "eth2");
	m->host.netdevs[0].default_route = true;
	pattern_port(m, 2)->netdevs = calloc(1, sizeof(int));
	pattern_port(m, 2)->n_netdevs = 1;
	pattern_quiet(m);
}
