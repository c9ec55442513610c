/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and routes, from rtnetlink. */
#include "collect/host/netdev.h"
#include "collect/shared/nlattr.h"
#include "collect/snapshot/snapshot.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
static bool attr_ip(const struct nlattr *attr, int family, char *ret)
{
	uint8_t raw[16];

	return (family == AF_INET || family == AF_INET6) && rd_nla_bytes(attr, raw, family == AF_INET ? 4 : 16) &&
	       inet_ntop(family, raw, ret, INET6_ADDRSTRLEN);
}

static uint32_t attr_u32(const struct nlattr *attr, uint32_t otherwise)
{
	return attr ? mnl_attr_get_u32(attr) : otherwise;
}

/* State of the collection, with the names of interfaces by index. */
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

static int decode_link(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [IFLA_IFNAME] = MNL_TYPE_STRING };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct ifinfomsg info;
	struct net *net = arg;

	if (type != RTM_NEWLINK || size < sizeof(info))
		return 0;
	memcpy(&info, body, sizeof(info));
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!table[IFLA_IFNAME])
		return 0;
	rd_reserve(&net->links, &net->cap_links, net->n_links + 1, sizeof(*net->links));
	net->links[net->n_links].index = (uint32_t)info.ifi_index;
	snprintf(net->links[net->n_links].name, sizeof(net->links[0].name), "%.*s",
		 (int)mnl_attr_get_payload_len(table[IFLA_IFNAME]), mnl_attr_get_str(table[IFLA_IFNAME]));
	net->n_links++;
	return 0;
}

static int decode_address(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	char ip[INET6_ADDRSTRLEN], field[INET6_ADDRSTRLEN + 8];
	struct rd_ifaddr address;
	struct net *net = arg;

	if (!rd_ifaddr_decode(type, body, size, &address))
		return 0;
	inet_ntop(address.addr.v6 ? AF_INET6 : AF_INET, address.addr.raw, ip, sizeof(ip));
	snprintf(field, sizeof(field), "%s/%u", ip, address.addr.prefix);
	rd_facts_add(net->facts, RD_AREA_ADDRESS, link_name(net, address.ifindex), field, "yes");
	return 0;
}

static int decode_route(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = {
		[RTA_DST] = MNL_TYPE_BINARY,	   [RTA_GATEWAY] = MNL_TYPE_BINARY, [RTA_PREFSRC] = MNL_TYPE_BINARY,
		[RTA_OIF] = MNL_TYPE_U32,	   [RTA_TABLE] = MNL_TYPE_U32,	    [RTA_PRIORITY] = MNL_TYPE_U32,
		[RTA_MULTIPATH] = MNL_TYPE_BINARY,
	};
	char ip[INET6_ADDRSTRLEN], subject[160], value[200] = "", via[INET6_ADDRSTRLEN + 8] = "";
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	uint32_t priority, number;
	struct net *net = arg;
	struct rtmsg info;

	if (type != RTM_NEWROUTE || size < sizeof(info))
		return 0;
	memcpy(&info, body, sizeof(info));
	/* Skip cached routes, and routes that the kernel adds for each address. */
	if (info.rtm_flags & RTM_F_CLONED || info.rtm_type != RTN_UNICAST)
		return 0;
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!attr_ip(table[RTA_DST], info.rtm_family, ip))
		snprintf(ip, sizeof(ip), info.rtm_family == AF_INET6 ? "::" : "0.0.0.0");
	number = attr_u32(table[RTA_TABLE], info.rtm_table);
	priority = attr_u32(table[RTA_PRIORITY], 0);
	snprintf(subject, sizeof(subject), "%s/%u", ip, info.rtm_dst_len);
	/* Each interface has the same ones. */
	if (info.rtm_family == AF_INET6 && strncmp(ip, "fe80:", 5) == 0)
		snprintf(subject + strlen(subject), sizeof(subject) - strlen(subject), " dev %s",
			 link_name(net, attr_u32(table[RTA_OIF], 0)));
	if (number != RT_TABLE_MAIN)
		snprintf(subject + strlen(subject), sizeof(subject) - strlen(subject), " table %u", number);
	if (priority)
		snprintf(subject + strlen(subject), sizeof(subject) - strlen(subject), " metric %u", priority);
	if (attr_ip(table[RTA_GATEWAY], info.rtm_family, ip))
		snprintf(via, sizeof(via), "via %s ", ip);
	if (table[RTA_OIF])
		snprintf(value, sizeof(value), "%sdev %s", via, link_name(net, attr_u32(table[RTA_OIF], 0)));
	else
		snprintf(value, sizeof(value), "%s%s", via, table[RTA_MULTIPATH] ? "multipath" : "");
	if (attr_ip(table[RTA_PREFSRC], info.rtm_family, ip))
		snprintf(value + strlen(value), sizeof(value) - strlen(value), " src %s", ip);
	rd_facts_add(net->facts, RD_AREA_ROUTE, subject, "path", value);
	return 0;
}

static void dump_table(struct rd_source *src, uint16_t type, size_t body_size, rd_nlmsg_fn *decode, struct net *net,
		       enum rd_area area)
{
	struct rd_rtnl_dump request = rd_rtnl_dump(type, body_size);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };

	if (rd_netlink(src, NETLINK_ROUTE, &request, request.head.nlmsg_len, &bytes, NULL) < 0)
		net->facts->partial[area] = true;
	else
		rd_nlmsgs_each(&bytes, decode, net);
}

void rd_snapshot_net(struct rd_source *src, struct rd_facts *ret)
{
	struct net net = { .facts = ret };

	dump_table(src, RTM_GETLINK, sizeof(struct ifinfomsg), decode_link, &net, RD_AREA_ADDRESS);
	dump_table(src, RTM_GETADDR, sizeof(struct ifaddrmsg), decode_address, &net, RD_AREA_ADDRESS);
	dump_table(src, RTM_GETROUTE, sizeof(struct rtmsg), decode_route, &net, RD_AREA_ROUTE);
	free(net.links);
}
