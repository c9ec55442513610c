/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network: counters under their names, what is fresh and what is not, what became of ports. */
#include "fake-mads.h"
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"

#include <limits.h>

#define SWITCH_GUID 0x1005
#define SWITCH_LID 5

/* A switch with three ports at LID 5, hosts of one port at 6, 7 and 8, each at a cable of the switch. */
static void build(struct rd_fabric *fabric, uint64_t attributes)
{
	static const unsigned hosts[] = { 6, 7, 8 };

	*fabric = (struct rd_fabric){ .self = RD_NONE, .attributes = attributes };
	fabric->n_values = rd_pma_n_values(attributes);
	assert_non_null(rd_fabric_add_node(fabric, SWITCH_GUID, RD_NODE_SWITCH, 3, "leaf"));
	for (size_t i = 0; i < 3; i++)
		assert_non_null(rd_fabric_add_node(fabric, 0x1000 + hosts[i], RD_NODE_CA, 1, "host"));
	rd_fabric_sort_nodes(fabric);
	for (size_t i = 0; i < 3; i++) {
		rd_fabric_add_port(fabric, SWITCH_GUID, (unsigned)i + 1)->lid = SWITCH_LID;
		rd_fabric_add_port(fabric, 0x1000 + hosts[i], 1)->lid = (uint16_t)hosts[i];
	}
	rd_fabric_sort_ports(fabric);
	for (size_t i = 0; i < 3; i++) {
		size_t here = rd_fabric_find_port(fabric, SWITCH_GUID, (unsigned)i + 1);
		size_t there = rd_fabric_find_port(fabric, 0x1000 + hosts[i], 1);

		fabric->ports[here].peer = there;
		fabric->ports[there].peer = here;
	}
	for (size_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].selected = true;
		fabric->ports[i].state = RD_LINK_ACTIVE;
	}
}

static const struct rd_fabric_port *port_at(const struct rd_fabric *fabric, uint64_t guid, unsigned number)
{
	size_t at = rd_fabric_find_port(fabric, guid, number);

	assert_true(at != RD_NONE);
	return &fabric->ports[at];
}

static uint64_t attributes(const char *list)
{
	uint64_t mask = 0;

	assert_int_equal(rd_pma_subsets(list, &mask, NULL), 0);
	return mask;
}

struct net {
	struct fake_mads fake;
	struct rd_fabric fabric;
};

static void begin(struct net *net)
{
	fake_mads_init(&net->fake);
}

static void end(struct net *net)
{
	rd_fabric_deinit(&net->fabric);
	fake_mads_deinit(&net->fake);
}

#define NET_TEST(name) TEST_BEGUN(name, struct net, net, begin, end)

static void sweep(struct fake_mads *fake, struct rd_fabric *fabric, bool verify)
{
	struct rd_sweep_limits limits = RD_SWEEP_LIMITS_DEFAULT;

	assert_int_equal(rd_fabric_sweep(&fake->mads, &limits, verify, fabric, NULL), 0);
}

/* Of every field, libibmad's width and ours, and the names that the specification gives them. */
TEST(widths_are_those_of_the_attributes)
{
	struct rd_fabric_node node = { .kind = RD_NODE_SWITCH };
	uint8_t mad[RD_MAD_SIZE];
	size_t all = rd_pma_n_values(attributes("all"));

	assert_int_equal(all, RD_PMA_COUNTERS);
	memset(mad, 0xff, sizeof(mad));
	RD_SET(node.capability, 0xffff);
	RD_SET(node.capability2, UINT32_MAX);
	for (size_t i = 0; i < rd_pma_n_attributes; i++) {
		struct rd_pma_value values[300] = { 0 };
		size_t n = 0;

		rd_pma_decode(i, mad, &node, values, all);
		for (size_t k = 0; k < all; k++) {
			if (!values[k].bits)
				continue;
			n++;
			assert_true(values[k].v ==
				    (values[k].bits == 64 ? UINT64_MAX : (UINT64_C(1) << values[k].bits) - 1));
			assert_int_equal(rd_pma_saturated(&values[k]), values[k].bits < 64);
		}
		assert_true(n > 0);
	}
	for (size_t i = 0; i < RD_PMA_COUNTERS; i++)
		assert_true(rd_pma_counters[i].name && rd_pma_find_counter(rd_pma_counters[i].name) == i);
}

TEST(names_are_those_of_their_fields)
{
	static const struct {
		size_t counter;
		enum MAD_FIELDS field;
	} same[] = {
		{ RD_C_SYMBOL_ERROR, IB_PC_ERR_SYM_F },
		{ RD_C_EXCESSIVE_BUFFER_OVERRUN_ERRORS, IB_PC_ERR_EXCESS_OVR_F },
		{ RD_C_XMIT_WAIT, IB_PC_XMT_WAIT_F },
		{ RD_C_RCV_PKTS, IB_PC_RCV_PKTS_F },
		{ RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS, IB_PC_XMT_SW_HOL_DISC_F },
		{ RD_C_LOOPING_ERRORS, IB_PC_RCV_LOOPING_ERR_F },
		{ RD_C_VL_OP_DATA_0 + 15, IB_PC_PORT_VL_OP_DATA15_F },
		{ RD_C_SW_PORT_VL_CONGESTION_0 + 7, IB_PC_SW_PORT_VL_CONGESTION7_F },
		{ RD_C_VL_XMIT_TIME_CONG_0 + 14, IB_PC_VL_XMIT_TIME_CONG14_F },
		{ RD_C_SL_RCV_BECN_0 + 3, IB_PC_SL_RCV_BECN3_F },
		{ RD_C_PKT_RCV_BECN, IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(same); i++)
		assert_string_equal(rd_pma_counters[same[i].counter].name, mad_field_name(same[i].field));
}

TEST(discards_do_not_appear_as_receive_errors)
{
	struct rd_fabric_node node = { .kind = RD_NODE_CA };
	struct rd_pma_value values[300] = { 0 };
	uint8_t mad[RD_MAD_SIZE] = { 0 };

	mad_set_field(mad, 64, IB_PC_XMT_SW_HOL_DISC_F, 42);
	rd_pma_decode(rd_pma_find_attribute(0x16), mad, &node, values, RD_PMA_COUNTERS);
	ASSERT_EACH(IS(values[RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS].v, 42), IS(values[RD_C_DLID_MAPPING_ERRORS].bits, 0),
		    IS(values[RD_C_INACTIVE_DISCARDS].bits, 16), IS(values[RD_C_INACTIVE_DISCARDS].v, 0));
}

TEST(the_wider_counter_counts)
{
	struct rd_fabric_node node = { .kind = RD_NODE_CA };
	struct rd_pma_value values[300] = { 0 };
	uint8_t narrow[RD_MAD_SIZE] = { 0 }, wide[RD_MAD_SIZE] = { 0 };

	RD_SET(node.capability, 0x1200);
	RD_SET(node.capability2, 2);
	mad_set_field(narrow, 64, IB_PC_ERR_SYM_F, 0xffff);
	mad_set_field64(wide, 64, IB_PC_EXT_ERR_SYM_F, 70000);
	mad_set_field64(wide, 64, IB_PC_EXT_XMT_WAIT_F, UINT64_C(1) << 40);
	rd_pma_decode(rd_pma_find_attribute(0x1d), wide, &node, values, RD_PMA_COUNTERS);
	rd_pma_decode(rd_pma_find_attribute(0x12), narrow, &node, values, RD_PMA_COUNTERS);
	ASSERT_EACH(IS(values[RD_C_SYMBOL_ERROR].v, 70000), IS(values[RD_C_SYMBOL_ERROR].bits, 64));
	assert_false(rd_pma_saturated(&values[RD_C_SYMBOL_ERROR]));
	assert_true(values[RD_C_XMIT_WAIT].v == UINT64_C(1) << 40);
	/* The bit for QP1Dropped is not set in the mask, but in the second mask all 64-bit errors come together. */
	assert_int_equal(values[RD_C_QP1_DROPPED].bits, 64);
}

NET_TEST(what_a_device_lacks_is_neither_asked_nor_zero)
{
	net->fake.capability = 0x0100; /* no extended width, no PortXmitWait */
	build(&net->fabric, attributes("counters,extended"));
	sweep(&net->fake, &net->fabric, false);
	/* four agents say what they can; one attribute for each of six ports */
	assert_int_equal(net->fake.sent, 4 + 6);
	for (size_t i = 0; i < net->fabric.n_ports; i++) {
		assert_true(net->fabric.ports[i].fresh);
		assert_int_equal(net->fabric.ports[i].values[RD_C_XMIT_WAIT].bits, 0);
		assert_int_equal(net->fabric.ports[i].values[RD_C_QP1_DROPPED].bits, 0);
		assert_int_equal(net->fabric.ports[i].values[RD_C_XMIT_DATA].bits, 32);
		assert_int_equal(net->fabric.ports[i].values[RD_C_UNICAST_RCV_PKTS].bits, 0);
	}
	sweep(&net->fake, &net->fabric, false);
	assert_int_equal(net->fake.sent, 4 + 6 + 6);
}

NET_TEST(a_silent_port_keeps_its_old_values_and_is_not_fresh)
{
	const struct rd_fabric_port *port;
	uint64_t read_ns;

	build(&net->fabric, attributes(RD_PMA_DEFAULT_SUBSETS));
	net->fake.value = 3;
	sweep(&net->fake, &net->fabric, false);
	port = port_at(&net->fabric, 0x1007, 1);
	read_ns = port->read_ns;
	assert_true(port->fresh && read_ns > 0 && port->error == 0);
	net->fake.agents[7].silent = UINT_MAX;
	net->fake.value = 4;
	sweep(&net->fake, &net->fabric, true);
	ASSERT_EACH(IS(port->fresh, false), IS(port->error, ETIMEDOUT), IS(port->read_ns, read_ns),
		    IS(port->values[RD_C_LINK_DOWNED].v, 3), IS(net->fabric.changed, true));
	/* others were read, twice by now */
	port = port_at(&net->fabric, 0x1006, 1);
	ASSERT_EACH(IS(port->fresh, true), IS(port->values[RD_C_LINK_DOWNED].v, 4),
		    IS(port->before[RD_C_LINK_DOWNED].v, 3), IS(port->before_ns < port->read_ns, true));
	/* silence that lasts is no news */
	sweep(&net->fake, &net->fabric, true);
	assert_false(net->fabric.changed);
	net->fake.agents[7].silent = 0;
	sweep(&net->fake, &net->fabric, true);
	port = port_at(&net->fabric, 0x1007, 1);
	assert_true(port->fresh && port->error == 0);
}

/* Of an agent with one response it is not known whether it is slow, or the delay was here. */
NET_TEST(the_time_of_a_slow_agent_is_known)
{
	build(&net->fabric, attributes("counters,extended"));
	net->fake.agents[7].latency_us = 310000;
	sweep(&net->fake, &net->fabric, false);
	assert_in_range(port_at(&net->fabric, 0x1007, 1)->response_ns, 310000000, 311000000);
	assert_in_range(port_at(&net->fabric, 0x1007, 1)->busy_ns, 620000000, net->fabric.sweep.duration_ns);
	assert_in_range(port_at(&net->fabric, 0x1006, 1)->response_ns, 244000, 300000);
	net->fabric.by_need = true;
	sweep(&net->fake, &net->fabric, false);
	assert_int_equal(port_at(&net->fabric, 0x1007, 1)->response_ns, 0);
}

NET_TEST(a_lid_given_to_another_node_is_not_believed)
{
	const struct rd_fabric_port *port;

	build(&net->fabric, attributes("counters"));
	net->fake.value = 1;
	sweep(&net->fake, &net->fabric, true);
	net->fake.agents[6].guid = 0x9999;
	net->fake.value = 2;
	sweep(&net->fake, &net->fabric, true);
	port = port_at(&net->fabric, 0x1006, 1);
	ASSERT_EACH(IS(port->fresh, false), IS(port->error, ESTALE), IS(port->values[RD_C_LINK_DOWNED].v, 1),
		    IS(net->fabric.changed, true), IS(port_at(&net->fabric, 0x1008, 1)->fresh, true));
}

static void lacking(struct rd_mad *mad)
{
	if (mad->data[17] == 0x16)
		mad->data[5] = 0x0c;
}

NET_TEST(an_attribute_that_is_refused_is_not_asked_again)
{
	unsigned sent;

	build(&net->fabric, attributes("counters,xmit-discards"));
	net->fake.agents[6].change = lacking;
	sweep(&net->fake, &net->fabric, false);
	assert_true(port_at(&net->fabric, 0x1006, 1)->fresh);
	assert_int_equal(port_at(&net->fabric, 0x1006, 1)->values[RD_C_INACTIVE_DISCARDS].bits, 0);
	sent = net->fake.sent;
	sweep(&net->fake, &net->fabric, false);
	assert_int_equal(net->fake.sent - sent, 11);
}

NET_TEST(an_attribute_that_is_never_answered_spoils_nothing)
{
	unsigned sent;

	build(&net->fabric, attributes("counters,rcv-errors,xmit-discards"));
	net->fake.value = 3;
	net->fake.agents[SWITCH_LID].silent_attribute = 0x15;
	sweep(&net->fake, &net->fabric, false);
	for (unsigned i = 1; i <= 3; i++) {
		const struct rd_fabric_port *port = port_at(&net->fabric, SWITCH_GUID, i);

		ASSERT_EACH(IS(port->fresh, true), IS(port->error, 0), IS(port->values[RD_C_LINK_DOWNED].v, 3),
			    IS(port->values[RD_C_LOOPING_ERRORS].bits, 0),
			    IS(port->values[RD_C_INACTIVE_DISCARDS].bits, 16));
	}
	sent = net->fake.sent;
	sweep(&net->fake, &net->fabric, false);
	assert_int_equal(net->fake.sent - sent, 6 * 3 - 3);
	/* Who falls silent altogether may have done so just then: it is asked everything again. */
	net->fake.agents[SWITCH_LID].silent_attribute = 0;
	net->fake.agents[SWITCH_LID].silent = 1000;
	sweep(&net->fake, &net->fabric, false);
	net->fake.agents[SWITCH_LID].silent = 0;
	sweep(&net->fake, &net->fabric, false);
	assert_int_equal(port_at(&net->fabric, SWITCH_GUID, 2)->values[RD_C_LOOPING_ERRORS].bits, 16);
}

NET_TEST(an_attribute_that_was_answered_once_is_missed)
{
	build(&net->fabric, attributes("counters,xmit-discards"));
	sweep(&net->fake, &net->fabric, false);
	net->fake.agents[6].silent_attribute = 0x16;
	for (int i = 0; i < 2; i++) {
		sweep(&net->fake, &net->fabric, false);
		assert_true(port_at(&net->fabric, 0x1006, 1)->fresh);
		assert_int_equal(port_at(&net->fabric, 0x1006, 1)->error, ETIMEDOUT);
		assert_int_equal(port_at(&net->fabric, 0x1006, 1)->error_attribute, 0x16);
		assert_int_equal(port_at(&net->fabric, 0x1006, 1)->values[RD_C_INACTIVE_DISCARDS].bits, 0);
		assert_int_equal(port_at(&net->fabric, 0x1006, 1)->values[RD_C_LINK_DOWNED].bits, 8);
	}
	net->fake.agents[6].silent_attribute = 0;
	sweep(&net->fake, &net->fabric, false);
	ASSERT_EACH(IS(port_at(&net->fabric, 0x1006, 1)->fresh, true), IS(port_at(&net->fabric, 0x1006, 1)->error, 0));
}

/* A port may fall silent in the middle of a sweep: first one of its attributes is not answered, in the next sweep none. */
NET_TEST(silence_is_looked_into_once)
{
	build(&net->fabric, attributes("counters,xmit-discards"));
	sweep(&net->fake, &net->fabric, false);
	net->fake.agents[6].silent_attribute = 0x16;
	sweep(&net->fake, &net->fabric, false);
	ASSERT_EACH(IS(port_at(&net->fabric, 0x1006, 1)->error, ETIMEDOUT), IS(net->fabric.changed, false));
	net->fake.agents[6].silent = 1000;
	sweep(&net->fake, &net->fabric, false);
	assert_true(net->fabric.changed);
	net->fake.agents[6].silent = 1000;
	sweep(&net->fake, &net->fabric, false);
	assert_false(net->fabric.changed);
}

TEST(ports_come_go_move_and_are_replaced)
{
	_cleanup_(fake_mads_deinit) struct fake_mads fake;
	struct rd_fabric before, now;
	enum rd_reach *reach;
	const struct rd_fabric_port *port;

	fake_mads_init(&fake);
	build(&before, attributes("counters"));
	fake.value = 5;
	sweep(&fake, &before, false);
	build(&now, attributes("counters"));
	/* Host 6 has another LID, host 7 was swapped for 0x2007, host 8 is gone. */
	for (size_t i = 0; i < now.n_ports; i++) {
		struct rd_fabric_port *at = &now.ports[i];

		if (now.nodes[at->node].guid == 0x1006)
			at->lid = 66;
	}
	now.nodes[rd_fabric_find_node(&now, 0x1007)].guid = 0x2007;
	now.ports[rd_fabric_find_port(&now, SWITCH_GUID, 3)].peer = RD_NONE;
	free(now.nodes[3].description);
	assert_int_equal(now.nodes[3].guid, 0x1008);
	now.n_nodes--;
	now.n_ports--; /* its port is the last */
	/* sorted by GUID still: 0x2007 stands last */
	reach = rd_fabric_reach(&before, &now);
	rd_fabric_update(&before, reach, &now);
	free(reach);
	rd_fabric_deinit(&before);
	port = port_at(&now, 0x1006, 1);
	ASSERT_EACH(IS(port->presence, RD_PORT_MOVED), IS(port->old_lid, 6), IS(port->values[RD_C_LINK_DOWNED].v, 5));
	port = port_at(&now, 0x2007, 1);
	ASSERT_EACH(IS(port->presence, RD_PORT_REPLACED), IS(port->old_guid, 0x1007), IS(port->values == NULL, true));
	port = port_at(&now, 0x1007, 1);
	assert_int_equal(port->presence, RD_PORT_GONE);
	port = port_at(&now, 0x1008, 1);
	ASSERT_EACH(IS(port->presence, RD_PORT_GONE), IS(port->values[RD_C_LINK_DOWNED].v, 5), IS(port->fresh, false));
	port = port_at(&now, SWITCH_GUID, 1);
	ASSERT_EACH(IS(port->presence, RD_PORT_PRESENT), IS(now.ports[port->peer].number, 1),
		    IS(now.nodes[now.ports[port->peer].node].guid, 0x1006));
	/* Those that are gone are not asked, and stay as they are. */
	sweep(&fake, &now, false);
	assert_false(port_at(&now, 0x1008, 1)->fresh);
	rd_fabric_deinit(&now);
}

TEST(names_come_from_a_map)
{
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;
	size_t bad;

	build(&fabric, attributes("counters"));
	rd_fabric_name_nodes(&fabric,
			     "# rack 1\n\n0x1005 \"leaf one\" # comment\n0x1006\t\"n6\"\n0x7777 \"other\"\n"
			     "nonsense\n0x1007 unquoted\n0x1008 \"\"\n",
			     &bad);
	assert_int_equal(bad, 3);
	assert_string_equal(rd_fabric_name(&fabric.nodes[rd_fabric_find_node(&fabric, 0x1005)]), "leaf one");
	assert_string_equal(rd_fabric_name(&fabric.nodes[rd_fabric_find_node(&fabric, 0x1007)]), "host");
}

TEST(subsets_are_named_in_errors)
{
	struct rd_err err = { 0 };
	uint64_t mask;

	assert_int_equal(rd_pma_subsets("counters,discard", &mask, &err), -EINVAL);
	ASSERT_EACH(HAS(err.message, "discard"), HAS(err.hint, "xmit-discards"));
	assert_int_equal(rd_pma_subsets("", &mask, &err), -EINVAL);
	assert_int_equal(rd_pma_subsets("all,", &mask, &err), -EINVAL);
	assert_int_equal(attributes("all"), (UINT64_C(1) << rd_pma_n_attributes) - 1);
}

/* Three hosts have the same description; the switch has one of its own. */
TEST(nodes_of_one_name_are_told_apart_by_guid)
{
	struct rd_fabric fabric;
	size_t bad;

	build(&fabric, attributes("counters"));
	rd_fabric_name_nodes(&fabric, "0x1006 \"leaf\"\n", &bad);
	rd_fabric_tell_apart(&fabric);
	assert_string_equal(rd_fabric_name(&fabric.nodes[0]), "leaf 0x0000000000001005");
	assert_string_equal(rd_fabric_name(&fabric.nodes[1]), "leaf 0x0000000000001006");
	assert_string_equal(rd_fabric_name(&fabric.nodes[2]), "host 0x0000000000001007");
	assert_string_equal(rd_fabric_name(&fabric.nodes[3]), "host 0x0000000000001008");
	assert_string_equal(fabric.nodes[2].description, "host");
	rd_fabric_deinit(&fabric);
	build(&fabric, attributes("counters"));
	rd_fabric_name_nodes(&fabric, "0x1006 \"a\"\n0x1007 \"b\"\n", &bad);
	rd_fabric_tell_apart(&fabric);
	ASSERT_EACH(READS(rd_fabric_name(&fabric.nodes[1]), "a"), READS(rd_fabric_name(&fabric.nodes[3]), "host"));
	rd_fabric_deinit(&fabric);
}

/* Fields of datagrams are read without a fake, too. */
static int load(void **state)
{
	return rd_libibmad_load("test", NULL);
}

int main(void)
{
	return unit_run(load, NULL);
}
