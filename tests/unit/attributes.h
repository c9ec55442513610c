/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes of netlink messages, as bytes. */
#ifndef RD_UNIT_ATTRIBUTES_H
#define RD_UNIT_ATTRIBUTES_H

#include <linux/netlink.h>

#include "base/buf.h"

static inline void put(struct rd_buf *out, uint16_t type, const void *data, size_t size)
{
	struct nlattr attr = { .nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type };
	static const char zeros[4];

	rd_buf_add(out, &attr, sizeof(attr));
	rd_buf_add(out, data, size);
	rd_buf_add(out, zeros, -size & (NLA_ALIGNTO - 1));
}

static inline void put_u32(struct rd_buf *out, uint16_t type, uint32_t value)
{
	put(out, type, &value, sizeof(value));
}

#endif
