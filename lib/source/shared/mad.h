/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Management datagrams as bytes: the ports of this host that can send them, and requests with many responses in flight. lib/collect
 * decodes the bytes.
 */
#ifndef RD_SOURCE_MAD_H
#define RD_SOURCE_MAD_H

#include "source/shared/source.h"

#define RD_MAD_SIZE 256

/* The destination of a datagram: queue pair 0 or 1 at a LID, or, if the link layer is Ethernet, a GID. */
struct rd_mad_dest {
	uint16_t lid;
	uint8_t sl;
	bool grh;
	uint8_t gid_index;
	uint8_t gid[16];
};

/* The highest bit of a transaction ID is for those who share a port: see collect/fabric/fabric.h. */
#define RD_MAD_TID_MAX 0x7fffffffu

/* Out: a request. In: the response, or the error. */
struct rd_mad {
	struct rd_mad_dest dest; /* out only */
	uint32_t tid; /* the lower half of the transaction ID, the only part that is returned. Unique in flight; RD_MAD_TID_MAX at most */
	int status;		   /* in: 0 or the positive errno of the transport, ETIMEDOUT mostly */
	size_t size;		   /* in: bytes received, 0 without a response */
	uint8_t data[RD_MAD_SIZE]; /* as on the wire, except the transaction ID */
};

/* An open port of this host. Not thread-safe. */
struct rd_mads;

struct rd_mads_ops {
	/* Sends a datagram; class and version select the agent. There are no retransmissions: these are up to the caller.
	 * -EAGAIN: queue full. */
	int (*send)(struct rd_mads *mads, const struct rd_mad *mad, unsigned timeout_ms, struct rd_err *err);
	/* Waits for a response or a failure, up to timeout_ms. Returns 1, 0 on timeout, or -errno. */
	int (*recv)(struct rd_mads *mads, struct rd_mad *ret, int timeout_ms, struct rd_err *err);
	/* Nanoseconds of a monotonic clock; of a recording: with the recorded response times. */
	uint64_t (*now)(struct rd_mads *mads);
	void (*close)(struct rd_mads *mads);
};

struct rd_mads {
	const struct rd_mads_ops *ops;
	uint32_t serial; /* of the last request; continues across sweeps, because late responses can */
};

static inline void rd_mads_closep(struct rd_mads **mads)
{
	if (*mads)
		(*mads)->ops->close(*mads);
}

/*
 * The ports known to libibumad, one line each: device, port, node GUID, port GUID (hexadecimal), LID,
 * LMC, LID of the subnet manager, state, physical state, rate, link layer. -ENODEV: no ports.
 */
int rd_mad_ports(struct rd_source *src, struct rd_bytes *ret, struct rd_err *err);

/* Opens a port for subnet management (LID routed and directed route) and performance management. The source must stay open as
 * long. Also loads libibmad, which decodes the responses. */
int rd_mad_open(struct rd_source *src, const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err);

/* The implementation on this host, for source-live.c. */
int rd_umad_ports(struct rd_bytes *ret, struct rd_err *err);
int rd_umad_open(const char *ibdev, unsigned port, struct rd_mads **ret, struct rd_err *err);

#endif
