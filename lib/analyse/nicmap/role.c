/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roles of ports. Structure decides first: whether a NIC is near an accelerator, and whether there are as many NICs of its
 * kind as accelerators. This does not depend on link states. Then routes and addresses, then rates. If none of these
 * decides, the role is unknown, and role_why gives the reason.
 */
#include "analyse/nicmap/nicmap.h"

#define VENDOR_MELLANOX 0x15b3

/* Gbit/s: up to this rate, beside NICs four times as fast, a NIC is a server's on-board interface. */
#define RD_ROLE_SLOW_GBPS 25.0
#define RD_ROLE_MUCH_FASTER 4

/* From here on the number of NICs is evidence: with one or two accelerators any number of cards is "one each". */
#define RD_ROLE_GPUS_MANY 4

/* How near a NIC must be to be assigned to an accelerator, the strictest first. */
enum rd_role_reach {
	RD_REACH_SWITCH, /* below the same PCIe switch or root port */
	RD_REACH_SOCKET, /* same host bridge or NUMA node: machines without switches */
	RD_REACH_GUEST,	 /* the bridges between are not visible, as in a virtual machine */
	RD_REACH_ANY,
};

/* Evidence that an interface is the host's front-end, the weakest first. */
enum rd_role_front { RD_FRONT_NONE = 0, RD_FRONT_BOND, RD_FRONT_ROUTE };

enum rd_role_kind_is { RD_KIND_OTHER = 0, RD_KIND_COMPUTE, RD_KIND_UNSURE };

/* NICs of one kind: same chip, same number of ports per card. Not link layer, rate and state, which may be wrong on one. */
struct rd_role_kind {
	bool known; /* identified by its PCI function; else by `type` */
	uint16_t vendor, device;
	const char *type;
	unsigned ports;
	size_t n_cards;
	double rate;	/* Gbit/s, of the fastest port that is up; 0: all are down */
	unsigned near;	/* accelerators that have one within reach */
	unsigned own;	/* accelerators that could each have a separate one within reach */
	bool all_front; /* each card has a port with the default route */
	bool ib;	/* at least one port is InfiniBand */
	enum rd_role_kind_is is;
	char why[160];
};

struct rd_role_card {
	int ibdev; /* the first of its devices */
	int kind;
	enum rd_role_front front; /* the strongest evidence of its ports */
	bool chosen;		  /* belongs to the compute NICs */
	bool odd;		  /* of that kind and as near, but surplus: role unknown */
};

struct rd_role_state {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	struct rd_port_view *views; /* of each port */
	struct rd_role_kind *kinds; /* as many as cards at most */
	size_t n_kinds;
	struct rd_role_card *cards;
	size_t n_cards;
	int *card_of; /* of each device; -1: not a card (soft, virtual function …) */
	struct {
		enum rd_role_front sign;
		char text[96];
	} * front; /* of each port */
	double fastest;
	enum rd_role_reach reach; /* by which the compute NICs were chosen; only with accelerators */
};

bool rd_same_card(const struct rd_host *host, int a, int b)
{
	const struct rd_ibdev *da = &host->ibdevs[a], *db = &host->ibdevs[b];
	const struct rd_pci *pa, *pb;

	if (a == b)
		return true;
	if (da->pci < 0 || db->pci < 0)
		return false;
	pa = &host->pcis[da->pci];
	pb = &host->pcis[db->pci];
	return rd_pci_one_card(pa, pb) && pa->pf < 0 && pb->pf < 0;
}

unsigned rd_card_ports(const struct rd_host *host, int ibdev)
{
	unsigned n = 0;

	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (rd_same_card(host, ibdev, (int)i))
			n += host->ibdevs[i].n_ports;
	return n;
}

/* Up; in a topology file, which may have no states, not known to be down. */
static bool is_usable(const struct rd_role_state *st, const struct rd_port *port)
{
	return rd_port_active(port) || (st->host->from_topology_file && !port->state);
}

/* Gbit/s of a port that is up; 0: not up, or unknown. */
static double rate_of(const struct rd_role_state *st, const struct rd_port *port)
{
	return is_usable(st, port) && port->rate_gbps.known == RD_OK ? port->rate_gbps.v : 0;
}

/* Evidence that a port is the host's front-end. */

static bool same_subnet(const struct rd_addr *a, const struct rd_addr *b)
{
	unsigned bits = a->prefix < b->prefix ? a->prefix : b->prefix;

	return !a->v6 && !b->v6 && bits > 0 && bits <= 32 && rd_ip_within(a->raw, b->raw, bits);
}

static const struct rd_netdev *route_in_subnet(const struct rd_host *host, const struct rd_netdev *netdev)
{
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct rd_netdev *other = &host->netdevs[i];

		for (size_t a = 0; other->default_route && a < other->n_addrs; a++)
			for (size_t b = 0; b < netdev->n_addrs; b++)
				if (same_subnet(&other->addrs[a], &netdev->addrs[b]))
					return other;
	}
	return NULL;
}

static void find_front(const struct rd_host *host, const struct rd_port *port, enum rd_role_front *sign, char *text,
		       size_t size)
{
	const struct rd_netdev *route = rd_port_route(host, port);

	*sign = route ? RD_FRONT_ROUTE : RD_FRONT_NONE;
	if (route) {
		snprintf(text, size, "%s carries the default route", route->name);
		return;
	}
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		route = route_in_subnet(host, netdev);
		if (route && route != netdev) {
			*sign = RD_FRONT_ROUTE;
			snprintf(text, size, "%s is in the subnet of %s, which carries the default route", netdev->name,
				 route->name);
			return;
		}
		if (netdev->is_bond || netdev->master) {
			*sign = RD_FRONT_BOND;
			snprintf(text, size, "%s is %s%s", netdev->name, netdev->is_bond ? "a bond" : "part of ",
				 netdev->is_bond ? "" : netdev->master);
		}
	}
}

/* Location of NICs relative to accelerators. */

/* Above these, cards are not matched to accelerators; no host has as many. */
#define GPUS_MAX 256
#define CARDS_MAX 1024
#define DEPTH_MAX 64

/* Whether the card is within reach of the accelerator. */
static bool reaches(const struct rd_role_state *st, size_t card, size_t gpu, enum rd_role_reach reach)
{
	enum rd_path path = rd_nicmap_pair(st->map, gpu, (size_t)st->cards[card].ibdev)->path;

	if (reach == RD_REACH_SWITCH)
		return path == RD_PATH_PIX || path == RD_PATH_PXB;
	return (reach != RD_REACH_SOCKET || path != RD_PATH_UNKNOWN) &&
	       ((reach != RD_REACH_SOCKET && reach != RD_REACH_GUEST) || path <= RD_PATH_NODE);
}

struct match {
	const struct rd_role_state *st;
	enum rd_role_reach reach;
	size_t kind;
	int *owner; /* accelerator of each card; -1: none yet */
	bool *tried;
};

/* Kuhn's algorithm: takes a free card, or moves the accelerator that owns a card to another one. */
static bool match_card(struct match *m, size_t gpu)
{
	for (size_t c = 0; c < m->st->n_cards; c++) {
		if ((size_t)m->st->cards[c].kind != m->kind || m->tried[c] || !reaches(m->st, c, gpu, m->reach))
			continue;
		m->tried[c] = true;
		if (m->owner[c] < 0 || match_card(m, (size_t)m->owner[c])) {
			m->owner[c] = (int)gpu;
			return true;
		}
	}
	return false;
}

/* Sets `near` and `own` of a kind. */
static void measure_kind(const struct rd_role_state *st, size_t kind, enum rd_role_reach reach)
{
	struct rd_role_kind *k = &st->kinds[kind];
	_cleanup_free_ int *owner = rd_alloc(st->n_cards + 1, sizeof(*owner));
	_cleanup_free_ bool *tried = rd_alloc(st->n_cards + 1, sizeof(*tried));
	struct match m = { .st = st, .reach = reach, .kind = kind, .owner = owner, .tried = tried };
	bool count_own = st->host->n_gpus <= GPUS_MAX && st->n_cards <= CARDS_MAX;

	memset(owner, 0xff, (st->n_cards + 1) * sizeof(*owner)); /* -1 */
	k->near = k->own = 0;
	for (size_t g = 0; g < st->host->n_gpus; g++) {
		for (size_t c = 0; c < st->n_cards; c++)
			if ((size_t)st->cards[c].kind == kind && reaches(st, c, g, reach)) {
				k->near++;
				break;
			}
		if (!count_own)
			continue;
		memset(tried, 0, st->n_cards * sizeof(*tried));
		k->own += match_card(&m, g);
	}
	if (!count_own)
		k->own = k->near < k->n_cards ? k->near : (unsigned)k->n_cards;
}

/* One card per accelerator, and too many accelerators for a coincidence. */
static bool is_set(const struct rd_role_state *st, const struct rd_role_kind *kind)
{
	return st->host->n_gpus >= RD_ROLE_GPUS_MANY && kind->own == st->host->n_gpus;
}

static bool is_regular(const struct rd_role_state *st, size_t n_cards)
{
	size_t gpus = st->host->n_gpus;

	return n_cards == gpus || n_cards == 2 * gpus || 2 * n_cards == gpus;
}

static bool is_much_slower(const struct rd_role_state *st, const struct rd_role_kind *kind)
{
	return kind->rate > 0 && kind->rate <= RD_ROLE_SLOW_GBPS && st->fastest >= RD_ROLE_MUCH_FASTER * kind->rate;
}

/* Without a common switch, a kind is not for accelerators if all its cards carry the default route. */
static bool is_ruled_out(const struct rd_role_state *st, const struct rd_role_kind *kind, enum rd_role_reach reach)
{
	if (is_set(st, kind))
		return false;
	if (is_much_slower(st, kind))
		return reach != RD_REACH_SWITCH || st->host->n_gpus < RD_ROLE_GPUS_MANY ||
		       2 * kind->own < st->host->n_gpus;
	return reach != RD_REACH_SWITCH && kind->all_front;
}

/* Candidates of one reach: the kinds that are near most accelerators. Returns how many. */
static size_t find_candidates(const struct rd_role_state *st, enum rd_role_reach reach, bool lenient, bool *ret)
{
	unsigned near = 0, least = reach < RD_REACH_ANY ? (unsigned)(st->host->n_gpus + 1) / 2 : 1;
	size_t n = 0;
	bool set = false;

	for (size_t k = 0; k < st->n_kinds; k++) {
		const struct rd_role_kind *kind = &st->kinds[k];

		ret[k] = kind->near >= least && (lenient || !is_ruled_out(st, kind, reach));
		if (ret[k] && kind->near > near)
			near = kind->near;
	}
	for (size_t k = 0; k < st->n_kinds; k++) {
		ret[k] = ret[k] && st->kinds[k].near == near;
		set |= ret[k] && is_set(st, &st->kinds[k]);
	}
	for (size_t k = 0; k < st->n_kinds; k++) {
		ret[k] = ret[k] && (!set || is_set(st, &st->kinds[k]));
		n += ret[k];
	}
	return n;
}

/* Chooses among equal candidates: not the one with the default route; then the one with the highest rate and number, or a
 * much higher rate. Returns the kind, or -1 if they cannot be distinguished. */
static int choose_among(const struct rd_role_state *st, const bool *among)
{
	int best = -1;
	size_t free = 0;

	for (size_t k = 0; k < st->n_kinds; k++)
		if (among[k] && !st->kinds[k].all_front) {
			free++;
			best = (int)k;
		}
	if (free == 1)
		return best;
	for (size_t k = 0; k < st->n_kinds; k++) {
		const struct rd_role_kind *a = &st->kinds[k];
		bool leads = among[k] && (free == 0 || !a->all_front);

		for (size_t o = 0; leads && o < st->n_kinds; o++) {
			const struct rd_role_kind *b = &st->kinds[o];

			if (o == k || !among[o] || (free > 0 && b->all_front))
				continue;
			leads = a->rate > 0 && b->rate > 0 &&
				(a->rate >= RD_ROLE_MUCH_FASTER * b->rate ||
				 (a->rate >= b->rate && a->own >= b->own && (a->rate > b->rate || a->own > b->own)));
		}
		if (leads)
			return (int)k;
	}
	return -1;
}

static bool same_layer(const struct rd_port *a, const struct rd_port *b)
{
	return !a->link_layer || !b->link_layer || strcmp(a->link_layer, b->link_layer) == 0;
}

static const struct rd_port *first_port(const struct rd_role_state *st, size_t card)
{
	return &st->host->ports[st->host->ibdevs[st->cards[card].ibdev].first_port];
}

static size_t count_chosen(const struct rd_role_state *st)
{
	size_t n = 0;

	for (size_t c = 0; c < st->n_cards; c++)
		n += st->cards[c].chosen;
	return n;
}

/* Virtual functions of all generations have one device ID: a guest's front-end looks like its compute NICs. The surplus one
 * is the one with the default route, or with the other link layer. */
static void drop_extra(struct rd_role_state *st)
{
	size_t n = count_chosen(st), front = 0, other = 0;
	const struct rd_port *like = NULL;

	if (st->host->n_gpus < RD_ROLE_GPUS_MANY || is_regular(st, n))
		return;
	for (size_t c = 0; c < st->n_cards; c++)
		front += st->cards[c].chosen && st->cards[c].front == RD_FRONT_ROUTE;
	if (front > 0 && front < n && is_regular(st, n - front)) {
		for (size_t c = 0; c < st->n_cards; c++)
			st->cards[c].chosen &= st->cards[c].front != RD_FRONT_ROUTE;
		return;
	}
	for (size_t c = 0; c < st->n_cards; c++) {
		size_t alike = 0;

		for (size_t o = 0; o < st->n_cards && st->cards[c].chosen; o++)
			alike += st->cards[o].chosen && same_layer(first_port(st, c), first_port(st, o));
		if (2 * alike > n)
			like = first_port(st, c);
	}
	for (size_t c = 0; like && c < st->n_cards; c++)
		other += st->cards[c].chosen && !same_layer(like, first_port(st, c));
	if (other == 0 || !is_regular(st, n - other))
		return;
	for (size_t c = 0; c < st->n_cards; c++)
		if (st->cards[c].chosen && !same_layer(like, first_port(st, c))) {
			st->cards[c].chosen = false;
			st->cards[c].odd = true;
		}
}

/* Below switches of the same model, in the same structure. */
static bool same_place(const struct rd_host *host, int a, int b)
{
	int depth = 0;

	if (a < 0 || b < 0)
		return false;
	for (a = host->pcis[a].parent, b = host->pcis[b].parent; a >= 0 && b >= 0 && depth < DEPTH_MAX; depth++) {
		const struct rd_pci *x = &host->pcis[a], *y = &host->pcis[b];

		if (x->vendor.v != y->vendor.v || x->device.v != y->device.v || x->kind.v != y->kind.v)
			return false;
		a = x->parent;
		b = y->parent;
	}
	return a < 0 && b < 0 && depth > 2; /* root port, switch upstream port and downstream port */
}

/* Adds a NIC whose switch lost its accelerator: it is placed as the others of its kind, and with it they are 4, 8 or 16. */
static void add_orphans(struct rd_role_state *st, size_t kind)
{
	size_t n = count_chosen(st), more = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t c = 0; c < st->n_cards; c++) {
			bool like = false;

			if (st->cards[c].chosen || (size_t)st->cards[c].kind != kind)
				continue;
			for (size_t o = 0; o < st->n_cards && !like; o++)
				like = st->cards[o].chosen && (size_t)st->cards[o].kind == kind &&
				       same_place(st->host, st->host->ibdevs[st->cards[c].ibdev].pci,
						  st->host->ibdevs[st->cards[o].ibdev].pci);
			if (pass == 0)
				more += like;
			else
				st->cards[c].chosen |= like;
		}
		if (more == 0 || n + more < 4 || ((n + more) & (n + more - 1)) != 0)
			return;
	}
}

/* Whether a card of another kind is below the switch of an accelerator that has no card of the chosen kind there. */
static bool replaces_kind(const struct rd_role_state *st, size_t card, size_t kind)
{
	for (size_t g = 0; g < st->host->n_gpus; g++) {
		bool has = false;

		if (!reaches(st, card, g, RD_REACH_SWITCH))
			continue;
		for (size_t c = 0; c < st->n_cards && !has; c++)
			has = (size_t)st->cards[c].kind == kind && reaches(st, c, g, RD_REACH_SWITCH);
		if (!has)
			return true;
	}
	return false;
}

static void choose_kind(struct rd_role_state *st, size_t kind)
{
	static const char *const places[] = {
		[RD_REACH_SWITCH] = "below the switches of",
		[RD_REACH_SOCKET] = "on the NUMA nodes of",
		[RD_REACH_GUEST] = "apparently near",
		[RD_REACH_ANY] = "at unknown distance from",
	};
	struct rd_role_kind *chosen = &st->kinds[kind];

	chosen->is = RD_KIND_COMPUTE;
	for (size_t c = 0; c < st->n_cards; c++)
		for (size_t g = 0; (size_t)st->cards[c].kind == kind && g < st->host->n_gpus; g++)
			st->cards[c].chosen |= reaches(st, c, g, st->reach);
	if (st->reach == RD_REACH_SWITCH) {
		add_orphans(st, kind);
		for (size_t c = 0; c < st->n_cards; c++)
			st->cards[c].chosen |= (size_t)st->cards[c].kind != kind && replaces_kind(st, c, kind) &&
					       !is_much_slower(st, &st->kinds[st->cards[c].kind]);
	} else {
		drop_extra(st);
	}
	if (st->n_kinds == 1 && st->reach != RD_REACH_SWITCH)
		snprintf(chosen->why, sizeof(chosen->why), "the only kind of NIC on this host");
	else
		snprintf(chosen->why, sizeof(chosen->why), "one of %zu NICs %s %u of %zu accelerators",
			 count_chosen(st), places[st->reach], chosen->near, st->host->n_gpus);
	for (size_t k = 0; k < st->n_kinds; k++)
		if (k != kind)
			snprintf(st->kinds[k].why, sizeof(st->kinds[k].why),
				 "%s %u of %zu accelerators; compute NICs: %u", places[st->reach], st->kinds[k].near,
				 st->host->n_gpus, chosen->near);
}

static void set_unsure(struct rd_role_state *st, const bool *among, size_t n)
{
	for (size_t k = 0; k < st->n_kinds; k++) {
		struct rd_role_kind *kind = &st->kinds[k];

		kind->is = among[k] ? RD_KIND_UNSURE : RD_KIND_OTHER;
		if (among[k])
			snprintf(kind->why, sizeof(kind->why),
				 "%zu kinds of NIC are equally near to the accelerators, and neither routes nor rates "
				 "distinguish them",
				 n);
		else
			snprintf(kind->why, sizeof(kind->why), "near fewer accelerators than other NICs");
	}
}

static void choose_near(struct rd_role_state *st)
{
	_cleanup_free_ bool *among = rd_alloc(st->n_kinds + 1, sizeof(*among));

	for (st->reach = RD_REACH_SWITCH; st->reach <= RD_REACH_ANY; st->reach++) {
		size_t n;
		int kind;

		for (size_t k = 0; k < st->n_kinds; k++)
			measure_kind(st, k, st->reach);
		n = find_candidates(st, st->reach, false, among);
		if (n == 0 && st->reach == RD_REACH_ANY)
			n = find_candidates(st, st->reach, true, among);
		if (n == 0)
			continue;
		kind = choose_among(st, among);
		if (kind >= 0)
			choose_kind(st, (size_t)kind);
		else
			set_unsure(st, among, n);
		return;
	}
}

static void choose_alone(struct rd_role_state *st)
{
	size_t n = 0, ib = 0, last = 0, last_ib = 0;

	for (size_t k = 0; k < st->n_kinds; k++) {
		bool out = st->n_kinds > 1 && (st->kinds[k].all_front || is_much_slower(st, &st->kinds[k]));

		snprintf(st->kinds[k].why, sizeof(st->kinds[k].why),
			 out ? "not the only kind of NIC on this host" :
			       "not InfiniBand, and no accelerator on this host");
		if (out)
			continue;
		n++;
		last = k;
		if (st->kinds[k].ib) {
			ib++;
			last_ib = k;
		}
	}
	if (n > 1 && ib == 1) {
		n = 1;
		last = last_ib;
	}
	for (size_t k = 0; k < st->n_kinds; k++) {
		struct rd_role_kind *kind = &st->kinds[k];

		if (n == 1 && k == last) {
			kind->is = RD_KIND_COMPUTE;
			snprintf(kind->why, sizeof(kind->why), "%s; no accelerator present",
				 st->n_kinds == 1 ?
					 "the only kind of NIC on this host" :
				 ib == 1 && kind->ib ?
					 "the only InfiniBand NICs on this host" :
					 "the fastest kind of NIC on this host that does not carry the default route");
		} else if (n != 1 && !(st->n_kinds > 1 && kind->all_front) && !is_much_slower(st, kind)) {
			kind->is = RD_KIND_UNSURE;
			snprintf(kind->why, sizeof(kind->why),
				 "several kinds of NIC, and no accelerator by which to determine their roles");
		}
	}
	for (size_t c = 0; c < st->n_cards; c++)
		st->cards[c].chosen = st->kinds[st->cards[c].kind].is == RD_KIND_COMPUTE;
}

/* Which ports of the compute cards are compute ports: the others are spare, or the host's front-end. */

static const struct rd_role_card *card_of(const struct rd_role_state *st, size_t port)
{
	int card = st->card_of[st->host->ports[port].ibdev];

	return card < 0 ? NULL : &st->cards[card];
}

static bool is_compute(const struct rd_role_state *st, size_t port)
{
	return st->views[port].role == RD_ROLE_COMPUTE;
}

/* Number of the port on its card, from 0. A card has a function per port, or a device with several ports. */
static unsigned place_on_card(const struct rd_host *host, const struct rd_port *port)
{
	int pci = host->ibdevs[port->ibdev].pci;

	return (pci < 0 ? 0 : host->pcis[pci].fn) + (port->num > 0 ? port->num - 1 : 0);
}

/* Down, without link partner and without an address. Not INIT, where the link is up. */
static bool is_unused(const struct rd_host *host, const struct rd_port *port)
{
	bool no_link = false;

	if (!port->state || strcmp(port->state, "DOWN") != 0 || rd_port_is_configured(host, port))
		return false;
	if (port->phys_state)
		return strcmp(port->phys_state, "LinkUp") != 0 && strcmp(port->phys_state, "LinkErrorRecovery") != 0;
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		if (netdev->operstate && strcmp(netdev->operstate, "up") == 0)
			return false;
		no_link = true;
	}
	return no_link;
}

/* Drivers make RDMA devices of ports on the board, too. Without accelerators, nothing says that a port is meant to be used. */
static bool kind_is_unused(const struct rd_role_state *st, int kind)
{
	for (size_t p = 0; p < st->host->n_ports; p++)
		if (is_compute(st, p) && card_of(st, p)->kind == kind &&
		    (!rd_port_is_ethernet(&st->host->ports[p]) || !is_unused(st->host, &st->host->ports[p])))
			return false;
	return st->host->n_gpus == 0;
}

/* Or has an address, or a link: it is to be up. */
static bool kind_is_up(const struct rd_role_state *st, int kind)
{
	for (size_t p = 0; p < st->host->n_ports; p++)
		if (is_compute(st, p) && card_of(st, p)->kind == kind && !is_unused(st->host, &st->host->ports[p]))
			return true;
	return false;
}

static bool card_is_up(const struct rd_role_state *st, int card)
{
	for (size_t p = 0; p < st->host->n_ports; p++)
		if (st->card_of[st->host->ports[p].ibdev] == card && is_usable(st, &st->host->ports[p]))
			return true;
	return false;
}

/* Compares the port with the corresponding ports of the other cards of its kind. NULL: it should be up. */
static char *why_spare(const struct rd_role_state *st, size_t p, bool *spare)
{
	const struct rd_host *host = st->host;
	unsigned place = place_on_card(host, &host->ports[p]);
	int kind = card_of(st, p)->kind;
	size_t up = 0, down = 0, unused = 0;

	for (size_t o = 0; o < host->n_ports; o++) {
		const struct rd_port *other = &host->ports[o];

		if (!card_of(st, o) || card_of(st, o)->kind != kind || !card_of(st, o)->chosen ||
		    place_on_card(host, other) != place)
			continue;
		up += is_usable(st, other);
		down += !is_usable(st, other);
		unused += is_unused(host, other);
	}
	*spare = up == 0 && unused == down;
	if (*spare)
		return rd_text("spare: port %u of %s is down, without cable or address", place + 1,
			       down > 1 ? "every card of this kind" : "the card");
	if (up < 2 || down >= up)
		if (card_is_up(st, st->card_of[host->ports[p].ibdev]))
			return rd_text("unknown: of %zu cards of this kind, %zu have this port up", up + down, up);
	return NULL;
}

static void remove_spare(struct rd_role_state *st)
{
	const struct rd_host *host = st->host;
	_cleanup_free_ char **why = rd_alloc(host->n_ports + 1, sizeof(*why));
	_cleanup_free_ bool *spare = rd_alloc(host->n_ports + 1, sizeof(*spare));

	for (size_t p = 0; p < host->n_ports; p++)
		if (is_compute(st, p) && kind_is_unused(st, card_of(st, p)->kind))
			why[p] = rd_text("unknown: no port of this kind has a link or an address");
		else if (is_compute(st, p) && st->kinds[card_of(st, p)->kind].ports > 1 &&
			 is_unused(host, &host->ports[p]) && kind_is_up(st, card_of(st, p)->kind))
			why[p] = why_spare(st, p, &spare[p]);
	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_port_view *view = &st->views[p];

		if (!why[p])
			continue;
		free(view->role_why);
		view->role_why = why[p];
		view->role = RD_ROLE_UNKNOWN;
		view->spare = spare[p];
	}
}

/* A NIC below a common switch with an accelerator is a compute NIC whatever is routed through it; but the ports of one card
 * may have different roles. */
static bool may_be_front(const struct rd_role_state *st, size_t port, size_t other)
{
	if (st->host->n_gpus >= RD_ROLE_GPUS_MANY)
		return false;
	return st->host->n_gpus == 0 || st->reach != RD_REACH_SWITCH ||
	       st->card_of[st->host->ports[port].ibdev] == st->card_of[st->host->ports[other].ibdev];
}

/* A port is the front-end if it shows this evidence while another one that is at least as fast does not: if all NICs are
 * bonds, being a bond proves nothing. */
static bool is_front(const struct rd_role_state *st, size_t p, enum rd_role_front sign)
{
	if (st->front[p].sign < sign)
		return false;
	for (size_t o = 0; o < st->host->n_ports; o++) {
		double rate = rate_of(st, &st->host->ports[o]);

		if (o != p && is_compute(st, o) && st->front[o].sign < sign && may_be_front(st, p, o) && rate > 0 &&
		    rate >= rate_of(st, &st->host->ports[p]))
			return true;
	}
	return false;
}

static void remove_front(struct rd_role_state *st, enum rd_role_front sign)
{
	const struct rd_host *host = st->host;
	_cleanup_free_ bool *front = rd_alloc(host->n_ports + 1, sizeof(*front));

	for (size_t p = 0; p < host->n_ports; p++)
		front[p] = is_compute(st, p) && is_front(st, p, sign);
	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_port_view *view = &st->views[p];
		double rate = rate_of(st, &host->ports[p]);

		if (!front[p])
			continue;
		free(view->role_why);
		view->role_why = rd_text("%s; %g Gb/s", st->front[p].text, rate);
		view->role = rate > 0 && rate <= RD_ROLE_SLOW_GBPS ? RD_ROLE_MANAGEMENT : RD_ROLE_STORAGE;
	}
}

/* siw does not report a parent interface; hardware has a board or a type. */
static bool is_soft(const struct rd_ibdev *dev)
{
	return dev->parent_netdev || (dev->via && strcmp(dev->via, "netdev") == 0 && !dev->board && !dev->hca_type);
}

/* In switchdev mode RDMA runs over virtual functions: the device of the physical function has no GIDs. */
static bool is_uplink(const struct rd_host *host, int ibdev)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];

		if (port->ibdev == ibdev &&
		    (!rd_port_is_ethernet(port) || !port->gids_known || port->n_gids > 0 || port->n_netdevs == 0))
			return false;
	}
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (host->ibdevs[i].pci >= 0 && host->pcis[host->ibdevs[i].pci].pf >= 0 &&
		    host->pcis[host->ibdevs[i].pci].pf == host->ibdevs[ibdev].pci)
			return true;
	return false;
}

/* Why a device is not counted as a NIC; NULL: it is one. On hosts with only soft devices, programs use these. */
static const char *why_not_nic(const struct rd_host *host, const struct rd_ibdev *dev)
{
	const struct rd_pci *pci = dev->pci < 0 ? NULL : &host->pcis[dev->pci];

	if (is_soft(dev)) {
		for (size_t i = 0; i < host->n_ibdevs; i++)
			if (!is_soft(&host->ibdevs[i]))
				return "software RDMA device on a host that also has NICs";
		return NULL;
	}
	if (pci && pci->pf >= 0)
		for (size_t i = 0; i < host->n_ibdevs; i++)
			if (host->ibdevs[i].pci == pci->pf && !is_uplink(host, (int)i))
				return "virtual function, whose use is not visible on this host";
	if (is_uplink(host, (int)(dev - host->ibdevs)))
		return "no GIDs, as an uplink in switchdev mode: RDMA runs over its virtual functions";
	/* Every device except soft ones has a PCI function: if none was read, accelerators were not seen either. */
	if (host->n_pcis == 0 && !host->from_topology_file)
		return "could not read PCI functions: unknown whether there are accelerators";
	if (pci && (pci->vendor.known != RD_OK || pci->device.known != RD_OK) && !host->from_topology_file)
		return "could not read vendor and device ID";
	/* In switchdev mode a device has a port for the wire and a representor for each virtual function. */
	if (pci && pci->vendor.v == VENDOR_MELLANOX && dev->n_ports > 2)
		return "a device with representors: unknown which port is the uplink";
	return NULL;
}

/* Functions without an RDMA device count, too: in a RoCE LAG one device stands for two functions. */
static unsigned ports_of_card(const struct rd_host *host, int ibdev)
{
	const struct rd_pci *own = host->ibdevs[ibdev].pci < 0 ? NULL : &host->pcis[host->ibdevs[ibdev].pci];
	unsigned functions = 0, ports = rd_card_ports(host, ibdev);

	for (size_t i = 0; own && i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];

		functions += rd_pci_one_card(pci, own) && pci->pf < 0 && own->pf < 0 &&
			     pci->vendor.v == own->vendor.v && pci->device.v == own->device.v;
	}
	return functions > ports ? functions : ports;
}

static bool same_kind(const struct rd_role_kind *a, const struct rd_role_kind *b)
{
	return a->known == b->known && a->vendor == b->vendor && a->device == b->device && a->ports == b->ports &&
	       (a->type && b->type ? strcmp(a->type, b->type) == 0 : a->type == b->type);
}

static void add_card(struct rd_role_state *st, int ibdev)
{
	const struct rd_ibdev *dev = &st->host->ibdevs[ibdev];
	const struct rd_pci *pci = dev->pci < 0 ? NULL : &st->host->pcis[dev->pci];
	struct rd_role_kind kind = { .known = pci, .ports = ports_of_card(st->host, ibdev) };
	size_t k = 0;

	kind.vendor = pci ? pci->vendor.v : 0;
	kind.device = pci ? pci->device.v : 0;
	kind.type = pci ? NULL : dev->hca_type;
	while (k < st->n_kinds && !same_kind(&st->kinds[k], &kind))
		k++;
	if (k == st->n_kinds) {
		kind.all_front = true;
		st->kinds[st->n_kinds++] = kind;
	}
	st->kinds[k].n_cards++;
	st->cards[st->n_cards++] = (struct rd_role_card){ .ibdev = ibdev, .kind = (int)k };
}

/* The role of a port that is not a compute port. */
static enum rd_role other_role(const struct rd_role_state *st, const struct rd_port *port, enum rd_role_front sign)
{
	double rate = rate_of(st, port);

	if (rate > 0 && rate <= RD_ROLE_SLOW_GBPS &&
	    (sign != RD_FRONT_NONE || st->fastest >= RD_ROLE_MUCH_FASTER * rate))
		return RD_ROLE_MANAGEMENT;
	return RD_ROLE_STORAGE;
}

/* Whether this port of a multi-port card carries the default route, and another usable port does not. */
static bool is_front_half(const struct rd_role_state *st, size_t p)
{
	if (st->front[p].sign != RD_FRONT_ROUTE)
		return false;
	for (size_t q = 0; q < st->host->n_ports; q++)
		if (q != p && st->card_of[st->host->ports[q].ibdev] == st->card_of[st->host->ports[p].ibdev] &&
		    st->front[q].sign != RD_FRONT_ROUTE && is_usable(st, &st->host->ports[q]))
			return true;
	return false;
}

static void judge_port(struct rd_role_state *st, size_t p)
{
	const struct rd_port *port = &st->host->ports[p];
	struct rd_port_view *view = &st->views[p];
	int index = st->card_of[port->ibdev];
	const struct rd_role_card *card = index < 0 ? NULL : &st->cards[index];
	const struct rd_role_kind *kind = card ? &st->kinds[card->kind] : NULL;
	const char *down = is_usable(st, port) ? "" : "; down";

	free(view->role_why);
	view->spare = false;
	view->role = RD_ROLE_UNKNOWN;
	if (!card) {
		const char *why = why_not_nic(st->host, &st->host->ibdevs[port->ibdev]);

		if (is_uplink(st->host, port->ibdev))
			view->role = RD_ROLE_STORAGE;
		view->role_why = rd_text("%s", why ?: "unknown");
	} else if (card->chosen && is_front_half(st, p)) {
		view->role = other_role(st, port, st->front[p].sign);
		view->role_why = rd_text("%s; another port of its card is a compute port%s", st->front[p].text, down);
	} else if (card->chosen) {
		view->role = RD_ROLE_COMPUTE;
		view->role_why = rd_text("%s%s%s",
					 kind->is == RD_KIND_COMPUTE ? kind->why : "the only NIC below the switch of",
					 kind->is == RD_KIND_COMPUTE ? "" : " an accelerator", down);
	} else if (kind->is == RD_KIND_UNSURE || card->odd) {
		view->role_why = rd_text(
			"%s%s",
			card->odd ? "one more NIC than the accelerators need, with another link layer" : kind->why,
			down);
	} else {
		view->role = other_role(st, port, st->front[p].sign);
		view->role_why = rd_text("%s%s%s%s", st->front[p].sign ? st->front[p].text : "",
					 st->front[p].sign ? "; " : "",
					 kind->is == RD_KIND_COMPUTE ?
						 "same kind as the compute NICs, but not near an accelerator" :
						 kind->why,
					 down);
	}
}

void rd_role_fill(const struct rd_host *host, struct rd_nicmap *map)
{
	_cleanup_free_ struct rd_role_kind *kinds = rd_alloc(host->n_ibdevs + 1, sizeof(*kinds));
	_cleanup_free_ struct rd_role_card *cards = rd_alloc(host->n_ibdevs + 1, sizeof(*cards));
	_cleanup_free_ int *card_of = rd_alloc(host->n_ibdevs + 1, sizeof(*card_of));
	struct rd_role_state st = {
		.host = host,
		.map = map,
		.views = map->ports.v,
		.kinds = kinds,
		.cards = cards,
		.card_of = card_of,
	};

	st.front = rd_alloc(host->n_ports + 1, sizeof(*st.front));
	for (size_t d = 0; d < st.host->n_ibdevs; d++) {
		st.card_of[d] = -1;
		if (st.host->ibdevs[d].n_ports == 0 || why_not_nic(st.host, &st.host->ibdevs[d]))
			continue;
		for (size_t c = 0; c < st.n_cards && st.card_of[d] < 0; c++)
			if (rd_same_card(st.host, st.cards[c].ibdev, (int)d))
				st.card_of[d] = (int)c;
		if (st.card_of[d] >= 0)
			continue;
		st.card_of[d] = (int)st.n_cards;
		add_card(&st, (int)d);
	}
	for (size_t p = 0; p < st.host->n_ports; p++) {
		const struct rd_port *port = &st.host->ports[p];
		int card = st.card_of[port->ibdev];
		struct rd_role_kind *kind;
		double rate = rate_of(&st, port);

		find_front(st.host, port, &st.front[p].sign, st.front[p].text, sizeof(st.front[p].text));
		if (card < 0)
			continue;
		kind = &st.kinds[st.cards[card].kind];
		kind->ib |= port->link_layer && strcmp(port->link_layer, "InfiniBand") == 0;
		if (rate > kind->rate)
			kind->rate = rate;
		if (rate > st.fastest)
			st.fastest = rate;
		if (st.front[p].sign > st.cards[card].front)
			st.cards[card].front = st.front[p].sign;
	}
	for (size_t c = 0; c < st.n_cards; c++)
		st.kinds[st.cards[c].kind].all_front &= st.cards[c].front == RD_FRONT_ROUTE;
	if (host->n_gpus > 0)
		choose_near(&st);
	else
		choose_alone(&st);
	for (size_t p = 0; p < host->n_ports; p++)
		judge_port(&st, p);
	remove_spare(&st);
	remove_front(&st, RD_FRONT_ROUTE);
	remove_front(&st, RD_FRONT_BOND);
	for (size_t p = 0; p < host->n_ports; p++)
		map->ports.some_gid |= is_compute(&st, p) && rd_port_is_roce(host, &host->ports[p]) &&
				       st.views[p].gid >= 0;
	free(st.front);
}
