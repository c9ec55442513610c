/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of counters: lines that are no good, and what a counter is about. */
#include "counter-table.h"
#include "unit.h"

#include "analyse/shared/meaning.h"

TEST(the_table_says_which_line_is_wrong)
{
	const char *text = "# comment\n"
			   "link_downed * times saturates:8 cause sum It went\n down.\n"
			   "bad * times saturates:99 cause sum x\n"
			   "short *\n"
			   "rx_?_pause mlx5 frames 64-bit sign - Paused.\n";
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	const struct rd_meaning *meaning;

	assert_int_equal(rd_meanings_parse("t", text, strlen(text), &meanings, &notes, NULL), 0);
	assert_int_equal(notes.n, 2);
	meaning = rd_meaning_find(&meanings, "link_downed", "anything");
	assert_non_null(meaning);
	ASSERT_EACH(IS(meaning->bits, 8), READS(meaning->text, "It went down."));
	assert_non_null(rd_meaning_find(&meanings, "rx_3_pause", "mlx5"));
	assert_null(rd_meaning_find(&meanings, "rx_3_pause", "rxe"));
}

static enum rd_topic topic_of(const struct rd_meanings *meanings, const char *driver, enum rd_counter_group group)
{
	struct rd_counter_set set = { 0 };
	enum rd_topic ret;

	rd_counter_set_add_port(&set)->driver = strdup(driver);
	rd_counter_set_add(&set, 0, group, "fish");
	rd_meanings_apply(meanings, &set);
	ret = set.counters[0].about ? set.counters[0].about->topic : RD_TOPIC_NONE;
	rd_counter_set_deinit(&set);
	return ret;
}

TEST(a_topic_is_the_driver_s_or_else_the_name_s)
{
	const char text[] = "f* m* times 64-bit cause - As below.\n"
			    "fi?h mlx5 times 64-bit cause:drop - Drops.\n"
			    "fish mlx4 times 64-bit cause:- - No topic.\n"
			    "fish netdev times 64-bit load:data-sent/2 - Half.\n";
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	struct rd_errlist notes = { 0 };

	assert_int_equal(rd_meanings_parse("t", text, strlen(text), &meanings, &notes, NULL), 0);
	ASSERT_EACH(IS(notes.n, 0), IS(meanings.v[0].parts, 0), IS(meanings.v[1].parts, 1), IS(meanings.v[3].parts, 2),
		    IS(topic_of(&meanings, "mlx5", RD_GROUP_HW), RD_TOPIC_DROP),
		    IS(topic_of(&meanings, "mlx4", RD_GROUP_HW), RD_TOPIC_NONE),
		    IS(topic_of(&meanings, "rxe", RD_GROUP_ETHTOOL), RD_TOPIC_DROP),
		    IS(topic_of(&meanings, "mlx5", RD_GROUP_NETDEV), RD_TOPIC_DATA_SENT));
}

TEST(the_shipped_table_has_the_units_of_mlx5)
{
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };

	counter_table_read(&meanings);
	assert_string_equal(rd_meaning_find(&meanings, "rx_global_pause_duration", "mlx5")->unit, "microseconds");
	assert_string_equal(rd_meaning_find(&meanings, "tx_global_pause_duration", "mlx5")->unit, "microseconds");
	assert_string_equal(rd_meaning_find(&meanings, "rx_global_pause_transition", "mlx5")->unit, "frames");
	assert_string_equal(rd_meaning_find(&meanings, "rx_65_to_127_bytes_phy", "mlx5")->unit, "packets");
	assert_string_equal(rd_meaning_find(&meanings, "tx_bytes_phy", "mlx5")->unit, "bytes");
}
