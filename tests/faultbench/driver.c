/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An unknown driver (module/fbdrv.c), which libibverbs has no provider for. Real causes first; then
 * errnos that it makes up.
 */
#include "fault.h"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <sys/resource.h>

#define PARAMETERS "/sys/module/fbdrv/parameters/"

static int open_driver(struct env *env, const char *dev, int error)
{
	char text[16];
	int fd;

	snprintf(text, sizeof(text), "%d", error);
	if (write_file("1", PARAMETERS "present") || write_file("0", PARAMETERS "path") ||
	    write_file(text, PARAMETERS "error"))
		return -1;
	env->dev = dev;
	fd = open_uverbs(dev);
	if (fd < 0)
		return unready(dev);
	errno = get_context(fd, RDMA_DRIVER_UNKNOWN);
	return errno ? unready("GET_CONTEXT") : fd;
}

static int alloc_pd(int fd)
{
	struct ib_uverbs_alloc_pd cmd = { 0 };
	struct ib_uverbs_alloc_pd_resp resp;

	errno = fd < 0 ? EBADF :
			 invoke_write(fd, RDMA_DRIVER_UNKNOWN, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd), &resp,
				      sizeof(resp));
	return errno ? unready("ALLOC_PD") : (int)resp.pd_handle;
}

static int reg_mr(int fd, int pd, char *addr, size_t length, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ib_uverbs_reg_mr cmd = {
		.start = (uintptr_t)addr,
		.length = length,
		.hca_va = (uintptr_t)addr,
		.pd_handle = pd,
		.access_flags = access,
	};

	return invoke_write(fd, RDMA_DRIVER_UNKNOWN, IB_USER_VERBS_CMD_REG_MR, &cmd, sizeof(cmd), &resp, sizeof(resp));
}

static int say_and_reg_mr(int fd, int pd, char *addr, size_t length)
{
	truth("address", "%p", addr);
	truth("length", "%zu", length);
	return reg_mr(fd, pd, addr, length, IBV_ACCESS_LOCAL_WRITE);
}

/* What any driver meets */

static int removed(struct env *env)
{
	int fd = open_driver(env, "fbdrv0", 0), pd = alloc_pd(fd);
	char *map = pages(1, PROT_READ | PROT_WRITE);

	if (pd < 0 || !map || write_file("0", PARAMETERS "present"))
		return -1;
	truth("fd", "%d", fd);
	return say_and_reg_mr(fd, pd, map, PAGE);
}

enum memory { HOLE, READONLY, MEMLOCK };

static int memory(struct env *env)
{
	enum memory what = env->fault->arg;
	int fd = open_driver(env, "fbdrv0", 0), pd = alloc_pd(fd);
	char *map = what == HOLE ? before_hole(PAGE) : pages(32, what == READONLY ? PROT_READ : PROT_READ | PROT_WRITE);
	struct rlimit limit = { 16 * PAGE, 16 * PAGE };

	if (pd < 0 || !map)
		return -1;
	if (what == HOLE)
		truth("hole", "%p", map + PAGE);
	if (what == READONLY)
		truth("protected", "%p", map);
	if (what == MEMLOCK) {
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || become_nobody() || reg_mr(fd, pd, map, 12 * PAGE, 1))
			return unready("setrlimit");
		truth("memlock_bytes", "%lu", 16 * PAGE);
		truth("pinned_bytes", "%lu", 12 * PAGE);
		truth("requested_bytes", "%lu", 8 * PAGE);
		return say_and_reg_mr(fd, pd, map + 12 * PAGE, 8 * PAGE);
	}
	return say_and_reg_mr(fd, pd, map, 2 * PAGE);
}

static int dmabuf(struct env *env)
{
	int drv = open_driver(env, "fbdrv0", 0), pd = alloc_pd(drv), fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct call call = call_of(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, RDMA_DRIVER_UNKNOWN);
	uint32_t lkey, rkey;

	if (pd < 0)
		return -1;
	if (env->fault->arg)
		close(fd);
	call_obj(&call, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0);
	call_obj(&call, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd);
	call_u64(&call, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0);
	call_u64(&call, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, PAGE);
	call_u64(&call, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0);
	call_u32(&call, UVERBS_ATTR_REG_DMABUF_MR_FD, fd);
	call_u32(&call, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, IBV_ACCESS_LOCAL_WRITE);
	call_out(&call, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &lkey, sizeof(lkey));
	call_out(&call, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &rkey, sizeof(rkey));
	truth("fd", "%d", fd);
	return call_run(drv, &call);
}

static int create_cq(int fd)
{
	struct call call = call_of(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, RDMA_DRIVER_UNKNOWN);
	uint32_t cqe;
	int err;

	call_obj(&call, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	call_u64(&call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	call_u32(&call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	call_out(&call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	err = call_run(fd, &call);
	return err ? -err : (int)call.attr[0].data;
}

static int no_queues(struct env *env)
{
	int fd = open_driver(env, "fbdrv0", 0);

	if (fd < 0)
		return -1;
	truth("object", "%d", UVERBS_OBJECT_CQ);
	return -create_cq(fd);
}

static int drv_create_qp(int fd, int pd, int cq)
{
	struct call call = call_of(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, RDMA_DRIVER_UNKNOWN);
	struct ib_uverbs_qp_cap cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 };
	uint32_t qpn;

	call_obj(&call, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	call_obj(&call, UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd);
	call_obj(&call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq);
	call_obj(&call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq);
	call_u64(&call, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0);
	call_in(&call, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	call_u64(&call, UVERBS_ATTR_CREATE_QP_TYPE, IBV_QPT_RC);
	call_out(&call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	call_out(&call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	errno = call_run(fd, &call);
	return errno ? unready("QP_CREATE") : (int)call.attr[0].data;
}

static int modify(int fd, const struct ib_uverbs_modify_qp *cmd)
{
	return invoke_write(fd, RDMA_DRIVER_UNKNOWN, IB_USER_VERBS_CMD_MODIFY_QP, cmd, sizeof(*cmd), NULL, 0);
}

/* A queue pair of an InfiniBand device that has one P_Key and four GIDs, of which three are empty */
enum queue { PKEY, GID_RANGE, GID_EMPTY, STATE };

static int queue_pair(struct env *env)
{
	enum queue what = env->fault->arg;
	int fd = open_driver(env, "fbib0", 0), pd = alloc_pd(fd), cq = pd < 0 ? -1 : create_cq(fd);
	int qp = cq < 0 ? -1 : drv_create_qp(fd, pd, cq);
	struct ib_uverbs_modify_qp init = {
		.qp_handle = qp,
		.qp_state = what == STATE ? IBV_QPS_RTS : IBV_QPS_INIT,
		.port_num = 1,
		.pkey_index = what == PKEY ? 200 : 0,
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	};
	struct ib_uverbs_modify_qp rtr = {
		.qp_handle = qp,
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest = { .dlid = 9, .is_global = 1, .port_num = 1, .sgid_index = what == GID_RANGE ? 100 : 2 },
		.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	};

	if (qp < 0)
		return unready("fbib0");
	truth("handle", "%d", qp);
	truth("qpn", "4242");
	if (what == PKEY || what == STATE) {
		truth("pkey_index", "%u", init.pkey_index);
		truth("pkeys", "1");
		truth("state", "RESET");
		truth("new_state", "%s", what == STATE ? "RTS" : "INIT");
		return modify(fd, &init);
	}
	if (modify(fd, &init))
		return unready("MODIFY_QP");
	truth("sgid_index", "%u", rtr.dest.sgid_index);
	truth("gids", "4");
	return modify(fd, &rtr);
}

/* Errnos that the driver makes up, each where something familiar could be meant */

static int made_up(struct env *env)
{
	int fd = open_driver(env, "fbdrv0", env->fault->arg), pd = alloc_pd(fd);
	char *map = pages(4, PROT_READ | PROT_WRITE);

	return pd < 0 || !map ? -1 : say_and_reg_mr(fd, pd, map, 4 * PAGE);
}

/* Two functions of the driver return this errno: see `path` in module/fbdrv.c. */
static int cleanup(struct env *env)
{
	int fd = open_driver(env, "fbdrv0", EINVAL), pd = alloc_pd(fd);
	char *map = pages(4, PROT_READ | PROT_WRITE), text[16];

	snprintf(text, sizeof(text), "%d", env->fault->arg);
	if (pd < 0 || !map || write_file(text, PARAMETERS "path"))
		return -1;
	truth("origin", "%s", env->fault->arg == 8 ? "fbdrv_slot_exec" : "fbdrv_slot_open");
	if (env->fault->arg > 11)
		truth("or_origin", "fbdrv_slot_enable");
	return say_and_reg_mr(fd, pd, map, 4 * PAGE);
}

/* A small limit that is not reached */
static int below_memlock(struct env *env)
{
	int fd = open_driver(env, "fbdrv0", env->fault->arg), pd = alloc_pd(fd);
	char *map = pages(4, PROT_READ | PROT_WRITE);
	struct rlimit limit = { 16 * PAGE, 16 * PAGE };

	if (pd < 0 || !map || setrlimit(RLIMIT_MEMLOCK, &limit) || become_nobody())
		return unready("setrlimit");
	truth("memlock_bytes", "%lu", 16 * PAGE);
	truth("pinned_bytes", "0");
	truth("requested_bytes", "%lu", 4 * PAGE);
	return say_and_reg_mr(fd, pd, map, 4 * PAGE);
}

const struct fault driver_faults[] = {
	{ "drv-removed", "ioctl(REG_MR)", "device-removed", "the device was removed", NOTHING, removed, 0 },
	{ "drv-mr-hole", "ioctl(REG_MR)", "memory-not-mapped", "the second page is not mapped", NOTHING, memory, HOLE },
	{ "drv-mr-readonly", "ioctl(REG_MR)", "memory-read-only", "local write to PROT_READ", NOTHING, memory,
	  READONLY },
	{ "drv-mr-memlock", "ioctl(REG_MR)", "memlock-limit", "over the limit with what is registered already", NOTHING,
	  memory, MEMLOCK },
	{ "drv-dmabuf-not", "ioctl(REG_DMABUF_MR)", "descriptor-invalid", "a descriptor that is no DMA-BUF: EINVAL",
	  NOTHING, dmabuf, 0 },
	{ "drv-dmabuf-closed", "ioctl(REG_DMABUF_MR)", "descriptor-invalid", "a closed descriptor", NOTHING, dmabuf, 1 },
	{ "drv-no-cq", "ioctl(CQ_CREATE)", "not-supported", "a CQ, which the driver does not have", NOTHING, no_queues,
	  0 },
	{ "drv-pkey-200", "ioctl(MODIFY_QP)", "pkey-index", "P_Key index 200 of one", NOTHING, queue_pair, PKEY },
	{ "drv-gid-100", "ioctl(MODIFY_QP)", "gid-index-range", "own GID index 100 of four", NOTHING, queue_pair,
	  GID_RANGE },
	{ "drv-gid-2", "ioctl(MODIFY_QP)", "gid-index-unused", "own GID index 2, which is empty", NOTHING, queue_pair,
	  GID_EMPTY },
	{ "drv-state", "ioctl(MODIFY_QP)", "qp-state", "from RESET to RTS", NOTHING, queue_pair, STATE },
	{ "drv-edom", "ioctl(REG_MR)", "unknown", "EDOM", NOTHING, made_up, EDOM },
	{ "drv-efault", "ioctl(REG_MR)", "unknown", "EFAULT, all memory is good", NOTHING, made_up, EFAULT },
	{ "drv-einval", "ioctl(REG_MR)", "unknown", "EINVAL, all attributes are good", NOTHING, made_up, EINVAL },
	{ "drv-enomem", "ioctl(REG_MR)", "unknown", "ENOMEM, a small limit is not reached", NOTHING, below_memlock,
	  ENOMEM },
	{ "drv-eperm", "ioctl(REG_MR)", "unknown", "EPERM, the limit is small and not 0", NOTHING, below_memlock,
	  EPERM },
	{ "drv-etimedout", "ioctl(REG_MR)", "unknown", "ETIMEDOUT, a device without a peer", NOTHING, made_up,
	  ETIMEDOUT },
	{ "drv-cleanup-1", "ioctl(REG_MR)", "unknown", "a cleanup fails with the same errno", NOTHING, cleanup, 1 },
	{ "drv-cleanup-2", "ioctl(REG_MR)", "unknown", "one that calls another, as the failure does", NOTHING, cleanup,
	  2 },
	{ "drv-cleanup-3", "ioctl(REG_MR)", "unknown", "a function without result, in which something fails", NOTHING,
	  cleanup, 3 },
	{ "drv-cleanup-4", "ioctl(REG_MR)", "unknown", "a failure passed on, then a cleanup", NOTHING, cleanup, 4 },
	{ "drv-cleanup-5", "ioctl(REG_MR)", "unknown", "a failure, then a cleanup that calls another", NOTHING, cleanup,
	  5 },
	{ "drv-cleanup-6", "ioctl(REG_MR)", "unknown", "two cleanups", NOTHING, cleanup, 6 },
	{ "drv-cleanup-7", "ioctl(REG_MR)", "unknown", "two cleanups, the first with another errno", NOTHING, cleanup,
	  7 },
	{ "drv-cleanup-8", "ioctl(REG_MR)", "unknown", "a translated errno, then a cleanup", NOTHING, cleanup, 8 },
	{ "drv-cleanup-9", "ioctl(REG_MR)", "unknown", "a cleanup of a function that is called", NOTHING, cleanup, 9 },
	{ "drv-cleanup-10", "ioctl(REG_MR)", "unknown", "there, and two of its caller", NOTHING, cleanup, 10 },
	{ "drv-cleanup-11", "ioctl(REG_MR)", "unknown", "three cleanups, the second with another errno", NOTHING,
	  cleanup, 11 },
	{ "drv-attempt-2", "ioctl(REG_MR)", "unknown", "a second attempt, which fails in the same way", NOTHING,
	  cleanup, 12 },
	{ "drv-ignored", "ioctl(REG_MR)", "unknown", "a failure that is ignored, then one with the same errno", NOTHING,
	  cleanup, 13 },
	{ "drv-eio", "ioctl(REG_MR)", "unknown", "EIO, the device is there", NOTHING, made_up, EIO },
	{ "drv-enospc", "ioctl(REG_MR)", "unknown", "ENOSPC", NOTHING, made_up, ENOSPC },
	{ 0 },
};
