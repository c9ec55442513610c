/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP below RoCE: several NICs in one subnet, addresses, neighbours, routes, the firewall, links that come and go. */
#include <string.h>

#include "check/shared/port.h"
#include "check/shared/rules.h"

enum { DADFAILED = 0x08 }; /* IFA_F_DADFAILED */

#define FLAPS_MANY 10

static bool read_links(const struct rd_check_input *in, struct rd_check_out *out, const char *skip)
{
	rd_check_skip(out, skip);
	if (in->net && in->net->links_known == RD_OK && in->net->addrs_known == RD_OK)
		return true;
	rd_check_unknown(out, "host", "interfaces and addresses could not be read by netlink");
	return false;
}

/* Of an interface on a port whose role is unknown: what was seen, and that it is not known whether it matters. Takes the
 * texts over; `fix` NULL: the rule's. */
static void bad(const struct rd_check_input *in, struct rd_check_out *out, enum rd_severity result,
		const struct rd_netif *netif, char *observed, char *expected, char *fix)
{
	_cleanup_free_ char *reason = NULL;

	if (rd_check_netif_role_known(in, netif)) {
		rd_check_bad(out, result, netif->name, observed, expected, fix);
		return;
	}
	reason = rd_text("%s; what its port is for is not known", observed);
	rd_check_unknown(out, netif->name, reason);
	free(observed);
	free(expected);
	free(fix);
}

static const struct rd_netif *rdma_netif(const struct rd_check_input *in, const struct rd_ifaddr *addr)
{
	const struct rd_netif *netif = rd_netstate_find(in->net, addr->ifindex);

	return netif && netif->rdma ? netif : NULL;
}

/* Another RDMA interface with an IPv4 address in the subnet of this one. */
static const struct rd_netif *neighbour_nic(const struct rd_check_input *in, const struct rd_ifaddr *addr)
{
	for (size_t i = 0; i < in->net->n_addrs; i++) {
		const struct rd_ifaddr *other = &in->net->addrs[i];
		const struct rd_netif *netif = rdma_netif(in, other);

		if (netif && other->ifindex != addr->ifindex && !other->addr.v6 &&
		    rd_ip_within(other->addr.raw, addr->addr.raw, addr->addr.prefix))
			return netif;
	}
	return NULL;
}

/* The next RDMA interface, from address *at on, that has another in its IPv4 subnet; NULL: there is none. */
static const struct rd_netif *next_neighbours(const struct rd_check_input *in, size_t *at, const struct rd_netif **other)
{
	while (*at < in->net->n_addrs) {
		const struct rd_ifaddr *addr = &in->net->addrs[(*at)++];
		const struct rd_netif *netif = rdma_netif(in, addr);

		*other = netif && !addr->addr.v6 ? neighbour_nic(in, addr) : NULL;
		if (*other)
			return netif;
	}
	return NULL;
}

#define ONE_SUBNET "no two RDMA interfaces are in one IPv4 subnet"

static void run_rp_filter(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_netif *netif, *other;

	if (!read_links(in, out, ONE_SUBNET))
		return;
	for (size_t i = 0; (netif = next_neighbours(in, &i, &other));) {
		if (netif->rp_filter.known != RD_OK)
			rd_check_unknown(out, netif->name, "its rp_filter could not be read");
		else if (netif->rp_filter.v == 1)
			bad(in, out, RD_SEV_WARNING, netif,
			    rd_text("rp_filter 1 (strict), %s is in the same subnet", other->name),
			    rd_text("2 (loose) or 0"), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

static void run_arp(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_netif *netif, *other;

	if (!read_links(in, out, ONE_SUBNET))
		return;
	for (size_t i = 0; (netif = next_neighbours(in, &i, &other));) {
		if (netif->arp_ignore.known != RD_OK || netif->arp_announce.known != RD_OK)
			rd_check_unknown(out, netif->name, "its ARP settings could not be read");
		else if (netif->arp_ignore.v < 1 || netif->arp_announce.v < 2)
			bad(in, out, RD_SEV_WARNING, netif,
			    rd_text("arp_ignore %d, arp_announce %d, and %s is in the same subnet", netif->arp_ignore.v,
				    netif->arp_announce.v, other->name),
			    rd_text("arp_ignore 1 or 2, arp_announce 2"), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

static void run_duplicate(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!read_links(in, out, "no address on an RDMA interface"))
		return;
	for (size_t i = 0; i < in->net->n_addrs; i++) {
		const struct rd_ifaddr *addr = &in->net->addrs[i];
		const struct rd_netif *netif = rdma_netif(in, addr), *twice = NULL;
		char ip[46];

		if (!netif)
			continue;
		rd_ip_text(addr->addr.v6, addr->addr.raw, ip);
		for (size_t k = 0; k < in->net->n_addrs && !twice; k++) {
			const struct rd_ifaddr *other = &in->net->addrs[k];

			/* fe80:: is of one link each. */
			if (k != i && other->ifindex != addr->ifindex && other->addr.v6 == addr->addr.v6 &&
			    !(addr->addr.v6 && addr->addr.raw[0] == 0xfe && (addr->addr.raw[1] & 0xc0) == 0x80) &&
			    memcmp(other->addr.raw, addr->addr.raw, addr->addr.v6 ? 16 : 4) == 0)
				twice = rd_netstate_find(in->net, other->ifindex);
		}
		if (addr->flags & DADFAILED)
			bad(in, out, RD_SEV_CRITICAL, netif,
			    rd_text("%s is in use by another host (duplicate address "
				    "detection failed)",
				    ip),
			    rd_text("an address of its own"), NULL);
		else if (twice)
			bad(in, out, RD_SEV_CRITICAL, netif, rd_text("%s is also on %s", ip, twice->name),
			    rd_text("an address of its own"), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

static void run_neighbours(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!read_links(in, out, "no RDMA interface with an address"))
		return;
	if (in->net->neighs_known != RD_OK)
		return rd_check_unknown(out, "host", "neighbours could not be read by netlink");
	for (size_t i = 0; i < in->net->n_ifs; i++) {
		const struct rd_netif *netif = &in->net->ifs[i];
		size_t failed = 0;
		char ip[46] = "";

		if (!netif->rdma)
			continue;
		for (size_t k = 0; k < in->net->n_neighs; k++) {
			const struct rd_neigh *neigh = &in->net->neighs[k];

			if (neigh->ifindex != netif->ifindex || !(neigh->state & RD_NEIGH_FAILED))
				continue;
			if (failed++ == 0)
				rd_ip_text(neigh->v6, neigh->addr, ip);
		}
		if (failed)
			bad(in, out, RD_SEV_WARNING, netif,
			    rd_text("%zu neighbour%s did not answer ARP or ND, among them %s", failed,
				    failed == 1 ? "" : "s", ip),
			    rd_text("none: who is asked for answers"),
			    rd_text("ip neigh show nud failed dev %s; ip route get %s; rail-only network: NCCL_CROSS_NIC=0",
				    netif->name, ip));
		else
			rd_check_good(out, netif->name);
	}
}

/* What a rule "from ADDRESS lookup TABLE" leads to: a way out by the interface that has the address. */
static bool table_uses(const struct rd_netstate *net, bool v6, unsigned table, unsigned ifindex)
{
	for (size_t i = 0; i < net->n_routes; i++)
		if (net->routes[i].v6 == v6 && net->routes[i].table == table && net->routes[i].ifindex == ifindex)
			return true;
	return false;
}

static void run_rail_routes(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!read_links(in, out, "no address on an RDMA interface has a routing table of its own"))
		return;
	if (in->net->policies_known != RD_OK || in->net->routes_known != RD_OK)
		return rd_check_unknown(out, "host", "routes could not be read by netlink");
	for (size_t i = 0; i < in->net->n_addrs; i++) {
		const struct rd_ifaddr *addr = &in->net->addrs[i];
		const struct rd_netif *netif = rdma_netif(in, addr);

		for (size_t k = 0; netif && k < in->net->n_policies; k++) {
			const struct rd_policy *policy = &in->net->policies[k];
			char ip[46];

			if (policy->v6 != addr->addr.v6 || policy->source_len == 0 ||
			    !rd_ip_within(addr->addr.raw, policy->source, policy->source_len))
				continue;
			rd_ip_text(addr->addr.v6, addr->addr.raw, ip);
			if (table_uses(in->net, policy->v6, policy->table, netif->ifindex))
				rd_check_good(out, netif->name);
			else
				bad(in, out, RD_SEV_WARNING, netif,
				    rd_text("packets from %s are routed by table %u, which has no way out by %s", ip,
					    policy->table, netif->name),
				    rd_text("a route of that table by this interface: its rail"),
				    rd_text("ip route add default via GATEWAY dev %s table %u", netif->name,
					    policy->table));
		}
	}
}

static void run_firewall(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_firewall *firewall = in->net ? &in->net->firewall : NULL;
	bool soft = false, hard = false;

	rd_check_skip(out, "no soft device: hardware takes RoCE packets before the kernel's firewall sees them");
	for (size_t p = 0; p < in->host->n_ports; p++) {
		soft |= rd_port_is_ethernet(&in->host->ports[p]) && rd_check_is_soft(in->host, &in->host->ports[p]);
		hard |= !rd_check_is_soft(in->host, &in->host->ports[p]);
	}
	if (!soft)
		return;
	if (!firewall || firewall->known != RD_OK)
		rd_check_unknown(out, "firewall",
				 firewall && firewall->known == RD_DENIED ?
					 "its rules are not to be read without CAP_NET_ADMIN" :
					 "there are rules of iptables' older kind, which cannot be read from outside");
	else if (hard && (firewall->input == RD_FATE_DROP || firewall->output == RD_FATE_DROP))
		rd_check_unknown(out, "firewall",
				 "UDP port 4791 is dropped, and whether anybody uses the soft device beside the NICs is "
				 "not known");
	else if (firewall->input == RD_FATE_DROP || firewall->output == RD_FATE_DROP)
		rd_check_fail(out, "firewall",
			      rd_text("UDP port 4791 is dropped by %s", firewall->where ? firewall->where : "a rule"),
			      rd_text("accepted, in and out"));
	else if (firewall->input == RD_FATE_DEPENDS || firewall->output == RD_FATE_DEPENDS)
		rd_check_unknown(out, "firewall",
				 "rules with sets, marks or connection states decide about UDP port 4791");
	else
		rd_check_good(out, "firewall");
}

static uint32_t median_flaps(const struct rd_netstate *net, const struct rd_netif *but)
{
	uint32_t best = 0;
	size_t n = 0;

	for (size_t i = 0; i < net->n_ifs; i++)
		n += net->ifs[i].rdma && &net->ifs[i] != but && net->ifs[i].carrier_down.known == RD_OK;
	/* The value that half of them do not exceed. There are few. */
	for (size_t i = 0; i < net->n_ifs; i++) {
		const struct rd_netif *netif = &net->ifs[i];
		size_t below = 0;

		if (!netif->rdma || netif == but || netif->carrier_down.known != RD_OK)
			continue;
		for (size_t k = 0; k < net->n_ifs; k++)
			below += net->ifs[k].rdma && &net->ifs[k] != but &&
				 net->ifs[k].carrier_down.v <= netif->carrier_down.v;
		if (2 * below >= n && (best == 0 || netif->carrier_down.v < best))
			best = netif->carrier_down.v;
	}
	return best;
}

static void run_flaps(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!read_links(in, out, "no RDMA interface"))
		return;
	for (size_t i = 0; i < in->net->n_ifs; i++) {
		const struct rd_netif *netif = &in->net->ifs[i];
		uint32_t usual;

		if (!netif->rdma)
			continue;
		if (netif->carrier_down.known != RD_OK) {
			rd_check_unknown(out, netif->name, "how often its link was lost is not told");
			continue;
		}
		usual = median_flaps(in->net, netif);
		if (netif->carrier_down.v >= FLAPS_MANY && netif->carrier_down.v / 4 > usual)
			bad(in, out, RD_SEV_WARNING, netif,
			    rd_text("the link was lost %u times since the interface came up", netif->carrier_down.v),
			    rd_text("about as often as that of the others (%u)", usual), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

const struct rd_check rd_check_rp_filter = {
	.id = "rp-filter",
	.title = "Strict reverse path filtering with several NICs in one subnet",
	.why = "the kernel routes all of the subnet by one of them, and drops what comes in by the others: connections by "
	       "RDMA CM and ARP fail",
	.fix = "sysctl -w net.ipv4.conf.all.rp_filter=2 (the larger of all's and an interface's own value counts)",
	.needs = "/proc/sys/net/ipv4/conf/*/rp_filter; addresses by rtnetlink",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_rp_filter,
};

const struct rd_check rd_check_arp_flux = {
	.id = "arp-flux",
	.title = "Any NIC answers ARP for the addresses of all",
	.why = "a peer learns the MAC of another NIC for this address: packets arrive at a device that has no such queue pair",
	.fix = "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2",
	.needs = "/proc/sys/net/ipv4/conf/*/arp_ignore and arp_announce; addresses by rtnetlink",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_arp,
};

const struct rd_check rd_check_duplicate_address = {
	.id = "duplicate-address",
	.title = "An address of an RDMA interface is there twice",
	.why = "which of the two a peer reaches changes from one moment to the next; its GID is ambiguous",
	.fix = "ip -br address; give each interface an address of its own",
	.needs = "addresses and their flags by rtnetlink",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_duplicate,
};

const struct rd_check rd_check_neighbour_failed = {
	.id = "neighbour-failed",
	.title = "Hosts do not answer on an RDMA interface",
	.why = "ibv_modify_qp to RTR resolves the peer's MAC first and fails with ETIMEDOUT: wrong rail, wrong VLAN, or the "
	       "peer is down",
	.fix = "ip neigh show nud failed dev IF; ip route get PEER from LOCAL; rail-only network: NCCL_CROSS_NIC=0",
	.needs = "neighbours by rtnetlink",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_neighbours,
};

const struct rd_check rd_check_rail_route = {
	.id = "rail-route",
	.title = "The routing table of a rail does not use the rail's interface",
	.why = "packets with this source leave by another NIC, where the network may not take them",
	.fix = "ip route add default via GATEWAY dev IF table TABLE",
	.needs = "policy rules, routes and addresses by rtnetlink",
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_rail_routes,
};

const struct rd_check rd_check_firewall = {
	.id = "roce-firewall",
	.title = "The firewall drops RoCE packets",
	.why = "soft devices send and receive UDP port 4791 through the kernel's own stack",
	.fix = "nft insert rule inet filter input udp dport 4791 accept",
	.needs = "nftables' chains and rules by netlink (CAP_NET_ADMIN)",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_firewall,
};

const struct rd_check rd_check_link_flaps = {
	.id = "link-flaps",
	.title = "A link comes and goes far more often than the others",
	.why = "each time, all that is in flight is lost and jobs end with status 12",
	.fix = "clean or swap cable and optics of this port, then the switch port; see rdmadiag counters",
	.needs = "carrier_down_count by rtnetlink",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA | RD_PART_NET,
	.run = run_flaps,
};
