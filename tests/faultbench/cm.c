/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection manager, as programs call it.
 */
#include "fault.h"
#include <rdma/rdma_cma.h>
#include <sched.h>

static struct sockaddr_in ipv4(const char *address, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, address, &sin.sin_addr);
	return sin;
}

static struct sockaddr_in6 ipv6(const char *address, int port)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	inet_pton(AF_INET6, address, &sin6.sin6_addr);
	return sin6;
}

#define OWN "10.9.0.1"
#define SA(sin) ((struct sockaddr *)&(sin))

/* Without a channel the calls wait for their event. */
static struct rdma_cm_id *create_id(enum rdma_port_space ps, bool wait)
{
	struct rdma_event_channel *channel = wait ? NULL : rdma_create_event_channel();
	struct rdma_cm_id *id = NULL;

	if ((!wait && !channel) || rdma_create_id(channel, &id, NULL, ps)) {
		unready("rdma_create_id");
		return NULL;
	}
	return id;
}

static int result(int ret)
{
	return ret ? errno : 0;
}

static struct rdma_cm_id *bound(struct sockaddr *to)
{
	struct rdma_cm_id *id = create_id(RDMA_PS_TCP, false);

	if (!id || rdma_bind_addr(id, to)) {
		unready("rdma_bind_addr");
		return NULL;
	}
	return id;
}

enum bind { NOT_LOCAL, NO_RDMA, OTHER_NETNS, PRIVILEGED };

static int bind_to(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, env->fault->arg == PRIVILEGED ? 80 : 0);
	struct rdma_cm_id *id;

	switch ((enum bind)env->fault->arg) {
	case NOT_LOCAL:
		to = ipv4("203.0.113.9", 0);
		break;
	case NO_RDMA:
		if (private_device(env, false))
			return -1;
		to = ipv4(PRIVATE_IP, 0);
		truth("interface", PRIVATE_NETDEV);
		break;
	case OTHER_NETNS:
		if (unshare(CLONE_NEWNET))
			return unready("unshare");
		truth("netns", "other");
		truth("interface", "v0");
		break;
	case PRIVILEGED: /* before the channel is opened: commands by write(2) want the credentials of then */
		if (become_nobody())
			return -1;
		truth("uid", "%d", NOBODY);
	}
	id = create_id(RDMA_PS_TCP, false);
	if (!id)
		return -1;
	truth("address", "%s", inet_ntoa(to.sin_addr));
	truth("port", "%d", ntohs(to.sin_port));
	return result(rdma_bind_addr(id, SA(to)));
}

static int bind_link_local(struct env *env)
{
	struct sockaddr_in6 to = ipv6("fe80::ff:fe00:901", 0);
	struct rdma_cm_id *id = create_id(RDMA_PS_TCP, false);

	if (!id)
		return -1;
	truth("address", "fe80::ff:fe00:901");
	truth("scope_id", "0");
	return result(rdma_bind_addr(id, SA(to)));
}

static int bind_twice(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, 0);
	struct rdma_cm_id *id = bound(SA(to));

	if (!id)
		return -1;
	truth("cm_state", "ADDR_BOUND");
	truth("port", "%d", ntohs(rdma_get_src_port(id)));
	return result(rdma_bind_addr(id, SA(to)));
}

static int bind_in_use(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, 0), any = ipv4("0.0.0.0", 0);
	struct rdma_cm_id *first = bound(SA(to)), *second = first ? create_id(RDMA_PS_TCP, false) : NULL;

	if (!second)
		return -1;
	to.sin_port = any.sin_port = rdma_get_src_port(first);
	truth("address", "%s", env->fault->arg ? "0.0.0.0" : OWN);
	truth("port", "%d", ntohs(to.sin_port));
	return result(rdma_bind_addr(second, env->fault->arg ? SA(any) : SA(to)));
}

/* In a network namespace of our own that has two ephemeral ports. One would not do: the last that was given out is not
 * given out again at once, and librdmacm has already bound to one and freed it. */
static int ports_exhausted(struct env *env)
{
	struct sockaddr_in any = ipv4("0.0.0.0", 0);
	int port = 20000 + getpid() % 10000;
	struct rdma_cm_id *id;
	char range[32];

	snprintf(range, sizeof(range), "%d %d", port, port + 1);
	if (unshare(CLONE_NEWNET) || write_file(range, "/proc/sys/net/ipv4/ip_local_port_range"))
		return unready("unshare");
	if (!bound(SA(any)) || !bound(SA(any)))
		return -1;
	id = create_id(RDMA_PS_TCP, false);
	if (!id)
		return -1;
	truth("ports", "%d-%d", port, port + 1);
	return result(rdma_bind_addr(id, SA(any)));
}

static int listen_twice(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, 0);
	struct rdma_cm_id *id = bound(SA(to));

	if (!id || rdma_listen(id, 4))
		return unready("rdma_listen");
	truth("cm_state", "LISTEN");
	return result(rdma_listen(id, 4));
}

/* Two that share a port, which listeners may not. */
static int listen_in_use(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, 0);
	struct rdma_cm_id *id[2];
	int reuse = 1;

	for (int i = 0; i < 2; i++) {
		id[i] = create_id(RDMA_PS_TCP, false);
		if (!id[i] || rdma_set_option(id[i], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse)) ||
		    rdma_bind_addr(id[i], SA(to)))
			return unready("rdma_bind_addr");
		to.sin_port = rdma_get_src_port(id[0]);
	}
	truth("address", OWN);
	truth("port", "%d", ntohs(to.sin_port));
	return result(rdma_listen(id[1], 4));
}

enum resolve { NOWHERE, NOWHERE_V6, SOURCE_NOT_LOCAL, NO_ANSWER, SOURCE_LOOPBACK, MAPPED };

static int resolve(struct env *env)
{
	enum resolve how = env->fault->arg;
	struct sockaddr_in source = ipv4("203.0.113.9", 0), to = ipv4("203.0.113.1", 7000);
	struct sockaddr_in6 to6 = ipv6("2001:db8::1", 7000);
	struct rdma_cm_id *id = create_id(RDMA_PS_TCP, how == NO_ANSWER);

	if (!id)
		return -1;
	if (how == SOURCE_NOT_LOCAL || how == SOURCE_LOOPBACK) {
		source = ipv4(how == SOURCE_LOOPBACK ? "127.0.0.1" : "203.0.113.9", 0);
		to = ipv4("10.9.0.2", 7000);
		truth("source", "%s", inet_ntoa(source.sin_addr));
	}
	if (how == MAPPED)
		to6 = ipv6("::ffff:10.9.0.2", 7000);
	if (how == NO_ANSWER) {
		to = ipv4("10.9.0.77", 7000);
		truth("neighbour", "10.9.0.77");
	}
	truth("address", "%s",
	      how == NOWHERE_V6 ? "2001:db8::1" :
	      how == MAPPED	? "::ffff:10.9.0.2" :
				  inet_ntoa(to.sin_addr));
	return result(rdma_resolve_addr(id, how == SOURCE_NOT_LOCAL || how == SOURCE_LOOPBACK ? SA(source) : NULL,
					how == NOWHERE_V6 || how == MAPPED ? SA(to6) : SA(to), 1000));
}

/* A route that refuses, by its type */
static int resolve_refused(struct env *env)
{
	static const char *const types[] = { "blackhole", "prohibit", "unreachable" };
	struct sockaddr_in to = ipv4("203.0.113.9", 7000);
	struct rdma_cm_id *id = create_id(RDMA_PS_TCP, false);

	if (!id || shell("ip route replace %s 203.0.113.9", types[env->fault->arg]))
		return -1;
	truth("route_type", "%s", types[env->fault->arg]);
	truth("address", "203.0.113.9");
	return result(rdma_resolve_addr(id, NULL, SA(to), 1000));
}

/* Right after the address was added, while duplicates of it are looked for */
static int bind_tentative(struct env *env)
{
	struct sockaddr_in6 to = ipv6("2001:db8:77::1", 7000);
	struct rdma_cm_id *id = create_id(RDMA_PS_TCP, false);

	if (!id || shell("ip address del 2001:db8:77::1/64 dev v0 2>/dev/null; "
			 "sysctl -qw net.ipv6.conf.v0.accept_dad=1 net.ipv6.conf.v0.dad_transmits=30; "
			 "ip address add 2001:db8:77::1/64 dev v0"))
		return -1;
	truth("address", "2001:db8:77::1");
	return result(rdma_bind_addr(id, SA(to)));
}

/* 0: an id that is bound. 1: a source in the same call. */
static int resolve_family(struct env *env)
{
	struct sockaddr_in source = ipv4(OWN, 0);
	struct sockaddr_in6 to = ipv6("fe80::ff:fe00:902", 7000);
	struct rdma_cm_id *id = env->fault->arg ? create_id(RDMA_PS_TCP, false) : bound(SA(source));

	if (!id)
		return -1;
	truth("source", OWN);
	truth("address", "fe80::ff:fe00:902");
	return result(rdma_resolve_addr(id, env->fault->arg ? SA(source) : NULL, SA(to), 1000));
}

static struct rdma_cm_id *resolved(enum rdma_port_space ps, bool route)
{
	struct sockaddr_in to = ipv4("10.9.0.2", 7000);
	struct rdma_cm_id *id = create_id(ps, true);

	if (!id || rdma_resolve_addr(id, NULL, SA(to), 2000) || (route && rdma_resolve_route(id, 2000))) {
		unready("rdma_resolve_addr");
		return NULL;
	}
	return id;
}

static int resolve_twice(struct env *env)
{
	struct sockaddr_in to = ipv4("10.9.0.2", 7000);
	struct rdma_cm_id *id = resolved(RDMA_PS_TCP, false);

	truth("cm_state", "ADDR_RESOLVED");
	return id ? result(rdma_resolve_addr(id, NULL, SA(to), 2000)) : -1;
}

static int connect_early(struct env *env)
{
	struct rdma_cm_id *id = resolved(RDMA_PS_TCP, false);
	struct rdma_conn_param param = { .qp_num = 17 };

	truth("cm_state", "ADDR_RESOLVED");
	return id ? result(rdma_connect(id, &param)) : -1;
}

/* The rest of the message is the kernel's own header of 36 bytes, and what the message has. */
static int connect_private_data(struct env *env)
{
	static const uint8_t data[255];
	enum rdma_port_space ps = !strcmp(env->fault->name, "cm-private-udp") ? RDMA_PS_UDP : RDMA_PS_TCP;
	struct rdma_cm_id *id = resolved(ps, true);
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = env->fault->arg,
		.qp_num = 17,
	};

	if (!id)
		return -1;
	truth("private_data_len", "%d", env->fault->arg);
	truth("max", "%d", ps == RDMA_PS_UDP ? 180 : 56);
	return result(rdma_connect(id, &param));
}

/* A connection request that has arrived */
static struct rdma_cm_id *requested(void)
{
	struct rdma_cm_id *server, *client;
	struct rdma_conn_param param = { .qp_num = 17 };
	struct sockaddr_in at = ipv4("10.9.0.2", 7000), from = ipv4(OWN, 0);
	struct rdma_cm_event *event;

	server = bound(SA(at));
	if (!server || rdma_listen(server, 4))
		return NULL;
	client = create_id(RDMA_PS_TCP, false);
	if (!client || rdma_resolve_addr(client, SA(from), SA(at), 2000) ||
	    rdma_get_cm_event(client->channel, &event) || rdma_ack_cm_event(event) ||
	    rdma_resolve_route(client, 2000) || rdma_get_cm_event(client->channel, &event) ||
	    rdma_ack_cm_event(event) || rdma_connect(client, &param) || rdma_get_cm_event(server->channel, &event) ||
	    event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return NULL;
	return event->id;
}

static int answer_private_data(struct env *env)
{
	static const uint8_t data[255];
	struct rdma_cm_id *id = requested();
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = { .private_data = data, .private_data_len = 220 };

	if (!id || rdma_create_qp(id, NULL, &attr))
		return unready("no connection request");
	truth("private_data_len", "220");
	truth("max", "%d", env->fault->arg ? 148 : 196);
	return result(env->fault->arg ? rdma_reject(id, data, 220) : rdma_accept(id, &param));
}

static int port_space(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, 0);
	struct rdma_cm_id *id = create_id(RDMA_PS_IPOIB, false);

	if (!id)
		return -1;
	truth("port_space", "IPOIB");
	truth("address", OWN);
	return result(rdma_bind_addr(id, SA(to)));
}

static int after_setuid(struct env *env)
{
	struct sockaddr_in to = ipv4(OWN, 0);
	struct rdma_cm_id *id = create_id(RDMA_PS_TCP, false);

	if (!id || become_nobody())
		return -1;
	truth("fd", "%d", id->channel->fd);
	truth("uid", "%d", NOBODY);
	truth("opened_by_uid", "0");
	return result(rdma_bind_addr(id, SA(to)));
}

const struct fault cm_faults[] = {
	{ "cm-bind-twice", "rdma_bind_addr", "cm-id-state", "bound already", NOTHING, bind_twice, 0 },
	{ "cm-bind-in-use", "rdma_bind_addr", "address-in-use", "a port in use", NOTHING, bind_in_use, 0 },
	{ "cm-bind-in-use-any", "rdma_bind_addr", "address-in-use", "a port in use, any address: EADDRNOTAVAIL",
	  NOTHING, bind_in_use, 1 },
	{ "cm-ports-exhausted", "rdma_bind_addr", "ports-exhausted", "no ephemeral port left", NOTHING, ports_exhausted,
	  0 },
	{ "cm-bind-not-local", "rdma_bind_addr", "address-not-local", "another host's address", NOTHING, bind_to,
	  NOT_LOCAL },
	{ "cm-bind-netns", "rdma_bind_addr", "address-not-local", "an address of another network namespace", NOTHING,
	  bind_to, OTHER_NETNS },
	{ "cm-bind-no-rdma", "rdma_bind_addr", "address-without-rdma", "an address of an interface without RDMA",
	  NOTHING, bind_to, NO_RDMA },
	{ "cm-bind-link-local", "rdma_bind_addr", "address-scope-missing", "a link-local address without an interface",
	  NOTHING, bind_link_local, 0 },
	{ "cm-bind-privileged", "rdma_bind_addr", "privileged-port", "port 80, by nobody", NOTHING, bind_to,
	  PRIVILEGED },
	{ "cm-bind-ipoib", "rdma_bind_addr", "not-supported", "the IPoIB port space, on Ethernet", NOTHING, port_space,
	  0 },
	{ "cm-setuid", "rdma_bind_addr", "credentials-changed", "privileges dropped after the channel was opened",
	  NOTHING, after_setuid, 0 },
	{ "cm-listen-twice", "rdma_listen", "cm-id-state", "listening already", NOTHING, listen_twice, 0 },
	{ "cm-listen-in-use", "rdma_listen", "address-in-use", "on a port that another id shares", NOTHING,
	  listen_in_use, 0 },
	{ "cm-resolve-family", "rdma_resolve_addr", "address-family", "bound to IPv4, the peer's address IPv6", NOTHING,
	  resolve_family, 0 },
	{ "cm-resolve-families", "rdma_resolve_addr", "address-family", "source IPv4, destination IPv6", NOTHING,
	  resolve_family, 1 },
	{ "cm-resolve-blackhole", "rdma_resolve_addr", "no-route", "a route of type blackhole", NOTHING,
	  resolve_refused, 0 },
	{ "cm-resolve-prohibit", "rdma_resolve_addr", "no-route", "a route of type prohibit", NOTHING, resolve_refused,
	  1 },
	{ "cm-resolve-unreachable", "rdma_resolve_addr", "no-route", "a route of type unreachable", NOTHING,
	  resolve_refused, 2 },
	{ "cm-bind-tentative", "rdma_bind_addr", "address-tentative", "an IPv6 address that was just added", NOTHING,
	  bind_tentative, 0 },
	{ "cm-resolve-nowhere", "rdma_resolve_addr", "no-route", "no route", NOTHING, resolve, NOWHERE },
	{ "cm-resolve-nowhere-v6", "rdma_resolve_addr", "no-route", "no route, IPv6", NOTHING, resolve, NOWHERE_V6 },
	{ "cm-resolve-silent", "rdma_resolve_addr", "neighbour-unreachable",
	  "no answer to ARP: by an event, no call of the kernel fails", NOTHING, resolve, NO_ANSWER },
	{ "cm-resolve-source", "rdma_resolve_addr", "address-not-local", "source address of another host", NOTHING,
	  resolve, SOURCE_NOT_LOCAL },
	{ "cm-resolve-loopback", "rdma_resolve_addr", "address-without-rdma", "source 127.0.0.1", NOTHING, resolve,
	  SOURCE_LOOPBACK },
	{ "cm-resolve-mapped", "rdma_resolve_addr", "address-family", "an IPv4 address in an IPv6 one", NOTHING,
	  resolve, MAPPED },
	{ "cm-resolve-twice", "rdma_resolve_addr", "cm-id-state", "resolved already", NOTHING, resolve_twice, 0 },
	{ "cm-connect-early", "rdma_connect", "cm-id-state", "the route is not resolved", NOTHING, connect_early, 0 },
	{ "cm-private-data", "rdma_connect", "private-data-too-long", "200 bytes of private data, 56 are allowed",
	  NOTHING, connect_private_data, 200 },
	{ "cm-private-overflow", "rdma_connect", "private-data-too-long", "240 bytes, with the header over 255",
	  NOTHING, connect_private_data, 240 },
	{ "cm-private-udp", "rdma_connect", "private-data-too-long", "200 bytes of private data, 180 are allowed",
	  NOTHING, connect_private_data, 200 },
	{ "cm-private-accept", "rdma_accept", "private-data-too-long", "220 bytes of private data, 196 are allowed",
	  NOTHING, answer_private_data, 0 },
	{ "cm-private-reject", "rdma_reject", "private-data-too-long", "220 bytes of private data, 148 are allowed",
	  NOTHING, answer_private_data, 1 },
	{ 0 },
};
