/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs from all others of its kind, without a saved topology; and sound networks that differ on purpose. */
#include "unit.h"

#include "collect/fabric/fabric.h"
#include "fabric-sweeps.h"
#include "fabric-text.h"

#define LEAVES 10u
#define SPINES 4u
#define HOSTS 6u

/* What both ends of all links support: everything, and what is enabled: what is active. */
static void support(struct setup *s)
{
	for (size_t i = 0; i < s->fabric.n_ports; i++) {
		struct rd_fabric_port *port = &s->fabric.ports[i];

		port->width_supported = 2; /* 4x */
		port->speed_supported = 1u << RD_SPEED_HDR;
	}
	s->fabric.self = 0;
}

/* A tree whose switches have more ports than links. Cables for which `without` is true are left out. */
static void make_tree(struct setup *s, unsigned leaves, unsigned twice, bool (*without)(unsigned leaf, unsigned uplink))
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	unsigned n = SPINES * twice;

	rd_fabric_deinit(&s->fabric);
	rd_buf_str(&text, RD_TOPOLOGY_MAGIC "\n");
	for (unsigned i = 0; i < SPINES; i++)
		rd_buf_printf(&text, "node 0x%x switch 64 \"spine%u\"\n", SPINE(i), i);
	for (unsigned l = 0; l < leaves; l++) {
		rd_buf_printf(&text, "node 0x%x switch 64 \"leaf%u\"\n", LEAF(l), l);
		for (unsigned u = 0; u < n; u++)
			if (!without || !without(l, u))
				rd_buf_printf(&text, "link 0x%x %u 0x%x %u 4xHDR\n", LEAF(l), u + 1, SPINE(u % SPINES),
					      l * twice + u / SPINES + 1);
		for (unsigned h = 0; h < HOSTS; h++) {
			rd_buf_printf(&text, "node 0x%x ca 1 \"host%u-%u HCA-1\"\n", HOST(l, h), l, h);
			rd_buf_printf(&text, "link 0x%x %u 0x%x 1 4xHDR\n", LEAF(l), n + 1 + h, HOST(l, h));
		}
	}
	fabric_from_text(text.data, &s->fabric);
	support(s);
}

static void set_up(struct setup *s)
{
	rd_fabric_limits_init(&s->limits);
	make_tree(s, LEAVES, 1, NULL);
}

/* "id|severity|subject|observed" of all findings, in lines. */
static const char *said(struct setup *s)
{
	static char text[2048];
	size_t len = 0;

	rd_findings_deinit(&s->findings);
	rd_fabric_judge(&s->fabric, &s->limits, NULL, &s->findings);
	rd_fabric_rank(&s->findings);
	text[0] = '\0';
	for (size_t i = 0; i < s->findings.n && len < sizeof(text); i++) {
		const struct rd_finding *f = &s->findings.v[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s|%s|%s|%s", i > 0 ? "\n" : "", f->id,
					rd_severity_name(f->severity), f->subject, f->observed ? f->observed : "-");
	}
	return text;
}

/* Both ends of the cable at a port run at this rate, and support or have enabled no more, or not known. */
static void run_at(struct setup *s, uint64_t guid, unsigned number, unsigned width, unsigned speed)
{
	struct rd_fabric_port *port = at(s, guid, number);
	struct rd_fabric_port *peer = &s->fabric.ports[port->peer];

	port->width_active = peer->width_active = width;
	port->speed_active = peer->speed_active = speed;
}

static void support_all(struct setup *s, uint64_t guid, unsigned number, unsigned width_bits, unsigned speed_bits)
{
	struct rd_fabric_port *port = at(s, guid, number);
	struct rd_fabric_port *peer = &s->fabric.ports[port->peer];

	port->width_supported = peer->width_supported = width_bits;
	port->speed_supported = peer->speed_supported = speed_bits;
}

#define SETUP_TEST(name) TEST_BEGUN(name, struct setup, s, set_up, sweeps_tear_down)

SETUP_TEST(one_link_of_1x_is_odd)
{
	assert_string_equal(said(s), "");
	/* Whatever its ends support: fewer lanes were detected. */
	run_at(s, LEAF(3), 2, 1, RD_SPEED_HDR);
	support_all(s, LEAF(3), 2, 1, 1u << RD_SPEED_HDR);
	assert_string_equal(said(s), "fabric-link-odd|warning|spine1 port 4, to leaf3 port 2|1x HDR");
	/* Said once if both ends support more. */
	support_all(s, LEAF(3), 2, 3, 1u << RD_SPEED_HDR);
	assert_string_equal(said(s), "fabric-link-degraded|warning|spine1 port 4, to leaf3 port 2|1x HDR");
	/* And once if its speed is odd, too. */
	run_at(s, LEAF(3), 2, 1, RD_SPEED_SDR);
	support_all(s, LEAF(3), 2, 0, 0);
	assert_string_equal(said(s), "fabric-link-odd|warning|spine1 port 4, to leaf3 port 2|1x SDR");
}

SETUP_TEST(one_speed_among_others_is_odd)
{
	run_at(s, HOST(4, 1), 1, 4, RD_SPEED_EDR);
	support_all(s, HOST(4, 1), 1, 0, 0);
	assert_string_equal(said(s), "fabric-link-odd|warning|leaf4 port 6, to host4-1 HCA-1 port 1|4x EDR");
	assert_string_equal(s->findings.v[0].expected, "like 59 others of 60, e.g. 4x HDR");
	/* What its ends do not support is a note: an older adapter. */
	support_all(s, HOST(4, 1), 1, 2, 1u << RD_SPEED_EDR);
	assert_string_equal(said(s), "fabric-link-odd|note|leaf4 port 6, to host4-1 HCA-1 port 1|4x EDR");
	/* One that is faster than all others is not a fault. */
	run_at(s, HOST(4, 1), 1, 4, RD_SPEED_NDR);
	assert_string_equal(said(s), "");
	/* A device of its own has no others to be compared with. */
	run_at(s, HOST(4, 1), 1, 4, RD_SPEED_EDR);
	s->fabric.nodes[rd_fabric_find_node(&s->fabric, HOST(4, 1))].device = 77;
	assert_string_equal(said(s), "");
}

SETUP_TEST(what_is_slower_on_purpose_is_at_most_a_note)
{
	/* Half of the hosts of an older generation, with the same device. */
	for (unsigned l = 0; l < LEAVES / 2; l++)
		for (unsigned h = 0; h < HOSTS; h++) {
			run_at(s, HOST(l, h), 1, 4, RD_SPEED_EDR);
			support_all(s, HOST(l, h), 1, 0, 0);
		}
	assert_string_equal(said(s), "");
	make_tree(s, LEAVES, 1, NULL);
	/* A storage leaf whose hosts have split cables. */
	for (unsigned h = 0; h < HOSTS; h++) {
		run_at(s, HOST(9, h), 1, 2, RD_SPEED_HDR);
		support_all(s, HOST(9, h), 1, 1 | 16, 1u << RD_SPEED_HDR);
	}
	assert_string_equal(said(s), "");
	/* One split cable: a note. */
	make_tree(s, LEAVES, 1, NULL);
	run_at(s, HOST(9, 0), 1, 2, RD_SPEED_HDR);
	support_all(s, HOST(9, 0), 1, 1 | 16, 1u << RD_SPEED_HDR);
	assert_string_equal(said(s), "fabric-link-odd|note|leaf9 port 5, to host9-0 HCA-1 port 1|2x HDR");
	/* All links to a leaf that was configured to be slower. */
	make_tree(s, LEAVES, 1, NULL);
	for (unsigned u = 1; u <= SPINES; u++) {
		run_at(s, LEAF(9), u, 4, RD_SPEED_EDR);
		support_all(s, LEAF(9), u, 0, 0);
	}
	assert_string_equal(said(s), "");
	/* A director: its internal links are wider than the only one that leaves it. */
	make_tree(s, LEAVES, 1, NULL);
	for (unsigned l = 0; l < LEAVES; l++) {
		s->fabric.nodes[rd_fabric_find_node(&s->fabric, LEAF(l))].system_guid = l < 9 ? 1 : 2;
		for (unsigned u = 1; l < 9 && u <= SPINES; u++) {
			run_at(s, LEAF(l), u, 12, RD_SPEED_HDR);
			support_all(s, LEAF(l), u, 8, 1u << RD_SPEED_HDR);
		}
	}
	for (unsigned i = 0; i < SPINES; i++)
		s->fabric.nodes[rd_fabric_find_node(&s->fabric, SPINE(i))].system_guid = 1;
	for (unsigned u = 2; u <= SPINES; u++) {
		struct rd_fabric_port *of = at(s, LEAF(9), u);

		s->fabric.ports[of->peer].peer = RD_NONE;
		of->peer = RD_NONE;
	}
	assert_string_equal(said(s), "");
}

static bool lacks_one(unsigned leaf, unsigned uplink)
{
	return leaf == 3 && uplink == 2;
}

static bool lacks_another(unsigned leaf, unsigned uplink)
{
	return leaf == 2 && uplink == 1;
}

SETUP_TEST(nineteen_of_twenty_uplinks_are_odd)
{
	make_tree(s, LEAVES, 5, NULL);
	assert_string_equal(said(s), "");
	make_tree(s, LEAVES, 5, lacks_one);
	assert_string_equal(
		said(s),
		"fabric-uplink-missing|warning|leaf3, to spine2|4 of 5 links to spine2, 19 of 20 to all switches");
	/* One cable of two. */
	make_tree(s, LEAVES, 2, lacks_one);
	assert_string_equal(
		said(s),
		"fabric-uplink-missing|warning|leaf3, to spine2|1 of 2 links to spine2, 7 of 8 to all switches");
	/* The only one. */
	make_tree(s, LEAVES, 1, lacks_one);
	assert_string_equal(
		said(s),
		"fabric-uplink-missing|warning|leaf3, to spine2|0 of 1 links to spine2, 3 of 4 to all switches");
	/* Three others are enough to know what is usual, two are not. */
	make_tree(s, 4, 1, lacks_one);
	assert_string_equal(
		said(s),
		"fabric-uplink-missing|warning|leaf3, to spine2|0 of 1 links to spine2, 3 of 4 to all switches");
	make_tree(s, 3, 1, lacks_another);
	assert_string_equal(said(s), "");
}

/* The saved topology knows the ports of the link that is missing: one cause. */
SETUP_TEST(a_missing_uplink_is_one_cause_with_a_plan)
{
	struct setup plan = { 0 };
	size_t causes = 0;

	make_tree(&plan, LEAVES, 2, NULL);
	make_tree(s, LEAVES, 2, lacks_one);
	said(s);
	rd_fabric_compare(&plan.fabric, &s->fabric, &s->findings);
	for (size_t i = 0; i < s->findings.n; i++)
		causes += s->findings.v[i].severity > RD_SEV_NOTE && rd_finding_stands(&s->findings.v[i]);
	ASSERT_EACH(IS(causes, 1), READS(s->findings.v[0].id, "fabric-uplink-missing"),
		    READS(s->findings.v[0].caused_by.id, "fabric-cable-missing"));
	rd_fabric_deinit(&plan.fabric);
}

static bool lacks_half(unsigned leaf, unsigned uplink)
{
	return leaf == 3 && uplink % 2;
}

static bool rotates(unsigned leaf, unsigned uplink)
{
	return uplink == 4 + leaf % SPINES || uplink == 4 + (leaf + 1) % SPINES;
}

SETUP_TEST(switches_that_differ_on_purpose_are_silent)
{
	size_t port;

	/* A storage leaf with half of the uplinks. */
	make_tree(s, LEAVES, 5, lacks_half);
	assert_string_equal(said(s), "");
	/* Uplinks that do not divide evenly by spines. */
	make_tree(s, LEAVES, 2, rotates);
	assert_string_equal(said(s), "");
	/* The port of the uplink was disabled. */
	make_tree(s, LEAVES, 5, lacks_one);
	for (port = 0; port < s->fabric.n_ports; port++)
		if (s->fabric.nodes[s->fabric.ports[port].node].guid == LEAF(3) && s->fabric.ports[port].peer == RD_NONE)
			s->fabric.ports[port].physical_state = 3;
	assert_string_equal(said(s), "");
	/* More adapters than any other leaf has. */
	make_tree(s, LEAVES, 5, lacks_one);
	for (unsigned l = 0; l < LEAVES; l++)
		if (l != 3) {
			struct rd_fabric_port *of = at(s, LEAF(l), 21);

			s->fabric.ports[of->peer].peer = RD_NONE;
			of->peer = RD_NONE;
		}
	assert_string_equal(said(s), "");
	/* The walk did not see what is behind a port. */
	make_tree(s, LEAVES, 5, lacks_one);
	s->fabric.ports[fabric_port_at(&s->fabric, LEAF(3), 3)].peer_unreached = true;
	assert_string_equal(said(s), "");
}

/* A leaf that differs by one link to each of two switches: another design, or a cable at the wrong port. Nothing is missing. */
SETUP_TEST(a_link_to_another_switch_is_not_missing)
{
	size_t here, there;

	make_tree(s, LEAVES, 5, lacks_one);
	here = fabric_port_at(&s->fabric, LEAF(3), 60);
	there = fabric_port_at(&s->fabric, LEAF(4), 60);
	s->fabric.ports[here] = s->fabric.ports[fabric_port_at(&s->fabric, LEAF(3), 1)];
	s->fabric.ports[there] = s->fabric.ports[fabric_port_at(&s->fabric, LEAF(4), 1)];
	s->fabric.ports[here].number = s->fabric.ports[there].number = 60;
	s->fabric.ports[here].peer = there;
	s->fabric.ports[there].peer = here;
	assert_string_equal(said(s), "");
}

/* Switches that are all connected with each other, each with hosts: no two have the same neighbours. */
SETUP_TEST(a_mesh_is_silent)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	rd_fabric_deinit(&s->fabric);
	rd_buf_str(&text, RD_TOPOLOGY_MAGIC "\n");
	for (unsigned l = 0; l < 16; l++)
		rd_buf_printf(&text,
			      "node 0x%x switch 64 \"sw%u\"\nnode 0x%x ca 1 \"h%u\"\nlink 0x%x 60 0x%x 1 4xHDR\n",
			      LEAF(l), l, HOST(l, 0), l, LEAF(l), HOST(l, 0));
	for (unsigned a = 0; a < 16; a++)
		for (unsigned b = a + 1; b < 16; b++)
			rd_buf_printf(&text, "link 0x%x %u 0x%x %u 4xHDR\n", LEAF(a), b + 1, LEAF(b), a + 1);
	fabric_from_text(text.data, &s->fabric);
	support(s);
	assert_string_equal(said(s), "");
}

SETUP_TEST(a_census_counts_kinds)
{
	struct rd_fabric_census census;
	struct rd_fabric_node *node = &s->fabric.nodes[rd_fabric_find_node(&s->fabric, HOST(0, 0))];

	free(node->description);
	node->description = strdup("Mellanox Technologies Aggregation Node");
	run_at(s, LEAF(3), 2, 1, RD_SPEED_HDR);
	s->fabric.ports[fabric_port_at(&s->fabric, HOST(1, 1), 1)].presence = RD_PORT_GONE;
	rd_fabric_take_census(&s->fabric, &census);
	ASSERT_EACH(IS(census.switches, LEAVES + SPINES), IS(census.adapters, LEAVES * HOSTS - 2),
		    IS(census.aggregation_nodes, 1), IS(census.links, LEAVES * (HOSTS + SPINES)),
		    IS(census.n_rates, 2));
	ASSERT_EACH(IS(census.rates[0].links, LEAVES * (HOSTS + SPINES) - 1),
		    IS(census.rates[0].uplinks, LEAVES * SPINES - 1), IS(census.rates[1].width, 1));
	assert_true(rd_fabric_rate_is_rare(&census, &census.rates[1]));
	assert_false(rd_fabric_rate_is_rare(&census, &census.rates[0]));
}
