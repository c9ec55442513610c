/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sweep by need: what it leaves out, what it knows without asking, and where it must not trust a sum. */
#include "fake-mads.h"
#include "unit.h"

#include "collect/fabric/fabric.h"

#include <limits.h>

#define SWITCH_LID 5
#define SWITCH_GUID 0x1005
#define PORTS 4
#define CAPABILITY 0x1300 /* all ports together, extended width, PortXmitWait */

/* A switch with four ports, and an adapter. Counters of the ports: */
static struct {
	uint32_t symbols[PORTS + 1], received[PORTS + 1], discards[PORTS + 1], packets[PORTS + 1], wait[PORTS + 1];
	bool maximum; /* all ports together are the largest of them, not their sum */
	unsigned asked[256], asked_together;
} net;

static struct fake_mads fake;
static struct rd_fabric fabric;

static uint32_t of_port(const uint32_t *counter, unsigned port)
{
	uint64_t sum = 0;

	if (port <= PORTS)
		return counter[port];
	for (unsigned i = 1; i <= PORTS; i++)
		sum = net.maximum ? (counter[i] > sum ? counter[i] : sum) : sum + counter[i];
	return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static uint32_t up_to(uint32_t value, uint32_t most)
{
	return value > most ? most : value;
}

static void answer(struct rd_mad *mad)
{
	uint8_t *data = mad->data;
	unsigned port = data[65], attribute = data[17];

	if (data[1] != 0x04 || attribute == 1)
		return;
	net.asked[attribute]++;
	net.asked_together += port == 255;
	memset(data + 66, 0, 190);
	if (attribute == 0x12) {
		mad_set_field(data, 64, IB_PC_ERR_SYM_F, up_to(of_port(net.symbols, port), 0xffff));
		mad_set_field(data, 64, IB_PC_ERR_RCV_F, up_to(of_port(net.received, port), 0xffff));
		mad_set_field(data, 64, IB_PC_XMT_DISCARDS_F, up_to(of_port(net.discards, port), 0xffff));
		mad_set_field(data, 64, IB_PC_XMT_WAIT_F, of_port(net.wait, port));
		mad_set_field(data, 64, IB_PC_XMT_PKTS_F, of_port(net.packets, port));
	} else if (attribute == 0x1d) {
		mad_set_field64(data, 64, IB_PC_EXT_XMT_PKTS_F, of_port(net.packets, port));
		mad_set_field64(data, 64, IB_PC_EXT_ERR_SYM_F, of_port(net.symbols, port));
	} else if (attribute == 0x15) {
		mad_set_field(data, 64, IB_PC_RCV_LOOPING_ERR_F, of_port(net.received, port));
	} else if (attribute == 0x16) {
		mad_set_field(data, 64, IB_PC_XMT_SW_HOL_DISC_F, of_port(net.discards, port));
	}
}

static int begin(void **state)
{
	memset(&net, 0, sizeof(net));
	for (unsigned i = 1; i <= PORTS; i++)
		net.packets[i] = 1000;
	fake_mads_init(&fake);
	fake.capability = CAPABILITY;
	fake.agents[SWITCH_LID].change = answer;
	fabric = (struct rd_fabric){ .self = RD_NONE, .by_need = true };
	assert_int_equal(rd_pma_subsets(RD_PMA_DEFAULT_SUBSETS, &fabric.attributes, NULL), 0);
	fabric.n_values = rd_pma_n_values(fabric.attributes);
	rd_fabric_add_node(&fabric, SWITCH_GUID, RD_NODE_SWITCH, PORTS, "leaf");
	rd_fabric_add_node(&fabric, 0x1006, RD_NODE_CA, 1, "host");
	rd_fabric_sort_nodes(&fabric);
	for (unsigned i = 1; i <= PORTS; i++)
		rd_fabric_add_port(&fabric, SWITCH_GUID, i)->lid = SWITCH_LID;
	rd_fabric_add_port(&fabric, 0x1006, 1)->lid = 6;
	rd_fabric_sort_ports(&fabric);
	for (size_t i = 0; i < fabric.n_ports; i++)
		fabric.ports[i].selected = true;
	return 0;
}

static int end(void **state)
{
	rd_fabric_deinit(&fabric);
	fake_mads_deinit(&fake);
	return 0;
}

static const struct rd_fabric_port *port_at(unsigned number)
{
	return &fabric.ports[rd_fabric_find_port(&fabric, SWITCH_GUID, number)];
}

/* Returns the number of datagrams. */
static unsigned sweep(void)
{
	struct rd_sweep_limits limits = RD_SWEEP_LIMITS_DEFAULT;
	unsigned before = fake.sent;

	memset(net.asked, 0, sizeof(net.asked));
	net.asked_together = 0;
	assert_int_equal(rd_fabric_sweep(&fake.mads, &limits, false, &fabric, NULL), 0);
	return fake.sent - before;
}

static void check(unsigned port, size_t counter, uint64_t value)
{
	const struct rd_pma_value *read = &port_at(port)->values[counter];

	ASSERT_EACH(IS(port_at(port)->fresh, true), IS(read->bits > 0, true), IS(read->v, value));
}

TEST_WITH(a_healthy_switch_is_one_question, begin, end)
{
	/* ClassPortInfo and one question of each. */
	assert_int_equal(sweep(), 4);
	for (unsigned i = 1; i <= PORTS; i++) {
		check(i, RD_C_SYMBOL_ERROR, 0);
		check(i, RD_C_XMIT_DISCARDS, 0);
		ASSERT_EACH(IS(port_at(i)->error, 0), IS(port_at(i)->read_ns > 0, true));
		/* Not asked is not 0. */
		assert_int_equal(port_at(i)->values[RD_C_XMIT_PKTS].bits, 0);
		assert_int_equal(port_at(i)->values[RD_C_LOOPING_ERRORS].bits, 0);
		assert_int_equal(port_at(i)->values[RD_C_QP1_DROPPED].bits, 0);
	}
	assert_int_equal(sweep(), 2);
}

TEST_WITH(errors_are_looked_for_once_and_again_when_they_move, begin, end)
{
	net.symbols[2] = 7;
	assert_int_equal(sweep(), 4 + PORTS);
	check(1, RD_C_SYMBOL_ERROR, 0);
	check(2, RD_C_SYMBOL_ERROR, 7);
	/* What stands is known. */
	assert_int_equal(sweep(), 2);
	check(2, RD_C_SYMBOL_ERROR, 7);
	assert_int_equal(port_at(2)->before[RD_C_SYMBOL_ERROR].v, 7);
	net.symbols[3] = 1;
	assert_int_equal(sweep(), 2 + PORTS);
	check(2, RD_C_SYMBOL_ERROR, 7);
	check(3, RD_C_SYMBOL_ERROR, 1);
	/* Cleared. */
	net.symbols[2] = net.symbols[3] = 0;
	assert_int_equal(sweep(), 2);
	check(2, RD_C_SYMBOL_ERROR, 0);
}

TEST_WITH(details_are_asked_where_their_parent_moved, begin, end)
{
	net.received[1] = 3;
	net.discards[4] = 9;
	assert_int_equal(sweep(), 4 + PORTS + 2);
	check(1, RD_C_LOOPING_ERRORS, 3);
	check(4, RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS, 9);
	assert_int_equal(port_at(1)->values[RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS].bits, 0);
	net.received[1] = 4;
	assert_int_equal(sweep(), 2 + PORTS + 1);
	check(1, RD_C_LOOPING_ERRORS, 4);
	check(4, RD_C_SW_HOQ_LIFETIME_LIMIT_DISCARDS, 9);
	assert_int_equal(port_at(1)->before[RD_C_LOOPING_ERRORS].v, 3);
}

TEST_WITH(a_sum_at_its_end_is_no_sum, begin, end)
{
	net.symbols[1] = 0xffff;
	net.symbols[2] = 1;
	sweep();
	net.symbols[2] = 2;
	assert_int_equal(sweep(), 2 + PORTS);
	check(2, RD_C_SYMBOL_ERROR, 2);
}

TEST_WITH(a_port_that_was_not_read_is_asked_again, begin, end)
{
	net.symbols[2] = 7;
	sweep();
	fabric.ports[rd_fabric_find_port(&fabric, SWITCH_GUID, 2)].fresh = false;
	assert_int_equal(sweep(), 2 + 1);
	check(2, RD_C_SYMBOL_ERROR, 7);
}

/* 3 and 1 are 4; their largest is 3, and stays 3 when the smaller one moves. */
TEST_WITH(an_agent_that_does_not_add_is_found_out, begin, end)
{
	net.maximum = true;
	net.symbols[1] = 3;
	net.symbols[2] = 1;
	sweep();
	net.symbols[2] = 2;
	assert_int_equal(sweep(), PORTS + 1);
	assert_int_equal(net.asked_together, 0);
	check(2, RD_C_SYMBOL_ERROR, 2);
}

/* No packet on any port, while questions pass: all is made up. */
TEST_WITH(an_agent_that_sums_up_nothing_is_not_believed, begin, end)
{
	memset(net.packets, 0, sizeof(net.packets));
	net.symbols[2] = 0;
	assert_int_equal(sweep(), 4 + PORTS);
	assert_int_equal(sweep(), PORTS + 1);
}

static void refuse_together(struct rd_mad *mad)
{
	answer(mad);
	if (mad->data[1] == 0x04 && mad->data[17] == 0x12 && mad->data[65] == 255)
		mad->data[5] = 0x0c;
}

TEST_WITH(one_that_refuses_is_asked_port_by_port, begin, end)
{
	fake.agents[SWITCH_LID].change = refuse_together;
	net.symbols[2] = 7;
	assert_int_equal(sweep(), 4 + PORTS);
	check(2, RD_C_SYMBOL_ERROR, 7);
	check(1, RD_C_SYMBOL_ERROR, 0);
	assert_int_equal(sweep(), PORTS + 1);
	/* PortCounters itself is not unsupported. */
	check(2, RD_C_SYMBOL_ERROR, 7);
}

TEST_WITH(one_that_cannot_is_not_asked, begin, end)
{
	fake.capability = CAPABILITY & ~0x100;
	assert_int_equal(sweep(), 3 + PORTS);
	assert_int_equal(net.asked_together, 0);
}

TEST_WITH(for_rates_every_port_is_asked_for_its_traffic, begin, end)
{
	fabric.traffic = true;
	assert_int_equal(sweep(), 4 + PORTS + 1);
	assert_int_equal(net.asked[0x1d], PORTS);
	check(1, RD_C_XMIT_PKTS, 1000);
	check(1, RD_C_SYMBOL_ERROR, 0);
	/* Who waits is read. */
	net.wait[3] = 500;
	sweep();
	assert_int_equal(net.asked[0x12], PORTS + 1);
	check(3, RD_C_XMIT_WAIT, 500);
}

/* With 64 bits for all, PortCounters is only asked for the sum. */
TEST_WITH(extended_counters_replace_the_others, begin, end)
{
	fake.capability2 = 2;
	net.symbols[2] = 100000;
	assert_int_equal(sweep(), 4 + PORTS);
	assert_int_equal(net.asked[0x12], 1);
	check(2, RD_C_SYMBOL_ERROR, 100000);
	assert_int_equal(port_at(2)->values[RD_C_SYMBOL_ERROR].bits, 64);
	/* The sum of 16 bits is at its end. */
	net.symbols[2]++;
	sweep();
	check(2, RD_C_SYMBOL_ERROR, 100001);
	assert_int_equal(port_at(2)->before[RD_C_SYMBOL_ERROR].v, 100000);
}

TEST_WITH(silent_to_class_port_info, begin, end)
{
	fake.agents[SWITCH_LID].silent_attribute = 1;
	sweep();
	check(2, RD_C_SYMBOL_ERROR, 0);
	ASSERT_EACH(IS(port_at(2)->values[RD_C_XMIT_WAIT].bits, 0), IS(port_at(1)->error, ETIMEDOUT),
		    IS(port_at(1)->error_attribute, 1));
}

TEST_WITH(an_attribute_that_is_silent_costs_itself, begin, end)
{
	fabric.traffic = true;
	sweep();
	fake.agents[SWITCH_LID].silent_attribute = 0x1d;
	net.symbols[2] = 7;
	sweep();
	/* Given up after two ports. */
	assert_int_equal(fabric.sweep.timeouts, 8);
	for (unsigned i = 1; i <= PORTS; i++) {
		check(i, RD_C_SYMBOL_ERROR, i == 2 ? 7 : 0);
		ASSERT_EACH(IS(port_at(i)->values[RD_C_UNICAST_XMIT_PKTS].bits, 0), IS(port_at(i)->error, ETIMEDOUT),
			    IS(port_at(i)->error_attribute, 0x1d), IS(port_at(i)->silent, false));
	}
	assert_false(fabric.changed);
}
