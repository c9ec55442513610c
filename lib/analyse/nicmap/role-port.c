/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ports of the compute cards are compute ports: the others are spare, or the host's front-end. */
#include <string.h>

#include "analyse/nicmap/role-priv.h"
#include "base/memory.h"
#include "base/text.h"

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

static bool is_up_netdev(const struct rd_netdev *netdev)
{
	return netdev->operstate && strcmp(netdev->operstate, "up") == 0;
}

/* Whether the port has an address, or is part of a bond: it is meant to be used. IPv6 link-local addresses, and their GIDs,
 * are assigned automatically and do not count. */
static bool is_configured(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t i = 0; i < port->n_netdevs; i++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[i]];

		if (netdev->master)
			return true;
		for (size_t a = 0; a < netdev->n_addrs; a++)
			if (!netdev->addrs[a].v6 || netdev->addrs[a].raw[0] != 0xfe ||
			    (netdev->addrs[a].raw[1] & 0xc0) != 0x80)
				return true;
	}
	for (size_t g = 0; rd_port_is_roce(host, port) && g < port->n_gids; g++)
		if (!rd_gid_is_link_local(&port->gids[g]))
			return true;
	return false;
}

/* Down, without link partner and without an address. Not INIT, where the link is up. */
static bool is_unused(const struct rd_host *host, const struct rd_port *port)
{
	bool no_link = false;

	if (!port->state || strcmp(port->state, "DOWN") != 0 || is_configured(host, port))
		return false;
	if (port->phys_state)
		return strcmp(port->phys_state, "LinkUp") != 0 && strcmp(port->phys_state, "LinkErrorRecovery") != 0;
	for (size_t i = 0; i < port->n_netdevs; i++) {
		if (is_up_netdev(&host->netdevs[port->netdevs[i]]))
			return false;
		no_link = true;
	}
	return no_link;
}

static bool kind_is_up(const struct rd_role_state *st, int kind)
{
	for (size_t p = 0; p < st->host->n_ports; p++)
		if (is_compute(st, p) && card_of(st, p)->kind == kind && rd_role_usable(st, &st->host->ports[p]))
			return true;
	return false;
}

static bool card_is_up(const struct rd_role_state *st, int card)
{
	for (size_t p = 0; p < st->host->n_ports; p++)
		if (st->card_of[st->host->ports[p].ibdev] == card && rd_role_usable(st, &st->host->ports[p]))
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
		up += rd_role_usable(st, other);
		down += !rd_role_usable(st, other);
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
		if (is_compute(st, p) && st->kinds[card_of(st, p)->kind].ports > 1 &&
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
		double rate = rd_role_rate(st, &st->host->ports[o]);

		if (o != p && is_compute(st, o) && st->front[o].sign < sign && may_be_front(st, p, o) && rate > 0 &&
		    rate >= rd_role_rate(st, &st->host->ports[p]))
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
		double rate = rd_role_rate(st, &host->ports[p]);

		if (!front[p])
			continue;
		free(view->role_why);
		view->role_why = rd_text("%s; %g Gb/s", st->front[p].text, rate);
		view->role = rate > 0 && rate <= RD_ROLE_SLOW_GBPS ? RD_ROLE_MANAGEMENT : RD_ROLE_STORAGE;
	}
}

void rd_role_ports(struct rd_role_state *st)
{
	remove_spare(st);
	remove_front(st, RD_FRONT_ROUTE);
	remove_front(st, RD_FRONT_BOND);
}
