// SPDX-License-Identifier: GPL-2.0-or-later
/* Sizes of queues and groups beyond the limits of the device. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "diagnose/shared/rule.h"

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

/*
 * Limits are the driver's: errors of the core are about something else, but the core of Linux 7 refuses 0 completions itself, and not
 * every driver does. "max_sge" is the lower one of the limits for sends and receives. ENOMEM may be about memory.
 */
static enum rd_confidence confidence_of(const struct rd_failure *f, const struct limit *l, uint64_t v)
{
	bool sge = l->field == RD_REQ_SEND_SGE || l->field == RD_REQ_RECV_SGE;

	return rd_failure_in_driver(f) == (v != 0) && !sge && f->event->err != -ENOMEM ? RD_CONFIDENCE_HIGH :
											 RD_CONFIDENCE_MEDIUM;
}

static size_t check_limits(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	_cleanup_buf_ struct rd_buf all = { 0 };
	enum rd_confidence confidence = RD_CONFIDENCE_MEDIUM;
	const char *id = NULL;
	size_t n = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(limits); i++) {
		const struct limit *l = &limits[i];
		uint64_t v = r->v[l->field], most = 0;
		bool known = rd_failure_attr(f, l->attr, &most);

		if (!is_given(f, l) || ((!known || v <= most) && !(l->zero && !v)))
			continue;
		rd_buf_printf(&all, "%s%s is %" PRIu64, n ? "; or " : "", rd_req_name(l->field), v);
		if (v)
			rd_buf_printf(&all, ", and %s of %s is %" PRIu64, l->attr, f->event->ibdev, most);
		if (!n++) {
			id = v ? "limit-exceeded" : "attribute-value";
			confidence = confidence_of(f, l, v);
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
	rd_explain_fix(ret, "# use a number below num_comp_vectors of the context");
	return true;
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
	rd_explain_fix(ret, "# use a limit below max_wr of the shared receive queue (ibv_query_srq)");
	return true;
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
	rd_explain_fix(ret, "# request less inline data or 0, and use what ibv_create_qp returns in max_inline_data");
	return true;
}

static bool find_queue_limits(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	size_t n;

	if (find_vector(f, ret))
		return true;
	n = check_limits(f, ret);
	if (n) {
		rd_explain_fix(ret, "# request at most the limits of the device: ibv_query_device, ibv_devinfo -v");
		return true;
	}
	if (find_srq_limit(f, ret) || find_inline(f, ret))
		return true;
	if (f->n_attrs &&
	    (rd_req_has(&f->event->request, RD_REQ_CQE) || rd_req_has(&f->event->request, RD_REQ_SEND_WR) ||
	     rd_req_has(&f->event->request, RD_REQ_SRQ_WR)))
		rd_explain_fact(looked, "all sizes of the request are within the limits of %s", f->event->ibdev);
	return false;
}

const struct rd_cause_rule rd_cause_queue_limits = { .errnos = { EINVAL, ENOMEM },
						     .needs = RD_FACT_LIMITS,
						     .find = find_queue_limits };
