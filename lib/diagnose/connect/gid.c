// SPDX-License-Identifier: GPL-2.0-or-later
/* The source GID of an address vector: its index, address family and interface, and the GRH that RoCE requires. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/shared/rule.h"

#define MASK_AV (1u << 7)

/* Whether the request has an address vector. */
static bool has_vector(const struct rd_request *r)
{
	return rd_req_has(r, RD_REQ_SGID_INDEX) && (!rd_req_has(r, RD_REQ_MASK) || r->v[RD_REQ_MASK] & MASK_AV);
}

static bool is_roce(const struct rd_failure *f)
{
	return f->dev.link_layer && !strcmp(f->dev.link_layer, "Ethernet") && !f->dev.other_type;
}

static bool is_global(const struct rd_failure *f)
{
	return f->event->request.v[RD_REQ_AV_GLOBAL];
}

static bool find_grh(const struct rd_failure *f, struct rd_explanation *ret)
{
	char port[RD_WORD_PORT];

	if (f->event->err != -EINVAL || !is_roce(f) || is_global(f) || !rd_req_has(&f->event->request, RD_REQ_AV_GLOBAL))
		return false;
	rd_explain(ret, "grh-missing", RD_CONFIDENCE_HIGH,
		   "ah_attr.is_global is 0, and %s is a RoCE port, where every address vector needs a GRH",
		   rd_word_port(f, port));
	rd_explain_fact(ret, "request: is_global 0, dlid %" PRIu64 ", sgid_index %" PRIu64,
			f->event->request.v[RD_REQ_DLID], f->event->request.v[RD_REQ_SGID_INDEX]);
	rd_explain_fix(ret, "# set ah_attr.is_global = 1, grh.dgid and grh.sgid_index\n# a LID is not used on RoCE");
	return true;
}

static bool find_range(const struct rd_failure *f, struct rd_explanation *ret)
{
	char port[RD_WORD_PORT];

	if (f->event->err != -EINVAL || !f->dev.n_gids || f->gid_index < f->dev.n_gids)
		return false;
	rd_explain(ret, "gid-index-range", RD_CONFIDENCE_HIGH, "sgid_index is %u, and the GID table of %s has %u %s",
		   f->gid_index, rd_word_port(f, port), f->dev.n_gids, f->dev.n_gids == 1 ? "entry" : "entries");
	rd_explain_fix(ret, "rdmadiag nic-map --gids %s\n# use an index that holds the address of the port",
		       f->event->ibdev);
	return true;
}

/* Empty now; whether it was so when the call failed, a moment ago, shows from the errno. */
static bool find_unused(const struct rd_failure *f, struct rd_explanation *ret)
{
	bool fits = f->event->err == -ENODATA || f->event->err == -EINVAL || f->event->err == -ENOENT;
	char port[RD_WORD_PORT], before[RD_WORD_IP];

	/* What looks the entry up returns ENODATA; other errnos may have another reason. */
	enum rd_confidence confidence = f->event->err == -ENODATA && !rd_failure_in_driver(f) ? RD_CONFIDENCE_HIGH :
												RD_CONFIDENCE_MEDIUM;

	/* The whole port is going away: see removed.c. */
	if (!fits || f->gid.known != RD_ABSENT || (!f->dev.netdev && !f->dev.state))
		return false;
	if (f->gid_before.known == RD_OK) {
		rd_explain(ret, "gid-changed", confidence,
			   "entry %u of the GID table of %s is empty; when the trace began it held %s", f->gid_index,
			   rd_word_port(f, port), rd_word_gid(f->gid_before.raw, before));
		rd_explain_fix(ret,
			       "# %s was removed from %s: add it again (ip address add)\n# or choose the index "
			       "again each time a connection is made",
			       before, f->gid_before.netdev ? f->gid_before.netdev : "its interface");
	} else {
		rd_explain(ret, "gid-index-unused", confidence, "entry %u of the GID table of %s is empty",
			   f->gid_index, rd_word_port(f, port));
		rd_explain_fix(ret,
			       "rdmadiag nic-map --gids %s\n# use an index that holds the address of the port\n"
			       "# removed addresses leave gaps in the table",
			       f->event->ibdev);
	}
	rd_explain_fact(ret, "request: sgid_index %u", f->gid_index);
	return true;
}

/* The kernel returns ENODATA for an empty entry only; this one was filled since. */
static bool find_filled(const struct rd_failure *f, struct rd_explanation *ret)
{
	bool changed = f->gid_before.known == RD_ABSENT ||
		       (f->gid_before.known == RD_OK && memcmp(f->gid_before.raw, f->gid.raw, sizeof(f->gid.raw)) != 0);
	char port[RD_WORD_PORT], gid[RD_WORD_IP];

	if (f->event->err != -ENODATA || f->gid.known != RD_OK || !changed ||
	    (!rd_failure_origin_is(f, "rdma_fill_sgid_attr") && !rd_failure_origin_is(f, "rdma_get_gid_attr")))
		return false;
	rd_explain(ret, "gid-index-unused", RD_CONFIDENCE_MEDIUM,
		   "entry %u of the GID table of %s was empty; it holds %s now", f->gid_index, rd_word_port(f, port),
		   rd_word_gid(f->gid.raw, gid));
	rd_explain_fact(ret, "request: sgid_index %u", f->gid_index);
	rd_explain_fix(ret, "# call it again\n# a program that adds an address has to wait until its GID is in the "
			    "table, which the kernel fills in the background");
	return true;
}

/* Multicast GIDs have a MAC address of their own, which is not resolved. */
static bool is_multicast(const uint8_t *gid)
{
	return gid[0] == 0xff || (rd_is_v4_gid(gid) && gid[12] >> 4 == 0xe);
}

/* IPv4 is a mapped GID; the kernel resolves the path only between addresses of one family. */
static bool find_family(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	char src[RD_WORD_IP], dst[RD_WORD_IP];
	bool v4 = rd_is_v4_gid(f->gid.raw);

	if (f->event->err != -EINVAL || !is_roce(f) || !r->has_gid || f->gid.known != RD_OK ||
	    rd_failure_in_driver(f) || (!rd_failure_origin_is(f, "*resolve*") && f->event->origin_exact) ||
	    v4 == rd_is_v4_gid(r->gid) || is_multicast(r->gid))
		return false;
	rd_explain(ret, "gid-family", RD_CONFIDENCE_HIGH,
		   "source %s (GID index %u) is an %s address, and destination %s is %s", rd_word_gid(f->gid.raw, src),
		   f->gid_index, v4 ? "IPv4" : "IPv6", rd_word_gid(r->gid, dst), v4 ? "IPv6" : "IPv4");
	rd_explain_fix(ret, "rdmadiag nic-map --gids %s\n# choose an index of the same address family on both ends",
		       f->event->ibdev);
	return true;
}

/* What the resolution of such an address ends with: the route is local or there is none, or a neighbour is waited for. EINVAL is
 * that of rdma_resolve_ip(), for addresses of different families. */
static bool is_resolution(const struct rd_failure *f)
{
	const struct rd_request *r = &f->event->request;

	switch (-f->event->err) {
	case ENODEV:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ETIMEDOUT:
		return !rd_failure_in_driver(f);
	case EINVAL:
		return f->gid.known == RD_OK && rd_is_v4_gid(f->gid.raw) != rd_is_v4_gid(r->gid) &&
		       !rd_failure_in_driver(f);
	default:
		return false;
	}
}

/* A destination that the program never filled in, as when the peer's GID was not exchanged, or one that means this host. */
static bool find_destination(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	bool v4 = rd_is_v4_gid(r->gid), loopback = v4 && r->gid[12] == 127;
	char port[RD_WORD_PORT], gid[RD_WORD_IP];

	if (!r->has_gid || !is_roce(f) || !is_resolution(f) ||
	    (!loopback && !rd_is_zero(r->gid + (v4 ? 12 : 0), v4 ? 4 : 16)))
		return false;
	rd_explain(ret, "gid-destination", RD_CONFIDENCE_HIGH,
		   "the destination GID %s%s is not the address of a peer, so %s has no path to it",
		   v4 ? "::ffff:" : "", rd_word_gid(r->gid, gid), rd_word_port(f, port));
	if (loopback)
		rd_explain_fact(ret, "127.0.0.0/8 is the loopback interface, which RDMA devices do not use");
	rd_explain_fix(ret, "# set ah_attr.grh.dgid to the GID of the peer, as exchanged when connecting");
	return true;
}

/* Interfaces of other namespaces are known by name only; one of the same name may be here. */
static bool is_elsewhere(const struct rd_failure *f)
{
	return f->gid.netdev && f->read & RD_FACT_NET && !rd_netstate_find_name(&f->net, f->gid.netdev);
}

static bool find_namespace(const struct rd_failure *f, struct rd_explanation *ret)
{
	char gid[RD_WORD_IP], port[RD_WORD_PORT];

	bool resolving = f->event->err == -ETIMEDOUT || f->event->err == -ENETUNREACH || f->event->err == -EHOSTUNREACH;

	/* Entries of InfiniBand ports have no interface. */
	if (!is_roce(f) || f->gid.known != RD_OK || rd_failure_in_driver(f) ||
	    (f->event->err != -ENODEV && !resolving) ||
	    (f->gid.netdev && !is_elsewhere(f) && (resolving || !f->other_net_ns)))
		return false;
	rd_explain(ret, "gid-namespace", f->gid.netdev && !is_elsewhere(f) ? RD_CONFIDENCE_MEDIUM : RD_CONFIDENCE_HIGH,
		   "GID %s (index %u of %s) belongs to an interface in another network namespace than %s",
		   rd_word_gid(f->gid.raw, gid), f->gid_index, rd_word_port(f, port),
		   f->other_net_ns ? "the process" : "this one");
	if (f->event->moment.net_ns.known == RD_OK)
		rd_explain_fact(ret, "network namespace of the process: net:[%u]", f->event->moment.net_ns.v);
	rd_explain_fix(ret, "# use a device whose interface is in the namespace of the process (in the container: "
			    "rdmadiag nic-map --gids)\n# or run it in the network namespace of the host");
	return true;
}

static bool find_gid(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	char gid[RD_WORD_IP];

	if (rd_is_verb(f->event, "ibv_query_gid_ex") && f->dev.known == RD_OK)
		return find_range(f, ret);
	if (!has_vector(&f->event->request) || f->dev.known != RD_OK)
		return false;
	if (find_grh(f, ret))
		return true;
	if (!is_global(f))
		return false;
	if (find_range(f, ret) || find_unused(f, ret) || find_filled(f, ret) || find_namespace(f, ret) ||
	    find_destination(f, ret) || find_family(f, ret))
		return true;
	if (f->gid.known == RD_OK)
		rd_explain_fact(looked, "source GID: index %u holds %s%s%s", f->gid_index, rd_word_gid(f->gid.raw, gid),
				f->gid.netdev ? " of " : "", f->gid.netdev ? f->gid.netdev : "");
	return false;
}

const struct rd_cause_rule rd_cause_gid = { .errnos = { EINVAL, ENODATA, ENODEV, ENOENT, ETIMEDOUT, ENETUNREACH,
							EHOSTUNREACH },
					    .needs = RD_FACT_GID | RD_FACT_DEVICE | RD_FACT_NET,
					    .find = find_gid };
