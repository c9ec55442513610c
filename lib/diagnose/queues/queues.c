// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues and groups: types and flags, sizes beyond the limits of the device, multicast. */
#include <linux/capability.h>

#include "base/buf.h"
#include "diagnose/shared/rule.h"

/* Types, flags and capabilities of queues that are created, as the RDMA core checks them before it asks the driver. */

/* enum ib_uverbs_qp_create_flags, ib_uverbs_ex_create_cq_flags, ib_uverbs_wq_flags */
#define QP_SIG_ALL (1u << 31)
#define CQ_TIMESTAMP 1u
#define QPT_DRIVER 0xffu
#define SRQT_LAST 2u

static bool is_create_qp(const struct rd_event *ev)
{
	return rd_is_verb(ev, "ibv_create_qp?(_ex)");
}

static bool find_qp_type(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_QP_TYPE];

	if (!is_create_qp(f->event) || !rd_req_has(&f->event->request, RD_REQ_QP_TYPE) || type == QPT_DRIVER ||
	    rd_qp_type_name((unsigned)type))
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "qp_type is %" PRIu64 ", which does not exist", type);
	return rd_explain_fix(ret, "# use a value of enum ibv_qp_type: IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD");
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
		   "create_flags is 0x%" PRIx64 ", and queue pairs of type %s have no such flags", flags, name ?: "?");
	return rd_explain_fix(ret, "# leave create_flags 0\n# only UD and raw packet queue pairs have flags");
}

/* Raw packets and flow steering: the kernel checks the capability against the initial user namespace. */
static bool find_raw(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	bool has = m->caps.known == RD_OK && m->caps.v >> CAP_NET_RAW & 1,
	     inner = m->user_ns_level.known == RD_OK && m->user_ns_level.v,
	     flow = rd_is_verb(f->event, "ibv_create_flow") && !rd_failure_in_driver(f);

	if (f->event->err != -EPERM ||
	    (!flow && (!is_create_qp(f->event) || f->event->request.v[RD_REQ_QP_TYPE] != RD_QPT_RAW_PACKET)) ||
	    m->caps.known != RD_OK || (has && !inner))
		return false;
	rd_explain(ret, "capability-missing", RD_CONFIDENCE_HIGH, "%s CAP_NET_RAW, which the process %s",
		   flow ? "flow steering needs" : "raw packet queue pairs need",
		   has ? "has only in its user namespace" : "does not have");
	rd_explain_fact(ret, "effective capabilities: 0x%" PRIx64 "%s", m->caps.v,
			inner ? ", of a user namespace that is not the initial one" : "");
	return rd_explain_fix(ret,
			      has ? "# run it outside of the user namespace (a rootless container has one)" :
				    "# give its file the capability (setcap cap_net_raw=ep), or its container NET_RAW");
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
	return rd_explain_fix(ret, "rdma system\n# use a Q_Key below 0x80000000, or give the program CAP_NET_RAW\n"
				   "# privileged-qkey of rdma system permits it to all users");
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
	return rd_explain_fix(ret, "# set send_cq and recv_cq");
}

static bool find_srq_type(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_SRQ_TYPE];

	if (f->event->err != -EINVAL || !rd_req_has(&f->event->request, RD_REQ_SRQ_TYPE) || type <= SRQT_LAST)
		return false;
	rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "srq_type is %" PRIu64 ", which does not exist", type);
	return rd_explain_fix(ret, "# use a value of enum ibv_srq_type");
}

/* Flags that the driver (EOPNOTSUPP) or the core (EINVAL, in uverbs_get_flags32) refuses. */
static bool find_cq_flags(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t flags = f->event->request.v[RD_REQ_FLAGS];

	if (!rd_is_verb(f->event, "ibv_create_cq?(_ex)") || !rd_req_has(&f->event->request, RD_REQ_FLAGS) || !flags)
		return false;
	if (f->event->err == -EINVAL && (rd_failure_origin_is(f, "uverbs_get_flags*") || flags > 0xff)) {
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
			   "flags is 0x%" PRIx64 ", which contains bits that this kernel does not know", flags);
		return rd_explain_fix(ret,
				      "# use flags that libibverbs defines\n# a library newer than the kernel may know "
				      "more of them");
	}
	if (f->event->err != -EOPNOTSUPP || !f->event->origin_exact || !rd_failure_in_driver(f))
		return false;
	rd_explain(ret, "not-supported", RD_CONFIDENCE_HIGH,
		   "the driver of %s does not support the flags 0x%" PRIx64 "%s", f->event->ibdev ?: "the device",
		   flags, flags == CQ_TIMESTAMP ? " (timestamps of completions)" : "");
	return rd_explain_fix(ret, "# create the completion queue without them");
}

bool rd_find_create(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (f->event->err == -EINVAL && (find_qp_type(f, ret) || find_qp_flags(f, ret)))
		return true;
	return find_raw(f, ret) || find_qkey(f, ret) || find_no_cq(f, ret) || find_srq_type(f, ret) ||
	       find_cq_flags(f, ret);
}

/* Sizes of queues and groups beyond the limits of the device. */

static const struct limit {
	uint8_t field; /* enum rd_req_field */
	const char *attr;
	bool zero; /* 0 is refused, too */
} limits[] = {
	{ RD_REQ_CQE, "max_cqe", true },	  { RD_REQ_SEND_WR, "max_qp_wr", false },
	{ RD_REQ_RECV_WR, "max_qp_wr", false },	  { RD_REQ_SEND_SGE, "max_sge", false },
	{ RD_REQ_RECV_SGE, "max_sge", false },	  { RD_REQ_SRQ_WR, "max_srq_wr", true },
	{ RD_REQ_SRQ_SGE, "max_srq_sge", false },
};

/* modify_srq: which of the two it changes, enum ib_srq_attr_mask. */
#define SRQ_MAX_WR 1u
#define SRQ_LIMIT 2u

static bool is_given(const struct rd_failure *f, const struct limit *l)
{
	const struct rd_request *r = &f->event->request;

	/* Receives come from the shared receive queue. */
	if ((l->field == RD_REQ_RECV_WR || l->field == RD_REQ_RECV_SGE) &&
	    (r->v[RD_REQ_IS_SRQ] || (!rd_req_has(r, RD_REQ_IS_SRQ) && rd_req_has(r, RD_REQ_H_SRQ))))
		return false;
	if (l->field == RD_REQ_SRQ_WR && rd_req_has(r, RD_REQ_SRQ_MASK) && !(r->v[RD_REQ_SRQ_MASK] & SRQ_MAX_WR))
		return false;
	return rd_req_has(r, l->field);
}

static size_t check_limits(const struct rd_failure *f, struct rd_explanation *ret)
{
	_cleanup_buf_ struct rd_buf all = { 0 };
	enum rd_confidence confidence = RD_CONFIDENCE_MEDIUM;
	const char *id = NULL;
	size_t n = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(limits); i++) {
		const struct limit *l = &limits[i];
		uint64_t v = f->event->request.v[l->field], most = 0;
		/* No core compares others: then the driver was not asked. */
		bool possible = l->field == RD_REQ_CQE || !f->event->origin_exact || rd_failure_in_driver(f);
		bool known = rd_failure_attr(f, l->attr, &most) && possible;

		if (!is_given(f, l) || ((!known || v <= most) && !(l->zero && !v)))
			continue;
		rd_buf_printf(&all, "%s%s is %" PRIu64, n ? "; or " : "", rd_req_name(l->field), v);
		if (v)
			rd_buf_printf(&all, ", and %s of %s is %" PRIu64, l->attr, f->event->ibdev, most);
		if (!n++) {
			bool sge = l->field == RD_REQ_SEND_SGE || l->field == RD_REQ_RECV_SGE;

			id = v ? "limit-exceeded" : "attribute-value";
			/* Limits are the driver's: errors of the core are about something else, but the core of Linux 7 refuses
			 * 0 completions itself, and not every driver does. "max_sge" is the lower one of the limits for sends
			 * and receives. ENOMEM may be about memory. */
			confidence = rd_failure_in_driver(f) == (v != 0) && !sge && f->event->err != -ENOMEM ?
					     RD_CONFIDENCE_HIGH :
					     RD_CONFIDENCE_MEDIUM;
		}
	}
	if (n)
		rd_explain(ret, id, n == 1 ? confidence : RD_CONFIDENCE_MEDIUM, "%s%s", n > 1 ? "one of these: " : "",
			   all.data);
	return n;
}

/* The core checks the vector before it asks the driver, which checks the other values. */
static bool find_vector(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t v = f->event->request.v[RD_REQ_COMP_VECTOR], n;

	if (f->event->err != -EINVAL || rd_failure_in_driver(f) ||
	    !rd_req_has(&f->event->request, RD_REQ_COMP_VECTOR) || !rd_failure_attr(f, "num_comp_vectors", &n) || v < n)
		return false;
	rd_explain(ret, "limit-exceeded", RD_CONFIDENCE_HIGH,
		   "comp_vector is %" PRIu64 ", and %s has %" PRIu64 " completion vector%s, counted from 0", v,
		   f->event->ibdev, n, n == 1 ? "" : "s");
	return rd_explain_fix(ret, "# use a number below num_comp_vectors of the context");
}

/* The number of receives at which an event is sent must not exceed the size of the queue, which only the driver knows and compares. */
static bool find_srq_limit(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t limit = r->v[RD_REQ_SRQ_LIMIT], mask = r->v[RD_REQ_SRQ_MASK], size;

	if (!rd_req_has(r, RD_REQ_SRQ_MASK) || !(mask & SRQ_LIMIT) || f->event->err != -EINVAL ||
	    !rd_failure_in_driver(f) || !rd_failure_attr(f, "max_srq_wr", &size))
		return false;
	if (limit > size)
		rd_explain(ret, "limit-exceeded", RD_CONFIDENCE_HIGH,
			   "srq_limit is %" PRIu64 ", and max_srq_wr of the device is %" PRIu64, limit, size);
	else if (mask & SRQ_MAX_WR && limit > r->v[RD_REQ_SRQ_WR])
		rd_explain(ret, "limit-exceeded", RD_CONFIDENCE_MEDIUM,
			   "srq_limit is %" PRIu64 ", and max_wr of the request is %" PRIu64, limit,
			   r->v[RD_REQ_SRQ_WR]);
	else if (limit && mask == SRQ_LIMIT && f->event->origin_exact)
		rd_explain(ret, "limit-exceeded", RD_CONFIDENCE_MEDIUM,
			   "srq_limit is %" PRIu64
			   ", the only value of the request: the shared receive queue probably has fewer work requests",
			   limit);
	else
		return false;
	return rd_explain_fix(ret, "# use a limit below max_wr of the shared receive queue (ibv_query_srq)");
}

/* No interface reports the limit of inline data: it is the only suspect left. */
static bool find_inline(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t v = f->event->request.v[RD_REQ_INLINE];

	if (!rd_req_has(&f->event->request, RD_REQ_INLINE) || !v || !f->n_attrs || !rd_failure_origin_is(f, "*chk*"))
		return false;
	rd_explain(ret, "limit-exceeded", RD_CONFIDENCE_MEDIUM,
		   "max_inline_data is %" PRIu64 " byte%s, and all other sizes are within the limits of %s", v,
		   v == 1 ? "" : "s", f->event->ibdev);
	rd_explain_fact(
		ret,
		"the kernel does not report the limit of inline data of a device, which also depends on the type of "
		"the queue pair");
	return rd_explain_fix(ret,
			      "# request less inline data or 0, and use what ibv_create_qp returns in max_inline_data");
}

bool rd_find_queue_limits(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	size_t n;

	if (find_vector(f, ret))
		return true;
	n = check_limits(f, ret);
	if (n)
		return rd_explain_fix(ret, "# request 1 to the limits of the device: ibv_query_device, ibv_devinfo -v");
	if (find_srq_limit(f, ret) || find_inline(f, ret))
		return true;
	if (f->n_attrs &&
	    (rd_req_has(&f->event->request, RD_REQ_CQE) || rd_req_has(&f->event->request, RD_REQ_SEND_WR) ||
	     rd_req_has(&f->event->request, RD_REQ_SRQ_WR)))
		rd_explain_fact(looked, "all sizes of the request are within the limits of %s", f->event->ibdev);
	return false;
}

/* Multicast groups: ib_attach_mcast(), ib_detach_mcast(). */

static bool find_address(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);
	const uint8_t *gid = f->event->request.gid;

	if (!rd_is_multicast_gid(gid)) {
		rd_explain(ret, "multicast-address", RD_CONFIDENCE_HIGH,
			   "%s is not a multicast GID: those begin with ff, or are IPv4 groups", RD_WORD_GID(gid));
		return rd_explain_fix(ret, "# use the MGID of the group: on RoCE ff0e::ffff:a.b.c.d for an IPv4 group");
	}
	if (qp && qp->found && qp->qp_type.known == RD_OK && qp->qp_type.v != RD_QPT_UD) {
		const char *type = rd_qp_type_name(qp->qp_type.v);

		rd_explain(ret, "qp-type", RD_CONFIDENCE_HIGH,
			   "queue pair %u is of type %s, and only UD queue pairs can join a multicast group",
			   qp->number.v, type ?: "?");
		return rd_explain_fix(ret, "# use a queue pair of type IBV_QPT_UD");
	}
	return false;
}

static bool find_not_attached(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment_handle *qp = rd_handle_of(f, RD_REQ_H_QP);

	if (!rd_is_verb(f->event, "ibv_detach_mcast") || !qp || !qp->found)
		return false;
	rd_explain(ret, "multicast-not-attached",
		   rd_failure_origin_is(f, "ib_uverbs_detach_mcast") ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "queue pair %u is not attached to group %s with LID %" PRIu64, qp->number.v,
		   RD_WORD_GID(f->event->request.gid), f->event->request.v[RD_REQ_MLID]);
	return rd_explain_fix(ret, "# detach with the same GID and LID as it was attached with, and once");
}

/* How many queue pairs a group has is not reported; the errno of the driver is the same for both limits. */
static bool find_full(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t group = 0, total = 0;

	/* A driver returns ENOMEM when it runs out of memory, too: what it calls must not be the origin. */
	if (!rd_is_verb(f->event, "ibv_attach_mcast") || !f->event->origin_exact || !rd_failure_in_driver(f) ||
	    !rd_failure_attr(f, "max_mcast_qp_attach", &group))
		return false;
	rd_failure_attr(f, "max_total_mcast_qp_attach", &total);
	rd_explain(ret, "multicast-limit", RD_CONFIDENCE_MEDIUM,
		   "group %s has as many queue pairs as %s permits: max_mcast_qp_attach is %" PRIu64,
		   RD_WORD_GID(f->event->request.gid), f->event->ibdev, group);
	rd_explain_fact(ret, "limits of %s: %" PRIu64 " queue pairs in a group, %" PRIu64 " in all groups together",
			f->event->ibdev, group, total);
	rd_explain_fact(ret, "not reported by the kernel: how many are attached now");
	return rd_explain_fix(ret,
			      "# attach fewer queue pairs to the group, and let the program distribute what one of "
			      "them receives");
}

bool rd_find_multicast(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (!f->event->request.has_gid || !rd_is_verb(f->event, "ibv_@(at|de)tach_mcast"))
		return false;
	if (f->event->err == -ENOMEM)
		return find_full(f, ret);
	return find_address(f, ret) || find_not_attached(f, ret);
}
