/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP below RoCE: several NICs in one subnet, addresses, neighbours, routes, the firewall, flapping links. */

#include "check/shared/rules.h"

enum { DADFAILED = 0x08 }; /* IFA_F_DADFAILED */

#define FLAPS_MANY 10

static bool read_links(const struct rd_check_input *in, struct rd_check_out *out, const char *skip)
{
	rd_check_skip(out, skip);
	if (in->net && in->net->links_known == RD_OK && in->net->addrs_known == RD_OK)
		return true;
	rd_check_unknown(out, "host", "interfaces and addresses could not be read (rtnetlink)");
	return false;
}

/* Reports a fault; on an interface whose port has an unknown role: unknown, with what was observed. Takes ownership of the
 * texts; `fix` NULL: the rule's. */
static void report_netif(const struct rd_check_input *in, struct rd_check_out *out, enum rd_severity result,
			 const struct rd_netif *netif, char *observed, char *expected, char *fix)
{
	_cleanup_free_ char *reason = NULL;

	if (rd_check_netif_role_known(in, netif))
		return rd_check_bad(out, result, netif->name, observed, expected, fix);
	reason = rd_text("%s; the role of its port is unknown", observed);
	rd_check_unknown(out, netif->name, reason);
	RD_FREE(observed, expected, fix);
}

static const struct rd_netif *rdma_netif(const struct rd_check_input *in, const struct rd_ifaddr *addr)
{
	const struct rd_netif *netif = rd_netstate_find(in->net, addr->ifindex);

	return netif && netif->rdma ? netif : NULL;
}

/* Another RDMA interface with an IPv4 address in the subnet of this address. */
static const struct rd_netif *neighbour_nic(const struct rd_check_input *in, const struct rd_ifaddr *addr)
{
	for (size_t i = 0; i < in->net->n_addrs; i++) {
		const struct rd_ifaddr *other = &in->net->addrs[i];
		const struct rd_netif *netif = rdma_netif(in, other), *own = rdma_netif(in, addr);

		/* Those below different masters are in different VRFs, which do not share addresses. */
		if (netif && own && netif->master == own->master && other->ifindex != addr->ifindex &&
		    !other->addr.v6 && rd_ip_within(other->addr.raw, addr->addr.raw, addr->addr.prefix))
			return netif;
	}
	return NULL;
}

/* The next RDMA interface, from address *at on, with another one in its IPv4 subnet; NULL: none. */
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

#define ONE_SUBNET "no two RDMA interfaces in one IPv4 subnet"

static void run_rp_filter(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_netif *netif, *other;

	if (!read_links(in, out, ONE_SUBNET))
		return;
	for (size_t i = 0; (netif = next_neighbours(in, &i, &other));) {
		if (netif->rp_filter.known != RD_OK)
			rd_check_unknown(out, netif->name, "rp_filter could not be read");
		else if (netif->rp_filter.v == 1)
			report_netif(in, out, RD_SEV_WARNING, netif,
				     rd_text("rp_filter 1 (strict), and %s is in the same subnet", other->name),
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
			rd_check_unknown(out, netif->name, "arp_ignore and arp_announce could not be read");
		else if (netif->arp_ignore.v != 1 && netif->arp_ignore.v != 2)
			report_netif(in, out, RD_SEV_WARNING, netif,
				     rd_text("arp_ignore %d, and %s is in the same subnet", netif->arp_ignore.v,
					     other->name),
				     rd_text("arp_ignore 1 or 2, arp_announce 2"), NULL);
		else if (netif->arp_announce.v < 2)
			/* Requests for RDMA carry the sending NIC's address anyway; providers publish arp_announce 1 and 2. */
			report_netif(in, out, RD_SEV_NOTE, netif,
				     rd_text("arp_ignore %d, arp_announce %d, and %s is in the same subnet",
					     netif->arp_ignore.v, netif->arp_announce.v, other->name),
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

			/* fe80:: addresses are valid per link. */
			if (k != i && other->ifindex != addr->ifindex && other->addr.v6 == addr->addr.v6 &&
			    !(addr->addr.v6 && addr->addr.raw[0] == 0xfe && (addr->addr.raw[1] & 0xc0) == 0x80) &&
			    memcmp(other->addr.raw, addr->addr.raw, addr->addr.v6 ? 16 : 4) == 0)
				twice = rd_netstate_find(in->net, other->ifindex);
		}
		if (addr->flags & DADFAILED)
			report_netif(in, out, RD_SEV_CRITICAL, netif,
				     rd_text("%s is in use by another host (duplicate address detection failed)", ip),
				     rd_text("a unique address"), NULL);
		else if (twice)
			report_netif(in, out, RD_SEV_CRITICAL, netif, rd_text("%s is also on %s", ip, twice->name),
				     rd_text("a unique address"), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

static void run_neighbours(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!read_links(in, out, "no RDMA interface with an address"))
		return;
	if (in->net->neighs_known != RD_OK)
		return rd_check_unknown(out, "host", "neighbours could not be read (rtnetlink)");
	for (size_t i = 0; i < in->net->n_ifs; i++) {
		const struct rd_netif *netif = &in->net->ifs[i];
		size_t failed = 0, reached = 0;
		char ip[46] = "";

		if (!netif->rdma)
			continue;
		for (size_t k = 0; k < in->net->n_neighs; k++) {
			const struct rd_neigh *neigh = &in->net->neighs[k];

			/* Routers have link-local addresses, and say nothing of peers. */
			if (neigh->ifindex != netif->ifindex || (neigh->v6 && neigh->addr[0] == 0xfe))
				continue;
			reached += (neigh->state & RD_NEIGH_REACHED) != 0;
			if (!(neigh->state & RD_NEIGH_FAILED))
				continue;
			if (failed++ == 0)
				rd_ip_text(neigh->v6, neigh->addr, ip);
		}
		/* A peer that is down does not make this host faulty. */
		if (failed && failed <= reached)
			rd_check_note(out, netif->name,
				      rd_text("ARP or ND failed for %zu of %zu neighbours, for example %s", failed,
					      failed + reached, ip),
				      NULL, NULL);
		else if (failed)
			report_netif(in, out, RD_SEV_WARNING, netif,
				     rd_text("ARP or ND failed for %zu neighbour%s, for example %s", failed,
					     failed == 1 ? "" : "s", ip),
				     rd_text("no failed neighbours"), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

/* Whether the table of a rule "from ADDRESS lookup TABLE" has a route through the interface with that address. */
static bool table_uses(const struct rd_netstate *net, bool v6, unsigned table, unsigned ifindex)
{
	for (size_t i = 0; i < net->n_routes; i++)
		if (net->routes[i].v6 == v6 && net->routes[i].table == table && net->routes[i].ifindex == ifindex)
			return true;
	return false;
}

/* The command that adds the route: by the gateway that other routes through the interface have. */
static char *route_fix(const struct rd_netstate *net, const struct rd_netif *netif, const struct rd_policy *policy)
{
	const char *family = policy->v6 ? "-6 " : "";
	char gateway[46] = "";

	for (size_t i = 0; i < net->n_routes && !*gateway; i++)
		if (net->routes[i].v6 == policy->v6 && net->routes[i].ifindex == netif->ifindex &&
		    net->routes[i].has_gateway)
			rd_ip_text(policy->v6, net->routes[i].gateway, gateway);
	return rd_text("ip %sroute show table %u\n%sip %sroute add default via %s dev IF table %u\n"
		       "# it lasts until the next boot; also in the network configuration",
		       family, policy->table, *gateway ? "" : "# ", family, *gateway ? gateway : "GATEWAY",
		       policy->table);
}

static void run_rail_routes(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!read_links(in, out, "no address on an RDMA interface has its own routing table"))
		return;
	if (in->net->policies_known != RD_OK || in->net->routes_known != RD_OK)
		return rd_check_unknown(out, "host", "routes could not be read (rtnetlink)");
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
				report_netif(
					in, out, RD_SEV_WARNING, netif,
					rd_text("packets from %s use routing table %u, which has no route through %s",
						ip, policy->table, netif->name),
					rd_text("a route through this rail's own interface in that table"),
					route_fix(in->net, netif, policy));
		}
	}
}

static void run_firewall(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_firewall *firewall = in->net ? &in->net->firewall : NULL;
	bool soft = false, hard = false;

	rd_check_skip(out, "no software RDMA device: hardware RoCE bypasses the kernel's firewall");
	for (size_t p = 0; p < in->host->n_ports; p++) {
		soft |= rd_port_is_ethernet(&in->host->ports[p]) && rd_check_is_soft(in->host, &in->host->ports[p]);
		hard |= !rd_check_is_soft(in->host, &in->host->ports[p]);
	}
	if (!soft)
		return;
	if (!firewall || firewall->known != RD_OK)
		rd_check_unknown(out, "firewall",
				 firewall && firewall->known == RD_DENIED ?
					 "rules not readable without CAP_NET_ADMIN" :
				 firewall && firewall->legacy ?
					 "legacy iptables rules present; they are not readable by netlink" :
					 "rules could not be read (nftables)");
	else if (hard && firewall->drops)
		rd_check_unknown(
			out, "firewall",
			"UDP port 4791 is dropped, but whether the software RDMA device is used alongside the NICs is "
			"unknown");
	else if (firewall->drops)
		rd_check_warn(out, "firewall", rd_text("a rule of nftables drops UDP port 4791"),
			      rd_text("UDP port 4791 accepted, input and output"));
	else if (firewall->may_drop)
		rd_check_unknown(out, "firewall",
				 "a drop rule or policy exists that may concern UDP port 4791: nft list ruleset");
	else
		rd_check_good(out, "firewall");
}

static uint32_t median_flaps(const struct rd_netstate *net, const struct rd_netif *but)
{
	uint32_t best = 0;
	size_t n = 0;

	for (size_t i = 0; i < net->n_ifs; i++)
		n += net->ifs[i].rdma && &net->ifs[i] != but && net->ifs[i].carrier_down.known == RD_OK;
	/* The value that half of them do not exceed. Quadratic, but there are few. */
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
			rd_check_unknown(out, netif->name, "carrier_down_count not reported");
			continue;
		}
		usual = median_flaps(in->net, netif);
		if (netif->carrier_down.v >= FLAPS_MANY && netif->carrier_down.v / 4 > usual)
			report_netif(in, out, RD_SEV_WARNING, netif,
				     rd_text("carrier lost %u times since the interface was created",
					     netif->carrier_down.v),
				     rd_text("about as often as the others (%u)", usual), NULL);
		else
			rd_check_good(out, netif->name);
	}
}

const struct rd_check rd_check_rp_filter = {
	.id = "rp-filter",
	.title = "Strict reverse path filtering (rp_filter) with several NICs in one subnet",
	.why = "the kernel routes the whole subnet through one NIC and drops packets received on the others: "
	       "rdma_cm connections and ARP fail",
	.fix = "sysctl -w net.ipv4.conf.all.rp_filter=2\n"
	       "# the larger of 'all' and the interface's own value applies\n"
	       "# it lasts until the next boot; also in /etc/sysctl.d/",
	.needs = "/proc/sys/net/ipv4/conf/*/rp_filter; addresses from rtnetlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_rp_filter,
};

const struct rd_check rd_check_arp_flux = {
	.id = "arp-flux",
	.title = "ARP flux: NICs answer ARP for each other's addresses",
	.why = "peers learn another NIC's MAC for the address: packets arrive at a device that does not have the "
	       "destination QP",
	.fix = "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2\n"
	       "# until the next boot; also in /etc/sysctl.d/",
	.needs = "/proc/sys/net/ipv4/conf/*/arp_ignore and arp_announce; addresses from rtnetlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_arp,
};

const struct rd_check rd_check_duplicate_address = {
	.id = "duplicate-address",
	.title = "Duplicate IP address on an RDMA interface",
	.why = "peers reach one or the other at random; the GID of the address is ambiguous",
	.fix = "ip -br address\n"
	       "# give each interface a unique address; no job may use it meanwhile",
	.needs = "addresses and their flags from rtnetlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_duplicate,
};

const struct rd_check rd_check_neighbour_failed = {
	.id = "neighbour-failed",
	.title = "Neighbour resolution (ARP, ND) fails on an RDMA interface",
	.why = "ibv_modify_qp to RTR resolves the peer's MAC address first and fails with ETIMEDOUT; caused by a "
	       "wrong rail, a wrong VLAN, or a peer that is down",
	.fix = "ip neigh show nud failed dev IF\n"
	       "# check the route to these peers: ip route get PEER from LOCAL\n"
	       "# rail-only network: set NCCL_CROSS_NIC=0 in the job's environment",
	.needs = "neighbours from rtnetlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_neighbours,
};

const struct rd_check rd_check_rail_route = {
	.id = "rail-route",
	.title = "Routing table of a rail does not use the rail's interface",
	.why = "packets with this source address leave through another NIC, and the network may drop them",
	.fix = "ip rule show\n"
	       "# ip route add default via GATEWAY dev IF table TABLE\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "policy rules, routes and addresses from rtnetlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_rail_routes,
};

const struct rd_check rd_check_firewall = {
	.id = "roce-firewall",
	.title = "Firewall drops RoCE packets (UDP port 4791)",
	.why = "software RDMA devices send and receive UDP port 4791 through the kernel's network stack",
	.fix = "nft list ruleset\n"
	       "# accept the port in the chain that drops it: nft insert rule inet filter input udp dport 4791 accept\n"
	       "# also in the configuration of the firewall",
	.needs = "nftables chains and rules from netlink (CAP_NET_ADMIN)",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_firewall,
};

const struct rd_check rd_check_link_flaps = {
	.id = "link-flaps",
	.title = "Link flaps far more often than other links",
	.why = "each link loss drops all packets in flight, and jobs fail with completion status 12 (IBV_WC_RETRY_EXC_ERR)",
	.fix = "rdmadiag counters --changed --filter '*link*' -i 10 -c 6\n"
	       "# clean or swap cable and optics of this port, then the switch port",
	.needs = "carrier_down_count from rtnetlink",
	.parts = { RD_PART_PCI, RD_PART_RDMA | RD_PART_NET },
	.run = run_flaps,
};
