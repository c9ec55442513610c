// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that a request names: handles that do not exist, or are of another kind; descriptors; objects that are still in use. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

static const char *kind_of(enum rd_req_field field)
{
	unsigned type = rd_word_type_of(field);

	return type ? rd_word_object(type) : "object";
}

/* The receive side of a queue pair for sends only, both of one for receives only, and the domain of an XRC target, which is an XRC
 * domain: ib_uverbs_create_qp(). Queues of an indirection table belong to none, and are 0. */
static bool is_used_by_qp(const struct rd_request *r, enum rd_req_field field)
{
	uint64_t type = r->v[RD_REQ_QP_TYPE];

	if (field == RD_REQ_H_CQ || field == RD_REQ_H_RECV_CQ)
		return type != RD_QPT_XRC_TGT && (field == RD_REQ_H_CQ || type != RD_QPT_XRC_INI) &&
		       (r->v[field] || r->v[RD_REQ_SEND_WR] || r->v[RD_REQ_RECV_WR]);
	if (field == RD_REQ_H_SRQ)
		return type != RD_QPT_XRC_TGT && type != RD_QPT_XRC_INI;
	return field != RD_REQ_H_PD || type != RD_QPT_XRC_TGT;
}

/* XRC domain and completion queue of a shared receive queue: enum ib_srq_type is 1 for XRC, 2 for tag matching. */
static bool is_used_by_srq(const struct rd_request *r, enum rd_req_field field)
{
	uint64_t type = r->v[RD_REQ_SRQ_TYPE];

	return field == RD_REQ_H_XRCD ? type == 1 : field != RD_REQ_H_CQ || type;
}

/* Fields that the kernel does not look at in such a request: often they are 0, which may be the handle of another object. */
static bool is_used(const struct rd_failure *f, enum rd_req_field field)
{
	const struct rd_request *r = &f->event->request;

	if (rd_req_has(r, RD_REQ_QP_TYPE) && !is_used_by_qp(r, field))
		return false;
	if (rd_req_has(r, RD_REQ_SRQ_TYPE) && !is_used_by_srq(r, field))
		return false;
	if (field == RD_REQ_H_SRQ && rd_req_has(&f->event->request, RD_REQ_IS_SRQ))
		return f->event->request.v[RD_REQ_IS_SRQ];
	/* Changing a region looks up its protection domain only if that is to be changed: IB_MR_REREG_PD. */
	if (field == RD_REQ_H_PD && rd_req_has(&f->event->request, RD_REQ_REREG))
		return f->event->request.v[RD_REQ_REREG] & 2;
	return true;
}

static const char *article_of(const char *name)
{
	return strchr("aeioX", *name) ? "an" : "a";
}

static void explain_type(uint32_t handle, unsigned is, unsigned wanted, struct rd_explanation *ret)
{
	const char *name = rd_word_object(is), *other = rd_word_object(wanted);

	rd_explain(ret, "handle-type", RD_CONFIDENCE_HIGH, "handle %u is %s %s, and not %s %s", handle,
		   article_of(name), name, article_of(other), other);
	rd_explain_fix(ret, "# the program passes an object of the wrong kind, or one whose handle was reused after "
			    "it had been destroyed");
}

static void explain_stale(const struct rd_failure *f, const char *kind, uint32_t handle, struct rd_explanation *ret)
{
	rd_explain(ret, "handle-stale", f->event->err == -ENOENT ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "the %s with handle %u does not exist in this process's context", kind, handle);
	rd_explain_fact(
		ret,
		"%s names handle %u; the kernel's table of objects of this open device had none with that handle when "
		"the call failed",
		rd_word_call(f->event), handle);
	rd_explain_fix(ret, "# the program uses an object after destroying it, or one of another context (another "
			    "open of the device, or a process that it was forked from)");
}

static bool find_handle(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	bool any = false;

	for (enum rd_req_field field = 0; field < RD_REQ_HANDLES; field++) {
		const struct rd_moment_handle *h = is_used(f, field) ? rd_handle_of(f, field) : NULL;
		unsigned type = rd_word_type_of(field);

		if (!h)
			continue;
		any = true;
		if (!h->found && (f->event->err == -ENOENT || f->event->err == -EINVAL)) {
			explain_stale(f, kind_of(field), h->handle, ret);
			return true;
		}
		if (h->found && type && h->type != type && f->event->err == -EINVAL) {
			explain_type(h->handle, h->type, type, ret);
			return true;
		}
	}
	if (any)
		rd_explain_fact(looked, "all objects that the request names exist");
	return false;
}

const struct rd_cause_rule rd_cause_handle = { .errnos = { ENOENT, EINVAL }, .find = find_handle };

/* What a descriptor of this call must be: the name of its file, and what people call it; and with which errno the kernel refuses one
 * that is closed, and one of something else: dma_buf_get(), ucma_migrate_id(), lookup_get_fd_uobject(). */
static const struct expected {
	const char *verb, *file, *what;
	int closed, other;
	const char *fix;
} descriptors[] = {
	{ "ibv_reg_dmabuf_mr", "dmabuf", "DMA-BUF", EBADF, EINVAL,
	  "export the memory as DMA-BUF (cuMemGetHandleForAddressRange), and keep the descriptor open until it is registered" },
	{ "rdma_migrate_id", "rdma_cm", "event channel of rdma_cm", ENOENT, EINVAL,
	  "keep the channel open (rdma_create_event_channel) until the rdma_cm_id has moved to it" },
	{ "ibv_create_cq", "[infinibandevent]", "completion channel of this device", EBADF, EBADF,
	  "keep the channel open (ibv_create_comp_channel) as long as queues use it, and use it only with the context it was "
	  "created on" },
};

static const struct expected *expected_of(const struct rd_event *ev)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(descriptors); i++)
		if (rd_is_verb(ev, descriptors[i].verb))
			return &descriptors[i];
	return rd_is_verb(ev, "ibv_create_cq_ex") ? &descriptors[2] : NULL;
}

/* Whether the errno is about the descriptor. EBADF is, in any case; the core checks the other values of a DMA-BUF before it asks the
 * driver, which looks up the descriptor. */
static bool is_about(const struct rd_failure *f, const struct expected *e, bool closed, bool other)
{
	int err = -f->event->err;
	bool early = e->closed == EBADF && e->other == EINVAL && !rd_failure_in_driver(f) &&
		     !rd_failure_origin_is(f, "*umem*");

	return err == EBADF || (closed && err == e->closed) || (other && err == e->other && !early);
}

static bool find_descriptor(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	const struct expected *e = expected_of(f->event);
	int32_t fd = (int32_t)f->event->request.v[RD_REQ_FD];
	bool closed = m->fd_known == RD_ABSENT, other = m->fd_known == RD_OK && e && strcmp(m->fd_name, e->file) != 0;

	if (!e || !rd_req_has(&f->event->request, RD_REQ_FD))
		return false;
	if (!is_about(f, e, closed, other)) {
		if (m->fd_known == RD_OK && !other)
			rd_explain_fact(looked, "file descriptor %d is %s %s", fd, article_of(e->what), e->what);
		return false;
	}
	if (closed)
		rd_explain(ret, "descriptor-invalid", RD_CONFIDENCE_HIGH, "file descriptor %d is not open", fd);
	else
		rd_explain(ret, "descriptor-invalid", RD_CONFIDENCE_HIGH, "file descriptor %d is not %s%s %s", fd,
			   other ? "" : "open, or not ", article_of(e->what), e->what);
	rd_explain_fact(ret, "%s names file descriptor %d", rd_word_call(f->event), fd);
	if (other)
		rd_explain_fact(ret, "file descriptor %d is '%s'", fd, m->fd_name);
	rd_explain_fix(ret, "# %s", e->fix);
	return true;
}

const struct rd_cause_rule rd_cause_descriptors_invalid = { .errnos = { EBADF, EINVAL, ENOENT },
							    .find = find_descriptor };

/* EMFILE: the kernel found no free descriptor below the limit. */
static bool find_exhausted(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	uint64_t more = m->nofile.v < 512 ? 1024 : 2 * m->nofile.v;

	(void)looked;
	if (m->nofile.known != RD_OK)
		return false;
	if (m->next_fd.known == RD_OK && m->next_fd.v < m->nofile.v) {
		rd_explain_fact(looked, "RLIMIT_NOFILE is %" PRIu64 ", and descriptor %u was free", m->nofile.v,
				m->next_fd.v);
		return false;
	}
	rd_explain(ret, "descriptors-exhausted", RD_CONFIDENCE_HIGH,
		   "all %" PRIu64 " file descriptors that the process may open (RLIMIT_NOFILE) are in use",
		   m->nofile.v);
	rd_explain_fact(ret, "RLIMIT_NOFILE of the process (soft limit): %" PRIu64, m->nofile.v);
	rd_explain_fix(ret,
		       "prlimit -p %u -n%" PRIu64
		       "\n# only while it runs\n# also where it is launched: ulimit -n %" PRIu64
		       ", or LimitNOFILE=%" PRIu64 " in its unit\n# ls -l /proc/%u/fd lists the descriptors",
		       f->event->pid, more, more, more, f->event->pid);
	return true;
}

const struct rd_cause_rule rd_cause_descriptors = { .errnos = { EMFILE }, .find = find_exhausted };

/* Objects of the same process that belong to a protection domain. */
static void add_users_of_pd(const struct rd_failure *f, uint32_t pdn, struct rd_explanation *ret)
{
	for (size_t i = 0; i < f->res.n_objects; i++) {
		const struct rd_res_object *o = &f->res.objects[i];

		if ((o->kind == RD_RES_MR || o->kind == RD_RES_SRQ) && o->pdn.known == RD_OK && o->pdn.v == pdn &&
		    o->id.known == RD_OK)
			rd_explain_fact(ret, "%s %u uses it",
					rd_word_object(o->kind == RD_RES_MR ? RD_OBJ_MR : RD_OBJ_SRQ), o->id.v);
	}
	for (size_t i = 0; i < f->res.n_qps; i++) {
		const struct rd_qp *qp = &f->res.qps[i];

		if (qp->pdn.known == RD_OK && qp->pdn.v == pdn && qp->lqpn.known == RD_OK)
			rd_explain_fact(ret, "queue pair %u uses it", qp->lqpn.v);
	}
}

/* Queue pairs of the process: one of them uses the queue, and RDMA netlink does not say which. */
static void add_candidates(const struct rd_failure *f, struct rd_explanation *ret)
{
	for (size_t i = 0; i < f->res.n_qps; i++) {
		const struct rd_qp *qp = &f->res.qps[i];

		if (qp->owner.pid.known == RD_OK && qp->owner.pid.v == f->event->pid && qp->lqpn.known == RD_OK)
			rd_explain_fact(ret, "queue pairs of this process that may use it: %u", qp->lqpn.v);
	}
}

static const char *fix_for(unsigned type)
{
	switch (type) {
	case RD_OBJ_PD:
		return "destroy the memory regions, queue pairs, shared receive queues and address handles of the protection "
		       "domain first";
	case RD_OBJ_CQ:
	case RD_OBJ_SRQ:
		return "destroy the queue pairs that use it first";
	case RD_OBJ_MR:
		return "unbind or deallocate the memory windows bound to the region first";
	default:
		return "destroy what uses it first";
	}
}

/* Whether the call destroys the object that it names: only then it matters that others use it. */
static bool destroys(const struct rd_event *ev)
{
	static const char *const words[] = { "ibv_destroy_", "ibv_dealloc_", "ibv_dereg_", "ibv_close_", "ibv_free_" };

	for (size_t i = 0; ev->verb && i < RD_ARRAY_SIZE(words); i++)
		if (!strncmp(ev->verb, words[i], strlen(words[i])))
			return true;
	return false;
}

/* While a call uses an object the kernel refuses to destroy it: uverbs_try_lock_object(), which these call. An object with users is
 * refused elsewhere, with the same errno. */
static bool is_lock(const struct rd_failure *f)
{
	static const char *const origins[] = { "uverbs_try_lock_object", "rdma_lookup_get_uobject",
					       "uobj_destroy",		 "__uobj_get_destroy",
					       "__uobj_perform_destroy", "uverbs_get_uobject_from_file",
					       "ib_uverbs_cmd_verbs",	 "ib_uverbs_destroy_*",
					       "ib_uverbs_dealloc_*",	 "ib_uverbs_dereg_*",
					       "ib_uverbs_run_method" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(origins); i++)
		if (!rd_failure_in_driver(f) && rd_failure_origin_is(f, origins[i]))
			return true;
	return false;
}

static void explain_locked(const struct rd_moment_handle *h, struct rd_explanation *ret)
{
	rd_explain(ret, "object-in-use", RD_CONFIDENCE_MEDIUM,
		   "another thread was using the %s with handle %u at that moment", rd_word_object(h->type), h->handle);
	if (h->users.known == RD_OK && !h->users.v)
		rd_explain_fact(ret, "no other object uses the %s", rd_word_object(h->type));
	rd_explain_fix(ret, "# do not use an object while another thread destroys or modifies it");
}

static bool find_in_use(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	for (enum rd_req_field field = 0; field < RD_REQ_HANDLES; field++) {
		const struct rd_moment_handle *h = rd_handle_of(f, field);

		if (!h || !h->found)
			continue;
		if (h->locked || (destroys(f->event) && h->users.known == RD_OK && h->users.v <= 0 && is_lock(f))) {
			explain_locked(h, ret);
			return true;
		}
		if (!destroys(f->event))
			continue;
		if (h->users.known != RD_OK || h->users.v <= 0) {
			if (h->users.known == RD_OK)
				rd_explain_fact(looked, "the %s with handle %u has no users", rd_word_object(h->type),
						h->handle);
			continue;
		}
		rd_explain(ret, "object-in-use", RD_CONFIDENCE_HIGH, "the %s is still used by %d other object%s",
			   rd_word_object(h->type), h->users.v, h->users.v == 1 ? "" : "s");
		if (h->number.known == RD_OK)
			rd_explain_fact(ret, "%s: handle %u, number %u in rdma resource", rd_word_object(h->type),
					h->handle, h->number.v);
		if (h->type == RD_OBJ_PD && h->number.known == RD_OK)
			add_users_of_pd(f, h->number.v, ret);
		else if (h->type == RD_OBJ_CQ || h->type == RD_OBJ_SRQ)
			add_candidates(f, ret);
		rd_explain_fix(ret, "# %s", fix_for(h->type));
		return true;
	}
	return false;
}

const struct rd_cause_rule rd_cause_in_use = { .errnos = { EBUSY }, .needs = RD_FACT_OBJECTS, .find = find_in_use };
