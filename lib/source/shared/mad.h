/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Management datagrams as bytes: the ports of this host that can send them, and questions with many answers in flight. What
 * the bytes mean is for lib/collect.
 */
#ifndef RD_SOURCE_MAD_H
#define RD_SOURCE_MAD_H

#include "source/shared/source.h"

#define RD_MAD_SIZE 256

/* Where a datagram goes: a queue pair 0 or 1 at a LID, or, where a port has Ethernet below it, a GID. */
struct rd_mad_dest {
	uint16_t lid;
	uint8_t sl;
	bool grh;
	uint8_t gid_index;
	uint8_t gid[16];
};

/* Out: what is asked. In: the answer, or why there is none. */
struct rd_mad {
	struct rd_mad_dest dest; /* out only */
	uint32_t tid; /* the lower half of the transaction id, the only part that comes back. Unique in flight */
	int status;   /* in: 0 or the positive errno of the transport, ETIMEDOUT mostly */
	size_t size;  /* in: how many bytes came, 0 without an answer */
	uint8_t data[RD_MAD_SIZE]; /* as on the wire, but for the transaction id */
};

/* An open port of this host. Not for two threads. */
struct rd_mads;

struct rd_mads_ops {
	/* Hands a datagram to the port; class and version choose the agent. Nothing is sent twice: repeating is the caller's
	 * work. -EAGAIN: no room now. */
	int (*send)(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err);
	/* Waits for an answer or a failure, up to timeout_ms. Returns 1, 0 when there was none, or -errno. */
	int (*recv)(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err);
	/* Nanoseconds of a clock that only goes forward; of a recording: as if it happened again. */
	uint64_t (*now)(struct rd_mads *mads);
	void (*close)(struct rd_mads *mads);
};

struct rd_mads {
	const struct rd_mads_ops *ops;
	uint32_t serial; /* of the question that was asked last: goes on from sweep to sweep, as answers can */
};

static inline void rd_mads_closep(struct rd_mads **mads)
{
	if (*mads)
		(*mads)->ops->close(*mads);
}

/*
 * The ports of which the userspace MAD library knows, a line each: device, port, node GUID, port GUID (hexadecimal), LID,
 * LMC, LID of the subnet manager, state, physical state, rate, link layer. -ENODEV where it knows none.
 */
int rd_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err);

/* Opens a port for subnet management (by LID and along a route) and performance management. The source must stay open for
 * as long. From then on libibmad is there to read what came. */
int rd_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err);

/* The operations of this host, for source-live.c. */
int rd_umad_ports(struct rd_bytes *ret, struct rd_err *err);
int rd_umad_open(const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err);

#endif
