/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a running recorder keeps: its map, decoded and joined with the list of the kernel. */
#include "unit.h"

#include "analyse/qp/qp.h"
#include "collect/rdma/rdma.h"
#include "qp-attrs.h"
#include "source/redact/redact.h"

#include <linux/types.h>

#include "bpf/qp.h"

#define S UINT64_C(1000000000)
#define DEV 7

static const uint8_t peer[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };

/* A host with two queue pairs, and the bytes of maps. */
struct scene {
	struct rd_res res;
	struct rd_qp_views views;
	struct rd_buf maps;
	struct rd_errlist errors;
};

static struct rd_qp *put(struct scene *scene, uint32_t lqpn, uint8_t state, uint32_t rqpn, uint32_t pid)
{
	struct rd_qp *qp = &scene->res.qps[scene->res.n_qps++];

	RD_SET(qp->lqpn, lqpn);
	RD_SET(qp->state, state);
	RD_SET(qp->type, RD_QPT_RC);
	RD_SET(qp->rqpn, rqpn);
	RD_SET(qp->owner.pid, pid);
	return qp;
}

static void begin(struct scene *scene)
{
	*scene = (struct scene){ 0 };
	scene->res.devs = calloc(2, sizeof(*scene->res.devs));
	scene->res.n_devs = 2;
	scene->res.devs[0].index = DEV;
	RD_SET(scene->res.devs[0].driver_id, RD_DRIVER_MLX5);
	scene->res.devs[1].index = DEV - 1;
	scene->res.qps = calloc(4, sizeof(*scene->res.qps));
	put(scene, 17, RD_QPS_RTS, 18, 812);
	put(scene, 19, RD_QPS_RTS, 20, 812);
}

static void end(struct scene *scene)
{
	rd_qp_views_deinit(&scene->views);
	rd_res_deinit(&scene->res);
	rd_errlist_deinit(&scene->errors);
	rd_buf_deinit(&scene->maps);
}

/* A queue pair whose calls up to RTS were recorded, the last one 100 s after the boot. */
static struct rd_qp_value connected(uint32_t qpn, uint32_t rqpn)
{
	struct rd_qp_value value = { .version = RD_QP_MAP_VERSION,
				     .qpn = qpn,
				     .time = 100 * S,
				     .updated = 100 * S,
				     .known = RD_QP_HAS_TYPE | RD_QP_HAS_DGID | RD_QP_ENTERED,
				     .pid = 812,
				     .qp_type = RD_QPT_RC };

	memcpy(value.dgid, peer, sizeof(peer));
	SET_ATTRS(&value, &value.known, { RD_QPA_STATE, RD_QPS_RTS }, { RD_QPA_DEST_QPN, rqpn }, { RD_QPA_AH_TYPE, 2 },
		  { RD_QPA_FLOW_LABEL, 5 }, { RD_QPA_TIMEOUT, 14 }, { RD_QPA_RETRY_CNT, 7 });
	return value;
}

static void add_map(struct scene *scene, uint32_t version, const struct rd_qp_value *values, uint32_t n)
{
	struct rd_source_map map = { .id = 3,
				     .key_size = sizeof(struct rd_qp_key),
				     .value_size = sizeof(struct rd_qp_value),
				     .entries = n + (version != 0) };
	const struct rd_qp_key head = { RD_QP_KEY_HEAD, RD_QP_KEY_HEAD };
	const struct rd_qp_value of_head = { .version = version, .time = S };

	rd_buf_add(&scene->maps, &map, sizeof(map));
	for (uint32_t i = 0; i < n; i++) {
		const struct rd_qp_key key = { DEV, values[i].qpn };

		rd_buf_add(&scene->maps, &key, sizeof(key));
		rd_buf_add(&scene->maps, &values[i], sizeof(values[i]));
	}
	if (version) {
		rd_buf_add(&scene->maps, &head, sizeof(head));
		rd_buf_add(&scene->maps, &of_head, sizeof(of_head));
	}
}

/* The past of the first queue pair, 250 s after the boot. */
static const struct rd_qp_past *look(struct scene *scene)
{
	const struct rd_bytes bytes = { (uint8_t *)scene->maps.data, scene->maps.len };

	rd_qp_recorded_take(&bytes, &scene->res, &scene->errors);
	rd_qp_views_init(&scene->views, &scene->res);
	rd_qp_apply_recorded(&scene->views, 250 * S);
	return scene->views.v[0].past;
}

#define SCENE_TEST(name) TEST_BEGUN(name, struct scene, scene, begin, end)

SCENE_TEST(peer_timers_and_age_are_known)
{
	struct rd_qp_value value = connected(17, 18);
	const struct rd_qp_past *past;

	value.err = -ETIMEDOUT;
	add_map(scene, RD_QP_MAP_VERSION, &value, 1);
	past = look(scene);
	assert_non_null(past->seen);
	assert_memory_equal(rd_qp_peer_gid(&scene->views.v[0]), peer, 16);
	assert_int_equal(rd_qp_peer_source(&scene->res, &scene->views.v[0]), RD_PEER_RECORDER);
	assert_int_equal(past->seen->timeout.v, 14);
	ASSERT_EACH(IS(past->seen->retry_cnt.v, 7), IS(past->seen->rnr_retry.known, RD_ABSENT));
	assert_int_equal(past->seen->udp_sport.v, rd_udp_sport(5, 17, 18));
	assert_int_equal(past->age_kind, RD_AGE_EXACT);
	assert_float_equal(past->age_seconds.v, 150, 1e-6);
	assert_true(past->moved_by_call);
	assert_int_equal(past->last_err, -ETIMEDOUT);
	assert_null(scene->views.v[1].past->seen);
	assert_int_equal(scene->views.v[1].past->age_kind, RD_AGE_UNKNOWN);
	assert_int_equal(scene->errors.n, 0);
}

/* An entry of an earlier queue pair with this number, or one whose calls were not all recorded. */
TEST(what_contradicts_the_list_is_not_used)
{
	static const struct {
		uint32_t pid, type, rqpn, qp_state;
	} others[] = { { 813, RD_QPT_RC, 0, RD_QPS_RTS },
		       { 812, RD_QPT_UD, 18, RD_QPS_RTS },
		       { 812, RD_QPT_RC, 19, RD_QPS_RTS },
		       { 812, RD_QPT_RC, 18, RD_QPS_RTR } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(others); i++) {
		struct rd_qp_value value = connected(17, others[i].rqpn);
		struct scene scene;

		begin(&scene);
		value.pid = others[i].pid;
		if (!others[i].rqpn)
			value.known &= ~(1ull << RD_QPA_DEST_QPN);
		value.qp_type = others[i].type;
		value.wide[RD_QPA_STATE] = others[i].qp_state;
		add_map(&scene, RD_QP_MAP_VERSION, &value, 1);
		assert_null(look(&scene)->seen);
		assert_int_equal(scene.views.v[0].past->age_kind, RD_AGE_UNKNOWN);
		end(&scene);
	}
}

/* The kernel names a thread, the recorder the process. */
SCENE_TEST(created_by_a_thread)
{
	struct rd_qp_value value = connected(17, 18);

	scene->res.qps[0].owner.pid.v = 815;
	add_map(scene, RD_QP_MAP_VERSION, &value, 1);
	assert_true(look(scene)->seen->has_dgid);
}

/* A device moves queue pairs to ERR without a call: the peer remains known, the age only by an event. */
TEST(failed_without_a_call)
{
	struct rd_qp_value value = connected(17, 18);
	const struct rd_qp_past *past;
	struct scene scene;

	begin(&scene);
	scene.res.qps[0].state.v = RD_QPS_ERR;
	add_map(&scene, RD_QP_MAP_VERSION, &value, 1);
	past = look(&scene);
	assert_true(past->seen && past->seen->has_dgid);
	assert_int_equal(past->age_kind, RD_AGE_UNKNOWN);
	end(&scene);

	begin(&scene);
	scene.res.qps[0].state.v = RD_QPS_ERR;
	value.event = 1; /* QP_FATAL */
	value.event_time = value.updated = 240 * S;
	add_map(&scene, RD_QP_MAP_VERSION, &value, 1);
	past = look(&scene);
	assert_int_equal(past->age_kind, RD_AGE_EXACT);
	assert_float_equal(past->age_seconds.v, 10, 1e-6);
	assert_false(past->moved_by_call);
	assert_int_equal(past->last_event.v, 1);
	end(&scene);
}

/* The state was set by a call, but it may have been in it before. */
SCENE_TEST(entered_before_the_recorder)
{
	struct rd_qp_value value = connected(17, 18);

	value.known &= ~RD_QP_ENTERED;
	add_map(scene, RD_QP_MAP_VERSION, &value, 1);
	assert_int_equal(look(scene)->age_kind, RD_AGE_UNKNOWN);
	assert_non_null(scene->views.v[0].past->seen);
}

/* The recorder that saw more knows the peer; the other one began later. */
SCENE_TEST(of_two_recorders_the_one_that_knows_more)
{
	struct rd_qp_value early = connected(17, 18), late = connected(17, 18);

	late.known &= ~(RD_QP_HAS_DGID | 1ull << RD_QPA_TIMEOUT);
	late.updated++;
	add_map(scene, RD_QP_MAP_VERSION, &late, 1);
	add_map(scene, RD_QP_MAP_VERSION, &early, 1);
	assert_true(look(scene)->seen->has_dgid);
}

/* Its programs are switched off, or it has another layout. */
TEST(a_recorder_that_ends_or_is_another_is_not_used)
{
	struct rd_qp_value value = connected(17, 18);
	struct rd_source_map other = { .key_size = 4, .value_size = 8, .entries = 0 };
	struct scene scene;

	begin(&scene);
	add_map(&scene, 0, &value, 1);
	assert_null(look(&scene)->seen);
	assert_int_equal(scene.errors.n, 0);
	end(&scene);

	begin(&scene);
	add_map(&scene, RD_QP_MAP_VERSION + 1, &value, 1);
	assert_null(look(&scene)->seen);
	assert_int_equal(scene.errors.n, 1);
	assert_int_equal(scene.errors.v[0].code, ENOTSUP);
	end(&scene);

	begin(&scene);
	rd_buf_add(&scene.maps, &other, sizeof(other));
	add_map(&scene, RD_QP_MAP_VERSION, &value, 1);
	assert_non_null(look(&scene)->seen);
	assert_int_equal(scene.errors.n, 1);
	end(&scene);
}

TEST(hostile_bytes)
{
	struct rd_qp_value values[] = { connected(17, 18), connected(0x1000011, 18), connected(19, 20) };
	struct scene scene;

	begin(&scene);
	values[2].err = 1;
	add_map(&scene, RD_QP_MAP_VERSION, values, 3);
	assert_non_null(look(&scene)->seen);
	assert_int_equal(scene.res.n_recorded, 1);
	assert_int_equal(scene.errors.n, 1);
	assert_int_equal(scene.errors.v[0].code, EBADMSG);
	end(&scene);

	/* Cut off anywhere, and with a count beyond its end. */
	for (size_t size = 0; size < sizeof(struct rd_source_map) + 300; size++) {
		begin(&scene);
		add_map(&scene, RD_QP_MAP_VERSION, values, 3);
		scene.maps.len = size;
		assert_null(look(&scene)->seen);
		assert_true(size == 0 || scene.errors.n == 1);
		end(&scene);
	}
	begin(&scene);
	add_map(&scene, RD_QP_MAP_VERSION, values, 1);
	memset(scene.maps.data + offsetof(struct rd_source_map, entries), 0xff, 4);
	assert_null(look(&scene)->seen);
	assert_int_equal(scene.errors.n, 1);
	end(&scene);
}

SCENE_TEST(peers_are_redacted)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { .key = { { 1, 2 } } };
	struct rd_qp_value value = connected(17, 18);
	struct rd_buf out = { 0 };

	add_map(scene, RD_QP_MAP_VERSION, &value, 1);
	rd_redact_qps(&redact, (uint8_t *)scene->maps.data, scene->maps.len, false, &out);
	assert_int_equal(out.len, scene->maps.len);
	assert_null(memmem(out.data, out.len, peer, sizeof(peer)));
	rd_buf_deinit(&scene->maps);
	scene->maps = out;
	assert_true(look(scene)->seen->has_dgid);
	assert_int_equal(scene->views.v[0].past->seen->timeout.v, 14);
}
