/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion queues and shared receive queues.
 */
#include "fault.h"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>

static int create_cq(struct env *env, int cqe, struct ibv_comp_channel *channel, int vector)
{
	truth("cqe", "%d", cqe);
	truth("max_cqe", "%d", env->attr.max_cqe);
	truth("comp_vector", "%d", vector);
	truth("num_comp_vectors", "%d", env->ctx->num_comp_vectors);
	return ibv_create_cq(env->ctx, cqe, NULL, channel, vector) ? 0 : errno;
}

static int cq_entries(struct env *env)
{
	return create_cq(env, env->fault->arg ? env->attr.max_cqe + 1 : 0, NULL, 0);
}

static int cq_vector(struct env *env)
{
	return create_cq(env, 16, NULL, env->ctx->num_comp_vectors);
}

enum bad_channel { CLOSED, NO_CHANNEL, OTHER_CONTEXT };

static int cq_channel(struct env *env)
{
	struct ibv_context *ctx = env->fault->arg == OTHER_CONTEXT ? open_again(env) : env->ctx;
	struct ibv_comp_channel *channel = ctx ? ibv_create_comp_channel(ctx) : NULL;

	if (!channel)
		return unready("ibv_create_comp_channel");
	if (env->fault->arg == CLOSED)
		close(channel->fd);
	if (env->fault->arg == NO_CHANNEL)
		channel->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	truth("fd", "%d", channel->fd);
	return create_cq(env, 16, channel, 0);
}

/* What a program asks of a CQ that this driver does not have, or no kernel: 1 is completion time stamps. */
static int cq_flags(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, RDMA_DRIVER_RXE);
	uint64_t driver_out[8];
	uint32_t cqe;

	call_obj(&call, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	call_u64(&call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_CQ_FLAGS, env->fault->arg);
	call_out(&call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	call_out(&call, UVERBS_ATTR_UHW_OUT, driver_out, sizeof(driver_out));
	truth("flags", "0x%x", env->fault->arg);
	return call_run(env->ctx->cmd_fd, &call);
}

/* Receives that are flushed when their queue pair fails, so that the CQ is not empty. */
static int fill_cq(struct env *env, int count)
{
	struct step error = { .attr = { .qp_state = IBV_QPS_ERR }, .mask = IBV_QP_STATE };
	struct ibv_recv_wr wr = { 0 }, *bad;

	for (int i = 0; i < count; i++)
		if (ibv_post_recv(env->qp, &wr, &bad))
			return unready("ibv_post_recv");
	if (take(env->qp, &error))
		return unready("ibv_modify_qp");
	usleep(300000);
	return 0;
}

static int cq_resize(struct env *env)
{
	int cqe = env->fault->arg ? env->attr.max_cqe + 1 : 3;

	if (!env->fault->arg && (need(env, QP_INIT) || fill_cq(env, 8)))
		return -1;
	truth("cqe", "%d", cqe);
	if (env->fault->arg)
		truth("max_cqe", "%d", env->attr.max_cqe);
	else
		truth("in_queue", "8");
	return ibv_resize_cq(env->cq, cqe);
}

static int cq_in_use(struct env *env)
{
	truth("handle", "%u", env->cq->handle);
	truth("qpn", "%u", env->qp->qp_num);
	return ibv_destroy_cq(env->cq);
}

/* Shared receive queues */

static struct ibv_srq *create_srq(struct env *env, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return ibv_create_srq(env->pd, &attr);
}

static int srq_limits(struct env *env)
{
	uint32_t wr = 16, sge = 1;

	switch (env->fault->arg) {
	case 0:
		wr = 0;
		break;
	case 1:
		wr = env->attr.max_srq_wr + 1;
		break;
	default:
		sge = env->attr.max_srq_sge + 1;
	}
	truth("wr", "%u", wr);
	truth("max_wr", "%d", env->attr.max_srq_wr);
	truth("sge", "%u", sge);
	truth("max_sge", "%d", env->attr.max_srq_sge);
	return create_srq(env, wr, sge) ? 0 : errno;
}

/* 0: a limit above the queue's size. 1: a size above the device's. 2: a size below the limit. */
static int srq_modify(struct env *env)
{
	struct ibv_srq *srq = create_srq(env, 16, 1);
	struct ibv_srq_attr armed = { .srq_limit = 12 }, attr = { .srq_limit = 1000 };
	int mask = IBV_SRQ_LIMIT;

	if (!srq)
		return unready("ibv_create_srq");
	if (env->fault->arg == 2 && ibv_modify_srq(srq, &armed, IBV_SRQ_LIMIT))
		return unready("ibv_modify_srq");
	if (env->fault->arg) {
		attr.max_wr = env->fault->arg == 1 ? env->attr.max_srq_wr + 1 : 8;
		mask = IBV_SRQ_MAX_WR;
		truth("wr", "%u", attr.max_wr);
		truth("max_wr", "%d", env->attr.max_srq_wr);
		if (env->fault->arg == 2)
			truth("srq_limit", "%u", armed.srq_limit);
	} else {
		truth("srq_limit", "%u", attr.srq_limit);
		truth("max_wr", "16");
	}
	truth("handle", "%u", srq->handle);
	return ibv_modify_srq(srq, &attr, mask);
}

static int srq_in_use(struct env *env)
{
	struct ibv_srq *srq = create_srq(env, 16, 1);
	struct ibv_qp_init_attr attr = {
		.send_cq = env->cq,
		.recv_cq = env->cq,
		.srq = srq,
		.cap = { .max_send_wr = 8, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = srq ? ibv_create_qp(env->pd, &attr) : NULL;

	if (!qp)
		return unready("ibv_create_qp");
	truth("handle", "%u", srq->handle);
	truth("qpn", "%u", qp->qp_num);
	return ibv_destroy_srq(srq);
}

/* A queue with tag matching, which MPI libraries use where the device has it. */
static int srq_type(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, RDMA_DRIVER_RXE);
	uint64_t driver_out[8];
	uint32_t wr, sge;

	call_obj(&call, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
	call_obj(&call, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, env->pd->handle);
	call_obj(&call, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, env->cq->handle);
	call_u64(&call, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 16);
	call_u32(&call, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1);
	call_u32(&call, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 8);
	call_u64(&call, UVERBS_ATTR_CREATE_SRQ_TYPE, env->fault->arg);
	call_out(&call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &wr, sizeof(wr));
	call_out(&call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &sge, sizeof(sge));
	call_out(&call, UVERBS_ATTR_UHW_OUT, driver_out, sizeof(driver_out));
	truth("srq_type", "%d", env->fault->arg);
	return call_run(env->ctx->cmd_fd, &call);
}

const struct fault queue_faults[] = {
	{ "cq-entries", "ibv_create_cq", "limit-exceeded", "one entry more than the device has", CONTEXT, cq_entries,
	  1 },
	{ "cq-no-entries", "ibv_create_cq", "attribute-value", "no entries", CONTEXT, cq_entries, 0 },
	{ "cq-vector", "ibv_create_cq", "limit-exceeded", "a completion vector that does not exist", CONTEXT, cq_vector,
	  0 },
	{ "cq-channel-closed", "ibv_create_cq", "descriptor-invalid", "a closed completion channel", CONTEXT,
	  cq_channel, CLOSED },
	{ "cq-channel-not", "ibv_create_cq", "descriptor-invalid", "a descriptor that is no channel", CONTEXT,
	  cq_channel, NO_CHANNEL },
	{ "cq-channel-foreign", "ibv_create_cq", "descriptor-invalid", "a channel of another context", CONTEXT,
	  cq_channel, OTHER_CONTEXT },
	{ "cq-timestamps", "ioctl(CQ_CREATE)", "not-supported", "completion time stamps", CONTEXT, cq_flags, 1 },
	{ "cq-unknown-flag", "ioctl(CQ_CREATE)", "attribute-value", "a flag that does not exist", CONTEXT, cq_flags,
	  1 << 20 },
	{ "cq-resize-above", "ibv_resize_cq", "limit-exceeded", "one entry more than the device has", CQ, cq_resize, 1 },
	{ "cq-resize-below", "ibv_resize_cq", "attribute-value", "three entries, eight are used", CQ, cq_resize, 0 },
	{ "cq-in-use", "ibv_destroy_cq", "object-in-use", "a queue pair uses it", QP, cq_in_use, 0 },
	{ "srq-wr", "ibv_create_srq", "limit-exceeded", "more work requests than the device has", PD, srq_limits, 1 },
	{ "srq-no-wr", "ibv_create_srq", "attribute-value", "no work requests", PD, srq_limits, 0 },
	{ "srq-sge", "ibv_create_srq", "limit-exceeded", "more scatter entries than the device has", PD, srq_limits, 2 },
	{ "srq-limit", "ibv_modify_srq", "limit-exceeded", "a limit above the size of the queue", PD, srq_modify, 0 },
	{ "srq-modify-wr", "ibv_modify_srq", "limit-exceeded", "more work requests than the device has", PD, srq_modify,
	  1 },
	{ "srq-below-limit", "ibv_modify_srq", "attribute-value", "fewer work requests than the limit", PD, srq_modify,
	  2 },
	{ "srq-in-use", "ibv_destroy_srq", "object-in-use", "a queue pair uses it", CQ, srq_in_use, 0 },
	{ "srq-tag-matching", "ioctl(SRQ_CREATE)", "not-supported", "tag matching", CQ, srq_type, IB_UVERBS_SRQT_TM },
	{ "srq-type", "ioctl(SRQ_CREATE)", "attribute-value", "a type that does not exist", CQ, srq_type, 9 },
	{ 0 },
};
