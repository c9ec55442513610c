/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/map.h"

static size_t candidates(const struct rd_map *map, uint64_t hash, size_t *v, size_t max)
{
	size_t n = 0, i;

	for (size_t probe = 0; (i = rd_map_next(map, hash, &probe)) != RD_MAP_END;) {
		assert_true(n < max);
		v[n++] = i;
	}
	return n;
}

TEST(an_empty_map_has_nothing)
{
	_cleanup_(rd_map_deinit) struct rd_map map = { 0 };
	size_t v[1];

	assert_int_equal(candidates(&map, 0, v, 1), 0);
}

TEST(every_element_is_found_after_the_map_has_grown)
{
	struct rd_map map = { 0 };

	for (uint32_t i = 0; i < 5000; i++)
		rd_map_put(&map, rd_hash(RD_HASH, &i, sizeof(i)), i);
	ASSERT_EACH(IS(map.n, 5000), IS(map.n_slots >= 2 * map.n, true));
	for (uint32_t i = 0; i < 5000; i++) {
		bool found = false;
		size_t at;

		for (size_t probe = 0; (at = rd_map_next(&map, rd_hash(RD_HASH, &i, sizeof(i)), &probe)) != RD_MAP_END;)
			found |= at == i;
		assert_true(found);
	}
	rd_map_deinit(&map);
	assert_null(map.slots);
}

/* All of one hash, at the end of the table, so that they wrap round it. */
TEST(elements_of_one_hash_come_in_order)
{
	_cleanup_(rd_map_deinit) struct rd_map map = { 0 };
	size_t v[300];

	for (size_t i = 0; i < 300; i++)
		rd_map_put(&map, UINT32_MAX, i);
	assert_int_equal(candidates(&map, UINT32_MAX, v, 300), 300);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(v[i], i);
}

TEST(neighbours_are_not_candidates)
{
	_cleanup_(rd_map_deinit) struct rd_map map = { 0 };
	size_t v[2];

	rd_map_put(&map, 7, 0);
	rd_map_put(&map, 7 + 64, 1); /* the same slot of the first 64 */
	rd_map_put(&map, 8, 2);
	assert_int_equal(candidates(&map, 7, v, 2), 1);
	assert_int_equal(v[0], 0);
	assert_int_equal(candidates(&map, 7 + 64, v, 2), 1);
	assert_int_equal(v[0], 1);
	assert_int_equal(candidates(&map, 8, v, 2), 1);
	assert_int_equal(v[0], 2);
	assert_int_equal(candidates(&map, 9, v, 2), 0);
}
