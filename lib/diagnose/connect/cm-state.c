// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of the rdma_cm_id when the call began. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/connect/cm.h"

static const char *const states[] = {
	[CM_IDLE] = "new",
	[CM_ADDR_QUERY] = "resolving the address",
	[CM_ADDR_RESOLVED] = "address resolved",
	[CM_ROUTE_QUERY] = "resolving the route",
	[CM_ROUTE_RESOLVED] = "route resolved",
	[CM_CONNECT] = "connecting or connected",
	[CM_DISCONNECT] = "disconnected",
	[CM_ADDR_BOUND] = "bound",
	[CM_LISTEN] = "listening",
	[CM_DEVICE_REMOVAL] = "its device is being removed",
	[CM_DESTROYING] = "being destroyed",
};

/* What a call needs: the states that it accepts, and what to do in others. */
static const struct need {
	const char *verb;
	uint32_t states; /* 1 << state */
	const char *wanted, *fix;
} needs[] = {
	{ "rdma_bind_addr", 1 << CM_IDLE, "new", "bind an rdma_cm_id once; create another one for another address" },
	{ "rdma_listen", 1 << CM_IDLE | 1 << CM_ADDR_BOUND, "bound, and not listening yet",
	  "listen once on an rdma_cm_id" },
	{ "rdma_resolve_addr", 1 << CM_IDLE | 1 << CM_ADDR_BOUND, "new or bound",
	  "resolve an address once; wait for RDMA_CM_EVENT_ADDR_RESOLVED, or create another rdma_cm_id" },
	{ "rdma_resolve_route", 1 << CM_ADDR_RESOLVED, "address resolved",
	  "call rdma_resolve_addr first, and wait for RDMA_CM_EVENT_ADDR_RESOLVED" },
	{ "rdma_connect", 1 << CM_ROUTE_RESOLVED, "route resolved",
	  "call rdma_resolve_route first, and wait for RDMA_CM_EVENT_ROUTE_RESOLVED" },
	{ "rdma_accept", 1 << CM_CONNECT, "of a connection request",
	  "accept the rdma_cm_id of an RDMA_CM_EVENT_CONNECT_REQUEST, once; the listening one cannot be accepted" },
	{ "rdma_join_multicast", 1 << CM_ADDR_BOUND | 1 << CM_ADDR_RESOLVED, "bound or address resolved",
	  "bind it to an address of an RDMA device, or resolve the group's address, first" },
};

static const char *state_name(unsigned state)
{
	return state < RD_ARRAY_SIZE(states) ? states[state] : "another";
}

bool rd_is_cm(const struct rd_event *ev)
{
	return ev->object && !strcmp(ev->object, "RDMA_CM");
}

void rd_cm_add_id(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;

	if (rd_req_has(r, RD_REQ_CM_ID))
		rd_explain_fact(ret, "rdma_cm_id number %" PRIu64 " of the process", r->v[RD_REQ_CM_ID]);
}

static const struct need *need_of(const struct rd_event *ev)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(needs); i++)
		if (rd_is_verb(ev, needs[i].verb))
			return &needs[i];
	return NULL;
}

/* These need a connection; an rdma_cm_id without one has no object of the connection manager. */
static bool needs_connection(const struct rd_event *ev)
{
	return rd_is_verb(ev, "rdma_disconnect") || rd_is_verb(ev, "rdma_reject") || rd_is_verb(ev, "rdma_notify") ||
	       rd_is_verb(ev, "rdma_init_qp_attr");
}

static bool find_state(const struct rd_failure *f, const struct need *need, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;

	if (m->cm_state.known != RD_OK || m->cm_state.v >= 32 || need->states >> m->cm_state.v & 1)
		return false;
	rd_explain(ret, "cm-id-state", RD_CONFIDENCE_HIGH, "%s needs an rdma_cm_id that is %s; this one is %s",
		   need->verb, need->wanted, state_name(m->cm_state.v));
	rd_explain_fact(ret, "state of the rdma_cm_id when the call began: %s", state_name(m->cm_state.v));
	rd_cm_add_id(f, ret);
	rd_explain_fix(ret, "# %s", need->fix);
	return true;
}

static bool find_unconnected(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	bool known = m->cm_state.known == RD_OK;

	if ((known && (m->cm_state.v == CM_CONNECT || m->cm_state.v == CM_DISCONNECT)) ||
	    rd_failure_origin_is(f, "ib_cm_notify"))
		return false;
	/* Attributes for INIT are there before a connection is, but not of what listens. */
	if (rd_is_verb(f->event, "rdma_init_qp_attr") && !(known && m->cm_state.v == CM_LISTEN) &&
	    !rd_failure_origin_is(f, "*cm_init_qp_*attr"))
		return false;
	if (!known && !rd_failure_origin_is(f, f->event->verb))
		return false;
	rd_explain(ret, "cm-id-state", known ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s needs an rdma_cm_id with a connection; this one %s%s", f->event->verb,
		   known ? "is " : "has none", known ? state_name(m->cm_state.v) : "");
	rd_cm_add_id(f, ret);
	rd_explain_fix(ret, "# call it only after a connection was established or requested, and not a second time");
	return true;
}

static bool find_cm_state(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct need *need = need_of(f->event);
	const struct rd_moment *m = &f->event->moment;

	if (f->event->err == -EINVAL &&
	    ((need && find_state(f, need, ret)) || (needs_connection(f->event) && find_unconnected(f, ret))))
		return true;
	if (m->cm_state.known == RD_OK)
		rd_explain_fact(looked, "the rdma_cm_id was %s when the call began", state_name(m->cm_state.v));
	return false;
}

const struct rd_cause_rule rd_cause_cm_state = { .find = find_cm_state };

/*
 * ucma_get_ctx_dev() refuses an rdma_cm_id without a device before its state is looked at. Compilers make it part of its callers;
 * values that these check themselves, cm-request.c has looked at. Not decoded: conn_param.valid.
 */
static bool is_device_check(const struct rd_failure *f, bool *other)
{
	static const char *const callers[] = { "ucma_get_ctx_dev",    "ucma_resolve_route", "ucma_accept",
					       "ucma_reject",	      "ucma_disconnect",    "ucma_init_qp_attr",
					       "ucma_notify",	      "ucma_connect",	    "ucma_process_join",
					       "ucma_join_*multicast" };
	const struct rd_request *r = &f->event->request;

	*other = rd_failure_origin_is(f, "ucma_connect") ||
		 (rd_failure_origin_is(f, "ucma_*join*") && rd_req_has(r, RD_REQ_JOIN_FLAGS) &&
		  !rd_req_has(r, RD_REQ_ADDR_SIZE));
	for (size_t i = 0; i < RD_ARRAY_SIZE(callers); i++)
		if (rd_failure_origin_is(f, callers[i]))
			return true;
	return false;
}

static bool find_without_device(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct need *need = need_of(f->event);
	bool other = false;

	(void)looked;
	if ((!need && !needs_connection(f->event)) || !is_device_check(f, &other) ||
	    f->event->moment.cm_state.known == RD_OK || rd_is_verb(f->event, "rdma_bind_addr") ||
	    rd_is_verb(f->event, "rdma_resolve_addr") || rd_is_verb(f->event, "rdma_listen"))
		return false;
	rd_explain(ret, "cm-id-state", f->event->origin_exact && !other ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s needs an rdma_cm_id that has a device; this one was %snot resolved or bound to an address of one",
		   f->event->verb, other ? "probably " : "");
	rd_cm_add_id(f, ret);
	if (other)
		rd_explain_fact(
			ret, rd_failure_origin_is(f, "ucma_connect") ?
				     "ucma_connect returns EINVAL also if conn_param.valid is 0, which librdmacm never "
				     "passes" :
				     "the kernel returns EINVAL also if addr_size is not that of the address");
	rd_explain_fix(ret, "# %s", need ? need->fix : "call it only after a connection was established or requested");
	return true;
}

const struct rd_cause_rule rd_cause_cm_device = { .errnos = { EINVAL }, .find = find_without_device };
