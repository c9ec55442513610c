/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links, addresses, neighbours and routes: rtnetlink, and /proc/net where there is none. */
#include "collect/net/netstate.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "collect/host/host.h"

/* Addresses of interfaces, from rtnetlink. */

#define ADDRS_MAX 1024

static void rd_netdev_add_addr(struct rd_netdev *netdev, const struct rd_addr *addr)
{
	if (netdev->n_addrs < ADDRS_MAX)
		*RD_ADD(netdev->addrs, netdev->n_addrs, netdev->cap_addrs) = *addr;
}

/* IFA_LOCAL is the local address. IFA_ADDRESS is the peer's on a point-to-point link, and the only attribute for IPv6. */
/* Decodes an rtnetlink message about an address. False: another message, or not an IP address. */
static bool rd_ifaddr_decode(uint16_t type, const uint8_t *body, size_t size, struct rd_ifaddr *ret)
{
	static const uint8_t policy[] = {
		[IFA_ADDRESS] = MNL_TYPE_BINARY, [IFA_LOCAL] = MNL_TYPE_BINARY, [IFA_FLAGS] = MNL_TYPE_U32
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct ifaddrmsg info;
	size_t wanted;

	*ret = (struct rd_ifaddr){ 0 };
	if (type != RTM_NEWADDR || size < sizeof(info))
		return false;
	memcpy(&info, body, sizeof(info));
	if (info.ifa_family != AF_INET && info.ifa_family != AF_INET6)
		return false;
	ret->addr.v6 = info.ifa_family == AF_INET6;
	ret->addr.prefix = info.ifa_prefixlen;
	ret->ifindex = info.ifa_index;
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	ret->flags = table[IFA_FLAGS] ? mnl_attr_get_u32(table[IFA_FLAGS]) : info.ifa_flags;
	wanted = ret->addr.v6 ? 16 : 4;
	return rd_nla_bytes(table[IFA_LOCAL], ret->addr.raw, wanted) ||
	       rd_nla_bytes(table[IFA_ADDRESS], ret->addr.raw, wanted);
}

static void take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct rd_host *host = arg;
	struct rd_ifaddr address;
	size_t i = 0;

	if (!rd_ifaddr_decode(type, body, size, &address))
		return;
	while (i < host->n_netdevs && host->netdevs[i].ifindex != address.ifindex)
		i++;
	if (i < host->n_netdevs)
		rd_netdev_add_addr(&host->netdevs[i], &address.addr);
}

/* Addresses from rtnetlink: 0, or the errno of a source without netlink. */
static int rd_collect_netaddr(const struct rd_sysfs *fs, struct rd_host *host)
{
	struct rd_rtnl_dump request = rd_rtnl_dump(RTM_GETADDR, sizeof(struct ifaddrmsg));
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_netlink(fs->src, NETLINK_ROUTE, &request, request.head.nlmsg_len, &bytes, NULL);

	if (!r)
		rd_nlmsgs_each(&bytes, take_message, host);
	return r;
}

/* /proc/net: default routes, and the addresses of interfaces if netlink is not available. */

#define PROC_ROUTES_MAX 4096

struct route {
	int netdev;
	uint32_t to, mask; /* host byte order */
};

struct routes {
	struct route *v;
	size_t n, cap;
};

/* The interface with the connected route to the address; -1 if there is none, or more than one. */
static int netdev_of(const struct routes *routes, uint32_t addr, uint32_t *mask)
{
	int found = -1;

	*mask = 0;
	for (size_t i = 0; i < routes->n; i++) {
		const struct route *route = &routes->v[i];

		if ((addr & route->mask) != route->to || route->mask < *mask)
			continue;
		found = route->mask == *mask && found >= 0 && found != route->netdev ? -1 : route->netdev;
		*mask = route->mask;
	}
	return found;
}

static bool has_addr(const struct rd_netdev *netdev, const struct rd_addr *addr)
{
	for (size_t i = 0; i < netdev->n_addrs; i++)
		if (!netdev->addrs[i].v6 && memcmp(netdev->addrs[i].raw, addr->raw, 4) == 0)
			return true;
	return false;
}

/* Tables are in the order of the kernel's hash: "Main:" usually first. Until the first policy rule is added, Main and Local are
 * one trie, which is printed under both names; after that, local addresses are in Local only.
 * "    |-- 10.9.0.1", then "       /32 host LOCAL" for an address of this host. */
static void read_v4(const struct rd_sysfs *fs, struct rd_host *host, const struct routes *routes)
{
	_cleanup_free_ char *text = routes->n > 0 ? rd_sysfs_text(fs, NULL, "/proc/net/fib_trie") : NULL;
	struct in_addr last = { 0 };

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		struct rd_addr addr = { 0 };
		char *at = strstr(line, "|-- "), ip[20];
		uint32_t mask;
		int netdev;

		if (at) {
			snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(at + 4, " \t"), at + 4);
			if (inet_pton(AF_INET, ip, &last) != 1)
				last.s_addr = 0;
		}
		if (!last.s_addr || !strstr(line, "/32 host LOCAL"))
			continue;
		netdev = netdev_of(routes, ntohl(last.s_addr), &mask);
		memcpy(addr.raw, &last.s_addr, 4);
		addr.prefix = (unsigned)__builtin_popcount(mask);
		last.s_addr = 0;
		if (netdev >= 0 && !has_addr(&host->netdevs[netdev], &addr))
			rd_netdev_add_addr(&host->netdevs[netdev], &addr);
	}
}

/* 32 hexadecimal digits. */
static bool parse_address(const char *text, uint8_t ret[16])
{
	uint64_t byte;

	for (size_t i = 0; i < 16; i++) {
		if (rd_take_hex(&text, 2, &byte) < 0)
			return false;
		ret[i] = (uint8_t)byte;
	}
	return !*text;
}

/* "fe80000000000000021b21fffe6a1c1e 02 40 20 80     eth0": address, interface, prefix, scope, flags, name */
static void read_v6(const struct rd_sysfs *fs, struct rd_host *host)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/proc/net/if_inet6");

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		struct rd_addr addr = { .v6 = true };
		char *words[6];
		int netdev;

		if (rd_words(&line, words, 6) < 6 || !parse_address(words[0], addr.raw) ||
		    rd_parse_u32(words[2], RD_HEX, 128, &addr.prefix) < 0)
			continue;
		netdev = rd_host_find_netdev(host, words[5]);
		if (netdev >= 0)
			rd_netdev_add_addr(&host->netdevs[netdev], &addr);
	}
}

void rd_collect_procnet(const struct rd_sysfs *fs, struct rd_host *host)
{
	struct routes routes = { 0 };
	_cleanup_free_ char *text = NULL;

	/* "Iface Destination Gateway Flags RefCnt Use Metric Mask …": addresses in network order, printed as integers of the host's byte
	 * order. */
	text = rd_sysfs_text(fs, NULL, "/proc/net/route");
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		uint32_t to, gateway, flags, mask;
		char *words[8];
		int netdev;

		if (rd_words(&line, words, 8) < 8 || rd_parse_u32(words[1], RD_HEX, UINT32_MAX, &to) < 0 ||
		    rd_parse_u32(words[2], RD_HEX, UINT32_MAX, &gateway) < 0 ||
		    rd_parse_u32(words[3], RD_HEX, UINT32_MAX, &flags) < 0 ||
		    rd_parse_u32(words[7], RD_HEX, UINT32_MAX, &mask) < 0)
			continue;
		netdev = rd_host_find_netdev(host, words[0]);
		if (netdev < 0 || !(flags & 1))
			continue;
		if (to == 0 && mask == 0)
			host->netdevs[netdev].default_route = true;
		if (to != 0 && !gateway && routes.n < PROC_ROUTES_MAX)
			*RD_ADD(routes.v, routes.n, routes.cap) = (struct route){ netdev, ntohl(to), ntohl(mask) };
	}
	if (rd_collect_netaddr(fs, host) < 0) {
		read_v4(fs, host, &routes);
		read_v6(fs, host);
	}
	free(routes.v);
}

/* Interfaces, addresses, routes, policy rules and neighbours, from rtnetlink. */

/* Far above the numbers of a host with RDMA devices; below those of a router with a full Internet routing table. */
#define LINKS_MAX 65536
#define ROUTES_MAX ((size_t)1 << 18)
#define NEIGHS_MAX ((size_t)1 << 18)

#define FILTER_SKIP_STATS 8 /* RTEXT_FILTER_SKIP_STATS: saves two thirds of each message */

static enum rd_known dump_rtnl(const struct rd_sysfs *fs, uint16_t type, size_t body_size, rd_nlmsg_fn *take,
			       struct rd_netstate *net)
{
	struct rd_rtnl_dump request = rd_rtnl_dump(type, body_size);

	return rd_netstate_dump(fs, NETLINK_ROUTE, &request, request.head.nlmsg_len, take, net);
}

static uint32_t u32_of(const struct nlattr *attr)
{
	return attr ? mnl_attr_get_u32(attr) : 0;
}

static size_t address_size(int family)
{
	return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

static void read_link_info(const struct nlattr *info, struct rd_netif *netif)
{
	static const uint8_t policy[] = { [IFLA_INFO_KIND] = MNL_TYPE_STRING, [IFLA_INFO_DATA] = MNL_TYPE_NESTED };
	static const uint8_t vlan_policy[] = { [IFLA_VLAN_ID] = MNL_TYPE_U16 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)], *vlan[RD_ARRAY_SIZE(vlan_policy)];

	rd_nla_nested(info, policy, RD_ARRAY_SIZE(policy), table);
	netif->kind = rd_nla_text(table[IFLA_INFO_KIND]);
	if (!netif->kind || strcmp(netif->kind, "vlan") != 0)
		return;
	rd_nla_nested(table[IFLA_INFO_DATA], vlan_policy, RD_ARRAY_SIZE(vlan_policy), vlan);
	if (vlan[IFLA_VLAN_ID])
		netif->vlan = mnl_attr_get_u16(vlan[IFLA_VLAN_ID]);
}

static void take_link(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = {
		[IFLA_IFNAME] = MNL_TYPE_NUL_STRING,	[IFLA_LINK] = MNL_TYPE_U32,
		[IFLA_MASTER] = MNL_TYPE_U32,		[IFLA_LINKINFO] = MNL_TYPE_NESTED,
		[IFLA_CARRIER_UP_COUNT] = MNL_TYPE_U32, [IFLA_CARRIER_DOWN_COUNT] = MNL_TYPE_U32,
		[IFLA_LINK_NETNSID] = MNL_TYPE_U32,
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_netstate *net = arg;
	struct rd_netif *netif;
	struct ifinfomsg info;

	if (type != RTM_NEWLINK || size < sizeof(info) || net->n_ifs == LINKS_MAX)
		return;
	memcpy(&info, body, sizeof(info));
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!table[IFLA_IFNAME] || info.ifi_index <= 0)
		return;
	netif = RD_ADD(net->ifs, net->n_ifs, net->cap_ifs);
	*netif = (struct rd_netif){ .ifindex = (unsigned)info.ifi_index, .flags = info.ifi_flags, .vlan = -1 };
	netif->name = rd_nla_text(table[IFLA_IFNAME]);
	netif->master = u32_of(table[IFLA_MASTER]);
	/* With IFLA_LINK_NETNSID the index is of a different network namespace. */
	if (!table[IFLA_LINK_NETNSID])
		netif->lower = u32_of(table[IFLA_LINK]);
	if (table[IFLA_CARRIER_UP_COUNT])
		RD_SET(netif->carrier_up, u32_of(table[IFLA_CARRIER_UP_COUNT]));
	if (table[IFLA_CARRIER_DOWN_COUNT])
		RD_SET(netif->carrier_down, u32_of(table[IFLA_CARRIER_DOWN_COUNT]));
	if (table[IFLA_LINKINFO])
		read_link_info(table[IFLA_LINKINFO], netif);
}

void rd_collect_links(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
		struct nlattr attr;
		uint32_t mask;
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = RTM_GETLINK,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		      .attr = { .nla_len = NLA_HDRLEN + 4, .nla_type = IFLA_EXT_MASK },
		      .mask = FILTER_SKIP_STATS };

	net->links_known = rd_netstate_dump(fs, NETLINK_ROUTE, &request, sizeof(request), take_link, net);
}

static void take_address(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct rd_netstate *net = arg;
	struct rd_ifaddr address;

	if (net->n_addrs < NEIGHS_MAX && rd_ifaddr_decode(type, body, size, &address))
		*RD_ADD(net->addrs, net->n_addrs, net->cap_addrs) = address;
}

void rd_collect_ifaddrs(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	net->addrs_known = dump_rtnl(fs, RTM_GETADDR, sizeof(struct ifaddrmsg), take_address, net);
}

static void add_route(struct rd_netstate *net, const struct rd_route *route)
{
	*RD_ADD(net->routes, net->n_routes, net->cap_routes) = *route;
}

/* Decodes a route message, also of table local. *multipath: its next hops; NULL: none. */
static bool decode_route(uint16_t type, const uint8_t *body, size_t size, struct rd_route *ret, struct rtmsg *info,
			 const struct nlattr **multipath)
{
	static const uint8_t policy[] = {
		[RTA_DST] = MNL_TYPE_BINARY,	   [RTA_GATEWAY] = MNL_TYPE_BINARY, [RTA_PREFSRC] = MNL_TYPE_BINARY,
		[RTA_OIF] = MNL_TYPE_U32,	   [RTA_TABLE] = MNL_TYPE_U32,	    [RTA_PRIORITY] = MNL_TYPE_U32,
		[RTA_MULTIPATH] = MNL_TYPE_BINARY,
	};
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	size_t wanted;

	*ret = (struct rd_route){ 0 };
	if (type != RTM_NEWROUTE || size < sizeof(*info))
		return false;
	memcpy(info, body, sizeof(*info));
	wanted = address_size(info->rtm_family);
	rd_nla_table(body + sizeof(*info), size - sizeof(*info), policy, RD_ARRAY_SIZE(policy), table);
	if (!wanted || info->rtm_dst_len > 8 * wanted)
		return false;
	ret->table = table[RTA_TABLE] ? u32_of(table[RTA_TABLE]) : info->rtm_table;
	ret->v6 = info->rtm_family == AF_INET6;
	ret->type = info->rtm_type;
	ret->dst_len = info->rtm_dst_len;
	ret->metric = u32_of(table[RTA_PRIORITY]);
	ret->ifindex = u32_of(table[RTA_OIF]);
	if (ret->dst_len && !rd_nla_bytes(table[RTA_DST], ret->dst, wanted))
		return false;
	ret->has_gateway = rd_nla_bytes(table[RTA_GATEWAY], ret->gateway, wanted);
	ret->has_source = rd_nla_bytes(table[RTA_PREFSRC], ret->source, wanted);
	*multipath = table[RTA_MULTIPATH];
	return true;
}

static void take_route(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct nlattr *multipath;
	struct rd_netstate *net = arg;
	struct rd_route route;
	struct rtmsg info;

	if (net->n_routes >= ROUTES_MAX || !decode_route(type, body, size, &route, &info, &multipath) ||
	    route.table == RT_TABLE_LOCAL || (info.rtm_flags & RTM_F_CLONED))
		return;
	if (multipath) {
		/* Adds a route for each next hop of a multipath route. */
		const uint8_t *at = mnl_attr_get_payload(multipath);
		size_t left = mnl_attr_get_payload_len(multipath);
		struct rtnexthop hop;

		route.multipath = true;
		while (left >= sizeof(hop)) {
			memcpy(&hop, at, sizeof(hop));
			if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > left)
				break;
			route.ifindex = hop.rtnh_ifindex > 0 ? (unsigned)hop.rtnh_ifindex : 0;
			add_route(net, &route);
			if (MNL_ALIGN((size_t)hop.rtnh_len) >= left)
				break;
			at += MNL_ALIGN((size_t)hop.rtnh_len);
			left -= MNL_ALIGN((size_t)hop.rtnh_len);
		}
	} else
		add_route(net, &route);
}

struct found_route {
	struct rd_route route;
	bool found;
};

static void take_found(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	const struct nlattr *multipath;
	struct found_route *found = arg;
	struct rtmsg info;

	found->found |= decode_route(type, body, size, &found->route, &info, &multipath);
}

void rd_collect_route(const struct rd_sysfs *fs, const struct rd_route_query *query, struct rd_route *ret, int *code)
{
	uint32_t buf[64] = { 0 }; /* a header, two addresses and a number */
	struct nlmsghdr *head = mnl_nlmsg_put_header(buf);
	size_t size = query->v6 ? 16 : 4;
	_cleanup_bytes_ struct rd_bytes reply = { 0 };
	struct found_route found = { 0 };
	struct rtmsg *info;
	int r;

	*code = -1;
	head->nlmsg_type = RTM_GETROUTE;
	head->nlmsg_flags = NLM_F_REQUEST;
	info = mnl_nlmsg_put_extra_header(head, sizeof(*info));
	info->rtm_family = query->v6 ? AF_INET6 : AF_INET;
	info->rtm_dst_len = (unsigned char)(size * 8);
	info->rtm_flags = query->exact ? RTM_F_FIB_MATCH : 0;
	mnl_attr_put(head, RTA_DST, size, query->dst);
	if (query->has_src) {
		info->rtm_src_len = (unsigned char)(size * 8);
		mnl_attr_put(head, RTA_SRC, size, query->src);
	}
	if (query->ifindex)
		mnl_attr_put_u32(head, RTA_OIF, query->ifindex);
	r = rd_netlink(fs->src, NETLINK_ROUTE, head, head->nlmsg_len, &reply, NULL);
	if (r) {
		/* Others say nothing about the route. */
		if (r == -ENETUNREACH || r == -EHOSTUNREACH || r == -EINVAL || r == -EACCES || r == -ENODEV)
			*code = -r;
		return;
	}
	rd_nlmsgs_each(&reply, take_found, &found);
	if (found.found) {
		*ret = found.route;
		*code = 0;
	}
}

static void take_policy(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [FRA_SRC] = MNL_TYPE_BINARY, [FRA_TABLE] = MNL_TYPE_U32 };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_netstate *net = arg;
	struct fib_rule_hdr info;
	struct rd_policy *rule;
	size_t wanted;

	if (type != RTM_NEWRULE || size < sizeof(info) || net->n_policies >= ROUTES_MAX)
		return;
	memcpy(&info, body, sizeof(info));
	wanted = address_size(info.family);
	if (!wanted)
		return;
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	rule = RD_ADD(net->policies, net->n_policies, net->cap_policies);
	*rule = (struct rd_policy){ .v6 = info.family == AF_INET6, .table = info.table };
	if (table[FRA_TABLE])
		rule->table = u32_of(table[FRA_TABLE]);
	if (info.src_len <= 8 * wanted && rd_nla_bytes(table[FRA_SRC], rule->source, wanted))
		rule->source_len = info.src_len;
}

void rd_collect_routes(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	net->routes_known = dump_rtnl(fs, RTM_GETROUTE, sizeof(struct rtmsg), take_route, net);
	net->policies_known = dump_rtnl(fs, RTM_GETRULE, sizeof(struct rtmsg), take_policy, net);
}

static void take_neigh(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	static const uint8_t policy[] = { [NDA_DST] = MNL_TYPE_BINARY };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];
	struct rd_netstate *net = arg;
	struct rd_neigh neigh = { 0 };
	struct ndmsg info;
	size_t wanted;

	if (type != RTM_NEWNEIGH || size < sizeof(info) || net->n_neighs == NEIGHS_MAX)
		return;
	memcpy(&info, body, sizeof(info));
	wanted = address_size(info.ndm_family);
	rd_nla_table(body + sizeof(info), size - sizeof(info), policy, RD_ARRAY_SIZE(policy), table);
	if (!wanted || info.ndm_ifindex <= 0 || (info.ndm_state & (NUD_NOARP | NUD_PERMANENT)) ||
	    !rd_nla_bytes(table[NDA_DST], neigh.addr, wanted))
		return;
	neigh.v6 = info.ndm_family == AF_INET6;
	neigh.ifindex = (unsigned)info.ndm_ifindex;
	neigh.state = info.ndm_state;
	*RD_ADD(net->neighs, net->n_neighs, net->cap_neighs) = neigh;
}

void rd_collect_neighs(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	net->neighs_known = dump_rtnl(fs, RTM_GETNEIGH, sizeof(struct ndmsg), take_neigh, net);
}
