/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error counters: which is the worst, where the errors come from, and what to do first. */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "fabric-text.h"

#define SPINE(n) (0x10000u + (n))
#define LEAF(n) (0x20000u + (n))
#define HOST(l, h) (0x1000000u + (l)*256 + (h))
#define HOUR UINT64_C(3600000000000)

static const char limits_text[] =
	"SymbolErrorCounter 10 120 3600\nLinkDownedCounter 10 0 2\nPortRcvErrors 10 60 3600\n"
	"PortXmitDiscards 100 60 36000\nVL15Dropped 100 60 -\nPortXmitConstraintErrors 100 60 -\n"
	"PortRcvRemotePhysicalErrors 100 - -\nExcessiveBufferOverrunErrors 10 0 60\n";

static struct rd_fabric fabric;
static struct rd_findings findings;

static int set_up(void **state)
{
	fabric_from_tree(4, 3, 5, &fabric);
	fabric.self = fabric_port_at(&fabric, HOST(0, 0), 1);
	fabric.n_values = RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS + 1;
	fabric.swept_ns = HOUR;
	for (size_t i = 0; i < fabric.n_ports; i++) {
		struct rd_fabric_port *port = &fabric.ports[i];

		port->fresh = port->selected;
		port->read_ns = HOUR;
		port->values = calloc(fabric.n_values, sizeof(*port->values));
		port->before = calloc(fabric.n_values, sizeof(*port->before));
		for (size_t c = 0; c < fabric.n_values; c++)
			port->values[c].bits = c == RD_C_LINK_DOWNED ? 8 : 16;
	}
	return 0;
}

static int tear_down(void **state)
{
	rd_findings_deinit(&findings);
	rd_fabric_deinit(&fabric);
	return 0;
}

static struct rd_fabric_port *at(uint64_t guid, unsigned port)
{
	return &fabric.ports[fabric_port_at(&fabric, guid, port)];
}

static void total(uint64_t guid, unsigned port, size_t counter, uint64_t value)
{
	at(guid, port)->values[counter].v = value;
}

/* Number of findings that are faults of their own; the worst comes first. */
static size_t judge(void)
{
	struct rd_fabric_limits limits;
	size_t n = 0;

	rd_fabric_limits_init(&limits);
	assert_int_equal(rd_fabric_limits_parse("t", limits_text, strlen(limits_text), &limits, NULL), 0);
	rd_findings_deinit(&findings);
	rd_fabric_judge(&fabric, &limits, NULL, &findings);
	rd_fabric_rank(&findings);
	for (size_t i = 0; i < findings.n; i++)
		n += findings.v[i].severity > RD_SEV_NOTE && rd_finding_stands(&findings.v[i]);
	return n;
}

static bool first_says(const char *subject, const char *fix)
{
	const struct rd_finding *f = findings.v;
	bool same = findings.n > 0 && strncmp(f->subject, subject, strlen(subject)) == 0 && f->fix &&
		    strstr(f->fix, fix);

	if (!same && findings.n > 0)
		print_message("%s: %s; %s\n", f->subject, f->observed, f->fix ? f->fix : "-");
	return same;
}

TEST_WITH(the_largest_total_is_the_first, set_up, tear_down)
{
	for (unsigned h = 0; h < 3; h++)
		total(LEAF(0), h + 1, RD_C_SYMBOL_ERROR, 11);
	total(LEAF(3), 2, RD_C_SYMBOL_ERROR, 60000);
	assert_int_equal(judge(), 4);
	assert_true(first_says("leaf3 port 2, to ", "clean and reseat the cable"));
	assert_non_null(strstr(findings.v[0].expected, "at most 10"));
	/* What increases comes before what stands. */
	at(LEAF(1), 3)->before_ns = HOUR / 2;
	at(LEAF(1), 3)->before[RD_C_SYMBOL_ERROR].bits = 16;
	total(LEAF(1), 3, RD_C_SYMBOL_ERROR, 100);
	assert_int_equal(judge(), 5);
	assert_true(first_says("leaf1 port 3, to ", "clean and reseat the cable"));
	assert_non_null(strstr(findings.v[0].expected, "at most 120 per hour"));
}

/* A bad cable, and hosts that receive what it damaged. */
TEST_WITH(damaged_packets_are_not_the_fault_of_who_receives_them, set_up, tear_down)
{
	for (unsigned h = 0; h < 5; h++)
		total(HOST(0, h), 1, RD_C_RCV_REMOTE_PHYSICAL_ERRORS, 500);
	assert_int_equal(judge(), 5);
	assert_true(first_says("", "not this cable"));
	total(LEAF(3), 7, RD_C_SYMBOL_ERROR, 60000);
	assert_int_equal(judge(), 1);
	assert_true(first_says("leaf3 port 7, to ", "clean and reseat"));
	assert_int_equal(findings.n, 6);
	for (size_t i = 1; i < 6; i++)
		assert_true(rd_finding_is_caused_by(&findings.v[i], &findings.v[0]));
}

TEST_WITH(details_say_what_it_is_not, set_up, tear_down)
{
	static const struct {
		size_t counter, detail;
		const char *fix;
	} cases[] = {
		{ RD_C_RCV_ERRORS, RD_C_LOCAL_PHYSICAL_ERRORS, "clean and reseat" },
		{ RD_C_RCV_ERRORS, RD_C_LOOPING_ERRORS, "--routes" },
		{ RD_C_XMIT_DISCARDS, RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS, "the port that is waited for" },
		{ RD_C_XMIT_DISCARDS, RD_C_NEIGHBOR_MTU_DISCARDS, "MTU" },
		{ RD_C_VL15_DROPPED, RD_C_VL15_DROPPED, "programs that query" },
		{ RD_C_XMIT_CONSTRAINT_ERRORS, RD_C_XMIT_CONSTRAINT_ERRORS, "smpquery pkeys" },
		{ RD_C_EXCESSIVE_BUFFER_OVERRUN_ERRORS, RD_C_EXCESSIVE_BUFFER_OVERRUN_ERRORS, "firmware" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		total(LEAF(1), 2, cases[i].counter, 500);
		total(LEAF(1), 2, cases[i].detail, 500);
		assert_int_equal(judge(), 1);
		assert_true(first_says("leaf1 port 2, to ", cases[i].fix));
		total(LEAF(1), 2, cases[i].counter, 0);
		total(LEAF(1), 2, cases[i].detail, 0);
	}
	/* That packets for a link that was down were dropped is no fault of its own. */
	total(LEAF(1), 2, RD_C_XMIT_DISCARDS, 500);
	total(LEAF(1), 2, RD_C_INACTIVE_DISCARDS, 500);
	assert_int_equal(judge(), 0);
	/* Half of them: something else, too. */
	total(LEAF(1), 2, RD_C_INACTIVE_DISCARDS, 200);
	total(LEAF(1), 2, RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS, 300);
	assert_int_equal(judge(), 1);
}

/* One more after two hundred may be a restart; the two hundred are not. */
TEST_WITH(a_note_does_not_hide_a_total, set_up, tear_down)
{
	struct rd_fabric_port *port = at(LEAF(1), 2);

	port->before_ns = HOUR / 2;
	port->before[RD_C_LINK_DOWNED] = (struct rd_pma_value){ 200, 8 };
	total(LEAF(1), 2, RD_C_LINK_DOWNED, 201);
	assert_int_equal(judge(), 1);
	port->before[RD_C_LINK_DOWNED].v = 1;
	total(LEAF(1), 2, RD_C_LINK_DOWNED, 2);
	assert_int_equal(judge(), 0);
}

TEST_WITH(what_a_port_without_a_cable_counted_is_a_note, set_up, tear_down)
{
	struct rd_fabric_port *port = at(LEAF(1), 2);

	at(HOST(1, 1), 1)->peer = RD_NONE;
	port->peer = RD_NONE;
	port->state = RD_LINK_DOWN;
	total(LEAF(1), 2, RD_C_SYMBOL_ERROR, 65000);
	assert_int_equal(judge(), 0);
	assert_true(findings.n > 0);
	/* Still counting: there is something. */
	port->before_ns = HOUR / 2;
	port->before[RD_C_SYMBOL_ERROR].bits = 16;
	assert_int_equal(judge(), 1);
}

/* Packets for a host that does not respond are dropped; symbol errors at its port may be the reason. */
TEST_WITH(what_is_dropped_for_a_silent_host_is_its_consequence, set_up, tear_down)
{
	struct rd_fabric_port *host = at(HOST(1, 1), 1);

	host->fresh = false;
	host->error = ETIMEDOUT;
	total(LEAF(1), 2, RD_C_XMIT_DISCARDS, 500);
	assert_int_equal(judge(), 1);
	assert_string_equal(findings.v[0].id, "fabric-agent-silent");
	assert_true(rd_finding_is_caused_by(&findings.v[1], &findings.v[0]));
	total(LEAF(1), 2, RD_C_SYMBOL_ERROR, 500);
	assert_int_equal(judge(), 2);
	assert_string_equal(findings.v[0].id, "fabric-errors");
}
