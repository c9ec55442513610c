/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generic netlink: families by name, and requests of the ethtool family (Documentation/networking/ethtool-netlink.rst). */
#ifndef RD_COLLECT_GENL_H
#define RD_COLLECT_GENL_H

#include <linux/genetlink.h>

#include "base/err.h"
#include "collect/shared/nlattr.h"
#include "source/shared/source.h"

/* The number of a family ("ethtool", "devlink"); -ENOENT where the kernel has none, or what else it said. */
int rd_genl_family(struct rd_source *src, const char *name, uint16_t *ret, struct rd_err *err);

/* A request that is being built: header, generic header, then attributes by mnl_attr_put_check(head, sizeof(…data), …). */
struct rd_genl_request {
	union {
		struct nlmsghdr head;
		uint8_t data[512];
	};
};
void rd_genl_begin(struct rd_genl_request *request, uint16_t family, uint8_t command, uint16_t flags);

/* Asks. What comes back is walked with rd_genl_each. */
int rd_genl_ask(struct rd_source *src, const struct rd_genl_request *request, struct rd_bytes *ret, struct rd_err *err);

/* What stands behind both headers of a message of an answer. A negative return ends the walk and is handed on. */
typedef int rd_genl_fn(void *arg, uint8_t command, const void *attrs, size_t size);
int rd_genl_each(const struct rd_bytes *answer, rd_genl_fn *fn, void *arg);

/*
 * Asks ethtool for one interface: `command` is ETHTOOL_MSG_…_GET, `stats` whether statistics are wanted with it (pause,
 * FEC), `groups` bits of 1 << ETHTOOL_STATS_… for ETHTOOL_MSG_STATS_GET, 0 for other commands. `family`: of
 * rd_genl_family(…, ETHTOOL_GENL_NAME, …).
 */
int rd_ethtool_ask(struct rd_source *src, uint16_t family, uint8_t command, const char *netdev, bool stats,
		   uint32_t groups, struct rd_bytes *ret, struct rd_err *err);

#endif
