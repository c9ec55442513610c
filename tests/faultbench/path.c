/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths: own GIDs, the peer's, and what is between them. For ibv_modify_qp() to RTR, and ibv_create_ah().
 */
#include "fault.h"
#include <net/if.h>
#include <sched.h>

#define SILENT "10.9.0.77" /* on the link, and nobody */
#define BEHIND "198.51.100.5"

enum family { OWN_IPV4, OWN_IPV6, ZERO, ZERO_IPV6, ZERO_IPV4, LOOPBACK_IPV6 };

/* `verb` of the fault: an address handle, or a queue pair in INIT to RTR. */
static int use(struct env *env, struct step *step)
{
	struct ibv_ah_attr *ah = &step->attr.ah_attr;
	union ibv_gid own;

	if (!step->mask)
		return -1;
	if (ah->is_global) {
		truth("sgid_index", "%u", ah->grh.sgid_index);
		if (!read_gid(env->dev, ah->grh.sgid_index, &own))
			truth_gid("sgid", &own);
		truth_gid("gid", &ah->grh.dgid);
	}
	if (!strcmp(env->fault->verb, "ibv_create_ah"))
		return ibv_create_ah(env->pd, ah) ? 0 : errno;
	truth("qpn", "%u", env->qp->qp_num);
	return take(env->qp, step);
}

static int gid_index(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.ah_attr.grh.sgid_index = env->fault->arg; /* eight bits in the ABI */
	if (env->fault->arg > 255)
		truth("intended_sgid_index", "%d", env->fault->arg);
	return use(env, &step);
}

static int family(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);
	struct ibv_global_route *grh = &step.attr.ah_attr.grh;

	switch ((enum family)env->fault->arg) {
	case OWN_IPV4:
		inet_pton(AF_INET6, "fe80::ff:fe00:902", grh->dgid.raw);
		break;
	case OWN_IPV6:
		grh->sgid_index = 0;
		break;
	case ZERO: /* nobody told us the peer's */
		memset(&grh->dgid, 0, sizeof(grh->dgid));
		break;
	case ZERO_IPV6:
		grh->sgid_index = 0;
		memset(&grh->dgid, 0, sizeof(grh->dgid));
		break;
	case ZERO_IPV4:
		ipv4_gid("0.0.0.0", &grh->dgid);
		break;
	case LOOPBACK_IPV6:
		grh->sgid_index = 0;
		inet_pton(AF_INET6, "::1", grh->dgid.raw);
	}
	return use(env, &step);
}

static int no_grh(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.ah_attr.is_global = 0;
	step.attr.ah_attr.dlid = 7;
	return use(env, &step);
}

static int ah_port(struct env *env)
{
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.ah_attr.port_num = env->fault->arg;
	truth("port", "%d", env->fault->arg);
	truth("ports", "1");
	return use(env, &step);
}

static int silent(struct env *env)
{
	struct step step = step_rtr(env, SILENT);

	truth("neighbour", SILENT);
	truth("interface", "v0");
	return use(env, &step);
}

/* The route is there, its gateway is not. */
static int silent_gateway(struct env *env)
{
	struct step step = step_rtr(env, BEHIND);

	if (shell("ip route replace 198.51.100.0/24 via 10.9.0.99 dev v0"))
		return -1;
	truth("neighbour", "10.9.0.99");
	truth("gateway", "10.9.0.99");
	truth("interface", "v0");
	return use(env, &step);
}

/* Where the interface is given, IPv4 takes what has no route for a neighbour; IPv6 does not. */
static int no_route(struct env *env)
{
	struct step step = step_rtr(env, "203.0.113.1");

	if (env->fault->arg == AF_INET6) {
		step.attr.ah_attr.grh.sgid_index = 0;
		inet_pton(AF_INET6, "2001:db8::1", step.attr.ah_attr.grh.dgid.raw);
	} else {
		truth("neighbour", "203.0.113.1");
		truth("route", "none");
	}
	truth("interface", "v0");
	return use(env, &step);
}

/* A route that refuses, by its type. Where the interface is given, IPv4 takes the destination for a neighbour even then. */
static int refusing_route(struct env *env)
{
	const char *type = env->fault->arg ? "unreachable" : "blackhole";
	struct step step = step_rtr(env, env->opt.peer);

	step.attr.ah_attr.grh.sgid_index = 0;
	inet_pton(AF_INET6, "2001:db8::9", step.attr.ah_attr.grh.dgid.raw);
	if (shell("ip route replace %s 2001:db8::9", type))
		return -1;
	truth("route_type", "%s", type);
	return use(env, &step);
}

/* What happens to our own interface and GID between opening the device and the verb. */
enum change { DOWN, NO_ADDRESS, NO_ADDRESS_IN_USE, REMOVED };

static int on_private(struct env *env)
{
	return private_device(env, true) || open_device(env, PRIVATE_DEV) ? -1 : need(env, QP_INIT);
}

static int wait_until_gone(long index)
{
	union ibv_gid gid;

	for (int tenths = 0; tenths < 200; tenths++) {
		if (access("/sys/class/infiniband/" PRIVATE_DEV, F_OK) || read_gid(PRIVATE_DEV, index, &gid))
			return 0;
		usleep(100000);
	}
	errno = ETIMEDOUT;
	return unready("the GID stays");
}

static int changed(struct env *env)
{
	enum change change = env->fault->arg;
	struct step step;
	struct ibv_qp *other;

	if (on_private(env))
		return -1;
	step = step_rtr(env, "10.77.0.2");
	other = create_qp(env, IBV_QPT_RC);
	if (change == NO_ADDRESS_IN_USE && (!other || to_state(env, other, QP_INIT) || take(other, &step)))
		return unready("the other queue pair");
	if (change == DOWN && shell("ip link set " PRIVATE_NETDEV " down"))
		return -1;
	if (change == NO_ADDRESS || change == NO_ADDRESS_IN_USE) {
		if (shell("ip address del " PRIVATE_IP "/24 dev " PRIVATE_NETDEV) || wait_until_gone(env->opt.gid_index))
			return -1;
		truth("former_sgid", "::ffff:" PRIVATE_IP);
	}
	if (change == REMOVED) {
		/* Waits until its last user has gone, so it runs beside us. */
		if (shell("ip link del " PRIVATE_NETDEV " >/dev/null 2>&1 &") || wait_until_gone(env->opt.gid_index))
			return -1;
		truth("former_sgid", "::ffff:" PRIVATE_IP);
	}
	truth("interface", PRIVATE_NETDEV);
	return use(env, &step);
}

static int removed_query_port(struct env *env)
{
	struct ibv_port_attr attr;

	if (on_private(env) || shell("ip link del " PRIVATE_NETDEV " >/dev/null 2>&1 &") ||
	    wait_until_gone(env->opt.gid_index))
		return -1;
	truth("interface", PRIVATE_NETDEV);
	return ibv_query_port(env->ctx, 1, &attr);
}

/* An own GID of an interface in another network namespace, where the peer is looked for, too. It is not there; from here
 * it could be reached. */
static int other_namespace(struct env *env)
{
	struct step step;
	union ibv_gid own, gid;
	int index = 0;

	if (on_private(env) ||
	    shell("modprobe macvlan; ip netns del fbns 2>/dev/null; ip netns add fbns && "
		  "ip link add link " PRIVATE_NETDEV " name fbv type macvlan && ip link set fbv netns fbns && "
		  "ip -n fbns address add 10.78.0.1/24 dev fbv && ip -n fbns link set fbv up") ||
	    ipv4_gid("10.78.0.1", &own))
		return -1;
	for (int tries = 0; tries < 1000 && !index; tries++) {
		if (!read_gid(PRIVATE_DEV, tries % 10, &gid) && !memcmp(&gid, &own, sizeof(gid)))
			index = tries % 10;
		usleep(10000);
	}
	if (!index)
		return unready("no GID of 10.78.0.1");
	step = step_rtr(env, "10.77.0.2");
	step.attr.ah_attr.grh.sgid_index = index;
	truth("interface", "fbv");
	truth("netns", "fbns");
	truth("neighbour", "10.77.0.2");
	return use(env, &step);
}

/* A process in another network namespace, while devices belong to one. */
static int device_namespace(struct env *env)
{
	struct ibv_device *dev = find_device(env->dev);

	/* Refused while there is another namespace, and those go a while after their last process. */
	if (!dev ||
	    shell("ip netns del fbns 2>/dev/null; n=0; until rdma system set netns exclusive 2>/dev/null; do "
		  "n=$((n + 1)); [ $n -lt 100 ] || exit 1; sleep 0.1; done") ||
	    unshare(CLONE_NEWNET))
		return unready("rdma system");
	truth("netns", "other");
	truth("netns_mode", "exclusive");
	return ibv_open_device(dev) ? 0 : errno;
}

/* Queries of ports and GIDs */

static int query_port(struct env *env)
{
	struct ibv_port_attr attr;

	truth("port", "%d", env->fault->arg);
	truth("ports", "1");
	return ibv_query_port(env->ctx, env->fault->arg, &attr);
}

static int query_gid(struct env *env)
{
	uint32_t port = env->fault->arg < 0 ? 7 : 1, index = env->fault->arg < 0 ? 0 : env->fault->arg;
	struct ibv_gid_entry entry;

	truth("port", "%u", port);
	truth("sgid_index", "%u", index);
	truth("gids", "1024");
	return ibv_query_gid_ex(env->ctx, port, index, &entry, 0);
}

static int query_gid_table(struct env *env)
{
	struct ibv_gid_entry entry;
	ssize_t n = ibv_query_gid_table(env->ctx, &entry, 1, 0);

	return n < 0 ? (int)-n : 0;
}

const struct fault path_faults[] = {
	{ "rtr-gid-200", "ibv_modify_qp", "gid-index-unused", "own GID index 200, which is empty", QP_INIT, gid_index,
	  200 },
	{ "rtr-gid-5000", "ibv_modify_qp", "gid-index-unused", "own GID index 5000, which arrives as 136", QP_INIT,
	  gid_index, 5000 },
	{ "rtr-family", "ibv_modify_qp", "gid-family", "own GID IPv4, the peer's IPv6", QP_INIT, family, OWN_IPV4 },
	{ "rtr-family-own", "ibv_modify_qp", "gid-family", "own GID IPv6, the peer's IPv4", QP_INIT, family, OWN_IPV6 },
	{ "rtr-gid-zero", "ibv_modify_qp", "gid-family", "the peer's GID all zero", QP_INIT, family, ZERO },
	{ "rtr-gid-zero-v6", "ibv_modify_qp", "no-route", "the peer's GID all zero, own GID IPv6", QP_INIT, family,
	  ZERO_IPV6 },
	{ "rtr-gid-zero-v4", "ibv_modify_qp", "gid-destination", "the peer's address 0.0.0.0", QP_INIT, family,
	  ZERO_IPV4 },
	{ "rtr-loopback-v6", "ibv_modify_qp", "gid-destination", "the peer's GID ::1", QP_INIT, family, LOOPBACK_IPV6 },
	{ "rtr-no-grh", "ibv_modify_qp", "grh-missing", "a LID, as on InfiniBand", QP_INIT, no_grh, 0 },
	{ "rtr-silent", "ibv_modify_qp", "neighbour-unreachable", "a peer that does not answer ARP", QP_INIT, silent,
	  0 },
	{ "rtr-silent-gateway", "ibv_modify_qp", "neighbour-unreachable", "a gateway that does not answer ARP", QP_INIT,
	  silent_gateway, 0 },
	{ "rtr-no-route", "ibv_modify_qp", "neighbour-unreachable", "no route: taken for a neighbour", QP_INIT,
	  no_route, AF_INET },
	{ "rtr-no-route-v6", "ibv_modify_qp", "no-route", "no route, IPv6", QP_INIT, no_route, AF_INET6 },
	{ "rtr-blackhole-v6", "ibv_modify_qp", "no-route", "a route of type blackhole, IPv6", QP_INIT, refusing_route,
	  0 },
	{ "rtr-unreachable-v6", "ibv_modify_qp", "no-route", "a route of type unreachable, IPv6", QP_INIT,
	  refusing_route, 1 },
	{ "rtr-down", "ibv_modify_qp", "interface-down", "the interface went down", NOTHING, changed, DOWN },
	{ "rtr-gid-gone", "ibv_modify_qp", "gid-changed", "the address was removed", NOTHING, changed, NO_ADDRESS },
	{ "rtr-gid-pending", "ibv_modify_qp", "gid-changed",
	  "the address was removed, another queue pair holds its GID", NOTHING, changed, NO_ADDRESS_IN_USE },
	{ "rtr-removed", "ibv_modify_qp", "device-removed", "the interface was removed", NOTHING, changed, REMOVED },
	{ "query-port-removed", "ibv_query_port", "device-removed", "the interface was removed", NOTHING,
	  removed_query_port, 0 },
	{ "rtr-netns", "ibv_modify_qp", "gid-namespace", "own GID of another network namespace, where the peer is not",
	  NOTHING, other_namespace, 0 },
	{ "open-netns", "ibv_open_device", "device-namespace", "the device belongs to another network namespace",
	  NOTHING, device_namespace, 0 },
	{ "ah-gid-200", "ibv_create_ah", "gid-index-unused", "own GID index 200, which is empty", PD, gid_index, 200 },
	{ "ah-family", "ibv_create_ah", "gid-family", "own GID IPv4, the peer's IPv6", PD, family, OWN_IPV4 },
	{ "ah-no-grh", "ibv_create_ah", "grh-missing", "a LID, as on InfiniBand", PD, no_grh, 0 },
	{ "ah-port-9", "ibv_create_ah", "port-number", "port 9 of one", PD, ah_port, 9 },
	{ "ah-port-0", "ibv_create_ah", "port-number", "port 0", PD, ah_port, 0 },
	{ "ah-silent", "ibv_create_ah", "neighbour-unreachable", "a peer that does not answer ARP", PD, silent, 0 },
	{ "ah-no-route-v6", "ibv_create_ah", "no-route", "no route, IPv6", PD, no_route, AF_INET6 },
	{ "query-port-9", "ibv_query_port", "port-number", "port 9 of one", CONTEXT, query_port, 9 },
	{ "query-port-0", "ibv_query_port", "port-number", "port 0", CONTEXT, query_port, 0 },
	{ "query-gid-200", "ibv_query_gid_ex", "gid-index-unused", "GID index 200, which is empty", CONTEXT, query_gid,
	  200 },
	{ "query-gid-5000", "ibv_query_gid_ex", "gid-index-range", "GID index 5000 of 1024", CONTEXT, query_gid, 5000 },
	{ "query-gid-port-7", "ibv_query_gid_ex", "port-number", "port 7 of one", CONTEXT, query_gid, -1 },
	{ "query-gid-table", "ibv_query_gid_table", "attribute-value", "room for one GID of several", CONTEXT,
	  query_gid_table, 0 },
	{ 0 },
};
