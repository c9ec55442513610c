/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/siphash.h"

#include <string.h>
#include <sys/auxv.h>

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
