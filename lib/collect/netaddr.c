/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of interfaces, from rtnetlink. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "collect/netdev.h"
#include "collect/nlattr.h"

#define ADDRS_MAX 1024

static struct rd_netdev *by_index(struct rd_host *host, uint32_t ifindex)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].ifindex == ifindex)
			return &host->netdevs[i];
	return NULL;
}

int rd_netdev_add_addr(struct rd_netdev *netdev, const struct rd_addr *addr)
{
	if (netdev->n_addrs >= ADDRS_MAX)
		return 0;
	if (rd_grow(&netdev->addrs, &netdev->cap_addrs, netdev->n_addrs + 1, sizeof(*addr)) < 0)
		return -ENOMEM;
	netdev->addrs[netdev->n_addrs++] = *addr;
	return 0;
}

/* IFA_LOCAL is this end's, IFA_ADDRESS the other's on a point-to-point link, and the only one for IPv6. */
static bool find_address(const uint8_t *attrs, size_t size, size_t wanted, uint8_t *ret)
{
	static const uint8_t policy[] = { [IFA_ADDRESS] = MNL_TYPE_BINARY, [IFA_LOCAL] = MNL_TYPE_BINARY };
	const struct nlattr *table[RD_ARRAY_SIZE(policy)];

	rd_nla_table(attrs, size, policy, RD_ARRAY_SIZE(policy), table);
	return rd_nla_bytes(table[IFA_LOCAL], ret, wanted) || rd_nla_bytes(table[IFA_ADDRESS], ret, wanted);
}

static int take_message(void *arg, uint16_t type, const uint8_t *body, size_t size)
{
	struct rd_host *host = arg;
	struct rd_addr addr = { 0 };
	struct ifaddrmsg info;
	struct rd_netdev *netdev;

	if (type != RTM_NEWADDR || size < sizeof(info))
		return 0;
	memcpy(&info, body, sizeof(info));
	netdev = by_index(host, info.ifa_index);
	if (!netdev || (info.ifa_family != AF_INET && info.ifa_family != AF_INET6))
		return 0;
	addr.v6 = info.ifa_family == AF_INET6;
	addr.prefix = info.ifa_prefixlen;
	if (!find_address(body + sizeof(info), size - sizeof(info), addr.v6 ? 16 : 4, addr.raw))
		return 0;
	return rd_netdev_add_addr(netdev, &addr);
}

int rd_collect_netaddr(const struct rd_sysfs *fs, struct rd_host *host)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg info;
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = RTM_GETADDR,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_netlink(fs->src, NETLINK_ROUTE, &request, sizeof(request), &bytes, NULL);

	return r < 0 ? r : rd_nlmsgs_each(&bytes, take_message, host);
}
