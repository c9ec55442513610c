/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/attr.h"

#include <errno.h>
#include <string.h>

const struct nlattr *rd_attr_next(struct rd_attr_walk *walk)
{
	const struct nlattr *attr = (const struct nlattr *)walk->at;
	size_t step;

	if (walk->left < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN || attr->nla_len > walk->left)
		return NULL;
	/* The last one need not be padded. */
	step = NLA_ALIGN((size_t)attr->nla_len);
	if (step > walk->left)
		step = walk->left;
	walk->at += step;
	walk->left -= step;
	return attr;
}

struct rd_attr_walk rd_attr_walk_nested(const struct nlattr *attr)
{
	return (struct rd_attr_walk){ (const uint8_t *)attr + NLA_HDRLEN, attr->nla_len - NLA_HDRLEN };
}

int rd_attrs_parse(const void *data, size_t size, const uint8_t *policy, size_t n, const struct nlattr **ret)
{
	struct rd_attr_walk walk = { data, size };
	const struct nlattr *attr;

	memset(ret, 0, n * sizeof(*ret));
	while ((attr = rd_attr_next(&walk))) {
		uint16_t type = attr->nla_type & NLA_TYPE_MASK;

		if (type < n && policy[type] != MNL_TYPE_UNSPEC && mnl_attr_validate(attr, policy[type]) == 0)
			ret[type] = attr;
	}
	return walk.left ? -EBADMSG : 0;
}

int rd_attrs_parse_nested(const struct nlattr *attr, const uint8_t *policy, size_t n, const struct nlattr **ret)
{
	struct rd_attr_walk walk = rd_attr_walk_nested(attr);

	return rd_attrs_parse(walk.at, walk.left, policy, n, ret);
}

struct rd_attr_walk rd_nlmsg_walk(const struct rd_bytes *answer)
{
	return (struct rd_attr_walk){ answer->data, answer->size };
}

bool rd_nlmsg_next(struct rd_attr_walk *walk, struct rd_nlmsg *ret)
{
	size_t length = rd_nlmsg_length(walk->at, walk->left);
	struct nlmsghdr head;

	if (!length)
		return false;
	memcpy(&head, walk->at, sizeof(head));
	*ret = (struct rd_nlmsg){ head.nlmsg_type, head.nlmsg_flags, walk->at + NLMSG_HDRLEN,
				  head.nlmsg_len - NLMSG_HDRLEN };
	walk->at += length;
	walk->left -= length;
	return true;
}

int rd_nlmsg_error(const struct rd_nlmsg *msg)
{
	int code;

	if (msg->type != NLMSG_ERROR || msg->size < sizeof(code))
		return 0;
	memcpy(&code, msg->body, sizeof(code));
	return code < 0 && code >= -4095 ? -code : 0;
}
