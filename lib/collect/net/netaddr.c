/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of interfaces, from rtnetlink. */
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "collect/host/netdev.h"
#include "collect/shared/nlattr.h"

#define ADDRS_MAX 1024

static struct rd_netdev *find_by_ifindex(struct rd_host *host, uint32_t ifindex)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].ifindex == ifindex)
			return &host->netdevs[i];
	return NULL;
}

void rd_netdev_add_addr(struct rd_netdev *netdev, const struct rd_addr *addr)
{
	if (netdev->n_addrs < ADDRS_MAX)
		*RD_ADD(netdev->addrs, netdev->n_addrs, netdev->cap_addrs) = *addr;
}

/* IFA_LOCAL is the local address. IFA_ADDRESS is the peer's on a point-to-point link, and the only attribute for IPv6. */
bool rd_ifaddr_decode(uint16_t type, const uint8_t *body, size_t size, struct rd_ifaddr *ret)
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

static int take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct rd_host *host = arg;
	struct rd_ifaddr address;
	struct rd_netdev *netdev;

	if (!rd_ifaddr_decode(type, body, size, &address))
		return 0;
	netdev = find_by_ifindex(host, address.ifindex);
	if (netdev)
		rd_netdev_add_addr(netdev, &address.addr);
	return 0;
}

int rd_collect_netaddr(const struct rd_sysfs *fs, struct rd_host *host)
{
	struct rd_rtnl_dump request = rd_rtnl_dump(RTM_GETADDR, sizeof(struct ifaddrmsg));
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_netlink(fs->src, NETLINK_ROUTE, &request, request.head.nlmsg_len, &bytes, NULL);

	return r < 0 ? r : rd_nlmsgs_each(&bytes, take_message, host);
}
