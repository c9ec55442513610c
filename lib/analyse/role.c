/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/role.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SLOW_GBPS 25.0

/* Ports of one kind: same link layer, same chip, as many ports a card. Whoever planned the host used them alike. */
struct kind {
	bool ethernet, known;
	uint16_t vendor, device;
	unsigned card_ports;
	double rate;	   /* of the fastest that is up and free; 0: none */
	unsigned near, up; /* accelerators that have one below their own host bridge; ports that are up */
	enum rd_role role;
	const char *why;
};

struct state {
	struct rd_host *host;
	const struct rd_nicmap *map;
	struct kind *kinds;
	size_t n_kinds;
	int *kind_of;	   /* of each port */
	char (*front)[96]; /* evidence that a port belongs to the front-end; "" for none */
	double fastest;
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
	return pa->domain == pb->domain && pa->bus == pb->bus && pa->dev == pb->dev && pa->pf < 0 && pb->pf < 0;
}

unsigned rd_card_ports(const struct rd_host *host, int ibdev)
{
	unsigned n = 0;

	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (rd_same_card(host, ibdev, (int)i))
			n += host->ibdevs[i].n_ports;
	return n;
}

static struct kind kind_of_port(const struct rd_host *host, const struct rd_port *port)
{
	const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
	struct kind kind = { .ethernet = rd_port_is_ethernet(port), .card_ports = rd_card_ports(host, port->ibdev) };

	if (dev->pci >= 0) {
		kind.known = true;
		kind.vendor = host->pcis[dev->pci].vendor.v;
		kind.device = host->pcis[dev->pci].device.v;
	}
	return kind;
}

static bool same_subnet(const struct rd_addr *a, const struct rd_addr *b)
{
	unsigned bits = a->prefix < b->prefix ? a->prefix : b->prefix;

	if (a->v6 || b->v6 || bits == 0 || bits > 32)
		return false;
	for (unsigned i = 0; i < bits; i++)
		if ((a->raw[i / 8] ^ b->raw[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
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

/* Evidence in words that the interface, or the one it is bound into, is the host's way out. */
static void front_evidence(const struct rd_host *host, const struct rd_port *port, char *ret, size_t size)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]], *route;
		int master = rd_host_find_netdev(host, netdev->master);

		if (netdev->default_route || (master >= 0 && host->netdevs[master].default_route)) {
			snprintf(ret, size, "%s carries the default route",
				 netdev->default_route ? netdev->name : netdev->master);
			return;
		}
		route = route_in_subnet(host, netdev);
		if (route && route != netdev) {
			snprintf(ret, size, "%s is in the subnet of %s, which carries the default route", netdev->name,
				 route->name);
			return;
		}
		if (netdev->is_bond || netdev->master)
			snprintf(ret, size, "%s is %s%s", netdev->name, netdev->is_bond ? "a bond" : "bound into ",
				 netdev->is_bond ? "" : netdev->master);
	}
}

static double rate_of(const struct rd_port *port)
{
	return rd_port_active(port) && port->rate_gbps.known == RD_OK ? port->rate_gbps.v : 0;
}

/* The front-end is what has such evidence while others, at least as fast, have none: where all NICs are bonds, being one
 * says nothing. */
static void weigh_evidence(struct state *st)
{
	double free_rate = 0;

	for (size_t p = 0; p < st->host->n_ports; p++)
		if (!st->front[p][0] && rate_of(&st->host->ports[p]) > free_rate)
			free_rate = rate_of(&st->host->ports[p]);
	for (size_t p = 0; p < st->host->n_ports; p++)
		if (st->front[p][0] && (free_rate <= 0 || rate_of(&st->host->ports[p]) > free_rate))
			st->front[p][0] = '\0';
}

static void sort_into_kinds(struct state *st)
{
	for (size_t p = 0; p < st->host->n_ports; p++) {
		const struct rd_port *port = &st->host->ports[p];
		struct kind kind = kind_of_port(st->host, port);
		size_t k = 0;

		while (k < st->n_kinds && (st->kinds[k].ethernet != kind.ethernet || st->kinds[k].known != kind.known ||
					   st->kinds[k].vendor != kind.vendor || st->kinds[k].device != kind.device ||
					   st->kinds[k].card_ports != kind.card_ports))
			k++;
		if (k == st->n_kinds)
			st->kinds[st->n_kinds++] = kind;
		st->kind_of[p] = (int)k;
		if (st->front[p][0] || !rd_port_active(port))
			continue;
		st->kinds[k].up++;
		if (rate_of(port) > st->kinds[k].rate)
			st->kinds[k].rate = rate_of(port);
		if (st->kinds[k].rate > st->fastest)
			st->fastest = st->kinds[k].rate;
	}
}

static bool is_near(enum rd_path path)
{
	return path == RD_PATH_PIX || path == RD_PATH_PXB || path == RD_PATH_PHB;
}

static void count_near(struct state *st)
{
	const struct rd_host *host = st->host;

	for (size_t g = 0; g < host->n_gpus; g++)
		for (size_t k = 0; k < st->n_kinds; k++)
			for (size_t p = 0; p < host->n_ports; p++)
				if (st->kind_of[p] == (int)k && !st->front[p][0] &&
				    is_near(rd_nicmap_pair(st->map, g, (size_t)host->ports[p].ibdev)->path)) {
					st->kinds[k].near++;
					break;
				}
}

/* Among the fastest kinds the one that most accelerators have near is for them; others only if as many have them. */
static void judge_kinds(struct state *st)
{
	unsigned most = 0;

	for (size_t k = 0; k < st->n_kinds; k++)
		if (st->kinds[k].rate >= st->fastest && st->kinds[k].rate > 0 && st->kinds[k].near > most)
			most = st->kinds[k].near;
	for (size_t k = 0; k < st->n_kinds; k++) {
		struct kind *kind = &st->kinds[k];

		if (kind->rate <= 0)
			continue;
		if (kind->rate < st->fastest) {
			kind->role = kind->rate <= SLOW_GBPS && st->fastest >= 4 * kind->rate ? RD_ROLE_MANAGEMENT :
												RD_ROLE_STORAGE;
			kind->why = "slower than the fastest kind of NIC here";
		} else if (kind->near < most) {
			kind->role = RD_ROLE_STORAGE;
			kind->why = "as fast as the compute NICs, but fewer accelerators have one near";
		} else {
			kind->role = RD_ROLE_COMPUTE;
			kind->why = most > 0 ? "the fastest kind of NIC here, and near accelerators" :
					       "the fastest kind of NIC here";
		}
	}
}

static void judge_port(struct state *st, size_t p)
{
	struct rd_port *port = &st->host->ports[p];
	const struct kind *kind = &st->kinds[st->kind_of[p]];
	const char *layer = port->link_layer ? port->link_layer : "link layer unknown";

	free(port->role_why);
	if (st->front[p][0]) {
		port->role = rate_of(port) > 0 && rate_of(port) <= SLOW_GBPS ? RD_ROLE_MANAGEMENT : RD_ROLE_STORAGE;
		port->role_why = rd_text("%s; %g Gb/s", st->front[p], rate_of(port));
		return;
	}
	port->role = kind->role;
	if (!kind->why)
		port->role_why = rd_text("no port of its kind is up");
	else if (!rd_port_active(port))
		port->role_why = rd_text("down; others of its kind: %s (%g Gb/s, %s, %u on the card)", kind->why,
					 kind->rate, layer, kind->card_ports);
	else
		port->role_why = rd_text("%s (%g Gb/s of %g, %s, %u on the card, %u of %zu accelerators near)",
					 kind->why, rate_of(port), st->fastest, layer, kind->card_ports, kind->near,
					 st->host->n_gpus);
}

int rd_role_fill(struct rd_host *host, const struct rd_nicmap *map)
{
	_cleanup_free_ struct kind *kinds = calloc(host->n_ports + 1, sizeof(*kinds));
	_cleanup_free_ int *kind_of = calloc(host->n_ports + 1, sizeof(*kind_of));
	_cleanup_free_ char(*front)[96] = calloc(host->n_ports + 1, sizeof(*front));
	struct state st = { .host = host, .map = map, .kinds = kinds, .kind_of = kind_of, .front = front };

	if (!kinds || !kind_of || !front)
		return -ENOMEM;
	for (size_t p = 0; p < host->n_ports; p++)
		front_evidence(host, &host->ports[p], front[p], sizeof(front[p]));
	weigh_evidence(&st);
	sort_into_kinds(&st);
	count_near(&st);
	judge_kinds(&st);
	for (size_t p = 0; p < host->n_ports; p++) {
		judge_port(&st, p);
		if (!host->ports[p].role_why)
			return -ENOMEM;
	}
	return 0;
}
