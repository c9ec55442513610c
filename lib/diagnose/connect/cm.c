// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of librdmacm: the state of the rdma_cm_id, addresses and ports, and values of the request. */
#include <linux/capability.h>
#include <linux/if_addr.h>
#include <sys/socket.h>

#include "diagnose/shared/rule.h"

/* The state of the rdma_cm_id when the call began. */

/* enum rdma_cm_state */
static const char *const states[] = { "new",
				      "resolving the address",
				      "address resolved",
				      "resolving the route",
				      "route resolved",
				      "connecting or connected",
				      "disconnected",
				      "bound",
				      "listening",
				      "its device is being removed",
				      "being destroyed",
				      "resolving a service",
				      "service resolved" };

/* What a call needs: the states that it accepts, and what to do in others. */
static const struct need {
	const char *verb;
	uint32_t states; /* 1 << state */
	const char *wanted, *fix;
} needs[] = {
	{ "rdma_bind_addr", 1 << CM_IDLE, "new", "bind an rdma_cm_id once; create another one for another address" },
	{ "rdma_listen", 1 << CM_IDLE | 1 << CM_ADDR_BOUND, "bound, and not listening yet",
	  "listen once on an rdma_cm_id; of one that has resolved an address, create another" },
	{ "rdma_resolve_addr", 1 << CM_IDLE | 1 << CM_ADDR_BOUND | 1 << CM_ADDRINFO_RESOLVED, "new or bound",
	  "resolve an address once; wait for RDMA_CM_EVENT_ADDR_RESOLVED, or create another rdma_cm_id" },
	{ "rdma_resolve_route", 1 << CM_ADDR_RESOLVED | 1 << CM_ADDRINFO_RESOLVED, "address resolved",
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
	return rd_is_verb(ev, "rdma_@(disconnect|reject|notify|init_qp_attr)");
}

static bool find_state(const struct rd_failure *f, const struct need *need, struct rd_explanation *ret)
{
	const struct rd_moment *m = &f->event->moment;
	uint8_t v = m->cm_state.v;

	if (m->cm_state.known != RD_OK || m->cm_state.v >= 32 || need->states >> m->cm_state.v & 1)
		return false;
	rd_explain(ret, "cm-id-state", RD_CONFIDENCE_HIGH, "%s needs an rdma_cm_id that is %s; this one is %s",
		   need->verb, need->wanted, state_name(m->cm_state.v));
	rd_explain_fact(ret, "state of the rdma_cm_id when the call began: %s", state_name(m->cm_state.v));
	rd_cm_add_id(f, ret);
	/* What is past the states that it needs does not come back to them. */
	return rd_explain_fix(ret, "# %s",
			      v == CM_DEVICE_REMOVAL || v == CM_DESTROYING ||
					      (v <= CM_DISCONNECT &&
					       (need->states & ((1u << CM_DEVICE_REMOVAL) - 1)) < 1u << v) ?
				      "create another rdma_cm_id, and call it once in that state" :
				      need->fix);
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
	return rd_explain_fix(ret,
			      "# call it only after a connection was established or requested, and not a second time");
}

bool rd_find_cm_state(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
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

/*
 * ucma_get_ctx_dev() refuses an rdma_cm_id without a device before its state is looked at. Compilers make it part of its callers;
 * values that these check themselves, rd_find_cm_request() has looked at. Not decoded: conn_param.valid.
 */
static bool is_device_check(const struct rd_failure *f, bool *other)
{
	const struct rd_request *r = &f->event->request;

	*other = rd_failure_origin_is(f, "ucma_connect") ||
		 (rd_failure_origin_is(f, "ucma_*join*") && rd_req_has(r, RD_REQ_JOIN_FLAGS) &&
		  !rd_req_has(r, RD_REQ_ADDR_SIZE));
	return rd_failure_origin_is(
		f, "ucma_@(get_ctx_dev|resolve_route|accept|reject|disconnect|init_qp_attr|notify|connect|"
		   "process_join|join_*multicast)");
}

bool rd_find_cm_device(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	const struct need *need = need_of(f->event);
	bool other = false;

	(void)looked;
	if ((!need && !needs_connection(f->event)) || !is_device_check(f, &other) ||
	    f->event->moment.cm_state.known == RD_OK || rd_is_verb(f->event, "rdma_@(bind_addr|resolve_addr|listen)"))
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
	return rd_explain_fix(ret, "# %s",
			      need ? need->fix : "call it only after a connection was established or requested");
}

/* Addresses and ports of librdmacm. */

#define PORT_ACTIVE 4 /* enum ib_port_state */

static bool is_any_address(uint16_t family, const uint8_t *ip)
{
	return (family == AF_INET || family == AF_INET6) && rd_is_zero(ip, family == AF_INET6 ? 16 : 4);
}

/* rdma_cm_ids of any process on this port; `any`: only those that are bound to 0.0.0.0 or ::. Returns how many there are. */
static size_t add_holders(const struct rd_failure *f, uint16_t port, bool any, struct rd_explanation *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < f->res.n_cm_ids; i++) {
		const struct rd_cm_id *id = &f->res.cm_ids[i];
		const char *name = rd_owner_name(&f->res, &id->owner, id->proc);
		char addr[RD_WORD_IP];

		if (!id->src.port || id->src.port != port ||
		    (id->src.family != AF_INET && id->src.family != AF_INET6) ||
		    (any && !is_any_address(id->src.family, id->src.ip)))
			continue;
		n++;
		rd_ip_text(id->src.family == AF_INET6, id->src.ip, addr);
		if (id->owner.pid.known == RD_OK)
			rd_explain_fact(ret, "port %u of %s is used by process %u%s%s%s", port, addr, id->owner.pid.v,
					name ? " (" : "", name ?: "", name ? ")" : "");
		else
			rd_explain_fact(ret, "port %u of %s is used by %s%s", port, addr, name ?: "an unknown process",
					id->owner.kernel ? " of the kernel: unload that module" : "");
	}
	return n;
}

static bool has_holder(const struct rd_failure *f, uint16_t port)
{
	for (size_t i = 0; i < f->res.n_cm_ids; i++)
		if (f->res.cm_ids[i].src.port == port)
			return true;
	return false;
}

static bool add_fix(uint16_t port, struct rd_explanation *ret)
{
	char only[24] = "";

	if (port)
		snprintf(only, sizeof(only), " src-port %u", port);
	return rd_explain_fix(ret, "rdma resource show cm_id%s\n# end the program that uses it, or choose another port",
			      only);
}

static bool find_in_use(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = &f->event->request.src;
	uint16_t port = a->known ? a->port : 0;
	bool checked = rd_failure_origin_is(f, "cma_@(check_port|use_port|port_is_unique|get_port)");

	if (!checked && (!port || !has_holder(f, port)))
		return false;
	/* The same port of another address does not matter. */
	if (port)
		rd_explain(ret, "address-in-use", checked ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "port %u of %s is used by another rdma_cm_id", port, RD_WORD_SOCKET(a));
	else
		rd_explain(ret, "address-in-use", RD_CONFIDENCE_HIGH, "the port is used by another rdma_cm_id");
	if (port)
		add_holders(f, port, false, ret);
	return add_fix(port, ret);
}

/*
 * EADDRNOTAVAIL of cma_check_port(): two rdma_cm_ids on one port, of which one is bound to 0.0.0.0 or ::. The same errno for a port
 * that is given, and an address that the host has, has no other reason.
 */
static bool find_any_in_use(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = &f->event->request.src;
	bool checked = rd_failure_origin_is(f, "cma_@(check|use)_port");
	uint16_t port = a->known ? a->port : 0;
	bool any = port && is_any_address(a->family, a->addr);

	if (!checked && (!port || !rd_failure_origin_is(f, "@(cma_|rdma_bind_addr)*")))
		return false;
	if (any)
		rd_explain(ret, "address-in-use", checked ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "port %u is used by another rdma_cm_id, and %s is every address", port, RD_WORD_SOCKET(a));
	else if (port)
		rd_explain(ret, "address-in-use", checked ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "port %u of %s is used by another rdma_cm_id, which is bound to 0.0.0.0 or ::", port,
			   RD_WORD_SOCKET(a));
	else
		rd_explain(ret, "address-in-use", RD_CONFIDENCE_HIGH, "the port is used by another rdma_cm_id");
	if (port && !add_holders(f, port, !any, ret))
		rd_explain_fact(
			ret, "the kernel does not list an rdma_cm_id that is bound to 0.0.0.0 or :: before it listens");
	return add_fix(port, ret);
}

bool rd_is_link_local(const struct rd_req_address *a)
{
	return a->known && a->family == AF_INET6 && a->addr[0] == 0xfe && (a->addr[1] & 0xc0) == 0x80;
}

/* The interface that has the address: of a link-local one, which several may have, that of its scope if there is such a one. */
static bool is_local(const struct rd_failure *f, const struct rd_req_address *a, const struct rd_netif **ret)
{
	bool v6 = a->family == AF_INET6, found = false;

	for (size_t i = 0; i < f->net.n_addrs; i++) {
		const struct rd_ifaddr *own = &f->net.addrs[i];

		if (own->addr.v6 != v6 || memcmp(own->addr.raw, a->addr, v6 ? 16 : 4) != 0 ||
		    (found && own->ifindex != a->scope_id))
			continue;
		*ret = rd_netstate_find(&f->net, own->ifindex);
		found = true;
	}
	return found;
}

/* The address that the call wants to be local. */
static const struct rd_req_address *own_address(const struct rd_event *ev)
{
	static const uint8_t none[16];
	const struct rd_req_address *a = &ev->request.src;

	return a->known && (a->family == AF_INET || a->family == AF_INET6) && memcmp(a->addr, none, sizeof(none)) != 0 ?
		       a :
		       NULL;
}

/* Port 0 asks for any of the range; cma_alloc_any_port() found none. */
static bool find_ports_exhausted(const struct rd_failure *f, const struct rd_req_address *a, struct rd_explanation *ret)
{
	const struct rd_req_address *src = &f->event->request.src;
	const struct rd_netif *netif;
	size_t n = 0;

	if (!src->known || src->port || (a && !is_local(f, a, &netif)) || rd_failure_origin_is(f, "rdma_find_ndev*"))
		return false;
	for (size_t i = 0; i < f->res.n_cm_ids; i++)
		n += f->res.cm_ids[i].src.port != 0;
	rd_explain(ret, "ports-exhausted",
		   rd_failure_origin_is(f, "cma_@(alloc_any|get)_port") ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "no port is free: all of net.ipv4.ip_local_port_range are used by other rdma_cm_ids");
	rd_explain_fact(ret, "%zu rdma_cm_ids of this host have a port", n);
	return rd_explain_fix(ret,
			      "rdma resource show cm_id\nsysctl net.ipv4.ip_local_port_range\n# end what holds the "
			      "ports, or widen the range (in /etc/sysctl.d/, too)");
}

/* Duplicate address detection takes a second or two, in which the kernel does not let an IPv6 address be used. */
static bool find_tentative(const struct rd_failure *f, const struct rd_req_address *a, struct rd_explanation *ret)
{
	for (size_t i = 0; a && a->family == AF_INET6 && i < f->net.n_addrs; i++) {
		const struct rd_ifaddr *own = &f->net.addrs[i];
		const struct rd_netif *netif = rd_netstate_find(&f->net, own->ifindex);

		if (!(own->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) || !own->addr.v6 ||
		    memcmp(own->addr.raw, a->addr, 16) != 0 || (a->scope_id && a->scope_id != own->ifindex))
			continue;
		/* An optimistic address can be used while it is tentative. */
		if (own->flags & IFA_F_OPTIMISTIC && !(own->flags & IFA_F_DADFAILED))
			continue;
		rd_explain(
			ret, "address-tentative", RD_CONFIDENCE_HIGH,
			own->flags & IFA_F_DADFAILED ?
				"address %s of %s cannot be used: another host has it (duplicate address detection failed)" :
				"address %s of %s cannot be used yet: duplicate address detection is running",
			RD_WORD_SOCKET(a), netif ? netif->name : "?");
		return rd_explain_fix(
			ret,
			own->flags & IFA_F_DADFAILED ?
				"ip -6 address show dadfailed\n# remove the address here, or from the other host that has it" :
				"ip -6 address show tentative\n# wait until it is not listed, or add it with nodad");
	}
	return false;
}

bool rd_find_mapped(const struct rd_req_address *a, struct rd_explanation *ret)
{
	if (!a->known || a->family != AF_INET6 || !rd_is_v4_gid(a->addr))
		return false;
	rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
		   "%s is an IPv4 address in the form of an IPv6 one, which rdma_cm takes for IPv6", RD_WORD_SOCKET(a));
	return rd_explain_fix(ret, "# pass it as AF_INET");
}

static bool find_not_local(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = own_address(f->event);
	const struct rd_netif *netif = NULL;

	if (rd_failure_origin_is(f, "cma_@(check|use)_port"))
		return find_any_in_use(f, ret);
	if (rd_find_mapped(&f->event->request.src, ret) || (!f->other_net_ns && find_tentative(f, a, ret)))
		return true;
	/* No device was found for it, in the namespace of the process. */
	if (a && f->other_net_ns && rd_failure_origin_is(f, "rdma_find_ndev_for_src_ip_rcu")) {
		rd_explain(ret, "address-not-local", RD_CONFIDENCE_HIGH,
			   "no interface in the network namespace of the process (net:[%u]) has the address %s",
			   f->event->moment.net_ns.v, RD_WORD_SOCKET(a));
		if (f->net.addrs_known == RD_OK && is_local(f, a, &netif))
			rd_explain_fact(ret, "in this namespace, interface %s has it", netif ? netif->name : "?");
		return rd_explain_fix(ret, "# use an address of the container\n# or run the program in the network "
					   "namespace of the host");
	}
	if (f->other_net_ns || f->net.addrs_known != RD_OK)
		return false;
	if (find_ports_exhausted(f, a, ret))
		return true;
	if (!a || is_local(f, a, &netif))
		return find_any_in_use(f, ret);
	rd_explain(ret, "address-not-local", RD_CONFIDENCE_HIGH, "no interface of this host has the address %s",
		   RD_WORD_SOCKET(a));
	return rd_explain_fix(ret, "rdmadiag nic-map --gids\n# use an address of an RDMA interface");
}

/* rdma_translate_ip() takes the interface from sin6_scope_id, and does not compare it with that of the address. */
static bool find_wrong_scope(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = own_address(f->event);
	const struct rd_netif *netif = NULL, *scope;

	if (!a || !rd_is_link_local(a) || !a->scope_id || f->net.links_known != RD_OK || !is_local(f, a, &netif) ||
	    !netif || netif->ifindex == a->scope_id)
		return false;
	scope = rd_netstate_find(&f->net, a->scope_id);
	if (scope)
		rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
			   "sin6_scope_id is %u, the index of %s, which does not have the address %s", a->scope_id,
			   scope->name, RD_WORD_SOCKET(a));
	else
		rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
			   "sin6_scope_id is %u, which is not the index of an interface", a->scope_id);
	rd_explain_fact(ret, "%s is an address of %s (index %u)", RD_WORD_SOCKET(a), netif->name, netif->ifindex);
	rd_cm_add_id(f, ret);
	return rd_explain_fix(ret, "# set sin6_scope_id to the index of the interface: if_nametoindex(\"%s\")",
			      netif->name);
}

/* Whether addresses of `netif` are GIDs of a port on `below`: it is the same, a VLAN on it, or its bond. */
static bool is_above(const struct rd_netstate *net, const struct rd_netif *netif, const struct rd_netif *below)
{
	for (unsigned depth = 0; netif && depth < 4; depth++) {
		if (netif == below || (netif->kind && !strcmp(netif->kind, "bond") && below->master == netif->ifindex))
			return true;
		netif = netif->vlan >= 0 ? rd_netstate_find(net, netif->lower) : NULL;
	}
	return false;
}

static const struct rd_res_port *rdma_port_of(const struct rd_failure *f, const struct rd_netif *netif)
{
	for (size_t i = 0; i < f->res.n_ports; i++) {
		const struct rd_res_port *port = &f->res.ports[i];
		const struct rd_netif *below = port->netdev ? rd_netstate_find_name(&f->net, port->netdev) : NULL;

		if (below && port->dev >= 0 && is_above(&f->net, netif, below))
			return port;
	}
	return NULL;
}

static bool find_without_rdma(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = own_address(f->event);
	const struct rd_netif *netif = NULL;
	const struct rd_res_port *port;

	if (f->other_net_ns || f->net.addrs_known != RD_OK)
		return false;
	if (find_tentative(f, a, ret) || find_wrong_scope(f, ret))
		return true;
	if (a && !is_local(f, a, &netif))
		return false;
	if (!a) {
		netif = f->read & RD_FACT_PATH && !f->route_errno ? rd_netstate_find(&f->net, f->route.ifindex) : NULL;
		a = &f->event->request.dst;
		if (!a->known)
			return false;
	}
	if (!netif)
		return false;
	port = rdma_port_of(f, netif);
	if (port) {
		const char *dev = f->res.devs[port->dev].name;

		/* The interface has a port: its table has no GID of the address, as before the kernel has added one of a new
		 * address. */
		rd_explain(ret, "address-without-rdma", RD_CONFIDENCE_MEDIUM,
			   a == &f->event->request.dst ?
				   "the route to %s is through %s, but %s/%u has no GID for its address (yet)" :
				   "%s is an address of %s, but %s/%u has no GID for it (yet)",
			   RD_WORD_SOCKET(a), netif->name, dev, port->num);
		if (port->state.known == RD_OK && port->state.v != PORT_ACTIVE) {
			rd_explain_fact(ret, "port %u of %s is not ACTIVE", port->num, dev);
			rd_explain_fix(ret,
				       "ip link set %s up\n# rdmadiag nic-map --gids then lists the GID of the address",
				       netif->name);
		} else {
			rd_explain_fix(
				ret,
				"rdmadiag nic-map --gids %s\n# call it again: new GIDs are added in the background",
				dev);
		}
		return true;
	}
	/* Without a list of devices, the interface may have one. */
	rd_explain(ret, "address-without-rdma", f->res.n_devs ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s %s is %s interface %s, which has no RDMA device",
		   a == &f->event->request.dst ? "the route to" : "address", RD_WORD_SOCKET(a),
		   a == &f->event->request.dst ? "through" : "of", netif->name);
	return rd_explain_fix(ret, "rdma link\n# use an address of an interface with an RDMA device");
}

static bool find_privileged(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = &f->event->request.src;
	const struct rd_moment *m = &f->event->moment;
	bool cap = m->caps.v >> CAP_NET_BIND_SERVICE & 1;

	/* ucma_write() compares credentials. */
	if (!a->known || !a->port || a->port >= 1024 || rd_failure_origin_is(f, "ucma_write") ||
	    m->caps.known != RD_OK || (cap && (m->user_ns_level.known != RD_OK || !m->user_ns_level.v)))
		return false;
	rd_explain(ret, "privileged-port", RD_CONFIDENCE_HIGH, "port %u is below 1024, and the process has %s", a->port,
		   cap ? "CAP_NET_BIND_SERVICE only in a user namespace, where rdma_cm does not accept it" :
			 "no CAP_NET_BIND_SERVICE");
	return rd_explain_fix(ret,
			      cap ? "# use a port from 1024 on\n# or run the program outside of the user namespace" :
				    "# use a port from 1024 on\n# or give the program CAP_NET_BIND_SERVICE: "
				    "AmbientCapabilities= of its unit, or setcap cap_net_bind_service=ep");
}

/* IPv6 may be switched off: then the family is a known one. */
static bool find_family(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_req_address *a = r->src.known ? &r->src : &r->dst;

	if (!a->known || a->family == AF_INET || a->family == AF_INET6 || a->family == AF_IB)
		return false;
	rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH, "address family %u is not supported by rdma_cm",
		   a->family);
	return rd_explain_fix(ret, "# use AF_INET, AF_INET6 or AF_IB");
}

bool rd_find_cm_address(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (!rd_is_cm(f->event))
		return false;
	switch (-f->event->err) {
	case EADDRINUSE:
		return find_in_use(f, ret);
	case EADDRNOTAVAIL:
		return find_not_local(f, ret);
	case ENODEV:
		return find_without_rdma(f, ret);
	case EACCES:
		return find_privileged(f, ret);
	case EAFNOSUPPORT:
		return find_family(f, ret);
	default:
		return false;
	}
}

/* Values in requests of librdmacm. */

/* enum ib_event_type */
#define EVENT_COMM_EST 4
#define EVENT_PATH_MIG 6

/* ucma_bind() and others compare the length that the library passes with that of the address family. */
static bool find_address_size(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;
	const struct rd_req_address *a = r->src.known && rd_is_verb(f->event, "rdma_bind_addr") ? &r->src : &r->dst;
	/* sockaddr_in, sockaddr_in6, sockaddr_ib */
	uint64_t size = a->family == AF_INET ? 16 : a->family == AF_INET6 ? 28 : 48;

	if (!rd_failure_origin_is(f, "ucma_@(bind*|resolve_addr|resolve_ip|join*|process_join)") || !a->known)
		return false;
	if (a->family != AF_INET && a->family != AF_INET6 && a->family != AF_IB) {
		rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
			   "the address is of family %u, and rdma_cm has only AF_INET, AF_INET6 and AF_IB", a->family);
		rd_explain_fix(ret, "# set sa_family of the address");
	} else if (rd_req_has(r, RD_REQ_ADDR_SIZE) && r->v[RD_REQ_ADDR_SIZE] != size) {
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

	if (!rd_is_verb(f->event, "rdma_bind_addr") || !rd_is_link_local(a) || a->scope_id)
		return false;
	rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
		   "%s is a link-local address, and sin6_scope_id is 0: it says nothing without its interface",
		   RD_WORD_SOCKET(a));
	rd_cm_add_id(f, ret);
	return rd_explain_fix(ret, "# set sin6_scope_id to the index of the interface (if_nametoindex)");
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
			   rd_failure_in_driver(f) || rd_failure_origin_is(f, "@(iw_*|cma_*_iw)") ||
					   (length <= DATAGRAM_MOST && rd_failure_origin_is(f, "*sidr*")) ?
				   RD_CONFIDENCE_MEDIUM :
				   RD_CONFIDENCE_HIGH,
			   "private_data_len is %" PRIu64
			   ", and %s carries at most %u bytes of private data on InfiniBand and RoCE",
			   length, limits[i].verb, limits[i].most);
		rd_cm_add_id(f, ret);
		return rd_explain_fix(ret, "# send at most %u bytes with the connection, and the rest over it",
				      limits[i].most);
	}
	return false;
}

static bool find_families(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_request *r = &f->event->request;

	if (!rd_is_verb(f->event, "rdma_resolve_addr") || !r->dst.known)
		return false;
	if (r->src.known && r->src.family && r->src.family != r->dst.family) {
		rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
			   "source %s and destination %s are of different address families", RD_WORD_SOCKET(&r->src),
			   RD_WORD_SOCKET(&r->dst));
	} else if (f->event->moment.cm_state.known == RD_OK && f->event->moment.cm_state.v == CM_ADDR_BOUND &&
		   rd_failure_origin_is(f, "@(rdma_resolve_addr|resolve_prepare_src|rdma_resolve_ip)")) {
		rd_explain(ret, "address-family", RD_CONFIDENCE_HIGH,
			   "the rdma_cm_id is bound to an address of another family than destination %s",
			   RD_WORD_SOCKET(&r->dst));
	} else {
		return false;
	}
	rd_cm_add_id(f, ret);
	return rd_explain_fix(ret,
			      "# use addresses of one family: bind to an IPv4 address to reach one, or do not bind");
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
		return rd_explain_fix(ret, "# use RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB or RDMA_PS_IPOIB");
	if (rd_is_verb(f->event, "rdma_set_option"))
		return rd_explain_fix(ret, "# see rdma_set_option(3)\n# an older kernel knows fewer options");
	return rd_explain_fix(ret, "# check where the program gets the value from");
}

bool rd_find_cm_request(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
{
	(void)looked;
	if (f->event->err == -ENOENT) {
		const struct rd_request *r = &f->event->request;
		const struct rd_moment *m = &f->event->moment;
		/* Where a descriptor is named as well, only one that is open leaves no doubt. Functions below ucma have
		 * found the id. */
		bool sure = (!rd_req_has(r, RD_REQ_FD) || m->fd_known == RD_OK) && rd_failure_origin_is(f, "*ucma_*");

		if (!rd_is_cm(f->event) || !rd_req_has(r, RD_REQ_CM_ID) || m->cm_state.known == RD_OK)
			return false;
		rd_explain(ret, "cm-id-stale", sure ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "the process has no rdma_cm_id with number %" PRIu64, r->v[RD_REQ_CM_ID]);
		return rd_explain_fix(
			ret, "# the program uses an rdma_cm_id after rdma_destroy_id, or one of another event channel");
	}
	/* Of another channel: the values were not looked at. Options that have functions of their own are among the checks of the core. */
	if (!rd_is_cm(f->event) || rd_failure_origin_is(f, "ucma_get_ctx") ||
	    (f->event->origin_exact && rd_failure_origin_is(f, "rdma_set_*")))
		return false;
	return find_value(f, ret) ||
	       (f->event->err == -EINVAL && (find_address_size(f, ret) || find_private_data(f, ret) ||
					     find_families(f, ret) || find_scope(f, ret) || find_join(f, ret)));
}
