/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Management datagrams through the opener, which has the ports open. */
#include "base/memory.h"
#include "opener-priv.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define METHOD_AT 3
#define METHOD_GET 1

struct remote {
	struct rd_mads mads;
	uint64_t handle;
};

bool rd_opener_may_send(const struct rd_mad *mad)
{
	return mad->data[METHOD_AT] == METHOD_GET;
}

int rd_opener_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err)
{
	struct opener_message message = { .what = OPENER_MAD_PORTS };

	(void)src;
	return rd_opener_request(&message, NULL, NULL, ret, err);
}

static uint64_t handle_of(struct rd_mads *mads)
{
	return ((struct remote *)mads)->handle;
}

static int remote_send(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err)
{
	struct opener_timed_mad timed = { (int32_t)timeout_ms, *mad };
	struct opener_message message = { OPENER_MAD_SEND, handle_of(mads), sizeof(timed) };

	return rd_opener_request(&message, &timed, NULL, NULL, err);
}

static int remote_recv(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err)
{
	int32_t ms = timeout_ms;
	struct opener_message message = { OPENER_MAD_RECEIVE, handle_of(mads), sizeof(ms) };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_opener_request(&message, &ms, NULL, &bytes, err);

	if (r < 0 || bytes.size != sizeof(*ret))
		return r;
	memcpy(ret, bytes.data, sizeof(*ret));
	return 1;
}

static uint64_t remote_now(struct rd_mads *mads)
{
	struct timespec ts = { 0 };

	(void)mads;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static void remote_close(struct rd_mads *mads)
{
	struct opener_message message = { OPENER_MAD_CLOSE, handle_of(mads), 0 };

	rd_opener_request(&message, NULL, NULL, NULL, NULL);
	free(mads);
}

static const struct rd_mads_ops remote_ops = {
	.send = remote_send,
	.recv = remote_recv,
	.now = remote_now,
	.close = remote_close,
};

int rd_opener_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err)
{
	struct opener_message message = { OPENER_MAD_OPEN, port, strlen(ibdev) + 1 };
	struct remote *remote;
	int r;

	(void)src;
	r = rd_opener_request(&message, ibdev, NULL, NULL, err);
	if (r < 0)
		return r;
	remote = rd_alloc(1, sizeof(*remote));
	remote->mads.ops = &remote_ops;
	remote->handle = message.number;
	*ret = &remote->mads;
	return 0;
}
