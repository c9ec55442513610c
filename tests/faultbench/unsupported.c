/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What soft-RoCE does not have, and programs that were written for other devices use.
 */
#include "fault.h"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

static int run(struct env *env, struct call *call)
{
	truth("object", "%u", call->hdr.object_id);
	truth("method", "%u", call->hdr.method_id);
	return call_run(env->ctx->cmd_fd, call);
}

static int create_wq(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, RDMA_DRIVER_RXE);
	uint32_t wr, sge, number;

	call_obj(&call, UVERBS_ATTR_CREATE_WQ_HANDLE, 0);
	call_obj(&call, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, env->pd->handle);
	call_obj(&call, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, env->cq->handle);
	call_u64(&call, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 0);
	call_u64(&call, UVERBS_ATTR_CREATE_WQ_TYPE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_WQ_MAX_WR, 16);
	call_u32(&call, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 1);
	call_u32(&call, UVERBS_ATTR_CREATE_WQ_FLAGS, 0);
	call_out(&call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &wr, sizeof(wr));
	call_out(&call, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &sge, sizeof(sge));
	call_out(&call, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &number, sizeof(number));
	return run(env, &call);
}

static int alloc_dm(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, RDMA_DRIVER_RXE);

	call_obj(&call, UVERBS_ATTR_ALLOC_DM_HANDLE, 0);
	call_u64(&call, UVERBS_ATTR_ALLOC_DM_LENGTH, 4096);
	call_u32(&call, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	return run(env, &call);
}

static int create_counters(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, RDMA_DRIVER_RXE);

	call_obj(&call, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	return run(env, &call);
}

/* GPU memory as a DMA-BUF: the device cannot, whatever the descriptor is. */
static int reg_dmabuf(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, RDMA_DRIVER_RXE);
	uint32_t lkey, rkey;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	call_obj(&call, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0);
	call_obj(&call, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, env->pd->handle);
	call_u64(&call, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0);
	call_u64(&call, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 4096);
	call_u64(&call, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0);
	call_u32(&call, UVERBS_ATTR_REG_DMABUF_MR_FD, fd);
	call_u32(&call, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, IBV_ACCESS_LOCAL_WRITE);
	call_out(&call, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &lkey, sizeof(lkey));
	call_out(&call, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &rkey, sizeof(rkey));
	truth("fd", "%d", fd);
	return run(env, &call);
}

/* A prefetch. 0: by a key that does not exist. 1: of memory that is paged on demand, and not mapped any more. Memory that
 * is not paged on demand is not tried: soft-RoCE of 7.2 takes it for such, and reads what is not its own. */
static int advise_mr(struct env *env)
{
	struct call call = call_of(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, RDMA_DRIVER_RXE);
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;
	char *map = pages(1, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = map && env->fault->arg ? ibv_reg_mr(env->pd, map, PAGE, access) : NULL;
	struct ibv_sge sge = { .addr = (uintptr_t)map, .length = PAGE, .lkey = mr ? mr->lkey : 0x7f00 };

	if (env->fault->arg && (!mr || munmap(map, PAGE)))
		return unready("memory on demand");
	if (mr)
		truth("hole", "%p", map);
	truth("address", "%p", map);
	truth("length", "%lu", PAGE);
	call_obj(&call, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, env->pd->handle);
	call_u64(&call, UVERBS_ATTR_ADVISE_MR_ADVICE, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE);
	call_u32(&call, UVERBS_ATTR_ADVISE_MR_FLAGS, IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
	call_in(&call, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &sge, sizeof(sge));
	truth("lkey", "0x%x", sge.lkey);
	return run(env, &call);
}

/* Commands of the write interface, by ioctl(2) as libibverbs sends them. Their bytes are not looked at. */
static int command(struct env *env)
{
	uint8_t in[256] = { 0 }, out[256];

	truth("command", "0x%x", env->fault->arg);
	return invoke_write(env->ctx->cmd_fd, RDMA_DRIVER_RXE, (uint32_t)env->fault->arg, in, 128, out, 128);
}

#define EX(name) (int)(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##name)

/* Changes of memory that is registered */
enum rereg { TRANSLATION, NO_FLAGS, WRITABLE, STALE_PD };

static int rereg_mr(struct env *env)
{
	enum rereg what = env->fault->arg;
	char *map = pages(2, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = map ? ibv_reg_mr(env->pd, map, PAGE, what == WRITABLE ? 0 : IBV_ACCESS_LOCAL_WRITE) : NULL;
	struct ib_uverbs_rereg_mr_resp resp;
	struct ib_uverbs_rereg_mr cmd = { .length = PAGE };
	struct ibv_pd *pd = ibv_alloc_pd(env->ctx);

	if (!mr || !pd)
		return unready("ibv_reg_mr");
	cmd.mr_handle = mr->handle;
	cmd.start = cmd.hca_va = (uintptr_t)map + PAGE;
	cmd.access_flags = IBV_ACCESS_LOCAL_WRITE;
	cmd.flags = what == TRANSLATION ? IBV_REREG_MR_CHANGE_TRANSLATION :
		    what == WRITABLE	? IBV_REREG_MR_CHANGE_ACCESS :
		    what == STALE_PD	? IBV_REREG_MR_CHANGE_PD :
					  0;
	cmd.pd_handle = pd->handle;
	if (what == STALE_PD && ibv_dealloc_pd(pd))
		return unready("ibv_dealloc_pd");
	truth("handle", "%u", what == STALE_PD ? cmd.pd_handle : cmd.mr_handle);
	truth("flags", "0x%x", cmd.flags);
	truth("access", "%u", cmd.access_flags);
	return invoke_write(env->ctx->cmd_fd, RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_REREG_MR, &cmd, sizeof(cmd), &resp,
			    sizeof(resp));
}

/* An attribute of ibv_modify_qp() that no kernel knows: libibverbs would refuse. */
static int modify_unknown(struct env *env)
{
	struct ib_uverbs_modify_qp cmd = { .qp_handle = env->qp->handle,
					   .attr_mask = IBV_QP_STATE | 1 << 27,
					   .qp_state = 1 };

	truth("qpn", "%u", env->qp->qp_num);
	truth("unknown_mask", "0x%x", 1 << 27);
	return invoke_write(env->ctx->cmd_fd, RDMA_DRIVER_RXE, IB_USER_VERBS_CMD_MODIFY_QP, &cmd, sizeof(cmd), NULL, 0);
}

const struct fault unsupported_faults[] = {
	{ "wq-create", "ioctl(WQ_CREATE)", "not-supported", "a work queue for RSS", CQ, create_wq, 0 },
	{ "wq-create-ex", "ioctl(EX_CREATE_WQ)", "not-supported", "a work queue, the older command", CQ, command,
	  EX(CREATE_WQ) },
	{ "rss-table", "ioctl(EX_CREATE_RWQ_IND_TBL)", "not-supported", "an indirection table for RSS", CONTEXT,
	  command, EX(CREATE_RWQ_IND_TBL) },
	{ "flow", "ioctl(EX_CREATE_FLOW)", "not-supported", "flow steering", CONTEXT, command, EX(CREATE_FLOW) },
	{ "cq-moderation", "ioctl(EX_MODIFY_CQ)", "not-supported", "interrupt moderation", CONTEXT, command,
	  EX(MODIFY_CQ) },
	{ "xrcd", "ioctl(OPEN_XRCD)", "not-supported", "an XRC domain", CONTEXT, command, IB_USER_VERBS_CMD_OPEN_XRCD },
	{ "dm-alloc", "ioctl(DM_ALLOC)", "not-supported", "device memory", CONTEXT, alloc_dm, 0 },
	{ "counters", "ioctl(COUNTERS_CREATE)", "not-supported", "counters of flows", CONTEXT, create_counters, 0 },
	{ "mr-dmabuf", "ioctl(REG_DMABUF_MR)", "not-supported", "a DMA-BUF, which the driver cannot", PD, reg_dmabuf,
	  0 },
	{ "mr-advise-key", "ioctl(ADVISE_MR)", "attribute-value", "a prefetch by a key that does not exist", PD,
	  advise_mr, 0 },
	{ "mr-advise-hole", "ioctl(ADVISE_MR)", "memory-not-mapped", "a prefetch of memory that is not mapped any more",
	  PD, advise_mr, 1 },
	{ "mr-rereg", "ioctl(REREG_MR)", "not-supported", "another address", PD, rereg_mr, TRANSLATION },
	{ "mr-rereg-nothing", "ioctl(REREG_MR)", "attribute-value", "no change at all", PD, rereg_mr, NO_FLAGS },
	{ "mr-rereg-writable", "ioctl(REREG_MR)", "access-flags", "local write, pinned without", PD, rereg_mr,
	  WRITABLE },
	{ "mr-rereg-pd", "ioctl(REREG_MR)", "handle-stale", "into a PD that was deallocated", PD, rereg_mr, STALE_PD },
	{ "modify-unknown", "ioctl(MODIFY_QP)", "not-supported", "an attribute that does not exist", QP, modify_unknown,
	  0 },
	{ 0 },
};
