/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/qp/qp.h"

#define S UINT64_C(1000000000)

/* A host of one device and a few queue pairs, as a look finds it. */
struct look {
	struct rd_res res;
	struct rd_res_dev dev;
	struct rd_qp qps[4];
	struct rd_qp_views views; /* of each */
};

static void look_init(struct look *look)
{
	*look = (struct look){ .dev = { .name = (char *)"rxe0" } };
	look->res.devs = &look->dev;
	look->res.n_devs = 1;
	look->res.qps = look->qps;
	look->res.n_qps = RD_ARRAY_SIZE(look->qps);
	rd_qp_views_init(&look->views, &look->res);
	look->res.n_qps = 0;
}

static struct rd_qp *put(struct look *look, uint32_t lqpn, uint8_t state, uint32_t sq_psn)
{
	struct rd_qp *qp = &look->qps[look->res.n_qps++];

	*qp = (struct rd_qp){ 0 };
	RD_SET(qp->lqpn, lqpn);
	RD_SET(qp->state, state);
	RD_SET(qp->sq_psn, sq_psn);
	return qp;
}

static void look_deinit(struct look *look)
{
	rd_qp_views_deinit(&look->views);
}

static struct rd_qp_event event(enum rd_qp_what what, uint32_t lqpn, uint64_t mono_ns)
{
	struct rd_qp_event ev = { .what = what, .mono_ns = mono_ns };

	snprintf(ev.ibdev, sizeof(ev.ibdev), "rxe0");
	RD_SET(ev.lqpn, lqpn);
	return ev;
}

static struct rd_qp_event modified(uint32_t lqpn, uint8_t state, uint64_t mono_ns)
{
	struct rd_qp_event ev = event(RD_QP_MODIFIED, lqpn, mono_ns);

	RD_SET(ev.state, state);
	return ev;
}

/* A track, and what is known of the past of a queue pair after the last look. */
struct tracked {
	struct rd_qp_track *track;
	struct rd_qp_past past;
	struct rd_qp_seen seen;
};

static void begin(struct tracked *t)
{
	t->track = rd_qp_track_create();
}

static void end(struct tracked *t)
{
	rd_qp_track_destroy(t->track);
}

#define TRACK_TEST(name) TEST_BEGUN(name, struct tracked, t, begin, end)

/* One look after the other at one queue pair. */
static void slow(struct tracked *t, uint32_t lqpn, uint8_t state, uint32_t sq_psn, uint64_t began_ns, uint64_t mono_ns)
{
	_cleanup_(look_deinit) struct look look;

	look_init(&look);
	put(&look, lqpn, state, sq_psn);
	rd_qp_track_sample(t->track, &look.views, began_ns, mono_ns);
	t->past = *look.views.v[0].past;
	if (t->past.seen) {
		t->seen = *t->past.seen;
		t->past.seen = &t->seen;
	}
}

static void one(struct tracked *t, uint32_t lqpn, uint8_t state, uint32_t sq_psn, uint64_t mono_ns)
{
	slow(t, lqpn, state, sq_psn, mono_ns, mono_ns);
}

static void assert_age(const struct rd_qp_past *past, enum rd_age_kind kind, double seconds)
{
	assert_int_equal(past->age_kind, kind);
	assert_float_equal(past->age_seconds.v, seconds, 1e-9);
}

TRACK_TEST(first_look_gives_a_lower_bound)
{
	one(t, 17, RD_QPS_RTS, 100, 10 * S);
	ASSERT_EACH(IS(t->past.age_kind, RD_AGE_AT_LEAST), IS(t->past.psn_per_second.known, RD_ABSENT));
	one(t, 17, RD_QPS_RTS, 100, 15 * S);
	assert_age(&t->past, RD_AGE_AT_LEAST, 5);
	assert_int_equal(t->past.age_max_seconds.known, RD_ABSENT);
}

/* The last sample knows what any sample knows, and leaves the track as it was. */
TRACK_TEST(the_last_look_keeps_nothing)
{
	struct look look;

	look_init(&look);
	put(&look, 17, RD_QPS_RTS, 100);
	rd_qp_track_last(t->track, &look.views, 9 * S, 9 * S);
	assert_int_equal(look.views.v[0].past->age_kind, RD_AGE_AT_LEAST);
	assert_int_equal(look.views.v[0].past->age_seconds.known, RD_OK);
	look_deinit(&look);
	one(t, 17, RD_QPS_RTS, 100, 10 * S);
	assert_float_equal(t->past.age_seconds.v, 0, 1e-9);
	look_init(&look);
	put(&look, 17, RD_QPS_ERR, 100);
	rd_qp_track_last(t->track, &look.views, 12 * S, 12 * S);
	assert_int_equal(look.views.v[0].past->age_kind, RD_AGE_INTERVAL);
	look_deinit(&look);
	one(t, 17, RD_QPS_RTS, 100, 15 * S);
	assert_float_equal(t->past.age_seconds.v, 5, 1e-9);
}

TRACK_TEST(what_the_device_did_lies_between_two_looks)
{
	one(t, 17, RD_QPS_RTS, 100, 10 * S);
	one(t, 17, RD_QPS_ERR, 100, 12 * S);
	assert_int_equal(t->past.age_kind, RD_AGE_INTERVAL);
	assert_true(t->past.fresh);
	one(t, 17, RD_QPS_ERR, 100, 15 * S);
	assert_false(t->past.fresh);
	assert_float_equal(t->past.age_seconds.v, 3, 1e-9);
	assert_float_equal(t->past.age_max_seconds.v, 5, 1e-9);
}

TRACK_TEST(one_that_was_not_there_was_made_since)
{
	_cleanup_(look_deinit) struct look look;

	one(t, 17, RD_QPS_RTS, 100, 10 * S);
	look_init(&look);
	put(&look, 17, RD_QPS_RTS, 100);
	put(&look, 18, RD_QPS_INIT, 0);
	look.dev.gaps[RD_RES_QP].interrupted = true;
	rd_qp_track_sample(t->track, &look.views, 12 * S, 12 * S);
	assert_int_equal(look.views.v[1].past->age_kind, RD_AGE_INTERVAL);
	assert_float_equal(look.views.v[1].past->age_max_seconds.v, 2, 1e-9);
	/* That look may have missed some: what the next one finds may be older. */
	put(&look, 19, RD_QPS_INIT, 0);
	rd_qp_track_sample(t->track, &look.views, 14 * S, 14 * S);
	assert_int_equal(look.views.v[2].past->age_kind, RD_AGE_AT_LEAST);
}

TRACK_TEST(recorded_transitions_are_exact)
{
	struct rd_qp_event ev = event(RD_QP_CREATED, 17, 10 * S);

	rd_qp_track_event(t->track, &ev);
	ev = modified(17, RD_QPS_INIT, 11 * S);
	rd_qp_track_event(t->track, &ev);
	assert_int_equal(ev.before.v, RD_QPS_RESET);
	assert_int_equal(ev.age_kind, RD_AGE_EXACT);
	assert_float_equal(ev.age_seconds.v, 1, 1e-9);
	one(t, 17, RD_QPS_INIT, 0, 14 * S);
	assert_age(&t->past, RD_AGE_EXACT, 3);
	assert_true(t->past.moved_by_call);
}

TRACK_TEST(a_call_that_failed_moves_nothing)
{
	struct rd_qp_event ev = modified(17, RD_QPS_INIT, 10 * S);

	rd_qp_track_event(t->track, &ev);
	ev = modified(17, RD_QPS_RTR, 12 * S);
	ev.err = -ENODATA;
	rd_qp_track_event(t->track, &ev);
	one(t, 17, RD_QPS_INIT, 0, 13 * S);
	assert_int_equal(t->past.last_err, -ENODATA);
	assert_float_equal(t->past.age_seconds.v, 3, 1e-9);
}

TRACK_TEST(events_that_come_late_do_not_undo_a_look)
{
	struct rd_qp_event ev = modified(17, RD_QPS_RTR, 11 * S);

	one(t, 17, RD_QPS_RTS, 0, 12 * S);
	rd_qp_track_event(t->track, &ev);
	one(t, 17, RD_QPS_RTS, 0, 13 * S);
	assert_int_equal(t->past.age_kind, RD_AGE_AT_LEAST);
	/* The one that led to what the look saw makes it exact. */
	ev = modified(17, RD_QPS_RTS, 11 * S + S / 2);
	rd_qp_track_event(t->track, &ev);
	one(t, 17, RD_QPS_RTS, 0, 14 * S);
	assert_age(&t->past, RD_AGE_EXACT, 2.5);
}

/* A look takes its time, and so does a call: the look may have seen a state before the call for it had returned, and the state
 * before although the call had returned when the look was over. */
TRACK_TEST(a_call_during_a_look_is_what_moved_it)
{
	struct rd_qp_event ev = modified(17, RD_QPS_ERR, 12 * S + S / 2);

	slow(t, 17, RD_QPS_RTS, 0, 12 * S, 13 * S);
	rd_qp_track_event(t->track, &ev);
	one(t, 17, RD_QPS_ERR, 0, 14 * S);
	assert_true(t->past.moved_by_call);
	assert_age(&t->past, RD_AGE_EXACT, 1.5);

	one(t, 18, RD_QPS_RTS, 0, 15 * S);
	slow(t, 18, RD_QPS_ERR, 0, 16 * S, 17 * S);
	assert_false(t->past.moved_by_call);
	ev = modified(18, RD_QPS_ERR, 18 * S);
	ev.duration_ns = 3 * S / 2;
	rd_qp_track_event(t->track, &ev);
	one(t, 18, RD_QPS_ERR, 0, 20 * S);
	assert_true(t->past.moved_by_call);
	assert_age(&t->past, RD_AGE_EXACT, 2);
}

TRACK_TEST(a_number_that_comes_back_is_another_queue_pair)
{
	struct rd_qp_event ev = modified(17, RD_QPS_ERR, 10 * S);

	ev.seen.has_dgid = true;
	rd_qp_track_event(t->track, &ev);
	ev = event(RD_QP_DESTROYED, 17, 11 * S);
	rd_qp_track_event(t->track, &ev);
	assert_int_equal(ev.before.v, RD_QPS_ERR);
	ev = event(RD_QP_CREATED, 17, 12 * S);
	rd_qp_track_event(t->track, &ev);
	assert_int_equal(ev.before.known, RD_ABSENT);
	one(t, 17, RD_QPS_RESET, 0, 13 * S);
	assert_age(&t->past, RD_AGE_EXACT, 1);
	assert_false(t->past.seen && t->past.seen->has_dgid);
}

TRACK_TEST(packet_numbers_have_24_bits)
{
	one(t, 17, RD_QPS_RTS, 0xfffff0, 10 * S);
	one(t, 17, RD_QPS_RTS, 0x10, 12 * S);
	assert_float_equal(t->past.psn_per_second.v, 16, 1e-9);
	assert_false(t->past.psn_fell);
	assert_int_equal(t->past.best_per_second.known, RD_ABSENT);
	/* Back: sent again, not sixteen million packets. */
	one(t, 17, RD_QPS_RTS, 0x0c, 14 * S);
	assert_float_equal(t->past.psn_per_second.v, 0, 1e-9);
	assert_true(t->past.psn_fell);
	assert_float_equal(t->past.best_per_second.v, 16, 1e-9);
	one(t, 17, RD_QPS_RTS, 0x0c, 16 * S);
	assert_false(t->past.psn_fell);
	/* Of this connection, not of one before. */
	one(t, 17, RD_QPS_RTR, 0x10, 16 * S);
	one(t, 17, RD_QPS_RTS, 0x20, 18 * S);
	assert_int_equal(t->past.best_per_second.known, RD_ABSENT);
}

/* The one queue pair of a look, with what tells it from another of its number. */
static struct rd_qp_past owned(struct rd_qp_track *track, uint32_t index, uint32_t pid, uint32_t pdn, uint32_t rqpn,
			       uint64_t mono_ns)
{
	struct look look;
	struct rd_qp *qp;
	struct rd_qp_past past;

	look_init(&look);
	look.dev.index = index;
	qp = put(&look, 17, RD_QPS_RTS, 100);
	RD_SET(qp->owner.pid, pid);
	RD_SET(qp->pdn, pdn);
	RD_SET(qp->rqpn, rqpn);
	rd_qp_track_sample(track, &look.views, mono_ns, mono_ns);
	past = *look.views.v[0].past;
	look_deinit(&look);
	return past;
}

TEST(a_number_used_again_between_looks_has_a_new_age)
{
	static const struct {
		uint32_t index, pid, pdn, rqpn;
	} others[] = { { 0, 812, 5, 20 }, { 0, 4711, 6, 20 }, { 1, 4711, 5, 20 }, { 0, 4711, 5, 21 } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(others); i++) {
		_cleanup_(end) struct tracked t;
		struct rd_qp_past past;

		begin(&t);
		owned(t.track, 0, 4711, 5, 20, 10 * S);
		past = owned(t.track, 0, 4711, 5, 20, 100 * S);
		assert_age(&past, RD_AGE_AT_LEAST, 90);
		past = owned(t.track, others[i].index, others[i].pid, others[i].pdn, others[i].rqpn, 102 * S);
		assert_int_equal(past.age_kind, RD_AGE_INTERVAL);
		assert_float_equal(past.age_max_seconds.v, 2, 1e-9);
		assert_true(past.fresh);
	}
}

/* At 400 Gbit/s numbers go round in a second and a half: half of that is no step back, and no rest. */
TRACK_TEST(a_fast_one_is_not_taken_to_stand_still)
{
	one(t, 17, RD_QPS_RTS, 100, 10 * S);
	one(t, 17, RD_QPS_RTS, 100 + 12000000, 11 * S);
	assert_float_equal(t->past.psn_per_second.v, 12e6, 1);
}

/* What was retransmitted after the last packet is kept until there is another one, or another state. */
TRACK_TEST(retransmissions_are_kept_until_a_packet)
{
	static const struct {
		uint32_t psn;
		uint8_t state;
		uint32_t found, kept; /* by the verdict of this look, and of those before it */
	} looks[] = {
		{ 100, RD_QPS_RTS, 0, 0 }, { 100, RD_QPS_RTS, 1, 0 }, { 100, RD_QPS_RTS, 0, 1 },
		{ 100, RD_QPS_RTS, 3, 1 }, { 100, RD_QPS_RTS, 0, 3 }, { 101, RD_QPS_RTS, 2, 0 },
		{ 101, RD_QPS_RTS, 0, 2 }, { 101, RD_QPS_SQD, 0, 0 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(looks); i++) {
		struct rd_qp_verdict verdict = { .retried = looks[i].found };
		struct look look;

		look_init(&look);
		put(&look, 7, looks[i].state, looks[i].psn);
		rd_qp_track_sample(t->track, &look.views, i * S, i * S);
		assert_int_equal(look.views.v[0].past->retried, looks[i].kept);
		if (looks[i].kept == 3)
			assert_float_equal(look.views.v[0].past->retried_seconds.v, 1.0, 0.01);
		rd_qp_views_set_verdict(&look.views, 0, &verdict);
		rd_qp_track_keep(t->track, &look.views);
		look_deinit(&look);
	}
}

TRACK_TEST(thousands_are_kept_apart)
{
	for (uint32_t n = 1; n <= 10000; n++) {
		struct rd_qp_event ev = modified(n, RD_QPS_INIT, n * S);

		rd_qp_track_event(t->track, &ev);
	}
	one(t, 7777, RD_QPS_INIT, 0, 20000 * S);
	assert_float_equal(t->past.age_seconds.v, 20000 - 7777, 1e-6);
}

/* Those that are no longer there, also where another one has their number. */
TRACK_TEST(what_is_gone_is_counted)
{
	struct look look;

	look_init(&look);
	put(&look, 1, RD_QPS_RTS, 0);
	put(&look, 2, RD_QPS_RTS, 0);
	RD_SET(put(&look, 3, RD_QPS_RTS, 0)->owner.pid, 10);
	rd_qp_track_sample(t->track, &look.views, 0, S);
	assert_int_equal(look.views.gone[0], 0);
	look_deinit(&look);

	look_init(&look);
	put(&look, 1, RD_QPS_RTS, 0);
	RD_SET(put(&look, 3, RD_QPS_RTS, 0)->owner.pid, 11);
	rd_qp_track_sample(t->track, &look.views, S, 2 * S);
	assert_int_equal(look.views.gone[0], 2);
	rd_qp_track_sample(t->track, &look.views, 2 * S, 3 * S);
	assert_int_equal(look.views.gone[0], 0);
	look_deinit(&look);
}
