/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Agents that do not respond: which of them are explained by another one. */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "fabric-text.h"

#define LEAF(n) (0x20000u + (n))
#define HOST(l, h) (0x1000000u + (l)*256 + (h))

static struct rd_fabric fabric;
static struct rd_findings findings;

static int set_up(void **state)
{
	fabric_from_tree(4, 3, 5, &fabric);
	fabric.self = fabric_port_at(&fabric, HOST(0, 0), 1);
	for (size_t i = 0; i < fabric.n_ports; i++)
		fabric.ports[i].fresh = fabric.ports[i].selected;
	return 0;
}

static int tear_down(void **state)
{
	rd_findings_deinit(&findings);
	rd_fabric_deinit(&fabric);
	return 0;
}

static void silence(uint64_t guid)
{
	for (size_t i = 0; i < fabric.n_ports; i++)
		if (fabric.nodes[fabric.ports[i].node].guid == guid) {
			fabric.ports[i].error = ETIMEDOUT;
			fabric.ports[i].fresh = false;
		}
}

static void judge(void)
{
	struct rd_fabric_limits limits;

	rd_fabric_limits_init(&limits);
	rd_findings_deinit(&findings);
	rd_fabric_judge(&fabric, &limits, NULL, &findings);
	rd_fabric_judge_walk(&fabric, &findings);
	rd_fabric_rank(&findings);
}

/* The other hosts of the leaf respond through it: the one that does not has a cause of its own. */
TEST_WITH(a_silent_agent_is_no_cause_behind_a_switch_that_works, set_up, tear_down)
{
	silence(LEAF(1));
	silence(HOST(1, 3));
	judge();
	assert_int_equal(findings.n, 2);
	ASSERT_EACH(READS(findings.v[0].id, "fabric-agent-silent"), IS(strncmp(findings.v[0].subject, "leaf1 ", 6), 0),
		    LACKS(findings.v[0].observed, "and with it"), IS(strncmp(findings.v[1].subject, "host1-3 ", 8), 0));
}

/* Not one that all agents have in common. */
TEST_WITH(a_slow_agent_is_a_note_with_its_time, set_up, tear_down)
{
	fabric.sweep.latency_median_ns = 400000;
	fabric.sweep.duration_ns = 1500000000;
	for (size_t i = 0; i < fabric.n_ports; i++)
		fabric.ports[i].response_ns = 500000;
	judge();
	assert_int_equal(findings.n, 0);
	for (size_t i = 0; i < fabric.n_ports; i++)
		if (fabric.nodes[fabric.ports[i].node].guid == LEAF(1)) {
			fabric.ports[i].response_ns = 310000000;
			fabric.ports[i].busy_ns = 1200000000;
		}
	judge();
	assert_int_equal(findings.n, 1);
	ASSERT_EACH(READS(findings.v[0].id, "fabric-agent-slow"), IS(findings.v[0].severity, RD_SEV_NOTE));
	assert_true(strncmp(findings.v[0].subject, "leaf1 ", 6) == 0);
	ASSERT_HAS(findings.v[0].observed, "310 ms or more", "1.20 s of the 1.50 s", "; 1 agent is slow");
	fabric.sweep.latency_median_ns = 40000000;
	judge();
	assert_int_equal(findings.n, 0);
}

/* Nothing behind it responds: it may pass nothing. */
TEST_WITH(a_silent_switch_is_the_cause_of_silence_behind_it, set_up, tear_down)
{
	silence(LEAF(1));
	for (unsigned h = 0; h < 5; h++)
		silence(HOST(1, h));
	judge();
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].observed, "and with it 5 adapters"));
}

/* Another node responds at some LIDs: they were changed, and no agent hangs. */
TEST_WITH(a_changed_lid_is_no_silence, set_up, tear_down)
{
	for (unsigned h = 0; h < 5; h++) {
		fabric.ports[fabric_port_at(&fabric, HOST(2, h), 1)].error = ESTALE;
		fabric.ports[fabric_port_at(&fabric, HOST(2, h), 1)].fresh = false;
	}
	judge();
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].id, "fabric-lid-changed");
	ASSERT_EACH(IS(findings.v[0].severity, RD_SEV_NOTE), READS(findings.v[0].subject, "5 ports"));
}

static void cut_off(uint64_t guid, uint64_t at, unsigned port)
{
	fabric.nodes[rd_fabric_find_node(&fabric, guid)].blocked =
		(struct rd_fabric_block){ .guid = at, .port = port, .state = port ? RD_LINK_INIT : 0 };
}

/* The route to a node that does not respond ends at a link: that is the cause, and no agent hangs. */
TEST_WITH(a_node_is_cut_off_by_a_link_on_its_route, set_up, tear_down)
{
	silence(HOST(2, 1));
	cut_off(HOST(2, 1), LEAF(1), 6);
	judge();
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].id, "fabric-node-cut-off");
	assert_string_equal(findings.v[0].observed, "the route to it leaves leaf1 through port 6, which is INIT");
	fabric.ports[fabric_port_at(&fabric, LEAF(1), 6)].state = RD_LINK_INIT;
	judge();
	assert_int_equal(findings.n, 2);
	assert_string_equal(findings.v[0].id, "fabric-link-inactive");
	assert_true(rd_finding_is_caused_by(&findings.v[1], &findings.v[0]));
	cut_off(HOST(2, 1), LEAF(2), 0);
	judge();
	assert_string_equal(findings.v[0].observed, "leaf2 has no route to it");
	assert_true(rd_finding_stands(&findings.v[0]) && rd_finding_stands(&findings.v[1]));
}

/* One that is not cut off has a cause of its own, whatever links are in INIT. */
TEST_WITH(a_silent_manager_explains_links_in_init_and_what_they_cut_off, set_up, tear_down)
{
	fabric.sm_lid = 900;
	fabric.sm_silent = true;
	silence(HOST(2, 1));
	silence(HOST(0, 3));
	cut_off(HOST(2, 1), LEAF(1), 6);
	fabric.ports[fabric_port_at(&fabric, LEAF(1), 6)].state = RD_LINK_INIT;
	judge();
	assert_int_equal(findings.n, 4);
	ASSERT_EACH(READS(findings.v[0].id, "fabric-sm-silent"), HAS(findings.v[0].fix, "sminfo"),
		    READS(findings.v[1].id, "fabric-agent-silent"), IS(rd_finding_stands(&findings.v[1]), true),
		    IS(rd_finding_is_caused_by(&findings.v[2], &findings.v[0]), true),
		    IS(rd_finding_is_caused_by(&findings.v[3], &findings.v[0]), true));
}

TEST_WITH(two_nodes_with_one_lid_are_named, set_up, tear_down)
{
	for (size_t i = 0; i < fabric.n_ports; i++)
		fabric.ports[i].lid = (uint16_t)(fabric.ports[i].node * 4 + 1);
	judge();
	assert_int_equal(findings.n, 0);
	/* Ranges of LMC 2 that touch, but do not overlap. */
	for (size_t i = 0; i < fabric.n_ports; i++)
		fabric.ports[i].lmc = fabric.nodes[fabric.ports[i].node].kind == RD_NODE_SWITCH ? 0 : 2;
	judge();
	assert_int_equal(findings.n, 0);
	fabric.ports[fabric_port_at(&fabric, HOST(2, 1), 1)].lid =
		fabric.ports[fabric_port_at(&fabric, HOST(3, 4), 1)].lid + 3;
	judge();
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].id, "fabric-lid-duplicate");
	ASSERT_HAS(findings.v[0].observed, "host2-1 ", "host3-4 ");
	/* Not yet configured: its LID is an old one. */
	fabric.ports[fabric_port_at(&fabric, HOST(2, 1), 1)].state = RD_LINK_INIT;
	judge();
	for (size_t i = 0; i < findings.n; i++)
		assert_string_not_equal(findings.v[i].id, "fabric-lid-duplicate");
}
