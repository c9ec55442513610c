/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs that cannot be created.
 */
#include "fault.h"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_rxe.h>

enum over { SEND_WR, RECV_WR, SEND_SGE, RECV_SGE, INLINE };

static struct ibv_qp_init_attr init_attr(struct env *env)
{
	return (struct ibv_qp_init_attr){
		.send_cq = env->cq,
		.recv_cq = env->cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
}

static int over_limit(struct env *env)
{
	struct ibv_qp_init_attr attr = init_attr(env);
	uint32_t wr = env->attr.max_qp_wr + 1, sge = 200;

	switch ((enum over)env->fault->arg) {
	case SEND_WR:
		attr.cap.max_send_wr = wr;
		break;
	case RECV_WR:
		attr.cap.max_recv_wr = wr;
		break;
	case SEND_SGE:
		attr.cap.max_send_sge = sge;
		break;
	case RECV_SGE:
		attr.cap.max_recv_sge = sge;
		break;
	case INLINE:
		attr.cap.max_inline_data = 65536;
	}
	truth("send_wr", "%u", attr.cap.max_send_wr);
	truth("recv_wr", "%u", attr.cap.max_recv_wr);
	truth("max_wr", "%d", env->attr.max_qp_wr);
	truth("send_sge", "%u", attr.cap.max_send_sge);
	truth("recv_sge", "%u", attr.cap.max_recv_sge);
	truth("max_sge", "%d", env->attr.max_sge);
	truth("inline_data", "%u", attr.cap.max_inline_data);
	return ibv_create_qp(env->pd, &attr) ? 0 : errno;
}

static int type(struct env *env)
{
	struct ibv_qp_init_attr attr = init_attr(env);

	attr.qp_type = env->fault->arg;
	truth("qp_type", "%d", env->fault->arg);
	return ibv_create_qp(env->pd, &attr) ? 0 : errno;
}

static int raw_as_nobody(struct env *env)
{
	if (become_nobody())
		return -1;
	truth("uid", "%d", NOBODY);
	truth("capability", "CAP_NET_RAW");
	return type(env);
}

/* An object whose handle is gone, or is another object's. */
enum handle { STALE, OTHER_TYPE, OTHER_CONTEXT };

static int stale_pd(struct env *env, uint32_t *handle)
{
	struct ibv_pd *pd = ibv_alloc_pd(env->ctx);

	*handle = pd ? pd->handle : 0;
	return !pd || ibv_dealloc_pd(pd) ? unready("ibv_alloc_pd") : 0;
}

/* Of another context, and beyond the handles of ours. */
static int foreign_pd(struct env *env, uint32_t *handle)
{
	struct ibv_context *ctx = open_again(env);
	struct ibv_pd *pd = NULL;

	for (int i = 0; ctx && i < 8; i++)
		pd = ibv_alloc_pd(ctx);
	*handle = pd ? pd->handle : 0;
	return pd ? 0 : unready("ibv_alloc_pd");
}

static int pd_handle(struct env *env)
{
	struct ibv_qp_init_attr attr = init_attr(env);
	uint32_t handle = env->cq->handle;

	if (env->fault->arg == STALE && stale_pd(env, &handle))
		return -1;
	if (env->fault->arg == OTHER_CONTEXT && foreign_pd(env, &handle))
		return -1;
	env->pd->handle = handle;
	truth("handle", "%u", handle);
	truth("wanted_type", "PD");
	if (env->fault->arg == OTHER_TYPE)
		truth("actual_type", "CQ");
	return ibv_create_qp(env->pd, &attr) ? 0 : errno;
}

static int cq_handle(struct env *env)
{
	struct ibv_cq *cq = ibv_create_cq(env->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = init_attr(env);

	if (!cq)
		return unready("ibv_create_cq");
	env->cq->handle = env->fault->arg == OTHER_TYPE ? env->pd->handle : cq->handle;
	if (env->fault->arg == STALE && ibv_destroy_cq(cq))
		return unready("ibv_destroy_cq");
	truth("handle", "%u", env->cq->handle);
	truth("wanted_type", "CQ");
	if (env->fault->arg == OTHER_TYPE)
		truth("actual_type", "PD");
	return ibv_create_qp(env->pd, &attr) ? 0 : errno;
}

static int srq_handle(struct env *env)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(env->pd, &srq_attr), *gone = ibv_create_srq(env->pd, &srq_attr);
	struct ibv_qp_init_attr attr = init_attr(env);

	if (!srq || !gone)
		return unready("ibv_create_srq");
	srq->handle = env->fault->arg == OTHER_TYPE ? env->pd->handle : gone->handle;
	if (ibv_destroy_srq(gone))
		return unready("ibv_destroy_srq");
	attr.srq = srq;
	truth("handle", "%u", srq->handle);
	truth("wanted_type", "SRQ");
	if (env->fault->arg == OTHER_TYPE)
		truth("actual_type", "PD");
	return ibv_create_qp(env->pd, &attr) ? 0 : errno;
}

/* By ioctl(2), for what libibverbs would not send. */
enum wrong { NO_CQ, NO_RESPONSE, BAD_TYPE, FLAGS_RC, FLAGS_UD };

static int raw(struct env *env)
{
	enum wrong wrong = env->fault->arg;
	struct call call = call_of(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, RDMA_DRIVER_RXE);
	struct ib_uverbs_qp_cap cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 };
	uint32_t qp_type = wrong == BAD_TYPE ? 99 : wrong == FLAGS_UD ? IBV_QPT_UD : IBV_QPT_RC, qpn;
	struct rxe_create_qp_resp resp;

	call_obj(&call, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	call_obj(&call, UVERBS_ATTR_CREATE_QP_PD_HANDLE, env->pd->handle);
	if (wrong != NO_CQ)
		call_obj(&call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, env->cq->handle);
	call_obj(&call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, env->cq->handle);
	call_u64(&call, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0);
	call_in(&call, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	call_u64(&call, UVERBS_ATTR_CREATE_QP_TYPE, qp_type);
	if (wrong == FLAGS_RC || wrong == FLAGS_UD)
		call_u32(&call, UVERBS_ATTR_CREATE_QP_FLAGS, IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	call_out(&call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	call_out(&call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	if (wrong != NO_RESPONSE)
		call_out(&call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	truth("qp_type", "%u", qp_type);
	if (wrong == NO_CQ)
		truth("missing_attribute", "%d", UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	if (wrong == NO_RESPONSE)
		truth("missing_attribute", "%d", UVERBS_ATTR_UHW_OUT);
	if (wrong == FLAGS_RC || wrong == FLAGS_UD)
		truth("create_flags", "0x%x", IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	return call_run(env->ctx->cmd_fd, &call);
}

const struct fault qp_faults[] = {
	{ "qp-send-wr", "ibv_create_qp", "limit-exceeded", "more send work requests than the device has", CQ,
	  over_limit, SEND_WR },
	{ "qp-recv-wr", "ibv_create_qp", "limit-exceeded", "more receive work requests than the device has", CQ,
	  over_limit, RECV_WR },
	{ "qp-send-sge", "ibv_create_qp", "limit-exceeded", "more gather entries than the device has", CQ, over_limit,
	  SEND_SGE },
	{ "qp-recv-sge", "ibv_create_qp", "limit-exceeded", "more scatter entries than the device has", CQ, over_limit,
	  RECV_SGE },
	{ "qp-inline", "ibv_create_qp", "limit-exceeded", "more inline data than the driver allows", CQ, over_limit,
	  INLINE },
	{ "qp-xrc", "ibv_create_qp", "not-supported", "an XRC queue pair", CQ, type, IBV_QPT_XRC_SEND },
	{ "qp-raw-packet", "ibv_create_qp", "not-supported", "a raw packet queue pair, by root", CQ, type,
	  IBV_QPT_RAW_PACKET },
	{ "qp-driver-type", "ibv_create_qp", "not-supported", "a queue pair of the driver's own type", CQ, type,
	  IBV_QPT_DRIVER },
	{ "qp-raw-nobody", "ibv_create_qp", "capability-missing", "a raw packet queue pair, by nobody", CQ,
	  raw_as_nobody, IBV_QPT_RAW_PACKET },
	{ "qp-type", "ioctl(QP_CREATE)", "attribute-value", "a type that does not exist", CQ, raw, BAD_TYPE },
	{ "qp-flags-rc", "ioctl(QP_CREATE)", "attribute-value", "a flag that an RC queue pair cannot have", CQ, raw,
	  FLAGS_RC },
	{ "qp-flags-ud", "ioctl(QP_CREATE)", "not-supported", "a flag that the driver does not have", CQ, raw,
	  FLAGS_UD },
	{ "qp-no-cq", "ioctl(QP_CREATE)", "request-malformed", "no send CQ: ENOENT, and every handle is good", CQ, raw,
	  NO_CQ },
	{ "qp-no-response", "ioctl(QP_CREATE)", "request-malformed", "no room for the driver's response", CQ, raw,
	  NO_RESPONSE },
	{ "qp-pd-stale", "ibv_create_qp", "handle-stale", "a PD that was deallocated", CQ, pd_handle, STALE },
	{ "qp-pd-foreign", "ibv_create_qp", "handle-stale", "a PD of another context", CQ, pd_handle, OTHER_CONTEXT },
	{ "qp-pd-type", "ibv_create_qp", "handle-type", "a CQ for a PD", CQ, pd_handle, OTHER_TYPE },
	{ "qp-cq-stale", "ibv_create_qp", "handle-stale", "a CQ that was destroyed", CQ, cq_handle, STALE },
	{ "qp-cq-type", "ibv_create_qp", "handle-type", "a PD for a CQ", CQ, cq_handle, OTHER_TYPE },
	{ "qp-srq-stale", "ibv_create_qp", "handle-stale", "an SRQ that was destroyed", CQ, srq_handle, STALE },
	{ "qp-srq-type", "ibv_create_qp", "handle-type", "a PD for an SRQ", CQ, srq_handle, OTHER_TYPE },
	{ 0 },
};
