/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What speaks against a queue pair: its port, its source GID, its remote QP on this host, the neighbour, the MTU; a process that is stopped. */
#include <ctype.h>
#include <linux/neighbour.h>
#include <sys/socket.h>

#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/text.h"

#define PORT_DOWN 1 /* enum ib_port_state */
#define PORT_INIT 2
#define PORT_ACTIVE 4
#define PATH_ARMED 2 /* enum ib_mig_state */

/* A full packet in the middle of a message, in the smallest encapsulation: IPv4 20, UDP 8, BTH 12, ICRC 4 bytes. */
#define LEAST_HEADERS 44

/* Entries with one address that are compared: a few, unless somebody makes many on purpose. */
#define SAME_MAX 64

/* What speaks against a connected queue pair, besides counters and packets. */
struct trouble {
	bool cut;		  /* proof that it can reach no remote QP */
	enum rd_qp_advice advice; /* of the first one */
	char *text;		  /* owned; NULL: nothing */
};

static bool is_roce(const struct rd_qp_judging *j, int dev)
{
	const char *protocol = j->res->devs[dev].protocol;

	return protocol && strcmp(protocol, "roce") == 0;
}

const struct rd_qp_port *rd_qp_port_of(const struct rd_qp_judging *j, const struct rd_qp *qp)
{
	return j->opts->ports && qp->port.known == RD_OK ? rd_qp_ports_find(j->opts->ports, qp->dev, qp->port.v) : NULL;
}

static RD_PRINTF(4, 5) void add_trouble(struct trouble *ret, bool cut, enum rd_qp_advice advice, const char *fmt, ...)
{
	_cleanup_free_ char *before = ret->text, *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = rd_vtext(fmt, ap);
	va_end(ap);
	ret->cut |= cut;
	if (!before)
		ret->advice = advice;
	ret->text = before ? rd_text("%s; %s", before, text) : RD_TAKE(text);
}

/* It has an alternate path, which its device moves to by itself (IBTA vol. 1, 17.2.8). */
static bool can_migrate(const struct rd_qp *qp)
{
	return qp->path_mig.known == RD_OK && qp->path_mig.v == PATH_ARMED;
}

/* "port mlx5_0/1 is DOWN: interface v0 has no carrier" */
static char *port_text(const struct rd_res *res, const struct rd_qp_port *more)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED" };
	const struct rd_res_port *port = &res->ports[more->at];
	const char *ibdev = res->devs[more->dev].name, *why = "";

	if (more->admin_up.known == RD_OK && !more->admin_up.v)
		why = "is down";
	else if (more->carrier.known == RD_OK && !more->carrier.v)
		why = "has no carrier";
	return *why && port->netdev ? rd_text("port %s/%u is %s: interface %s %s", ibdev, port->num,
					      names[port->state.v], port->netdev, why) :
				      rd_text("port %s/%u is %s", ibdev, port->num, names[port->state.v]);
}

/* Whether the remote QP is reached without a link: soft-RoCE, for one, loops packets to the same port back. */
enum loop { LOOP_NO, LOOP_MAYBE, LOOP_YES };

/* By the address of the peer; LOOP_NO if that is unknown. */
static enum loop loop_of_address(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	const struct rd_qp_gid *found;
	uint8_t gid[16];
	size_t n, at;
	int dev;

	if (!one->j->opts->ports || !rd_qp_peer(one->j->views, one->i, gid))
		return LOOP_NO;
	rd_qp_local_peer(one, &dev, &at);
	if (dev == qp->dev && qp->port.known == RD_OK && rd_qp_ports_have(one->j->opts->ports, gid, dev, qp->port.v))
		return LOOP_YES;
	/* Of another port, of another network namespace, or of several devices. */
	found = rd_qp_ports_gids(one->j->opts->ports, gid, &n);
	for (size_t i = 0; i < n; i++)
		if (found[i].dev == qp->dev || i == SAME_MAX)
			return LOOP_MAYBE;
	return LOOP_NO;
}

static void find_port_trouble(const struct rd_qp_one *one, struct trouble *ret)
{
	const struct rd_qp_port *more = rd_qp_port_of(one->j, one->qp);
	const struct rd_res_port *port = more ? &one->j->res->ports[more->at] : NULL;
	/* The counter is the sum of all ports. */
	bool one_port = one->j->res->devs[one->qp->dev].n_ports < 2;
	uint64_t downed = one_port ? rd_qp_since(one->j, one->qp->dev, RD_QPC_LINK_DOWNED) : 0;

	if (port && port->state.known == RD_OK && port->state.v < PORT_ACTIVE && port->state.v &&
	    !rd_qp_port_lacks_ipv4(one->j->res, port)) {
		_cleanup_free_ char *text = port_text(one->j->res, more);

		add_trouble(ret, !can_migrate(one->qp) && loop_of_address(one) == LOOP_NO, RD_QP_DO_PORT, "%s", text);
	} else if (downed) {
		add_trouble(ret, false, RD_QP_DO_PORT, "the link of %s went down %llu time%s in %.1f s", one->ibdev,
			    (unsigned long long)downed, downed == 1 ? "" : "s", one->s);
	}
}

/* rdma_cm connects loopback addresses through any device; they are in no GID table. */
static bool is_loopback(const struct rd_sockaddr *addr)
{
	static const uint8_t v6[16] = { [15] = 1 };

	return addr->family == AF_INET ? addr->ip[0] == 127 : memcmp(addr->ip, v6, sizeof(v6)) == 0;
}

/* The source GID: as recorded, else the address of the rdma_cm connection. */
static bool source_gid(const struct rd_qp_views *views, size_t i, uint8_t ret[16])
{
	const struct rd_qp_view *view = &views->v[i];
	const struct rd_sockaddr *src = view->link->cm_id >= 0 ? &views->res->cm_ids[view->link->cm_id].src : NULL;
	static const uint8_t none[16];

	if (view->past->seen && view->past->seen->has_sgid) {
		memcpy(ret, view->past->seen->sgid, 16);
		return memcmp(ret, none, 16) != 0;
	}
	if (!src || (src->family != AF_INET && src->family != AF_INET6) || is_loopback(src))
		return false;
	rd_qp_address(src, ret);
	return memcmp(src->ip, none, src->family == AF_INET ? 4 : 16) != 0;
}

/* 1: it has this GID, 0: its device has not, -1: unknown. After a migration, a queue pair is on another port than its source GID. */
static int port_has_gid(const struct rd_qp_ports *ports, const struct rd_qp *qp, const uint8_t gid[16])
{
	const struct rd_qp_port *port = qp->port.known == RD_OK ? rd_qp_ports_find(ports, qp->dev, qp->port.v) : NULL;
	const struct rd_qp_gid *found;
	size_t n;

	if (port && rd_qp_ports_have(ports, gid, qp->dev, qp->port.v))
		return 1;
	found = rd_qp_ports_gids(ports, gid, &n);
	for (size_t i = 0; i < n; i++)
		if (found[i].dev == qp->dev || i == SAME_MAX)
			return -1;
	return port && port->gids_complete ? 0 : -1;
}

/* Whether the entry that the queue pair was connected with is empty; *index: the entry. */
static bool entry_is_empty(const struct rd_qp_views *views, size_t i, const struct rd_qp_ports *ports, unsigned *index)
{
	const struct rd_qp *qp = &views->res->qps[i];
	const struct rd_qp_seen *seen = views->v[i].past->seen;
	const struct rd_qp_port *port = qp->port.known == RD_OK ? rd_qp_ports_find(ports, qp->dev, qp->port.v) : NULL;

	if (!port || !seen || seen->sgid_index.known != RD_OK)
		return false;
	*index = seen->sgid_index.v;
	return port->gids_empty[*index / 8] >> *index % 8 & 1;
}

/* Entries from here on may not have been read. */
#define INDEX_LOW 16

static bool suffice_for(const struct rd_qp_views *views, size_t i, const struct rd_qp_ports *ports)
{
	const struct rd_qp *qp = &views->res->qps[i];
	const struct rd_qp_port *port = qp->port.known == RD_OK ? rd_qp_ports_find(ports, qp->dev, qp->port.v) : NULL;
	const struct rd_qp_seen *seen = views->v[i].past->seen;
	uint8_t gid[16];

	if (source_gid(views, i, gid))
		return port_has_gid(ports, qp, gid) >= 0;
	return !seen || seen->sgid_index.known != RD_OK || seen->sgid_index.v < INDEX_LOW || !port ||
	       port->gids_complete;
}

bool rd_qp_ports_suffice(const struct rd_qp_views *views, const struct rd_qp_ports *ports)
{
	const struct rd_res *res = views->res;

	for (size_t i = 0; i < res->n_qps; i++)
		if (res->qps[i].dev >= 0 && rd_qp_is_connected_type(&res->qps[i]) && !suffice_for(views, i, ports))
			return false;
	return true;
}

void rd_qp_local_peer(const struct rd_qp_one *one, int *dev, size_t *at)
{
	const struct rd_qp_gid *found;
	uint8_t gid[16];
	size_t n;

	*dev = -1;
	*at = one->j->res->n_qps;
	if (!one->j->opts->ports || one->qp->rqpn.known != RD_OK || !one->qp->rqpn.v ||
	    !rd_qp_peer(one->j->views, one->i, gid))
		return;
	/* An address of another network namespace may be that of a remote host, too. */
	found = rd_qp_ports_gids(one->j->opts->ports, gid, &n);
	if (!n || n > SAME_MAX || found[0].dev != found[n - 1].dev)
		return;
	for (size_t i = 0; i < n; i++)
		if (!found[i].here)
			return;
	*dev = found[0].dev;
	*at = rd_res_find_qp(one->j->res, *dev, one->qp->rqpn.v);
}

static void find_peer_trouble(const struct rd_qp_one *one, struct trouble *ret)
{
	const struct rd_res *res = one->j->res;
	_cleanup_free_ char *what = NULL;
	const struct rd_qp *peer;
	size_t at;
	int dev;

	rd_qp_local_peer(one, &dev, &at);
	if (dev < 0)
		return;
	what = rd_text("QP %u of %s, on this host,", one->qp->rqpn.v, res->devs[dev].name);
	peer = &res->qps[at];
	if (at == res->n_qps) {
		if (rd_res_lists_all(&res->devs[dev], RD_RES_QP) && !rd_res_dev_hides_qps(&res->devs[dev]))
			add_trouble(ret, true, RD_QP_DO_GONE, "its remote %s no longer exists", what);
	} else if (rd_qp_has_failed(peer)) {
		add_trouble(ret, true, RD_QP_DO_FAILED, "its remote %s is in %s", what, rd_qp_state_name(peer->state.v));
	} else if (peer->state.known == RD_OK && peer->state.v < RD_QPS_RTR) {
		add_trouble(ret, false, RD_QP_DO_FAILED, "its remote %s is in %s, not connected", what,
			    rd_qp_state_name(peer->state.v));
	} else if (peer->state.known == RD_OK && rd_qp_is_connected_type(peer) && peer->rqpn.known == RD_OK &&
		   one->qp->lqpn.known == RD_OK && one->qp->type.v != RD_QPT_XRC_INI &&
		   one->qp->type.v != RD_QPT_XRC_TGT && peer->rqpn.v != one->qp->lqpn.v) {
		add_trouble(ret, true, RD_QP_DO_GONE, "its remote QP no longer exists: %s is connected to QP %u", what,
			    peer->rqpn.v);
	}
}

/* Whether packets of the queue pair may leave through this interface: that of its source GID, if that is known, else of any GID of its
 * port (its VLANs have their own), or that of the port. Where no index is known, any. */
static bool may_use(const struct rd_qp_one *one, unsigned ifindex)
{
	const struct rd_qp_port *more = rd_qp_port_of(one->j, one->qp);
	const struct rd_res_port *port = more ? &one->j->res->ports[more->at] : NULL;
	const struct rd_qp_gid *from;
	bool known = false;
	uint8_t gid[16];
	size_t n = 0;

	if (!more || more->n_ifs > RD_QP_PORT_IFS)
		return true;
	from = source_gid(one->j->views, one->i, gid) ? rd_qp_ports_gids(one->j->opts->ports, gid, &n) : NULL;
	for (size_t i = 0; i < n && i < SAME_MAX; i++) {
		if (from[i].dev != more->dev || from[i].port != more->num || !from[i].ifindex)
			continue;
		known = true;
		if (from[i].ifindex == ifindex)
			return true;
	}
	if (known)
		return false;
	for (unsigned i = 0; i < more->n_ifs; i++)
		if (more->ifs[i] == ifindex)
			return true;
	known = port->netdev_index.known == RD_OK && port->netdev_index.v;
	return (!known && !more->n_ifs) || (known && port->netdev_index.v == ifindex);
}

/* An entry in this state has failed, and no interface that the queue pair may use has another one for the address. */
static const struct rd_neigh *find_failed_neighbour(const struct rd_qp_one *one, bool v6, const uint8_t *addr)
{
	struct rd_neigh key = { .v6 = v6 };
	const struct rd_neigh **neighs = one->j->neighs, *ret = NULL, *wanted = &key;
	size_t at;

	memcpy(key.addr, addr, v6 ? 16 : 4);
	at = rd_lower_bound(&wanted, neighs, one->j->n_neighs, sizeof(*neighs), rd_qp_compare_neighbours);
	for (size_t n = 0; at < one->j->n_neighs && rd_qp_compare_neighbours(&wanted, &neighs[at]) == 0; at++) {
		if (++n > SAME_MAX)
			return NULL;
		if (!may_use(one, neighs[at]->ifindex))
			continue;
		if (!(neighs[at]->state & (NUD_FAILED | NUD_INCOMPLETE)))
			return NULL;
		ret = neighs[at];
	}
	return ret;
}

static void find_path_trouble(const struct rd_qp_one *one, struct trouble *ret)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	const struct rd_qp_port *more = rd_qp_port_of(one->j, one->qp);
	const struct rd_qp_seen attrs = rd_qp_attributes(&one->j->views->v[one->i]);
	const struct rd_neigh *neigh = NULL;
	uint8_t gid[16];

	if (!is_roce(one->j, one->qp->dev))
		return;
	if (rd_qp_peer(one->j->views, one->i, gid)) {
		bool is_v4 = memcmp(gid, v4, sizeof(v4)) == 0;

		neigh = find_failed_neighbour(one, !is_v4, is_v4 ? gid + 12 : gid);
	}
	if (neigh) {
		char ip[46];

		rd_qp_gid_ip(gid, ip);
		add_trouble(ret, false, RD_QP_DO_NEIGH, "its peer %s does not respond to %s: neighbour entry %s", ip,
			    neigh->v6 ? "neighbour solicitation" : "ARP",
			    neigh->state & NUD_FAILED ? "FAILED" : "INCOMPLETE");
	}
	if (more && more->mtu.known == RD_OK && attrs.path_mtu.known == RD_OK &&
	    (uint32_t)attrs.path_mtu.v + LEAST_HEADERS > more->mtu.v)
		add_trouble(ret, false, RD_QP_DO_MTU,
			    "its path MTU of %u bytes, with headers, exceeds the MTU of %u bytes of %s",
			    attrs.path_mtu.v, more->mtu.v, one->j->res->ports[more->at].netdev ?: "its interface");
}

/* In ARMED, packets may flow. In INIT, InfiniBand discards all but those of management (IBTA vol. 1, 7.2.7). */
static bool discards_packets(const struct rd_res *res, const struct rd_qp_port *more)
{
	const struct rd_res_port *port = &res->ports[more->at];
	const char *protocol = res->devs[more->dev].protocol;

	return port->state.known == RD_OK &&
	       (port->state.v == PORT_DOWN || (port->state.v == PORT_INIT && protocol && strcmp(protocol, "ib") == 0));
}

/* Its port is DOWN at the end of the interval, as text; NULL: it is not, or unknown. The state was read before the packets, its
 * interface after them: if that has a link, the port came back. */
static char *port_down_text(const struct rd_qp_judging *j, const struct rd_qp *qp, bool *was_down)
{
	const struct rd_qp_port *more = rd_qp_port_of(j, qp);

	if (!more || !discards_packets(j->res, more) ||
	    (more->admin_up.known == RD_OK && more->admin_up.v && more->carrier.known == RD_OK && more->carrier.v))
		return NULL;
	*was_down = more->was_down;
	return port_text(j->res, more);
}

/* Whether its remote QP may be one of the same device, which is reached without a link. Without the address of the peer, the numbers
 * fit; but numbers of another host can be the same. */
static bool may_loop_back(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp, *peer;
	uint8_t gid[16];
	size_t at;

	if (rd_qp_peer(one->j->views, one->i, gid))
		return loop_of_address(one) != LOOP_NO;
	if (qp->rqpn.known != RD_OK || qp->lqpn.known != RD_OK)
		return true;
	at = rd_res_find_qp(one->j->res, qp->dev, qp->rqpn.v);
	if (at == one->j->res->n_qps)
		return one->j->devices[qp->dev].unlisted > 0;
	peer = &one->j->res->qps[at];
	return peer->rqpn.known != RD_OK || peer->rqpn.v == qp->lqpn.v;
}

/* With packets in the interval, a port that is DOWN now went down since. If it was DOWN at the beginning, too, packets need no link,
 * or it was up in between. */
static void judge_moving(const struct rd_qp_one *one)
{
	enum rd_qp_verdict_kind kind = one->verdict->kind;
	_cleanup_free_ char *text = NULL;
	bool was_down;

	text = loop_of_address(one) == LOOP_YES ? NULL : port_down_text(one->j, one->qp, &was_down);
	if (!text)
		return;
	if (!was_down && !can_migrate(one->qp) && !may_loop_back(one))
		return rd_qp_set(one, RD_QPV_CUT_OFF, RD_QP_DO_PORT, "%s; in the %.1f s before: %s", text, one->s,
				 one->verdict->why);
	if (kind == RD_QPV_OK || kind == RD_QPV_RECEIVING)
		kind = RD_QPV_CANNOT_TELL;
	rd_qp_set(one, kind, RD_QP_DO_PORT, "%s; %s", one->verdict->why, text);
}

/* UD has no connection, but sends through a port. Programs open all ports, and use some: one that sends nothing is only mentioned.
 * Another datagram queue pair of the device may be its peer, which is reached without a link. */
static void judge_datagrams(const struct rd_qp_one *one)
{
	const struct rd_qp_device *device = one->device;
	const struct rd_qp_past *past = one->past;
	bool known = past->psn_per_second.known == RD_OK, was_down;
	bool sends = known && rd_qp_is_moving(one->j, one->qp, past);
	bool sent = past->best_per_second.known == RD_OK && past->best_per_second.v > 0;
	_cleanup_free_ char *text = port_down_text(one->j, one->qp, &was_down);
	enum rd_qp_verdict_kind kind = one->verdict->kind;

	if (!text)
		return;
	if (sends || sent)
		kind = device->unrelated > 1 || device->unlisted ? RD_QPV_CANNOT_TELL : RD_QPV_CUT_OFF;
	else if (!known)
		kind = RD_QPV_CANNOT_TELL;
	if (sends || sent)
		return rd_qp_set(one, kind, RD_QP_DO_PORT,
				 "%s: datagrams reach no other device; it %s %.3g packets per second", text,
				 sends ? "sends" : "sent", sends ? past->psn_per_second.v : past->best_per_second.v);
	rd_qp_set(one, kind, RD_QP_DO_PORT, "%s; %s", one->verdict->why, text);
}

void rd_qp_judge_trouble(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	struct trouble found = { 0 };
	enum rd_qp_verdict_kind kind = one->verdict->kind;
	unsigned index;
	uint8_t gid[16];
	char ip[46];

	if (qp->dev < 0 || qp->state.known != RD_OK)
		return;
	if (qp->type.known == RD_OK && qp->type.v == RD_QPT_UD && !qp->owner.kernel && qp->state.v == RD_QPS_RTS)
		return judge_datagrams(one);
	if (!rd_qp_is_connected_type(qp) || kind == RD_QPV_FLUSHED || qp->state.v == RD_QPS_RESET)
		return;
	/* With packets, nothing but counters can speak against it. Those that UC sends prove nothing: it waits for no ACK. */
	if (rd_qp_is_moving(one->j, qp, one->past) && (rd_qp_can_retransmit(qp) || qp->state.v == RD_QPS_RTR))
		return judge_moving(one);
	find_port_trouble(one, &found);
	if (one->j->opts->ports && is_roce(one->j, one->qp->dev)) {
		if (source_gid(one->j->views, one->i, gid) && port_has_gid(one->j->opts->ports, one->qp, gid) == 0) {
			rd_qp_gid_ip(gid, ip);
			add_trouble(&found, true, RD_QP_DO_GID,
				    "its source address %s was removed: it is not in the GID table of %s/%u", ip,
				    one->ibdev, one->qp->port.v);
		} else if (entry_is_empty(one->j->views, one->i, one->j->opts->ports, &index)) {
			add_trouble(&found, true, RD_QP_DO_GID,
				    "its source address was removed: GID index %u of %s/%u is empty", index, one->ibdev,
				    one->qp->port.v);
		}
	}
	find_peer_trouble(one, &found);
	find_path_trouble(one, &found);
	if (!found.text)
		return;
	one->verdict->trouble = true;
	if (found.cut && (qp->state.v == RD_QPS_RTR || qp->state.v == RD_QPS_RTS || qp->state.v == RD_QPS_SQD))
		rd_qp_set(one, RD_QPV_CUT_OFF, found.advice, "%s; %s", found.text, one->verdict->why);
	else
		rd_qp_set(one, kind, found.advice, "%s; %s", one->verdict->why, found.text);
	free(found.text);
}

#define PACKETS_MOVING 2 /* in the interval: more than qp-verdict.c takes for none */

void rd_qp_procs_that_may_stop(const struct rd_qp_views *views, double seconds, bool *ret)
{
	const struct rd_res *res = views->res;

	memset(ret, 0, res->n_procs * sizeof(*ret));
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		const struct rd_qp_past *past = views->v[i].past;
		bool moving = past->psn_per_second.known == RD_OK && past->psn_per_second.v * seconds >= PACKETS_MOVING;

		if (qp->proc >= 0 && !moving && rd_qp_is_connected_type(qp))
			ret[qp->proc] = true;
	}
}

static bool is_frozen(const struct rd_proc *proc)
{
	return proc->frozen.known == RD_OK && proc->frozen.v;
}

static bool is_stopped(const struct rd_proc *proc)
{
	return is_frozen(proc) || (proc->state.known == RD_OK && (proc->state.v == 'T' || proc->state.v == 't'));
}

/* "process 235 (python)". It is part of a text that is pasted into a shell: no names with characters that one interprets. */
static char *name_of(const struct rd_proc *proc)
{
	for (const char *at = proc->comm; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-:/ ", *at))
			return rd_text("process %u", proc->pid);
	return proc->comm && *proc->comm ? rd_text("process %u (%s)", proc->pid, proc->comm) :
					   rd_text("process %u", proc->pid);
}

/* A debugger would wait for a frozen process without end: without the lines that start one. Caller frees. */
static char *without_debugger(const char *fix)
{
	struct rd_buf ret = { 0 };

	for (const char *at = fix; *at;) {
		size_t n = strcspn(at, "\n"), whole = n + (at[n] == '\n');

		if (strncmp(at, "gdb ", 4) != 0)
			rd_buf_add(&ret, at, whole);
		at += whole;
	}
	return ret.data ?: rd_dup("");
}

/* Adds a stopped process to the verdict: what stopped it, and what to do, before all else. */
static void add_stopped(const struct rd_qp_one *one, const struct rd_proc *proc, const char *whose)
{
	_cleanup_free_ char *name = name_of(proc), *by = NULL, *fix = NULL, *rest = NULL;
	struct rd_qp_verdict *verdict = one->verdict;

	rest = is_frozen(proc) ? without_debugger(verdict->fix) : rd_dup(verdict->fix);
	if (is_frozen(proc)) {
		by = rd_dup("");
		fix = rd_text(
			"cat /proc/%u/cgroup\n# %s is in a frozen control group: write 0 to cgroup.freeze of that, or of one above it\n# not if a scheduler suspended its job",
			proc->pid, name);
	} else if (proc->state.v == 'T') {
		by = rd_dup("");
		fix = rd_text("kill -CONT %u\n# %s is stopped\n# no kill -CONT if a scheduler suspended its job",
			      proc->pid, name);
	} else if (proc->tracer.known == RD_OK && proc->tracer.v) {
		by = rd_text(" by its tracer, process %u", proc->tracer.v);
		fix = rd_text("ps -p %u\n# %s is stopped%s: detach it", proc->tracer.v, name, by);
	} else {
		by = rd_dup(" by its tracer");
		fix = rd_text("grep TracerPid /proc/%u/status\n# %s is stopped%s: detach it", proc->pid, name, by);
	}
	verdict->fix = rd_qp_views_keep(one->j->views, rd_text("%s\n%s", fix, rest));
	verdict->why = rd_qp_views_keep(one->j->views, rd_text("%s; %s %s is %s%s", verdict->why, whose, name,
							       is_frozen(proc) ? "frozen" : "stopped", by));
}

void rd_qp_judge_stopped(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	int own = qp->proc, peer = -1, dev;
	size_t at;

	/* Connected or connecting, and neither proof nor a failure explains why it has no packets. */
	if (qp->dev < 0 || qp->state.known != RD_OK || !rd_qp_is_connected_type(qp) || qp->state.v < RD_QPS_INIT ||
	    qp->state.v > RD_QPS_SQD || one->verdict->kind == RD_QPV_CUT_OFF || rd_qp_is_moving(one->j, qp, one->past))
		return;
	rd_qp_local_peer(one, &dev, &at);
	if (dev >= 0 && at < one->j->res->n_qps)
		peer = one->j->res->qps[at].proc;
	if (peer >= 0 && peer != own && is_stopped(&one->j->res->procs[peer]))
		add_stopped(one, &one->j->res->procs[peer], "of its remote QP,");
	if (own >= 0 && is_stopped(&one->j->res->procs[own]))
		add_stopped(one, &one->j->res->procs[own], "its");
}
