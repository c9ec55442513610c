/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"
#include "fabric-text.h"
#include "model/fabric/fabric.h"

#define TOPOLOGY                                                                                                   \
	RD_TOPOLOGY_MAGIC "\nnode 0xa switch 4 \"leaf\"\nnode 0x1 ca 1 \"h1 HCA-1\"\nnode 0x2 ca 1 \"h2 HCA-1\"\n" \
			  "link 0xa 1 0x1 1 4xEDR\nlink 0xa 2 0x2 1 4xEDR\n"
#define SECOND UINT64_C(1000000000)

struct setup {
	struct rd_fabric fabric;
	struct rd_fabric_limits limits;
	struct rd_findings findings;
	struct rd_fabric_port *port; /* of the leaf, to h1 */
};

static const char limits_text[] = "# a table\nSymbolErrorCounter 10 120 3600\nLinkDownedCounter 10 0 2 # flaps\n"
				  "PortXmit*Errors 100 60 -\nXmitWaitPercent - 20 -\n";

static void set_up(struct setup *s)
{
	fabric_from_text(TOPOLOGY, &s->fabric);
	s->fabric.n_values = RD_PMA_COUNTERS;
	s->fabric.self = fabric_port_at(&s->fabric, 1, 1);
	for (size_t i = 0; i < s->fabric.n_ports; i++) {
		struct rd_fabric_port *port = &s->fabric.ports[i];

		port->fresh = true;
		port->read_ns = 100 * SECOND;
		port->values = calloc(RD_PMA_COUNTERS, sizeof(*port->values));
		port->before = calloc(RD_PMA_COUNTERS, sizeof(*port->before));
		port->width_supported = 3; /* 1x, 4x */
		port->speed_supported = 1u << RD_SPEED_QDR | 1u << RD_SPEED_EDR;
	}
	s->port = &s->fabric.ports[fabric_port_at(&s->fabric, 0xa, 1)];
	rd_fabric_limits_init(&s->limits);
	assert_int_equal(rd_fabric_limits_parse("t", limits_text, strlen(limits_text), &s->limits, NULL), 0);
}

static void tear_down(struct setup *s)
{
	rd_findings_deinit(&s->findings);
	rd_fabric_deinit(&s->fabric);
}

static struct rd_pma_value *value(struct setup *s, const char *name, uint64_t v, uint8_t bits)
{
	size_t counter = rd_pma_find_counter(name);

	assert_true(counter != RD_NONE);
	s->port->values[counter] = (struct rd_pma_value){ v, bits };
	return &s->port->values[counter];
}

static void before(struct setup *s, const char *name, uint64_t v, uint8_t bits, unsigned seconds)
{
	s->port->before[rd_pma_find_counter(name)] = (struct rd_pma_value){ v, bits };
	s->port->before_ns = s->port->read_ns - seconds * SECOND;
}

/* What was said first, as "id|severity|observed"; "" for nothing. */
static const char *said(struct setup *s)
{
	static char text[512];

	rd_findings_deinit(&s->findings);
	rd_fabric_judge(&s->fabric, &s->limits, NULL, &s->findings);
	rd_fabric_rank(&s->findings);
	text[0] = '\0';
	if (s->findings.n > 0)
		snprintf(text, sizeof(text), "%s|%s|%s", s->findings.v[0].id,
			 rd_severity_name(s->findings.v[0].severity),
			 s->findings.v[0].observed ? s->findings.v[0].observed : "-");
	return text;
}

#define SETUP_TEST(name) TEST_BEGUN(name, struct setup, s, set_up, tear_down)

SETUP_TEST(a_sound_fabric_is_silent)
{
	value(s, "SymbolErrorCounter", 10, 16);
	value(s, "PortXmitData", UINT64_C(0xffffffff), 32);
	assert_string_equal(said(s), "");
}

SETUP_TEST(one_look_is_held_against_totals)
{
	value(s, "SymbolErrorCounter", 11, 16);
	assert_string_equal(said(s), "fabric-errors|warning|SymbolErrorCounter 11");
	assert_string_equal(s->findings.v[0].subject, "leaf port 1, to h1 HCA-1 port 1");
	value(s, "PortXmitConstraintErrors", 101, 16); /* by a pattern */
	assert_string_equal(said(s), "fabric-errors|warning|SymbolErrorCounter 11, PortXmitConstraintErrors 101");
}

SETUP_TEST(two_looks_are_held_against_rates_and_totals)
{
	/* High, but does not move; as one that was cleared between the two, or that moves slowly. */
	value(s, "SymbolErrorCounter", 5000, 16);
	before(s, "SymbolErrorCounter", 5000, 16, 10);
	assert_string_equal(said(s), "fabric-errors|warning|SymbolErrorCounter 5000");
	before(s, "SymbolErrorCounter", 6000, 16, 10);
	assert_string_equal(said(s), "fabric-errors|warning|SymbolErrorCounter 5000");
	/* 2 in a minute are 120 an hour: not above. */
	before(s, "SymbolErrorCounter", 4998, 16, 60);
	assert_string_equal(said(s), "fabric-errors|warning|SymbolErrorCounter 5000");
	value(s, "SymbolErrorCounter", 10, 16);
	before(s, "SymbolErrorCounter", 8, 16, 60);
	assert_string_equal(said(s), "");
	value(s, "SymbolErrorCounter", 5000, 16);
	before(s, "SymbolErrorCounter", 4997, 16, 60);
	assert_string_equal(said(s), "fabric-errors|warning|SymbolErrorCounter +3 in 60 s (5000)");
	/* The same in a second is no more than that. */
	before(s, "SymbolErrorCounter", 4997, 16, 1);
	assert_int_equal(said(s)[strlen("fabric-errors|")], 'w');
	before(s, "SymbolErrorCounter", 4900, 16, 1);
	assert_string_equal(said(s), "fabric-errors|critical|SymbolErrorCounter +100 in 1 s (5000)");
}

SETUP_TEST(a_counter_that_was_cleared_or_stands_at_its_end_has_no_rate)
{
	size_t counter = rd_pma_find_counter("LinkDownedCounter");
	uint64_t delta;
	double seconds;

	value(s, "LinkDownedCounter", 3, 8);
	before(s, "LinkDownedCounter", 200, 8, 10);
	assert_false(rd_fabric_delta(&s->fabric, s->port, counter, &delta, &seconds));
	value(s, "LinkDownedCounter", 255, 8);
	assert_false(rd_fabric_delta(&s->fabric, s->port, counter, &delta, &seconds));
	before(s, "LinkDownedCounter", 1, 32, 10); /* another width */
	value(s, "LinkDownedCounter", 3, 8);
	assert_false(rd_fabric_delta(&s->fabric, s->port, counter, &delta, &seconds));
	before(s, "LinkDownedCounter", 1, 8, 10);
	assert_true(rd_fabric_delta(&s->fabric, s->port, counter, &delta, &seconds));
	ASSERT_EACH(IS(delta, 2), IS(seconds > 9.99 && seconds < 10.01, true));
	s->port->values[counter].bits = 0; /* not known */
	assert_false(rd_fabric_delta(&s->fabric, s->port, counter, &delta, &seconds));
	s->fabric.n_values = counter;
	assert_false(rd_fabric_delta(&s->fabric, s->port, counter, &delta, &seconds));
}

SETUP_TEST(a_counter_at_its_end_is_at_least_that)
{
	value(s, "LocalLinkIntegrityErrors", 15, 4);
	assert_string_equal(said(s), "fabric-saturated|warning|LocalLinkIntegrityErrors at least 15");
}

SETUP_TEST(a_link_is_degraded_only_where_both_ends_can_more)
{
	struct rd_fabric_port *peer = &s->fabric.ports[s->port->peer];

	s->port->speed_active = peer->speed_active = RD_SPEED_QDR;
	assert_string_equal(said(s), "fabric-link-degraded|warning|4x QDR");
	ASSERT_EACH(READS(s->findings.v[0].expected, "4x EDR"), IS(s->findings.n, 1));
	/* A QDR adapter on an EDR switch. */
	peer->speed_supported = 1u << RD_SPEED_QDR | 1u << RD_SPEED_DDR;
	assert_string_equal(said(s), "");
	s->port->width_active = peer->width_active = 1;
	assert_string_equal(said(s), "fabric-link-degraded|warning|1x QDR");
	peer->width_supported = 1;
	assert_string_equal(said(s), "");
	/* FDR10 is faster than QDR and slower than FDR. */
	s->port->speed_supported = peer->speed_supported = 1u << RD_SPEED_QDR | 1u << RD_SPEED_FDR10;
	assert_string_equal(said(s), "fabric-link-degraded|warning|1x QDR");
	s->port->speed_active = peer->speed_active = RD_SPEED_FDR10;
	assert_string_equal(said(s), "");
	/* What was switched off is said, and is no fault. */
	s->port->speed_active = peer->speed_active = RD_SPEED_QDR;
	peer->speed_enabled = 1u << RD_SPEED_QDR;
	assert_string_equal(said(s), "fabric-link-limited|note|1 link, this one 1x QDR");
	peer->speed_enabled = 0;
	/* What is not known is no reason to complain. */
	s->port->speed_supported = 0;
	s->port->speed_active = RD_SPEED_SDR;
	assert_string_equal(said(s), "");
}

SETUP_TEST(silence_of_an_agent_is_not_health)
{
	struct rd_fabric_port *peer = &s->fabric.ports[s->port->peer];

	peer->fresh = false;
	peer->error = ETIMEDOUT;
	peer->error_attribute = 0x12;
	assert_string_equal(
		said(s),
		"fabric-agent-silent|warning|1 of 1 ports: no response to PortCounters (ETIMEDOUT, attribute 0x12)");
	peer->error = 0;
	s->port->fresh = false;
	s->port->error_status = 0x1c;
	s->port->error_attribute = 0x1d;
	s->port->error = EREMOTEIO;
	assert_string_equal(
		said(s),
		"fabric-ports-unread|warning|1 of 4 ports: status 0x001c for PortCountersExtended (attribute 0x1d)");
}

SETUP_TEST(a_fabric_of_one_node_is_critical)
{
	rd_fabric_deinit(&s->fabric);
	fabric_from_text(RD_TOPOLOGY_MAGIC "\nnode 0x1 ca 1 \"h1 HCA-1\"\n", &s->fabric);
	s->fabric.self = 0;
	snprintf(s->fabric.ibdev, sizeof(s->fabric.ibdev), "mlx5_0");
	s->fabric.port = 1;
	s->fabric.ports[0].state = RD_LINK_ACTIVE;
	assert_string_equal(said(s),
			    "fabric-alone|critical|the link is ACTIVE, and the node at its other end does not respond");
	assert_string_equal(s->findings.v[0].subject, "mlx5_0 port 1");
}

SETUP_TEST(what_comes_and_goes_is_said_once_a_node)
{
	for (size_t i = 0; i < s->fabric.n_ports; i++)
		if (s->fabric.ports[i].node == s->port->node)
			s->fabric.ports[i].presence = RD_PORT_GONE;
	assert_true(strncmp(said(s), "fabric-node-gone|warning|", 19) == 0);
	assert_int_equal(s->findings.n, 1);
	assert_string_equal(s->findings.v[0].subject, "leaf (0x000000000000000a)");
	for (size_t i = 0; i < s->fabric.n_ports; i++)
		s->fabric.ports[i].presence = RD_PORT_PRESENT;
	s->port->presence = RD_PORT_REPLACED;
	s->port->old_guid = 0xabc;
	assert_string_equal(said(s), "fabric-node-replaced|warning|instead of 0x0000000000000abc");
}

SETUP_TEST(waiting_is_a_share_of_time)
{
	double share;

	/* 4x EDR carries 100 Gbit/s: 12.5e9 octets a second. Tick 7: 8 octets of the port, so 781,250,000 ticks in half of
	 * the time. */
	value(s, "PortXmitWait", 781250000, 32);
	before(s, "PortXmitWait", 0, 32, 1);
	assert_false(rd_fabric_wait_share(&s->fabric, s->port, &share));
	RD_SET(s->fabric.nodes[s->port->node].tick, 7);
	assert_true(rd_fabric_wait_share(&s->fabric, s->port, &share));
	assert_true(share > 0.499 && share < 0.501);
	assert_string_equal(said(s), "fabric-congested|warning|waited for credits 50 % of the time");
	/* Tick 31: 32 octets of each of 4 lanes. */
	RD_SET(s->fabric.nodes[s->port->node].tick, 31);
	value(s, "PortXmitWait", 781250000 / 16, 32);
	assert_true(rd_fabric_wait_share(&s->fabric, s->port, &share));
	assert_true(share > 0.499 && share < 0.501);
	s->port->speed_active = RD_SPEED_UNKNOWN;
	assert_false(rd_fabric_wait_share(&s->fabric, s->port, &share));
}

SETUP_TEST(data_counts_four_octets)
{
	double gbps;

	value(s, "PortXmitData", 3125000000, 64);
	before(s, "PortXmitData", 0, 64, 1);
	assert_true(rd_fabric_gbps(&s->fabric, s->port, rd_pma_find_counter("PortXmitData"), &gbps));
	assert_true(gbps > 99.99 && gbps < 100.01);
	assert_true(rd_fabric_link_gbps(s->port) > 99.99 && rd_fabric_link_gbps(s->port) < 100.01);
}

SETUP_TEST(thresholds_are_refused_with_their_line)
{
	static const char *const bad[] = {
		"\nSymbolErrorCounter 1 2",   "\nSymbolErrorCounter 1 2 3 4", "\nNoSuch 1 2 3",
		"\nSymbolErrorCounter x 2 3", "\nSymbolErrorCounter -1 2 3",  "\nNoSuch=3",
		"\nSymbolErrorCounter=",      "\n***************a 1 2 3",     "\nSymbolErrorCounter nan 1 1"
	};
	struct rd_err err;

	for (size_t i = 0; i < RD_ARRAY_SIZE(bad); i++) {
		assert_int_equal(rd_fabric_limits_parse("t", bad[i], strlen(bad[i]), &s->limits, &err), -EBADMSG);
		assert_non_null(strstr(err.message, "line 2"));
	}
	/* infiniband-diags' form; the rates stay. */
	assert_int_equal(rd_fabric_limits_parse("t", "SymbolErrorCounter=77\n", 22, &s->limits, &err), 0);
	assert_true(s->limits.v[0].total == 77 && s->limits.v[0].warning == 120);
}
