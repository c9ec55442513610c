/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"

#include <ctype.h>

/*
 * Chains are written as text: a letter for the function, then its errno; "|" begins a new branch. The root is R.
 * In the result translated links are in brackets.
 */
static void read_links(const char *text, struct rd_event *ev)
{
	bool branch = false;

	ev->chain = calloc(strlen(text) + 1, sizeof(*ev->chain));
	assert_non_null(ev->chain);
	while (*text) {
		int fn, err, used;

		if (*text == '|') {
			branch = true;
			text++;
		} else if (isalpha((unsigned char)*text)) {
			fn = *text;
			assert_int_equal(sscanf(text + 1, "%d%n", &err, &used), 1);
			text += 1 + used;
			ev->chain[ev->n_chain++] = (struct rd_link){ .fn = fn, .err = err, .branch = branch };
			branch = false;
		} else {
			text++;
		}
	}
}

/* `rival`: 0: none */
static void assert_rival(const char *links, int err, const char *expected, int rival)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { .root = 'R', .err = err, .origin = -1 };
	_cleanup_buf_ struct rd_buf got = { 0 };

	read_links(links, &ev);
	rd_chain_settle(&ev, NULL);
	for (size_t i = 0; i < ev.n_chain; i++) {
		assert_false(ev.chain[i].branch);
		rd_buf_printf(&got, ev.chain[i].translated ? "%s[%c%d]" : "%s%c%d", i ? " " : "", ev.chain[i].fn,
			      ev.chain[i].err);
	}
	ASSERT_EACH(READS(got.data, expected), IS(ev.origin, ev.chain[0].fn),
		    IS(ev.rival.known == RD_OK ? ev.rival.v : 0, rival));
}

static void assert_chain(const char *links, int err, const char *expected)
{
	assert_rival(links, err, expected, 0);
}

TEST(runs_are_shown_whole_also_behind_another_errno)
{
	/* One run is shown whole. */
	assert_chain("a-14 b-14 c-14 R-14", -14, "a-14 b-14 c-14 R-14");
	/* The root alone is its own origin. */
	assert_chain("R-22", -22, "R-22");
	assert_chain("", -22, "R-22");
	/* An errno turned into another keeps both runs. */
	assert_chain("a-2 b-2 c-22 R-22", -22, "[a-2] [b-2] c-22 R-22");
	assert_chain("a-2 b-5 c-22 R-22", -22, "[a-2] [b-5] c-22 R-22");
	assert_chain("a-2 R-22", -22, "[a-2] R-22");
}

TEST(other_failures_do_not_hide_why_the_call_failed)
{
	/* A swallowed failure is left out. */
	assert_chain("p-95 q-95 | a-14 b-14 R-14", -14, "a-14 b-14 R-14");
	assert_chain("p-95 | q-2 | a-14 R-14", -14, "a-14 R-14");
	assert_chain("p-95 | R-14", -14, "R-14");
	/* Cleaning up that fails does not hide why the call did. */
	assert_chain("a-12 b-12 | u-22 c-12 R-12", -12, "a-12 b-12 c-12 R-12");
	assert_chain("a-12 | u-22 | v-16 c-12 R-12", -12, "a-12 c-12 R-12");
	assert_chain("p-95 | a-12 | u-22 R-12", -12, "a-12 R-12");
	/* Further back than the programs remember: it may have been the one. */
	assert_rival("a-12 | u-1 | v-2 | w-3 | x-4 R-12", -12, "[x-4] R-12", 'a');
	assert_rival("a-5 | b-5 | b-5 | b-5 | b-5 d-5 R-5", -5, "b-5 d-5 R-5", 'a');
	assert_chain("a-12 | v-2 | w-3 | x-4 R-12", -12, "a-12 R-12");
	/* The original error may itself have been translated. */
	assert_chain("a-2 b-12 | u-22 c-12 R-12", -12, "[a-2] b-12 c-12 R-12");
}

TEST(of_failures_with_the_same_errno_the_first_is_shown)
{
	assert_rival("a-12 | u-12 R-12", -12, "a-12 R-12", 'u');
	assert_rival("a-12 b-12 | u-12 c-12 R-12", -12, "a-12 b-12 c-12 R-12", 'u');
	assert_rival("a-2 b-12 | u-12 c-12 R-12", -12, "[a-2] b-12 c-12 R-12", 'u');
	assert_rival("a-12 | u-16 | v-12 c-12 R-12", -12, "a-12 c-12 R-12", 'v');
	assert_rival("a-12 | u-12 | v-16 c-12 R-12", -12, "a-12 c-12 R-12", 'u');
	assert_rival("a-11 | b-11 | c-11 d-11 R-11", -11, "a-11 d-11 R-11", 'c');
	assert_rival("a-11 | b-11 | u-22 d-11 R-11", -11, "a-11 d-11 R-11", 'b');
	/* In each of several attempts */
	assert_rival("a-11 | a-11 d-11 R-11", -11, "a-11 d-11 R-11", 0);
	assert_rival("a-11 | b-11 | a-11 d-11 R-11", -11, "a-11 d-11 R-11", 'b');
	assert_rival("p-95 | a-12 | u-12 R-12", -12, "a-12 R-12", 'u');
}

TEST(what_was_swallowed_inside_or_had_no_room)
{
	/* A swallowed failure inside of a branch is no original. */
	/* -12 was turned into -22, and that was swallowed: what came later is the reason. */
	assert_chain("a-12 b-22 | c-5 R-12", -12, "[c-5] R-12");
	/* A record that was full still ends with the root. */
	assert_chain("a-14 b-14", -14, "a-14 b-14 R-14");
	assert_chain("a-2 b-2", -14, "[a-2] [b-2] R-14");
}

TEST(an_origin_that_had_no_room_stands_for_its_branch)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { .root = 'R', .err = -12, .origin = 'a', .dropped = 20 };

	read_links("u-22 c-12 R-12", &ev);
	rd_chain_settle(&ev, NULL);
	ASSERT_EACH(IS(ev.origin, 'a'), IS(ev.n_chain, 3));
	ASSERT_EACH(IS(ev.chain[0].fn, 'a'), IS(ev.chain[1].fn, 'c'));
	rd_event_deinit(&ev);

	ev = (struct rd_event){ .root = 'R', .err = -12, .origin = 'u', .dropped = 20 };
	read_links("u-22 c-12 R-12", &ev);
	rd_chain_settle(&ev, NULL);
	assert_int_equal(ev.n_chain, 3);
	assert_true(ev.chain[0].translated);
}

TEST(links_that_are_no_errno_are_left_out)
{
	assert_chain("a0 b-14 c5 R-14", -14, "b-14 R-14");
	assert_chain("p-95 | a0 b-14 R-14", -14, "b-14 R-14");
}
