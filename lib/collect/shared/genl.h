/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generic netlink: lookup of families by name, and ethtool requests (Documentation/networking/ethtool-netlink.rst). */
#ifndef RD_COLLECT_GENL_H
#define RD_COLLECT_GENL_H

#include <linux/genetlink.h>

#include "base/err.h"
#include "collect/shared/nlattr.h"
#include "source/shared/source.h"

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

/* Called with the attributes of each message of a reply. A negative return value ends the iteration and is returned. */
typedef int rd_genl_fn(void *arg, uint8_t command, const void *attrs, size_t size);
int rd_genl_each(const struct rd_bytes *reply, rd_genl_fn *fn, void *arg);

/*
 * Sends an ethtool request for one interface: `command` is ETHTOOL_MSG_…_GET, `stats` requests statistics with it (pause, FEC),
 * `groups` is a mask of 1 << ETHTOOL_STATS_… for ETHTOOL_MSG_STATS_GET, 0 for other commands. `family` comes from
 * rd_genl_family(…, ETHTOOL_GENL_NAME, …).
 */
int rd_ethtool_query(struct rd_source *src, uint16_t family, uint8_t command, const char *netdev, bool stats,
		     uint32_t groups, struct rd_bytes *ret, struct rd_err *err);

#endif
