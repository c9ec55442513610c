/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ports count while their link is lost: a consequence of that, until the link is back. */
#include "unit.h"

#include "collect/fabric/fabric.h"
#include "fabric-sweeps.h"
#include "fabric-text.h"
#include "fake-mads.h"

static const char limits_text[] =
	"SymbolErrorCounter 10 120 3600\nLinkDownedCounter 10 0 2\nPortXmitDiscards 100 60 3600\n";

static void set_up(struct setup *s)
{
	sweeps_set_up(s, limits_text);
}

/* The leaf's port to host 1-0 counts that much more, a second later. */
static void counts(struct setup *s, unsigned losses, unsigned errors)
{
	sweep(s, 1);
	count(s, LEAF(1), 1, RD_C_LINK_DOWNED, losses);
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, errors);
}

/* The host loses power: its port at the leaf counts errors, and the sweep still found it. */
static void lose_power(struct setup *s)
{
	counts(s, 1, 90);
	count(s, LEAF(1), 1, RD_C_XMIT_DISCARDS, 500);
	at(s, LEAF(1), 1)->lost = true;
	at(s, HOST(1, 0), 1)->mute = at(s, HOST(1, 0), 1)->lost = true;
}

#define SETUP_TEST(name) TEST_BEGUN(name, struct setup, s, set_up, sweeps_tear_down)

SETUP_TEST(a_host_without_power_has_no_bad_cable)
{
	lose_power(s);
	assert_int_equal(faults(s), 0);
	ASSERT_EACH(READS(s->findings.v[0].id, "fabric-link-down"), IS(s->findings.v[0].severity, RD_SEV_NOTE));
	/* Then it does not respond, and what is sent to it is dropped. */
	for (int i = 0; i < 3; i++) {
		sweep(s, 60);
		at(s, HOST(1, 0), 1)->fresh = false;
		at(s, HOST(1, 0), 1)->error = ETIMEDOUT;
		count(s, LEAF(1), 1, RD_C_XMIT_DISCARDS, 500);
		one_fault(s, "fabric-agent-silent", NULL, NULL);
	}
	/* It is back. */
	sweep(s, 60);
	at(s, LEAF(1), 1)->lost = at(s, HOST(1, 0), 1)->lost = at(s, HOST(1, 0), 1)->mute = false;
	discovered(s, HOST(1, 0));
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, 20);
	assert_int_equal(faults(s), 0);
	at(s, HOST(1, 0), 1)->presence = RD_PORT_PRESENT;
	/* But what comes later is of the cable. */
	sweep(s, 60);
	assert_int_equal(faults(s), 0);
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, 300);
	counts(s, 0, 300);
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +300");
}

/* The link of an adapter went down once, and is up: nothing restarted, so what it counts is of the cable. */
SETUP_TEST(errors_of_a_link_that_came_back_count)
{
	counts(s, 1, 5000);
	one_fault(s, "fabric-errors", NULL, NULL);
	assert_int_equal(s->findings.v[0].severity, RD_SEV_CRITICAL);
}

static void restart_host(struct setup *s)
{
	counts(s, 1, 0);
	faults(s);
	sweep(s, 5);
	discovered(s, HOST(1, 0));
	assert_int_equal(faults(s), 0);
}

/* A restart explains the loss before it, not one of a minute later. */
SETUP_TEST(an_old_restart_excuses_no_later_errors)
{
	restart_host(s);
	sweep(s, 60);
	faults(s);
	counts(s, 1, 400);
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +400");
}

/* Nor one of more than 15 minutes before it. */
SETUP_TEST(a_late_restart_excuses_no_earlier_errors)
{
	counts(s, 1, 400);
	assert_int_equal(faults(s), 1);
	sweep(s, 900);
	faults(s);
	sweep(s, 100);
	discovered(s, HOST(1, 0));
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +400");
}

/* As if there had been no cable between the leaf's first port and its host. */
static struct rd_fabric_port *never_plugged(struct setup *s)
{
	struct rd_fabric_port *port = at(s, LEAF(1), 1);

	s->fabric.ports[port->peer].peer = RD_NONE;
	port->peer = RD_NONE;
	port->state = RD_LINK_DOWN;
	return port;
}

/* A cable is plugged in at a port that had none: what is counted then is no fault, before the node is discovered and after it. */
SETUP_TEST(a_new_cable_is_no_bad_one)
{
	size_t host = fabric_port_at(&s->fabric, HOST(1, 0), 1), leaf = fabric_port_at(&s->fabric, LEAF(1), 1);
	struct rd_fabric_port *port = never_plugged(s);

	s->fabric.ports[host].selected = false;
	counts(s, 0, 130);
	assert_int_equal(faults(s), 0);
	assert_string_equal(s->findings.v[0].title, "port without a link counts errors");
	port->peer = host;
	port->state = RD_LINK_ACTIVE;
	s->fabric.ports[host].peer = leaf;
	s->fabric.ports[host].selected = true;
	sweep(s, 3);
	discovered(s, HOST(1, 0));
	assert_int_equal(faults(s), 0);
	/* It is still new until the next discovery. */
	sweep(s, 40);
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, 130);
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +130");
}

/* Nor is it if both nodes were there before. */
SETUP_TEST(a_new_link_of_known_nodes_is_no_bad_one)
{
	struct rd_fabric_port *port = at(s, LEAF(1), 1);

	counts(s, 0, 130);
	count(s, HOST(1, 0), 1, RD_C_SYMBOL_ERROR, 130);
	port->connected = true;
	s->fabric.discovered_ns = s->fabric.swept_ns;
	assert_int_equal(faults(s), 0);
	sweep(s, 31);
	count(s, HOST(1, 0), 1, RD_C_SYMBOL_ERROR, 130);
	assert_int_equal(faults(s), 1);
}

/* A port without a cable that counts on is not what one that is plugged in does. */
SETUP_TEST(so_many_errors_are_of_no_new_cable)
{
	never_plugged(s);
	counts(s, 0, 1001);
	assert_int_equal(faults(s), 1);
}

/* Counters that begin from zero excuse only what a loss of the link explains: somebody may have cleared them. */
SETUP_TEST(errors_after_counters_were_cleared_count)
{
	sweep(s, 1);
	for (size_t i = RD_C_XMIT_DATA; i <= RD_C_RCV_PKTS; i++)
		at(s, HOST(1, 0), 1)->values[i].v = 0;
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, 400);
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +400");
}

/* A restart does not explain any number of errors. */
SETUP_TEST(so_many_errors_are_of_no_restart)
{
	restart_host(s);
	sweep(s, 5);
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, 5000);
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +5000");
}

/* A loss, then errors with the link up, then a restart that comes later: those errors are of the cable. */
SETUP_TEST(errors_between_a_loss_and_a_restart_count)
{
	counts(s, 1, 0);
	faults(s);
	sweep(s, 120);
	count(s, LEAF(1), 1, RD_C_SYMBOL_ERROR, 400);
	assert_int_equal(faults(s), 1);
	sweep(s, 60);
	faults(s);
	sweep(s, 60);
	discovered(s, HOST(1, 0));
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +400");
}

/* Both ends respond: it is known at once. */
SETUP_TEST(a_pulled_cable_is_down_before_the_next_discovery)
{
	size_t spine = at(s, LEAF(1), 6)->peer;

	sweep(s, 1);
	count(s, LEAF(1), 6, RD_C_LINK_DOWNED, 1);
	count(s, LEAF(1), 6, RD_C_SYMBOL_ERROR, 400);
	s->fabric.ports[spine].values[RD_C_LINK_DOWNED].v++;
	s->fabric.ports[spine].values[RD_C_SYMBOL_ERROR].v += 400;
	at(s, LEAF(1), 6)->lost = s->fabric.ports[spine].lost = true;
	one_fault(s, "fabric-link-down", NULL, NULL);
	/* It came up again: it flaps, and its errors count. */
	sweep(s, 1);
	at(s, LEAF(1), 6)->lost = s->fabric.ports[spine].lost = false;
	one_fault(s, "fabric-errors", NULL, "SymbolErrorCounter +400");
}

/* The switch at the other end restarts, which takes longer than a sweep: discards in between are no congestion. */
SETUP_TEST(what_is_dropped_for_a_switch_that_restarts_is_no_fault)
{
	size_t spine = at(s, LEAF(1), 6)->peer;
	struct rd_fabric_port *port = &s->fabric.ports[spine];

	sweep(s, 1);
	port->values[RD_C_LINK_DOWNED].v++;
	port->lost = true;
	for (int i = 0; i < 4; i++) {
		faults(s);
		sweep(s, 60);
		port->values[RD_C_XMIT_DISCARDS].v += 200;
	}
	port->lost = false;
	discovered(s, LEAF(1));
	assert_int_equal(faults(s), 0);
	/* Later, they are. */
	for (size_t i = 0; i < s->fabric.n_ports; i++)
		s->fabric.ports[i].presence = RD_PORT_PRESENT;
	sweep(s, 120);
	port->values[RD_C_XMIT_DISCARDS].v += 200;
	assert_int_equal(faults(s), 1);
}

/* Ports with a neighbour take two places of the list, others one: none is written behind its end. */
TEST(so_many_links_are_doubtful_that_some_have_to_wait)
{
	const struct rd_sweep_limits limits = RD_SWEEP_LIMITS_DEFAULT;
	_cleanup_(fake_mads_deinit) struct fake_mads fake;
	_cleanup_(rd_fabric_deinit) struct rd_fabric tree;
	size_t alone = 0;

	fake_mads_init(&fake);
	fabric_from_tree(8, 8, 20, &tree);
	/* An odd number of ports without a neighbour. */
	for (size_t i = 0; i < tree.n_ports; i++) {
		tree.ports[i].lid = 1;
		tree.ports[i].lost = true;
		if (alone < 7) {
			tree.ports[i].peer = RD_NONE;
			alone++;
		}
	}
	assert_int_equal(rd_fabric_check_links(&fake.mads, &limits, &tree, NULL), 0);
	assert_in_range(fake.sent, 255, 256);
	assert_true(tree.n_ports > 300);
}
