/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request to a source and its reply as bytes, to be sent to another process. */
#ifndef RD_SOURCE_REQUEST_H
#define RD_SOURCE_REQUEST_H

#include "source/shared/source.h"

enum rd_op {
	RD_OP_OPEN,
	RD_OP_READ,
	RD_OP_LIST,
	RD_OP_LINK,
	RD_OP_RDEV,
	RD_OP_INO,
	RD_OP_MODE,
	RD_OP_NOW,
	RD_OP_NETLINK
};

struct rd_request {
	uint32_t op;
	int32_t protocol;
	uint64_t size;	/* of the path with its NUL, or of the request */
	uint8_t data[]; /* a single string or request, of `size` bytes */
};

/*
 * Makes the request to `inner`. The reply is in `bytes` (names: each ends with a NUL) or in `number`, depending on the request.
 * -errno with `err` filled.
 */
int rd_request_put(struct rd_source *inner, const struct rd_request *request, struct rd_bytes *bytes, uint64_t *number,
		   struct rd_err *err);

/*
 * A source that passes each request to one function. To create one, fill ops by rd_forwarder_init, replace operations that
 * differ (now and next are not set), and set `ask`: like rd_request_put, for a request whose data do not follow its head.
 * `object`: the object of error messages.
 */
struct rd_forwarder {
	struct rd_source src;
	struct rd_source_ops ops;
	int (*forward)(struct rd_forwarder *forwarder, const struct rd_request *head, const char *object,
		       const void *data, struct rd_bytes *ret, uint64_t *number, struct rd_err *err);
};

void rd_forwarder_init(struct rd_forwarder *forwarder, const char *name);

#endif
