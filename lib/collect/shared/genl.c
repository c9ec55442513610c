/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/shared/genl.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <string.h>

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

static int take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct each *each = arg;
	struct genlmsghdr head;

	if (type < NLMSG_MIN_TYPE || size < GENL_HDRLEN)
		return 0;
	memcpy(&head, body, sizeof(head));
	return each->fn(each->arg, head.cmd, body + GENL_HDRLEN, size - GENL_HDRLEN);
}

int rd_genl_each(const struct rd_bytes *reply, rd_genl_fn *fn, void *arg)
{
	struct each each = { fn, arg };

	return rd_nlmsgs_each(reply, take_message, &each);
}

static int take_family(void *arg, uint8_t command, const void *attrs, size_t size)
{
	static const uint8_t policy[] = { [CTRL_ATTR_FAMILY_ID] = MNL_TYPE_U16 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	uint64_t value;

	(void)command;
	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	if (table[CTRL_ATTR_FAMILY_ID] && rd_nla_uint(table[CTRL_ATTR_FAMILY_ID], &value))
		*(uint16_t *)arg = (uint16_t)value;
	return 0;
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
	if (!ok)
		return rd_err_set(err, EINVAL, netdev, "interface name is too long");
	return rd_genl_query(src, &request, ret, err);
}
