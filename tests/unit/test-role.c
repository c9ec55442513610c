/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ports are for: hosts that are well, though one might think otherwise, and hosts that are not. */
#include "unit.h"

#include "analyse/env/envcheck.h"
#include "analyse/nicmap/nicmap.h"
#include "check-run.h"
#include "nicmap-host.h"
#include "role-host.h"

/* Like a DGX H100: eight InfiniBand NICs at eight accelerators; two cards of the same chip with two ports for storage and the
 * way out, as fast, near none. */
static void dgx_h100(struct rd_host *host)
{
	role_add_switches(host, 4, 2, 2, 400, "InfiniBand");
	role_far_nic(host, "mlx5_8", 0x60, 0, 0, 400, CX7, "Ethernet");
	role_far_nic(host, "mlx5_9", 0x60, 1, 0, 400, CX7, "InfiniBand");
	role_far_nic(host, "mlx5_10", 0x70, 0, 1, 400, CX7, "Ethernet");
	role_far_nic(host, "mlx5_11", 0x70, 1, 1, 400, CX7, "InfiniBand");
}

ROLE_TEST(a_server_of_eight_is_well)
{
	dgx_h100(&at->host);
	/* Storage ports that nobody cabled are no fault. */
	role_go_down(role_port(&at->host, "mlx5_9"));
	role_go_down(role_port(&at->host, "mlx5_11"));
	role_computing(at, 8);
	role_assert(at, "mlx5_7", RD_ROLE_COMPUTE);
	role_assert(at, "mlx5_8", RD_ROLE_STORAGE);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
	assert_false(rd_env_refused(&at->map.ports, NULL));
}

TEST(ports_of_one_card_are_one_card_s)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };

	made_nic(&host, "mlx5_0", "17:00.0", -1, "pci0000:16", 0, 200);
	made_nic(&host, "mlx5_1", "17:00.1", -1, "pci0000:16", 0, 200);
	made_nic(&host, "mlx5_2", "18:00.0", -1, "pci0000:16", 0, 200);
	made_nic(&host, "siw0", NULL, -1, "", -1, 10);
	assert_int_equal(host.ibdevs[0].pci, 0);
	assert_true(rd_same_card(&host, 0, 1) && rd_same_card(&host, 1, 0) && rd_same_card(&host, 3, 3));
	assert_false(rd_same_card(&host, 0, 2) || rd_same_card(&host, 0, 3) || rd_same_card(&host, 3, 0));
	ASSERT_EACH(IS(rd_card_ports(&host, 0), 2), IS(rd_card_ports(&host, 3), 1));
}

ROLE_TEST(all_compute_ports_down)
{
	struct rd_err err = { 0 };

	dgx_h100(&at->host);
	for (size_t p = 0; p < 8; p++)
		role_go_down(&at->host.ports[p]);
	role_add_netdev(&at->host, "mlx5_8", "eth0")->default_route = true;
	role_look(at);
	for (size_t p = 0; p < 12; p++)
		assert_int_equal(at->map.ports.v[p].role, p < 8 ? RD_ROLE_COMPUTE : RD_ROLE_STORAGE);
	ASSERT_EACH(IS(check_worst(&at->in, "port-state"), RD_SEV_CRITICAL),
		    IS(rd_env_refused(&at->map.ports, &err), true), READS(err.object, "mlx5_0/1 and 7 more"),
		    IS(at->map.env.n, 0));
}

TEST(a_faster_dpu_is_near_none)
{
	for (int route = 0; route < 2; route++) {
		struct role_place at = { 0 };

		role_add_switches(&at.host, 4, 2, 2, 200, "Ethernet");
		role_far_nic(&at.host, "dpu", 0x60, 0, 0, 400, BF3, "Ethernet");
		role_add_netdev(&at.host, "dpu", "eth0")->default_route = route;
		role_computing(&at, 8);
		role_assert(&at, "dpu", RD_ROLE_STORAGE);
		/* The same chip in all: place decides. */
		at.host.pcis[at.host.ibdevs[8].pci].device.v = CX7;
		role_computing(&at, 8);
		role_assert(&at, "dpu", RD_ROLE_STORAGE);
		assert_true(role_worst(&at) <= RD_SEV_NOTE);
		role_done(&at);
	}
}

ROLE_TEST(one_has_the_other_link_layer)
{
	struct rd_port *port;

	role_add_switches(&at->host, 4, 2, 2, 200, "Ethernet");
	port = role_port(&at->host, "mlx5_3");
	role_set_text(&port->link_layer, "InfiniBand");
	RD_SET(port->lid, 0);
	RD_SET(port->sm_lid, 0);
	role_computing(at, 8);
	assert_int_equal(check_worst(&at->in, "link-layer-uniform"), RD_SEV_WARNING);
	assert_true(check_worst(&at->in, "ib-lid") <= RD_SEV_NOTE);
	assert_true(check_worst(&at->in, "ib-sm-lid") <= RD_SEV_NOTE);
	role_set_state(port, "INIT", "LinkUp");
	role_becomes(at, "mlx5_3", RD_ROLE_COMPUTE);
	assert_true(check_worst(&at->in, "ib-no-sm") <= RD_SEV_NOTE);
	assert_int_equal(check_worst(&at->in, "port-state"), RD_SEV_CRITICAL);
	/* Where all are InfiniBand it is the subnet manager. */
	for (size_t p = 0; p < 8; p++)
		role_set_text(&at->host.ports[p].link_layer, "InfiniBand");
	role_look(at);
	assert_int_equal(check_worst(&at->in, "ib-no-sm"), RD_SEV_CRITICAL);
}

ROLE_TEST(two_ports_in_a_lag)
{
	float alone;

	role_add_switches(&at->host, 4, 2, 2, 200, "Ethernet");
	role_look(at);
	sscanf(strstr(at->map.nccl.v[0].why, ", ") + 2, "%f", &alone);
	for (unsigned n = 0; n < 8; n++) {
		char ibdev[16], bond[16];

		snprintf(ibdev, sizeof(ibdev), "mlx5_%u", n);
		snprintf(bond, sizeof(bond), "bond%u", n);
		role_add_lag(&at->host, ibdev, bond, n == 7 ? "backup" : n == 6 ? NULL : "active");
	}
	rd_host_fill_lags(&at->host); /* again: no four times */
	role_computing(at, 8);
	ASSERT_EACH(IS(check_worst(&at->in, "nic-driver"), RD_SEV_OK), IS(at->host.ports[0].rate_gbps.v == 400, true),
		    IS(at->host.ports[0].leg_gbps.v == 200, true), IS(at->host.ports[0].lag_active, 2));
	/* A slave that stands by carries nothing; of one that tells nothing, nothing is said. */
	ASSERT_EACH(IS(at->host.ports[7].rate_gbps.v == 200, true), IS(at->host.ports[6].rate_gbps.v == 200, true),
		    IS(at->host.ports[6].lag_active, 0), IS(role_worst(at) <= RD_SEV_NOTE, true));
	assert_non_null(strstr(at->map.nccl.v[0].why, "48.0 GB/s")); /* what PCI Express 5.0 x16 leaves of 50 */
	assert_true(alone < 26);
	/* A second function that is not bound lacks its device. */
	role_set_text(&at->host.netdevs[2].master, "bond9");
	role_look(at);
	assert_int_equal(check_worst(&at->in, "nic-driver"), RD_SEV_WARNING);
}

/* Eight cards of two ports, mlx5_0 to mlx5_15; the second ones as told. */
static void dual_cards(struct rd_host *host)
{
	for (unsigned i = 0; i < 8; i++) {
		unsigned bus = 0x10 * (i + 1);
		char root[16], addr[16], name[16];
		int up, port;

		snprintf(root, sizeof(root), "pci0000:%02x", bus);
		up = made_switch(host, bus, root, i / 4);
		snprintf(addr, sizeof(addr), "%02x:00.0", bus + 3);
		made_gpu(host, addr, made_port_of(host, up, 0), root, (int)i / 4);
		port = made_port_of(host, up, 1);
		for (unsigned fn = 0; fn < 2; fn++) {
			snprintf(addr, sizeof(addr), "%02x:00.%u", bus + 4, fn);
			snprintf(name, sizeof(name), "mlx5_%zu", host->n_ibdevs);
			role_add_nic(host, name, addr, port, root, (int)i / 4, 200, CX6, "Ethernet");
		}
	}
}

ROLE_TEST(spare_ports_of_every_card)
{
	struct rd_netdev *netdev;

	dual_cards(&at->host);
	for (size_t p = 1; p < 16; p += 2)
		role_go_down(&at->host.ports[p]);
	role_computing(at, 8);
	assert_true(at->map.ports.v[1].spare && at->map.ports.v[15].spare);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
	assert_false(rd_env_refused(&at->map.ports, NULL));
	/* Somebody gave one an address: it is meant to be up, and so it is not the case that all are spare. */
	netdev = role_add_netdev(&at->host, "mlx5_5", "eth5");
	role_set_text(&netdev->operstate, "down");
	role_add_address(netdev, 5, 1);
	role_becomes(at, "mlx5_5", RD_ROLE_COMPUTE);
	assert_int_equal(check_worst(&at->in, "port-state"), RD_SEV_CRITICAL);
}

/* Two networks below the same switches: a library takes NICs of one, and nobody fails over to the other. */
ROLE_TEST(ports_of_both_link_layers)
{
	role_add_switches(&at->host, 4, 2, 2, 400, "InfiniBand");
	role_look(at);
	assert_false(rd_env_refused(&at->map.ports, NULL));
	for (size_t p = 1; p < at->host.n_ports; p += 2)
		role_set_text(&at->host.ports[p].link_layer, "Ethernet");
	role_look(at);
	assert_true(rd_env_refused(&at->map.ports, NULL));
	assert_int_equal(check_worst(&at->in, "failover-fabric"), RD_SEV_SKIP);
}

/* One port of each card is a rail, the other in the bond that everything else goes over. */
ROLE_TEST(rails_and_front_end_on_the_same_cards)
{
	dual_cards(&at->host);
	for (unsigned n = 1; n < 4; n += 2) {
		char ibdev[16], name[16];

		snprintf(ibdev, sizeof(ibdev), "mlx5_%u", n);
		snprintf(name, sizeof(name), "eth%u", n);
		role_set_text(&role_add_netdev(&at->host, ibdev, name)->master, "bond0");
	}
	at->host.netdevs[made_netdev(&at->host, "bond0")].default_route = true;
	role_becomes(at, "mlx5_0", RD_ROLE_COMPUTE);
	role_assert(at, "mlx5_1", RD_ROLE_STORAGE);
	role_assert(at, "mlx5_3", RD_ROLE_STORAGE);
	role_assert(at, "mlx5_5", RD_ROLE_COMPUTE);
}

ROLE_TEST(one_second_port_of_eight_is_down)
{
	dual_cards(&at->host);
	role_go_down(&at->host.ports[9]);
	role_computing(at, 16);
	assert_int_equal(check_worst(&at->in, "port-state"), RD_SEV_CRITICAL);
	/* One of eight is up: whether the others should be is not known. */
	for (size_t p = 1; p < 16; p += 2)
		role_go_down(&at->host.ports[p]);
	role_set_state(&at->host.ports[3], "ACTIVE", "LinkUp");
	role_becomes(at, "mlx5_5", RD_ROLE_UNKNOWN);
	ASSERT_EACH(IS(at->map.ports.v[5].spare, false), IS(check_worst(&at->in, "port-state"), RD_SEV_UNKNOWN));
	/* A card that is down as a whole is a fault, whatever its second port is for. */
	role_go_down(&at->host.ports[4]);
	role_becomes(at, "mlx5_4", RD_ROLE_COMPUTE);
	assert_int_equal(check_worst(&at->in, "port-state"), RD_SEV_CRITICAL);
}

/* A guest: no switches, all functions on one root bus; eight virtual functions for eight accelerators and one for the way
 * out, all of one device ID. */
ROLE_TEST(a_guest_without_switches)
{
	char addr[16], name[16];

	RD_SET(at->host.guest, true);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(addr, sizeof(addr), "00:%02x.0", i + 1);
		made_gpu(&at->host, addr, -1, "pci0000:00", (int)i / 4);
	}
	for (unsigned i = 0; i < 9; i++) {
		snprintf(addr, sizeof(addr), "00:%02x.0", i + 0x10);
		snprintf(name, sizeof(name), "mlx5_%u", i);
		role_add_nic(&at->host, name, addr, -1, "pci0000:00", i < 8 ? (int)i / 4 : 0, i < 8 ? 400 : 100, 0x101e,
			     i < 8 ? "InfiniBand" : "Ethernet");
	}
	role_add_netdev(&at->host, "mlx5_8", "eth0")->default_route = true;
	role_computing(at, 8);
	role_assert(at, "mlx5_8", RD_ROLE_STORAGE);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
	assert_false(rd_env_refused(&at->map.ports, NULL));
	/* Where no route was told, the odd one is not known. */
	at->host.netdevs[0].default_route = false;
	role_computing(at, 8);
	role_assert(at, "mlx5_8", RD_ROLE_UNKNOWN);
}

ROLE_TEST(a_nic_for_two_accelerators)
{
	role_add_switches(&at->host, 4, 2, 1, 200, "InfiniBand");
	/* Storage as fast, below two of the same switches. */
	role_add_nic(&at->host, "st0", "16:00.0", made_port_of(&at->host, rd_host_find_pci(&at->host, "11:00.0"), 7),
		     "pci0000:10", 0, 200, CX6, "Ethernet");
	role_add_nic(&at->host, "st1", "36:00.0", made_port_of(&at->host, rd_host_find_pci(&at->host, "31:00.0"), 7),
		     "pci0000:30", 1, 200, CX6, "Ethernet");
	role_computing(at, 4);
	role_assert(at, "st0", RD_ROLE_STORAGE);
	role_assert(at, "st1", RD_ROLE_STORAGE);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
}

/* GB200: each on a host bridge of its own; two BlueField-3 of two ports beside four NICs, two to a processor. */
ROLE_TEST(a_tray_with_a_host_bridge_for_each)
{
	char root[16], addr[16], name[16];

	for (unsigned i = 0; i < 4; i++) {
		int port = role_own_bridge(&at->host, 0x10 + 8 * i, root, sizeof(root), (int)i / 2);

		snprintf(addr, sizeof(addr), "%02x:00.0", 0x11 + 8 * i);
		made_gpu(&at->host, addr, port, root, (int)i / 2);
		snprintf(name, sizeof(name), "mlx5_%u", i);
		role_far_nic(&at->host, name, 0x40 + 8 * i, 0, (int)i / 2, 400, CX7, "InfiniBand");
	}
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "bf3_%u", i);
		role_far_nic(&at->host, name, 0x80 + 8 * (i / 2), i % 2, (int)i / 2, 200, BF3, "Ethernet");
	}
	role_go_down(role_port(&at->host, "bf3_3"));
	role_add_netdev(&at->host, "bf3_0", "eth0")->default_route = true;
	for (int down = 0; down < 2; down++) {
		role_computing(at, 4);
		role_assert(at, "mlx5_0", RD_ROLE_COMPUTE);
		role_assert(at, "bf3_2", RD_ROLE_STORAGE);
		assert_true(down ? role_worst(at) == RD_SEV_CRITICAL : role_worst(at) <= RD_SEV_NOTE);
		/* The same with all of them down. */
		for (size_t p = 0; p < 4; p++)
			role_go_down(&at->host.ports[p]);
	}
}

ROLE_TEST(a_storage_server)
{
	for (unsigned i = 0; i < 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "mlx5_%u", i);
		role_far_nic(&at->host, name, 0x10 + 0x10 * (i / 2), i % 2, (int)i / 2, 100, CX6, "Ethernet");
	}
	role_go_down(&at->host.ports[3]); /* of two cards one is cabled twice: whether by plan is not known */
	role_computing(at, 3);
	assert_true(role_worst(at) <= RD_SEV_UNKNOWN);
	/* Cabled once each: spare. */
	role_go_down(&at->host.ports[1]);
	role_look(at);
	assert_true(at->map.ports.v[1].spare && at->map.ports.v[3].spare);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
	/* NICs of another make, as fast: which is for what is not known, and nothing fails for it. */
	role_far_nic(&at->host, "bnxt_re0", 0x50, 0, 0, 100, 0x1760, "Ethernet");
	role_go_down(role_port(&at->host, "bnxt_re0"));
	role_computing(at, 0);
	assert_true(role_worst(at) <= RD_SEV_UNKNOWN);
	assert_true(rd_env_refused(&at->map.ports, NULL));
}

/* Its address shows which port is to be up. */
ROLE_TEST(the_port_in_use_is_down)
{
	role_far_nic(&at->host, "mlx5_0", 0x10, 0, 0, 100, CX6, "Ethernet");
	role_far_nic(&at->host, "mlx5_1", 0x10, 1, 0, 100, CX6, "Ethernet");
	role_add_address(role_add_netdev(&at->host, "mlx5_0", "eth0"), 5, 1);
	role_go_down(&at->host.ports[0]);
	role_go_down(&at->host.ports[1]);
	role_look(at);
	assert_true(at->map.ports.v[1].spare && !at->map.ports.v[0].spare);
	assert_int_equal(role_worst(at), RD_SEV_CRITICAL);
}

/* Two accelerators without a switch, one card of two ports: one is the way out, the other has no cable. */
ROLE_TEST(a_workstation)
{
	made_gpu(&at->host, "11:00.0", made_bridge(&at->host, "10:01.0", -1, "pci0000:10", 0), "pci0000:10", 0);
	made_gpu(&at->host, "12:00.0", made_bridge(&at->host, "10:02.0", -1, "pci0000:10", 0), "pci0000:10", 0);
	role_far_nic(&at->host, "mlx5_0", 0x20, 0, 0, 100, CX6, "Ethernet");
	role_far_nic(&at->host, "mlx5_1", 0x20, 1, 0, 100, CX6, "Ethernet");
	role_add_netdev(&at->host, "mlx5_0", "enp33s0f0")->default_route = true;
	role_go_down(role_port(&at->host, "mlx5_1"));
	role_becomes(at, "mlx5_0", RD_ROLE_COMPUTE);
	assert_true(role_view(at, "mlx5_1")->spare);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
	assert_false(rd_env_refused(&at->map.ports, NULL));
	/* Cabled to a second host: that one is for computing, the other the way out. */
	role_set_state(role_port(&at->host, "mlx5_1"), "ACTIVE", "LinkUp");
	role_becomes(at, "mlx5_0", RD_ROLE_STORAGE);
	role_assert(at, "mlx5_1", RD_ROLE_COMPUTE);
	/* An on-board card on the accelerators' own host bridge is no match for a fast one on the other socket. */
	role_port(&at->host, "mlx5_0")->rate_gbps.v = role_port(&at->host, "mlx5_1")->rate_gbps.v = 10;
	role_far_nic(&at->host, "mlx5_2", 0x60, 0, 1, 200, CX7, "InfiniBand");
	role_becomes(at, "mlx5_2", RD_ROLE_COMPUTE);
	role_assert(at, "mlx5_1", RD_ROLE_MANAGEMENT);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
}

ROLE_TEST(two_kinds_as_near_are_not_told_apart)
{
	struct rd_err err = { 0 };

	made_gpu(&at->host, "11:00.0", made_bridge(&at->host, "10:01.0", -1, "pci0000:10", 0), "pci0000:10", 0);
	made_gpu(&at->host, "12:00.0", made_bridge(&at->host, "10:02.0", -1, "pci0000:10", 0), "pci0000:10", 0);
	role_far_nic(&at->host, "mlx5_0", 0x20, 0, 0, 100, CX6, "Ethernet");
	role_far_nic(&at->host, "bnxt_re0", 0x30, 0, 0, 100, 0x1760, "Ethernet");
	role_becomes(at, "mlx5_0", RD_ROLE_UNKNOWN);
	role_assert(at, "bnxt_re0", RD_ROLE_UNKNOWN);
	ASSERT_EACH(IS(rd_env_refused(&at->map.ports, &err), true), READS(err.object, "mlx5_0/1 and 1 more"),
		    IS(at->map.env.n, 0));
	role_go_down(role_port(&at->host, "mlx5_0"));
	role_look(at);
	assert_int_equal(check_worst(&at->in, "port-state"), RD_SEV_UNKNOWN);
	/* A route tells them apart, also while the other is down: then it is that one that is missing. */
	role_add_netdev(&at->host, "bnxt_re0", "eth0")->default_route = true;
	role_becomes(at, "mlx5_0", RD_ROLE_COMPUTE);
	assert_int_equal(check_worst(&at->in, "port-state"), RD_SEV_CRITICAL);
}

ROLE_TEST(what_is_no_nic_of_its_own)
{
	int vf;

	role_add_switches(&at->host, 4, 2, 2, 400, "InfiniBand");
	role_add_nic(&at->host, "vf0", "15:01.0", -1, "pci0000:10", 0, 400, 0x101e, "InfiniBand");
	vf = at->host.ibdevs[8].pci;
	at->host.pcis[vf].pf = at->host.ibdevs[0].pci;
	made_nic(&at->host, "rxe0", NULL, -1, "", -1, 1);
	at->host.ibdevs[9].parent_netdev = strdup("eth0");
	role_go_down(&at->host.ports[8]);
	role_go_down(&at->host.ports[9]);
	role_computing(at, 8);
	role_assert(at, "vf0", RD_ROLE_UNKNOWN);
	role_assert(at, "rxe0", RD_ROLE_UNKNOWN);
	assert_true(role_worst(at) <= RD_SEV_NOTE);
	role_set_state(&at->host.ports[9], "ACTIVE", "LinkUp");
	assert_false(rd_env_refused(&at->map.ports, NULL));
}

ROLE_TEST(soft_devices_alone_are_what_there_is)
{
	made_nic(&at->host, "rxe0", NULL, -1, "", -1, 1);
	at->host.ibdevs[0].parent_netdev = strdup("eth0");
	role_becomes(at, "rxe0", RD_ROLE_COMPUTE);
}

TEST(a_nic_whose_accelerator_is_gone)
{
	struct role_place at = { 0 };

	role_add_switches(&at.host, 8, 1, 1, 400, "InfiniBand");
	at.host.n_gpus = 7;
	role_computing(&at, 8);
	role_done(&at);
	/* A chip of another make in the place of one of eight. */
	at = (struct role_place){ 0 };
	role_add_switches(&at.host, 8, 1, 1, 400, "InfiniBand");
	at.host.pcis[at.host.ibdevs[5].pci].device.v = BF3;
	role_computing(&at, 8);
	role_done(&at);
}

/* Nothing that could not be read is taken for what is not there. */
TEST(what_was_not_read_has_no_role)
{
	struct role_place at = { 0 };

	made_nic(&at.host, "mlx5_0", NULL, -1, "", -1, 400);
	role_becomes(&at, "mlx5_0", RD_ROLE_UNKNOWN);
	role_done(&at);
	at = (struct role_place){ 0 };
	role_add_switches(&at.host, 4, 2, 2, 400, "InfiniBand");
	at.host.pcis[at.host.ibdevs[2].pci].device.known = RD_DENIED;
	role_becomes(&at, "mlx5_2", RD_ROLE_UNKNOWN);
	ASSERT_EACH(IS(role_count(&at, RD_ROLE_COMPUTE), 7), IS(rd_env_refused(&at.map.ports, NULL), true));
	role_done(&at);
}
