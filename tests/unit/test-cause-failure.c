// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

/* --- explain.c --- */

FAILURE_TEST(each_errno_needs_its_facts)
{
	made_failure(m, "ibv_reg_mr", EMFILE, MADE_UVERBS, "ib_uverbs_reg_mr");
	/* Any errno may be that of the firmware. */
	assert_int_equal(rd_explain_needs(&m->f), RD_FACT_LOG | RD_FACT_DEVICE);
	made_errno(m, EAGAIN);
	assert_int_equal(rd_explain_needs(&m->f), RD_FACT_LOG | RD_FACT_DEVICE | RD_FACT_CGROUP);
	made_errno(m, EFAULT);
	assert_int_equal(rd_explain_needs(&m->f), RD_FACT_LOG | RD_FACT_DEVICE | RD_FACT_MEMORY);
	made_errno(m, EADDRINUSE);
	assert_int_equal(rd_explain_needs(&m->f),
			 RD_FACT_LOG | RD_FACT_DEVICE | RD_FACT_NET | RD_FACT_PATH | RD_FACT_CM_IDS);
}

/* A limit that the driver does not decide alone, and a port that does not exist. */
FAILURE_TEST(the_most_certain_cause_wins)
{
	made_failure(m, "ibv_modify_qp", EINVAL, MADE_UVERBS, "modify_qp");
	MADE_FIELDS(m, { RD_REQ_MASK, 1 | 32 | 512 | 1024 }, { RD_REQ_TIMEOUT, 40 }, { RD_REQ_RETRY_CNT, 9 },
		    { RD_REQ_STATE, 1 });
	ASSERT_CAUSE(made_field(m, RD_REQ_PORT, 1), "attribute-value", MEDIUM, "timeout is 40", "is 9");
	/* That comes before it. */
	made_handle(m, RD_REQ_H_QP, 5)->found = false;
	ASSERT_CAUSE(m, "handle-stale", MEDIUM, "handle 5");
	/* After two others. */
	ASSERT_CAUSE(made_field(m, RD_REQ_PORT, 9), "port-number", HIGH, "is 9");
}

FAILURE_TEST(of_two_certain_causes_the_first_wins)
{
	made_failure(m, "ibv_modify_qp", EINVAL, MADE_UVERBS, "modify_qp");
	MADE_FIELDS(m, { RD_REQ_MASK, 1 | 32 }, { RD_REQ_PORT, 9 });
	ASSERT_CAUSE(made_field(m, RD_REQ_STATE, 12), "port-number", HIGH, "is 9");
	ASSERT_CAUSE(made_field(m, RD_REQ_PORT, 1), "attribute-value", HIGH, "is 12");
}

FAILURE_TEST(without_its_facts_a_rule_is_left_out)
{
	made_failure(m, "ibv_modify_qp", EINVAL, MADE_UVERBS, "modify_qp");
	made_field(m, RD_REQ_MASK, 1 | 32);
	ASSERT_CAUSE(made_field(m, RD_REQ_PORT, 9), "port-number", HIGH, "is 9");
	m->f.read &= ~(unsigned)RD_FACT_DEVICE;
	ASSERT_UNKNOWN(m, "not read: the limits of mlx5_0", ": dmesg | tail");
	assert_int_equal(m->why.n_evidence, 1);
	ASSERT_UNKNOWN(made_attr(m, "max_sge", 30), "no known reason for this errno of ibv_modify_qp holds",
		       ": dmesg | tail");
	m->event.request.readable = false;
	ASSERT_UNKNOWN(m, "not read: the request of the call");
}

FAILURE_TEST(without_a_cause_it_says_what_was_looked_at)
{
	char *line;

	made_failure(m, "ibv_create_qp", ENOMEM, MADE_DRIVER, "mlx5_ib_create_qp");
	made_field(m, RD_REQ_SEND_WR, 16);
	ASSERT_UNKNOWN(made_attr(m, "max_qp_wr", 32768), "all sizes of the request are within the limits of mlx5_0",
		       "the kernel logged nothing", "no control group of the process limits its memory");
	assert_int_equal(m->why.n_evidence, 4);
	line = rd_explain_line(&m->why);
	assert_string_equal(line,
			    "cannot tell; looked at: all sizes of the request are within the limits of mlx5_0; the "
			    "kernel logged nothing since two seconds before the call; no control group of the process "
			    "limits its memory; not looked at: conditions of the driver; check: dmesg | tail -n 50");
	free(line);
	/* With a cause it is left out. */
	ASSERT_CAUSE(made_field(m, RD_REQ_SEND_WR, 40000), "limit-exceeded", MEDIUM, "40000");
	assert_null(strstr(m->said, "kernel logged"));
}

TEST(an_explanation_on_one_line)
{
	_cleanup_(rd_explanation_deinit) struct rd_explanation e = { 0 };
	char *line;

	assert_null(rd_explain_line(&e));
	rd_explain_fix(&e, "dmesg");
	line = rd_explain_line(&e);
	assert_string_equal(line, "cannot tell; check: dmesg");
	free(line);
	rd_explain(&e, "some-cause", RD_CONFIDENCE_LOW, "%d of %d", 3, 2);
	rd_explain_fact(&e, "not on the line");
	line = rd_explain_line(&e);
	assert_string_equal(line, "3 of 2");
	free(line);
	rd_explain_fix(&e, "dmesg\n# use less");
	line = rd_explain_line(&e);
	assert_string_equal(line, "3 of 2: dmesg; use less");
	free(line);
}

/* --- handles --- */

FAILURE_TEST(handles_that_do_not_exist)
{
	struct rd_moment_handle *h;

	made_failure(m, "ibv_destroy_qp", ENOENT, MADE_CORE, "lookup_get_idr_uobject");
	h = made_handle(m, RD_REQ_H_QP, 17);
	ASSERT_UNKNOWN(m, "all objects that the request names exist");
	h->found = false;
	ASSERT_CAUSE(m, "handle-stale", HIGH, "queue pair with handle 17", "ibv_destroy_qp names handle 17");
	m->module.name = (char *)"ib_uverbs_support"; /* Linux 7 */
	ASSERT_CAUSE(m, "handle-stale", HIGH, "handle 17");
	ASSERT_CAUSE(made_errno(m, EINVAL), "handle-stale", MEDIUM, "handle 17");
	h->looked_up = false;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(handles_of_other_objects)
{
	struct rd_moment_handle *h;

	made_failure(m, "ibv_reg_mr", EINVAL, MADE_UVERBS, "ib_uverbs_reg_mr");
	h = made_handle(m, RD_REQ_H_PD, 4);
	ASSERT_UNKNOWN(m, "all objects");
	h->type = RD_OBJ_CQ;
	ASSERT_CAUSE(m, "handle-type", HIGH, "handle 4 is a completion queue, and not a protection domain");
	ASSERT_UNKNOWN(made_errno(m, ENOENT), "all objects");
}

/* Often they are 0, which is the handle of something else. */
FAILURE_TEST(handles_that_the_kernel_does_not_look_at)
{
	static const struct {
		uint64_t type;
		enum rd_req_field field;
	} unused[] = { { RD_QPT_XRC_INI, RD_REQ_H_RECV_CQ }, { RD_QPT_XRC_INI, RD_REQ_H_SRQ },
		       { RD_QPT_XRC_TGT, RD_REQ_H_CQ },	     { RD_QPT_XRC_TGT, RD_REQ_H_PD },
		       { RD_QPT_XRC_TGT, RD_REQ_H_SRQ },     { RD_QPT_RC, RD_REQ_H_SRQ } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(unused); i++) {
		made_failure(m, "ibv_create_qp", EINVAL, MADE_UVERBS, "uverbs_get_uobject_from_file");
		MADE_FIELDS(m, { RD_REQ_QP_TYPE, unused[i].type }, { RD_REQ_IS_SRQ, 0 }, { RD_REQ_SEND_WR, 16 });
		made_handle(m, unused[i].field, 2)->type = RD_OBJ_AH;
		ASSERT_NOTHING(m);
		made_field(m, RD_REQ_QP_TYPE, RD_QPT_RC);
		ASSERT_CAUSE(made_field(m, RD_REQ_IS_SRQ, 1), "handle-type", HIGH, "handle 2 is an address handle");
	}
	/* Of a table of work queues. */
	made_failure(m, "ibv_create_qp_ex", EINVAL, MADE_UVERBS, "create_qp");
	made_field(m, RD_REQ_QP_TYPE, RD_QPT_RAW_PACKET);
	made_handle(m, RD_REQ_H_CQ, 0)->type = RD_OBJ_PD;
	ASSERT_NOTHING(m);
	ASSERT_CAUSE(made_field(m, RD_REQ_RECV_WR, 1), "handle-type", HIGH, "handle 0 is a protection domain");
}

FAILURE_TEST(handles_of_shared_queues_and_changed_regions_that_are_not_looked_at)
{
	made_failure(m, "ibv_create_srq_ex", EINVAL, MADE_UVERBS, "__uverbs_create_xsrq");
	made_field(m, RD_REQ_SRQ_TYPE, 2);
	made_handle(m, RD_REQ_H_XRCD, 0)->type = RD_OBJ_PD;
	ASSERT_NOTHING(m);
	ASSERT_CAUSE(made_field(m, RD_REQ_SRQ_TYPE, 1), "handle-type", HIGH, "and not an XRC domain");
	m->event.moment.handles[0].type = RD_OBJ_XRCD;
	made_handle(m, RD_REQ_H_CQ, 1)->type = RD_OBJ_PD;
	ASSERT_CAUSE(m, "handle-type", HIGH, "and not a completion queue");
	/* The driver was called after all of them were looked up. */
	made_assert_not(made_module(m, MADE_DRIVER), "handle-type");
	made_module(m, MADE_UVERBS);
	ASSERT_NOTHING(made_field(m, RD_REQ_SRQ_TYPE, 0));
	made_failure(m, "ibv_rereg_mr", ENOENT, MADE_CORE, "lookup_get_idr_uobject");
	made_field(m, RD_REQ_REREG, 4);
	made_handle(m, RD_REQ_H_PD, 0)->found = false;
	ASSERT_NOTHING(m);
	ASSERT_CAUSE(made_field(m, RD_REQ_REREG, 2), "handle-stale", HIGH, "protection domain with handle 0");
}

FAILURE_TEST(descriptors_that_are_closed_or_of_something_else)
{
	made_failure(m, "ibv_reg_dmabuf_mr", EBADF, MADE_UVERBS, "ib_umem_dmabuf_get");
	ASSERT_CAUSE(made_field(m, RD_REQ_FD, 33), "descriptor-invalid", HIGH, "33 is not open, or not a DMA-BUF");
	m->event.moment.fd_known = RD_ABSENT;
	ASSERT_CAUSE(m, "descriptor-invalid", HIGH, "file descriptor 33 is not open", "names file descriptor 33");
	/* That is not the errno of a closed one. */
	ASSERT_NOTHING(made_errno(m, EINVAL));
	m->event.moment.fd_known = RD_OK;
	strcpy(m->event.moment.fd_name, "weights.bin");
	ASSERT_CAUSE(m, "descriptor-invalid", HIGH, "33 is not a DMA-BUF", "'weights.bin'");
	/* The core looks at the other values first. */
	ASSERT_NOTHING(made_function(m, "ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR"));
	made_function(m, "ib_umem_dmabuf_get");
	strcpy(m->event.moment.fd_name, "dmabuf");
	ASSERT_UNKNOWN(m, "file descriptor 33 is a DMA-BUF");
	m->event.moment.fd_known = RD_DENIED;
	ASSERT_NOTHING(m);
	/* A queue without a channel. */
	made_verb(m, "ibv_create_cq");
	m->event.moment.fd_known = RD_ABSENT;
	ASSERT_NOTHING(m);
	ASSERT_CAUSE(made_errno(m, EBADF), "descriptor-invalid", HIGH, "33 is not open");
	made_errno(m, EINVAL);
	ASSERT_NOTHING(made_field(m, RD_REQ_FD, UINT32_MAX));
	made_verb(m, "rdma_migrate_id");
	made_errno(m, ENOENT);
	ASSERT_CAUSE(made_field(m, RD_REQ_FD, 33), "descriptor-invalid", HIGH, "33 is not open");
	made_errno(m, EINVAL);
	m->event.moment.fd_known = RD_OK;
	ASSERT_CAUSE(m, "descriptor-invalid", HIGH, "33 is not an event channel of rdma_cm");
}

FAILURE_TEST(all_descriptors_are_in_use)
{
	made_failure(m, "ibv_create_comp_channel", EMFILE, MADE_UVERBS, "alloc_begin_fd_uobject");
	ASSERT_UNKNOWN(m, "the kernel logged nothing");
	RD_SET(m->event.moment.nofile, 1024);
	ASSERT_CAUSE(m, "descriptors-exhausted", HIGH, "all 1024 file descriptors", "ulimit -n 2048",
		     "prlimit -p 4721 -n2048", "/proc/4721/fd");
	RD_SET(m->event.moment.next_fd, 1024);
	ASSERT_CAUSE(m, "descriptors-exhausted", HIGH, "all 1024");
	m->event.moment.next_fd.v = 1023;
	ASSERT_UNKNOWN(m, "RLIMIT_NOFILE is 1024, and all descriptors below 1023 were in use");
}

FAILURE_TEST(objects_that_others_use)
{
	struct rd_res_object mr = { .kind = RD_RES_MR, .id = { 70, RD_OK }, .pdn = { 8, RD_OK } };
	struct rd_qp qp = { .pdn = { 8, RD_OK }, .lqpn = { 900, RD_OK }, .owner.pid = { MADE_PID, RD_OK } };
	struct rd_moment_handle *h;

	made_failure(m, "ibv_dealloc_pd", EBUSY, MADE_UVERBS, "uverbs_free_pd");
	h = made_handle(m, RD_REQ_H_PD, 1);
	RD_SET(h->number, 8);
	ASSERT_UNKNOWN(m, "the kernel logged nothing");
	RD_SET(h->users, 2);
	m->f.res.objects = &mr;
	m->f.res.qps = &qp;
	m->f.res.n_objects = m->f.res.n_qps = 1;
	ASSERT_CAUSE(m, "object-in-use", HIGH, "the protection domain is still used by 2 other objects",
		     "handle 1, number 8", "memory region 70 uses it", "queue pair 900 uses it");
	h->users.v = 0;
	ASSERT_UNKNOWN(m, "the protection domain with handle 1 has no users");
	/* The lock of the object, and not its users. */
	made_function(m, "ib_uverbs_cmd_verbs");
	ASSERT_CAUSE(m, "object-in-use", MEDIUM, "another thread was using the protection domain with handle 1");
	ASSERT_UNKNOWN(made_module(m, MADE_DRIVER), "has no users");
	/* Others use what a call names that creates something: that is usual. */
	h->users.v = 2;
	made_verb(m, "ibv_reg_mr");
	ASSERT_UNKNOWN(made_module(m, MADE_DRIVER), "the kernel logged nothing");
	h->locked = true;
	ASSERT_CAUSE(m, "object-in-use", MEDIUM, "another thread was using the protection domain");
	m->f.read &= ~(unsigned)RD_FACT_OBJECTS;
	made_assert_not(m, "object-in-use");
}

FAILURE_TEST(which_queue_pair_uses_a_queue_is_not_known)
{
	struct rd_qp qps[] = { { .lqpn = { 900, RD_OK }, .owner.pid = { MADE_PID, RD_OK } },
			       { .lqpn = { 901, RD_OK }, .owner.pid = { 1, RD_OK } } };
	struct rd_moment_handle *h;

	made_failure(m, "ibv_destroy_cq", EBUSY, MADE_CORE, "ib_destroy_cq_user");
	h = made_handle(m, RD_REQ_H_CQ, 6);
	RD_SET(h->users, 1);
	m->f.res.qps = qps;
	m->f.res.n_qps = RD_ARRAY_SIZE(qps);
	ASSERT_CAUSE(m, "object-in-use", HIGH, "used by 1 other object", "may use it: 900");
	assert_null(strstr(m->said, "901"));
}
