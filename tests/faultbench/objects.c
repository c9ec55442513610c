/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects that something uses, memory windows, multicast groups, work that is posted.
 */
#include "fault.h"

/* A PD with one object in it */
enum user { HAS_MR, HAS_QP, HAS_AH, HAS_SRQ, HAS_MW };

static int pd_in_use(struct env *env)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct step path = step_rtr(env, env->opt.peer);
	char *map = pages(1, PROT_READ | PROT_WRITE);
	const char *name = "MR";
	bool made = false;

	switch ((enum user)env->fault->arg) {
	case HAS_MR:
		made = map && ibv_reg_mr(env->pd, map, PAGE, IBV_ACCESS_LOCAL_WRITE);
		break;
	case HAS_QP:
		name = "QP";
		made = !need(env, QP);
		break;
	case HAS_AH:
		name = "AH";
		made = ibv_create_ah(env->pd, &path.attr.ah_attr);
		break;
	case HAS_SRQ:
		name = "SRQ";
		made = ibv_create_srq(env->pd, &srq);
		break;
	case HAS_MW:
		name = "MW";
		made = ibv_alloc_mw(env->pd, IBV_MW_TYPE_1);
	}
	if (!made)
		return unready(name);
	truth("handle", "%u", env->pd->handle);
	truth("users", "1");
	truth("user_type", "%s", name);
	return ibv_dealloc_pd(env->pd);
}

static int mw_type(struct env *env)
{
	truth("mw_type", "%d", env->fault->arg);
	return ibv_alloc_mw(env->pd, env->fault->arg) ? 0 : errno;
}

static int wait_for_completion(struct env *env)
{
	struct ibv_wc wc;

	for (int ms = 0; ms < 5000; ms++) {
		if (ibv_poll_cq(env->cq, 1, &wc) == 1)
			return wc.status ? unready(ibv_wc_status_str(wc.status)) : 0;
		usleep(1000);
	}
	return unready("no completion");
}

/* Memory that a window is bound to */
static int mr_bound(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);
	struct ibv_mr *mr = map ? ibv_reg_mr(env->pd, map, PAGE, RDWR | IBV_ACCESS_MW_BIND) : NULL;
	struct ibv_mw *mw = ibv_alloc_mw(env->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = mr,
			.addr = (uintptr_t)map,
			.length = PAGE,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ,
		},
	};

	if (!mr || !mw || ibv_bind_mw(env->qp, mw, &bind) || wait_for_completion(env))
		return unready("ibv_bind_mw");
	truth("handle", "%u", mr->handle);
	truth("windows", "1");
	return ibv_dereg_mr(mr);
}

/* Work for a queue pair that takes none */
static int post_send(struct env *env)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	truth("qpn", "%u", env->qp->qp_num);
	truth("state", "%s", env->fault->needs == QP ? "RESET" : env->fault->needs == QP_INIT ? "INIT" : "RTR");
	return ibv_post_send(env->qp, &wr, &bad);
}

/* Multicast. The group is 239.x.x.x or ff0e::. */

static struct ibv_qp *create_ud(struct env *env)
{
	struct ibv_qp *qp = create_qp(env, IBV_QPT_UD);

	if (!qp)
		unready("ibv_create_qp");
	return qp;
}

static union ibv_gid group(void)
{
	union ibv_gid gid;

	inet_pton(AF_INET6, "ff0e::ffff:ef01:203", gid.raw);
	return gid;
}

/* 1: an IPv4 group as a mapped address, which the kernel takes, too */
static int attach_type(struct env *env)
{
	union ibv_gid gid = group();

	if (env->fault->arg)
		ipv4_gid("239.1.2.3", &gid);
	truth("qpn", "%u", env->qp->qp_num);
	truth("qp_type", "RC");
	truth_gid("gid", &gid);
	return ibv_attach_mcast(env->qp, &gid, 0);
}

static int attach_unicast(struct env *env)
{
	struct ibv_qp *qp = create_ud(env);
	union ibv_gid gid;

	if (!qp || ipv4_gid("10.9.0.2", &gid))
		return -1;
	truth("qpn", "%u", qp->qp_num);
	truth_gid("gid", &gid);
	return ibv_attach_mcast(qp, &gid, 0);
}

static int attach_many(struct env *env)
{
	union ibv_gid gid = group();
	struct ibv_qp *qp = NULL;
	int limit = env->attr.max_mcast_qp_attach;

	for (int i = 0; i <= limit; i++) {
		qp = create_ud(env);
		if (!qp)
			return -1;
		if (i < limit && ibv_attach_mcast(qp, &gid, 0))
			return unready("ibv_attach_mcast");
	}
	truth("qpn", "%u", qp->qp_num);
	truth("attached", "%d", limit);
	truth("max_mcast_qp_attach", "%d", limit);
	truth_gid("gid", &gid);
	return ibv_attach_mcast(qp, &gid, 0);
}

static int detach(struct env *env)
{
	struct ibv_qp *qp = create_ud(env);
	union ibv_gid gid = group(), other = gid;

	other.raw[15]++;
	if (env->fault->arg == 2)
		ipv4_gid("239.1.2.3", &gid);
	if (!qp || (env->fault->arg && ibv_attach_mcast(qp, &other, 0)))
		return -1;
	truth("qpn", "%u", qp->qp_num);
	truth_gid("gid", &gid);
	if (env->fault->arg)
		truth_gid("attached_gid", &other);
	return ibv_detach_mcast(qp, &gid, 0);
}

static int qp_attached(struct env *env)
{
	struct ibv_qp *qp = create_ud(env);
	union ibv_gid gid = group();

	if (!qp || ibv_attach_mcast(qp, &gid, 0))
		return unready("ibv_attach_mcast");
	truth("qpn", "%u", qp->qp_num);
	truth("handle", "%u", qp->handle);
	truth_gid("attached_gid", &gid);
	return ibv_destroy_qp(qp);
}

const struct fault object_faults[] = {
	{ "pd-has-mr", "ibv_dealloc_pd", "object-in-use", "memory is registered in it", PD, pd_in_use, HAS_MR },
	{ "pd-has-qp", "ibv_dealloc_pd", "object-in-use", "a queue pair is in it", CQ, pd_in_use, HAS_QP },
	{ "pd-has-ah", "ibv_dealloc_pd", "object-in-use", "an address handle is in it", PD, pd_in_use, HAS_AH },
	{ "pd-has-srq", "ibv_dealloc_pd", "object-in-use", "an SRQ is in it", PD, pd_in_use, HAS_SRQ },
	{ "pd-has-mw", "ibv_dealloc_pd", "object-in-use", "a memory window is in it", PD, pd_in_use, HAS_MW },
	{ "mr-bound", "ibv_dereg_mr", "object-in-use", "a memory window is bound to it: EINVAL", QP_RTS, mr_bound, 0 },
	{ "qp-attached", "ibv_destroy_qp", "object-in-use", "attached to a multicast group", CQ, qp_attached, 0 },
	{ "mw-type", "ibv_alloc_mw", "attribute-value", "a type that does not exist", PD, mw_type, 9 },
	{ "post-send-reset", "ibv_post_send", "qp-state", "a send to a queue pair in RESET", QP, post_send, 0 },
	{ "post-send-init", "ibv_post_send", "qp-state", "a send to a queue pair in INIT", QP_INIT, post_send, 0 },
	{ "post-send-rtr", "ibv_post_send", "qp-state", "a send to a queue pair in RTR", QP_RTR, post_send, 0 },
	{ "mcast-rc", "ibv_attach_mcast", "qp-type", "an RC queue pair", QP, attach_type, 0 },
	{ "mcast-rc-ipv4", "ibv_attach_mcast", "qp-type", "an RC queue pair, and a mapped IPv4 group", QP, attach_type,
	  1 },
	{ "mcast-unicast", "ibv_attach_mcast", "multicast-address", "a GID that is no multicast GID", CQ,
	  attach_unicast, 0 },
	{ "mcast-many", "ibv_attach_mcast", "multicast-limit", "more queue pairs than a group may have", CQ,
	  attach_many, 0 },
	{ "mcast-never", "ibv_detach_mcast", "multicast-not-attached", "never attached", CQ, detach, 0 },
	{ "mcast-other", "ibv_detach_mcast", "multicast-not-attached", "attached to another group", CQ, detach, 1 },
	{ "mcast-other-ipv4", "ibv_detach_mcast", "multicast-not-attached", "a mapped IPv4 group, attached to another",
	  CQ, detach, 2 },
	{ 0 },
};
