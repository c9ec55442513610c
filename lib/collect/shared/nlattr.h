/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages and attributes of netlink: walked by libmnl, every length checked before a byte is looked at, types above those
 * asked for passed over. For bytes that a source has handed out.
 */
#ifndef RD_COLLECT_NLATTR_H
#define RD_COLLECT_NLATTR_H

#include <libmnl/libmnl.h>

#include "base/base.h"
#include "source/shared/source.h"

/* One message: what stands behind its header. A negative return ends the walk and is handed on. */
typedef int rd_nlmsg_fn(void *arg, uint16_t type, const uint8_t *body, size_t size);

int rd_nlmsgs_each(const struct rd_bytes *bytes, rd_nlmsg_fn *fn, void *arg);

/* Within an rd_nlmsg_fn: the flags of the message whose body this is. */
uint16_t rd_nlmsg_flags(const uint8_t *body);

/* The positive errno in an NLMSG_ERROR, which ends the answer to a dump that the kernel broke off; 0 for every other. */
int rd_nlmsg_error(uint16_t type, const uint8_t *body, size_t size);

/* A request for all of a kind that rtnetlink knows. `body_size`: of the family's header, at most 16, which is all zeros. */
struct rd_rtnl_dump {
	struct nlmsghdr head; /* says how many bytes of this are the request */
	uint8_t body[16];
};
struct rd_rtnl_dump rd_rtnl_dump(uint16_t type, size_t body_size);

/*
 * What the attributes of one level must hold, by their type: enum mnl_attr_data_type; 0: unknown here, passed over.
 * MNL_TYPE_NUL_STRING is text that ends in a NUL. MNL_TYPE_BINARY is any number of bytes.
 */
#define RD_NLA_TYPES_MAX 256

/*
 * Fills table[type] for the types below `n` (at most RD_NLA_TYPES_MAX) that `policy` names; NULL where there is none, or
 * it is not what the policy says. Of several with one type the last counts. False: behind those that were found stands
 * what is no attribute.
 */
bool rd_nla_table(const void *data, size_t size, const uint8_t *policy, size_t n, const struct nlattr **table);
bool rd_nla_nested(const struct nlattr *nest, const uint8_t *policy, size_t n, const struct nlattr **table);

/* One attribute after the other. Start with *at = NULL; false at the end, or where the rest is no attribute. */
bool rd_nla_next(const void *data, size_t size, const struct nlattr **at);
bool rd_nla_next_nested(const struct nlattr *nest, const struct nlattr **at);

/* Whether a walk that stopped at `at` (NULL: there was none) has come to the end of the nest. */
bool rd_nla_ended_nested(const struct nlattr *nest, const struct nlattr *at);

/* A copy of a text attribute; NULL for NULL, or when out of memory. */
char *rd_nla_text(const struct nlattr *attr);

/* Bytes of a binary attribute: copied into `ret` if there are just so many. */
bool rd_nla_bytes(const struct nlattr *attr, void *ret, size_t size);

/* A number of 1, 2, 4 or 8 bytes, whichever it has. */
bool rd_nla_uint(const struct nlattr *attr, uint64_t *ret);

#endif
