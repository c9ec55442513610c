/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errnos without a reason from soft-RoCE (module/fbfault.c fails the verb in the driver's place), where something that
 * is often the reason is there, and is not.
 */
#include "fault.h"
#include <sys/resource.h>
#include <sys/stat.h>

static int inject(const char *operation, int error)
{
	char text[64];

	snprintf(text, sizeof(text), "%d %s %d", getpid(), operation, error);
	return write_file(text, "/sys/module/fbfault/parameters/verb");
}

static int reg_mr(struct env *env, char *map, size_t length)
{
	truth("address", "%p", map);
	truth("length", "%zu", length);
	return ibv_reg_mr(env->pd, map, length, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int good_memory(struct env *env)
{
	char *map = pages(4, PROT_READ | PROT_WRITE);

	if (!map || inject("reg_user_mr", env->fault->arg))
		return -1;
	return reg_mr(env, map, 4 * PAGE);
}

/* A mapping with a hole, and a read-only page: not those that are registered. */
static int near_bad_memory(struct env *env)
{
	char *map = pages(8, PROT_READ | PROT_WRITE);

	if (!map || munmap(map + 7 * PAGE, PAGE) || mprotect(map, PAGE, PROT_READ) ||
	    inject("reg_user_mr", env->fault->arg))
		return -1;
	truth("hole", "%p", map + 7 * PAGE);
	truth("protected", "%p", map);
	return reg_mr(env, map + PAGE, 6 * PAGE);
}

/* Three quarters of the limit are used; what is registered fits. */
static int below_memlock(struct env *env)
{
	char *map = pages(16, PROT_READ | PROT_WRITE);
	struct rlimit limit = { 16 * PAGE, 16 * PAGE };

	if (!map || setrlimit(RLIMIT_MEMLOCK, &limit))
		return unready("setrlimit");
	if (!ibv_reg_mr(env->pd, map, 12 * PAGE, IBV_ACCESS_LOCAL_WRITE) || inject("reg_user_mr", env->fault->arg) ||
	    become_nobody())
		return unready("ibv_reg_mr");
	truth("memlock_bytes", "%lu", 16 * PAGE);
	truth("pinned_bytes", "%lu", 12 * PAGE);
	truth("requested_bytes", "%lu", 4 * PAGE);
	return reg_mr(env, map + 12 * PAGE, 4 * PAGE);
}

static int unused_pd(struct env *env)
{
	if (inject("dealloc_pd", env->fault->arg))
		return -1;
	truth("handle", "%u", env->pd->handle);
	truth("users", "0");
	return ibv_dealloc_pd(env->pd);
}

static int unused_qp(struct env *env)
{
	if (inject("destroy_qp", env->fault->arg))
		return -1;
	truth("handle", "%u", env->qp->handle);
	return ibv_destroy_qp(env->qp);
}

/* A limit of the control group that is far away */
static int below_cgroup(struct env *env)
{
	char group[64], text[64];

	snprintf(group, sizeof(group), "/sys/fs/cgroup/faultbench-%d", getpid());
	snprintf(text, sizeof(text), "%d", getpid());
	if (write_file("+rdma", "/sys/fs/cgroup/cgroup.subtree_control") || mkdir(group, 0755) ||
	    write_file(text, "%s/cgroup.procs", group))
		return unready(group);
	snprintf(text, sizeof(text), "%s hca_object=10", env->dev);
	if (write_file(text, "%s/rdma.max", group) || need(env, CQ) || inject("alloc_pd", env->fault->arg))
		return -1;
	truth("cgroup", "%s", group + strlen("/sys/fs/cgroup"));
	truth("max", "10");
	truth("current", "2");
	return ibv_alloc_pd(env->ctx) ? 0 : errno;
}

static int queue(struct env *env)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };

	if (!strcmp(env->fault->verb, "ibv_create_cq"))
		return inject("create_cq", env->fault->arg)	  ? -1 :
		       ibv_create_cq(env->ctx, 16, NULL, NULL, 0) ? 0 :
								    errno;
	if (!strcmp(env->fault->verb, "ibv_create_srq"))
		return inject("create_srq", env->fault->arg) ? -1 : ibv_create_srq(env->pd, &srq) ? 0 : errno;
	if (!strcmp(env->fault->verb, "ibv_alloc_mw"))
		return inject("alloc_mw", env->fault->arg) ? -1 : ibv_alloc_mw(env->pd, IBV_MW_TYPE_1) ? 0 : errno;
	truth("send_wr", "8");
	truth("max_wr", "%d", env->attr.max_qp_wr);
	return inject("create_qp", env->fault->arg) ? -1 : create_qp(env, IBV_QPT_RC) ? 0 : errno;
}

/* As many descriptors as there may be, less three */
static int few_descriptors(struct env *env)
{
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit = { lowest + 3, lowest + 3 };

	close(lowest);
	if (inject("create_qp", env->fault->arg) || setrlimit(RLIMIT_NOFILE, &limit))
		return unready("setrlimit");
	truth("nofile", "%d", lowest + 3);
	truth("open_descriptors", "%d", lowest);
	return create_qp(env, IBV_QPT_RC) ? 0 : errno;
}

/* To RTR, all attributes good, the peer's neighbour entry too; another address's has failed. */
static int to_rtr(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	if (shell("ip neigh replace 10.9.0.88 lladdr 02:00:00:00:09:88 nud failed dev v0") ||
	    inject("modify_qp", env->fault->arg))
		return -1;
	truth_gid("gid", &step.attr.ah_attr.grh.dgid);
	truth("sgid_index", "%u", step.attr.ah_attr.grh.sgid_index);
	truth("failed_neighbour", "10.9.0.88");
	truth("qpn", "%u", env->qp->qp_num);
	return take(env->qp, &step);
}

static int to_init(struct env *env)
{
	struct step step = step_init(env);

	if (inject("modify_qp", env->fault->arg))
		return -1;
	truth("qpn", "%u", env->qp->qp_num);
	return take(env->qp, &step);
}

static int to_rts(struct env *env)
{
	struct step step = step_rts();

	if (inject("modify_qp", env->fault->arg))
		return -1;
	truth("qpn", "%u", env->qp->qp_num);
	return take(env->qp, &step);
}

static int address_handle(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	if (inject("create_user_ah", env->fault->arg))
		return -1;
	truth_gid("gid", &step.attr.ah_attr.grh.dgid);
	return ibv_create_ah(env->pd, &step.attr.ah_attr) ? 0 : errno;
}

static int attach(struct env *env)
{
	struct ibv_qp *qp = create_qp(env, IBV_QPT_UD);
	union ibv_gid gid;

	inet_pton(AF_INET6, "ff0e::ffff:ef01:204", gid.raw);
	if (!qp || inject("attach_mcast", env->fault->arg))
		return -1;
	truth("qpn", "%u", qp->qp_num);
	truth("attached", "0");
	return ibv_attach_mcast(qp, &gid, 0);
}

static int query(struct env *env)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(env->qp, &attr, IBV_QP_STATE, &init) || inject("query_qp", env->fault->arg))
		return -1;
	truth("qpn", "%u", env->qp->qp_num);
	return ibv_query_qp(env->qp, &attr, IBV_QP_STATE, &init);
}

const struct fault invented_faults[] = {
	{ "inv-enomem", "ibv_reg_mr", "unknown", "ENOMEM, a limit that is reached exactly and not exceeded", PD,
	  below_memlock, ENOMEM },
	{ "inv-eperm", "ibv_reg_mr", "unknown", "EPERM, a limit that is small and not 0", PD, below_memlock, EPERM },
	{ "inv-efault", "ibv_reg_mr", "unknown", "EFAULT, bad memory beside what is registered", PD, near_bad_memory,
	  EFAULT },
	{ "inv-mr-einval", "ibv_reg_mr", "unknown", "EINVAL, address, length and flags are good", PD, good_memory,
	  EINVAL },
	{ "inv-mr-eopnotsupp", "ibv_reg_mr", "unknown", "EOPNOTSUPP, flags that worked before", PD, good_memory,
	  EOPNOTSUPP },
	{ "inv-pd-ebusy", "ibv_dealloc_pd", "unknown", "EBUSY, nothing is in it", PD, unused_pd, EBUSY },
	{ "inv-qp-ebusy", "ibv_destroy_qp", "unknown", "EBUSY, attached to no group", QP, unused_qp, EBUSY },
	{ "inv-eagain", "ibv_alloc_pd", "unknown", "EAGAIN, the group may have 10 objects and has 2", NOTHING,
	  below_cgroup, EAGAIN },
	{ "inv-cq-enospc", "ibv_create_cq", "unknown", "ENOSPC", CONTEXT, queue, ENOSPC },
	{ "inv-srq-eio", "ibv_create_srq", "unknown", "EIO, the device is there", PD, queue, EIO },
	{ "inv-mw-enodev", "ibv_alloc_mw", "unknown", "ENODEV, the device is there", PD, queue, ENODEV },
	{ "inv-qp-einval", "ibv_create_qp", "unknown", "EINVAL, all below the limits", CQ, queue, EINVAL },
	{ "inv-qp-enoent", "ibv_create_qp", "unknown", "ENOENT, all handles are good", CQ, queue, ENOENT },
	{ "inv-qp-emfile", "ibv_create_qp", "unknown", "EMFILE, three descriptors are left", CQ, few_descriptors,
	  EMFILE },
	{ "inv-rtr-etimedout", "ibv_modify_qp", "unknown", "ETIMEDOUT, another neighbour has failed", QP_INIT, to_rtr,
	  ETIMEDOUT },
	{ "inv-rtr-enodata", "ibv_modify_qp", "unknown", "ENODATA, the GID is there", QP_INIT, to_rtr, ENODATA },
	{ "inv-rtr-einval", "ibv_modify_qp", "unknown", "EINVAL, all attributes are good", QP_INIT, to_rtr, EINVAL },
	{ "inv-init-einval", "ibv_modify_qp", "unknown", "EINVAL, all attributes are good", QP, to_init, EINVAL },
	{ "inv-rts-enodev", "ibv_modify_qp", "unknown", "ENODEV, the device is there", QP_RTR, to_rts, ENODEV },
	{ "inv-ah-enetunreach", "ibv_create_ah", "unknown", "ENETUNREACH, there is a route", PD, address_handle,
	  ENETUNREACH },
	{ "inv-mcast-eexist", "ibv_attach_mcast", "unknown", "EEXIST, attached to no group", CQ, attach, EEXIST },
	{ "inv-mcast-enomem", "ibv_attach_mcast", "unknown", "ENOMEM, the group is empty", CQ, attach, ENOMEM },
	{ "inv-query-edom", "ibv_query_qp", "unknown", "EDOM", QP, query, EDOM },
	{ 0 },
};
