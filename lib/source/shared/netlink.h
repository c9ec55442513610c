/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink messages as bytes: requests to the kernel, and how a recording stores a request with its reply. */
#ifndef RD_NETLINK_H
#define RD_NETLINK_H

#include "source/shared/source.h"

/* Commands that are newer than the build headers: of Linux 6.3 (for all interfaces 6.12) and 6.8. */
enum { RD_ETHTOOL_MSG_RSS_GET = 38, RD_NETDEV_CMD_QUEUE_GET = 10 };

/* One socket per protocol, opened on first use. */
struct rd_nlsockets {
	struct rd_nlsocket {
		int protocol;
		struct mnl_socket *socket;
	} v[4];
	size_t n;
	uint32_t seq;
};

void rd_nlsockets_deinit(struct rd_nlsockets *sockets);

/* Like rd_source_ops.netlink, on the running kernel. */
int rd_nlsockets_ask(struct rd_nlsockets *sockets, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		     struct rd_err *err);

/* 0 if `request` is one complete message as rd_source_ops.netlink requires, else -EINVAL with `err` filled. */
int rd_nlrequest_check(const void *request, size_t size, struct rd_err *err);

/* "route", "rdma", "generic" or a number: the name of a protocol in messages and in a bundle. `buf` has 16 bytes. */
const char *rd_nlprotocol_name(int protocol, char *buf);

/* The object of a query in error messages: its path, or "netlink rdma, request 5121" in `buf`, which has RD_NLOBJECT bytes. */
#define RD_NLOBJECT 64
const char *rd_query_object(const struct rd_query *query, char *buf);

/* Whether the bytes are a sequence of complete messages. */
bool rd_nlmsgs_sound(const void *data, size_t size);

/* The file of a request in a bundle, below nl/: "route/18-…", at most 64 bytes. It contains the request, followed by the
 * reply. */
void rd_nlrequest_path(int protocol, const void *request, size_t size, char *buf, size_t buf_size);

#endif
