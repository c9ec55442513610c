/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are what a network says: who is there, then answers to what its ports are asked, in whatever order and shape. The
 * same bytes are also a file of recorded answers. */
#include "fuzz.h"

#include "collect/fabric/fabric.h"
#include "source/bundle/tree.h"
#include "source/record/mad-record.h"
#include "source/shared/libibmad.h"

#define OPEN_MAX 64

struct network {
	struct rd_mads mads;
	const uint8_t *data;
	size_t size, at;
	uint64_t now;
	uint32_t open[OPEN_MAX];
	size_t n;
};

static struct network *network_of(struct rd_mads *mads)
{
	return (struct network *)mads;
}

static int send_one(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct network *network = network_of(mads);

	if (network->n == OPEN_MAX)
		return rd_err_set(err, EAGAIN, "MAD", "no room");
	network->open[network->n++] = mad->tid;
	return 0;
}

/* An answer: which question (or none at all), its transport status, its length, its bytes. */
static int recv_one(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	struct network *network = network_of(mads);
	size_t left = network->size - network->at, pick;
	const uint8_t *at = network->data + network->at;

	memset(ret, 0, sizeof(*ret));
	if (left < 8) {
		/* It has fallen silent. */
		network->now += (uint64_t)timeout_ms * 1000000;
		if (!network->n)
			return 0;
		ret->tid = network->open[--network->n];
		ret->status = ETIMEDOUT;
		return 1;
	}
	network->now += 1000 * (uint64_t)at[4];
	pick = at[0];
	ret->tid = pick < network->n ? network->open[pick] : (uint32_t)at[1] << 10 | at[2];
	if (pick < network->n && !(at[3] & 0x40))
		network->open[pick] = network->open[--network->n];
	ret->status = at[3] & 0x80 ? at[3] & 0x3f : 0;
	ret->size = at[5] ? RD_MAD_SIZE : at[6];
	left -= 8;
	left = left < RD_MAD_SIZE ? left : RD_MAD_SIZE;
	memcpy(ret->data, at + 8, left);
	network->at += 8 + left;
	return 1;
}

static uint64_t now_of(struct rd_mads *mads)
{
	return network_of(mads)->now;
}

static void nothing(struct rd_mads *mads)
{
}

static const struct rd_mads_ops mads_ops = { send_one, recv_one, now_of, nothing };

static void look(const uint8_t *data, size_t size)
{
	struct network network = { .mads.ops = &mads_ops, .data = data, .size = size };
	struct rd_sweep_limits limits = { 8, 2, 10, 1 };
	struct rd_mad_port from = { .ibdev = "ib0", .port = 1 };
	struct rd_fabric fabric;
	size_t bad;

	if (rd_libibmad_load("network", NULL) < 0 ||
	    rd_collect_fabric(&network.mads, &from, &limits, UINT64_MAX >> (64 - rd_pma_n_attributes), &fabric, NULL) <
		    0)
		return;
	rd_fabric_sweep(&network.mads, &limits, true, &fabric, NULL);
	rd_fabric_sweep(&network.mads, &limits, true, &fabric, NULL);
	for (size_t i = 0; i < fabric.n_ports; i++)
		if (fabric.ports[i].peer != RD_NONE && fabric.ports[i].peer >= fabric.n_ports)
			abort();
	rd_fabric_name_nodes(&fabric, "0x1 \"a\"", &bad);
	rd_fabric_deinit(&fabric);
}

static void tell(const uint8_t *data, size_t size)
{
	struct rd_bytes file;
	struct rd_mads *mads;
	struct rd_mad mad = { .dest.lid = 1, .data = { 1, 4, 1, 1 } };

	if (rd_bytes_copy(data, size, &file) < 0 || rd_mads_tell(&file, "answers", 0, &mads, NULL) < 0)
		return;
	mads->ops->send(mads, &mad, 10, NULL);
	mads->ops->recv(mads, &mad, 10, NULL);
	rd_mads_closep(&mads);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	look(data, size);
	tell(data, size);
}
