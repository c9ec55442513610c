// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests: objects and descriptors that they name, their form, what kernel and driver support. */

#include "diagnose/shared/rule.h"

/* Objects that a request names: handles that do not exist, or are of another kind; descriptors; objects that are still in use. */

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

/* Fields that the kernel does not look at in such a request: often they are 0, which may be the handle of another object. */
static bool is_used(const struct rd_failure *f, enum rd_req_field field)
{
	const struct rd_request *r = &f->event->request;

	if (rd_req_has(r, RD_REQ_QP_TYPE) && !is_used_by_qp(r, field))
		return false;
	/* XRC domain and completion queue of a shared receive queue: enum ib_srq_type is 1 for XRC, 2 for tag matching. */
	if (rd_req_has(r, RD_REQ_SRQ_TYPE) &&
	    (field == RD_REQ_H_XRCD ? r->v[RD_REQ_SRQ_TYPE] != 1 : field == RD_REQ_H_CQ && !r->v[RD_REQ_SRQ_TYPE]))
		return false;
	if (field == RD_REQ_H_SRQ && rd_req_has(r, RD_REQ_IS_SRQ))
		return r->v[RD_REQ_IS_SRQ];
	/* Changing a region looks up its protection domain only if that is to be changed: IB_MR_REREG_PD. */
	if (field == RD_REQ_H_PD && rd_req_has(r, RD_REQ_REREG))
		return r->v[RD_REQ_REREG] & 2;
	return true;
}

static const char *article_of(const char *name)
{
	return strchr("aeioX", *name) ? "an" : "a";
}

bool rd_find_handle(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	bool any = false;

	for (enum rd_req_field field = 0; field < RD_REQ_HANDLES; field++) {
		const struct rd_moment_handle *h = is_used(f, field) ? rd_handle_of(f, field) : NULL;
		unsigned type = rd_word_type_of(field);
		const char *wanted = rd_word_object(type), *name;

		if (!h)
			continue;
		any = true;
		name = rd_word_object(h->type);
		if (!h->found && (f->event->err == -ENOENT || f->event->err == -EINVAL)) {
			rd_explain(ret, "handle-stale",
				   f->event->err == -ENOENT ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
				   "the %s with handle %u does not exist in this process's context",
				   type ? wanted : "object", h->handle);
			rd_explain_fact(ret,
					"%s names handle %u; the kernel's table of objects of this open device had none "
					"with that handle when the call failed",
					rd_word_call(f->event), h->handle);
			return rd_explain_fix(
				ret, "# the program uses an object after destroying it, or one of another context "
				     "(another open of the device, or a process that it was forked from)");
		}
		if (h->found && type && h->type != type && f->event->err == -EINVAL) {
			rd_explain(ret, "handle-type", RD_CONFIDENCE_HIGH, "handle %u is %s %s, and not %s %s",
				   h->handle, article_of(name), name, article_of(wanted), wanted);
			return rd_explain_fix(
				ret, "# the program passes an object of the wrong kind, or one whose handle was "
				     "reused after it had been destroyed");
		}
	}
	if (any)
		rd_explain_fact(looked, "all objects that the request names exist");
	return false;
}

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
	{ "ibv_create_cq?(_ex)", "[infinibandevent]", "completion channel of this device", EBADF, EBADF,
	  "keep the channel open (ibv_create_comp_channel) as long as queues use it, and use it only with the context it was "
	  "created on" },
};

/* Whether the errno is about the descriptor. EBADF is, in any case; the core checks the other values of a DMA-BUF before it asks the
 * driver, which looks up the descriptor. */
static bool is_about(const struct rd_failure *f, const struct expected *e, bool closed, bool other)
{
	int err = -f->event->err;
	bool early = e->closed == EBADF && e->other == EINVAL && !rd_failure_in_driver(f) &&
		     !rd_failure_origin_is(f, "*umem*");

	return err == EBADF || (closed && err == e->closed) || (other && err == e->other && !early);
}

bool rd_find_descriptors_invalid(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	const struct expected *e = NULL;
	int32_t fd = (int32_t)f->event->request.v[RD_REQ_FD];
	bool closed = m->fd_known == RD_ABSENT, other;

	for (size_t i = 0; !e && i < RD_ARRAY_SIZE(descriptors); i++)
		e = rd_is_verb(f->event, descriptors[i].verb) ? &descriptors[i] : NULL;
	other = m->fd_known == RD_OK && e && strcmp(m->fd_name, e->file) != 0;
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
	return rd_explain_fix(ret, "# %s", e->fix);
}

/* EMFILE: the kernel found no free descriptor below the limit. */
bool rd_find_descriptors(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	uint64_t more = m->nofile.v < 512 ? 1024 : 2 * m->nofile.v;

	(void)looked;
	if (m->nofile.known != RD_OK)
		return false;
	if (m->next_fd.known == RD_OK && m->next_fd.v < m->nofile.v)
		return rd_explain_fact(looked, "RLIMIT_NOFILE is %" PRIu64 ", and all descriptors below %u were in use",
				       m->nofile.v, m->next_fd.v);
	rd_explain(ret, "descriptors-exhausted", RD_CONFIDENCE_HIGH,
		   "all %" PRIu64 " file descriptors that the process may open (RLIMIT_NOFILE) are in use",
		   m->nofile.v);
	rd_explain_fact(ret, "RLIMIT_NOFILE of the process (soft limit): %" PRIu64, m->nofile.v);
	return rd_explain_fix(ret,
			      "prlimit -p %u -n%" PRIu64
			      "\n# only while it runs\n# also where it is launched: ulimit -n %" PRIu64
			      ", or LimitNOFILE=%" PRIu64 " in its unit\n# ls -l /proc/%u/fd lists the descriptors",
			      f->event->pid, more, more, more, f->event->pid);
}

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
	return rd_is_verb(ev, "ibv_@(destroy|dealloc|dereg|close|free)_*");
}

/* While a call uses an object the kernel refuses to destroy it: uverbs_try_lock_object(), which these call. An object with users is
 * refused elsewhere, with the same errno. */
static bool is_lock(const struct rd_failure *f)
{
	return !rd_failure_in_driver(f) &&
	       rd_failure_origin_is(f,
				    "@(uverbs_try_lock_object|rdma_lookup_get_uobject|uobj_destroy|__uobj_get_destroy|"
				    "__uobj_perform_destroy|uverbs_get_uobject_from_file|ib_uverbs_cmd_verbs|"
				    "ib_uverbs_@(destroy|dealloc|dereg)_*|ib_uverbs_run_method)");
}

bool rd_find_in_use(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	for (enum rd_req_field field = 0; field < RD_REQ_HANDLES; field++) {
		const struct rd_moment_handle *h = rd_handle_of(f, field);

		if (!h || !h->found)
			continue;
		if (h->locked || (destroys(f->event) && h->users.known == RD_OK && h->users.v <= 0 && is_lock(f))) {
			rd_explain(ret, "object-in-use", RD_CONFIDENCE_MEDIUM,
				   "another thread was using the %s with handle %u at that moment",
				   rd_word_object(h->type), h->handle);
			if (h->users.known == RD_OK && !h->users.v)
				rd_explain_fact(ret, "no other object uses the %s", rd_word_object(h->type));
			rd_explain_fix(ret, "# do not use an object while another thread destroys or modifies it");
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
		return rd_explain_fix(ret, "# %s", fix_for(h->type));
	}
	return false;
}

/*
 * Functions of the RDMA core that return an errno for one reason only (drivers/infiniband/core of Linux 6.1 to 7.2). Rules that have
 * values come first; this table is for what remains, mostly libraries and kernels that do not fit together.
 */

#define MIXED                                                                                                             \
	"the library does not match the kernel: use libibverbs and provider of one rdma-core, not mixed with those of a " \
	"vendor's package"

static const struct check {
	const char *origin;
	int err;
	const char *id, *cause, *fix;
} checks[] = {
	{ "ib_uverbs_ioctl", EINVAL, "request-malformed",
	  "the length in the header of the request does not fit its number of attributes", MIXED },
	{ "ib_uverbs_ioctl", EPROTONOSUPPORT, "request-malformed",
	  "reserved fields in the header of the request are not 0", MIXED },
	{ "ib_uverbs_cmd_verbs", EINVAL, "request-malformed",
	  "the kernel refused the form of the request: a required attribute is missing, one has the wrong length or is passed "
	  "twice, or the request is for another driver",
	  MIXED },
	{ "ib_uverbs_run_method", EINVAL, "request-malformed",
	  "the request lacks an attribute that the kernel requires", MIXED },
	{ "uverbs_process_attr", EINVAL, "request-malformed", "an attribute of the request has the wrong length",
	  MIXED },
	{ "uverbs_set_attr", EINVAL, "request-malformed", "an attribute is passed twice", MIXED },
	{ "ib_uverbs_get_ucontext_file", EINVAL, "context-state",
	  "the open device file has no context yet, or none that this call could use",
	  "the context must be allocated first (ibv_open_device), and a command file descriptor that is passed on must belong "
	  "to an open device" },
	{ "@(ib_init_ucontext|ib_uverbs_get_context)", EINVAL, "context-state",
	  "the open device file has a context already",
	  "one context per open file: each ibv_open_device opens the file again" },
	{ "ib_uverbs_open", EPERM, "device-namespace",
	  "the device belongs to another network namespace than the process, and is not shared among them",
	  "rdma system shows whether devices are shared, and rdma dev set moves one to a network namespace" },
	{ "alloc_begin_fd_uobject", ENFILE, "descriptors-exhausted",
	  "the host has as many open files as it permits (fs.file-max)",
	  "sysctl fs.file-nr shows how many are open: end the program that opens them, or raise fs.file-max" },
	{ "rdma_query_gid_table", EINVAL, "attribute-value",
	  "the device has more GIDs than the array of the call has entries",
	  "make room for all GIDs of the device: the sum of gid_tbl_len of its ports (ibv_query_port)" },
	{ "@(ib_cm_init_qp_attr|cm_init_qp_*_attr)", EINVAL, "cm-id-state",
	  "the connection is over (the peer gave up, rejected or disconnected), or not yet so far that its queue pair can take "
	  "this state",
	  "read the events of the rdma_cm_id (rdma_get_cm_event), and destroy it; accept a request before its peer gives up" },
	{ "ucma_write", EACCES, "credentials-changed",
	  "the process changed its user, groups or capabilities after it had opened /dev/infiniband/rdma_cm",
	  "create the event channel (rdma_create_event_channel) after changing credentials" },
	{ "ucma_write", ENOSYS, "not-supported", "this kernel does not know the command",
	  "the library is newer than the kernel: update the kernel, or configure the program not to use the feature" },
	{ "ucma_write", EINVAL, "request-malformed",
	  "the command does not exist, or its length is not the one in its header", MIXED },
	{ "ucma_query", ENOSYS, "not-supported", "this kernel does not know what is queried",
	  "the library is newer than the kernel: update the kernel, or configure the program not to use the feature" },
	{ "@(ucma_get_ctx|_ucma_find_context)", EINVAL, "cm-id-foreign",
	  "the rdma_cm_id belongs to another event channel",
	  "use an rdma_cm_id only with the channel that it was created on, or that it was migrated to (rdma_migrate_id)" },
	{ "rdma_set_ack_timeout", EINVAL, "qp-type",
	  "an ACK timeout can only be set on an rdma_cm_id for reliable connections",
	  "create it with RDMA_PS_TCP, or do not set the option" },
	{ "rdma_set_min_rnr_timer", EINVAL, "qp-type",
	  "the RNR timer is above 31, or the rdma_cm_id is not one for reliable connections",
	  "use values from 0 to 31, on an rdma_cm_id that was created with RDMA_PS_TCP" },
	{ "rdma_set_reuseaddr", EINVAL, "cm-id-state",
	  "the reuse of addresses (RDMA_OPTION_ID_REUSEADDR) can only be set before the rdma_cm_id is bound",
	  "set the option directly after rdma_create_id" },
	{ "rdma_set_afonly", EINVAL, "cm-id-state",
	  "RDMA_OPTION_ID_AFONLY can only be set before the rdma_cm_id listens or resolves an address",
	  "set the option directly after rdma_create_id" },
	{ "cma_@(acquire_dev_by_src_ip|ib_acquire_dev)", EINVAL, "not-supported",
	  "port space RDMA_PS_IPOIB is for IPoIB interfaces, and the address is of another kind of interface",
	  "use RDMA_PS_TCP or RDMA_PS_UDP, or the address of an IPoIB interface" },
};

bool rd_find_core_checks(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (!f->event->origin_exact)
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(checks); i++) {
		if (checks[i].err != -f->event->err || !rd_failure_origin_is(f, checks[i].origin))
			continue;
		rd_explain(ret, checks[i].id, RD_CONFIDENCE_HIGH, "%s", checks[i].cause);
		rd_explain_fact(ret, "%s returns %s for no other reason", f->set->fns[f->event->origin].name,
				rd_errno_name(checks[i].err));
		return rd_explain_fix(ret, "# %s", checks[i].fix);
	}
	return false;
}

/* Calls and attributes that the kernel or the driver does not support; requests that do not have the form that the kernel expects. */

/* What the device would have to offer for a call. */
static const struct offer {
	const char *verb, *what;
} offers[] = { { "ibv_@(alloc_dm|reg_dm_mr)", "device memory" },
	       { "ibv_open_xrcd", "XRC" },
	       { "ibv_create_flow", "flow steering" },
	       { "ibv_create_@(wq|rwq_ind_table)", "work queues (for RSS)" },
	       { "ibv_create_counters", "counters" },
	       { "ibv_create_flow_action_esp", "IPsec offload" },
	       { "ibv_alloc_mw", "memory windows" },
	       { "ibv_reg_dmabuf_mr", "registration of DMA-BUF memory" },
	       { "ibv_advise_mr", "prefetching for on-demand paging" },
	       { "ibv_rereg_mr", "changing memory regions" },
	       { "ibv_resize_cq", "resizing completion queues" },
	       { "ibv_attach_mcast", "multicast" },
	       { "ibv_create_srq", "shared receive queues" },
	       { "ibv_create_srq_ex", "this kind of shared receive queue" },
	       { "ibv_modify_cq", "moderation of completion events" },
	       { "ibv_alloc_dmah", "DMA handles" },
	       { "ibv_create_comp_cntr", "completion counters" } };

#define QP_SIG_ALL (1u << 31) /* not a flag of the driver */

static bool find_qp_type(const struct rd_failure *f, struct rd_explanation *ret)
{
	uint64_t type = f->event->request.v[RD_REQ_QP_TYPE];
	const char *name = rd_qp_type_name((unsigned)type);
	uint64_t flags = f->event->request.v[RD_REQ_FLAGS] & ~(uint64_t)QP_SIG_ALL;

	if (!rd_req_has(&f->event->request, RD_REQ_QP_TYPE) || !f->event->ibdev)
		return false;
	if (flags) {
		rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM,
			   "%s does not support create_flags 0x%" PRIx64 " for queue pairs%s%s", f->event->ibdev, flags,
			   name ? " of type " : "", name ?: "");
		rd_explain_fix(ret, "# create the queue pair without these flags, or use another device");
	} else if (type != RD_QPT_RC && type != RD_QPT_UD) {
		rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM, "%s does not support queue pairs of %s%s",
			   f->event->ibdev, name ? "type " : "the type that was requested", name ?: "");
		rd_explain_fix(ret, "# use RC or UD queue pairs, or another device\n# ibv_devinfo -v shows what a "
				    "device supports");
	} else {
		/* Those are what devices have: it is about something else in the request. */
		return false;
	}
	rd_explain_fact(ret, "request: qp_type %" PRIu64, type);
	return true;
}

/* What a driver that has the function may refuse: a type of shared receive queue, or a kind of change to a region. */
static bool find_variant(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const char *const changes[] = { "range",
					       "protection domain",
					       "range and protection domain",
					       "access flags",
					       "range and access flags",
					       "protection domain and access flags",
					       "range, protection domain and access flags" };
	const struct rd_request *r = &f->event->request;
	const char *dev = f->event->ibdev ?: "the device";
	uint64_t type = r->v[RD_REQ_SRQ_TYPE], flags = r->v[RD_REQ_REREG];

	if (!rd_failure_in_driver(f))
		return false;
	if (rd_req_has(r, RD_REQ_SRQ_TYPE) && (type == 1 || type == 2)) {
		rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM,
			   "the driver of %s does not support shared receive queues for %s", dev,
			   type == 1 ? "XRC" : "tag matching");
		rd_explain_fact(ret, "request: srq_type %" PRIu64, type);
		return rd_explain_fix(ret,
				      "# use a basic shared receive queue (IBV_SRQT_BASIC), or a device that supports "
				      "this type");
	}
	if (!rd_is_verb(f->event, "ibv_rereg_mr") || !rd_req_has(r, RD_REQ_REREG) || !flags ||
	    flags > RD_ARRAY_SIZE(changes))
		return false;
	rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM,
		   "the driver of %s does not support changing the %s of a memory region (flags 0x%" PRIx64 ")", dev,
		   changes[flags - 1], flags);
	return rd_explain_fix(ret, "# deregister the region, and register the memory again");
}

#define K_ENOTSUPP 524 /* include/linux/errno.h */

/* RoCE v2 maps only IPv4 groups to MAC addresses: cma_iboe_join_multicast(). */
static bool find_group(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *dst = &f->event->request.dst;

	if (f->event->err != -K_ENOTSUPP || !rd_is_verb(f->event, "rdma_join_multicast") || !dst->known)
		return false;
	rd_explain(ret, "not-supported", RD_CONFIDENCE_HIGH, "the kernel does not support IPv6 groups (%s) on RoCE v2",
		   RD_WORD_SOCKET(dst));
	return rd_explain_fix(ret, "# use an IPv4 multicast address");
}

bool rd_find_support(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_event *ev = f->event;
	const char *what = NULL, *dev = ev->ibdev ?: "the device";

	(void)looked;
	for (size_t i = 0; !what && i < RD_ARRAY_SIZE(offers); i++)
		what = rd_is_verb(ev, offers[i].verb) ? offers[i].what : NULL;
	if (find_group(f, ret))
		return true;
	if (ev->err == -EPROTONOSUPPORT || ev->err == -ENOTTY) {
		rd_explain(
			ret, "not-supported", RD_CONFIDENCE_MEDIUM,
			"%s, or an attribute that this request requires, is unknown to the kernel or the driver of %s",
			rd_word_call(ev), dev);
		return rd_explain_fix(ret,
				      "# the library is newer than the kernel: update the kernel or its RDMA modules, "
				      "or configure the program not to use the feature");
	}
	if (find_qp_type(f, ret) || find_variant(f, ret))
		return true;
	/* For memory of a DMA-BUF the driver was called: what exports it refused. */
	if (!what || rd_failure_origin_is(f, "*umem*"))
		return false;
	/* A driver that has the function may refuse the attributes of the request. */
	rd_explain(ret, "not-supported", rd_failure_in_driver(f) ? RD_CONFIDENCE_MEDIUM : RD_CONFIDENCE_HIGH,
		   "the driver of %s%s%s%s does not offer %s%s", dev, f->dev.driver ? " (" : "", f->dev.driver ?: "",
		   f->dev.driver ? ")" : "", what, rd_failure_in_driver(f) ? ", or not with these attributes" : "");
	return rd_explain_fix(ret,
			      "# configure the program not to use it, or use a device (or a newer driver) that offers "
			      "it\n# ibv_devinfo -v shows what a device supports");
}

/* Requests and responses shorter than the kernel expects, unknown attributes. */
bool rd_find_malformed(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_event *ev = f->event;

	(void)looked;
	if (!rd_failure_origin_is(f, "@(ib_uverbs_@(handler_UVERBS_METHOD_INVOKE_WRITE|cmd_verbs|run_method|ioctl)|"
				     "uverbs_process_attr*|uverbs_set_attr|ucma_*)"))
		return false;
	if (ev->err == -ENOSPC)
		rd_explain(ret, "request-malformed", RD_CONFIDENCE_HIGH,
			   "request or response of %s is shorter than this kernel expects", rd_word_call(ev));
	else if (ev->err == -EPROTONOSUPPORT || ev->err == -ENOTTY)
		return false;
	else
		rd_explain(ret, "request-malformed", RD_CONFIDENCE_MEDIUM,
			   "the kernel refused the form of the request, before any RDMA object was looked at");
	rd_explain_fact(ret, "%u attributes in the request", ev->num_attrs);
	return rd_explain_fix(ret,
			      "# the library does not match the kernel: use libibverbs and provider of one rdma-core, "
			      "not mixed with those of a vendor's package");
}

/* EFAULT that is not about the memory of a region: the kernel could not read the request, or write the response. */

bool rd_find_user_buffer(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_moment *m = &f->event->moment;
	bool response = m->response.kind != RD_MAPPING_NONE, core = !rd_failure_in_driver(f);

	(void)looked;
	if (rd_failure_origin_is(f, "*umem*"))
		return false;
	if (response) {
		rd_explain(ret, "user-buffer", RD_CONFIDENCE_HIGH, "the buffer for the response, at %s, is %s",
			   RD_WORD_POINTER(m->response.at),
			   m->response.kind == RD_MAPPING_HOLE ? "not mapped" : "not writable");
	} else if (core && !f->event->request.readable && f->event->verb_key) {
		rd_explain(ret, "user-buffer", RD_CONFIDENCE_MEDIUM,
			   "the memory that holds the request is not readable");
	} else if (core && f->event->origin_exact) {
		rd_explain(
			ret, "user-buffer", RD_CONFIDENCE_HIGH,
			"the kernel could not read the request, write the response, or access a buffer that the request "
			"points to");
	} else if (core || (f->event->origin_exact && !rd_req_has(&f->event->request, RD_REQ_ADDRESS))) {
		rd_explain(
			ret, "user-buffer", RD_CONFIDENCE_MEDIUM,
			"the kernel could not access the request, the response, or a buffer that the request points to");
	} else {
		return false;
	}
	return rd_explain_fix(ret,
			      "# the library or program passes the kernel a bad pointer: an object that was freed, or "
			      "memory protected against writing");
}
