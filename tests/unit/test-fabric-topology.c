/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"
#include "fabric-text.h"

#define HEAD RD_TOPOLOGY_MAGIC "\n"
/* Two switches and three hosts: a1-b1, a2-h1, a3-h2, b2-h3, b3 to a4. */
#define NODES                                                                                   \
	"node 0xa switch 4 \"sw a\"\nnode 0xb switch 4 \"sw b\"\nnode 0x1 ca 1 \"h1 mlx5_0\"\n" \
	"node 0x2 ca 1 \"h2 mlx5_0\"\nnode 0x3 ca 1 \"h3 mlx5_0\"\n"
#define LINKS                                                                      \
	"link 0xa 1 0xb 1 4xEDR\nlink 0xa 2 0x1 1 4xEDR\nlink 0xa 3 0x2 1 4xEDR\n" \
	"link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0xb 3 4xEDR\n"
#define PLAN HEAD NODES LINKS

TEST(what_is_written_is_read_again)
{
	_cleanup_buf_ struct rd_buf one = { 0 }, two = { 0 };
	struct rd_fabric a, b;

	fabric_from_text(HEAD NODES LINKS "node 0xc router 2 \"odd \\x22 \\xff\\x5c\\x0a\"\n", &a);
	rd_topology_write(&a, &one);
	fabric_from_text(one.data, &b);
	rd_topology_write(&b, &two);
	assert_string_equal(one.data, two.data);
	assert_string_equal(b.nodes[rd_fabric_find_node(&b, 0xc)].description, "odd \" \xff\\\n");
	assert_int_equal(b.ports[fabric_port_at(&b, 0xa, 4)].peer, fabric_port_at(&b, 0xb, 3));
	rd_fabric_deinit(&a);
	rd_fabric_deinit(&b);
}

TEST(output_of_ibnetdiscover_is_a_topology_too)
{
	static const char text[] =
		"\n#\r\n# Topology file: generated\r\nvendid=0x2c9\n"
		"switchguid=0x8f10500200b50(8f10500200b50)\n"
		"Switch\t36 \"S-0008f10500200b50\"\t\t# \"Voltaire 4036\" enhanced port 0 lid 9 lmc 0\n"
		"[1]\t\"H-003048c749cd0000\"[1](3048c749cd0001) \t\t# \"node4 HCA-1\" lid 72 4xDDR\n\n"
		"caguid=0x3048c749cd0000\n"
		"Ca\t2 \"H-003048c749cd0000\"\t\t# \"node4 HCA-1\"\n"
		"[1](3048c749cd0001) \t\"S-0008f10500200b50\"[1]\t\t# lid 72 lmc 0 \"Voltaire 4036\" lid 9 4xDDR\n";
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;
	const struct rd_fabric_port *port;

	fabric_from_text(text, &fabric);
	assert_int_equal(fabric.n_nodes, 2);
	port = &fabric.ports[fabric_port_at(&fabric, 0x3048c749cd0000, 1)];
	ASSERT_EACH(IS(port->peer, fabric_port_at(&fabric, 0x8f10500200b50, 1)), IS(port->width_active, 4),
		    IS(port->speed_active, RD_SPEED_DDR));
	assert_false(fabric.ports[fabric_port_at(&fabric, 0x3048c749cd0000, 2)].selected);
	assert_string_equal(fabric.nodes[port->node].description, "node4 HCA-1");
}

TEST(a_damaged_file_is_refused_with_its_line)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "no nodes" },
		{ "hello\n", "no nodes" },
		{ HEAD "node 0xa switch 4\n", "line 2" },
		{ HEAD "node 0xa bridge 4 \"x\"\n", "line 2" },
		{ HEAD "node 0xa switch 255 \"x\"\n", "line 2" },
		{ HEAD "node 0x11111111111111111 switch 4 \"x\"\n", "line 2" },
		{ HEAD "node 0xa switch 4 \"x\n", "line 2" },
		{ HEAD "wires 1\n", "line 2" },
		{ HEAD "node 0xa switch 4 \"x\"\nnode 0xa switch 4 \"y\"\n", "twice" },
		{ HEAD "node 0xa switch 4 \"x\"\nlink 0xa 1 0xb 1 4xEDR\n", "no such node or port" },
		{ HEAD "node 0xa switch 4 \"x\"\nlink 0xa 1 0xa 5 4xEDR\n", "no such node or port" },
		{ HEAD "node 0xa switch 4 \"x\"\nlink 0xa 1 0xa 1 4xEDR\n", "no such node or port" },
		{ HEAD NODES "link 0xa 1 0xb 1 -\nlink 0xa 1 0xb 2 -\n", "two cables" },
		{ "[1] \"S-1\"[1]\n", "before any node" },
		{ "Switch 4 \"S-a\" # \"x\"\n[1] \"S-zz\"[1]\n", "line 2" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_fabric fabric;
		struct rd_err err = { 0 };

		assert_int_equal(rd_topology_parse("t", cases[i].text, strlen(cases[i].text), &fabric, &err), -EBADMSG);
		if (!strstr(err.message, cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.message, cases[i].says);
	}
}

TEST(hosts_are_the_first_words_of_a_list)
{
	static const char text[] = "# hosts\n n1 slots=8\n\nn2.cluster.example#x\r\nn3";
	struct rd_err err = { 0 };
	_cleanup_(rd_texts_deinit) struct rd_texts names = { 0 }, none = { 0 };

	assert_int_equal(rd_hostfile_parse("t", text, strlen(text), &names, &err), 0);
	assert_int_equal(names.n, 3);
	ASSERT_EACH(READS(names.v[0], "n1"), READS(names.v[1], "n2.cluster.example"), READS(names.v[2], "n3"));
	assert_int_equal(rd_hostfile_parse("t", "node[1-3]\n", 10, &none, &err), -EBADMSG);
	assert_non_null(strstr(err.message, "line 1"));
	assert_int_equal(rd_hostfile_parse("t", "# none\n", 7, &none, &err), -ENODATA);
}

/* The findings about `now` held against PLAN, as "id subject; …" without the GUIDs. */
static void check_compare(const char *now_text, const char *const *expected)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_fabric plan, now;
	size_t n = 0;

	fabric_from_text(PLAN, &plan);
	fabric_from_text(now_text, &now);
	rd_fabric_compare(&plan, &now, &findings);
	for (; expected[n]; n++) {
		char said[256] = "nothing";

		if (n < findings.n)
			snprintf(said, sizeof(said), "%s|%s|%s", findings.v[n].id, findings.v[n].subject,
				 findings.v[n].observed);
		assert_string_equal(said, expected[n]);
	}
	if (findings.n > n)
		fail_msg("too much: %s %s", findings.v[n].id, findings.v[n].subject);
	rd_fabric_deinit(&plan);
	rd_fabric_deinit(&now);
}

#define SAYS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(a_fabric_as_planned_is_silent)
{
	check_compare(PLAN, (const char *const[]){ NULL });
	/* Of another network. */
	check_compare(HEAD "node 0x77 switch 4 \"other\"\nnode 0x78 ca 1 \"h9\"\nlink 0x77 1 0x78 1 4xEDR\n",
		      SAYS("fabric-compare-unknown|saved topology|0 of its 5 nodes are among the 2 that were found"));
}

TEST(a_missing_an_extra_and_a_moved_cable_are_told_apart)
{
	check_compare(HEAD NODES "link 0xa 1 0xb 1 4xEDR\nlink 0xa 2 0x1 1 4xEDR\nlink 0xa 3 0x2 1 4xEDR\n"
				 "link 0xb 2 0x3 1 4xEDR\n",
		      SAYS("fabric-cable-missing|sw a (0x000000000000000a) port 4|nothing"));
	/* One end moved: h1 from a2 to b4. */
	check_compare(HEAD NODES "link 0xa 1 0xb 1 4xEDR\nlink 0xb 4 0x1 1 4xEDR\nlink 0xa 3 0x2 1 4xEDR\n"
				 "link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0xb 3 4xEDR\n",
		      SAYS("fabric-cable-moved|h1 mlx5_0 (0x0000000000000001) port 1|sw b (0x000000000000000b) port 4"));
	/* Swapped: h1 and h2. */
	check_compare(HEAD NODES "link 0xa 1 0xb 1 4xEDR\nlink 0xa 3 0x1 1 4xEDR\nlink 0xa 2 0x2 1 4xEDR\n"
				 "link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0xb 3 4xEDR\n",
		      SAYS("fabric-cable-moved|h1 mlx5_0 (0x0000000000000001) port 1|sw a (0x000000000000000a) port 3",
			   "fabric-cable-moved|h2 mlx5_0 (0x0000000000000002) port 1|sw a (0x000000000000000a) port 2"));
	/* The first cable between the switches is in the place of the second, which is unplugged. */
	check_compare(HEAD NODES "link 0xa 1 0xb 3 4xEDR\nlink 0xa 2 0x1 1 4xEDR\nlink 0xa 3 0x2 1 4xEDR\n"
				 "link 0xb 2 0x3 1 4xEDR\n",
		      SAYS("fabric-cable-moved|sw a (0x000000000000000a) port 1|sw b (0x000000000000000b) port 3",
			   "fabric-cable-missing|sw a (0x000000000000000a) port 4|nothing"));
	check_compare(PLAN "node 0x4 ca 1 \"h4\"\nlink 0xb 4 0x4 1 4xEDR\n",
		      SAYS("fabric-node-extra|h4 (0x0000000000000004)|found"));
}

TEST(a_missing_node_is_named_once_and_a_swapped_one_as_replaced)
{
	check_compare(HEAD "node 0xa switch 4 \"sw a\"\nnode 0xb switch 4 \"sw b\"\nnode 0x1 ca 1 \"h1 mlx5_0\"\n"
			   "node 0x3 ca 1 \"h3 mlx5_0\"\nlink 0xa 1 0xb 1 4xEDR\nlink 0xa 2 0x1 1 4xEDR\n"
			   "link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0xb 3 4xEDR\n",
		      SAYS("fabric-node-missing|h2 mlx5_0 (0x0000000000000002)|not found"));
	check_compare(HEAD "node 0xa switch 4 \"sw a\"\nnode 0xb switch 4 \"sw b\"\nnode 0x1 ca 1 \"h1 mlx5_0\"\n"
			   "node 0x22 ca 1 \"h2 mlx5_0\"\nnode 0x3 ca 1 \"h3 mlx5_0\"\n"
			   "link 0xa 1 0xb 1 4xEDR\nlink 0xa 2 0x1 1 4xEDR\nlink 0xa 3 0x22 1 4xEDR\n"
			   "link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0xb 3 4xEDR\n",
		      SAYS("fabric-node-replaced|h2 mlx5_0 (0x0000000000000002)|h2 mlx5_0 (0x0000000000000022)"));
}

/* Who disabled a port knows why its link is down. */
TEST(a_disabled_port_is_named)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_fabric plan, now;

	fabric_from_text(PLAN, &plan);
	fabric_from_text(HEAD "node 0xa switch 4 \"sw a\"\nnode 0xb switch 4 \"sw b\"\nnode 0x1 ca 1 \"h1 mlx5_0\"\n"
			      "node 0x3 ca 1 \"h3 mlx5_0\"\nlink 0xa 1 0xb 1 4xEDR\nlink 0xa 2 0x1 1 4xEDR\n"
			      "link 0xb 2 0x3 1 4xEDR\n",
			 &now);
	now.ports[fabric_port_at(&now, 0xa, 3)].physical_state = RD_PHYSICAL_DISABLED;
	now.ports[fabric_port_at(&now, 0xb, 3)].physical_state = RD_PHYSICAL_DISABLED;
	rd_fabric_compare(&plan, &now, &findings);
	assert_int_equal(findings.n, 2);
	assert_string_equal(findings.v[0].observed, "not found, and sw a (0x000000000000000a) port 3 is disabled");
	assert_string_equal(findings.v[1].title, "link of the saved topology is disabled");
	now.ports[fabric_port_at(&now, 0xa, 3)].physical_state = 2;
	now.ports[fabric_port_at(&now, 0xb, 3)].physical_state = 2;
	rd_findings_deinit(&findings);
	rd_fabric_compare(&plan, &now, &findings);
	assert_string_equal(findings.v[0].observed, "not found");
	assert_string_equal(findings.v[1].title, "cable in the saved topology is missing or its link is down");
	rd_fabric_deinit(&plan);
	rd_fabric_deinit(&now);
}

/* A part of the network with switches behind one another: the one at the border is the cause, whatever its place in the file. */
TEST(what_is_behind_a_missing_switch_is_its_consequence)
{
	static const char here[] = HEAD "node 0xa switch 4 \"here\"\nnode 0x1 ca 1 \"h1\"\nlink 0xa 1 0x1 1 4xEDR\n";
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_fabric plan, now;
	_cleanup_free_ char *whole = rd_text(
		"%snode 0x5 switch 4 \"leaf 1\"\nnode 0x6 switch 4 \"leaf 2\"\nnode 0xf switch 4 \"border\"\n"
		"node 0x11 ca 1 \"g1\"\nnode 0x12 ca 1 \"g2\"\nnode 0x13 router 2 \"r\"\nlink 0xa 2 0xf 1 4xEDR\n"
		"link 0xf 2 0x5 1 4xEDR\nlink 0xf 3 0x6 1 4xEDR\nlink 0x5 2 0x11 1 4xEDR\nlink 0x6 2 0x12 1 4xEDR\n"
		"link 0xa 3 0x13 1 4xEDR\n",
		here);

	fabric_from_text(whole, &plan);
	fabric_from_text(here, &now);
	rd_fabric_compare(&plan, &now, &findings);
	rd_fabric_rank(&findings);
	assert_int_equal(findings.n, 6);
	assert_string_equal(findings.v[0].subject, "border (0x000000000000000f)");
	assert_string_equal(findings.v[0].observed, "not found, and with it 2 switches and 2 adapters behind it");
	ASSERT_EACH(READS(findings.v[1].expected, "a router"), IS(rd_finding_stands(&findings.v[1]), true));
	for (size_t i = 2; i < 6; i++)
		assert_true(rd_finding_is_caused_by(&findings.v[i], &findings.v[0]));
	rd_fabric_deinit(&plan);
	rd_fabric_deinit(&now);
}

/* Adapters whose only link was to it are its consequence; one with another link, and one elsewhere, are not. */
TEST(adapters_of_a_missing_switch_are_its_consequence)
{
	static const char plan_text[] = HEAD NODES
		"node 0x4 ca 2 \"h4\"\nlink 0xa 1 0xb 1 4xEDR\nlink 0xa 2 0x1 1 4xEDR\nlink 0xa 3 0x2 1 4xEDR\n"
		"link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0x4 1 4xEDR\nlink 0xb 4 0x4 2 4xEDR\n";
	static const char now_text[] = HEAD "node 0xa switch 4 \"sw a\"\nnode 0x1 ca 1 \"h1 mlx5_0\"\n"
					    "link 0xa 2 0x1 1 4xEDR\n";
	struct rd_findings findings = { 0 };
	struct rd_fabric plan, now;
	size_t standing = 0;

	fabric_from_text(plan_text, &plan);
	fabric_from_text(now_text, &now);
	rd_fabric_compare(&plan, &now, &findings);
	assert_int_equal(findings.n, 4);
	assert_string_equal(findings.v[0].subject, "sw b (0x000000000000000b)");
	assert_string_equal(findings.v[0].observed, "not found, and with it 1 adapter without another link");
	for (size_t i = 0; i < findings.n; i++) {
		standing += rd_finding_stands(&findings.v[i]);
		if (strncmp(findings.v[i].subject, "h3", 2) == 0)
			assert_true(rd_finding_is_caused_by(&findings.v[i], &findings.v[0]));
	}
	assert_int_equal(standing, 3); /* the switch, h2 and h4 */
	rd_findings_deinit(&findings);
	/* What the judge found gone is not reported again. */
	rd_finding_add(&findings, &(struct rd_finding){ .id = "fabric-node-gone",
							.title = "gone",
							.severity = RD_SEV_CRITICAL,
							.subject = strdup("sw b (0x000000000000000b)") });
	rd_fabric_compare(&plan, &now, &findings);
	standing = 0;
	for (size_t i = 0; i < findings.n; i++)
		standing += rd_finding_stands(&findings.v[i]);
	ASSERT_EACH(IS(findings.n, 5), IS(standing, 3));
	rd_findings_deinit(&findings);
	rd_fabric_deinit(&plan);
	rd_fabric_deinit(&now);
}

TEST(a_link_slower_than_planned_is_named)
{
	check_compare(HEAD NODES "link 0xa 1 0xb 1 1xEDR\nlink 0xa 2 0x1 1 4xEDR\nlink 0xa 3 0x2 1 4xEDR\n"
				 "link 0xb 2 0x3 1 4xEDR\nlink 0xa 4 0xb 3 4xEDR\n",
		      SAYS("fabric-link-slower|sw a (0x000000000000000a) port 1|1xEDR"));
}
