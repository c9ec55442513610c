/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rendezvous hashing with bounded loads: spreads items over bins so that a bin that appears or disappears moves few items. The
 * result depends only on the keys, weights and rooms, not on their order, and is computed with integers, so that every machine
 * gets the same.
 */
#ifndef RD_ANALYSE_RENDEZVOUS_H
#define RD_ANALYSE_RENDEZVOUS_H

#include "base/base.h"

struct rd_bin {
	uint64_t key;	 /* a hash, unique */
	uint32_t weight; /* expected number of items, relative to that of other bins; at least 1 */
	size_t room;	 /* the most items that it takes */
	size_t id;	 /* what an item's owner is set to */
};

/*
 * Sets owner[i] to the `id` of the bin of the item with the hash `items[i]`; -1 where no bin has room. Each item prefers its bins in
 * the order of a hash of both keys divided by the weight of the bin. A full bin keeps the items with the lowest hashes (stable
 * matching by deferred acceptance: Gale and Shapley 1962). Changes `bins`.
 */
void rd_rendezvous(struct rd_bin *bins, size_t n_bins, const uint64_t *items, size_t n_items, int32_t *owner);

#endif
