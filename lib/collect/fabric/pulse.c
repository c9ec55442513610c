/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/pulse.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define CLASS_SM_DIRECTED 0x81
#define METHOD_GET_RESP 0x81
#define ATTR_NODE_INFO 0x11
#define NODE_GUID_AT (64 + 12) /* in NodeInfo, which begins at byte 64 of an SMP */
#define NODES_MAX ((size_t)1 << 17)

struct pulse_mads {
	struct rd_mads mads; /* first */
	struct rd_mads *port;
	struct rd_pulse pulse;
	uint64_t beat_ns; /* of the latest call; 0: none */
	bool stopped;
	void *guids; /* of tsearch */
	size_t nodes;
};

static int compare_guids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(uint64_t));
}

/* Counts each node once: a switch responds at each of its cables. */
static void count_node(struct pulse_mads *p, const struct rd_mad *mad)
{
	const uint8_t *data = mad->data;
	uint64_t *guid;
	void *found;

	if (mad->status || mad->size < RD_MAD_SIZE || data[1] != CLASS_SM_DIRECTED || data[3] != METHOD_GET_RESP ||
	    data[16] != 0 || data[17] != ATTR_NODE_INFO || p->nodes >= NODES_MAX)
		return;
	guid = rd_alloc(1, sizeof(*guid));
	memcpy(guid, data + NODE_GUID_AT, sizeof(*guid));
	found = tsearch(guid, &p->guids, compare_guids);
	if (found && *(uint64_t **)found == guid)
		p->nodes++;
	else
		free(guid);
}

static void beat(struct pulse_mads *p)
{
	uint64_t now = p->port->ops->now(p->port);

	if (p->beat_ns && now - p->beat_ns < RD_PULSE_MS * UINT64_C(1000000))
		return;
	p->stopped |= !p->pulse.beat(p->pulse.arg, p->nodes);
	p->beat_ns = p->port->ops->now(p->port);
}

static int pulse_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	return p->port->ops->send(p->port, mad, timeout_ms, err);
}

static int pulse_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	do {
		int ms = timeout_ms < RD_PULSE_MS ? timeout_ms : RD_PULSE_MS, r;

		beat(p);
		if (p->stopped)
			return rd_err_set(err, ECANCELED, "network", "reading was ended");
		r = p->port->ops->recv(p->port, ret, ms, err);
		if (r == 1)
			count_node(p, ret);
		if (r != 0)
			return r;
		timeout_ms -= ms;
	} while (timeout_ms > 0);
	return 0;
}

static uint64_t pulse_now(struct rd_mads *mads)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	return p->port->ops->now(p->port);
}

static void pulse_close(struct rd_mads *mads)
{
	struct pulse_mads *p = (struct pulse_mads *)mads;

	p->port->ops->close(p->port);
	tdestroy(p->guids, free);
	free(p);
}

struct rd_mads *rd_pulse_wrap(struct rd_mads *mads, const struct rd_pulse *pulse)
{
	static const struct rd_mads_ops ops = {
		.send = pulse_send, .recv = pulse_recv, .now = pulse_now, .close = pulse_close
	};
	struct pulse_mads *p = rd_alloc(1, sizeof(*p));

	p->mads.ops = &ops;
	p->port = mads;
	p->pulse = *pulse;
	return &p->mads;
}
