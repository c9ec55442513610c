/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and routes, from rtnetlink. */
#include "collect/snapshot.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#define ATTRS_MAX 32

/* The attributes of one message, by type; those of a message that is cut short are left out. */
struct attrs {
	const uint8_t *v[ATTRS_MAX];
	size_t size[ATTRS_MAX];
};

static void attrs_read(const uint8_t *at, size_t size, struct attrs *ret)
{
	*ret = (struct attrs){ 0 };
	while (size >= NLA_HDRLEN) {
		struct nlattr attr;
		size_t step;

		memcpy(&attr, at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > size)
			return;
		attr.nla_type &= NLA_TYPE_MASK;
		if (attr.nla_type < ATTRS_MAX) {
			ret->v[attr.nla_type] = at + NLA_HDRLEN;
			ret->size[attr.nla_type] = attr.nla_len - NLA_HDRLEN;
		}
		step = NLA_ALIGN(attr.nla_len);
		if (step > size)
			return;
		at += step;
		size -= step;
	}
}

static bool attr_u32(const struct attrs *attrs, size_t type, uint32_t *ret)
{
	if (!attrs->v[type] || attrs->size[type] != sizeof(*ret))
		return false;
	memcpy(ret, attrs->v[type], sizeof(*ret));
	return true;
}

static bool attr_ip(const struct attrs *attrs, size_t type, int family, char *ret)
{
	size_t size = family == AF_INET ? 4 : 16;

	if (!attrs->v[type] || attrs->size[type] != size || (family != AF_INET && family != AF_INET6))
		return false;
	return inet_ntop(family, attrs->v[type], ret, INET6_ADDRSTRLEN);
}

/* Names of interfaces by their index. */
struct net {
	struct rd_facts *facts;
	struct {
		uint32_t index;
		char name[32];
	} * links;
	size_t n_links, cap_links;
};

static const char *link_name(const struct net *net, uint32_t index)
{
	for (size_t i = 0; i < net->n_links; i++)
		if (net->links[i].index == index)
			return net->links[i].name;
	return "?";
}

typedef void message_fn(struct net *net, const void *body, size_t size);

static void take_link(struct net *net, const void *body, size_t size)
{
	struct ifinfomsg info;
	struct attrs attrs;

	if (size < sizeof(info))
		return;
	memcpy(&info, body, sizeof(info));
	attrs_read((const uint8_t *)body + sizeof(info), size - sizeof(info), &attrs);
	if (!attrs.v[IFLA_IFNAME] || !attrs.size[IFLA_IFNAME])
		return;
	if (rd_grow(&net->links, &net->cap_links, net->n_links + 1, sizeof(*net->links)) < 0) {
		net->facts->failed = true;
		return;
	}
	net->links[net->n_links].index = (uint32_t)info.ifi_index;
	snprintf(net->links[net->n_links].name, sizeof(net->links[0].name), "%.*s", (int)attrs.size[IFLA_IFNAME],
		 (const char *)attrs.v[IFLA_IFNAME]);
	net->n_links++;
}

static void take_address(struct net *net, const void *body, size_t size)
{
	char ip[INET6_ADDRSTRLEN], field[INET6_ADDRSTRLEN + 8];
	struct ifaddrmsg info;
	struct attrs attrs;

	if (size < sizeof(info))
		return;
	memcpy(&info, body, sizeof(info));
	attrs_read((const uint8_t *)body + sizeof(info), size - sizeof(info), &attrs);
	if (!attr_ip(&attrs, IFA_LOCAL, info.ifa_family, ip) && !attr_ip(&attrs, IFA_ADDRESS, info.ifa_family, ip))
		return;
	snprintf(field, sizeof(field), "%s/%u", ip, info.ifa_prefixlen);
	rd_facts_add(net->facts, RD_AREA_ADDRESS, link_name(net, info.ifa_index), field, "yes");
}

static void take_route(struct net *net, const void *body, size_t size)
{
	char ip[INET6_ADDRSTRLEN], subject[160], value[200] = "", via[INET6_ADDRSTRLEN + 8] = "";
	uint32_t oif = 0, priority = 0, table;
	struct rtmsg info;
	struct attrs attrs;

	if (size < sizeof(info))
		return;
	memcpy(&info, body, sizeof(info));
	/* Those that the kernel makes up while it forwards, and its own for each address. */
	if (info.rtm_flags & RTM_F_CLONED || info.rtm_type != RTN_UNICAST)
		return;
	attrs_read((const uint8_t *)body + sizeof(info), size - sizeof(info), &attrs);
	if (!attr_ip(&attrs, RTA_DST, info.rtm_family, ip))
		snprintf(ip, sizeof(ip), info.rtm_family == AF_INET6 ? "::" : "0.0.0.0");
	if (!attr_u32(&attrs, RTA_TABLE, &table))
		table = info.rtm_table;
	attr_u32(&attrs, RTA_PRIORITY, &priority);
	snprintf(subject, sizeof(subject), "%s/%u", ip, info.rtm_dst_len);
	if (table != RT_TABLE_MAIN)
		snprintf(subject + strlen(subject), sizeof(subject) - strlen(subject), " table %u", table);
	if (priority)
		snprintf(subject + strlen(subject), sizeof(subject) - strlen(subject), " metric %u", priority);
	if (attr_ip(&attrs, RTA_GATEWAY, info.rtm_family, ip))
		snprintf(via, sizeof(via), "via %s ", ip);
	if (attr_u32(&attrs, RTA_OIF, &oif))
		snprintf(value, sizeof(value), "%sdev %s", via, link_name(net, oif));
	else
		snprintf(value, sizeof(value), "%s%s", via, attrs.v[RTA_MULTIPATH] ? "several ways" : "");
	if (attr_ip(&attrs, RTA_PREFSRC, info.rtm_family, ip))
		snprintf(value + strlen(value), sizeof(value) - strlen(value), " src %s", ip);
	rd_facts_add(net->facts, RD_AREA_ROUTE, subject, "path", value);
}

/* `body_size`: of the family's header in the request. */
static void dump(struct rd_source *src, uint16_t type, size_t body_size, uint16_t answer, struct net *net,
		 message_fn *take)
{
	uint8_t request[NLMSG_HDRLEN + 16] = { 0 };
	struct nlmsghdr head = { .nlmsg_len = NLMSG_HDRLEN + body_size,
				 .nlmsg_type = type,
				 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const uint8_t *at;
	size_t left, length;

	memcpy(request, &head, sizeof(head));
	if (rd_netlink(src, NETLINK_ROUTE, request, head.nlmsg_len, &bytes, NULL) < 0)
		return;
	for (at = bytes.data, left = bytes.size; (length = rd_nlmsg_length(at, left)); at += length, left -= length) {
		memcpy(&head, at, sizeof(head));
		if (head.nlmsg_type == answer)
			take(net, at + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
	}
}

void rd_snapshot_net(struct rd_source *src, struct rd_facts *ret)
{
	struct net net = { .facts = ret };

	dump(src, RTM_GETLINK, sizeof(struct ifinfomsg), RTM_NEWLINK, &net, take_link);
	dump(src, RTM_GETADDR, sizeof(struct ifaddrmsg), RTM_NEWADDR, &net, take_address);
	dump(src, RTM_GETROUTE, sizeof(struct rtmsg), RTM_NEWROUTE, &net, take_route);
	free(net.links);
}
