/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink messages and attributes; generic netlink. */
#include "collect/shared/nlattr.h"

#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>

void rd_nlmsgs_each(const struct rd_bytes *bytes, rd_nlmsg_fn *fn, void *arg)
{
	size_t length, left = bytes->size;
	const uint8_t *at = bytes->data;

	for (; (length = rd_nlmsg_length(at, left)); at += length, left -= length) {
		struct nlmsghdr head;

		memcpy(&head, at, sizeof(head));
		fn(arg, head.nlmsg_type, at + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
	}
}

struct rd_rtnl_dump rd_rtnl_dump(uint16_t type, size_t body_size)
{
	return (struct rd_rtnl_dump){ .head = { .nlmsg_len = NLMSG_HDRLEN + body_size,
						.nlmsg_type = type,
						.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
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

/* Attribute type of the header in all ethtool requests except ETHTOOL_MSG_STATS_GET, where type 1 is padding. */
#define HEADER 1

void rd_genl_begin(struct rd_genl_request *request, uint16_t family, uint8_t command, uint16_t flags)
{
	struct genlmsghdr *head;

	memset(request, 0, sizeof(*request));
	mnl_nlmsg_put_header(request->data);
	request->head.nlmsg_type = family;
	request->head.nlmsg_flags = NLM_F_REQUEST | flags;
	head = mnl_nlmsg_put_extra_header(&request->head, sizeof(*head));
	head->cmd = command;
	head->version = 1;
}

int rd_genl_query(struct rd_source *src, const struct rd_genl_request *request, struct rd_bytes *ret, struct rd_err *err)
{
	return rd_netlink(src, NETLINK_GENERIC, request->data, request->head.nlmsg_len, ret, err);
}

struct each {
	rd_genl_fn *fn;
	void *arg;
};

static void take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct each *each = arg;
	struct genlmsghdr head;

	if (type < NLMSG_MIN_TYPE || size < GENL_HDRLEN)
		return;
	memcpy(&head, body, sizeof(head));
	each->fn(each->arg, head.cmd, body + GENL_HDRLEN, size - GENL_HDRLEN);
}

void rd_genl_each(const struct rd_bytes *reply, rd_genl_fn *fn, void *arg)
{
	struct each each = { fn, arg };

	rd_nlmsgs_each(reply, take_message, &each);
}

static void take_family(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = { [CTRL_ATTR_FAMILY_ID] = MNL_TYPE_U16 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	uint64_t value;

	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	if (table[CTRL_ATTR_FAMILY_ID] && rd_nla_uint(table[CTRL_ATTR_FAMILY_ID], &value))
		*(uint16_t *)arg = (uint16_t)value;
}

int rd_genl_family(struct rd_source *src, const char *name, uint16_t *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct rd_genl_request request;
	uint16_t family = 0;
	int r;

	rd_genl_begin(&request, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	if (!mnl_attr_put_strz_check(&request.head, sizeof(request.data), CTRL_ATTR_FAMILY_NAME, name))
		return rd_err_set(err, EINVAL, name, "family name is too long");
	r = rd_genl_query(src, &request, &reply, err);
	if (r < 0)
		return r;
	rd_genl_each(&reply, take_family, &family);
	if (!family)
		return rd_err_set(err, EBADMSG, name, "reply without the ID of the generic netlink family");
	*ret = family;
	return 0;
}

int rd_ethtool_query(struct rd_source *src, uint16_t family, uint8_t command, const char *netdev, bool stats,
		     uint32_t groups, struct rd_bytes *ret, struct rd_err *err)
{
	const size_t size = sizeof(((struct rd_genl_request *)0)->data);
	struct rd_genl_request request;
	struct nlattr *nest;
	bool ok;

	rd_genl_begin(&request, family, command, 0);
	nest = mnl_attr_nest_start_check(&request.head, size, groups ? ETHTOOL_A_STATS_HEADER : HEADER);
	ok = nest && mnl_attr_put_strz_check(&request.head, size, ETHTOOL_A_HEADER_DEV_NAME, netdev);
	if (ok && stats)
		ok = mnl_attr_put_u32_check(&request.head, size, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_STATS);
	if (nest)
		mnl_attr_nest_end(&request.head, nest);
	if (ok && groups) {
		/* A compact bit set: size and value, without a mask. */
		nest = mnl_attr_nest_start_check(&request.head, size, ETHTOOL_A_STATS_GROUPS);
		ok = nest && mnl_attr_put_check(&request.head, size, ETHTOOL_A_BITSET_NOMASK, 0, NULL) &&
		     mnl_attr_put_u32_check(&request.head, size, ETHTOOL_A_BITSET_SIZE, __ETHTOOL_STATS_CNT) &&
		     mnl_attr_put_u32_check(&request.head, size, ETHTOOL_A_BITSET_VALUE, groups);
		if (nest)
			mnl_attr_nest_end(&request.head, nest);
	}
	return !ok ? rd_err_set(err, EINVAL, netdev, "interface name is too long") :
		     rd_genl_query(src, &request, ret, err);
}
