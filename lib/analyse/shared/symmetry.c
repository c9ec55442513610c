/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Twins that differ, and switches that lack devices which their sisters have. */
#include "analyse/shared/symmetry.h"

#include "base/buf.h"
#include "base/text.h"

enum { NIC, GPU }; /* kinds of devices: whether it is an accelerator */

/* What is below a bridge, or what the function itself is. */
struct rd_below {
	bool is_gpu, is_nic; /* an accelerator; a physical function of a model with RDMA */
	bool near;	     /* a switch above it has an accelerator below */
	int gpu;	     /* an accelerator's function: this one or one below; -1: none */
	unsigned gpus, nics; /* functions */
	unsigned main[2]; /* cards of the board that most have below switches with accelerators; GPUs of the model that most have */
	unsigned others;       /* devices that are neither */
	unsigned ports, empty; /* bridges on its secondary bus; empty bridges anywhere below */
	bool child;	       /* has something below */
	bool reported[2];      /* a missing NIC, GPU below has been reported */
};

/* Whether there is a whole number of NICs per accelerator, or of accelerators per NIC. */
static bool is_regular(unsigned nics, size_t gpus)
{
	return nics > 0 && gpus > 0 && (nics % gpus == 0 || gpus % nics == 0);
}

/* "10de:2330" or, for NICs, "15b3:1021:15b3:0041"; "" if an ID is unknown. `ret`: 32 bytes. */
static void board_key(const struct rd_pci *pci, bool subsystem, char *ret)
{
	ret[0] = '\0';
	if (pci->vendor.known != RD_OK || pci->device.known != RD_OK)
		return;
	if (!subsystem)
		snprintf(ret, 32, "%04x:%04x", pci->vendor.v, pci->device.v);
	else
		snprintf(ret, 32, "%04x:%04x:%04x:%04x", pci->vendor.v, pci->device.v, pci->subvendor.v,
			 pci->subdevice.v);
}

static void count_up(const struct rd_host *host, struct rd_below *below)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		bool other = !below[i].is_gpu && !below[i].is_nic && !rd_pci_is_bridge(pci) && pci->fn == 0;

		if (pci->parent >= 0) {
			below[pci->parent].child = true;
			below[pci->parent].ports += rd_pci_is_bridge(pci);
		}
		for (int up = pci->parent; up >= 0; up = host->pcis[up].parent) {
			below[up].gpus += below[i].is_gpu;
			below[up].nics += below[i].is_nic;
			below[up].others += other;
			if (below[i].is_gpu)
				below[up].gpu = (int)i;
		}
	}
	for (size_t i = 0; i < host->n_pcis; i++) {
		bool empty = rd_pci_is_bridge(&host->pcis[i]) && !below[i].child;

		for (int up = host->pcis[i].parent; up >= 0; up = host->pcis[up].parent) {
			below[up].empty += empty;
			below[i].near |= below[up].gpus > 0;
		}
	}
}

struct item {
	char *key, *value; /* owned */
	double number;	   /* the value; 0 if it is text */
	int pci, port;
	bool near_nic;
	bool front; /* carries the default route: may be configured differently */
};

struct items {
	struct item *v;
	size_t n, cap;
	enum rd_trait trait;
	struct rd_symmetry *ret;
};

static void add_item(struct items *items, int pci, int port, bool near_nic, double number, char *key, char *value)
{
	*RD_ADD(items->v, items->n, items->cap) = (struct item){
		.key = key, .value = value, .number = number, .pci = pci, .port = port, .near_nic = near_nic
	};
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return RD_FIRST(strcmp(x->key, y->key), RD_CMP(x->number, y->number), strcmp(x->value, y->value),
			RD_CMP(x->pci, y->pci), x->port - y->port);
}

static bool same_value(const struct item *a, const struct item *b)
{
	return a->number == b->number && strcmp(a->value, b->value) == 0;
}

/* Whether the items that differ from the `usual` of `n` are clearly wrong. Ports of one board often serve two purposes: at
 * most one in eight may differ. */
static bool is_clear(enum rd_trait trait, unsigned usual, unsigned n, bool near_nic, size_t gpus)
{
	if (usual * 3 <= n * 2)
		return false;
	if (n - usual == 1)
		return true;
	/* A rate is not configured: two of eight ports that are slower are degraded. */
	if (trait == RD_TRAIT_RATE)
		return (n - usual) * 4 <= n;
	return trait >= RD_TRAIT_LAYER ? (n - usual) * 8 <= n : !near_nic || is_regular(n, gpus);
}

static void report_odd(struct items *items, const struct item *item, const struct item *usual, unsigned twins,
		       unsigned n, bool clear)
{
	struct rd_symmetry *ret = items->ret;
	struct rd_odd odd = {
		.trait = items->trait,
		.pci = item->pci,
		.port = item->port,
		.n = n,
		.twins = twins,
		.clear = clear,
		.less = item->number < usual->number,
		.is = rd_dup(item->value),
		.usual = rd_dup(usual->value),
		.like = usual->pci,
	};

	*RD_ADD(ret->odds, ret->n_odds, ret->cap_odds) = odd;
}

/* Items of one key, in order of value. */
static void judge_twins(struct items *items, const struct item *v, unsigned n, size_t gpus)
{
	const struct item *usual = NULL;
	unsigned most = 0, run = 0;
	bool clear;

	if (n < 2)
		return;
	items->ret->compared[items->trait] += n;
	/* Of equally frequent values the higher. */
	for (unsigned i = 0; i < n; i++) {
		run = i > 0 && same_value(&v[i - 1], &v[i]) ? run + 1 : 1;
		if (run >= most) {
			most = run;
			usual = &v[i];
		}
	}
	/* Those that differ are extra NICs. */
	if (most == n || (v[0].near_nic && is_regular(most, gpus) && !is_regular(n, gpus)))
		return;
	clear = is_clear(items->trait, most, n, v[0].near_nic, gpus);
	for (unsigned i = 0; i < n; i++)
		if (!same_value(&v[i], usual))
			report_odd(items, &v[i], usual, most, n, clear && !v[i].front);
}

/* Key that twins share; "" if unknown. `ret`: 64 bytes. */
static void twin_key(const struct rd_host *host, const struct rd_below *below, size_t i, char *ret)
{
	const struct rd_pci *pci = &host->pcis[i];
	bool bridge = rd_pci_is_bridge(pci);
	bool nic = below[i].is_nic && !below[i].is_gpu; /* a Gaudi is both while its driver is loaded */
	char board[32];

	board_key(pci, nic, board);
	if (!board[0])
		ret[0] = '\0';
	else if (bridge)
		snprintf(ret, 64, "bridge %s %u %d", board, rd_pcie_depth(host, (int)i), below[i].gpus > 0);
	else
		snprintf(ret, 64, "%s %d %d", board, nic ? pci->fn : 0, below[i].near);
}

#define CTL_RELAXED 0x0010

/* Whether a function is compared with its twins by this trait. */
static bool has_trait(const struct rd_host *host, const struct rd_below *below, size_t i, enum rd_trait trait)
{
	const struct rd_pci *pci = &host->pcis[i];
	bool bridge = rd_pci_is_bridge(pci), near_nic = below[i].is_nic && below[i].near;

	if (trait == RD_TRAIT_GPU_DRIVER)
		return pci->detailed && below[i].is_gpu;
	if (trait == RD_TRAIT_NIC_DRIVER)
		return pci->detailed && below[i].is_nic && !below[i].is_gpu;
	if (trait > RD_TRAIT_MAX_SPEED)
		return below[i].is_nic && !rd_pcie_is_vf(host, pci);
	if (pci->pf >= 0 || !(below[i].is_gpu || below[i].is_nic || (bridge && below[i].gpus + below[i].nics)))
		return false;
	/* Bridges of a guest are emulated; slots of different width are normal. */
	if (!rd_pcie_links_up(host, (int)i) || (bridge && rd_pcie_in_guest(host)))
		return false;
	if (trait >= RD_TRAIT_MAX_WIDTH && !below[i].is_gpu && !near_nic && !(bridge && below[i].gpus))
		return false;
	/* An accelerator lowers the speed of its link when it is idle. */
	return trait != RD_TRAIT_SPEED ||
	       !(below[i].is_gpu || (bridge && below[i].gpu >= 0 && rd_pcie_is_gpu_part(host, (int)i, below[i].gpu)));
}

/* The text of a function's value, and the number behind it; NULL: unknown. */
static char *trait_text(const struct rd_host *host, size_t i, enum rd_trait trait, unsigned *number)
{
	const struct rd_pci *pci = &host->pcis[i];
	bool config = pci->config.dev_ctl.known == RD_OK && pci->config.dev_cap.known == RD_OK;

	switch (trait) {
	case RD_TRAIT_WIDTH:
	case RD_TRAIT_MAX_WIDTH:
		*number = trait == RD_TRAIT_MAX_WIDTH	? rd_pcie_can_width(host, (int)i) :
			  pci->now.width.known == RD_OK ? pci->now.width.v :
							  0;
		return *number ? rd_text("x%u", *number) : NULL;
	case RD_TRAIT_SPEED:
	case RD_TRAIT_MAX_SPEED:
		*number = trait == RD_TRAIT_MAX_SPEED  ? rd_pcie_can_mtps(host, (int)i) :
			  pci->now.mtps.known == RD_OK ? pci->now.mtps.v :
							 0;
		return *number ? rd_text("%g GT/s", *number / 1000.0) : NULL;
	case RD_TRAIT_MPS:
	case RD_TRAIT_MRRS:
		*number = trait == RD_TRAIT_MPS ? rd_pcie_payload(pci) : rd_pcie_read_request(pci);
		return config ? rd_text("%u", *number) : NULL;
	case RD_TRAIT_RELAXED:
		*number = (pci->config.dev_ctl.v & CTL_RELAXED) != 0;
		return config ? rd_dup(*number ? "on" : "off") : NULL;
	default:
		*number = 0;
		return rd_dup(pci->driver ?: "none");
	}
}

static void pci_traits(const struct rd_host *host, const struct rd_below *below, struct items *items)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		unsigned number;
		char key[64], *text;

		if (!has_trait(host, below, i, items->trait))
			continue;
		twin_key(host, below, i, key);
		text = key[0] ? trait_text(host, i, items->trait, &number) : NULL;
		if (text)
			add_item(items, (int)i, -1, below[i].is_nic && below[i].near, number,
				 items->trait == RD_TRAIT_MPS ?
					 rd_text("%s %u", key, rd_pcie_payload_path(host, &host->pcis[i])) :
					 rd_dup(key),
				 text);
		else
			items->ret->unread[items->trait] += key[0] != '\0';
	}
}

static void firmware_trait(const struct rd_host *host, struct items *items)
{
	for (size_t n = 0; n < host->n_ibdevs; n++) {
		const struct rd_ibdev *dev = &host->ibdevs[n];
		char board[32] = "";

		/* All functions of a card have one firmware. */
		if (dev->parent_netdev || dev->pci < 0 || host->pcis[dev->pci].fn != 0 || host->pcis[dev->pci].pf >= 0)
			continue;
		/* Not every driver reports a board; the IDs identify it. */
		board_key(&host->pcis[dev->pci], true, board);
		if (!dev->board && !board[0])
			continue;
		if (!dev->firmware)
			items->ret->unread[items->trait]++;
		else
			add_item(items, dev->pci, -1, false, 0, rd_dup(dev->board ?: board), rd_dup(dev->firmware));
	}
}

/* Index and type of the usable GID, which a program with one index for all NICs depends on, and whether there is RoCE v1. */
static char *gid_shape(const struct rd_port *port)
{
	const struct rd_gid *found = NULL;
	bool v1 = false;

	for (size_t g = 0; g < port->n_gids; g++) {
		const struct rd_gid *gid = &port->gids[g];

		v1 |= gid->type == RD_GID_ROCE_V1;
		if (gid->type == RD_GID_ROCE_V2 && !rd_gid_is_link_local(gid) &&
		    (!found || (rd_gid_is_v4(gid) && !rd_gid_is_v4(found))))
			found = gid;
	}
	if (!found)
		return rd_text("no RoCE v2 GID with an address");
	return rd_text("%s at index %u, %s", rd_gid_is_v4(found) ? "RoCE v2 with IPv4" : "RoCE v2 with IPv6",
		       found->index, v1 ? "also RoCE v1" : "no RoCE v1");
}

static void port_value(const struct rd_port *port, int pci, int index, bool near, char *key, struct items *items)
{
	_cleanup_free_ char *owned_key = key;

	if (items->trait != RD_TRAIT_LAYER && !rd_port_active(port))
		return;
	if (items->trait == RD_TRAIT_LAYER && port->link_layer)
		add_item(items, pci, index, near, 0, RD_TAKE(owned_key), rd_dup(port->link_layer));
	else if (items->trait == RD_TRAIT_RATE && port->rate_gbps.known == RD_OK)
		add_item(items, pci, index, near, port->rate_gbps.v, RD_TAKE(owned_key),
			 rd_text("%g Gbit/s", port->rate_gbps.v));
	else if (items->trait == RD_TRAIT_MTU && port->mtu.known == RD_OK)
		add_item(items, pci, index, near, port->mtu.v, RD_TAKE(owned_key), rd_text("%u", port->mtu.v));
	else if (items->trait == RD_TRAIT_GID && rd_port_is_ethernet(port) && port->gids_known && !port->foreign_gids &&
		 !port->netns_other)
		add_item(items, pci, index, near, 0, RD_TAKE(owned_key), gid_shape(port));
	else if (items->trait != RD_TRAIT_GID || rd_port_is_ethernet(port))
		items->ret->unread[items->trait]++;
}

static void port_traits(const struct rd_port_views *views, const struct rd_below *below, struct items *items)
{
	const struct rd_host *host = views->host;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		const struct rd_ibdev *dev = &host->ibdevs[port->ibdev];
		size_t had = items->n;
		bool near;
		char key[64];

		if (dev->pci < 0 || dev->parent_netdev || host->pcis[dev->pci].pf >= 0)
			continue;
		near = below[dev->pci].near;
		twin_key(host, below, (size_t)dev->pci, key);
		/* NICs far from accelerators are compared by role. Other values are compared within a link layer: MTU and rate
		 * of two networks may differ. */
		if (key[0])
			port_value(port, dev->pci, (int)p, near,
				   rd_text("%s %u %d %s", key, port->num, near ? 0 : (int)views->v[p].role,
					   items->trait != RD_TRAIT_LAYER && port->link_layer ? port->link_layer : ""),
				   items);
		if (items->n > had)
			items->v[had].front = rd_port_route(host, port) != NULL;
	}
}

static void find_twins(const struct rd_port_views *views, const struct rd_below *below, struct rd_symmetry *ret)
{
	const struct rd_host *host = views->host;
	struct items items = { .ret = ret };

	for (items.trait = 0; items.trait < RD_N_TRAITS; items.trait++) {
		if (items.trait <= RD_TRAIT_NIC_DRIVER)
			pci_traits(host, below, &items);
		else if (items.trait == RD_TRAIT_FIRMWARE)
			firmware_trait(host, &items);
		else
			port_traits(views, below, &items);
		rd_sort(items.v, items.n, sizeof(*items.v), compare_items);
		for (size_t from = 0, to; from < items.n; from = to) {
			for (to = from + 1; to < items.n && strcmp(items.v[from].key, items.v[to].key) == 0;)
				to++;
			judge_twins(&items, items.v + from, (unsigned)(to - from), host->n_gpus);
		}
		for (size_t i = 0; i < items.n; i++)
			RD_FREE(items.v[i].key, items.v[i].value);
		items.n = 0;
	}
	free(items.v);
}

struct sister {
	char board[32];
	unsigned depth;
	int pci;
};

struct state {
	const struct rd_host *host;
	struct rd_below *below;
	struct rd_symmetry *ret;
	char gpu_model[32], nic_board[32]; /* the most frequent */
	unsigned gpus, nics;		   /* how many on the host; NICs: cards below switches with accelerators */
	bool reported_gpus;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The most frequent of some short texts, which it sorts. Returns how often it occurs. */
static unsigned most_frequent(char (*v)[32], size_t n, char *ret)
{
	unsigned most = 0, run = 0;

	ret[0] = '\0';
	qsort(v, n, sizeof(*v), compare_texts);
	for (size_t i = 0; i < n; i++) {
		run = i > 0 && strcmp(v[i - 1], v[i]) == 0 ? run + 1 : 1;
		if (run > most) {
			most = run;
			memcpy(ret, v[i], sizeof(*v));
		}
	}
	return most;
}

/* Whether function `i` represents a NIC card (its first function); `near`: only below switches with accelerators. */
static bool is_card(const struct state *st, size_t i, bool near)
{
	return st->below[i].is_nic && st->host->pcis[i].fn == 0 && (!near || st->below[i].near);
}

static void find_main(struct state *st, bool near)
{
	const struct rd_host *host = st->host;
	_cleanup_free_ char(*models)[32] = rd_alloc(host->n_gpus + 1, sizeof(*models));
	_cleanup_free_ char(*boards)[32] = rd_alloc(host->n_pcis + 1, sizeof(*boards));
	size_t n = 0, g = 0;

	for (size_t i = 0; i < host->n_gpus; i++) {
		board_key(&host->pcis[host->gpus[i].pci], false, models[g]);
		g += models[g][0] != '\0';
	}
	for (size_t i = 0; i < host->n_pcis; i++)
		if (is_card(st, i, near)) {
			board_key(&host->pcis[i], true, boards[n]);
			n += boards[n][0] != '\0';
		}
	st->gpus = most_frequent(models, g, st->gpu_model);
	st->nics = most_frequent(boards, n, st->nic_board);
}

static void count_main(struct state *st)
{
	const struct rd_host *host = st->host;

	for (size_t i = 0; i < host->n_pcis; i++) {
		char model[32] = "", board[32] = "";

		if (st->below[i].is_gpu)
			board_key(&host->pcis[i], false, model);
		else if (is_card(st, i, false))
			board_key(&host->pcis[i], true, board);
		else
			continue;
		for (int up = host->pcis[i].parent; up >= 0; up = host->pcis[up].parent) {
			st->below[up].main[GPU] += model[0] && strcmp(model, st->gpu_model) == 0;
			st->below[up].main[NIC] += board[0] && strcmp(board, st->nic_board) == 0;
		}
	}
}

static int compare_sisters(const void *a, const void *b)
{
	const struct sister *x = a, *y = b;

	/* The deepest first: a device missing there is also missing in the switches above. */
	return RD_CMP(y->depth, x->depth) ?: strcmp(x->board, y->board) ?: x->pci - y->pci;
}

static void report_missing(struct state *st, struct rd_missing missing)
{
	struct rd_symmetry *ret = st->ret;

	if (missing.bridge >= 0) {
		/* Up to four of the empty ports below a bridge; NULL: none. */
		_cleanup_buf_ struct rd_buf list = { 0 };
		unsigned n = 0;

		for (size_t i = 0; i < st->host->n_pcis && n < 4; i++) {
			int up = st->host->pcis[i].parent;

			if (!rd_pci_is_bridge(&st->host->pcis[i]) || st->below[i].child)
				continue;
			while (up >= 0 && up != missing.bridge)
				up = st->host->pcis[up].parent;
			if (up >= 0)
				rd_buf_printf(&list, "%s%s", n++ ? ", " : "", st->host->pcis[i].addr);
		}
		missing.empty = RD_TAKE(list.data);
	}
	*RD_ADD(ret->missing, ret->n_missing, ret->cap_missing) = missing;
	st->reported_gpus |= missing.gpu;
	for (int up = missing.bridge; up >= 0; up = st->host->pcis[up].parent)
		st->below[up].reported[missing.gpu] = true;
}

/* One accelerator or NIC of `wanted` is missing. `empty`: the port where it may be, if the bridge is unknown (-1). */
static void report_missing_one(struct state *st, bool gpu, int bridge, char *empty, unsigned wanted,
			       enum rd_missing_sure sure)
{
	struct rd_missing missing = { .gpu = gpu, .bridge = bridge, .empty = empty, .sure = sure, .like = -1 };

	missing.found = missing.all = wanted - 1;
	missing.wanted = missing.all_wanted = wanted;
	if (bridge >= 0) {
		missing.sisters = wanted;
		missing.agree = wanted - 1;
	}
	report_missing(st, missing);
}

static int compare_counts(const void *a, const void *b)
{
	return RD_CMP(*(const unsigned *)a, *(const unsigned *)b);
}

/* The most frequent count, the higher of equals; of two or three sisters the highest, which shows the capacity. */
static unsigned usual_count(struct state *st, const struct sister *v, size_t n, bool gpu)
{
	_cleanup_free_ unsigned *counts = rd_alloc(n, sizeof(*counts));
	unsigned most = 0, run = 0, value = 0;

	for (size_t i = 0; i < n; i++)
		counts[i] = st->below[v[i].pci].main[gpu];
	qsort(counts, n, sizeof(*counts), compare_counts);
	for (size_t i = 0; i < n; i++) {
		run = i > 0 && counts[i] == counts[i - 1] ? run + 1 : 1;
		if (run >= most || n < 4) {
			most = run;
			value = counts[i];
		}
	}
	return value;
}

/* Whether a switch is built like a complete sister except for what it lacks: that slot is empty, or not visible. */
static bool is_built_alike(const struct state *st, int pci, int like, unsigned lacks)
{
	const struct rd_below *mine = &st->below[pci], *other = &st->below[like];

	return mine->others <= other->others && mine->ports <= other->ports && mine->ports + lacks >= other->ports;
}

static enum rd_missing_sure how_sure(const struct state *st, size_t n, unsigned agree, unsigned wanted,
				     unsigned lack_all, int pci, int like, bool gpu)
{
	const struct rd_below *mine = &st->below[pci], *other = &st->below[like];
	unsigned found = mine->main[gpu], tie = mine->main[!gpu], whole = other->main[!gpu], all = (unsigned)n * wanted;
	bool is_free = mine->empty > other->empty || mine->ports < other->ports;

	if (!is_built_alike(st, pci, like, wanted - found))
		return RD_MISSING_MAYBE;
	if (n >= 4 && agree * 3 > n * 2) {
		/* The NICs that belong to the missing device are present, or its slot is empty. */
		if (tie > 0 && tie >= whole)
			return RD_MISSING_CLEAR;
		if (is_free && (found > 0 || (agree >= 7 && mine->others == other->others)))
			return RD_MISSING_CLEAR;
		return RD_MISSING_LIKELY;
	}
	if (n < 4 && is_free && lack_all == 1)
		return all >= 8 && tie >= whole ? RD_MISSING_CLEAR : RD_MISSING_LIKELY;
	return RD_MISSING_MAYBE;
}

static void judge_kind(struct state *st, const struct sister *v, size_t n, bool gpu)
{
	unsigned wanted = usual_count(st, v, n, gpu), agree = 0, all = 0, lack_all = 0;
	int like = -1;

	for (size_t i = 0; i < n; i++) {
		unsigned mine = st->below[v[i].pci].main[gpu];

		all += mine;
		agree += mine == wanted;
		if (mine == wanted && (like < 0 || st->below[v[i].pci].main[GPU] > st->below[like].main[GPU]))
			like = v[i].pci;
	}
	if (wanted == 0 || like < 0)
		return;
	/* A switch with other devices, such as NVSwitches, lacks nothing. */
	for (size_t i = 0; i < n; i++) {
		unsigned mine = st->below[v[i].pci].main[gpu];

		if (mine < wanted && is_built_alike(st, v[i].pci, like, wanted - mine))
			lack_all += wanted - mine;
	}
	if (lack_all == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		unsigned mine = st->below[v[i].pci].main[gpu];
		struct rd_missing missing = { .gpu = gpu, .bridge = v[i].pci, .found = mine, .wanted = wanted };

		if (mine >= wanted || st->below[v[i].pci].reported[gpu])
			continue;
		missing.all = all;
		missing.all_wanted = all + lack_all;
		missing.sisters = (unsigned)n;
		missing.agree = agree;
		missing.like = like;
		missing.sure = how_sure(st, n, agree, wanted, lack_all, v[i].pci, like, gpu);
		/* NICs whose number does not match that of the accelerators may serve another purpose. */
		if (!gpu && missing.sure == RD_MISSING_CLEAR && !is_regular(all + lack_all, st->gpus))
			missing.sure = RD_MISSING_LIKELY;
		report_missing(st, missing);
	}
}

/* Switches of one model at one depth. */
static void judge_group(struct state *st, const struct sister *v, size_t n)
{
	bool has_gpus = false;

	for (size_t i = 0; i < n; i++)
		has_gpus |= st->below[v[i].pci].main[GPU] > 0;
	if (n < 2 || !has_gpus)
		return;
	st->ret->sisters += (unsigned)n;
	judge_kind(st, v, n, true);
	judge_kind(st, v, n, false);
}

static void judge_switches(struct state *st)
{
	const struct rd_host *host = st->host;
	_cleanup_free_ struct sister *v = rd_alloc(host->n_pcis + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_below *below = &st->below[i];

		if (!rd_pci_is_bridge(&host->pcis[i]) || !rd_pcie_links_up(host, (int)i) || below->ports == 0 ||
		    (below->gpu >= 0 && rd_pcie_is_gpu_part(host, (int)i, below->gpu)))
			continue;
		board_key(&host->pcis[i], false, v[n].board);
		v[n].depth = rd_pcie_depth(host, (int)i);
		v[n].pci = (int)i;
		n += v[n].board[0] != '\0';
	}
	qsort(v, n, sizeof(*v), compare_sisters);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && v[to].depth == v[from].depth && strcmp(v[to].board, v[from].board) == 0;)
			to++;
		judge_group(st, v + from, to - from);
		for (size_t i = from; i < to; i++) {
			/* A single switch with an accelerator on every port but one; with the missing one they would be 4, 8 or
			 * 16. */
			const struct rd_below *mine = &st->below[v[i].pci];
			unsigned all = mine->main[GPU] + 1;

			if (mine->reported[GPU] || mine->empty != 1 || mine->nics > 0 || mine->others > 0 ||
			    mine->ports != all || mine->gpus != mine->main[GPU] || all < 4 || (all & (all - 1)) != 0)
				continue;
			report_missing_one(st, GPU, v[i].pci, NULL, all,
					   all >= 8 ? RD_MISSING_CLEAR : RD_MISSING_LIKELY);
		}
	}
}

/* An empty port of the same model as the ports above the accelerators; -1: none. */
static int empty_place(const struct state *st)
{
	const struct rd_host *host = st->host;

	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];

		if (!rd_pci_is_bridge(pci) || st->below[i].child || pci->vendor.known != RD_OK)
			continue;
		for (size_t g = 0; g < host->n_gpus; g++) {
			int parent = host->pcis[host->gpus[g].pci].parent;

			if (parent >= 0 && host->pcis[parent].vendor.known == RD_OK &&
			    host->pcis[parent].vendor.v == pci->vendor.v &&
			    host->pcis[parent].device.v == pci->device.v)
				return (int)i;
		}
	}
	return -1;
}

void rd_symmetry_find(const struct rd_port_views *views, struct rd_symmetry *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ struct rd_below *below = rd_alloc(host->n_pcis + 1, sizeof(*below));
	struct state st = { .host = host, .below = below, .ret = ret };
	unsigned more, compute = 0;
	int place;

	/* A topology file lists only the devices that a vendor or a library wants to show. */
	if (host->from_topology_file)
		return;
	for (size_t i = 0; i < host->n_pcis; i++)
		below[i].gpu = -1;
	for (size_t g = 0; g < host->n_gpus; g++) {
		below[host->gpus[g].pci].is_gpu = true;
		below[host->gpus[g].pci].gpu = host->gpus[g].pci;
	}
	/* Marks network functions of the models that have an RDMA device here, including those that lost theirs. */
	for (size_t n = 0; n < host->n_ibdevs; n++) {
		const struct rd_ibdev *dev = &host->ibdevs[n];

		/* Ports of one card, and cards of one model, are adjacent. */
		if (dev->pci < 0 || dev->parent_netdev)
			continue;
		below[dev->pci].is_nic = host->pcis[dev->pci].pf < 0;
		if (n > 0 && host->ibdevs[n - 1].pci >= 0 &&
		    host->pcis[host->ibdevs[n - 1].pci].device.v == host->pcis[dev->pci].device.v)
			continue;
		for (size_t i = 0; i < host->n_pcis; i++) {
			const struct rd_pci *pci = &host->pcis[i], *like = &host->pcis[dev->pci];

			if (pci->class.v >> 16 == RD_PCI_NETWORK && pci->pf < 0 && pci->vendor.known == RD_OK &&
			    pci->vendor.v == like->vendor.v && pci->device.v == like->device.v)
				below[i].is_nic = true;
		}
	}
	count_up(host, below);
	find_twins(views, below, ret);
	find_main(&st, true);
	count_main(&st);
	judge_switches(&st);
	find_main(&st, false);
	/* Without evidence from switches, compares numbers: seven accelerators of one model and eight NICs of one board, or, if no
	 * other NIC is for computing, eight and seven. */
	more = st.nics > st.gpus ? st.nics : st.gpus;
	if (st.gpus == 0 || st.gpus != st.host->n_gpus || (more & (more - 1)) != 0 || more < 4)
		return;
	place = empty_place(&st);
	if (!st.reported_gpus && st.gpus + 1 == more)
		report_missing_one(&st, GPU, -1, place >= 0 ? rd_dup(st.host->pcis[place].addr) : NULL, more,
				   RD_MISSING_LIKELY);
	for (size_t p = 0; p < host->n_ports; p++)
		compute += views->v[p].role == RD_ROLE_COMPUTE;
	if (ret->n_missing == 0 && st.nics + 1 == more && compute == st.nics)
		report_missing_one(&st, NIC, -1, NULL, more, RD_MISSING_LIKELY);
}
