/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink messages and attributes of a reply from a source. Uses libmnl; every length is checked before data is accessed, and
 * attribute types above the highest requested one are ignored.
 */
#ifndef RD_COLLECT_NLATTR_H
#define RD_COLLECT_NLATTR_H

#include <libmnl/libmnl.h>

#include "source/shared/source.h"
#include <linux/genetlink.h>

/* Called with the payload of each message. */
typedef void rd_nlmsg_fn(void *arg, uint16_t type, const uint8_t *body, size_t size);

void rd_nlmsgs_each(const struct rd_bytes *bytes, rd_nlmsg_fn *fn, void *arg);

/* A dump request for rtnetlink. `body_size`: of the family header, at most 16 bytes, all zeros. */
struct rd_rtnl_dump {
	struct nlmsghdr head; /* nlmsg_len is the size of the request */
	uint8_t body[16];
};
struct rd_rtnl_dump rd_rtnl_dump(uint16_t type, size_t body_size);

/*
 * A policy is the data type of the attributes of one level, indexed by attribute type: enum mnl_attr_data_type; 0: ignore.
 * MNL_TYPE_NUL_STRING is NUL-terminated text, MNL_TYPE_BINARY any number of bytes.
 */
#define RD_NLA_TYPES_MAX 256

/*
 * Fills table[type] for the types in `policy`, below `n` (at most RD_NLA_TYPES_MAX); NULL if the attribute is missing or does not
 * match the policy. The last of several attributes of one type is used. False: the data after the last valid attribute is not an
 * attribute.
 */
bool rd_nla_table(const void *data, size_t size, const uint8_t *policy, size_t n, const struct nlattr **table);
bool rd_nla_nested(const struct nlattr *nest, const uint8_t *policy, size_t n, const struct nlattr **table);

/* Iterates over attributes. Start with *at = NULL; false at the end, or if the rest is not an attribute. */
bool rd_nla_next(const void *data, size_t size, const struct nlattr **at);
bool rd_nla_next_nested(const struct nlattr *nest, const struct nlattr **at);

/* Whether an iteration that stopped at `at` (NULL: no attribute) reached the end of the nest. */
bool rd_nla_ended_nested(const struct nlattr *nest, const struct nlattr *at);

/* A copy of a text attribute; NULL of NULL. */
char *rd_nla_text(const struct nlattr *attr);

/* Copies a binary attribute into `ret` if it has exactly `size` bytes. */
bool rd_nla_bytes(const struct nlattr *attr, void *ret, size_t size);

/* Reads an unsigned integer of 1, 2, 4 or 8 bytes. */
bool rd_nla_uint(const struct nlattr *attr, uint64_t *ret);

/* ---- generic netlink: lookup of families by name, and ethtool requests (Documentation/networking/ethtool-netlink.rst) */

/* The ID of a family ("ethtool", "devlink"); -ENOENT if the kernel does not have it, or another -errno. */
int rd_genl_family(struct rd_source *src, const char *name, uint16_t *ret, struct rd_err *err);

/* A request under construction: both headers, then attributes added with mnl_attr_put_check(head, sizeof(…data), …). */
struct rd_genl_request {
	union {
		struct nlmsghdr head;
		uint8_t data[512];
	};
};
void rd_genl_begin(struct rd_genl_request *request, uint16_t family, uint8_t command, uint16_t flags);

/* Sends the request and returns the reply, to be read with rd_genl_each. */
int rd_genl_query(struct rd_source *src, const struct rd_genl_request *request, struct rd_bytes *ret,
		  struct rd_err *err);

/* Called with the attributes of each message of a reply. */
typedef void rd_genl_fn(void *arg, uint8_t command, const void *attrs, size_t size);
void rd_genl_each(const struct rd_bytes *reply, rd_genl_fn *fn, void *arg);

/*
 * Sends an ethtool request for one interface: `command` is ETHTOOL_MSG_…_GET, `stats` requests statistics with it (pause, FEC),
 * `groups` is a mask of 1 << ETHTOOL_STATS_… for ETHTOOL_MSG_STATS_GET, 0 for other commands. `family` comes from
 * rd_genl_family(…, ETHTOOL_GENL_NAME, …).
 */
int rd_ethtool_query(struct rd_source *src, uint16_t family, uint8_t command, const char *netdev, bool stats,
		     uint32_t groups, struct rd_bytes *ret, struct rd_err *err);

#endif
