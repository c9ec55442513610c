// SPDX-License-Identifier: GPL-2.0-or-later
/* Types, flags and capabilities of queues that are created, as the RDMA core checks them before it asks the driver. */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

/* enum ib_uverbs_qp_create_flags, ib_uverbs_ex_create_cq_flags, ib_uverbs_wq_flags */
#define QP_SIG_ALL (1u << 31)
#define CQ_TIMESTAMP 1u
#define QPT_DRIVER 0xffu
#define SRQT_LAST 2u

static bool is_create_qp(const struct rd_event *ev)
{
	return rd_is_verb(ev, "ibv_create_qp") || rd_is_verb(ev, "ibv_create_qp_ex");
}

static bool is_create_cq(const struct rd_event *ev)
{
	return rd_is_verb(ev, "ibv_create_cq") || rd_is_verb(ev, "ibv_create_cq_ex");
}

static bool find_qp_type(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_QP_TYPE];

	if (!is_create_qp(f->event) || !rd_req_has(&f->event->request, RD_REQ_QP_TYPE) || type == QPT_DRIVER ||
	    rd_qp_type_name((unsigned)type))
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "qp_type is %" PRIu64 ", which does not exist", type);
	rd_explain_fix(ret, "# use a value of enum ibv_qp_type: IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD");
	return true;
}

/* check_creation_flags(). Older commands have other flags, which the core passes on to the driver. */
static bool find_qp_flags(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t flags = r->v[RD_REQ_FLAGS] & ~(uint64_t)QP_SIG_ALL, type = r->v[RD_REQ_QP_TYPE];
	const char *name = rd_qp_type_name((unsigned)type);

	if (!is_create_qp(f->event) || !rd_req_has(r, RD_REQ_FLAGS) || !flags || !rd_req_has(r, RD_REQ_QP_TYPE) ||
	    type == RD_QPT_UD || type == RD_QPT_RAW_PACKET || type == QPT_DRIVER || rd_failure_in_driver(f))
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
		   "create_flags is 0x%" PRIx64 ", and queue pairs of type %s have no such flags", flags,
		   name ? name : "?");
	rd_explain_fix(ret, "# leave create_flags 0\n# only UD and raw packet queue pairs have flags");
	return true;
}

/* The kernel checks the capability against the initial user namespace. */
static bool find_raw(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	bool has = m->caps.known == RD_OK && m->caps.v >> CAP_NET_RAW & 1,
	     inner = m->user_ns_level.known == RD_OK && m->user_ns_level.v;

	if (f->event->err != -EPERM || !is_create_qp(f->event) ||
	    f->event->request.v[RD_REQ_QP_TYPE] != RD_QPT_RAW_PACKET || m->caps.known != RD_OK || (has && !inner))
		return false;
	rd_explain(ret, "capability-missing", RD_CONFIDENCE_HIGH,
		   "raw packet queue pairs need CAP_NET_RAW, which the process %s",
		   has ? "has only in its user namespace" : "does not have");
	rd_explain_fact(ret, "effective capabilities: 0x%" PRIx64 "%s", m->caps.v,
			inner ? ", of a user namespace that is not the initial one" : "");
	rd_explain_fix(ret, has ? "# run it outside of the user namespace (a rootless container has one)" :
				  "# give its file the capability (setcap cap_net_raw=ep), or its container NET_RAW");
	return true;
}

/* ib_uverbs_modify_qp(): a Q_Key with the highest bit is a controlled one. */
static bool find_qkey(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment *m = &f->event->moment;
	bool has = m->caps.known == RD_OK && m->caps.v >> CAP_NET_RAW & 1,
	     inner = m->user_ns_level.known == RD_OK && m->user_ns_level.v;

	if (f->event->err != -EPERM || !rd_is_verb(f->event, "ibv_modify_qp") || !rd_req_has(r, RD_REQ_QKEY) ||
	    !(r->v[RD_REQ_MASK] >> 6 & 1) || !(r->v[RD_REQ_QKEY] >> 31) || m->caps.known != RD_OK || (has && !inner))
		return false;
	rd_explain(ret, "capability-missing", RD_CONFIDENCE_HIGH,
		   "qkey 0x%" PRIx64
		   " is a controlled Q_Key (its highest bit is set), which needs CAP_NET_RAW; the process %s",
		   r->v[RD_REQ_QKEY], has ? "has it only in its user namespace" : "does not have it");
	rd_explain_fact(ret, "effective capabilities: 0x%" PRIx64, m->caps.v);
	rd_explain_fix(ret, "rdma system\n# use a Q_Key below 0x80000000, or give the program CAP_NET_RAW\n"
			    "# privileged-qkey of rdma system permits it to all users");
	return true;
}

/* A queue pair of these types needs completion queues, which a request by ioctl may leave out. */
static bool find_no_cq(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t type = r->v[RD_REQ_QP_TYPE];

	if (f->event->err != -ENOENT || !is_create_qp(f->event) || !rd_req_has(r, RD_REQ_QP_TYPE) ||
	    (type != RD_QPT_RC && type != RD_QPT_UC && type != RD_QPT_UD) ||
	    (rd_req_has(r, RD_REQ_H_CQ) && rd_req_has(r, RD_REQ_H_RECV_CQ)))
		return false;
	rd_explain(ret, "request-malformed", RD_CONFIDENCE_HIGH, "the request names no completion queue for %s",
		   rd_req_has(r, RD_REQ_H_CQ) ? "receives" : "sends");
	rd_explain_fix(ret, "# set send_cq and recv_cq");
	return true;
}

static bool find_srq_type(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_SRQ_TYPE];

	if (f->event->err != -EINVAL || !rd_req_has(&f->event->request, RD_REQ_SRQ_TYPE) || type <= SRQT_LAST)
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "srq_type is %" PRIu64 ", which does not exist", type);
	rd_explain_fix(ret, "# use a value of enum ibv_srq_type");
	return true;
}

/* Flags that the driver (EOPNOTSUPP) or the core (EINVAL, in uverbs_get_flags32) refuses. */
static bool find_cq_flags(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t flags = f->event->request.v[RD_REQ_FLAGS];

	if (!is_create_cq(f->event) || !rd_req_has(&f->event->request, RD_REQ_FLAGS) || !flags)
		return false;
	if (f->event->err == -EINVAL && (rd_failure_origin_is(f, "uverbs_get_flags*") || flags > 0xff)) {
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
			   "flags is 0x%" PRIx64 ", which contains bits that this kernel does not know", flags);
		rd_explain_fix(ret, "# use flags that libibverbs defines\n# a library newer than the kernel may know "
				    "more of them");
		return true;
	}
	if (f->event->err != -EOPNOTSUPP || !f->event->origin_exact || !rd_failure_in_driver(f))
		return false;
	rd_explain(ret, "not-supported", RD_CONFIDENCE_HIGH,
		   "the driver of %s does not support the flags 0x%" PRIx64 "%s",
		   f->event->ibdev ? f->event->ibdev : "the device", flags,
		   flags == CQ_TIMESTAMP ? " (timestamps of completions)" : "");
	rd_explain_fix(ret, "# create the completion queue without them");
	return true;
}

static bool find_create(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (f->event->err == -EINVAL && (find_qp_type(f, ret) || find_qp_flags(f, ret)))
		return true;
	return find_raw(f, ret) || find_qkey(f, ret) || find_no_cq(f, ret) || find_srq_type(f, ret) ||
	       find_cq_flags(f, ret);
}

const struct rd_cause_rule rd_cause_create = { .errnos = { EINVAL, EPERM, ENOENT, EOPNOTSUPP }, .find = find_create };
