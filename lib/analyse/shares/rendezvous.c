/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/shares/rendezvous.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Bins that an item compares; further ones follow in the order of their keys. Bounds the cost with very many bins. */
#define COMPARED 512

#define UNTRIED UINT64_MAX

/* What an item costs a bin; lower is better. Distinct for the bins of an item: by its place after the item's key. */
struct cost {
	uint64_t value;
	size_t place;
};

/* An item in a bin. */
struct held {
	uint64_t cost, key;
	size_t item;
};

struct matching {
	struct rd_bin *bins; /* by key */
	size_t n_bins, compared;
	const uint64_t *items;
	size_t *first;	     /* per item: the bin that its places begin with */
	struct cost *asked;  /* per item: of the latest bin that it asked */
	struct held **heaps; /* per bin: the item with the highest cost first */
	size_t *loads;	     /* per bin */
};

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct rd_bin *)a)->key, y = ((const struct rd_bin *)b)->key;

	return (x > y) - (x < y);
}

/* Finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* -ln(1 - x) of a uniform x, to the fourth power, in units of 2^-32: exponentially distributed, so that divided by their weights the
 * least of several is each one's in proportion to its weight. */
static uint64_t exponential(uint64_t hash)
{
	uint64_t x = hash >> 32, square = x * x >> 32;

	return x + square / 2 + (square * x >> 32) / 3 + (square * square >> 32) / 4;
}

static uint64_t cost_of(const struct matching *m, size_t item, size_t place)
{
	const struct rd_bin *bin = &m->bins[(m->first[item] + place) % m->n_bins];

	if (place >= m->compared)
		return (UINT64_C(1) << 63) + place;
	return (exponential(mix(m->items[item] ^ bin->key)) << 28) / bin->weight;
}

static bool is_after(struct cost a, struct cost b)
{
	return a.value > b.value || (a.value == b.value && a.place > b.place);
}

/* The item's next place after the one asked, by cost. False: all have been asked. */
static bool next_place(const struct matching *m, size_t item, struct cost *ret)
{
	struct cost last = m->asked[item], best = { UNTRIED, 0 };
	bool any = last.value == UNTRIED;

	for (size_t place = 0; place < m->compared; place++) {
		struct cost cost = { cost_of(m, item, place), place };

		if ((any || is_after(cost, last)) && is_after(best, cost))
			best = cost;
	}
	if (best.value == UNTRIED) {
		best.place = any || last.place < m->compared ? m->compared : last.place + 1;
		if (best.place >= m->n_bins)
			return false;
		best.value = cost_of(m, item, best.place);
	}
	*ret = best;
	return true;
}

/* ---- heaps of the items in a bin */

static bool is_worse(const struct held *a, const struct held *b)
{
	return a->cost > b->cost || (a->cost == b->cost && a->key > b->key);
}

static void swap(struct held *heap, size_t a, size_t b)
{
	struct held held = heap[a];

	heap[a] = heap[b];
	heap[b] = held;
}

static void sift_up(struct held *heap, size_t at)
{
	for (; at > 0 && is_worse(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(heap, at, (at - 1) / 2);
}

static void sift_down(struct held *heap, size_t n)
{
	size_t at = 0;

	while (2 * at + 1 < n) {
		size_t child = 2 * at + 1;

		if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
			child++;
		if (!is_worse(&heap[child], &heap[at]))
			return;
		swap(heap, at, child);
		at = child;
	}
}

/* Offers an item to a bin. Returns the item that the bin does not keep; SIZE_MAX: it keeps all. */
static size_t offer_to_bin(struct matching *m, size_t bin, struct held held)
{
	struct held *heap = m->heaps[bin];
	size_t out;

	if (m->loads[bin] < m->bins[bin].room) {
		heap[m->loads[bin]] = held;
		sift_up(heap, m->loads[bin]++);
		return SIZE_MAX;
	}
	if (m->loads[bin] == 0 || !is_worse(&heap[0], &held))
		return held.item;
	out = heap[0].item;
	heap[0] = held;
	sift_down(heap, m->loads[bin]);
	return out;
}

/* Places an item, and those that it displaces. One that no bin keeps stays without. */
static void place_item(struct matching *m, size_t item)
{
	while (item != SIZE_MAX) {
		struct cost next;
		size_t bin;

		if (!next_place(m, item, &next))
			return;
		m->asked[item] = next;
		bin = (m->first[item] + next.place) % m->n_bins;
		item = offer_to_bin(m, bin, (struct held){ next.value, m->items[item], item });
	}
}

/* ---- all of it */

static size_t first_bin(const struct matching *m, uint64_t key)
{
	size_t low = 0, high = m->n_bins;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->bins[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low % m->n_bins;
}

/* Sorts the bins by their mixed keys, and drops those without room. */
static void set_bins(struct matching *m, size_t n_items)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_bins; i++) {
		if (m->bins[i].room == 0)
			continue;
		m->bins[n] = m->bins[i];
		m->bins[n].key = mix(m->bins[n].key);
		n++;
	}
	m->n_bins = n;
	m->compared = n < COMPARED ? n : COMPARED;
	qsort(m->bins, n, sizeof(*m->bins), by_key);
	m->heaps = rd_alloc(n + 1, sizeof(*m->heaps));
	m->loads = rd_alloc(n + 1, sizeof(*m->loads));
	for (size_t i = 0; i < n; i++)
		m->heaps[i] = rd_alloc((m->bins[i].room < n_items ? m->bins[i].room : n_items) + 1, sizeof(**m->heaps));
}

void rd_rendezvous(struct rd_bin *bins, size_t n_bins, const uint64_t *items, size_t n_items, int32_t *owner)
{
	_cleanup_free_ size_t *first = rd_alloc(n_items + 1, sizeof(*first));
	_cleanup_free_ struct cost *asked = rd_alloc(n_items + 1, sizeof(*asked));
	struct matching m = { .bins = bins, .n_bins = n_bins, .items = items, .first = first, .asked = asked };

	set_bins(&m, n_items);
	for (size_t i = 0; i < n_items; i++) {
		owner[i] = -1;
		if (m.n_bins == 0)
			continue;
		first[i] = first_bin(&m, mix(items[i]));
		asked[i].value = UNTRIED;
	}
	for (size_t i = 0; i < n_items && m.n_bins > 0; i++)
		place_item(&m, i);
	for (size_t b = 0; b < m.n_bins; b++) {
		for (size_t i = 0; i < m.loads[b]; i++)
			owner[m.heaps[b][i].item] = (int32_t)m.bins[b].id;
		free(m.heaps[b]);
	}
	RD_FREE(m.heaps, m.loads);
}
