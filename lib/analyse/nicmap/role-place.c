/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Location of NICs relative to accelerators. */
#include <stdio.h>
#include <string.h>

#include "analyse/nicmap/role-priv.h"
#include "base/memory.h"

/* Above these, cards are not matched to accelerators; no host has as many. */
#define GPUS_MAX 256
#define CARDS_MAX 1024
#define DEPTH_MAX 64

/* Whether the card is within reach of the accelerator. */
static bool reaches(const struct rd_role_state *st, size_t card, size_t gpu, enum rd_role_reach reach)
{
	enum rd_path path = rd_nicmap_pair(st->map, gpu, (size_t)st->cards[card].ibdev)->path;

	switch (reach) {
	case RD_REACH_SWITCH:
		return path == RD_PATH_PIX || path == RD_PATH_PXB;
	case RD_REACH_SOCKET:
		return path != RD_PATH_UNKNOWN && path <= RD_PATH_NODE;
	case RD_REACH_GUEST:
		return path <= RD_PATH_NODE;
	default:
		return true;
	}
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

void rd_role_choose_near(struct rd_role_state *st)
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

void rd_role_choose_alone(struct rd_role_state *st)
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
