/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One finding per cause, in the order of harm: networks with a fault, and sound ones that look like it. */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"
#include "fabric-sweeps.h"
#include "fabric-text.h"

static const char limits_text[] =
	"SymbolErrorCounter 10 120 3600\nLinkDownedCounter 10 0 2\nPortRcvErrors 10 60 3600\n";

static void set_up(struct setup *s)
{
	sweeps_set_up(s, limits_text);
}

/* What a walk finds when these nodes have no power. Hosts of a leaf that is gone are not reached. */
static void discover_without(struct setup *s, const uint64_t *guids, size_t n)
{
	struct rd_fabric all, now = { .self = RD_NONE };
	enum rd_reach *reach;

	fabric_from_tree(4, 3, 5, &all);
	for (size_t i = 0; i < all.n_nodes; i++) {
		const struct rd_fabric_node *node = &all.nodes[i];
		bool gone = false;

		for (size_t k = 0; k < n; k++)
			gone |= node->guid == guids[k] || (node->guid >> 8 == HOST(guids[k] - LEAF(0), 0) >> 8);
		if (!gone)
			rd_fabric_add_node(&now, node->guid, node->kind, node->n_ports, node->description);
	}
	rd_fabric_sort_nodes(&now);
	for (size_t i = 0; i < all.n_ports; i++) {
		struct rd_fabric_port *port =
			rd_fabric_add_port(&now, all.nodes[all.ports[i].node].guid, all.ports[i].number);

		if (port) {
			port->state = all.ports[i].state;
			port->selected = all.ports[i].selected;
		}
	}
	rd_fabric_sort_ports(&now);
	for (size_t i = 0; i < all.n_ports; i++) {
		const struct rd_fabric_port *peer = &all.ports[all.ports[i].peer];
		size_t here = rd_fabric_find_port(&now, all.nodes[all.ports[i].node].guid, all.ports[i].number);

		if (here == RD_NONE)
			continue;
		now.ports[here].peer = rd_fabric_find_port(&now, all.nodes[peer->node].guid, peer->number);
		if (now.ports[here].peer == RD_NONE)
			now.ports[here].state = RD_LINK_DOWN;
	}
	now.self = rd_fabric_find_port(&now, HOST(0, 0), 1);
	reach = rd_fabric_reach(&s->fabric, &now);
	rd_fabric_update(&s->fabric, reach, &now);
	free(reach);
	rd_fabric_deinit(&s->fabric);
	rd_fabric_deinit(&all);
	s->fabric = now;
}

#define SETUP_TEST(name) TEST_BEGUN(name, struct setup, s, set_up, sweeps_tear_down)

SETUP_TEST(a_sound_tree_is_silent)
{
	assert_int_equal(faults(s), 0);
	sweep(s, 1);
	assert_int_equal(faults(s), 0);
	assert_int_equal(s->findings.n, 0);
}

/* The sweep after a leaf was pulled: it and its hosts are silent, and the spines count. Then it is gone. Then it is back. */
SETUP_TEST(a_pulled_switch_is_one_finding)
{
	static const uint64_t pulled[] = { LEAF(2) };
	bool picked[200] = { false };
	size_t rows = 0;

	faults(s);
	sweep(s, 1);
	for (unsigned spine = 0; spine < 3; spine++)
		count(s, SPINE(spine), 3, RD_C_LINK_DOWNED, 1);
	for (size_t i = 0; i < s->fabric.n_ports; i++) {
		struct rd_fabric_port *port = &s->fabric.ports[i];
		uint64_t guid = s->fabric.nodes[port->node].guid;

		if (guid == LEAF(2) || guid >> 8 == HOST(2, 0) >> 8) {
			port->error = ETIMEDOUT;
			port->fresh = false;
		}
	}
	one_fault(s, "fabric-agent-silent", "leaf2 ", "and with it 5 adapters");
	rd_fabric_pick_faulty(&s->fabric, picked);
	for (size_t i = 0; i < s->fabric.n_ports; i++)
		rows += picked[i] && s->fabric.nodes[s->fabric.ports[i].node].guid == LEAF(2);
	assert_int_equal(rows, 1);

	discover_without(s, pulled, 1);
	sweep(s, 5);
	one_fault(s, "fabric-node-gone", "leaf2 ", "and with it 5 adapters without another link: host2-0");
	assert_int_equal(s->findings.v[0].severity, RD_SEV_CRITICAL);

	/* It is back: its links went down once, which is no fault of theirs. */
	discover_without(s, NULL, 0);
	sweep(s, 30);
	assert_int_equal(faults(s), 0);
	sweep(s, 30);
	assert_int_equal(faults(s), 0);
}

/* A host with cables to two leaves stays when one of them goes, and is not what went with it. */
SETUP_TEST(a_host_with_another_link_does_not_go_with_a_switch)
{
	static const uint64_t pulled[] = { HOST(1, 3), SPINE(2) };

	discover_without(s, pulled, 2);
	sweep(s, 30);
	assert_int_equal(faults(s), 2);
	/* The switch first, although the adapter is the one that was found first by GUID. */
	first_is(s, "fabric-node-gone", "spine2 ", NULL);
	assert_null(s->findings.v[0].observed);
	assert_true(strncmp(s->findings.v[1].subject, "host1-3 ", 8) == 0);
}

/* A switch and an adapter are gone or silent at once; the adapter has a link to a switch that is there, so it has a cause of its own. */
SETUP_TEST(an_adapter_with_a_living_link_has_a_finding_of_its_own)
{
	static const uint64_t both[] = { LEAF(1), HOST(1, 0), HOST(1, 1) };

	rd_fabric_deinit(&s->fabric);
	fabric_from_text(RD_TOPOLOGY_MAGIC "\n"
					   "node 0x20000 switch 8 \"leaf0\"\nnode 0x20001 switch 8 \"leaf1\"\n"
					   "node 0x1000000 ca 1 \"host0-0\"\nnode 0x1000100 ca 2 \"host1-0\"\n"
					   "node 0x1000101 ca 1 \"host1-1\"\n"
					   "link 0x20000 1 0x20001 1 4xHDR\nlink 0x20000 2 0x1000000 1 4xHDR\n"
					   "link 0x20001 2 0x1000100 1 4xHDR\nlink 0x20001 3 0x1000101 1 4xHDR\n"
					   "link 0x20000 3 0x1000100 2 4xHDR\n",
			 &s->fabric);
	s->fabric.self = fabric_port_at(&s->fabric, HOST(0, 0), 1);
	sweep(s, 1);
	assert_int_equal(faults(s), 0);
	for (int gone = 0; gone < 2; gone++) {
		for (size_t i = 0; i < s->fabric.n_ports; i++)
			for (size_t k = 0; k < RD_ARRAY_SIZE(both); k++)
				if (s->fabric.nodes[s->fabric.ports[i].node].guid == both[k]) {
					s->fabric.ports[i].error = ETIMEDOUT;
					s->fabric.ports[i].fresh = false;
					s->fabric.ports[i].presence = gone ? RD_PORT_GONE : RD_PORT_PRESENT;
				}
		assert_int_equal(faults(s), 2);
		first_is(s, gone ? "fabric-node-gone" : "fabric-agent-silent", "leaf1 ",
			 "and with it 1 adapter without another link: host1-1");
		assert_true(strncmp(s->findings.v[1].subject, "host1-0 ", 8) == 0);
	}
}

/* All uplinks of the switch that we sit at: everything else is gone, which is one event. */
SETUP_TEST(what_is_behind_one_switch_is_one_finding)
{
	static const uint64_t pulled[] = { SPINE(0), SPINE(1), SPINE(2), LEAF(1), LEAF(2), LEAF(3) };

	discover_without(s, pulled, 6);
	sweep(s, 30);
	one_fault(s, "fabric-node-gone", "leaf0 ", "6 switches and 15 adapters: spine0, spine1, spine2");
}

SETUP_TEST(a_bad_cable_is_one_finding_with_who_drives_it)
{
	count(s, LEAF(1), 2, RD_C_SYMBOL_ERROR, 50);
	count(s, HOST(1, 1), 1, RD_C_LINK_DOWNED, 11);
	one_fault(s, "fabric-errors", "leaf1 port 2, to host1-1 HCA-1 port 1",
		  "SymbolErrorCounter 50; host1-1 HCA-1 port 1: LinkDownedCounter 11");
	assert_non_null(strstr(s->findings.v[0].fix, "leaf1 port 2 counts what host1-1 HCA-1 port 1 drives"));
	/* Both receive errors: the cable. */
	count(s, HOST(1, 1), 1, RD_C_RCV_ERRORS, 11);
	assert_int_equal(faults(s), 1);
	assert_non_null(strstr(s->findings.v[0].fix, "both ends receive errors"));
}

SETUP_TEST(saturation_is_told_once)
{
	for (unsigned h = 1; h < 5; h++)
		at(s, HOST(3, h), 1)->values[RD_C_LOCAL_LINK_INTEGRITY_ERRORS] = (struct rd_pma_value){ 15, 4 };
	one_fault(s, "fabric-saturated", "4 ports", "host3-1 HCA-1 port 1: LocalLinkIntegrityErrors at least 15");
	assert_non_null(strstr(s->findings.v[0].fix, "ibqueryerrors -k"));
	assert_non_null(strstr(s->findings.v[0].observed, "host3-3"));
	assert_null(strstr(s->findings.v[0].observed, "host3-4"));
	/* Errors that another finding reports are one fault: that their counters are full is a note. */
	for (unsigned h = 1; h < 5; h++)
		at(s, HOST(3, h), 1)->values[RD_C_LOCAL_LINK_INTEGRITY_ERRORS] = (struct rd_pma_value){ 0, 4 };
	at(s, LEAF(1), 2)->values[RD_C_SYMBOL_ERROR] = (struct rd_pma_value){ 65535, 16 };
	one_fault(s, "fabric-errors", "leaf1 port 2, to host1-1 HCA-1 port 1", "SymbolErrorCounter at least 65535");
	assert_int_equal(s->findings.n, 2);
	assert_string_equal(s->findings.v[1].id, "fabric-saturated");
}

/* ---- the hour */

SETUP_TEST(three_in_an_hour_are_critical_however_far_apart)
{
	faults(s);
	for (int i = 0; i < 3; i++) {
		sweep(s, 1200);
		count(s, LEAF(0), 6, RD_C_LINK_DOWNED, 1);
		assert_int_equal(faults(s), 1);
		assert_int_equal(s->findings.v[0].severity, i < 2 ? RD_SEV_WARNING : RD_SEV_CRITICAL);
	}
	first_is(s, "fabric-errors", "leaf0 port 6, to spine0 port 1", "LinkDownedCounter +3 within the last hour (3)");
	assert_string_equal(s->findings.v[0].title, "link went down and came up again");
	/* The first is forgotten after an hour, without anything new. */
	sweep(s, 1500);
	assert_int_equal(faults(s), 1);
	assert_int_equal(s->findings.v[0].severity, RD_SEV_WARNING);
	sweep(s, 3600);
	assert_int_equal(faults(s), 0);
	/* A sweep counts once, however often it is judged. */
	sweep(s, 1);
	count(s, LEAF(0), 6, RD_C_LINK_DOWNED, 1);
	for (int i = 0; i < 5; i++)
		assert_int_equal(faults(s), 1);
	assert_int_equal(s->findings.v[0].severity, RD_SEV_WARNING);
}

SETUP_TEST(a_node_that_restarts_is_no_flap)
{
	faults(s);
	/* A single time at an adapter: a note. */
	sweep(s, 1);
	count(s, LEAF(0), 2, RD_C_LINK_DOWNED, 1);
	assert_int_equal(faults(s), 0);
	assert_int_equal(s->findings.n, 1);
	/* Twice: a flap. */
	sweep(s, 60);
	count(s, LEAF(0), 2, RD_C_LINK_DOWNED, 1);
	assert_int_equal(faults(s), 1);
	/* Twice as the firmware, then the driver of a host take over; its counters restarted from zero. */
	sweep(s, 3601);
	assert_int_equal(faults(s), 0);
	sweep(s, 1);
	count(s, LEAF(0), 3, RD_C_LINK_DOWNED, 3);
	at(s, HOST(0, 2), 1)->values[RD_C_XMIT_PKTS].v = 3;
	assert_int_equal(faults(s), 0);
	assert_int_equal(s->findings.n, 1);
	sweep(s, 60);
	assert_int_equal(faults(s), 0);
	/* Another time: it flaps. */
	sweep(s, 60);
	count(s, LEAF(0), 3, RD_C_LINK_DOWNED, 1);
	assert_int_equal(faults(s), 1);
	assert_int_equal(s->findings.v[0].severity, RD_SEV_CRITICAL);
	/* Between switches once is a warning, unless a switch restarted. */
	sweep(s, 3601);
	count(s, LEAF(0), 6, RD_C_LINK_DOWNED, 1);
	count(s, LEAF(1), 6, RD_C_LINK_DOWNED, 1);
	/* That somebody cleared the counters of one port is no restart. */
	at(s, SPINE(0), 1)->values[RD_C_RCV_PKTS].v = 3;
	assert_int_equal(faults(s), 2);
	for (size_t i = 0; i < s->fabric.n_ports; i++)
		if (s->fabric.nodes[s->fabric.ports[i].node].guid == SPINE(0) && s->fabric.ports[i].values)
			s->fabric.ports[i].values[RD_C_RCV_PKTS].v = 3;
	s->history.swept_ns--; /* judge the same sweep again */
	assert_int_equal(faults(s), 0);
}

SETUP_TEST(one_error_in_a_second_is_no_rate)
{
	faults(s);
	sweep(s, 1);
	count(s, LEAF(0), 2, RD_C_RCV_ERRORS, 1);
	count(s, LEAF(0), 2, RD_C_SYMBOL_ERROR, 2);
	assert_int_equal(faults(s), 0);
	/* But one a second for a while is. */
	for (int i = 0; i < 100; i++) {
		sweep(s, 1);
		count(s, LEAF(0), 2, RD_C_RCV_ERRORS, 1);
		faults(s);
	}
	one_fault(s, "fabric-errors", "leaf0 port 2", "PortRcvErrors +101 within the last hour (101)");
}

/* ---- cables */

/* The link of a port is down, as the next walk finds it: both ends keep who was there. */
static void cut(struct setup *s, uint64_t guid, unsigned number)
{
	struct rd_fabric_port *port = at(s, guid, number), *peer = &s->fabric.ports[port->peer];
	struct rd_fabric_port *ends[] = { port, peer };

	for (int e = 0; e < 2; e++) {
		ends[e]->was_guid = s->fabric.nodes[ends[!e]->node].guid;
		ends[e]->was_port = ends[!e]->number;
		ends[e]->state = RD_LINK_DOWN;
	}
	port->peer = peer->peer = RD_NONE;
}

SETUP_TEST(a_link_that_went_down_is_one_finding)
{
	cut(s, LEAF(1), 6);
	one_fault(s, "fabric-link-down", "spine0 port 2, to leaf1 port 6", "DOWN");
	/* Both nodes counted it. */
	sweep(s, 1);
	count(s, LEAF(1), 6, RD_C_LINK_DOWNED, 1);
	count(s, SPINE(0), 2, RD_C_LINK_DOWNED, 1);
	assert_int_equal(faults(s), 1);
	/* The operator did it. */
	at(s, LEAF(1), 6)->physical_state = 3;
	assert_int_equal(faults(s), 0);
	assert_string_equal(s->findings.v[0].title, "link was disabled");
}

SETUP_TEST(a_link_of_a_node_that_is_gone_is_not_down)
{
	static const uint64_t pulled[] = { HOST(1, 3) };

	discover_without(s, pulled, 1);
	sweep(s, 5);
	one_fault(s, "fabric-node-gone", "host1-3", NULL);
}

SETUP_TEST(a_cable_in_init_is_one_finding)
{
	at(s, LEAF(1), 6)->state = at(s, SPINE(0), 2)->state = RD_LINK_INIT;
	one_fault(s, "fabric-link-inactive", "spine0 port 2, to leaf1 port 6", "INIT");
	/* Of one end only: it is the one that is named. */
	at(s, SPINE(0), 2)->state = RD_LINK_ACTIVE;
	one_fault(s, "fabric-link-inactive", "leaf1 port 6, to spine0 port 2", "INIT");
}

/* Findings above notes that no other explains, compared with the network as it was built. */
static size_t causes(struct setup *s)
{
	struct rd_fabric plan;
	size_t n = 0;

	fabric_from_tree(4, 3, 5, &plan);
	faults(s);
	rd_fabric_compare(&plan, &s->fabric, &s->findings);
	rd_fabric_rank(&s->findings);
	for (size_t i = 0; i < s->findings.n; i++)
		n += s->findings.v[i].severity > RD_SEV_NOTE && rd_finding_stands(&s->findings.v[i]);
	rd_fabric_deinit(&plan);
	return n;
}

SETUP_TEST(what_the_plan_knows_is_no_second_cause)
{
	assert_int_equal(causes(s), 0);
	cut(s, LEAF(1), 6);
	assert_int_equal(causes(s), 1);
	first_is(s, "fabric-link-down", "spine0 port 2", NULL);
	assert_string_equal(s->findings.v[1].id, "fabric-cable-missing");
	/* A link that was disabled is a note, which explains no warning. */
	at(s, LEAF(1), 6)->physical_state = 3;
	assert_int_equal(causes(s), 1);
	first_is(s, "fabric-cable-missing", "spine0", NULL);
}

SETUP_TEST(a_narrow_link_is_one_cause_with_a_plan)
{
	struct rd_fabric_port *ends[] = { at(s, LEAF(1), 6), at(s, SPINE(0), 2) };

	for (int e = 0; e < 2; e++) {
		ends[e]->width_supported = 3;
		ends[e]->speed_supported = 1u << ends[e]->speed_active;
		ends[e]->width_active = 1;
	}
	assert_int_equal(causes(s), 1);
	first_is(s, "fabric-link-degraded", "spine0 port 2", NULL);
	/* Of both ends only the plan says what is normal. */
	ends[0]->width_supported = ends[1]->width_supported = 1;
	assert_int_equal(causes(s), 1);
	first_is(s, "fabric-link-slower", "spine0", NULL);
}

/* ---- order */

SETUP_TEST(harm_decides_the_order)
{
	static const uint64_t pulled[] = { HOST(1, 3), LEAF(2) };

	faults(s);
	discover_without(s, pulled, 2);
	sweep(s, 5);
	count(s, LEAF(0), 2, RD_C_SYMBOL_ERROR, 5000); /* critical */
	count(s, LEAF(0), 3, RD_C_SYMBOL_ERROR, 30);   /* a warning */
	count(s, LEAF(0), 6, RD_C_LINK_DOWNED, 1);     /* an uplink */
	assert_int_equal(faults(s), 5);
	first_is(s, "fabric-node-gone", "leaf2", NULL);
	ASSERT_EACH(READS(s->findings.v[1].title, "link went down and came up again"),
		    IS(strncmp(s->findings.v[2].subject, "host1-3", 7), 0), HAS(s->findings.v[3].observed, "+5000"),
		    HAS(s->findings.v[4].observed, "+30"));
}

static void add(struct rd_findings *findings, const char *id, const char *title, int severity, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rd_finding_add(findings, &(struct rd_finding){ .id = id,
							       .title = title,
							       .why = "",
							       .severity = (enum rd_severity)severity,
							       .subject = rd_text("%s %zu", id, i) });
}

SETUP_TEST(a_short_list_has_each_kind_and_all_differences)
{
	_cleanup_buf_ struct rd_buf rest = { 0 };
	size_t n;

	add(&s->findings, "fabric-node-new", "new node", RD_SEV_NOTE, 9);
	add(&s->findings, "fabric-congested", "port waits", RD_SEV_WARNING, 8);
	add(&s->findings, "fabric-cable-moved", "cable moved", RD_SEV_WARNING, 7);
	add(&s->findings, "fabric-node-missing", "adapter missing", RD_SEV_CRITICAL, 30);
	rd_fabric_rank(&s->findings);
	n = rd_fabric_rank_shown(&s->findings, 20);
	assert_int_equal(n, 30 + 7 + 1);
	ASSERT_EACH(READS(s->findings.v[0].id, "fabric-node-missing"), READS(s->findings.v[30].id, "fabric-congested"),
		    READS(s->findings.v[31].id, "fabric-cable-moved"));
	rd_fabric_rank_rest(&s->findings, n, &rest);
	assert_string_equal(rest.data, "16 more: 7 x port waits, 9 x new node");
}
