// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses and ports of librdmacm. */
#include <linux/capability.h>
#include <linux/if_addr.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "diagnose/connect/cm.h"

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
					name ? " (" : "", name ? name : "", name ? ")" : "");
		else
			rd_explain_fact(ret, "port %u of %s is used by %s", port, addr,
					name ? name : "an unknown process");
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

static void add_fix(uint16_t port, struct rd_explanation *ret)
{
	char only[24] = "";

	if (port)
		snprintf(only, sizeof(only), " src-port %u", port);
	rd_explain_fix(ret, "rdma resource show cm_id%s\n# end the program that uses it, or choose another port", only);
}

static bool find_in_use(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = &f->event->request.src;
	char addr[RD_WORD_IP];
	uint16_t port = a->known ? a->port : 0;

	bool checked = rd_failure_origin_is(f, "cma_check_port") || rd_failure_origin_is(f, "cma_use_port") ||
		       rd_failure_origin_is(f, "cma_port_is_unique") || rd_failure_origin_is(f, "cma_get_port");

	if (!checked && (!port || !has_holder(f, port)))
		return false;
	/* The same port of another address does not matter. */
	if (port)
		rd_explain(ret, "address-in-use", checked ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "port %u of %s is used by another rdma_cm_id", port, rd_word_socket(a, addr));
	else
		rd_explain(ret, "address-in-use", RD_CONFIDENCE_HIGH, "the port is used by another rdma_cm_id");
	if (port)
		add_holders(f, port, false, ret);
	add_fix(port, ret);
	return true;
}

/*
 * EADDRNOTAVAIL of cma_check_port(): two rdma_cm_ids on one port, of which one is bound to 0.0.0.0 or ::. The same errno for a port
 * that is given, and an address that the host has, has no other reason.
 */
static bool find_any_in_use(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = &f->event->request.src;
	bool checked = rd_failure_origin_is(f, "cma_check_port") || rd_failure_origin_is(f, "cma_use_port");
	uint16_t port = a->known ? a->port : 0;
	bool any = port && is_any_address(a->family, a->addr);
	char addr[RD_WORD_IP];

	if (!checked && (!port || (!rd_failure_origin_is(f, "cma_*") && !rd_failure_origin_is(f, "rdma_bind_addr*"))))
		return false;
	if (any)
		rd_explain(ret, "address-in-use", checked ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "port %u is used by another rdma_cm_id, and %s is every address", port,
			   rd_word_socket(a, addr));
	else if (port)
		rd_explain(ret, "address-in-use", checked ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
			   "port %u of %s is used by another rdma_cm_id, which is bound to 0.0.0.0 or ::", port,
			   rd_word_socket(a, addr));
	else
		rd_explain(ret, "address-in-use", RD_CONFIDENCE_HIGH, "the port is used by another rdma_cm_id");
	if (port && !add_holders(f, port, !any, ret))
		rd_explain_fact(
			ret, "the kernel does not list an rdma_cm_id that is bound to 0.0.0.0 or :: before it listens");
	add_fix(port, ret);
	return true;
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
		   rd_failure_origin_is(f, "cma_alloc_any_port") || rd_failure_origin_is(f, "cma_get_port") ?
			   RD_CONFIDENCE_HIGH :
			   RD_CONFIDENCE_MEDIUM,
		   "no port is free: all of net.ipv4.ip_local_port_range are used by other rdma_cm_ids");
	rd_explain_fact(ret, "%zu rdma_cm_ids of this host have a port", n);
	rd_explain_fix(ret, "rdma resource show cm_id\nsysctl net.ipv4.ip_local_port_range\n# end what holds the "
			    "ports, or widen the range (in /etc/sysctl.d/, too)");
	return true;
}

/* Duplicate address detection takes a second or two, in which the kernel does not let an IPv6 address be used. */
static bool find_tentative(const struct rd_failure *f, const struct rd_req_address *a, struct rd_explanation *ret)
{
	char addr[RD_WORD_IP];

	for (size_t i = 0; a && a->family == AF_INET6 && i < f->net.n_addrs; i++) {
		const struct rd_ifaddr *own = &f->net.addrs[i];
		const struct rd_netif *netif = rd_netstate_find(&f->net, own->ifindex);

		if (!(own->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) || !own->addr.v6 ||
		    memcmp(own->addr.raw, a->addr, 16) != 0)
			continue;
		rd_explain(
			ret, "address-tentative", RD_CONFIDENCE_HIGH,
			own->flags & IFA_F_DADFAILED ?
				"address %s of %s cannot be used: another host has it (duplicate address detection failed)" :
				"address %s of %s cannot be used yet: duplicate address detection is running",
			rd_word_socket(a, addr), netif ? netif->name : "?");
		rd_explain_fix(ret, "ip -6 address show tentative\n# wait until it is not listed, or add it with nodad");
		return true;
	}
	return false;
}

static bool find_not_local(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = own_address(f->event);
	const struct rd_netif *netif = NULL;
	char addr[RD_WORD_IP];

	if (!f->other_net_ns && find_tentative(f, a, ret))
		return true;

	if (rd_failure_origin_is(f, "cma_check_port") || rd_failure_origin_is(f, "cma_use_port"))
		return find_any_in_use(f, ret);
	/* No device was found for it, in the namespace of the process. */
	if (a && f->other_net_ns && rd_failure_origin_is(f, "rdma_find_ndev_for_src_ip_rcu")) {
		rd_explain(ret, "address-not-local", RD_CONFIDENCE_HIGH,
			   "no interface in the network namespace of the process (net:[%u]) has the address %s",
			   f->event->moment.net_ns.v, rd_word_socket(a, addr));
		if (f->net.addrs_known == RD_OK && is_local(f, a, &netif))
			rd_explain_fact(ret, "in this namespace, interface %s has it", netif ? netif->name : "?");
		rd_explain_fix(ret, "# use an address of the container\n# or run the program in the network "
				    "namespace of the host");
		return true;
	}
	if (f->other_net_ns || f->net.addrs_known != RD_OK)
		return false;
	if (find_ports_exhausted(f, a, ret))
		return true;
	if (!a || is_local(f, a, &netif))
		return find_any_in_use(f, ret);
	rd_explain(ret, "address-not-local", RD_CONFIDENCE_HIGH, "no interface of this host has the address %s",
		   rd_word_socket(a, addr));
	rd_explain_fix(ret, "rdmadiag nic-map --gids\n# use an address of an RDMA interface");
	return true;
}

/* rdma_translate_ip() takes the interface from sin6_scope_id, and does not compare it with that of the address. */
static bool find_wrong_scope(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = own_address(f->event);
	const struct rd_netif *netif = NULL, *scope;
	char addr[RD_WORD_IP];

	if (!a || !rd_is_link_local(a) || !a->scope_id || f->net.links_known != RD_OK || !is_local(f, a, &netif) ||
	    !netif || netif->ifindex == a->scope_id)
		return false;
	scope = rd_netstate_find(&f->net, a->scope_id);
	if (scope)
		rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
			   "sin6_scope_id is %u, the index of %s, which does not have the address %s", a->scope_id,
			   scope->name, rd_word_socket(a, addr));
	else
		rd_explain(ret, "address-scope-missing", RD_CONFIDENCE_HIGH,
			   "sin6_scope_id is %u, which is not the index of an interface", a->scope_id);
	rd_explain_fact(ret, "%s is an address of %s (index %u)", rd_word_socket(a, addr), netif->name, netif->ifindex);
	rd_cm_add_id(f, ret);
	rd_explain_fix(ret, "# set sin6_scope_id to the index of the interface: if_nametoindex(\"%s\")", netif->name);
	return true;
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

/* The interface has a port: its table has no GID of the address, as before the kernel has added one of a new address. */
static void explain_missing_gid(const struct rd_failure *f, const struct rd_req_address *a,
				const struct rd_netif *netif, const struct rd_res_port *port,
				struct rd_explanation *ret)
{
	const char *dev = f->res.devs[port->dev].name;
	bool down = port->state.known == RD_OK && port->state.v != PORT_ACTIVE;
	char addr[RD_WORD_IP];

	rd_explain(ret, "address-without-rdma", RD_CONFIDENCE_MEDIUM,
		   a == &f->event->request.dst ?
			   "the route to %s is through %s, but %s/%u has no GID for its address (yet)" :
			   "%s is an address of %s, but %s/%u has no GID for it (yet)",
		   rd_word_socket(a, addr), netif->name, dev, port->num);
	if (down) {
		rd_explain_fact(ret, "port %u of %s is not ACTIVE", port->num, dev);
		rd_explain_fix(ret, "ip link set %s up\n# rdmadiag nic-map --gids then lists the GID of the address",
			       netif->name);
	} else {
		rd_explain_fix(ret, "rdmadiag nic-map --gids %s\n# call it again: new GIDs are added in the background",
			       dev);
	}
}

static bool find_without_rdma(const struct rd_failure *f, struct rd_explanation *ret)
{
	const struct rd_req_address *a = own_address(f->event);
	const struct rd_netif *netif = NULL;
	const struct rd_res_port *port;
	char addr[RD_WORD_IP];

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
		explain_missing_gid(f, a, netif, port, ret);
		return true;
	}
	/* Without a list of devices, the interface may have one. */
	rd_explain(ret, "address-without-rdma", f->res.n_devs ? RD_CONFIDENCE_HIGH : RD_CONFIDENCE_MEDIUM,
		   "%s %s is %s interface %s, which has no RDMA device",
		   a == &f->event->request.dst ? "the route to" : "address", rd_word_socket(a, addr),
		   a == &f->event->request.dst ? "through" : "of", netif->name);
	rd_explain_fix(ret, "rdma link\n# use an address of an interface with an RDMA device");
	return true;
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
	rd_explain_fix(ret, cap ? "# use a port from 1024 on\n# or run the program outside of the user namespace" :
				  "# use a port from 1024 on\n# or give the program CAP_NET_BIND_SERVICE: "
				  "AmbientCapabilities= of its unit, or setcap cap_net_bind_service=ep");
	return true;
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
	rd_explain_fix(ret, "# use AF_INET, AF_INET6 or AF_IB");
	return true;
}

static bool find_cm_address(const struct rd_failure *f, struct rd_explanation *ret, struct rd_explanation *looked)
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

const struct rd_cause_rule rd_cause_cm_address = { .errnos = { EADDRINUSE, EADDRNOTAVAIL, ENODEV, EACCES, EAFNOSUPPORT },
						   .needs = RD_FACT_NET | RD_FACT_PATH | RD_FACT_CM_IDS,
						   .find = find_cm_address };
