/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds elements of an array by a hash of their key: open addressing, linear probing, at most half full. The array and its keys
 * stay with the caller, who compares candidates:
 *
 *     for (size_t probe = 0, i; (i = rd_map_next(&map, hash, &probe)) != RD_MAP_END;)
 *             if (strcmp(v[i].name, name) == 0)
 *                     return &v[i];
 *
 * Keys that others choose need a hash with a seed or a key.
 */
#ifndef RD_MAP_H
#define RD_MAP_H

#include "base/base.h"

#define RD_MAP_END SIZE_MAX

struct rd_map_slot {
	uint32_t hash;	/* its lower half */
	uint32_t index; /* of the element, plus 1; 0: free */
};

/* Empty when zeroed. */
struct rd_map {
	struct rd_map_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n;
};

void rd_map_deinit(struct rd_map *map);

/* Enters element `index` (below UINT32_MAX), also if another one has the same hash. */
void rd_map_put(struct rd_map *map, uint64_t hash, size_t index);

/* The index of the next element that may have this hash, in the order in which they were entered; RD_MAP_END: no more. `*probe`
 * begins at 0. */
size_t rd_map_next(const struct rd_map *map, uint64_t hash, size_t *probe);

#endif
