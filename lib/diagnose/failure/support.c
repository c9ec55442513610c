// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls and attributes that the kernel or the driver does not support; requests that do not have the form that the kernel expects. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

/* What the device would have to offer for a call. */
static const struct offer {
	const char *verb, *what;
} offers[] = {
	{ "ibv_alloc_dm", "device memory" },
	{ "ibv_reg_dm_mr", "device memory" },
	{ "ibv_open_xrcd", "XRC" },
	{ "ibv_create_flow", "flow steering" },
	{ "ibv_create_wq", "work queues (for RSS)" },
	{ "ibv_create_rwq_ind_table", "work queues (for RSS)" },
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
	{ "ibv_create_comp_cntr", "completion counters" },
};

static const char *offer_for(const struct rd_event *ev)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(offers); i++)
		if (rd_is_verb(ev, offers[i].verb))
			return offers[i].what;
	return NULL;
}

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
			   name ? " of type " : "", name ? name : "");
		rd_explain_fix(ret, "# create the queue pair without these flags, or use another device");
	} else if (type != RD_QPT_RC && type != RD_QPT_UD) {
		rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM, "%s does not support queue pairs of %s%s",
			   f->event->ibdev, name ? "type " : "the type that was requested", name ? name : "");
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
	const char *dev = f->event->ibdev ? f->event->ibdev : "the device";
	uint64_t type = r->v[RD_REQ_SRQ_TYPE], flags = r->v[RD_REQ_REREG];

	if (!rd_failure_in_driver(f))
		return false;
	if (rd_req_has(r, RD_REQ_SRQ_TYPE) && (type == 1 || type == 2)) {
		rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM,
			   "the driver of %s does not support shared receive queues for %s", dev,
			   type == 1 ? "XRC" : "tag matching");
		rd_explain_fact(ret, "request: srq_type %" PRIu64, type);
		rd_explain_fix(ret, "# use a basic shared receive queue (IBV_SRQT_BASIC), or a device that supports "
				    "this type");
		return true;
	}
	if (!rd_is_verb(f->event, "ibv_rereg_mr") || !rd_req_has(r, RD_REQ_REREG) || !flags ||
	    flags > RD_ARRAY_SIZE(changes))
		return false;
	rd_explain(ret, "not-supported", RD_CONFIDENCE_MEDIUM,
		   "the driver of %s does not support changing the %s of a memory region (flags 0x%" PRIx64 ")", dev,
		   changes[flags - 1], flags);
	rd_explain_fix(ret, "# deregister the region, and register the memory again");
	return true;
}

#define K_ENOTSUPP 524 /* include/linux/errno.h */

/* RoCE v2 maps only IPv4 groups to MAC addresses: cma_iboe_join_multicast(). */
static bool find_group(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *dst = &f->event->request.dst;
	char group[RD_WORD_IP];

	if (f->event->err != -K_ENOTSUPP || !rd_is_verb(f->event, "rdma_join_multicast") || !dst->known)
		return false;
	rd_explain(ret, "not-supported", RD_CONFIDENCE_HIGH, "the kernel does not support IPv6 groups (%s) on RoCE v2",
		   rd_word_socket(dst, group));
	rd_explain_fix(ret, "# use an IPv4 multicast address");
	return true;
}

static bool find_support(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_event *ev = f->event;
	const char *what = offer_for(ev), *dev = ev->ibdev ? ev->ibdev : "the device";

	(void)looked;
	if (find_group(f, ret))
		return true;
	if (ev->err == -EPROTONOSUPPORT || ev->err == -ENOTTY) {
		rd_explain(
			ret, "not-supported", RD_CONFIDENCE_MEDIUM,
			"%s, or an attribute that this request requires, is unknown to the kernel or the driver of %s",
			rd_word_call(ev), dev);
		rd_explain_fix(ret, "# the library is newer than the kernel: update the kernel or its RDMA modules, "
				    "or configure the program not to use the feature");
		return true;
	}
	if (find_qp_type(f, ret) || find_variant(f, ret))
		return true;
	if (!what)
		return false;
	/* A driver that has the function may refuse the attributes of the request. */
	rd_explain(ret, "not-supported", rd_failure_in_driver(f) ? RD_CONFIDENCE_MEDIUM : RD_CONFIDENCE_HIGH,
		   "the driver of %s%s%s%s does not offer %s%s", dev, f->dev.driver ? " (" : "",
		   f->dev.driver ? f->dev.driver : "", f->dev.driver ? ")" : "", what,
		   rd_failure_in_driver(f) ? ", or not with these attributes" : "");
	rd_explain_fix(ret, "# configure the program not to use it, or use a device (or a newer driver) that offers "
			    "it\n# ibv_devinfo -v shows what a device supports");
	return true;
}

const struct rd_cause_rule rd_cause_support = { .errnos = { EOPNOTSUPP, EPROTONOSUPPORT, ENOTTY, K_ENOTSUPP },
						.needs = RD_FACT_DEVICE,
						.find = find_support };

/* Requests and responses shorter than the kernel expects, unknown attributes. */
static bool find_malformed(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_event *ev = f->event;
	bool dispatcher =
		rd_failure_origin_is(f, "ib_uverbs_handler_UVERBS_METHOD_INVOKE_WRITE") ||
		rd_failure_origin_is(f, "ib_uverbs_cmd_verbs") || rd_failure_origin_is(f, "ib_uverbs_run_method") ||
		rd_failure_origin_is(f, "ib_uverbs_ioctl") || rd_failure_origin_is(f, "uverbs_process_attr*") ||
		rd_failure_origin_is(f, "uverbs_set_attr") || rd_failure_origin_is(f, "ucma_*");

	(void)looked;
	if (!dispatcher)
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
	rd_explain_fix(ret, "# the library does not match the kernel: use libibverbs and provider of one rdma-core, "
			    "not mixed with those of a vendor's package");
	return true;
}

const struct rd_cause_rule rd_cause_malformed = { .errnos = { ENOSPC, EMSGSIZE }, .find = find_malformed };
