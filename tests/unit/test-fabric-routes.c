/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"
#include "fabric-text.h"

#define LEAF(i) (0x20000u + (i))
#define SPINE(i) (0x10000u + (i))
#define HOST(leaf, i) (0x1000000u + (leaf)*256 + (i))
#define LEAVES 3
#define SPINES 2
#define DOWN 4 /* hosts of a leaf; its port DOWN + 1 + I leads to spine I, whose port 1 + L leads to leaf L */
#define LID_OF(leaf, i) (100 + (leaf)*DOWN + (i))

struct net {
	struct rd_fabric fabric;
	struct rd_routes routes;
	struct rd_routes_verdict verdict;
	struct rd_findings findings;
	struct rd_path path;
};

static size_t node_at(const struct net *net, uint64_t guid)
{
	size_t node = rd_fabric_find_node(&net->fabric, guid);

	assert_true(node != RD_NONE);
	return node;
}

static void set_lid(struct net *net, uint64_t guid, uint16_t lid)
{
	for (size_t i = 0; i < net->fabric.n_ports; i++)
		if (net->fabric.nodes[net->fabric.ports[i].node].guid == guid)
			net->fabric.ports[i].lid = lid;
}

static void set_entry(struct net *net, uint64_t guid, uint16_t lid, unsigned egress)
{
	rd_routes_block(&net->routes, node_at(net, guid), lid / RD_ROUTE_BLOCK)[lid % RD_ROUTE_BLOCK] = (uint8_t)egress;
}

/* Tables of all switches, all entries 255. */
static void make_tables(struct net *net, uint16_t top)
{
	rd_routes_init(&net->fabric, &net->routes);
	for (size_t i = 0; i < net->fabric.n_nodes; i++) {
		if (net->fabric.nodes[i].kind != RD_NODE_SWITCH)
			continue;
		RD_SET(net->routes.tables[i].top, top);
		for (size_t block = 0; block <= top / RD_ROUTE_BLOCK; block++)
			memset(rd_routes_block(&net->routes, i, block), RD_ROUTE_NONE, RD_ROUTE_BLOCK);
	}
}

/* The spine of a host's LID: those of a leaf alternate. */
static void set_up(struct net *net)
{
	fabric_from_tree(LEAVES, SPINES, DOWN, &net->fabric);
	for (unsigned i = 0; i < LEAVES; i++)
		set_lid(net, LEAF(i), (uint16_t)(1 + i));
	for (unsigned i = 0; i < SPINES; i++)
		set_lid(net, SPINE(i), (uint16_t)(50 + i));
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (unsigned i = 0; i < DOWN; i++)
			set_lid(net, HOST(leaf, i), LID_OF(leaf, i));
	make_tables(net, 200);
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (unsigned i = 0; i < DOWN; i++) {
			for (unsigned other = 0; other < LEAVES; other++)
				set_entry(net, LEAF(other), LID_OF(leaf, i),
					  other == leaf ? i + 1 : DOWN + 1 + i % SPINES);
			for (unsigned spine = 0; spine < SPINES; spine++)
				set_entry(net, SPINE(spine), LID_OF(leaf, i), leaf + 1);
		}
}

static void clear(struct net *net)
{
	rd_path_deinit(&net->path);
	rd_routes_verdict_deinit(&net->verdict);
	rd_findings_deinit(&net->findings);
}

static void tear_down(struct net *net)
{
	clear(net);
	rd_routes_deinit(&net->routes);
	rd_fabric_deinit(&net->fabric);
}

static struct rd_fabric_port *port_at(struct net *net, uint64_t guid, unsigned number)
{
	return &net->fabric.ports[fabric_port_at(&net->fabric, guid, number)];
}

/* The way from host 0-0 to host 1-2, as "node:in>out node…". */
static const char *way(struct net *net)
{
	static char text[512];
	size_t from = fabric_port_at(&net->fabric, HOST(0, 0), 1), to = fabric_port_at(&net->fabric, HOST(1, 2), 1),
	       n = 0;

	clear(net);
	rd_path_find(&net->fabric, &net->routes, from, to, LID_OF(1, 2), &net->path);
	rd_path_judge(&net->fabric, &net->path, &net->findings);
	for (size_t i = 0; i < net->path.n; i++) {
		const struct rd_path_hop *hop = &net->path.hops[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%d>%d", i ? " " : "",
				      net->fabric.nodes[hop->node].description,
				      hop->in == RD_NONE ? -1 : (int)net->fabric.ports[hop->in].number,
				      hop->out == RD_NONE ? -1 : (int)net->fabric.ports[hop->out].number);
	}
	return text;
}

/* The number of findings. */
static size_t judge(struct net *net)
{
	clear(net);
	rd_routes_judge(&net->fabric, &net->routes, &net->verdict, &net->findings);
	return net->findings.n;
}

static void assert_finding(const struct net *net, const char *id, const char *subject, const char *observed)
{
	assert_int_equal(net->findings.n, 1);
	ASSERT_EACH(READS(net->findings.v[0].id, id), READS(net->findings.v[0].subject, subject),
		    READS(net->findings.v[0].observed, observed));
}

#define NET_TEST(name) TEST_BEGUN(name, struct net, net, set_up, tear_down)

NET_TEST(sound_tables_route_each_pair)
{
	struct rd_path back;

	assert_string_equal(way(net), "host0-0 HCA-1:-1>1 leaf0:1>5 spine0:1>2 leaf1:5>3 host1-2 HCA-1:1>-1");
	ASSERT_EACH(IS(net->path.end, RD_ROUTE_ARRIVES), IS(rd_path_fault(&net->fabric, &net->path) == NULL, true));
	rd_path_find(&net->fabric, &net->routes, net->path.to, fabric_port_at(&net->fabric, HOST(0, 0), 1),
		     LID_OF(0, 0), &back);
	assert_true(rd_path_is_reverse(&net->path, &back));
	rd_path_deinit(&back);
	rd_path_find(&net->fabric, &net->routes, net->path.to, fabric_port_at(&net->fabric, HOST(0, 1), 1),
		     LID_OF(0, 1), &back);
	assert_false(rd_path_is_reverse(&net->path, &back));
	rd_path_deinit(&back);
	assert_int_equal(judge(net), 0);
	ASSERT_EACH(IS(net->verdict.pairs, 12 * 11), IS(net->verdict.by_end[RD_ROUTE_ARRIVES], 12 * 11));
	assert_int_equal(net->verdict.n, LEAVES); /* the uplinks of each leaf */
	ASSERT_EACH(IS(net->verdict.groups[0].lids, 8), IS(net->verdict.groups[0].most, 4));
}

NET_TEST(a_missing_entry_is_named_at_its_switch)
{
	char *fault;

	set_entry(net, SPINE(0), LID_OF(1, 2), RD_ROUTE_NONE);
	assert_string_equal(way(net), "host0-0 HCA-1:-1>1 leaf0:1>5 spine0:1>-1");
	assert_finding(net, "fabric-route-missing", "spine0", "LID 106 (host1-2 HCA-1 port 1): table entry 255");
	assert_int_equal(net->findings.v[0].severity, RD_SEV_CRITICAL);
	fault = rd_path_fault(&net->fabric, &net->path);
	assert_string_equal(fault, "no route at spine0 for LID 106");
	free(fault);
	judge(net);
	assert_finding(net, "fabric-route-missing", "spine0",
		       "LID 106 (host1-2 HCA-1 port 1): table entry 255; 1 LID, 8 of 132 pairs of adapters");
	assert_int_equal(net->verdict.by_end[RD_ROUTE_MISSING], 8);
	set_entry(net, SPINE(0), LID_OF(1, 0), 0);
	judge(net);
	assert_finding(net, "fabric-route-missing", "spine0",
		       "2 LIDs, 16 of 132 pairs of adapters; for example LID 104 (host1-0 HCA-1 port 1): table entry 0");
	/* No port of the switch. */
	set_entry(net, SPINE(0), LID_OF(1, 2), 99);
	way(net);
	assert_finding(net, "fabric-route-missing", "spine0", "LID 106 (host1-2 HCA-1 port 1): table entry 99");
}

NET_TEST(beyond_the_end_of_a_table_is_no_route)
{
	RD_SET(net->routes.tables[node_at(net, LEAF(0))].top, LID_OF(1, 2) - 1);
	ASSERT_EACH(READS(way(net), "host0-0 HCA-1:-1>1 leaf0:1>-1"), IS(net->path.end, RD_ROUTE_MISSING));
}

NET_TEST(a_loop_ends_and_is_one_finding)
{
	set_entry(net, SPINE(0), LID_OF(1, 2), 3); /* to leaf2, which sends it to spine0 */
	assert_string_equal(way(net), "host0-0 HCA-1:-1>1 leaf0:1>5 spine0:1>3 leaf2:5>5 spine0:3>-1");
	assert_finding(net, "fabric-route-loop", "spine0",
		       "LID 106 (host1-2 HCA-1 port 1): spine0 port 3 -> leaf2 port 5 -> spine0");
	judge(net);
	assert_finding(
		net, "fabric-route-loop", "spine0",
		"LID 106 (host1-2 HCA-1 port 1): spine0 port 3 -> leaf2 port 5 -> spine0; 1 LID, 8 of 132 pairs of "
		"adapters");
}

/* Sources that come to it elsewhere name it by the same switch. */
NET_TEST(a_loop_has_one_name)
{
	set_entry(net, LEAF(2), LID_OF(0, 1), DOWN + 1);
	set_entry(net, SPINE(0), LID_OF(0, 1), 3); /* back to leaf2 */
	assert_int_equal(judge(net), 1);
	ASSERT_EACH(READS(net->findings.v[0].id, "fabric-route-loop"), READS(net->findings.v[0].subject, "spine0"));
	assert_int_equal(net->verdict.by_end[RD_ROUTE_LOOPS], DOWN);
}

NET_TEST(a_port_that_is_down_ends_the_route)
{
	struct rd_fabric_port *port = port_at(net, LEAF(0), DOWN + 1);

	port->state = RD_LINK_DOWN;
	port->peer = RD_NONE;
	way(net);
	assert_finding(net, "fabric-route-dead-end", "leaf0 port 5",
		       "LID 106 (host1-2 HCA-1 port 1): route for LID 106 leaves leaf0 through port 5, which is DOWN");
	/* Up, but its neighbour was not discovered: it may be well. */
	port->state = RD_LINK_ACTIVE;
	way(net);
	assert_int_equal(net->path.end, RD_ROUTE_UNKNOWN);
	port->state = RD_LINK_DOWN; /* as of an earlier discovery */
	port->unread = true;
	way(net);
	ASSERT_EACH(IS(net->path.end, RD_ROUTE_UNKNOWN), IS(net->findings.v[0].severity, RD_SEV_UNKNOWN));
}

NET_TEST(a_route_to_another_adapter_goes_astray)
{
	set_entry(net, LEAF(1), LID_OF(1, 2), 1);
	assert_string_equal(way(net), "host0-0 HCA-1:-1>1 leaf0:1>5 spine0:1>2 leaf1:5>1 host1-0 HCA-1:1>-1");
	assert_string_equal(net->findings.v[0].id, "fabric-route-astray");
	assert_int_equal(judge(net), 1);
	ASSERT_EACH(READS(net->findings.v[0].id, "fabric-route-astray"), READS(net->findings.v[0].subject, "leaf1"));
	assert_int_equal(net->verdict.by_end[RD_ROUTE_ASTRAY], 11);
}

NET_TEST(a_table_that_was_not_read_is_unknown)
{
	struct rd_route_table *table = &net->routes.tables[node_at(net, SPINE(0))];

	table->top.known = RD_ABSENT;
	table->partial = true;
	way(net);
	assert_finding(
		net, "fabric-route-unread", "spine0",
		"LID 106 (host1-2 HCA-1 port 1): route for LID 106 is unknown from spine0 on: its forwarding table was "
		"not read");
	assert_int_equal(net->findings.v[0].severity, RD_SEV_UNKNOWN);
	assert_int_equal(judge(net), 1);
	assert_string_equal(net->findings.v[0].id, "fabric-route-unread");
	assert_int_equal(net->verdict.by_end[RD_ROUTE_UNKNOWN], 48); /* 6 LIDs from 8 hosts of other leaves */
	assert_int_equal(net->verdict.by_end[RD_ROUTE_ARRIVES], 132 - 48);
}

/* With an M_Key no table can be read: that is one fact, not one for each switch. */
NET_TEST(many_switches_with_one_fault_are_few_findings)
{
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		net->routes.tables[node_at(net, LEAF(leaf))].top.known = RD_ABSENT;
	assert_int_equal(judge(net), 1);
	assert_non_null(strstr(net->findings.v[0].observed, "; 2 more switches"));
	assert_int_equal(net->verdict.by_end[RD_ROUTE_UNKNOWN], 132);
}

/* An adapter that the subnet manager has not configured yet is no destination. */
NET_TEST(what_is_not_active_takes_no_part)
{
	port_at(net, HOST(1, 2), 1)->state = RD_LINK_INIT;
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		set_entry(net, LEAF(leaf), LID_OF(1, 2), RD_ROUTE_NONE);
	assert_int_equal(judge(net), 0);
	assert_int_equal(net->verdict.pairs, 11 * 10);
}

NET_TEST(each_lid_of_a_port_has_its_route)
{
	struct rd_fabric_port *port = port_at(net, HOST(2, 3), 1);

	rd_routes_deinit(&net->routes);
	set_lid(net, HOST(2, 3), 120);
	port->lmc = 1; /* 120, 121 */
	make_tables(net, 200);
	assert_int_equal(net->routes.owners[121], (size_t)(port - net->fabric.ports));
	assert_true(net->routes.owners[122] == RD_NONE);
}

/* All LIDs of other leaves leave through one of two uplinks. */
NET_TEST(uneven_uplinks_are_a_note)
{
	for (unsigned leaf = 1; leaf < LEAVES; leaf++)
		for (unsigned i = 0; i < DOWN; i++)
			set_entry(net, LEAF(0), LID_OF(leaf, i), DOWN + 1);
	judge(net);
	assert_finding(net, "fabric-route-uneven", "leaf0 port 5, to spine0 port 1",
		       "leaf0 port 5 carries 8 LIDs, the mean of 2 links is 4.0");
	ASSERT_EACH(IS(net->findings.v[0].severity, RD_SEV_NOTE), IS(net->verdict.by_end[RD_ROUTE_ARRIVES], 132));
}

/* Three hosts cannot be spread over many links, and the direction in a ring is given by the destination. */
NET_TEST(what_cannot_be_even_is_not_uneven)
{
	struct rd_buf text = { 0 };

	rd_routes_deinit(&net->routes);
	rd_fabric_deinit(&net->fabric);
	rd_buf_str(&text, RD_TOPOLOGY_MAGIC "\n");
	for (unsigned i = 0; i < 3; i++)
		rd_buf_printf(&text, "node 0x%x switch 40 \"s%u\"\n", 0xa0 + i, i);
	for (unsigned link = 0; link < 8; link++)
		rd_buf_printf(&text, "link 0xa0 %u 0xa1 %u 4xHDR\n", 31 + link, 31 + link);
	rd_buf_str(&text, "link 0xa1 30 0xa2 30 4xHDR\n");
	for (unsigned i = 0; i < 20; i++)
		rd_buf_printf(&text, "node 0x%x ca 1 \"h%u\"\nlink 0x%x %u 0x%x 1 4xHDR\n", 0x100 + i, i,
			      i < 8  ? 0xa0 :
			      i < 11 ? 0xa1 :
				       0xa2,
			      i + 1, 0x100 + i);
	net->fabric = (struct rd_fabric){ 0 };
	fabric_from_text(text.data, &net->fabric);
	free(text.data);
	for (unsigned i = 0; i < 20; i++)
		set_lid(net, 0x100 + i, (uint16_t)(1 + i));
	make_tables(net, 63);
	for (unsigned i = 0; i < 20; i++) {
		set_entry(net, 0xa0, (uint16_t)(1 + i), i < 8 ? i + 1 : 31 + i % 8);
		set_entry(net, 0xa1, (uint16_t)(1 + i), i < 8 ? 31 + i : i < 11 ? i + 1 : 30);
		set_entry(net, 0xa2, (uint16_t)(1 + i), i < 11 ? 30 : i + 1);
	}
	judge(net);
	ASSERT_EACH(IS(net->verdict.by_end[RD_ROUTE_ARRIVES], 20 * 19), IS(net->findings.n, 0));
	/* Of 12 LIDs over 8 parallel links half over one: uneven. */
	for (unsigned i = 8; i < 14; i++)
		set_entry(net, 0xa0, (uint16_t)(1 + i), 31);
	assert_int_equal(judge(net), 1);
	assert_string_equal(net->findings.v[0].id, "fabric-route-uneven");
}

static size_t found(struct net *net, const char *text, uint64_t guid)
{
	size_t *ports, n = rd_fabric_find_ports(&net->fabric, text, 3, &ports);

	if (n && guid && net->fabric.nodes[net->fabric.ports[ports[0]].node].guid != guid)
		fail_msg("'%s' found another node", text);
	free(ports);
	return n;
}

static void rename_node(struct net *net, uint64_t guid, const char *name)
{
	struct rd_fabric_node *node = &net->fabric.nodes[node_at(net, guid)];

	free(node->description);
	node->description = rd_dup(name);
}

NET_TEST(ports_are_found_by_name_guid_and_lid)
{
	ASSERT_EACH(IS(found(net, "host1-2 HCA-1", HOST(1, 2)), 1), IS(found(net, "host1-2", HOST(1, 2)), 1),
		    IS(found(net, "host1-2/1", HOST(1, 2)), 1), IS(found(net, "host1-2/2", 0), 0),
		    IS(found(net, "host1-", 0), DOWN), IS(found(net, "host2-3 H", HOST(2, 3)), 1),
		    IS(found(net, "leaf0", LEAF(0)), 1), IS(found(net, "0x20001", LEAF(1)), 1),
		    IS(found(net, "0x1000102", HOST(1, 2)), 1), IS(found(net, "106", HOST(1, 2)), 1),
		    IS(found(net, "2", LEAF(1)), 1), IS(found(net, "9999999", 0), 0), IS(found(net, "nothing", 0), 0),
		    IS(found(net, "", 0), LEAVES + SPINES + LEAVES * DOWN));
	port_at(net, HOST(1, 2), 1)->guid = 0xabcdef;
	assert_int_equal(found(net, "0xabcdef", HOST(1, 2)), 1);
	/* A host whose name begins like another's. */
	free(net->fabric.nodes[node_at(net, HOST(2, 0))].description);
	net->fabric.nodes[node_at(net, HOST(2, 0))].description = strdup("host1-22 HCA-1");
	assert_int_equal(found(net, "host1-2", HOST(1, 2)), 1);
	/* Names that are numbers: the LID of another node, or of none. */
	set_lid(net, HOST(1, 2), 4000);
	rename_node(net, HOST(2, 3), "4000");
	ASSERT_EACH(IS(found(net, "4000", 0), 2), IS(found(net, "400", 0), 0));
	rename_node(net, HOST(2, 3), "0x1234");
	ASSERT_EACH(IS(found(net, "4000", HOST(1, 2)), 1), IS(found(net, "0x1234", HOST(2, 3)), 1));
}

/* Two leaves with two cables each to one spine, and an adapter with a port at each leaf. */
NET_TEST(parallel_links_that_are_all_uplinks_are_one_group)
{
	static const char text[] = RD_TOPOLOGY_MAGIC
		"\nnode 0xa switch 8 \"a\"\nnode 0xb switch 8 \"b\"\nnode 0xc switch 8 \"c\"\n"
		"node 0x1 ca 2 \"dual\"\nlink 0xa 1 0x1 1 4xHDR\nlink 0xb 1 0x1 2 4xHDR\n"
		"link 0xa 7 0xc 1 4xHDR\nlink 0xa 8 0xc 2 4xHDR\n"
		"link 0xb 7 0xc 3 4xHDR\nlink 0xb 8 0xc 4 4xHDR\n";
	struct rd_fabric_port *second;

	rd_routes_deinit(&net->routes);
	rd_fabric_deinit(&net->fabric);
	net->fabric = (struct rd_fabric){ 0 };
	fabric_from_text(text, &net->fabric);
	port_at(net, 1, 1)->lid = 1;
	second = port_at(net, 1, 2);
	second->lid = 2;
	make_tables(net, 63);
	set_entry(net, 0xa, 1, 1);
	set_entry(net, 0xb, 2, 1);
	set_entry(net, 0xa, 2, 7);
	set_entry(net, 0xb, 1, 7);
	set_entry(net, 0xc, 1, 1);
	set_entry(net, 0xc, 2, 3);
	judge(net);
	ASSERT_EACH(IS(net->verdict.pairs, 2), IS(net->verdict.by_end[RD_ROUTE_ARRIVES], 2));
	assert_int_equal(net->verdict.n, 4); /* of each leaf one, of the spine one to each leaf */
	ASSERT_EACH(IS(found(net, "dual", 1), 2), IS(found(net, "dual/2", 1), 1));
	second->peer = RD_NONE;
	second->lid = 0;
	assert_int_equal(found(net, "dual", 1), 1);
}

NET_TEST(a_path_is_judged_alone)
{
	const struct rd_path *paths[] = { &net->path };
	struct rd_fabric_limits limits;
	struct rd_fabric part;

	rd_fabric_limits_init(&limits);
	port_at(net, LEAF(0), DOWN + 1)->state = RD_LINK_ARMED;
	port_at(net, LEAF(2), DOWN + 1)->state = RD_LINK_ARMED; /* not on it */
	way(net);
	rd_path_part(&net->fabric, paths, 1, &part);
	ASSERT_EACH(IS(part.n_nodes, 5), IS(part.n_ports, 8));
	for (size_t i = 0; i < part.n_ports; i++)
		assert_true(part.ports[part.ports[i].peer].peer == i);
	rd_fabric_judge(&part, &limits, NULL, &net->findings);
	rd_path_free_part(&part);
	assert_finding(net, "fabric-link-inactive", "leaf0 port 5, to spine0 port 1", "ARMED");
}
