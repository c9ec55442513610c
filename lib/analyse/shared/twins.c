/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Twins that differ. */
#include <stdio.h>
#include <string.h>

#include "analyse/shared/symmetry-priv.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/host/pcie.h"

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

static int compare(const void *a, const void *b)
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
	return trait >= RD_TRAIT_LAYER ? (n - usual) * 8 <= n : !near_nic || rd_is_regular(n, gpus);
}

static bool are_extra(unsigned usual, unsigned n, bool near_nic, size_t gpus)
{
	return near_nic && rd_is_regular(usual, gpus) && !rd_is_regular(n, gpus);
}

static void report(struct items *items, const struct item *item, const struct item *usual, unsigned twins, unsigned n,
		   bool clear)
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
static void judge_group(struct items *items, const struct item *v, unsigned n, size_t gpus)
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
	if (most == n || are_extra(most, n, v[0].near_nic, gpus))
		return;
	clear = is_clear(items->trait, most, n, v[0].near_nic, gpus);
	for (unsigned i = 0; i < n; i++)
		if (!same_value(&v[i], usual))
			report(items, &v[i], usual, most, n, clear && !v[i].front);
}

static void judge(struct items *items, size_t gpus)
{
	if (items->n > 0)
		qsort(items->v, items->n, sizeof(*items->v), compare);
	for (size_t from = 0, to; from < items->n; from = to) {
		for (to = from + 1; to < items->n && strcmp(items->v[from].key, items->v[to].key) == 0;)
			to++;
		judge_group(items, items->v + from, (unsigned)(to - from), gpus);
	}
	for (size_t i = 0; i < items->n; i++)
		RD_FREE(items->v[i].key, items->v[i].value);
	items->n = 0;
}

/* Key that twins share; "" if unknown. `ret`: 64 bytes. */
static void twin_key(const struct rd_host *host, const struct rd_below *below, size_t i, char *ret)
{
	const struct rd_pci *pci = &host->pcis[i];
	bool bridge = rd_pci_is_bridge(pci);
	bool nic = below[i].is_nic && !below[i].is_gpu; /* a Gaudi is both while its driver is loaded */
	char board[32];

	rd_board_key(pci, nic, board);
	if (!board[0])
		ret[0] = '\0';
	else if (bridge)
		snprintf(ret, 64, "bridge %s %u %d", board, rd_pcie_depth(host, (int)i), below[i].gpus > 0);
	else
		snprintf(ret, 64, "%s %d %d", board, nic ? pci->fn : 0, below[i].near);
}

/* Whether an accelerator lowers the speed of this link when it is idle. */
static bool lowers_speed(const struct rd_host *host, const struct rd_below *below, size_t i)
{
	return below[i].is_gpu || (rd_pci_is_bridge(&host->pcis[i]) && below[i].gpu >= 0 &&
				   rd_pcie_is_gpu_part(host, (int)i, below[i].gpu));
}

static void add_number(struct items *items, int pci, bool near_nic, const char *key, unsigned value, const char *fmt)
{
	if (value == 0)
		items->ret->unread[items->trait]++;
	else
		add_item(items, pci, -1, near_nic, value, rd_dup(key),
			 strcmp(fmt, "GT/s") == 0 ? rd_text("%g GT/s", value / 1000.0) : rd_text("x%u", value));
}

static void link_traits(const struct rd_host *host, const struct rd_below *below, struct items *items)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		bool bridge = rd_pci_is_bridge(pci), near_nic = below[i].is_nic && below[i].near;
		char key[64];

		if (pci->pf >= 0 || !(below[i].is_gpu || below[i].is_nic || (bridge && below[i].gpus + below[i].nics)))
			continue;
		/* Bridges of a guest are emulated; slots of different width are normal. */
		if (!rd_pcie_links_up(host, (int)i) || (bridge && rd_pcie_in_guest(host)))
			continue;
		if (items->trait >= RD_TRAIT_MAX_WIDTH && !below[i].is_gpu && !near_nic && !(bridge && below[i].gpus))
			continue;
		twin_key(host, below, i, key);
		if (!key[0])
			continue;
		if (items->trait == RD_TRAIT_WIDTH)
			add_number(items, (int)i, near_nic, key, pci->now.width.known == RD_OK ? pci->now.width.v : 0,
				   "x");
		else if (items->trait == RD_TRAIT_MAX_WIDTH)
			add_number(items, (int)i, near_nic, key, rd_pcie_can_width(host, (int)i), "x");
		else if (items->trait == RD_TRAIT_MAX_SPEED)
			add_number(items, (int)i, near_nic, key, rd_pcie_can_mtps(host, (int)i), "GT/s");
		else if (!lowers_speed(host, below, i))
			add_number(items, (int)i, near_nic, key, pci->now.mtps.known == RD_OK ? pci->now.mtps.v : 0,
				   "GT/s");
	}
}

enum {
	CTL_RELAXED = 0x0010,
};

static void config_traits(const struct rd_host *host, const struct rd_below *below, struct items *items)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		unsigned payload = rd_pcie_payload(pci), request = rd_pcie_read_request(pci);
		bool relaxed = pci->config.dev_ctl.v & CTL_RELAXED;
		char key[64];

		if (!below[i].is_nic || rd_pcie_is_vf(host, pci))
			continue;
		twin_key(host, below, i, key);
		if (!key[0])
			continue;
		if (pci->config.dev_ctl.known != RD_OK || pci->config.dev_cap.known != RD_OK)
			items->ret->unread[items->trait]++;
		else if (items->trait == RD_TRAIT_MPS)
			add_item(items, (int)i, -1, below[i].near, payload,
				 rd_text("%s %u", key, rd_pcie_payload_path(host, pci)), rd_text("%u", payload));
		else if (items->trait == RD_TRAIT_MRRS)
			add_item(items, (int)i, -1, below[i].near, request, rd_dup(key), rd_text("%u", request));
		else
			add_item(items, (int)i, -1, below[i].near, relaxed, rd_dup(key),
				 rd_text(relaxed ? "on" : "off"));
	}
}

static void driver_traits(const struct rd_host *host, const struct rd_below *below, struct items *items)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		char key[64];

		if (!pci->detailed ||
		    !(items->trait == RD_TRAIT_GPU_DRIVER ? below[i].is_gpu : below[i].is_nic && !below[i].is_gpu))
			continue;
		twin_key(host, below, i, key);
		if (key[0])
			add_item(items, (int)i, -1, below[i].is_nic && below[i].near, 0, rd_dup(key),
				 rd_dup(pci->driver ? pci->driver : "none"));
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
		rd_board_key(&host->pcis[dev->pci], true, board);
		if (!dev->board && !board[0])
			continue;
		if (!dev->firmware)
			items->ret->unread[items->trait]++;
		else
			add_item(items, dev->pci, -1, false, 0, rd_dup(dev->board ? dev->board : board),
				 rd_dup(dev->firmware));
	}
}

/* Index and type of the usable GID, which a program with one index for all NICs depends on, and whether there is RoCE v1. */
static char *gid_shape(const struct rd_port *port)
{
	const struct rd_gid *found = NULL;
	bool v1 = false;

	for (size_t g = 0; g < port->n_gids; g++) {
		const struct rd_gid *gid = &port->gids[g];
		bool v4 = rd_gid_is_v4(gid);

		v1 |= gid->type == RD_GID_ROCE_V1;
		if (gid->type == RD_GID_ROCE_V2 && !rd_gid_is_link_local(gid) &&
		    (!found || (v4 && !rd_gid_is_v4(found))))
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

static bool has_default_route(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t n = 0; n < port->n_netdevs; n++) {
		const struct rd_netdev *netdev = &host->netdevs[port->netdevs[n]];
		int master = rd_host_find_netdev(host, netdev->master);

		if (netdev->default_route || (master >= 0 && host->netdevs[master].default_route))
			return true;
	}
	return false;
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
			items->v[had].front = has_default_route(host, port);
	}
}

void rd_twins_find(const struct rd_port_views *views, const struct rd_below *below, struct rd_symmetry *ret)
{
	const struct rd_host *host = views->host;
	struct items items = { .ret = ret };

	for (items.trait = 0; items.trait < RD_N_TRAITS; items.trait++) {
		if (items.trait <= RD_TRAIT_MAX_SPEED)
			link_traits(host, below, &items);
		else if (items.trait <= RD_TRAIT_RELAXED)
			config_traits(host, below, &items);
		else if (items.trait <= RD_TRAIT_NIC_DRIVER)
			driver_traits(host, below, &items);
		else if (items.trait == RD_TRAIT_FIRMWARE)
			firmware_trait(host, &items);
		else
			port_traits(views, below, &items);
		judge(&items, host->n_gpus);
	}
	free(items.v);
}
