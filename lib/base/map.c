/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes: the keyed one, and finding elements of an array by theirs. */
#include "base/map.h"

#include <sys/auxv.h>

#include "base/siphash.h"

void rd_sipkey_of_process(struct rd_sipkey *ret)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	*ret = (struct rd_sipkey){ 0 };
	if (random)
		memcpy(ret->k, random, sizeof(ret->k));
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], int n)
{
	while (n-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* Up to eight bytes as a little-endian number. */
static uint64_t word_of(const uint8_t *at, size_t size)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word |= (uint64_t)at[i] << (8 * i);
	return word;
}

static void add_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t rd_siphash(const struct rd_sipkey *key, const void *data, size_t size)
{
	uint64_t v[4] = {
		key->k[0] ^ 0x736f6d6570736575,
		key->k[1] ^ 0x646f72616e646f6d,
		key->k[0] ^ 0x6c7967656e657261,
		key->k[1] ^ 0x7465646279746573,
	};
	const uint8_t *at = data;
	size_t left = size;

	for (; left >= 8; at += 8, left -= 8)
		add_word(v, word_of(at, 8));
	add_word(v, word_of(at, left) | (uint64_t)size << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

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
static void map_grow(struct rd_map *map)
{
	struct rd_map wider = { .n_slots = map->n_slots ? 2 * map->n_slots : SLOTS_MIN, .n = map->n };
	size_t start = 0;

	wider.slots = rd_alloc(wider.n_slots, sizeof(*wider.slots));
	while (start < map->n_slots && map->slots[start].index)
		start++;
	for (size_t i = 0; i < map->n_slots; i++) {
		const struct rd_map_slot *slot = &map->slots[(start + i) & (map->n_slots - 1)];

		if (slot->index)
			fill_free_slot(&wider, *slot);
	}
	free(map->slots);
	*map = wider;
}

void rd_map_put(struct rd_map *map, uint64_t hash, size_t index)
{
	if (2 * (map->n + 1) > map->n_slots)
		map_grow(map);
	fill_free_slot(map, (struct rd_map_slot){ .hash = (uint32_t)hash, .index = (uint32_t)index + 1 });
	map->n++;
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
