/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roles of ports. Structure decides first: whether a NIC is near an accelerator, and whether there are as many NICs of its
 * kind as accelerators. This does not depend on link states. Then routes and addresses, then rates. If none of these
 * decides, the role is unknown, and role_why gives the reason.
 */
#include "analyse/nicmap/role.h"

#include <string.h>

#include "analyse/nicmap/role-priv.h"
#include "base/memory.h"
#include "base/text.h"

#define VENDOR_MELLANOX 0x15b3

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

bool rd_role_usable(const struct rd_role_state *st, const struct rd_port *port)
{
	return rd_port_active(port) || (st->host->from_topology_file && !port->state);
}

double rd_role_rate(const struct rd_role_state *st, const struct rd_port *port)
{
	return rd_role_usable(st, port) && port->rate_gbps.known == RD_OK ? port->rate_gbps.v : 0;
}

/* siw does not report a parent interface; hardware has a board or a type. */
static bool is_soft(const struct rd_ibdev *dev)
{
	return dev->parent_netdev || (dev->via && strcmp(dev->via, "netdev") == 0 && !dev->board && !dev->hca_type);
}

static bool is_all_soft(const struct rd_host *host)
{
	for (size_t i = 0; i < host->n_ibdevs; i++)
		if (!is_soft(&host->ibdevs[i]))
			return false;
	return true;
}

/* Why a device is not counted as a NIC; NULL: it is one. On hosts with only soft devices, programs use these. */
static const char *why_not_nic(const struct rd_host *host, const struct rd_ibdev *dev)
{
	const struct rd_pci *pci = dev->pci < 0 ? NULL : &host->pcis[dev->pci];

	if (is_soft(dev))
		return is_all_soft(host) ? NULL : "software RDMA device on a host that also has NICs";
	if (pci && pci->pf >= 0)
		for (size_t i = 0; i < host->n_ibdevs; i++)
			if (host->ibdevs[i].pci == pci->pf)
				return "virtual function, whose use is not visible on this host";
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

		functions += pci->domain == own->domain && pci->bus == own->bus && pci->dev == own->dev &&
			     pci->pf < 0 && own->pf < 0 && pci->vendor.v == own->vendor.v &&
			     pci->device.v == own->device.v;
	}
	return functions > ports ? functions : ports;
}

static struct rd_role_kind kind_of(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	struct rd_role_kind kind = { .ports = ports_of_card(host, ibdev) };

	if (dev->pci < 0) {
		kind.type = dev->hca_type;
		return kind;
	}
	kind.known = true;
	kind.vendor = host->pcis[dev->pci].vendor.v;
	kind.device = host->pcis[dev->pci].device.v;
	return kind;
}

static bool same_kind(const struct rd_role_kind *a, const struct rd_role_kind *b)
{
	return a->known == b->known && a->vendor == b->vendor && a->device == b->device && a->ports == b->ports &&
	       (a->type && b->type ? strcmp(a->type, b->type) == 0 : a->type == b->type);
}

static void add_card(struct rd_role_state *st, int ibdev)
{
	struct rd_role_kind kind = kind_of(st->host, ibdev);
	size_t k = 0;

	while (k < st->n_kinds && !same_kind(&st->kinds[k], &kind))
		k++;
	if (k == st->n_kinds) {
		kind.all_front = true;
		st->kinds[st->n_kinds++] = kind;
	}
	st->kinds[k].n_cards++;
	st->cards[st->n_cards++] = (struct rd_role_card){ .ibdev = ibdev, .kind = (int)k };
}

static void find_cards(struct rd_role_state *st)
{
	for (size_t d = 0; d < st->host->n_ibdevs; d++) {
		st->card_of[d] = -1;
		if (st->host->ibdevs[d].n_ports == 0 || why_not_nic(st->host, &st->host->ibdevs[d]))
			continue;
		for (size_t c = 0; c < st->n_cards && st->card_of[d] < 0; c++)
			if (rd_same_card(st->host, st->cards[c].ibdev, (int)d))
				st->card_of[d] = (int)c;
		if (st->card_of[d] >= 0)
			continue;
		st->card_of[d] = (int)st->n_cards;
		add_card(st, (int)d);
	}
}

static void examine_ports(struct rd_role_state *st)
{
	for (size_t p = 0; p < st->host->n_ports; p++) {
		const struct rd_port *port = &st->host->ports[p];
		int card = st->card_of[port->ibdev];
		struct rd_role_kind *kind;
		double rate = rd_role_rate(st, port);

		rd_role_front(st->host, port, &st->front[p].sign, st->front[p].text, sizeof(st->front[p].text));
		if (card < 0)
			continue;
		kind = &st->kinds[st->cards[card].kind];
		kind->ib |= port->link_layer && strcmp(port->link_layer, "InfiniBand") == 0;
		if (rate > kind->rate)
			kind->rate = rate;
		if (rate > st->fastest)
			st->fastest = rate;
		if (st->front[p].sign > st->cards[card].front)
			st->cards[card].front = st->front[p].sign;
	}
	for (size_t c = 0; c < st->n_cards; c++)
		st->kinds[st->cards[c].kind].all_front &= st->cards[c].front == RD_FRONT_ROUTE;
}

/* The role of a port that is not a compute port. */
static enum rd_role other_role(const struct rd_role_state *st, const struct rd_port *port, enum rd_role_front sign)
{
	double rate = rd_role_rate(st, port);

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
		    st->front[q].sign != RD_FRONT_ROUTE && rd_role_usable(st, &st->host->ports[q]))
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
	const char *down = rd_role_usable(st, port) ? "" : "; down";

	free(view->role_why);
	view->spare = false;
	view->role = RD_ROLE_UNKNOWN;
	if (!card) {
		const char *why = why_not_nic(st->host, &st->host->ibdevs[port->ibdev]);

		view->role_why = rd_text("%s", why ? why : "unknown");
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
	find_cards(&st);
	examine_ports(&st);
	if (host->n_gpus > 0)
		rd_role_choose_near(&st);
	else
		rd_role_choose_alone(&st);
	for (size_t p = 0; p < host->n_ports; p++)
		judge_port(&st, p);
	rd_role_ports(&st);
	free(st.front);
}
