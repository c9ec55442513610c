/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches that lack devices which their sisters have. */
#include <string.h>

#include "analyse/shared/symmetry-priv.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/host/pcie.h"

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
	if (n > 0)
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
		rd_board_key(&host->pcis[host->gpus[i].pci], false, models[g]);
		g += models[g][0] != '\0';
	}
	for (size_t i = 0; i < host->n_pcis; i++)
		if (is_card(st, i, near)) {
			rd_board_key(&host->pcis[i], true, boards[n]);
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
			rd_board_key(&host->pcis[i], false, model);
		else if (is_card(st, i, false))
			rd_board_key(&host->pcis[i], true, board);
		else
			continue;
		for (int up = host->pcis[i].parent; up >= 0; up = host->pcis[up].parent) {
			st->below[up].main_gpus += model[0] && strcmp(model, st->gpu_model) == 0;
			st->below[up].main_nics += board[0] && strcmp(board, st->nic_board) == 0;
		}
	}
}

static int compare(const void *a, const void *b)
{
	const struct sister *x = a, *y = b;

	/* The deepest first: a device missing there is also missing in the switches above. */
	return RD_FIRST(RD_CMP(y->depth, x->depth),
			strcmp(x->board, y->board) ? strcmp(x->board, y->board) : x->pci - y->pci);
}

static unsigned count_of(const struct state *st, const struct sister *sister, bool gpu)
{
	return gpu ? st->below[sister->pci].main_gpus : st->below[sister->pci].main_nics;
}

/* The empty ports below a bridge; NULL: none. */
static char *empty_ports(const struct state *st, int bridge)
{
	char *list = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < st->host->n_pcis && n < 4; i++) {
		bool below = false;
		char *longer;

		if (!rd_pci_is_bridge(&st->host->pcis[i]) || st->below[i].child)
			continue;
		for (int up = st->host->pcis[i].parent; up >= 0 && !below; up = st->host->pcis[up].parent)
			below = up == bridge;
		if (!below)
			continue;
		longer = rd_text("%s%s%s", list ? list : "", list ? ", " : "", st->host->pcis[i].addr);
		free(list);
		list = longer;
		n++;
	}
	return list;
}

static void report(struct state *st, struct rd_missing missing)
{
	struct rd_symmetry *ret = st->ret;

	if (missing.bridge >= 0)
		missing.empty = empty_ports(st, missing.bridge);
	*RD_ADD(ret->missing, ret->n_missing, ret->cap_missing) = missing;
	st->reported_gpus |= missing.gpu;
	for (int up = missing.bridge; up >= 0; up = st->host->pcis[up].parent) {
		st->below[up].reported_gpu |= missing.gpu;
		st->below[up].reported_nic |= !missing.gpu;
	}
}

static int compare_counts(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The most frequent count, the higher of equals; of two or three sisters the highest, which shows the capacity. */
static unsigned usual_count(struct state *st, const struct sister *v, size_t n, bool gpu)
{
	_cleanup_free_ unsigned *counts = rd_alloc(n, sizeof(*counts));
	unsigned most = 0, run = 0, value = 0;

	for (size_t i = 0; i < n; i++)
		counts[i] = count_of(st, &v[i], gpu);
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
	unsigned found = gpu ? mine->main_gpus : mine->main_nics, all = (unsigned)n * wanted;
	unsigned tie = gpu ? mine->main_nics : mine->main_gpus, whole = gpu ? other->main_nics : other->main_gpus;
	bool alike = is_built_alike(st, pci, like, wanted - found);
	bool is_free = mine->empty > other->empty || mine->ports < other->ports;

	if (!alike)
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
		unsigned mine = count_of(st, &v[i], gpu);

		all += mine;
		agree += mine == wanted;
		if (mine == wanted && (like < 0 || st->below[v[i].pci].main_gpus > st->below[like].main_gpus))
			like = v[i].pci;
	}
	if (wanted == 0 || like < 0)
		return;
	/* A switch with other devices, such as NVSwitches, lacks nothing. */
	for (size_t i = 0; i < n; i++) {
		unsigned mine = count_of(st, &v[i], gpu);

		if (mine < wanted && is_built_alike(st, v[i].pci, like, wanted - mine))
			lack_all += wanted - mine;
	}
	if (lack_all == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		unsigned mine = count_of(st, &v[i], gpu);
		struct rd_missing missing = { .gpu = gpu, .bridge = v[i].pci, .found = mine, .wanted = wanted };

		if (mine >= wanted || (gpu ? st->below[v[i].pci].reported_gpu : st->below[v[i].pci].reported_nic))
			continue;
		missing.all = all;
		missing.all_wanted = all + lack_all;
		missing.sisters = (unsigned)n;
		missing.agree = agree;
		missing.like = like;
		missing.sure = how_sure(st, n, agree, wanted, lack_all, v[i].pci, like, gpu);
		/* NICs whose number does not match that of the accelerators may serve another purpose. */
		if (!gpu && missing.sure == RD_MISSING_CLEAR && !rd_is_regular(all + lack_all, st->gpus))
			missing.sure = RD_MISSING_LIKELY;
		report(st, missing);
	}
}

/* Switches of one model at one depth. */
static void judge_group(struct state *st, const struct sister *v, size_t n)
{
	bool has_gpus = false;

	for (size_t i = 0; i < n; i++)
		has_gpus |= st->below[v[i].pci].main_gpus > 0;
	if (n < 2 || !has_gpus)
		return;
	st->ret->sisters += (unsigned)n;
	judge_kind(st, v, n, true);
	judge_kind(st, v, n, false);
}

/* A single switch with an accelerator on every port but one; with the missing one they would be 4, 8 or 16. */
static void judge_alone(struct state *st, const struct sister *v)
{
	const struct rd_below *mine = &st->below[v->pci];
	unsigned all = mine->main_gpus + 1;

	if (mine->reported_gpu || mine->empty != 1 || mine->nics > 0 || mine->others > 0 || mine->ports != all ||
	    mine->gpus != mine->main_gpus || all < 4 || (all & (all - 1)) != 0)
		return;
	report(st, (struct rd_missing){ .gpu = true,
					.bridge = v->pci,
					.found = all - 1,
					.wanted = all,
					.all = all - 1,
					.all_wanted = all,
					.sisters = all,
					.agree = all - 1,
					.sure = all >= 8 ? RD_MISSING_CLEAR : RD_MISSING_LIKELY,
					.like = -1 });
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
		rd_board_key(&host->pcis[i], false, v[n].board);
		v[n].depth = rd_pcie_depth(host, (int)i);
		v[n].pci = (int)i;
		n += v[n].board[0] != '\0';
	}
	if (n > 0)
		qsort(v, n, sizeof(*v), compare);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && v[to].depth == v[from].depth && strcmp(v[to].board, v[from].board) == 0;)
			to++;
		judge_group(st, v + from, to - from);
		for (size_t i = from; i < to; i++)
			judge_alone(st, &v[i]);
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

/* Without evidence from switches, compares numbers: seven accelerators of one model and eight NICs of one board. */
static void judge_numbers(struct state *st)
{
	unsigned more = st->nics;
	int place;

	if (st->gpus == 0 || st->gpus != st->host->n_gpus || (more & (more - 1)) != 0 || more < 4)
		return;
	place = empty_place(st);
	if (!st->reported_gpus && st->gpus + 1 == more)
		report(st, (struct rd_missing){ .gpu = true,
						.empty = place >= 0 ? rd_dup(st->host->pcis[place].addr) : NULL,
						.bridge = -1,
						.found = st->gpus,
						.wanted = more,
						.all = st->gpus,
						.all_wanted = more,
						.sure = RD_MISSING_LIKELY,
						.like = -1 });
}

void rd_sisters_find(const struct rd_host *host, struct rd_below *below, struct rd_symmetry *ret)
{
	struct state st = { .host = host, .below = below, .ret = ret };

	find_main(&st, true);
	count_main(&st);
	judge_switches(&st);
	find_main(&st, false);
	judge_numbers(&st);
}
