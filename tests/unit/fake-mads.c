/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake-mads.h"
#include "unit.h"

#include <infiniband/mad.h>
#include <limits.h>

static struct fake_mads *fake_of(struct rd_mads *mads)
{
	return (struct fake_mads *)mads;
}

static void push(struct fake_mads *fake, uint64_t at, uint16_t lid, const struct rd_mad *mad)
{
	if (rd_grow(&fake->events, &fake->cap, fake->n + 1, sizeof(*fake->events)) < 0)
		abort();
	fake->events[fake->n++] = (struct fake_event){ at, ++fake->order, lid, *mad };
}

/* Goes along the route of a datagram, as far as cables and switches carry it. `ret_port`: where it came in. */
static struct fake_node *follow(struct fake_mads *fake, const struct rd_mad *mad, unsigned *ret_port)
{
	const uint8_t *exits = mad->data + 129;
	unsigned at = 0, hops = mad->data[7];

	*ret_port = 1;
	for (unsigned i = 0; i < hops; i++) {
		const struct fake_node *node = &fake->nodes[at];
		unsigned exit = exits[i];

		if (exit < 1 || exit > node->n_ports || !node->peers[exit].port || (i > 0 && node->kind != 2))
			return NULL;
		at = node->peers[exit].node;
		if (fake->agents[fake->nodes[at].lid].silent_route)
			return NULL;
		*ret_port = node->peers[exit].port;
	}
	return &fake->nodes[at];
}

/* Counts a datagram in (1) or out (-1) at all nodes that its route meets. */
static void count_passing(struct fake_mads *fake, const struct rd_mad *mad, int change)
{
	unsigned at = 0, hops = mad->data[1] == 0x81 ? mad->data[7] : 0;

	for (unsigned i = 0; i < hops; i++) {
		const struct fake_node *node = &fake->nodes[at];
		unsigned exit = mad->data[129 + i];
		struct fake_agent *agent;

		if (exit < 1 || exit > node->n_ports || !node->peers[exit].port)
			return;
		at = node->peers[exit].node;
		agent = &fake->agents[fake->nodes[at].lid];
		agent->passing += (unsigned)change;
		if (agent->passing > agent->most_passing)
			agent->most_passing = agent->passing;
	}
}

static void answer_on_route(struct fake_mads *fake, struct rd_mad *mad)
{
	unsigned attribute = (unsigned)mad->data[16] << 8 | mad->data[17], number = mad->data[23], port;
	struct fake_node *node = follow(fake, mad, &port);
	uint8_t *data = mad->data;

	mad->size = RD_MAD_SIZE;
	data[3] = 0x81;
	data[4] = 0x80; /* the bit that says on the way back */
	memset(data + 64, 0, 64);
	if (attribute == IB_ATTR_NODE_INFO) {
		mad_set_field(data, 64, IB_NODE_TYPE_F, node->kind);
		mad_set_field(data, 64, IB_NODE_NPORTS_F, node->n_ports);
		mad_set_field64(data, 64, IB_NODE_GUID_F, node->guid);
		mad_set_field(data, 64, IB_NODE_DEVID_F, node->device);
		mad_set_field(data, 64, IB_NODE_LOCAL_PORT_F, port);
	} else if (attribute == IB_ATTR_NODE_DESC) {
		snprintf((char *)data + 64, 64, "node %u", node->lid);
	} else if (attribute == IB_ATTR_PORT_INFO && node->kind != 2 && number && number != port) {
		data[5] = 7 << 2; /* of its own port only */
	} else if (attribute == IB_ATTR_PORT_INFO) {
		bool linked = number <= node->n_ports && node->peers[number].port;

		mad_set_field64(data, 64, IB_PORT_MKEY_F, FAKE_KEY);
		mad_set_field(data, 64, IB_PORT_LID_F, node->kind != 2 || number == 0 ? node->lid : 0);
		mad_set_field(data, 64, IB_PORT_STATE_F, linked ? 4 : 1);
		mad_set_field(data, 64, IB_PORT_PHYS_STATE_F, linked ? 5 : 2);
		mad_set_field(data, 64, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
		mad_set_field(data, 64, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
		mad_set_field(data, 64, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, node->kind != 2 ? 2 : 0);
	} else if (attribute == 0xff90) {
		mad_set_field(data, 64, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F, 1);
	}
}

static void answer(struct fake_mads *fake, const struct fake_agent *agent, struct rd_mad *mad)
{
	unsigned attribute = (unsigned)mad->data[16] << 8 | mad->data[17];
	uint8_t select = mad->data[65];

	if (mad->data[1] == 0x81)
		answer_on_route(fake, mad);
	mad->data[3] = 0x81;
	mad->size = RD_MAD_SIZE;
	if (mad->data[1] == 0x01 && attribute == IB_ATTR_SMINFO) {
		memset(mad->data + 64, 0, 64);
		mad_set_field64(mad->data, 64, IB_SMINFO_GUID_F, agent->guid);
		mad_set_field(mad->data, 64, IB_SMINFO_ACT_F, fake->sm_stopped ? 7 : fake->sent);
		mad_set_field(mad->data, 64, IB_SMINFO_STATE_F, 3);
	} else if (mad->data[1] == 0x01) {
		for (int i = 0; i < 8; i++)
			mad->data[64 + 12 + i] = (uint8_t)(agent->guid >> (56 - 8 * i));
	} else if (mad->data[1] == 0x04 && attribute == 1) {
		mad->data[66] = (uint8_t)(fake->capability >> 8);
		mad->data[67] = (uint8_t)fake->capability;
		/* CapabilityMask2: 27 bits in front of RespTimeValue */
		for (int i = 0; i < 4; i++)
			mad->data[68 + i] = (uint8_t)(fake->capability2 << 5 >> (24 - 8 * i));
	} else if (mad->data[1] == 0x04) {
		memset(mad->data + 64, (int)fake->value, 192);
		mad->data[65] = select;
	}
	if (agent->change)
		agent->change(mad);
}

static uint16_t lid_of(struct fake_mads *fake, const struct rd_mad *mad)
{
	const struct fake_node *node;
	unsigned port;

	if (mad->data[1] != 0x81)
		return mad->dest.lid;
	node = follow(fake, mad, &port);
	return node ? node->lid : FAKE_NOWHERE;
}

/* Whether this one gets lost; high bits, because the low ones of such a generator repeat soon. */
static bool is_lost(struct fake_mads *fake, const struct rd_mad *mad)
{
	/* Our own port is asked without a cable between. */
	if (!fake->loss_percent || mad->data[1] != 0x81 || mad->data[7] == 0)
		return false;
	fake->loss_seed = fake->loss_seed * 1664525 + 1013904223;
	return (fake->loss_seed >> 8) % 100 < fake->loss_percent;
}

static int send_one(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct fake_mads *fake = fake_of(mads);
	uint16_t lid = lid_of(fake, mad);
	struct fake_agent *agent = &fake->agents[lid];
	uint64_t latency = (uint64_t)agent->latency_us * 1000, over = fake->now + (uint64_t)timeout_ms * 1000000;
	struct rd_mad back = *mad;

	if (fake->fail_after && (int)fake->sent >= fake->fail_after)
		return rd_err_set(err, ENODEV, "port", "it is gone");
	fake->sent++;
	count_passing(fake, mad, 1);
	if (++fake->in_flight > fake->most_in_flight)
		fake->most_in_flight = fake->in_flight;
	if (++agent->in_flight > agent->most_in_flight)
		agent->most_in_flight = agent->in_flight;
	if (fake->seed) {
		fake->seed = fake->seed * 1664525 + 1013904223;
		latency = latency * (fake->seed >> 16 & 1023) / 256;
	}
	if (is_lost(fake, mad) || agent->silent ||
	    (agent->silent_attribute && agent->silent_attribute == mad->data[17])) {
		agent->silent -= agent->silent && agent->silent != UINT_MAX;
		back.status = ETIMEDOUT;
		back.size = 24;
		push(fake, over, lid, &back);
		return 0;
	}
	answer(fake, agent, &back);
	if (agent->late) {
		struct rd_mad failure = *mad;

		agent->late = false;
		failure.status = ETIMEDOUT;
		failure.size = 24;
		push(fake, over, lid, &failure);
		push(fake, over + 1000, 0, &back);
		return 0;
	}
	push(fake, fake->now + latency, lid, &back);
	if (agent->twice)
		push(fake, fake->now + latency + 1, 0, &back);
	return 0;
}

static int recv_one(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct fake_mads *fake = fake_of(mads);
	struct fake_event *first = NULL;
	uint64_t end = fake->now + (uint64_t)timeout_ms * 1000000;

	for (size_t i = 0; i < fake->n; i++)
		if (!first || fake->events[i].at < first->at ||
		    (fake->events[i].at == first->at && fake->events[i].order < first->order))
			first = &fake->events[i];
	if (!first || first->at > end) {
		fake->now = end;
		return 0;
	}
	if (first->at > fake->now)
		fake->now = first->at;
	if (first->lid) {
		fake->in_flight--;
		count_passing(fake, &first->mad, -1);
		fake->agents[first->lid].in_flight--;
		if (!first->mad.status)
			fake->last_answer = fake->now;
		else if (!fake->first_failure)
			fake->first_failure = fake->now;
	}
	*ret = first->mad;
	*first = fake->events[--fake->n];
	return 1;
}

static uint64_t now_of(struct rd_mads *mads)
{
	return fake_of(mads)->now;
}

static void nothing(struct rd_mads *mads)
{
}

static const struct rd_mads_ops fake_ops = { .send = send_one, .recv = recv_one, .now = now_of, .close = nothing };

void fake_mads_init(struct fake_mads *fake)
{
	assert_int_equal(rd_libibmad_load("test", NULL), 0);
	memset(fake, 0, sizeof(*fake));
	fake->mads.ops = &fake_ops;
	fake->now = 1000000000;
	fake->capability = 0x1200; /* extended width, PortXmitWait */
	for (size_t i = 0; i < FAKE_LIDS; i++) {
		fake->agents[i].latency_us = 244;
		fake->agents[i].guid = 0x1000 + i;
	}
	fake->agents[FAKE_NOWHERE].silent = UINT_MAX;
}

unsigned fake_node_add(struct fake_mads *fake, unsigned kind, unsigned n_ports, uint16_t lid)
{
	fake->nodes[fake->n_nodes] =
		(struct fake_node){ .guid = 0x1000u + lid, .kind = kind, .n_ports = n_ports, .lid = lid };
	return fake->n_nodes++;
}

void fake_cable(struct fake_mads *fake, unsigned node_a, unsigned port_a, unsigned node_b, unsigned port_b)
{
	fake->nodes[node_a].peers[port_a].node = node_b;
	fake->nodes[node_a].peers[port_a].port = port_b;
	fake->nodes[node_b].peers[port_b].node = node_a;
	fake->nodes[node_b].peers[port_b].port = port_a;
}

void fake_mads_deinit(struct fake_mads *fake)
{
	free(fake->events);
}
