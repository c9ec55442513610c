/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/fabric/fabric.h"
#include "fabric-sweeps.h"
#include "fabric-text.h"

#define SECOND UINT64_C(1000000000)
#define DOWN 4 /* hosts of a leaf; its port DOWN + 1 + I leads to spine I, whose port 1 + L leads to leaf L */

/* Two readings, a second apart, of ports that neither wait nor send. */
static void read_twice(struct rd_fabric *fabric)
{
	fabric->n_values = RD_PMA_COUNTERS;
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].kind == RD_NODE_SWITCH)
			RD_SET(fabric->nodes[i].tick, 7);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		struct rd_fabric_port *port = &fabric->ports[i];

		port->fresh = true;
		port->read_ns = 100 * SECOND;
		port->before_ns = 99 * SECOND;
		port->values = calloc(RD_PMA_COUNTERS, sizeof(*port->values));
		port->before = calloc(RD_PMA_COUNTERS, sizeof(*port->before));
		port->values[RD_C_XMIT_WAIT].bits = port->before[RD_C_XMIT_WAIT].bits = 64;
		port->values[RD_C_XMIT_DATA].bits = port->before[RD_C_XMIT_DATA].bits = 64;
	}
}

static void set_up(struct setup *s)
{
	static const char text[] = "XmitWaitPercent - 20 70\n";

	fabric_from_tree(3, 2, DOWN, &s->fabric);
	read_twice(&s->fabric);
	rd_fabric_limits_init(&s->limits);
	assert_int_equal(rd_fabric_limits_parse("t", text, strlen(text), &s->limits, NULL), 0);
}

/* 4x HDR: 25e9 octets a second, 8 of them a tick. */
static void waits(struct setup *s, uint64_t guid, unsigned number, unsigned percent)
{
	at(s, guid, number)->values[RD_C_XMIT_WAIT].v = UINT64_C(25000000000) / 8 * percent / 100;
}

static void sends(struct setup *s, uint64_t guid, unsigned number, unsigned gbps)
{
	at(s, guid, number)->values[RD_C_XMIT_DATA].v = UINT64_C(1000000000) * gbps / 32;
}

static size_t judge(struct setup *s)
{
	rd_findings_deinit(&s->findings);
	rd_fabric_judge_trees(&s->fabric, &s->limits, &s->findings);
	return s->findings.n;
}

static void assert_root(const struct setup *s, size_t i, const char *subject, const char *title, const char *observed)
{
	ASSERT_EACH(READS(s->findings.v[i].id, "fabric-congested"), READS(s->findings.v[i].subject, subject));
	if (!strstr(s->findings.v[i].title, title))
		fail_msg("'%s' is not in '%s'", title, s->findings.v[i].title);
	if (observed)
		assert_string_equal(s->findings.v[i].observed, observed);
}

#define SETUP_TEST(name) TEST_BEGUN(name, struct setup, s, set_up, sweeps_tear_down)

/* host0-0 takes packets slowly: the leaf, both spines and the other leaves wait. */
SETUP_TEST(a_slow_receiver_is_one_finding_at_its_port)
{
	waits(s, LEAF(0), 1, 60);
	for (unsigned spine = 0; spine < 2; spine++)
		waits(s, SPINE(spine), 1, 50 + spine);
	for (unsigned leaf = 1; leaf < 3; leaf++)
		for (unsigned spine = 0; spine < 2; spine++)
			waits(s, LEAF(leaf), DOWN + 1 + spine, 30 + leaf * 2 + spine);
	sends(s, LEAF(0), 1, 80);
	assert_int_equal(judge(s), 1);
	assert_root(s, 0, "leaf0 port 1, to host0-0 HCA-1 port 1", "receiver is slow",
		    "waited for credits 60 % of the time, sent 80.0 of 200 Gbit/s; 6 ports behind it wait: "
		    "spine1 port 1 51 %, spine0 port 1 50 %, leaf2 port 6 35 %, ...");
	ASSERT_EACH(IS(s->findings.v[0].severity, RD_SEV_WARNING), HAS(s->findings.v[0].fix, "host0-0 HCA-1"));
	/* Other hosts choose their names: none becomes a line that is pasted. */
	s->fabric.nodes[at(s, HOST(0, 0), 1)->node].name = strdup("x\nreboot #");
	assert_int_equal(judge(s), 1);
	assert_null(strstr(s->findings.v[0].fix, "\nreboot"));
	/* The worst of the tree decides, wherever it is. */
	waits(s, LEAF(1), DOWN + 1, 90);
	assert_int_equal(judge(s), 1);
	assert_int_equal(s->findings.v[0].severity, RD_SEV_CRITICAL);
}

SETUP_TEST(two_slow_receivers_are_two_findings)
{
	waits(s, LEAF(0), 1, 60);
	waits(s, LEAF(2), 3, 40);
	waits(s, SPINE(0), 1, 30);
	waits(s, SPINE(0), 3, 31);
	assert_int_equal(judge(s), 2);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(strstr(s->findings.v[i].observed, "; 1 port behind it waits: spine0 port "));
}

/* All send to a host that takes what its link carries: it is not slow. */
SETUP_TEST(a_full_link_is_not_a_slow_receiver)
{
	sends(s, LEAF(0), 1, 196);
	assert_int_equal(judge(s), 0); /* nothing waits */
	waits(s, SPINE(0), 1, 40);
	waits(s, SPINE(1), 1, 45);
	assert_int_equal(judge(s), 1);
	assert_root(s, 0, "leaf0 port 1, to host0-0 HCA-1 port 1", "link is saturated",
		    "sent 196.0 of 200 Gbit/s; 2 ports behind it wait: spine1 port 1 45 %, spine0 port 1 40 %");
}

SETUP_TEST(a_switch_without_waiting_ports_is_the_end)
{
	waits(s, SPINE(0), 1, 40);
	assert_int_equal(judge(s), 1);
	assert_root(s, 0, "spine0 port 1, to leaf0 port 5", "switch grants few credits", NULL);
}

SETUP_TEST(what_was_not_read_may_be_the_cause)
{
	waits(s, SPINE(0), 1, 40);
	at(s, LEAF(0), 2)->fresh = false;
	assert_int_equal(judge(s), 1);
	assert_root(s, 0, "spine0 port 1, to leaf0 port 5", "cause behind it is unknown", NULL);
	at(s, LEAF(0), 2)->fresh = true;
	s->fabric.nodes[at(s, LEAF(0), 2)->node].tick.known = RD_ABSENT;
	assert_int_equal(judge(s), 1);
	assert_root(s, 0, "spine0 port 1, to leaf0 port 5", "cause behind it is unknown", NULL);
}

/* Where the length of a tick is unknown, ports in a row that wait are a note; one alone is nothing. */
SETUP_TEST(waits_in_unknown_ticks_are_a_note)
{
	for (size_t i = 0; i < s->fabric.n_nodes; i++)
		s->fabric.nodes[i].tick.known = RD_ABSENT;
	waits(s, LEAF(0), 1, 80);
	assert_int_equal(judge(s), 0);
	waits(s, SPINE(1), 1, 60);
	assert_int_equal(judge(s), 1);
	assert_root(
		s, 0, "leaf0 port 1, to host0-0 HCA-1 port 1", "receiver is slow",
		"PortXmitWait increases, in ticks of unknown length, sent 0.0 of 200 Gbit/s; 1 port behind it waits: spine1 port 1");
	assert_int_equal(s->findings.v[0].severity, RD_SEV_NOTE);
	/* Ticks that most devices need many of. */
	waits(s, SPINE(1), 1, 10);
	assert_int_equal(judge(s), 0);
}

/* What a switch sends back over the same cable is no cause. */
SETUP_TEST(two_ends_of_a_cable_that_wait_do_not_wait_for_each_other)
{
	waits(s, SPINE(0), 1, 40);
	waits(s, LEAF(0), DOWN + 1, 40);
	assert_int_equal(judge(s), 2);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(strstr(s->findings.v[i].title, "switch grants few credits"));
}

SETUP_TEST(a_circle_of_waits_ends)
{
	static const char ring[] = RD_TOPOLOGY_MAGIC "\n"
						     "node 0xa switch 4 \"a\"\nnode 0xb switch 4 \"b\"\n"
						     "node 0xc switch 4 \"c\"\nnode 0x9 switch 4 \"d\"\n"
						     "link 0xa 1 0xb 2 4xHDR\nlink 0xb 1 0xc 2 4xHDR\n"
						     "link 0xc 1 0xa 2 4xHDR\nlink 0x9 1 0xc 3 4xHDR\n";

	rd_fabric_deinit(&s->fabric);
	s->fabric = (struct rd_fabric){ 0 };
	fabric_from_text(ring, &s->fabric);
	read_twice(&s->fabric);
	for (uint64_t guid = 0x9; guid <= 0xc; guid++)
		waits(s, guid, 1, 50);
	assert_int_equal(judge(s), 1);
	assert_root(s, 0, "a port 1, to b port 2", "in a circle",
		    "waited for credits 50 % of the time, sent 0.0 of 200 Gbit/s; 3 ports behind it wait: "
		    "d port 1 50 %, b port 1 50 %, c port 1 50 %");
}
