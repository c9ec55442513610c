/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include <errno.h>

#include "base/end.h"

#define SLOTS_MIN 64

void rd_map_deinit(struct rd_map *map)
{
	free(map->slots);
	*map = (struct rd_map){ 0 };
}

static void fill_free_slot(const struct rd_map *map, struct rd_map_slot slot)
{
	size_t mask = map->n_slots - 1, at = slot.hash & mask;

	while (map->slots[at].index)
		at = (at + 1) & mask;
	map->slots[at] = slot;
}

/* Elements of one hash keep their order: the old slots are read from one behind a free slot on, as they were filled. */
static int map_grow(struct rd_map *map)
{
	struct rd_map wider = { .n_slots = map->n_slots ? 2 * map->n_slots : SLOTS_MIN, .n = map->n };
	size_t start = 0;

	wider.slots = calloc(wider.n_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	while (start < map->n_slots && map->slots[start].index)
		start++;
	for (size_t i = 0; i < map->n_slots; i++) {
		const struct rd_map_slot *slot = &map->slots[(start + i) & (map->n_slots - 1)];

		if (slot->index)
			fill_free_slot(&wider, *slot);
	}
	free(map->slots);
	*map = wider;
	return 0;
}

int rd_map_add(struct rd_map *map, uint64_t hash, size_t index)
{
	if (2 * (map->n + 1) > map->n_slots && map_grow(map) < 0)
		return -ENOMEM;
	fill_free_slot(map, (struct rd_map_slot){ .hash = (uint32_t)hash, .index = (uint32_t)index + 1 });
	map->n++;
	return 0;
}

void rd_map_put(struct rd_map *map, uint64_t hash, size_t index)
{
	if (rd_map_add(map, hash, index) < 0)
		rd_out_of_memory();
}

size_t rd_map_next(const struct rd_map *map, uint64_t hash, size_t *probe)
{
	size_t mask = map->n_slots - 1;

	while (map->n_slots) {
		const struct rd_map_slot *slot = &map->slots[((uint32_t)hash + (*probe)++) & mask];

		if (!slot->index)
			break;
		if (slot->hash == (uint32_t)hash)
			return slot->index - 1;
	}
	return RD_MAP_END;
}
