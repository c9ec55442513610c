/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/rdma/rdma.h"
#include "qp-attrs.h"

#include <linux/types.h>

#include "bpf/qp.h"
#include "fake-host.h"
#include "render/render.h"
#include "report/qp/report-qp.h"

static struct fake_host host;

static int setup(void **state)
{
	host = fake_host_make();
	return 0;
}

static int teardown(void **state)
{
	fake_host_deinit(&host);
	return 0;
}

/* INIT to RTR on RoCE, as modify_qp has it. */
static struct rd_qp_rec to_rtr(void)
{
	struct rd_qp_rec rec = { .time = 1000,
				 .duration = 38000,
				 .role = RD_QP_ROLE_MODIFY,
				 .pid = 812,
				 .tid = 813,
				 .qpn = 17,
				 .qp_type = 2,
				 .mask = 0x1f81,
				 .comm = "trainer",
				 .ibdev = "mlx5_0",
				 .dgid = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 } };

	rec.known = RD_QP_HAS_QPN | RD_QP_HAS_TYPE | RD_QP_HAS_DGID | RD_QP_HAS_DLID;
	SET_ATTRS(&rec, &rec.known, { RD_QPA_STATE, 2 }, { RD_QPA_PATH_MTU, 3 }, { RD_QPA_DEST_QPN, 18 },
		  { RD_QPA_RQ_PSN, 0x1000065 }, { RD_QPA_AH_TYPE, 2 }, { RD_QPA_FLOW_LABEL, 5 },
		  { RD_QPA_SGID_INDEX, 3 }, { RD_QPA_HOP_LIMIT, 64 });
	return rec;
}

static int decode(const void *data, size_t size, struct rd_qp_event *ev)
{
	struct rd_err err = { 0 };

	return rd_qp_event_decode(host.source, NULL, data, size, ev, &err);
}

TEST(a_transition_says_what_it_set)
{
	struct rd_qp_rec rec = to_rtr();
	_cleanup_(rd_qp_event_deinit) struct rd_qp_event ev;

	assert_int_equal(decode(&rec, sizeof(rec), &ev), 0);
	ASSERT_EACH(IS(ev.what, RD_QP_MODIFIED), IS(ev.state.v, RD_QPS_RTR), IS(ev.seen.path_mtu.v, 1024));
	assert_int_equal(ev.rq_psn.v, 0x65); /* 24 bits count */
	assert_true(ev.seen.has_dgid);
	assert_int_equal(ev.dlid.known, RD_ABSENT); /* of RoCE that is no LID */
	assert_int_equal(ev.seen.timeout.known, RD_ABSENT);
}

TEST(a_path_within_a_subnet_has_no_gid)
{
	struct rd_qp_rec rec = to_rtr();
	_cleanup_(rd_qp_event_deinit) struct rd_qp_event ev;

	SET_ATTRS(&rec, &rec.known, { RD_QPA_AH_TYPE, 1 }, { RD_QPA_AH_FLAGS, 0 });
	rec.dlid = 7;
	assert_int_equal(decode(&rec, sizeof(rec), &ev), 0);
	assert_int_equal(ev.dlid.v, 7);
	assert_false(ev.seen.has_dgid);
	assert_int_equal(ev.seen.flow_label.known, RD_ABSENT);
}

TEST(what_makes_no_sense_is_refused_or_unknown)
{
	struct rd_qp_rec rec = to_rtr();
	_cleanup_(rd_qp_event_deinit) struct rd_qp_event ev;

	assert_int_equal(decode(&rec, sizeof(rec) - 1, &ev), -EBADMSG);
	rec.role = RD_QP_ROLE_COUNT;
	assert_int_equal(decode(&rec, sizeof(rec), &ev), -EBADMSG);
	rec = to_rtr();
	rec.ret = -5000;
	assert_int_equal(decode(&rec, sizeof(rec), &ev), -EBADMSG);
	rec = to_rtr();
	SET_ATTRS(&rec, &rec.known, { RD_QPA_STATE, 99 }, { RD_QPA_PATH_MTU, 40 });
	memset(rec.comm, 'x', sizeof(rec.comm));
	memset(rec.ibdev, 'y', sizeof(rec.ibdev));
	assert_int_equal(decode(&rec, sizeof(rec), &ev), 0);
	ASSERT_EACH(IS(ev.state.known, RD_ABSENT), IS(ev.seen.path_mtu.known, RD_ABSENT),
		    IS(strlen(ev.comm), sizeof(ev.comm) - 1), IS(strlen(ev.ibdev), sizeof(ev.ibdev) - 1));
}

static void says(const struct rd_qp_event *ev, const char *words)
{
	struct rd_section *section = rd_report_qp_event(ev);
	_cleanup_buf_ struct rd_buf out = { 0 };

	assert_non_null(section);
	rd_render_qp_event(section, 0, false, &out);
	if (!strstr(out.data, words))
		fail_msg("\"%s\" is not in \"%s\"", words, out.data);
	assert_null(strchr(out.data, '\033'));
	rd_section_destroy(section);
}

TEST(events_read_as_sentences)
{
	struct rd_qp_rec rec = to_rtr();
	_cleanup_(rd_qp_event_deinit) struct rd_qp_event ev;

	memcpy(rec.comm, "a\033[31mb", 8);
	assert_int_equal(decode(&rec, sizeof(rec), &ev), 0);
	RD_SET(ev.before, RD_QPS_INIT);
	says(&ev, "mlx5_0 qpn 17 RC: INIT -> RTR in 38 us");
	says(&ev, "    mtu 1024  rqpn 18  peer 0000:0000:0000:0000:0000:ffff:0a00:0002");
	ev.err = -ENODATA;
	says(&ev, "INIT -> RTR failed: ENODATA");
	ev.what = RD_QP_DESTROYED;
	ev.age_kind = RD_AGE_AT_LEAST;
	RD_SET(ev.age_seconds, 12.3);
	says(&ev, "destroyed, was INIT for at least 12.3 s");
	ev.what = RD_QP_ASYNC;
	RD_SET(ev.code, 3);
	says(&ev, "event QP_ACCESS_ERR");
	RD_SET(ev.code, 4711);
	says(&ev, "event 4711");
}

int main(void)
{
	return unit_run(setup, teardown);
}
