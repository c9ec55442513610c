/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about what a subnet manager gives a port, and about IPoIB: a host on which all is well, and one thing after the other that
 * is not. */
#include "unit.h"

#include "check-run.h"
#include "model/nicmap/nicmap.h"
#include "model/shared/finding.h"

struct fixture {
	struct rd_host host;
	struct rd_port_views ports;
	struct rd_check_input in;
};

static void add_nic(struct fixture *f, int n)
{
	struct rd_port *port = check_add_port(&f->host, "ib", "InfiniBand");
	struct rd_netdev *netdev = &f->host.netdevs[n];

	netdev->ipoib_mode = strdup("datagram");
	RD_SET(netdev->type, 32);
	RD_SET(netdev->mtu, 2044);
	port->state = strdup("ACTIVE");
	port->phys_state = strdup("LinkUp");
	port->width = 4;
	RD_SET(port->lid, (unsigned)n + 7);
	RD_SET(port->sm_lid, 1);
	port->pkeys_known = true;
	port->pkeys = calloc(2, sizeof(*port->pkeys));
	port->pkeys[0] = 0xffff;
	port->pkeys[1] = 0x1234; /* a limited member */
	port->n_pkeys = 2;
}

static void setup(struct fixture *f)
{
	*f = (struct fixture){ .in = { .host = &f->host, .ports = &f->ports } };
	for (int i = 0; i < 3; i++)
		add_nic(f, i);
	rd_port_views_init(&f->ports, &f->host);
	for (size_t p = 0; p < f->ports.n; p++)
		f->ports.v[p].role = RD_ROLE_COMPUTE;
}

static void teardown(struct fixture *f)
{
	rd_port_views_deinit(&f->ports);
	rd_host_deinit(&f->host);
}

/* A rule is `wanted` on a host after one `change`; without it, it passes. */
#define EXPECT(rule, name, wanted, change)                                            \
	do {                                                                          \
		_cleanup_(teardown) struct fixture f;                                 \
                                                                                      \
		setup(&f);                                                            \
		assert_int_equal(check_worst(&f.in, rule), RD_SEV_OK);                \
		change;                                                               \
		if (check_worst(&f.in, rule) != wanted)                               \
			fail_msg("%s: %s: %d", rule, name, check_worst(&f.in, rule)); \
	} while (0)

static void no_link(struct fixture *f)
{
	free(f->host.ports[1].phys_state);
	f->host.ports[1].phys_state = strdup("Polling");
}

static void all_down(struct fixture *f)
{
	for (size_t p = 0; p < f->host.n_ports; p++) {
		free(f->host.ports[p].state);
		f->host.ports[p].state = strdup("DOWN");
	}
}

/* Whether it matters depends on what the port is for. */
static void no_sm_and_no_role(struct fixture *f)
{
	f->host.ports[1].sm_lid.v = 0;
	f->ports.v[1].role = RD_ROLE_UNKNOWN;
}

static void other_mode(struct fixture *f)
{
	free(f->host.netdevs[2].ipoib_mode);
	f->host.netdevs[2].ipoib_mode = strdup("connected");
}

static void no_mode(struct fixture *f)
{
	free(f->host.netdevs[2].ipoib_mode);
	f->host.netdevs[2].ipoib_mode = NULL;
}

/* Ports 0, 2, 3 and 4 are in one partition, port 1 in another. */
static void other_partition(struct fixture *f, unsigned more)
{
	for (unsigned i = 0; i < more; i++)
		add_nic(f, (int)f->host.n_ports);
	rd_port_views_deinit(&f->ports);
	rd_port_views_init(&f->ports, &f->host);
	for (size_t p = 0; p < f->ports.n; p++)
		f->ports.v[p].role = RD_ROLE_COMPUTE;
	f->host.ports[1].pkeys[0] = 0x8005;
}

TEST(a_lid_for_the_port_and_for_the_subnet_manager)
{
	EXPECT("ib-lid", "no LID", RD_SEV_CRITICAL, f.host.ports[1].lid.v = 0);
	EXPECT("ib-lid", "permissive LID", RD_SEV_CRITICAL, f.host.ports[1].lid.v = 0xffff);
	EXPECT("ib-lid", "LID not read", RD_SEV_UNKNOWN, f.host.ports[1].lid.known = RD_DENIED);
	EXPECT("ib-lid", "all down", RD_SEV_SKIP, all_down(&f));
	EXPECT("ib-sm-lid", "no SM", RD_SEV_CRITICAL, f.host.ports[1].sm_lid.v = 0);
	EXPECT("ib-sm-lid", "permissive SM", RD_SEV_CRITICAL, f.host.ports[1].sm_lid.v = 0xffff);
	EXPECT("ib-sm-lid", "SM not read", RD_SEV_UNKNOWN, f.host.ports[1].sm_lid.known = RD_DENIED);
	EXPECT("ib-sm-lid", "SM of no other", RD_SEV_NOTE, (other_partition(&f, 2), f.host.ports[1].sm_lid.v = 2));
	EXPECT("ib-sm-lid", "all down", RD_SEV_SKIP, all_down(&f));
	EXPECT("ib-sm-lid", "no SM and no role", RD_SEV_UNKNOWN, no_sm_and_no_role(&f));
}

TEST(full_member_of_a_partition)
{
	EXPECT("ib-pkey", "no partition", RD_SEV_CRITICAL, f.host.ports[1].n_pkeys = 0);
	EXPECT("ib-pkey", "limited", RD_SEV_WARNING, f.host.ports[1].pkeys[0] = 0x7fff);
	EXPECT("ib-pkey", "in the partition of no other", RD_SEV_WARNING, other_partition(&f, 2));
	EXPECT("ib-pkey", "in the partition of no other, of three", RD_SEV_OK, other_partition(&f, 0));
	EXPECT("ib-pkey", "pkeys not read", RD_SEV_UNKNOWN, f.host.ports[1].pkeys_known = false);
}

TEST(as_many_lanes_as_it_has)
{
	EXPECT("ib-width", "one lane", RD_SEV_CRITICAL, f.host.ports[1].width = 1);
	EXPECT("ib-width", "width not read", RD_SEV_UNKNOWN, f.host.ports[1].width = 0);
	EXPECT("ib-width", "no link", RD_SEV_UNKNOWN, no_link(&f));
}

TEST(one_mode_of_ipoib)
{
	EXPECT("ipoib-mode", "other mode", RD_SEV_WARNING, other_mode(&f));
	EXPECT("ipoib-mode", "no mode", RD_SEV_UNKNOWN, no_mode(&f));
	EXPECT("ipoib-mode", "largest MTU", RD_SEV_OK, f.host.netdevs[2].mtu.v = 4092);
	EXPECT("ipoib-mode", "larger MTU", RD_SEV_WARNING, f.host.netdevs[2].mtu.v = 4093);
}
