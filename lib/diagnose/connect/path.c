// SPDX-License-Identifier: GPL-2.0-or-later
/* The way to a peer: the source GID of an address vector, then route and neighbour. */
#include <net/if.h>
#include <sys/socket.h>

#include "diagnose/shared/rule.h"

/* The source GID of an address vector: its index, address family and interface, and the GRH that RoCE requires. */

#define MASK_AV (1u << 7)

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
	if (f->event->err != -EINVAL || !is_roce(f) || is_global(f) || !rd_req_has(&f->event->request, RD_REQ_AV_GLOBAL))
		return false;
	rd_explain(ret, "grh-missing", RD_CONFIDENCE_HIGH,
		   "ah_attr.is_global is 0, and %s is a RoCE port, where every address vector needs a GRH",
		   RD_WORD_PORT(f));
	rd_explain_fact(ret, "request: is_global 0, dlid %" PRIu64 ", sgid_index %" PRIu64,
			f->event->request.v[RD_REQ_DLID], f->event->request.v[RD_REQ_SGID_INDEX]);
	return rd_explain_fix(ret,
			      "# set ah_attr.is_global = 1, grh.dgid and grh.sgid_index\n# a LID is not used on RoCE");
}

static bool find_range(const struct rd_failure *f, struct rd_explanation *ret)
{
	if (f->event->err != -EINVAL || !f->dev.n_gids || f->gid_index < f->dev.n_gids)
		return false;
	rd_explain(ret, "gid-index-range", RD_CONFIDENCE_HIGH, "sgid_index is %u, and the GID table of %s has %u %s",
		   f->gid_index, RD_WORD_PORT(f), f->dev.n_gids, f->dev.n_gids == 1 ? "entry" : "entries");
	return rd_explain_fix(ret, "rdmadiag nic-map --gids %s\n# use an index that holds the address of the port",
			      f->event->ibdev);
}

/* Empty now; whether it was so when the call failed, a moment ago, shows from the errno. */
static bool find_unused(const struct rd_failure *f, struct rd_explanation *ret)
{
	bool fits = f->event->err == -ENODATA || f->event->err == -EINVAL || f->event->err == -ENOENT;

	/* What looks the entry up returns ENODATA; other errnos may have another reason. */
	enum rd_confidence confidence = f->event->err == -ENODATA && !rd_failure_in_driver(f) ? RD_CONFIDENCE_HIGH :
												RD_CONFIDENCE_MEDIUM;

	/* The whole port is going away: see rd_find_removed(). */
	if (!fits || f->gid.known != RD_ABSENT || (!f->dev.netdev && !f->dev.state))
		return false;
	if (f->gid_before.known == RD_OK) {
		rd_explain(ret, "gid-changed", confidence,
			   "entry %u of the GID table of %s is empty; when the trace began it held %s", f->gid_index,
			   RD_WORD_PORT(f), RD_WORD_GID(f->gid_before.raw));
		rd_explain_fix(ret,
			       "# %s was removed from %s: add it again (ip address add)\n# or choose the index "
			       "again each time a connection is made",
			       RD_WORD_GID(f->gid_before.raw), f->gid_before.netdev ?: "its interface");
	} else {
		rd_explain(ret, "gid-index-unused", confidence, "entry %u of the GID table of %s is empty",
			   f->gid_index, RD_WORD_PORT(f));
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

	if (f->event->err != -ENODATA || f->gid.known != RD_OK || !changed ||
	    !rd_failure_origin_is(f, "rdma_@(fill_sgid|get_gid)_attr"))
		return false;
	rd_explain(ret, "gid-index-unused", RD_CONFIDENCE_MEDIUM,
		   "entry %u of the GID table of %s was empty; it holds %s now", f->gid_index, RD_WORD_PORT(f),
		   RD_WORD_GID(f->gid.raw));
	rd_explain_fact(ret, "request: sgid_index %u", f->gid_index);
	return rd_explain_fix(ret,
			      "# call it again\n# a program that adds an address has to wait until its GID is in the "
			      "table, which the kernel fills in the background");
}

/* IPv4 is a mapped GID; the kernel resolves the path only between addresses of one family. */
static bool find_family(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	bool v4 = rd_is_v4_gid(f->gid.raw);

	if (f->event->err != -EINVAL || !is_roce(f) || !r->has_gid || f->gid.known != RD_OK ||
	    rd_failure_in_driver(f) || (!rd_failure_origin_is(f, "*resolve*") && f->event->origin_exact) ||
	    v4 == rd_is_v4_gid(r->gid) || rd_is_multicast_gid(r->gid))
		return false;
	rd_explain(ret, "gid-family", RD_CONFIDENCE_HIGH,
		   "source %s (GID index %u) is an %s address, and destination %s is %s", RD_WORD_GID(f->gid.raw),
		   f->gid_index, v4 ? "IPv4" : "IPv6", RD_WORD_GID(r->gid), v4 ? "IPv6" : "IPv4");
	return rd_explain_fix(ret,
			      "rdmadiag nic-map --gids %s\n# choose an index of the same address family on both ends",
			      f->event->ibdev);
}

/* What the resolution of such an address ends with: the route is local or there is none, or a neighbour is waited for. EINVAL is
 * that of rdma_resolve_ip(), for addresses of different families. */
static bool is_resolution(const struct rd_failure *f)
{
	switch (-f->event->err) {
	case ENODEV:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ETIMEDOUT:
		return !rd_failure_in_driver(f);
	case EINVAL:
		return f->gid.known == RD_OK && rd_is_v4_gid(f->gid.raw) != rd_is_v4_gid(f->event->request.gid) &&
		       !rd_failure_in_driver(f);
	default:
		return false;
	}
}

/* A destination that the program never filled in, as when the peer's GID was not exchanged, or one that means this host. */
static bool find_destination(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	bool v4 = rd_is_v4_gid(r->gid), loopback = v4 ? r->gid[12] == 127 : rd_is_zero(r->gid, 15) && r->gid[15] == 1;

	if (!r->has_gid || !is_roce(f) || !is_resolution(f) ||
	    (!loopback && !rd_is_zero(r->gid + (v4 ? 12 : 0), v4 ? 4 : 16)))
		return false;
	rd_explain(ret, "gid-destination", RD_CONFIDENCE_HIGH,
		   "the destination GID %s%s is not the address of a peer, so %s has no path to it",
		   v4 ? "::ffff:" : "", RD_WORD_GID(r->gid), RD_WORD_PORT(f));
	if (loopback)
		rd_explain_fact(ret, "%s is of the loopback interface, which RDMA devices do not use",
				v4 ? "127.0.0.0/8" : "::1");
	return rd_explain_fix(ret, "# set ah_attr.grh.dgid to the GID of the peer, as exchanged when connecting");
}

/* Interfaces of other namespaces are known by name only; one of the same name may be here. */
static bool is_elsewhere(const struct rd_failure *f)
{
	return f->gid.netdev && f->read & RD_FACT_NET && !rd_netstate_find_name(&f->net, f->gid.netdev);
}

static bool find_namespace(const struct rd_failure *f, struct rd_explanation *ret)
{
	bool resolving = f->event->err == -ETIMEDOUT || f->event->err == -ENETUNREACH || f->event->err == -EHOSTUNREACH;

	/* Entries of InfiniBand ports have no interface. */
	if (!is_roce(f) || f->gid.known != RD_OK || rd_failure_in_driver(f) ||
	    (f->event->err != -ENODEV && !resolving) ||
	    (f->gid.netdev && !is_elsewhere(f) && (resolving || !f->other_net_ns)))
		return false;
	rd_explain(ret, "gid-namespace", f->gid.netdev && !is_elsewhere(f) ? RD_CONFIDENCE_MEDIUM : RD_CONFIDENCE_HIGH,
		   "GID %s (index %u of %s) belongs to an interface in another network namespace than %s",
		   RD_WORD_GID(f->gid.raw), f->gid_index, RD_WORD_PORT(f),
		   f->other_net_ns ? "the process" : "this one");
	if (f->event->moment.net_ns.known == RD_OK)
		rd_explain_fact(ret, "network namespace of the process: net:[%u]", f->event->moment.net_ns.v);
	return rd_explain_fix(ret,
			      "# use a device whose interface is in the namespace of the process (in the container: "
			      "rdmadiag nic-map --gids)\n# or run it in the network namespace of the host");
}

bool rd_find_gid(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct rd_request *r = &f->event->request;

	if (rd_is_verb(f->event, "ibv_query_gid_ex") && f->dev.known == RD_OK)
		return find_range(f, ret);
	if (!rd_req_has(r, RD_REQ_SGID_INDEX) || (rd_req_has(r, RD_REQ_MASK) && !(r->v[RD_REQ_MASK] & MASK_AV)) ||
	    f->dev.known != RD_OK)
		return false;
	if (find_grh(f, ret))
		return true;
	if (!is_global(f))
		return false;
	if (find_range(f, ret) || find_unused(f, ret) || find_filled(f, ret) || find_namespace(f, ret) ||
	    find_destination(f, ret) || find_family(f, ret))
		return true;
	if (f->gid.known == RD_OK)
		rd_explain_fact(looked, "source GID: index %u holds %s%s%s", f->gid_index, RD_WORD_GID(f->gid.raw),
				f->gid.netdev ? " of " : "", f->gid.netdev ?: "");
	return false;
}

/*
 * Resolution of the destination on RoCE and iWARP, as addr_resolve() does it before a packet is sent: route, then neighbour. Routes
 * and neighbours are those of our network namespace, right after the call.
 */

struct ends {
	char src[RD_WORD_IP], dst[RD_WORD_IP];
	const char *netdev; /* NULL: unknown */
	bool v6;
	const uint8_t *addr; /* of the destination */
};

static bool find_ends(const struct rd_failure *f, struct ends *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_netif *netif;

	*ret = (struct ends){ .src = "", .dst = "" };
	if (r->has_gid && f->gid.known == RD_OK) {
		snprintf(ret->src, sizeof(ret->src), "%s", RD_WORD_GID(f->gid.raw));
		snprintf(ret->dst, sizeof(ret->dst), "%s", RD_WORD_GID(r->gid));
		ret->v6 = !rd_is_v4_gid(r->gid);
		ret->addr = r->gid + (ret->v6 ? 0 : 12);
		ret->netdev = f->gid.netdev;
	} else if (r->dst.known && (r->dst.family == AF_INET || r->dst.family == AF_INET6)) {
		snprintf(ret->dst, sizeof(ret->dst), "%s", RD_WORD_SOCKET(&r->dst));
		ret->v6 = r->dst.family == AF_INET6;
		ret->addr = r->dst.addr;
		if (r->src.known && r->src.family == r->dst.family && !rd_is_zero(r->src.addr, ret->v6 ? 16 : 4))
			snprintf(ret->src, sizeof(ret->src), "%s", RD_WORD_SOCKET(&r->src));
	} else {
		return false;
	}
	netif = !f->route_errno ? rd_netstate_find(&f->net, f->route.ifindex) : NULL;
	if (!ret->netdev && netif)
		ret->netdev = netif->name;
	return true;
}

/* The next hop: the gateway, or the destination itself. */
static const uint8_t *next_hop(const struct rd_failure *f, const struct ends *e)
{
	return f->route.has_gateway ? f->route.gateway : e->addr;
}

static const struct rd_neigh *find_neighbour(const struct rd_failure *f, const struct ends *e)
{
	const uint8_t *hop = next_hop(f, e);

	for (size_t i = 0; i < f->net.n_neighs; i++) {
		const struct rd_neigh *n = &f->net.neighs[i];

		if (n->v6 == e->v6 && n->ifindex == f->route.ifindex && !memcmp(n->addr, hop, e->v6 ? 16 : 4))
			return n;
	}
	return NULL;
}

static const char *state_name(const struct rd_neigh *n)
{
	return !n			      ? "no entry" :
	       n->state & RD_NEIGH_FAILED     ? "FAILED" :
	       n->state & RD_NEIGH_INCOMPLETE ? "INCOMPLETE" :
						"known";
}

static void add_route(const struct rd_failure *f, const struct ends *e, struct rd_explanation *ret)
{
	char gateway[RD_WORD_IP];

	if (!f->route_errno && f->route.has_gateway) {
		rd_ip_text(e->v6, f->route.gateway, gateway);
		rd_explain_fact(ret, "route: to %s via %s on %s", e->dst, gateway, e->netdev ?: "?");
	} else if (!f->route_errno) {
		rd_explain_fact(ret, "route: to %s directly on %s", e->dst, e->netdev ?: "?");
	} else if (f->route_errno > 0) {
		rd_explain_fact(ret, "route: to %s from %s: %s", e->dst, *e->src ? e->src : "any address",
				rd_errno_name(f->route_errno));
	}
}

static bool find_down(const struct rd_failure *f, const struct ends *e, struct rd_explanation *ret)
{
	const struct rd_netif *netif = e->netdev ? rd_netstate_find_name(&f->net, e->netdev) : NULL;
	bool up = netif && netif->flags & IFF_UP, running = netif && netif->flags & IFF_RUNNING;

	/* The kernel has no route through an interface that is down: to wait for a neighbour, it must have been up. */
	if (!netif || (up && running) || (!up && f->event->err == -ETIMEDOUT))
		return false;
	rd_explain(ret, "interface-down", RD_CONFIDENCE_HIGH, "interface %s, through which %s is reached, %s",
		   e->netdev, e->dst, up ? "has no carrier" : "is down");
	add_route(f, e, ret);
	return rd_explain_fix(ret, up ? "ethtool %s\n# check cable, switch port and peer" : "ip link set %s up",
			      e->netdev);
}

static bool find_no_route(const struct rd_failure *f, const struct ends *e, struct rd_explanation *ret)
{
	/* To wait for a neighbour, the kernel must have found a route. */
	if (f->route_errno <= 0 || f->event->err == -ETIMEDOUT)
		return false;
	rd_explain(ret, "no-route", f->route_errno == -f->event->err ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "there is no route to %s%s%s%s%s", e->dst, *e->src ? " from " : "", e->src,
		   e->netdev ? " through " : "", e->netdev ?: "");
	add_route(f, e, ret);
	if (e->netdev)
		rd_explain_fix(ret,
			       "rdmadiag nic-map --gids\n# choose the GID or device that is on the peer's "
			       "subnet\n# or add a route: ip route add %s dev %s, or via a gateway",
			       e->dst, e->netdev);
	else
		rd_explain_fix(ret, "ip route get %s\n# add a route to %s: the routing tables show why there is none",
			       e->dst, e->dst);
	return true;
}

/* The lookup refuses a source that the host does not have, too, with EINVAL. */
static bool is_source_local(const struct rd_failure *f, const struct ends *e)
{
	for (size_t i = 0; i < f->net.n_addrs; i++) {
		char own[RD_WORD_IP];

		rd_ip_text(f->net.addrs[i].addr.v6, f->net.addrs[i].addr.raw, own);
		if (!strcmp(own, e->src))
			return true;
	}
	return !*e->src;
}

/* EINVAL of a blackhole route, EACCES of a prohibit one, EHOSTUNREACH of one of type unreachable: without a route the kernel returns
 * ENETUNREACH. */
static bool find_refusing_route(const struct rd_failure *f, const struct ends *e, struct rd_explanation *ret)
{
	const char *type = f->route_errno == EINVAL ? "blackhole" :
			   f->route_errno == EACCES ? "prohibit" :
						      "unreachable";

	if (f->route_errno != -f->event->err || f->route_errno == ENETUNREACH ||
	    !rd_failure_origin_is(f, "addr*_resolve") || !is_source_local(f, e))
		return false;
	/* __mkroute_output(): EINVAL, too. */
	if (f->event->err == -EINVAL && !strncmp(e->src, "127.", 4)) {
		rd_explain(ret, "address-without-rdma", RD_CONFIDENCE_HIGH,
			   "source %s is of the loopback interface, from which %s is not reached", e->src, e->dst);
		rd_explain_fix(ret, "rdmadiag nic-map --gids\n# use an address of an RDMA interface, or no source");
		return true;
	}
	rd_explain(ret, "no-route", RD_CONFIDENCE_HIGH, "the route to %s%s%s, or a policy rule for it, is of type %s",
		   e->dst, *e->src ? " from " : "", e->src, type);
	add_route(f, e, ret);
	return rd_explain_fix(ret,
			      "ip%s route show table all type %s\nip%s rule list\n# remove that route or rule, or add "
			      "a more specific route",
			      e->v6 ? " -6" : "", type, e->v6 ? " -6" : "");
}

/* cma_bind_addr() takes the interface from sin6_scope_id, unless there is a source. */
static bool find_scope(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *dst = &f->event->request.dst;

	if (!rd_is_verb(f->event, "rdma_resolve_addr") || !rd_is_link_local(dst) || !dst->scope_id ||
	    (f->event->request.src.known && f->event->request.src.family) || f->net.links_known != RD_OK ||
	    rd_netstate_find(&f->net, dst->scope_id))
		return false;
	rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
		   "sin6_scope_id of %s is %u, which is not the index of an interface", RD_WORD_SOCKET(dst),
		   dst->scope_id);
	rd_cm_add_id(f, ret);
	return rd_explain_fix(ret,
			      "# set sin6_scope_id to the index of the interface through which the peer is reached "
			      "(if_nametoindex)");
}

/* With an interface given, IPv4 takes a destination without route for a neighbour. */
static bool is_off_subnet(const struct rd_failure *f, const struct ends *e)
{
	bool some = false;

	for (size_t i = 0; i < f->net.n_addrs; i++) {
		const struct rd_ifaddr *own = &f->net.addrs[i];

		if (own->ifindex != f->route.ifindex || own->addr.v6 != e->v6)
			continue;
		some = true;
		if (rd_ip_within(e->addr, own->addr.raw, own->addr.prefix))
			return false;
	}
	return some && !e->v6 && !f->route_errno && !f->route.has_gateway;
}

static bool find_waited(const struct rd_failure *f, const struct ends *e, struct rd_explanation *ret)
{
	const struct rd_netif *netif = e->netdev ? rd_netstate_find_name(&f->net, e->netdev) : NULL;

	/* Interface and route are as they are now: the kernel may have had others a second ago. */
	if (f->route_errno <= 0 || f->event->err != -ETIMEDOUT || !rd_failure_origin_is(f, "addr*_resolve"))
		return false;
	rd_explain(ret, "neighbour-unreachable", RD_CONFIDENCE_MEDIUM,
		   "no reply to %s for %s, or for the gateway to it: no RDMA packet was sent",
		   e->v6 ? "neighbour discovery" : "ARP requests", e->dst);
	if (netif && !(netif->flags & IFF_UP))
		rd_explain_fact(ret, "%s is down now; it was up when the kernel sent them", e->netdev);
	rd_explain_fact(ret, "now the kernel has no route to %s: %s", e->dst, rd_errno_name(f->route_errno));
	return rd_explain_fix(ret, "# check that the peer %s is up, and that the interface stays up meanwhile", e->dst);
}

static void explain_off_subnet(const struct ends *e, struct rd_explanation *ret)
{
	const char *netdev = e->netdev ?: "the interface";

	rd_explain_fact(ret, "no address of %s is in the subnet of %s: the kernel treats it as a neighbour", netdev,
			e->dst);
	rd_explain_fix(ret,
		       "ip route get %s\n# check that %s is the address of the peer\n# if it is behind a "
		       "gateway, %s has no route to it",
		       e->dst, e->dst, netdev);
}

/* Which of the two ends is at fault does not show here: the peer may be down, or on another subnet. An entry that failed stays for
 * a while; without one, the function that waits for it must have given up. */
static bool find_unreachable(const struct rd_failure *f, const struct ends *e, struct rd_explanation *ret)
{
	const struct rd_neigh *n = f->route_errno ? NULL : find_neighbour(f, e);
	char hop[RD_WORD_IP];

	bool unanswered = n && n->state & (RD_NEIGH_FAILED | RD_NEIGH_INCOMPLETE);

	if (f->route_errno || (f->event->err != -ETIMEDOUT && f->event->err != -EHOSTUNREACH) ||
	    (!unanswered && (n || !rd_failure_origin_is(f, "addr*_resolve"))))
		return false;
	rd_ip_text(e->v6, next_hop(f, e), hop);
	rd_explain(ret, "neighbour-unreachable", n ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "no reply from %s to %s on %s%s: no RDMA packet was sent", hop,
		   e->v6 ? "neighbour discovery" : "ARP requests", e->netdev ?: "the interface",
		   n ? "" : ", or the table of neighbours is full (dmesg: \"table overflow\"; gc_thresh3)");
	add_route(f, e, ret);
	rd_explain_fact(ret, "neighbour entry of %s: %s", hop, state_name(n));
	if (*e->src && f->event->request.has_gid)
		rd_explain_fact(ret, "source: %s, GID index %u", e->src, f->gid_index);
	else if (*e->src)
		rd_explain_fact(ret, "source: %s", e->src);
	if (is_off_subnet(f, e))
		explain_off_subnet(e, ret);
	else if (e->netdev)
		rd_explain_fix(ret,
			       "ping -c 3 -I %s %s\nip neigh show dev %s\n# check that the peer %s is up and in "
			       "the same subnet, that %s is the interface of that subnet, and that the address "
			       "is the peer's",
			       e->netdev, e->dst, e->netdev, e->dst, e->netdev);
	else
		rd_explain_fix(
			ret,
			"# check that %s is the address of the peer, and that the peer is up and in the same subnet",
			e->dst);
	return true;
}

bool rd_find_path(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	struct ends e;

	/* Drivers have timeouts of their own, of firmware commands. */
	if (!rd_is_verb(f->event, "@(ibv_modify_qp|ibv_create_ah|rdma_resolve_addr|rdma_connect)") ||
	    rd_failure_in_driver(f) || !find_ends(f, &e))
		return false;
	/* Elsewhere these are not about a route. */
	if (f->other_net_ns && (f->event->err == -EINVAL || f->event->err == -EACCES) &&
	    !rd_failure_origin_is(f, "addr*_resolve"))
		return false;
	if (f->other_net_ns)
		return rd_explain_fact(
			looked,
			"the process is in network namespace net:[%u]: its routes and neighbours are not readable from "
			"here",
			f->event->moment.net_ns.v);
	if (f->event->err == -EINVAL || f->event->err == -EACCES)
		return find_refusing_route(f, &e, ret);
	if (find_scope(f, ret) || rd_find_mapped(&f->event->request.dst, ret) || find_down(f, &e, ret) ||
	    (f->event->err == -EHOSTUNREACH && find_refusing_route(f, &e, ret)) || find_no_route(f, &e, ret) ||
	    find_waited(f, &e, ret) || find_unreachable(f, &e, ret))
		return true;
	add_route(f, &e, looked);
	return rd_explain_fact(looked, "neighbour entry: %s", state_name(f->route_errno ? NULL : find_neighbour(f, &e)));
}
