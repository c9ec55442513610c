/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/net: default routes, and the addresses of interfaces if netlink is not available. */
#include "collect/host/netdev.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define ROUTES_MAX 4096

struct route {
	int netdev;
	uint32_t to, mask; /* host byte order */
};

struct routes {
	struct route *v;
	size_t n, cap;
};

/* "Iface Destination Gateway Flags RefCnt Use Metric Mask …": addresses in network order, printed as integers of the host's byte
 * order. */
static void read_routes(const struct rd_sysfs *fs, struct rd_host *host, struct routes *routes)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/proc/net/route");

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
		if (to != 0 && !gateway && routes->n < ROUTES_MAX)
			*RD_ADD(routes->v, routes->n, routes->cap) = (struct route){ netdev, ntohl(to), ntohl(mask) };
	}
}

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

	for (char *line = text, *next; line; line = next) {
		struct rd_addr addr = { 0 };
		char *at, ip[20];
		uint32_t mask;
		int netdev;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		at = strstr(line, "|-- ");
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

	for (char *line = text, *next; line; line = next) {
		struct rd_addr addr = { .v6 = true };
		char *words[6];
		int netdev;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
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

	read_routes(fs, host, &routes);
	if (rd_collect_netaddr(fs, host) < 0) {
		read_v4(fs, host, &routes);
		read_v6(fs, host);
	}
	free(routes.v);
}
