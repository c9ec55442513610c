/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/siphash.h"

/* The authors' vectors: the key 00 01 … 0f, inputs 00 01 … of each length. */
TEST(hashes_are_those_that_were_published)
{
	static const struct {
		size_t size;
		uint64_t hash;
	} vectors[] = {
		{ 0, 0x726fdb47dd0e0e31 }, { 1, 0x74f839c593dc67fd },  { 7, 0xab0200f58b01d137 },
		{ 8, 0x93f5f5799a932462 }, { 15, 0xa129ca6149be45e5 }, { 63, 0x958a324ceb064572 },
	};
	const struct rd_sipkey key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };
	uint8_t in[64];

	for (uint8_t i = 0; i < sizeof(in); i++)
		in[i] = i;
	for (size_t i = 0; i < RD_ARRAY_SIZE(vectors); i++)
		assert_int_equal(rd_siphash(&key, in, vectors[i].size), vectors[i].hash);
}
