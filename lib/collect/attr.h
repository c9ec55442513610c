/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink messages and their attributes as foreign bytes: every length is verified before a pointer is handed out, what is
 * not in the reader's table is passed over, what has the wrong size is left out. Values are then read by libmnl's
 * mnl_attr_get_*. Requests are made by libmnl's mnl_nlmsg_put_header and mnl_attr_put_*, with nlmsg_seq 0.
 */
#ifndef RD_COLLECT_ATTR_H
#define RD_COLLECT_ATTR_H

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include "source/source.h"

/*
 * The attributes in `size` bytes, by their type: `ret` has n entries, NULL for what is not there. `policy` says for each
 * type what it must be (enum mnl_attr_data_type: MNL_TYPE_U32 …, MNL_TYPE_NUL_STRING, MNL_TYPE_NESTED, MNL_TYPE_BINARY);
 * MNL_TYPE_UNSPEC, which is 0, passes it over. Of several of one type the last counts. Returns 0, or -EBADMSG where an
 * attribute lies about its length: those before it are there.
 */
int rd_attrs_parse(const void *data, size_t size, const uint8_t *policy, size_t n, const struct nlattr **ret);

/* The same of what is nested in `attr`. */
int rd_attrs_parse_nested(const struct nlattr *attr, const uint8_t *policy, size_t n, const struct nlattr **ret);

/* A walk over attributes of which there are several of a type (the entries of a table): the next one, or NULL at the end and
 * where one lies about its length (`left` is then not 0). */
struct rd_attr_walk {
	const uint8_t *at;
	size_t left;
};
struct rd_attr_walk rd_attr_walk_nested(const struct nlattr *attr);
const struct nlattr *rd_attr_next(struct rd_attr_walk *walk);

/* A walk over the messages of an answer; false at the end. */
struct rd_nlmsg {
	uint16_t type, flags;
	const uint8_t *body; /* behind the netlink header */
	size_t size;
};
bool rd_nlmsg_next(struct rd_attr_walk *walk, struct rd_nlmsg *ret);
struct rd_attr_walk rd_nlmsg_walk(const struct rd_bytes *answer);

/* The positive errno in an NLMSG_ERROR message, which ends an answer that the kernel broke off; 0 for every other. */
int rd_nlmsg_error(const struct rd_nlmsg *msg);

#endif
