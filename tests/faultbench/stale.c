/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles of objects that are gone, or of another type. libibverbs frees what it destroys, so a second object lends its
 * structure, with the handle of the first.
 */
#include "fault.h"

enum object { A_QP, A_CQ, A_MR, A_AH, A_SRQ, A_MW, A_PD };

static const char *const type_names[] = { "QP", "CQ", "MR", "AH", "SRQ", "MW", "PD" };

static void *create(struct env *env, enum object type)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct step path = step_rtr(env, env->opt.peer);
	char *map = pages(1, PROT_READ | PROT_WRITE);

	switch (type) {
	case A_QP:
		return create_qp(env, IBV_QPT_RC);
	case A_CQ:
		return ibv_create_cq(env->ctx, 16, NULL, NULL, 0);
	case A_MR:
		return map ? ibv_reg_mr(env->pd, map, PAGE, IBV_ACCESS_LOCAL_WRITE) : NULL;
	case A_AH:
		return ibv_create_ah(env->pd, &path.attr.ah_attr);
	case A_SRQ:
		return ibv_create_srq(env->pd, &srq);
	case A_MW:
		return ibv_alloc_mw(env->pd, IBV_MW_TYPE_1);
	case A_PD:
		return ibv_alloc_pd(env->ctx);
	}
	return NULL;
}

static int destroy(enum object type, void *object)
{
	switch (type) {
	case A_QP:
		return ibv_destroy_qp(object);
	case A_CQ:
		return ibv_destroy_cq(object);
	case A_MR:
		return ibv_dereg_mr(object);
	case A_AH:
		return ibv_destroy_ah(object);
	case A_SRQ:
		return ibv_destroy_srq(object);
	case A_MW:
		return ibv_dealloc_mw(object);
	case A_PD:
		return ibv_dealloc_pd(object);
	}
	return -1;
}

static uint32_t *handle_of(enum object type, void *object)
{
	static const size_t at[] = {
		[A_QP] = offsetof(struct ibv_qp, handle),   [A_CQ] = offsetof(struct ibv_cq, handle),
		[A_MR] = offsetof(struct ibv_mr, handle),   [A_AH] = offsetof(struct ibv_ah, handle),
		[A_SRQ] = offsetof(struct ibv_srq, handle), [A_MW] = offsetof(struct ibv_mw, handle),
		[A_PD] = offsetof(struct ibv_pd, handle),
	};

	return (uint32_t *)((char *)object + at[type]);
}

/* An object whose handle was that of one that is destroyed */
static void *stale(struct env *env, enum object type)
{
	void *gone = create(env, type), *left = create(env, type);
	uint32_t handle;

	if (!gone || !left) {
		unready(type_names[type]);
		return NULL;
	}
	handle = *handle_of(type, gone);
	if (destroy(type, gone)) {
		unready(type_names[type]);
		return NULL;
	}
	*handle_of(type, left) = handle;
	truth("handle", "%u", handle);
	truth("wanted_type", "%s", type_names[type]);
	return left;
}

static int twice(struct env *env)
{
	void *object = stale(env, env->fault->arg);

	return object ? destroy(env->fault->arg, object) : -1;
}

/* The handle of a CQ, for each other type; that of the PD for a CQ */
static int other_type(struct env *env)
{
	enum object type = env->fault->arg, actual = type == A_CQ ? A_PD : A_CQ;
	void *object = create(env, type);

	if (!object)
		return unready(type_names[type]);
	*handle_of(type, object) = actual == A_PD ? env->pd->handle : env->cq->handle;
	truth("handle", "%u", *handle_of(type, object));
	truth("wanted_type", "%s", type_names[type]);
	truth("actual_type", "%s", type_names[actual]);
	return destroy(type, object);
}

static int stale_modify_qp(struct env *env)
{
	struct ibv_qp *qp = stale(env, A_QP);
	struct step step = step_init(env);

	return qp ? take(qp, &step) : -1;
}

static int stale_query_qp(struct env *env)
{
	struct ibv_qp *qp = stale(env, A_QP);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return qp ? ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) : -1;
}

static int stale_attach(struct env *env)
{
	struct ibv_qp *qp = stale(env, A_QP);
	union ibv_gid gid;

	inet_pton(AF_INET6, "ff0e::ffff:ef01:203", gid.raw);
	return qp ? ibv_attach_mcast(qp, &gid, 0) : -1;
}

static int stale_post_send(struct env *env)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_qp *qp = stale(env, A_QP);

	return qp ? ibv_post_send(qp, &wr, &bad) : -1;
}

static int stale_resize_cq(struct env *env)
{
	struct ibv_cq *cq = stale(env, A_CQ);

	return cq ? ibv_resize_cq(cq, 32) : -1;
}

static int stale_notify(struct env *env)
{
	struct ibv_cq *cq = stale(env, A_CQ);

	return cq ? ibv_req_notify_cq(cq, 0) : -1;
}

static int stale_modify_srq(struct env *env)
{
	struct ibv_srq *srq = stale(env, A_SRQ);
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	return srq ? ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) : -1;
}

static int stale_query_srq(struct env *env)
{
	struct ibv_srq *srq = stale(env, A_SRQ);
	struct ibv_srq_attr attr;

	return srq ? ibv_query_srq(srq, &attr) : -1;
}

/* In a PD that is gone, or in a CQ */
static int in_pd(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);
	struct ibv_pd *pd = env->pd;

	if (!strcmp(env->fault->cause, "handle-stale")) {
		pd = stale(env, A_PD);
		if (!pd)
			return -1;
	} else {
		pd->handle = env->cq->handle;
		truth("handle", "%u", pd->handle);
		truth("wanted_type", "PD");
		truth("actual_type", "CQ");
	}
	env->pd = pd;
	if (env->fault->arg == A_MR) {
		truth("address", "%p", map);
		truth("length", "%lu", PAGE);
	}
	return create(env, env->fault->arg) ? 0 : errno;
}

static int modify_qp_type(struct env *env)
{
	struct step step = step_init(env);

	env->qp->handle = env->cq->handle;
	truth("handle", "%u", env->qp->handle);
	truth("wanted_type", "QP");
	truth("actual_type", "CQ");
	return take(env->qp, &step);
}

const struct fault stale_faults[] = {
	{ "qp-twice", "ibv_destroy_qp", "handle-stale", "destroyed a second time", CQ, twice, A_QP },
	{ "cq-twice", "ibv_destroy_cq", "handle-stale", "destroyed a second time", PD, twice, A_CQ },
	{ "mr-twice", "ibv_dereg_mr", "handle-stale", "deregistered a second time", PD, twice, A_MR },
	{ "ah-twice", "ibv_destroy_ah", "handle-stale", "destroyed a second time", PD, twice, A_AH },
	{ "srq-twice", "ibv_destroy_srq", "handle-stale", "destroyed a second time", PD, twice, A_SRQ },
	{ "mw-twice", "ibv_dealloc_mw", "handle-stale", "deallocated a second time", PD, twice, A_MW },
	{ "pd-twice", "ibv_dealloc_pd", "handle-stale", "deallocated a second time", CONTEXT, twice, A_PD },
	{ "qp-destroy-type", "ibv_destroy_qp", "handle-type", "a CQ for a QP", CQ, other_type, A_QP },
	{ "cq-destroy-type", "ibv_destroy_cq", "handle-type", "a PD for a CQ", CQ, other_type, A_CQ },
	{ "mr-dereg-type", "ibv_dereg_mr", "handle-type", "a CQ for an MR", CQ, other_type, A_MR },
	{ "modify-stale", "ibv_modify_qp", "handle-stale", "a queue pair that was destroyed", CQ, stale_modify_qp, 0 },
	{ "modify-type", "ibv_modify_qp", "handle-type", "a CQ for a queue pair", QP, modify_qp_type, 0 },
	{ "query-qp-stale", "ibv_query_qp", "handle-stale", "a queue pair that was destroyed", CQ, stale_query_qp, 0 },
	{ "mcast-stale", "ibv_attach_mcast", "handle-stale", "a queue pair that was destroyed", CQ, stale_attach, 0 },
	{ "post-send-stale", "ibv_post_send", "handle-stale", "a queue pair that was destroyed", CQ, stale_post_send,
	  0 },
	{ "cq-resize-stale", "ibv_resize_cq", "handle-stale", "a CQ that was destroyed", PD, stale_resize_cq, 0 },
	{ "cq-notify-stale", "ibv_req_notify_cq", "handle-stale", "a CQ that was destroyed", PD, stale_notify, 0 },
	{ "srq-modify-stale", "ibv_modify_srq", "handle-stale", "an SRQ that was destroyed", PD, stale_modify_srq, 0 },
	{ "srq-query-stale", "ibv_query_srq", "handle-stale", "an SRQ that was destroyed", PD, stale_query_srq, 0 },
	{ "mr-pd-stale", "ibv_reg_mr", "handle-stale", "in a PD that was deallocated", PD, in_pd, A_MR },
	{ "mr-pd-type", "ibv_reg_mr", "handle-type", "in a CQ", CQ, in_pd, A_MR },
	{ "ah-pd-stale", "ibv_create_ah", "handle-stale", "in a PD that was deallocated", PD, in_pd, A_AH },
	{ "srq-pd-stale", "ibv_create_srq", "handle-stale", "in a PD that was deallocated", PD, in_pd, A_SRQ },
	{ "mw-pd-stale", "ibv_alloc_mw", "handle-stale", "in a PD that was deallocated", PD, in_pd, A_MW },
	{ "mw-pd-type", "ibv_alloc_mw", "handle-type", "in a CQ", CQ, in_pd, A_MW },
	{ 0 },
};
