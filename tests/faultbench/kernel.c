/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the RDMA core that fail without a reason (module/fbfault.c returns from them at their entry), as they do
 * when an allocation inside fails: function and errno are those of a familiar cause, and the cause is not there.
 */
#include "fault.h"
#include <rdma/rdma_cma.h>
#include <sys/resource.h>

/* The first of these functions that this kernel has. First for nobody, for it must fail in no call but the last. */
static int arm(const char *function, int pid, int error)
{
	char text[96];

	snprintf(text, sizeof(text), "%d %s %d", pid, function, error);
	return write_file(text, "/sys/module/fbfault/parameters/probe");
}

static const char *find(const char *const functions[])
{
	for (int i = 0; functions[i]; i++) {
		if (!arm(functions[i], 0, EIO)) {
			truth("function", "%s", functions[i]);
			return functions[i];
		}
	}
	return NULL;
}

static const char *const pin[] = { "ib_umem_get", "ib_umem_get_attr_or_va", NULL };
static const char *const pages_of[] = { "pin_user_pages_fast", NULL };
static const char *const charge[] = { "ib_rdmacg_try_charge", NULL };
static const char *const gid_of[] = { "rdma_get_gid_attr", NULL };
static const char *const resolve[] = { "rdma_addr_find_l2_eth_by_grh", NULL };
static const char *const bind_addr[] = { "rdma_bind_addr", NULL };
static const char *const descriptor[] = { "get_unused_fd_flags", NULL };

/* Twelve of sixteen pages are pinned. The rest of the call is as nobody, whose limit is not exceeded. */
static int below_memlock(struct env *env)
{
	char *map = pages(16, PROT_READ | PROT_WRITE);
	const char *function = find(pin);
	struct rlimit limit = { 16 * PAGE, 16 * PAGE };

	if (!map || !function || !ibv_reg_mr(env->pd, map, 12 * PAGE, IBV_ACCESS_LOCAL_WRITE) ||
	    setrlimit(RLIMIT_MEMLOCK, &limit))
		return unready("setrlimit");
	truth("memlock_bytes", "%lu", 16 * PAGE);
	truth("pinned_bytes", "%lu", 12 * PAGE);
	truth("requested_bytes", "%lu", 4 * PAGE);
	truth("address", "%p", map + 12 * PAGE);
	truth("length", "%lu", 4 * PAGE);
	if (arm(function, getpid(), env->fault->arg) || become_nobody())
		return -1;
	return ibv_reg_mr(env->pd, map + 12 * PAGE, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int good_memory(struct env *env)
{
	char *map = pages(4, PROT_READ | PROT_WRITE);
	const char *function = find(env->fault->arg == EAGAIN ? charge : env->fault->arg == EFAULT ? pages_of : pin);

	if (!map || !function)
		return -1;
	truth("address", "%p", map);
	truth("length", "%lu", 4 * PAGE);
	if (arm(function, getpid(), env->fault->arg))
		return -1;
	return ibv_reg_mr(env->pd, map, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int to_rtr(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);
	const char *function = find(env->fault->arg == ENODATA ? gid_of : resolve);
	union ibv_gid own;

	if (!function || read_gid(env->dev, env->opt.gid_index, &own))
		return -1;
	truth("sgid_index", "%ld", env->opt.gid_index);
	truth_gid("sgid", &own);
	truth_gid("gid", &step.attr.ah_attr.grh.dgid);
	truth("qpn", "%u", env->qp->qp_num);
	return arm(function, getpid(), env->fault->arg) ? -1 : take(env->qp, &step);
}

static int free_port(struct env *env)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7999) };
	const char *function = find(bind_addr);
	struct rdma_cm_id *id = NULL;

	inet_pton(AF_INET, "10.9.0.1", &to.sin_addr);
	if (!channel || !function || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return unready("rdma_create_id");
	truth("address", "10.9.0.1");
	truth("port", "7999");
	if (arm(function, getpid(), env->fault->arg))
		return -1;
	return rdma_bind_addr(id, (struct sockaddr *)&to) ? errno : 0;
}

static int free_descriptor(struct env *env)
{
	const char *function = find(descriptor);
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	truth("nofile", "%lu", (unsigned long)limit.rlim_cur);
	if (!function || arm(function, getpid(), env->fault->arg))
		return -1;
	return ibv_create_comp_channel(env->ctx) ? 0 : errno;
}

const struct fault kernel_faults[] = {
	{ "core-enomem", "ibv_reg_mr", "unknown", "ENOMEM of the function that checks the limit, which is not exceeded",
	  PD, below_memlock, ENOMEM },
	{ "core-enomem-root", "ibv_reg_mr", "unknown", "ENOMEM of the function that checks the limit, by root", PD,
	  good_memory, ENOMEM },
	{ "core-efault", "ibv_reg_mr", "unknown", "EFAULT of the function that pins, all memory is good", PD,
	  good_memory, EFAULT },
	{ "core-eagain", "ibv_reg_mr", "unknown", "EAGAIN of the control group's function, no limit at all", PD,
	  good_memory, EAGAIN },
	{ "core-enodata", "ibv_modify_qp", "unknown", "ENODATA of the function that finds a GID, which is there",
	  QP_INIT, to_rtr, ENODATA },
	{ "core-etimedout", "ibv_modify_qp", "unknown",
	  "ETIMEDOUT of the function that resolves, the neighbour is there", QP_INIT, to_rtr, ETIMEDOUT },
	{ "core-eaddrinuse", "rdma_bind_addr", "unknown", "EADDRINUSE, the port is free", NOTHING, free_port,
	  EADDRINUSE },
	{ "core-emfile", "ibv_create_comp_channel", "unknown", "EMFILE, descriptors are left", CONTEXT, free_descriptor,
	  EMFILE },
	{ 0 },
};
