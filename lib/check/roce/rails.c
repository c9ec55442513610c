/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about rails: addresses, routes, and the flows of queue pairs. */
#include "check/shared/rules.h"

#include "model/rdma/qp-view.h"

/* Compute interfaces that should follow one pattern: addresses, bonds. And what lets them reach other subnets. */

#define RAILS_MIN 4   /* with fewer, one that differs is not clearly the exception */
#define HOPS_ENOUGH 8 /* a network of three stages has five routers between two hosts */

struct rail {
	const struct rd_port *port;
	const struct rd_netdev *netdev; /* with the address: the bond or the VLAN, if there is one */
	const struct rd_addr *addr;	/* its first IPv4 address, of a subnet rather than of a service; NULL: none */
	const char *bond;		/* mode; "" if it has none; NULL: unknown */
	int vlan;			/* that the address is in; -1: none */
	uint32_t net;			/* of its subnet */
};

struct rails {
	struct rail *v; /* owned; in the order of devices */
	size_t n;
};

static void rails_deinit(struct rails *rails)
{
	free(rails->v);
}

/* The bond of an interface, or itself. */
static const struct rd_netdev *bond_of(const struct rd_host *host, const struct rd_netdev *netdev)
{
	int master = rd_host_find_netdev(host, netdev->master);

	return master >= 0 && host->netdevs[master].is_bond ? &host->netdevs[master] : netdev;
}

static const struct rd_addr *first_v4(const struct rd_netdev *netdev)
{
	const struct rd_addr *service = NULL;

	for (size_t a = netdev->n_addrs; a-- > 0;)
		if (!netdev->addrs[a].v6 && netdev->addrs[a].prefix == 32)
			service = &netdev->addrs[a];
	for (size_t a = 0; a < netdev->n_addrs; a++)
		if (!netdev->addrs[a].v6 && netdev->addrs[a].prefix > 0 && netdev->addrs[a].prefix < 32)
			return &netdev->addrs[a];
	return service;
}

static uint32_t net_of(const struct rd_addr *addr)
{
	uint32_t ip = (uint32_t)addr->raw[0] << 24 | (uint32_t)addr->raw[1] << 16 | (uint32_t)addr->raw[2] << 8 |
		      addr->raw[3];

	return ip & ~(uint32_t)(((uint64_t)1 << (32 - addr->prefix)) - 1);
}

/* The interface of the port's own function, not a VLAN above it. */
static const struct rd_netdev *own_netdev(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++)
		if (host->netdevs[port->netdevs[i]].pci == host->ibdevs[port->ibdev].pci)
			return &host->netdevs[port->netdevs[i]];
	return &host->netdevs[port->netdevs[0]];
}

/* Active RoCE compute ports of physical NICs, without those that have the default route. */
static void find_rails(const struct rd_check_input *in, struct rails *ret)
{
	const struct rd_host *host = in->host;

	ret->v = rd_alloc(host->n_ports + 1, sizeof(*ret->v));
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rail *rail = &ret->v[ret->n];
		const struct rd_netif *netif;

		if (in->ports->v[p].role != RD_ROLE_COMPUTE || !rd_port_is_roce(host, port) || !rd_port_active(port) ||
		    rd_check_is_soft(host, port) || port->n_netdevs == 0 || rd_port_route(host, port) ||
		    host->pcis[host->ibdevs[port->ibdev].pci].pf >= 0)
			continue;
		*rail = (struct rail){ .port = port, .netdev = bond_of(host, own_netdev(host, port)) };
		rail->bond = rail->netdev->is_bond ? rail->netdev->bond_mode : "";
		/* Storage, say, can have a VLAN beside it. */
		if (in->ports->v[p].gid >= 0 && !first_v4(rail->netdev)) {
			int named = rd_host_find_netdev(host, port->gids[in->ports->v[p].gid].netdev);

			rail->netdev = named < 0 ? rail->netdev : &host->netdevs[named];
		}
		netif = in->net && rail->netdev->name ? rd_netstate_find_name(in->net, rail->netdev->name) : NULL;
		rail->vlan = netif ? netif->vlan : -1;
		rail->addr = first_v4(rail->netdev);
		rail->net = rail->addr ? net_of(rail->addr) : 0;
		ret->n++;
	}
}

/* The one whose value differs while all others have the same: its index; -1: none. */
static int odd_one(const struct rails *rails, bool (*same)(const struct rail *, const struct rail *))
{
	size_t like_first = 0, like_last = 0;
	int odd = -1;

	for (size_t i = 0; i < rails->n; i++) {
		like_first += same(&rails->v[0], &rails->v[i]);
		like_last += same(&rails->v[rails->n - 1], &rails->v[i]);
	}
	if (rails->n < RAILS_MIN || (like_first != rails->n - 1 && like_last != rails->n - 1))
		return -1;
	for (size_t i = 0; i < rails->n; i++)
		if (!same(&rails->v[like_first == rails->n - 1 ? 0 : rails->n - 1], &rails->v[i]))
			odd = (int)i;
	return odd;
}

static bool same_bond(const struct rail *a, const struct rail *b)
{
	return strcmp(a->bond, b->bond) == 0;
}

static bool same_prefix(const struct rail *a, const struct rail *b)
{
	return a->addr->prefix == b->addr->prefix;
}

static bool same_tag(const struct rail *a, const struct rail *b)
{
	return (a->vlan < 0) == (b->vlan < 0);
}

static bool same_vlan(const struct rail *a, const struct rail *b)
{
	return a->vlan == b->vlan;
}

static void run_bond(const struct rd_check_input *in, struct rd_check_out *out)
{
	_cleanup_(rails_deinit) struct rails rails = { 0 };
	int odd;

	rd_check_skip(out, "fewer than four compute interfaces over Ethernet");
	find_rails(in, &rails);
	for (size_t i = 0; i < rails.n; i++)
		if (!rails.v[i].bond)
			return rd_check_unknown(out, rails.v[i].netdev->name, "mode of the bond could not be read");
	odd = odd_one(&rails, same_bond);
	if (odd >= 0) {
		const struct rail *rail = &rails.v[odd], *like = &rails.v[odd == 0];
		const char *usual = like->bond;

		rd_check_warn(out, rail->netdev->name, rd_text("%s", *rail->bond ? rail->bond : "in no bond"),
			      rd_text("%s, as on %zu of %zu compute interfaces", *usual ? usual : "in no bond",
				      rails.n - 1, rails.n));
	} else if (rails.n >= RAILS_MIN) {
		rd_check_good(out, rails.v[0].netdev->name);
	}
}

/* Whether all subnets but one continue a sequence of one step, in the order of devices; sets that one, and what it should have. */
static bool breaks_sequence(const struct rails *rails, size_t *odd, uint32_t *expected)
{
	for (size_t from = 0; from < 3; from++) {
		uint32_t step = rails->v[from + 1].net - rails->v[from].net;
		uint32_t base = rails->v[from].net - step * (uint32_t)from;
		size_t n = 0;

		for (size_t i = 0; i < rails->n; i++) {
			n += rails->v[i].net == base + step * (uint32_t)i;
			if (rails->v[i].net != base + step * (uint32_t)i)
				*odd = i;
		}
		*expected = base + step * (uint32_t)*odd;
		if (step && n == rails->n - 1)
			return true;
	}
	return false;
}

/* Whether the interface reaches no peer, or shares the subnet of another: then a subnet of its own was not planned. */
static bool is_misplaced(const struct rd_check_input *in, const struct rails *rails, size_t odd)
{
	const struct rd_netif *netif = in->net ? rd_netstate_find_name(in->net, rails->v[odd].netdev->name) : NULL;
	size_t failed = 0, reached = 0;

	for (size_t i = 0; i < rails->n; i++)
		if (i != odd && rails->v[i].net == rails->v[odd].net)
			return true;
	for (size_t k = 0; netif && k < in->net->n_neighs; k++) {
		if (in->net->neighs[k].ifindex != netif->ifindex || in->net->neighs[k].v6)
			continue;
		failed += (in->net->neighs[k].state & RD_NEIGH_FAILED) != 0;
		reached += (in->net->neighs[k].state & RD_NEIGH_REACHED) != 0;
	}
	return failed > reached;
}

static char *net_text(uint32_t net, unsigned prefix)
{
	return rd_text("%u.%u.%u.%u/%u", net >> 24, net >> 16 & 255, net >> 8 & 255, net & 255, prefix);
}

static void report_subnet(const struct rd_check_input *in, const struct rails *rails, size_t odd, uint32_t expected,
			  struct rd_check_out *out)
{
	const struct rail *rail = &rails->v[odd];
	_cleanup_free_ char *is = net_text(rail->net, rail->addr->prefix),
			    *usual = net_text(expected, rail->addr->prefix);
	char *observed = rd_text("subnet %s", is);
	char *wanted = rd_text("%s, which continues those of the other %zu compute interfaces", usual, rails->n - 1);

	if (is_misplaced(in, rails, odd))
		rd_check_warn(out, rail->netdev->name, observed, wanted);
	else
		rd_check_note(out, rail->netdev->name, observed, wanted, NULL);
}

static void run_address(const struct rd_check_input *in, struct rd_check_out *out)
{
	_cleanup_(rails_deinit) struct rails rails = { 0 };
	uint32_t expected;
	size_t at = 0;
	int odd;

	rd_check_skip(out, "fewer than four compute interfaces with IPv4 addresses");
	find_rails(in, &rails);
	odd = odd_one(&rails, same_tag);
	if (odd >= 0 && rails.v[odd].addr)
		return rd_check_warn(out, rails.v[odd].netdev->name,
				     rd_text("the address is %s a VLAN", rails.v[odd].vlan >= 0 ? "in" : "not in"),
				     rd_text("%s, as on the other %zu compute interfaces",
					     rails.v[odd].vlan >= 0 ? "no VLAN" : "a VLAN", rails.n - 1));
	odd = odd_one(&rails, same_vlan);
	if (odd >= 0 && rails.v[odd].addr)
		return rd_check_warn(out, rails.v[odd].netdev->name, rd_text("VLAN %d", rails.v[odd].vlan),
				     rd_text("VLAN %d, as on the other %zu compute interfaces", rails.v[odd == 0].vlan,
					     rails.n - 1));
	for (size_t i = 0; i < rails.n; i++)
		if (!rails.v[i].addr)
			return;
	odd = odd_one(&rails, same_prefix);
	if (rails.n < RAILS_MIN)
		return;
	if (odd >= 0) {
		const struct rail *rail = &rails.v[odd];
		unsigned usual = rails.v[odd == 0].addr->prefix;

		rd_check_warn(out, rail->netdev->name,
			      rd_text("%u.%u.%u.%u/%u", rail->addr->raw[0], rail->addr->raw[1], rail->addr->raw[2],
				      rail->addr->raw[3], rail->addr->prefix),
			      rd_text("/%u, as on the other %zu compute interfaces", usual, rails.n - 1));
	} else if (breaks_sequence(&rails, &at, &expected)) {
		report_subnet(in, &rails, at, expected, out);
	} else {
		rd_check_good(out, rails.v[0].netdev->name);
	}
}

/* An RDMA port of the bond; -1: none. */
static int port_of(const struct rd_host *host, const struct rd_netdev *bond)
{
	for (size_t p = 0; p < host->n_ports; p++)
		for (size_t n = 0; n < host->ports[p].n_netdevs; n++)
			if (bond_of(host, &host->netdevs[host->ports[p].netdevs[n]]) == bond)
				return (int)p;
	return -1;
}

/* Where the port is active, and not slower than its twins, which port-speed-uniform reports. */
static void report_down(const struct rd_check_input *in, int port, const struct rd_netdev *bond, const char *subject,
			struct rd_check_out *out)
{
	enum rd_role role = in->ports->v[port].role;

	if (rd_port_active(&in->host->ports[port]) && !rd_check_odd(in, RD_TRAIT_RATE, -1, port, true))
		rd_check_bad(out, role == RD_ROLE_MANAGEMENT ? RD_SEV_NOTE : RD_SEV_WARNING, subject,
			     rd_text("no link"), rd_text("a link on all interfaces of %s", bond->name),
			     rd_text("cat /proc/net/bonding/%s\n# check cable, transceiver and switch port of IF",
				     bond->name));
}

static bool never_up(const struct rd_check_input *in, const struct rd_netdev *netdev)
{
	const struct rd_netif *netif = in->net && netdev->name ? rd_netstate_find_name(in->net, netdev->name) : NULL;

	return netif && netif->carrier_up.known == RD_OK && netif->carrier_up.v == 0 && netdev->operstate &&
	       strcmp(netdev->operstate, "down") == 0;
}

/* The bonds of a role, two at least, each of which has an interface that has never had a carrier: they are cabled so. 0: not all are. */
static size_t half_cabled(const struct rd_check_input *in, enum rd_role role)
{
	const struct rd_host *host = in->host;
	_cleanup_free_ bool *any = rd_alloc(host->n_netdevs + 1, sizeof(*any));
	_cleanup_free_ bool *never = rd_alloc(host->n_netdevs + 1, sizeof(*never));
	size_t n = 0;

	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *slave = &host->netdevs[i], *bond = bond_of(host, slave);

		any[bond - host->netdevs] |= bond != slave;
		never[bond - host->netdevs] |= bond != slave && never_up(in, slave);
	}
	for (size_t b = 0; b < host->n_netdevs; b++) {
		int port = any[b] ? port_of(host, &host->netdevs[b]) : -1;

		if (port < 0 || in->ports->v[port].role != role)
			continue;
		if (!never[b])
			return 0;
		n++;
	}
	return n > 1 ? n : 0;
}

static void run_aggregator(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	size_t half[] = {
		[RD_ROLE_COMPUTE] = half_cabled(in, RD_ROLE_COMPUTE),
		[RD_ROLE_STORAGE] = half_cabled(in, RD_ROLE_STORAGE),
		[RD_ROLE_MANAGEMENT] = half_cabled(in, RD_ROLE_MANAGEMENT),
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(half); i++)
		if (half[i])
			rd_check_note(out, "bonds",
				      rd_text("one link of each of %zu has never been up: not cabled", half[i]), NULL,
				      NULL);
	rd_check_skip(out, "no bond of RDMA interfaces with LACP, or with a link that is down");
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *slave = &host->netdevs[i], *bond = bond_of(host, slave);
		int port = bond == slave ? -1 : port_of(host, bond);
		char subject[80];

		if (port < 0 || !slave->operstate)
			continue;
		snprintf(subject, sizeof(subject), "%.32s of %.32s", slave->name, bond->name);
		/* One without a link is alone in its aggregator: its link is the fault. */
		if (half[in->ports->v[port].role] && never_up(in, slave))
			continue;
		if (strcmp(slave->operstate, "down") == 0)
			report_down(in, port, bond, subject, out);
		else if (strcmp(slave->operstate, "up") != 0 || !bond->bond_mode ||
			 strncmp(bond->bond_mode, "802.3ad", 7) != 0)
			continue;
		else if (slave->aggregator.known != RD_OK || bond->aggregator.known != RD_OK)
			rd_check_unknown(out, subject, "LACP aggregator of a bond not reported (sysfs bonding_slave)");
		else if (slave->aggregator.v != bond->aggregator.v)
			rd_check_bad(
				out, RD_SEV_WARNING, subject,
				rd_text("aggregator %u; %s uses aggregator %u", slave->aggregator.v, bond->name,
					bond->aggregator.v),
				rd_text("one aggregator for all links of %s", bond->name),
				rd_text("cat /proc/net/bonding/%s\n"
					"# partner MAC 00:00:00:00:00:00: the switch port of IF does not speak LACP\n"
					"# another partner than its sibling: the cable is in another switch, or the two "
					"switches do not form an MLAG",
					bond->name));
		else
			rd_check_good(out, subject);
	}
}

static void run_hops(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_netstate *net = in->net;
	const struct rd_netif *routed = NULL;

	rd_check_skip(out, "no RDMA interface with a route through a gateway");
	for (size_t i = 0; net && i < net->n_routes && !routed; i++) {
		const struct rd_netif *netif = net->routes[i].has_gateway && !net->routes[i].v6 ?
						       rd_netstate_find(net, net->routes[i].ifindex) :
						       NULL;

		routed = netif && netif->rdma ? netif : NULL;
	}
	if (!routed)
		return;
	if (net->ttl.known != RD_OK)
		rd_check_unknown(out, "net.ipv4.ip_default_ttl", "not readable");
	else if (net->ttl.v < HOPS_ENOUGH)
		rd_check_warn(out, "net.ipv4.ip_default_ttl",
			      rd_text("%d: packets cross at most %d routers", net->ttl.v, net->ttl.v - 1),
			      rd_text("64"));
	else
		rd_check_good(out, "net.ipv4.ip_default_ttl");
}

const struct rd_check rd_check_rail_address = {
	.id = "rail-address",
	.title = "Address of a compute interface breaks the pattern of the others",
	.why = "peers of this rail are in another subnet: connections over it fail or use another NIC",
	.fix = "ip -br address\n"
	       "# correct the address of IF in the network configuration; no job may use it meanwhile",
	.needs = "addresses of compute interfaces; neighbours from rtnetlink",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.run = run_address,
};

const struct rd_check rd_check_bond_mode = {
	.id = "bond-mode",
	.title = "Mode of a bond differs from those of the other compute interfaces",
	.why = "the switches expect the mode of the others; another one uses one link, or loses packets",
	.fix = "cat /proc/net/bonding/IF\n"
	       "# set the mode of the others in the network configuration; no job may use it meanwhile",
	.needs = "sysfs bonding/mode of interfaces on compute ports",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.run = run_bond,
};

const struct rd_check rd_check_bond_aggregator = {
	.id = "bond-aggregator",
	.title = "Link of a bond carries nothing: it is down, or in another LACP aggregator",
	.why = "RDMA and other traffic use the links of one aggregator only",
	.fix = "cat /proc/net/bonding/BOND",
	.needs = "sysfs operstate of bonded interfaces, bonding/ad_aggregator and bonding_slave/ad_aggregator_id",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NET, 0 },
	.run = run_aggregator,
};

const struct rd_check rd_check_hop_limit = {
	.id = "roce-hop-limit",
	.title = "Hop limit of routed RoCE packets is low",
	.why = "connections of rdma_cm take it over: packets are dropped by a router on the way, and retries run out",
	.fix = "sysctl -w net.ipv4.ip_default_ttl=64\n"
	       "# until the next boot; also in /etc/sysctl.d/",
	.needs = "routes from rtnetlink; net.ipv4.ip_default_ttl",
	.parts = { RD_PART_PCI | RD_PART_NET, 0 },
	.run = run_hops,
};

/* Whether switches, and the NIC itself, can spread the flows to one peer over several links. */

static void run_flows(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!in->res || !in->spreads)
		return rd_check_unknown(out, "queue pairs",
					"queue pairs were not read, or could not be listed (RDMA netlink)");
	for (size_t i = 0; i < in->spreads->n_collisions; i++) {
		const struct rd_collision *collision = &in->spreads->collisions[i];
		char subject[128];

		snprintf(subject, sizeof(subject), "%.40s QP %.70s", in->res->devs[collision->dev].name,
			 collision->lqpns);
		rd_check_warn(out, subject,
			      rd_text("%zu flows to one peer use UDP source port %u", collision->flows,
				      collision->udp_sport),
			      rd_text("a different source port for each flow"));
	}
	/* Flows without a known peer may have different peers: they are not judged. */
	for (size_t i = 0; i < in->spreads->n; i++)
		if (in->spreads->v[i].has_peer && in->spreads->v[i].tuples == in->spreads->v[i].flows)
			rd_check_good(out, in->res->devs[in->spreads->v[i].dev].name);
	rd_check_skip(out, "no connected RoCE queue pair with a known peer");
}

static bool is_standby(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t n = 0; n < port->n_netdevs; n++) {
		const char *mode = host->netdevs[port->netdevs[n]].bond_mode;

		if (mode && strncmp(mode, "active-backup", 13) == 0)
			return true;
	}
	return false;
}

static void judge_affinity(const struct rd_check_input *in, size_t p, const char *name, struct rd_check_out *out)
{
	const struct rd_port *port = &in->host->ports[p];
	const char *mode = in->host->ibdevs[port->ibdev].lag_mode;

	if (mode && is_standby(in->host, port))
		rd_check_skip(out, "one link of each LAG carries traffic (active-backup)");
	else if (mode && strcmp(mode, "queue_affinity") == 0)
		rd_check_note(out, name, rd_text("mode queue_affinity: a queue pair uses one of the links"),
			      rd_text("mode hash, or several queue pairs for each peer"), NULL);
	else if (mode && (strcmp(mode, "hash") == 0 || strcmp(mode, "multiport_eswitch") == 0))
		rd_check_good(out, name);
	else if (mode)
		rd_check_unknown(out, name, "not a mode of LAG that is known");
}

const struct rd_check rd_check_flow_entropy = {
	.id = "roce-flow-entropy",
	.title = "Flows to one peer share a UDP source port (no ECMP entropy)",
	.why = "flows with the same five-tuple share one of the equal-cost links, however many links exist",
	.fix = "rdmadiag qp-state --entropy 4\n"
	       "# set flow labels or UDP source ports in the application, or hash the destination QP in the switches",
	.needs = "queue pairs from RDMA netlink; their peers from rdma_cm connections or a recording",
	.thorough = true,
	.parts = { 0, RD_PART_RDMA | RD_PART_QPS },
	.run = run_flows,
};

const struct rd_check rd_check_lag_affinity = {
	.id = "roce-lag-affinity",
	.title = "RoCE LAG assigns each queue pair to one link",
	.why = "a peer that is reached by one queue pair gets the bandwidth of one link",
	.fix = "# set NCCL_IB_QPS_PER_CONNECTION=2 or UCX_IB_NUM_PATHS=2 in the job's environment\n"
	       "# or upgrade kernel and firmware: mlx5 uses mode hash where both support it",
	.needs = "port_sel_mode of mlx5_core in debugfs (root)",
	.parts = { 0, RD_PART_RDMA },
	.each = { RD_EACH_PORT, NULL, judge_affinity,
		  "no RoCE LAG whose mode can be read (debugfs of mlx5_core, root)" },
};
