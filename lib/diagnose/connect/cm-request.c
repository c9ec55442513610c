// SPDX-License-Identifier: GPL-2.0-or-later
/* Values in requests of librdmacm. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "diagnose/connect/cm.h"

/* enum ib_event_type */
#define EVENT_COMM_EST 4
#define EVENT_PATH_MIG 6

/* sockaddr_in, sockaddr_in6, sockaddr_ib */
static uint64_t size_of(uint16_t family)
{
	return family == AF_INET ? 16 : family == AF_INET6 ? 28 : 48;
}

/* ucma_bind() and others compare the length that the library passes with that of the address family. */
static bool find_address_size(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_req_address *a = r->src.known && rd_is_verb(f->event, "rdma_bind_addr") ? &r->src : &r->dst;

	if (!rd_failure_origin_is(f, "ucma_bind*") && !rd_failure_origin_is(f, "ucma_resolve_addr") &&
	    !rd_failure_origin_is(f, "ucma_resolve_ip") && !rd_failure_origin_is(f, "ucma_join*") &&
	    !rd_failure_origin_is(f, "ucma_process_join"))
		return false;
	if (!a->known)
		return false;
	if (a->family != AF_INET && a->family != AF_INET6 && a->family != AF_IB) {
		rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
			   "the address is of family %u, and rdma_cm has only AF_INET, AF_INET6 and AF_IB", a->family);
		rd_explain_fix(ret, "# set sa_family of the address");
	} else if (rd_req_has(r, RD_REQ_ADDR_SIZE) && r->v[RD_REQ_ADDR_SIZE] != size_of(a->family)) {
		rd_explain(ret, "request-malformed", RD_CONFIDENCE_HIGH,
			   "addr_size is %" PRIu64 ", which is not the length of an address of that family",
			   r->v[RD_REQ_ADDR_SIZE]);
		rd_explain_fix(ret, "# the library does not match the kernel: use librdmacm of one rdma-core");
	} else {
		return false;
	}
	rd_cm_add_id(f, ret);
	return true;
}

/* An IPv6 address fe80::/10 says nothing without the interface: cma_check_linklocal(). */
static bool find_scope(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = &f->event->request.src;
	char addr[RD_WORD_IP];

	if (!rd_is_verb(f->event, "rdma_bind_addr") || !rd_is_link_local(a) || a->scope_id)
		return false;
	rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
		   "%s is a link-local address, and sin6_scope_id is 0: it says nothing without its interface",
		   rd_word_socket(a, addr));
	rd_cm_add_id(f, ret);
	rd_explain_fix(ret, "# set sin6_scope_id to the index of the interface (if_nametoindex)");
	return true;
}

/* Multicast groups: what ucma_process_join(), rdma_join_multicast() and cma_iboe_join_multicast() check. */
static bool find_join(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t flags = r->v[RD_REQ_JOIN_FLAGS];
	bool v6 = r->dst.family == AF_INET6;

	if (!rd_is_verb(f->event, "rdma_join_multicast"))
		return false;
	if (rd_req_has(r, RD_REQ_JOIN_FLAGS) && flags > 1 && rd_failure_origin_is(f, "ucma_*")) {
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
			   "join_flags is %" PRIu64 ": only 0 (full member) and 1 (send-only full member) exist",
			   flags);
		rd_explain_fix(ret, "# use RDMA_MC_JOIN_FLAG_FULLMEMBER or RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER");
	} else if (r->dst.known && rd_is_zero(r->dst.addr, v6 ? 16 : 4) && !rd_failure_origin_is(f, "ucma_*")) {
		rd_explain(ret, "multicast-address", RD_CONFIDENCE_HIGH,
			   "the address of the group is %s, which is not a multicast address", v6 ? "::" : "0.0.0.0");
		rd_explain_fix(ret, "# set the multicast address, for example 239.1.2.3");
	} else if (rd_failure_origin_is(f, "rdma_join_multicast")) {
		rd_explain(ret, "qp-type", RD_CONFIDENCE_MEDIUM,
			   "only an rdma_cm_id for datagrams can join a multicast group, and this one is probably of "
			   "another kind");
		rd_explain_fix(ret, "# create it with RDMA_PS_UDP");
	} else {
		return false;
	}
	rd_cm_add_id(f, ret);
	return true;
}

/* Longest private data of the messages of IBTA vol. 1, 12.6: REQ 92 bytes, of which rdma_cm uses 36; REP 196; REJ 148. iWARP and
 * datagrams differ: there a REQ is a SIDR_REQ, of 216 bytes. */
#define DATAGRAM_MOST (216 - 36)

static bool find_private_data(const struct rd_failure *f, struct rd_explanation *ret)
{
	static const struct {
		const char *verb;
		unsigned most;
	} limits[] = { { "rdma_connect", 56 }, { "rdma_accept", 196 }, { "rdma_reject", 148 } };
	uint64_t length = f->event->request.v[RD_REQ_PRIVATE_LEN];

	for (size_t i = 0; i < RD_ARRAY_SIZE(limits) && rd_req_has(&f->event->request, RD_REQ_PRIVATE_LEN); i++) {
		if (!rd_is_verb(f->event, limits[i].verb) || length <= limits[i].most)
			continue;
		rd_explain(ret, "private-data-too-long",
			   rd_failure_in_driver(f) || rd_failure_origin_is(f, "iw_*") ||
					   rd_failure_origin_is(f, "cma_*_iw") ||
					   (length <= DATAGRAM_MOST && rd_failure_origin_is(f, "*sidr*")) ?
				   RD_CONFIDENCE_MEDIUM :
				   RD_CONFIDENCE_HIGH,
			   "private_data_len is %" PRIu64
			   ", and %s carries at most %u bytes of private data on InfiniBand and RoCE",
			   length, limits[i].verb, limits[i].most);
		rd_cm_add_id(f, ret);
		rd_explain_fix(ret, "# send at most %u bytes with the connection, and the rest over it", limits[i].most);
		return true;
	}
	return false;
}

static bool find_family(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	char src[RD_WORD_IP], dst[RD_WORD_IP];
	bool given = r->src.known && r->src.family;

	if (!rd_is_verb(f->event, "rdma_resolve_addr") || !r->dst.known)
		return false;
	if (given && r->src.family != r->dst.family) {
		rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
			   "source %s and destination %s are of different address families",
			   rd_word_socket(&r->src, src), rd_word_socket(&r->dst, dst));
	} else if (f->event->moment.cm_state.known == RD_OK && f->event->moment.cm_state.v == CM_ADDR_BOUND &&
		   (rd_failure_origin_is(f, "rdma_resolve_addr") || rd_failure_origin_is(f, "resolve_prepare_src") ||
		    rd_failure_origin_is(f, "rdma_resolve_ip"))) {
		rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
			   "the rdma_cm_id is bound to an address of another family than destination %s",
			   rd_word_socket(&r->dst, dst));
	} else {
		return false;
	}
	rd_cm_add_id(f, ret);
	rd_explain_fix(ret, "# use addresses of one family: bind to an IPv4 address to reach one, or do not bind");
	return true;
}

/* Options that have functions of their own, which core-checks.c knows. */
static bool is_option_check(const struct rd_failure *f)
{
	return f->event->origin_exact && rd_failure_origin_is(f, "rdma_set_*");
}

/* Values of other commands. */
static bool find_value(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	uint64_t ps = r->v[RD_REQ_PORT_SPACE], reason = r->v[RD_REQ_REASON];

	if (rd_is_verb(f->event, "rdma_init_qp_attr") && rd_req_has(r, RD_REQ_STATE) && r->v[RD_REQ_STATE] > RD_QPS_ERR)
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "qp_state is %" PRIu64 ", which does not exist",
			   r->v[RD_REQ_STATE]);
	else if (rd_failure_origin_is(f, "ib_cm_notify") && rd_req_has(r, RD_REQ_EVENT) &&
		 r->v[RD_REQ_EVENT] != EVENT_COMM_EST && r->v[RD_REQ_EVENT] != EVENT_PATH_MIG)
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
			   "event is %" PRIu64
			   ": only IBV_EVENT_COMM_EST (4) and IBV_EVENT_PATH_MIG (6) can be notified",
			   r->v[RD_REQ_EVENT]);
	else if (rd_failure_origin_is(f, "ucma_reject") && rd_req_has(r, RD_REQ_REASON) && reason && reason != 28 &&
		 reason != 35)
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH,
			   "reason is %" PRIu64 ", and a program can only reject with 28 (consumer defined)", reason);
	else if (rd_is_verb(f->event, "rdma_create_id") && rd_req_has(r, RD_REQ_PORT_SPACE) && ps != 0x0002 &&
		 ps != 0x0106 && ps != 0x0111 && ps != 0x013f)
		rd_explain(ret, "attribute-value", RD_CONFIDENCE_HIGH, "port space 0x%" PRIx64 " does not exist", ps);
	else if (rd_is_verb(f->event, "rdma_set_option") && rd_req_has(r, RD_REQ_OPTION))
		rd_explain(ret, f->event->err == -ENOSYS ? "not-supported" : "attribute-value",
			   f->event->err == -ENOSYS ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "option %" PRIu64 " of level %" PRIu64 " %s", r->v[RD_REQ_OPTION], r->v[RD_REQ_OPTION_LEVEL],
			   f->event->err == -ENOSYS ?
				   "is not known to this kernel" :
				   "was refused: its value, its length, or the state of the rdma_cm_id");
	else
		return false;
	if (rd_is_verb(f->event, "rdma_create_id"))
		rd_explain_fix(ret, "# use RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB or RDMA_PS_IPOIB");
	else if (rd_is_verb(f->event, "rdma_set_option"))
		rd_explain_fix(ret, "# see rdma_set_option(3)\n# an older kernel knows fewer options");
	else
		rd_explain_fix(ret, "# check where the program gets the value from");
	return true;
}

static bool find_stale(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_moment *m = &f->event->moment;
	/* Where a descriptor is named as well, only one that is open leaves no doubt. Functions below ucma have found the id. */
	bool sure = (!rd_req_has(r, RD_REQ_FD) || m->fd_known == RD_OK) && rd_failure_origin_is(f, "*ucma_*");

	if (!rd_is_cm(f->event) || !rd_req_has(r, RD_REQ_CM_ID) || m->cm_state.known == RD_OK)
		return false;
	rd_explain(ret, "cm-id-stale", sure ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "the process has no rdma_cm_id with number %" PRIu64, r->v[RD_REQ_CM_ID]);
	rd_explain_fix(ret, "# the program uses an rdma_cm_id after rdma_destroy_id, or one of another event channel");
	return true;
}

static bool find_cm_request(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (f->event->err == -ENOENT)
		return find_stale(f, ret);
	/* Of another channel: the values were not looked at. */
	if (!rd_is_cm(f->event) || rd_failure_origin_is(f, "ucma_get_ctx") || is_option_check(f))
		return false;
	return find_value(f, ret) ||
	       (f->event->err == -EINVAL && (find_address_size(f, ret) || find_private_data(f, ret) ||
					     find_family(f, ret) || find_scope(f, ret) || find_join(f, ret)));
}

const struct rd_cause_rule rd_cause_cm_request = { .errnos = { EINVAL, ENOSYS, ENOENT }, .find = find_cm_request };
