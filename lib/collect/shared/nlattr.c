/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/shared/nlattr.h"

#include <string.h>

#include "base/memory.h"

int rd_nlmsgs_each(const struct rd_bytes *bytes, rd_nlmsg_fn *fn, void *arg)
{
	size_t length, left = bytes->size;
	const uint8_t *at = bytes->data;
	int r = 0;

	for (; r >= 0 && (length = rd_nlmsg_length(at, left)); at += length, left -= length) {
		struct nlmsghdr head;

		memcpy(&head, at, sizeof(head));
		r = fn(arg, head.nlmsg_type, at + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
	}
	return r < 0 ? r : 0;
}

uint16_t rd_nlmsg_flags(const uint8_t *body)
{
	struct nlmsghdr head;

	memcpy(&head, body - NLMSG_HDRLEN, sizeof(head));
	return head.nlmsg_flags;
}

struct rd_rtnl_dump rd_rtnl_dump(uint16_t type, size_t body_size)
{
	return (struct rd_rtnl_dump){ .head = { .nlmsg_len = NLMSG_HDRLEN + body_size,
						.nlmsg_type = type,
						.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
}

int rd_nlmsg_error(uint16_t type, const uint8_t *body, size_t size)
{
	int code;

	if (type != NLMSG_ERROR || size < sizeof(code))
		return 0;
	memcpy(&code, body, sizeof(code));
	return code < 0 && code >= -4095 ? -code : 0;
}

bool rd_nla_next(const void *data, size_t size, const struct nlattr **at)
{
	const struct nlattr *next;
	ptrdiff_t left;

	if (!data || size > INT32_MAX)
		return false;
	/* The padding of the last attribute can extend past the end. */
	next = *at ? mnl_attr_next(*at) : data;
	left = (const char *)data + size - (const char *)next;
	if (left <= 0 || !mnl_attr_ok(next, (int)left))
		return false;
	*at = next;
	return true;
}

bool rd_nla_next_nested(const struct nlattr *nest, const struct nlattr **at)
{
	return nest && rd_nla_next(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), at);
}

static bool is_at_end(const void *data, size_t size, const struct nlattr *at)
{
	const char *next = at ? mnl_attr_next(at) : data;

	return !data || next >= (const char *)data + size;
}

bool rd_nla_ended_nested(const struct nlattr *nest, const struct nlattr *at)
{
	return !nest || is_at_end(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), at);
}

bool rd_nla_table(const void *data, size_t size, const uint8_t *policy, size_t n, const struct nlattr **table)
{
	const struct nlattr *attr = NULL;

	memset(table, 0, n * sizeof(*table));
	while (rd_nla_next(data, size, &attr)) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type >= n || !policy[type])
			continue;
		table[type] = mnl_attr_validate(attr, policy[type]) < 0 ? NULL : attr;
	}
	return is_at_end(data, size, attr);
}

bool rd_nla_nested(const struct nlattr *nest, const uint8_t *policy, size_t n, const struct nlattr **table)
{
	return rd_nla_table(nest ? mnl_attr_get_payload(nest) : NULL, nest ? mnl_attr_get_payload_len(nest) : 0, policy,
			    n, table);
}

char *rd_nla_text(const struct nlattr *attr)
{
	return attr ? rd_dup_part(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)) : NULL;
}

bool rd_nla_bytes(const struct nlattr *attr, void *ret, size_t size)
{
	if (!attr || mnl_attr_get_payload_len(attr) != size)
		return false;
	memcpy(ret, mnl_attr_get_payload(attr), size);
	return true;
}

bool rd_nla_uint(const struct nlattr *attr, uint64_t *ret)
{
	uint16_t u16;
	uint32_t u32;

	switch (attr ? mnl_attr_get_payload_len(attr) : 0) {
	case 1:
		*ret = *(const uint8_t *)mnl_attr_get_payload(attr);
		return true;
	case 2:
		memcpy(&u16, mnl_attr_get_payload(attr), sizeof(u16));
		*ret = u16;
		return true;
	case 4:
		memcpy(&u32, mnl_attr_get_payload(attr), sizeof(u32));
		*ret = u32;
		return true;
	case 8:
		/* Aligned to 4 only. */
		memcpy(ret, mnl_attr_get_payload(attr), sizeof(*ret));
		return true;
	}
	return false;
}
