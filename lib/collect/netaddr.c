/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of interfaces, from rtnetlink. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "collect/netdev.h"

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
static bool find_address(const uint8_t *at, size_t size, size_t wanted, uint8_t *ret)
{
	bool found = false, local = false;

	while (size >= NLA_HDRLEN) {
		struct nlattr attr;
		size_t step;

		memcpy(&attr, at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > size)
			break;
		attr.nla_type &= NLA_TYPE_MASK;
		if ((attr.nla_type == IFA_LOCAL || (attr.nla_type == IFA_ADDRESS && !local)) &&
		    attr.nla_len == NLA_HDRLEN + wanted) {
			memcpy(ret, at + NLA_HDRLEN, wanted);
			local = attr.nla_type == IFA_LOCAL;
			found = true;
		}
		step = NLA_ALIGN(attr.nla_len);
		if (step > size)
			break;
		at += step;
		size -= step;
	}
	return found;
}

static int take_message(struct rd_host *host, const uint8_t *body, size_t size)
{
	struct rd_addr addr = { 0 };
	struct ifaddrmsg info;
	struct rd_netdev *netdev;

	if (size < sizeof(info))
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
	const uint8_t *at;
	size_t left, length;
	int r = rd_netlink(fs->src, NETLINK_ROUTE, &request, sizeof(request), &bytes, NULL);

	if (r < 0)
		return r;
	for (at = bytes.data, left = bytes.size; !r && (length = rd_nlmsg_length(at, left));
	     at += length, left -= length) {
		struct nlmsghdr head;

		memcpy(&head, at, sizeof(head));
		if (head.nlmsg_type == RTM_NEWADDR)
			r = take_message(host, at + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
	}
	return r;
}
