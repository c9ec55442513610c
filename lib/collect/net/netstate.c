/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network settings that RDMA over Ethernet depends on. */
#include "collect/net/netstate.h"
#include "base/number.h"
#include "collect/shared/genl.h"

#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <string.h>

#define CONF "/proc/sys/net/ipv4/conf"

/* The effective value is the maximum of conf/all and conf/INTERFACE (Documentation/networking/ip-sysctl.rst). */
static void read_sysctls(const struct rd_sysfs *fs, struct rd_netif *netif, const int64_t *all, const bool *all_known)
{
	static const char *const names[] = { "rp_filter", "arp_ignore", "arp_announce", "arp_filter" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++) {
		int64_t value;

		if (!all_known[i] || rd_sysfs_int(fs, &value, CONF "/%s/%s", netif->name, names[i]) != RD_OK)
			continue;
		value = value > all[i] ? value : all[i];
		if (i == 0)
			RD_SET(netif->rp_filter, (int)value);
		else if (i == 1)
			RD_SET(netif->arp_ignore, (int)value);
		else if (i == 2)
			RD_SET(netif->arp_announce, (int)value);
		else
			RD_SET(netif->arp_filter, (int)value);
	}
}

/* ecn/roce_np/enable/0 … 7 and cnp_*: only in NVIDIA's own driver packages, not in the kernel's mlx5 driver. */
static void read_ecn(const struct rd_sysfs *fs, struct rd_netif *netif)
{
	int64_t value;

	for (int i = 0; i < 2; i++) {
		const char *side = i ? "roce_rp" : "roce_np";
		uint8_t mask = 0;
		int prio;

		for (prio = 0; prio < RD_PRIOS; prio++) {
			if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/ecn/%s/enable/%d", netif->name, side, prio) !=
			    RD_OK)
				break;
			mask |= (uint8_t)((value != 0) << prio);
		}
		if (prio == RD_PRIOS && i)
			RD_SET(netif->ecn_rp, mask);
		else if (prio == RD_PRIOS)
			RD_SET(netif->ecn_np, mask);
	}
	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/ecn/roce_np/cnp_dscp", netif->name) == RD_OK && value >= 0 &&
	    value < 64)
		RD_SET(netif->cnp_dscp, (uint8_t)value);
	if (rd_sysfs_int(fs, &value, "/sys/class/net/%s/ecn/roce_np/cnp_802p_prio", netif->name) == RD_OK &&
	    value >= 0 && value < RD_PRIOS)
		RD_SET(netif->cnp_prio, (uint8_t)value);
}

/* "Global tclass=106", only in NVIDIA's own driver packages. Empty: no traffic class is forced. */
static void read_tclass(const struct rd_sysfs *fs, const struct rd_host *host, const struct rd_port *port,
			struct rd_netif *netif)
{
	const char *dev = host->ibdevs[port->ibdev].name;
	_cleanup_free_ char *text = NULL;
	const char *value;
	uint32_t tclass;

	if (!dev ||
	    rd_read_textf(fs->src, &text, NULL, "/sys/class/infiniband/%s/tc/%u/traffic_class", dev, port->num) < 0)
		return;
	value = strstr(text, "lobal tclass=");
	value = value ? value + 13 : "";
	RD_SET(netif->tclass, rd_take_u32(&value, RD_DECIMAL, INT32_MAX, &tclass) < 0 ? -1 : (int)tclass);
}

static void read_families(const struct rd_sysfs *fs, struct rd_ethfamilies *ret)
{
	*ret = (struct rd_ethfamilies){ 0 };
	rd_genl_family(fs->src, ETHTOOL_GENL_NAME, &ret->ethtool, NULL);
	rd_genl_family(fs->src, "netdev", &ret->netdev, NULL);
}

/* What the driver says of an interface of an RDMA port, or of a member of its bond. */
static void read_driver(const struct rd_sysfs *fs, const struct rd_host *host, const struct rd_ethfamilies *families,
			const struct rd_port *port, struct rd_netif *netif)
{
	if (netif->rdma)
		return;
	netif->rdma = true;
	rd_collect_dcb(fs, netif->name, &netif->dcb);
	rd_collect_ethstate(fs, families, netif);
	read_ecn(fs, netif);
	read_tclass(fs, host, port, netif);
}

static void read_details(const struct rd_sysfs *fs, const struct rd_host *host, struct rd_netstate *net)
{
	struct rd_ethfamilies families = { 0 };

	if (host->n_ports > 0 && net->n_ifs > 0)
		read_families(fs, &families);
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		for (size_t i = 0; i < port->n_netdevs; i++) {
			const struct rd_netif *found = rd_netstate_find_name(net, host->netdevs[port->netdevs[i]].name);
			const struct rd_netif *carrier;

			for (size_t at = 0; found && (carrier = rd_netstate_next_carrier(net, found, &at));)
				read_driver(fs, host, &families, port, &net->ifs[carrier - net->ifs]);
			if (found)
				read_driver(fs, host, &families, port, &net->ifs[found - net->ifs]);
		}
	}
	/* The addresses of an RDMA interface may be on a VLAN or bond above it. */
	for (size_t i = 0; i < net->n_ifs; i++) {
		const struct rd_netif *below = rd_netstate_find(net, net->ifs[i].lower);
		const struct rd_netif *above = rd_netstate_find(net, net->ifs[i].master);

		if (below && below->rdma)
			net->ifs[i].rdma = true;
		if (above && net->ifs[i].rdma)
			net->ifs[above - net->ifs].rdma = true;
	}
}

static void read_all_sysctls(const struct rd_sysfs *fs, struct rd_netstate *net)
{
	static const char *const names[] = { "rp_filter", "arp_ignore", "arp_announce", "arp_filter" };
	int64_t all[RD_ARRAY_SIZE(names)];
	bool known[RD_ARRAY_SIZE(names)];
	int64_t ttl;

	if (rd_sysfs_int(fs, &ttl, "/proc/sys/net/ipv4/ip_default_ttl") == RD_OK && ttl > 0 && ttl < 256)
		RD_SET(net->ttl, (int)ttl);
	for (size_t i = 0; i < RD_ARRAY_SIZE(names); i++)
		known[i] = rd_sysfs_int(fs, &all[i], CONF "/all/%s", names[i]) == RD_OK;
	for (size_t i = 0; i < net->n_ifs; i++)
		if (net->ifs[i].rdma)
			read_sysctls(fs, &net->ifs[i], all, known);
}

void rd_collect_netstate(struct rd_source *src, const struct rd_host *host, struct rd_netstate *net,
			 struct rd_errlist *errors)
{
	const struct rd_sysfs fs = { .src = src, .errors = errors };

	rd_collect_links(&fs, net);
	rd_collect_ifaddrs(&fs, net);
	rd_collect_routes(&fs, net);
	rd_collect_neighs(&fs, net);
	rd_collect_firewall(&fs, net);
	rd_collect_devlink(&fs, net);
	read_details(&fs, host, net);
	read_all_sysctls(&fs, net);
}
