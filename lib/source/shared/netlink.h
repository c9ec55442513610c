/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink messages as bytes: asking the kernel, and what makes a request and its answer one fact of a recording. */
#ifndef RD_NETLINK_H
#define RD_NETLINK_H

#include "source/shared/source.h"

/* Commands later than the headers that this is built with: Linux 6.3 (for all interfaces 6.12) and 6.8. */
enum { RD_ETHTOOL_MSG_RSS_GET = 38, RD_NETDEV_CMD_QUEUE_GET = 10 };

/* One socket a protocol, opened when first needed. */
struct rd_nlsockets {
	struct rd_nlsocket {
		int protocol;
		struct mnl_socket *socket;
	} v[4];
	size_t n;
	uint32_t seq;
};

void rd_nlsockets_deinit(struct rd_nlsockets *sockets);

/* As rd_source_ops.netlink has it, from the running kernel. */
int rd_nlsockets_ask(struct rd_nlsockets *sockets, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		     struct rd_err *err);

/* 0 if `request` is one whole message as rd_source_ops.netlink wants it, else -EINVAL with `err` filled. */
int rd_nlrequest_check(const void *request, size_t size, struct rd_err *err);

/* "route", "rdma", "generic" or a number: the name of a protocol in messages and in a bundle. `buf` has 16 bytes. */
const char *rd_nlprotocol_name(int protocol, char *buf);

/* What messages call a request: "netlink rdma, request 5121". `ret` has RD_NLOBJECT bytes. */
#define RD_NLOBJECT 64
void rd_nlrequest_name(int protocol, const void *request, size_t size, char *ret);

/* Whether bytes are whole messages, one behind the other. */
bool rd_nlmsgs_sound(const void *data, size_t size);

/* Where a bundle keeps the answer to a request, below nl/: "route/18-…", 64 bytes at most. The file begins with the
 * request itself, the answer stands behind it. */
void rd_nlrequest_path(int protocol, const void *request, size_t size, char *buf, size_t buf_size);

#endif
