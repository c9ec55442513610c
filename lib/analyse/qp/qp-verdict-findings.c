/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is reported of verdicts: what to do next about a queue pair, the likeliest and cheapest first, with real names; findings. */
#include <ctype.h>

#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/fix.h"
#include "base/text.h"

#define IP_SIZE 46

/* The IP address of the peer, which is the GID on RoCE. False: unknown, or not an IP address. */
static bool peer_ip(const struct rd_qp_one *one, char ret[IP_SIZE])
{
	const struct rd_res_dev *dev = &one->j->res->devs[one->qp->dev];
	uint8_t gid[16];

	if (!dev->protocol || strcmp(dev->protocol, "ib") == 0 || !rd_qp_peer(one->j->views, one->i, gid))
		return false;
	rd_qp_gid_ip(gid, ret);
	return true;
}

/* Names are pasted into a shell: none with characters that a shell interprets. NULL: unknown. */
static const char *netdev_of(const struct rd_qp_judging *j, const struct rd_qp *qp)
{
	const struct rd_qp_port *port = rd_qp_port_of(j, qp);
	const char *name = port ? j->res->ports[port->at].netdev : NULL;

	for (const char *at = name; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			return NULL;
	return name;
}

/* An address of the link is one only together with the interface here. */
static bool is_link_local(const char *ip)
{
	return strncasecmp(ip, "fe8", 3) == 0 || strncasecmp(ip, "fe9", 3) == 0 || strncasecmp(ip, "fea", 3) == 0 ||
	       strncasecmp(ip, "feb", 3) == 0;
}

/* "ssh 10.9.1.2 rdmadiag qp-state --lqpn 18", with `options`; advice where the host of the peer is unknown. */
static char *look_at_peer(const struct rd_qp_one *one, const char *options)
{
	bool numbered = one->qp->rqpn.known == RD_OK && one->qp->rqpn.v;
	_cleanup_free_ char *lqpn = numbered ? rd_text(" --lqpn %u", one->qp->rqpn.v) : rd_dup("");
	const char *netdev = netdev_of(one->j, one->qp);
	char ip[IP_SIZE];

	if (peer_ip(one, ip) && !is_link_local(ip))
		return rd_text("ssh %s rdmadiag qp-state%s%s", ip, lqpn, options);
	if (peer_ip(one, ip) && netdev)
		return rd_text("ssh %s%%%s rdmadiag qp-state%s%s", ip, netdev, lqpn, options);
	return rd_text("# on the remote host: rdmadiag qp-state%s%s", lqpn, options);
}

/* "ping -c 3 -I v0 10.0.0.2" as a line, or "". */
static char *ping_peer(const struct rd_qp_one *one)
{
	const char *netdev = netdev_of(one->j, one->qp);
	char ip[IP_SIZE];

	if (!peer_ip(one, ip) || (!netdev && is_link_local(ip)))
		return rd_dup("");
	return netdev ? rd_text("ping -c 3 -I %s %s\n", netdev, ip) : rd_text("ping -c 3 %s\n", ip);
}

static char *fix_peer(const struct rd_qp_one *one, enum rd_qp_advice advice)
{
	_cleanup_free_ char *look = look_at_peer(one, "");

	if (advice == RD_QP_DO_PEER) {
		_cleanup_free_ char *ping = ping_peer(one);

		return rd_text(
			"%s\n%srdmadiag counters %s -i 1 -c 5\n# does the remote QP, and its process, still exist? if not, restart the job\n# if it does: its remote QP number must be %u, its peer_gid one of %s, its rq_psn about the sq_psn here; ip neigh must have the MAC of its NIC\n# then the path: the counters of the remote host, too",
			look, ping, one->ibdev, one->qp->lqpn.v, one->ibdev);
	}
	if (advice == RD_QP_DO_RNR)
		return rd_text(
			"%s\n# find the process that posts no receive work requests\n# then see what it does: gdb -p PID on its host",
			look);
	if (advice == RD_QP_DO_STUCK)
		return rd_text(
			"%s\nrdmadiag trace-errno --duration 60\n# see what the remote QP waits for\n# trace-errno shows why a transition fails",
			look);
	return rd_text("%s\n# look at the requester", look);
}

static char *fix_port(const struct rd_qp_one *one)
{
	const struct rd_qp *qp = one->qp;
	const struct rd_qp_port *port = rd_qp_port_of(one->j, qp);
	const char *ibdev = one->j->res->devs[qp->dev].name, *netdev = netdev_of(one->j, qp);

	if (netdev && port && port->admin_up.known == RD_OK && !port->admin_up.v)
		return rd_text("ip link set %s up\n# see in dmesg who took it down", netdev);
	if (netdev)
		return rd_text(
			"ethtool %s\ndmesg | grep %s\nrdmadiag counters %s\n# check the cable, the transceiver and the port of the switch",
			netdev, netdev, ibdev);
	return rd_text(
		"rdmadiag topo-check\nrdmadiag counters %s\n# check the cable, the port of the switch and, on InfiniBand, the subnet manager",
		ibdev);
}

/* About a remote QP on this host. */
static char *fix_local(const struct rd_qp_one *one, enum rd_qp_advice advice)
{
	size_t at;
	int dev;

	rd_qp_local_peer(one, &dev, &at);
	if (dev < 0)
		return fix_peer(one, RD_QP_DO_PEER);
	if (advice == RD_QP_DO_GONE)
		return rd_text(
			"rdmadiag qp-state %s\n# its remote process has ended or closed the connection: see the log of the job, and dmesg for the OOM killer\n# restart the job\n# qp-state lists what is left",
			one->j->res->devs[dev].name);
	return rd_text("rdmadiag qp-state %s --lqpn %u\n# see what happened to the remote QP first",
		       one->j->res->devs[dev].name, one->qp->rqpn.v);
}

static char *fix_path(const struct rd_qp_one *one, enum rd_qp_advice advice)
{
	const char *netdev = netdev_of(one->j, one->qp);
	_cleanup_free_ char *ping = ping_peer(one), *look = look_at_peer(one, "");

	if (advice == RD_QP_DO_NEIGH)
		return rd_text("%sip neigh show%s%s\n%s\n# is the remote host up, and its link?", ping,
			       netdev ? " dev " : "", netdev ?: "", look);
	if (advice == RD_QP_DO_MTU)
		return rd_text(
			"%s%s%s\n# raise the MTU of the interface, the switch and the remote host\n# no job may use them meanwhile\n# or restart the job with a lower path MTU (ib_write_bw -m, UCX_RC_PATH_MTU)\n# an MTU set by ip link lasts until the next boot\n# also in the configuration of the interface",
			netdev ? "ip link set " : "rdmadiag topo-check", netdev ?: "", netdev ? " mtu 9000" : "");
	return rd_text(
		"ip address show%s%s\nrdmadiag nic-map --gids\n# restore the address on the interface, then restart the job",
		netdev ? " dev " : "", netdev ?: "");
}

/* Work may be posted all the same: until the ACK timeout nothing is retransmitted, and devices may wait four times as long (IBTA vol. 1,
 * 9.7.6.1.3). 20 s are enough for what NCCL sets by itself. */
#define LONG_ENOUGH 20

/* What needs no more than the name of the device. */
static const char *const of_device[RD_QP_DO_NOTHING + 1] = {
	[RD_QP_DO_DEVICE] = "dmesg | grep IBDEV\ndevlink health show\n# does the device still respond to its driver?",
	[RD_QP_DO_TWICE] = "rdmadiag qp-state IBDEV -i 1 -c 2",
	[RD_QP_DO_CLOSER] = "rdmadiag qp-state IBDEV -i 0.1 -c 3",
	[RD_QP_DO_LONGER] = "rdmadiag qp-state IBDEV -i 30 -c 2",
	[RD_QP_DO_LATER] = "rdmadiag qp-state IBDEV -i 5 -c 3",
	[RD_QP_DO_NOTHING] = "# no action needed\n# rdmadiag counters IBDEV -i 1 shows the traffic of its port",
	[RD_QP_DO_CAUSE] =
		"dmesg | grep IBDEV\nrdmadiag qp-state --trace --duration 60\n# see dmesg on both hosts\n# reproduce the failure while qp-state --trace runs",
	[RD_QP_DO_LOSS] =
		"rdmadiag counters IBDEV -i 1 -c 5\nrdmadiag topo-check\n# find where packets are lost: the counters of both hosts",
	[RD_QP_DO_LATE] =
		"rdmadiag counters IBDEV -i 1 -c 5\nvmstat 1 5\n# ACKs are lost, or come later than the ACK timeout: is the host that has to send them too busy? look at both hosts",
};

static char *fill(const char *fix, const char *ibdev)
{
	return rd_fix_fill(fix, &(struct rd_fix_word){ "IBDEV", ibdev }, 1);
}

char *rd_qp_device_fix(const char *ibdev, enum rd_qp_advice advice)
{
	if (of_device[advice])
		return fill(of_device[advice], ibdev);
	return rd_text(
		"rdmadiag qp-state %s -i 1 -c 5\n%s", ibdev,
		advice == RD_QP_DO_RNR ?
			"# find the remote process that posts too few receive work requests" :
		advice == RD_QP_DO_POST ?
			"# find the process that posts too few receive work requests" :
			"# first those without packets: do the remote QP, and its process, still exist? then the path");
}

static char *fix_of_qp(const struct rd_qp_one *one, enum rd_qp_advice advice)
{
	_cleanup_free_ char *program = NULL, *look = NULL;

	/* How to see what the program of this queue pair does. */
	program = one->qp->owner.pid.known == RD_OK ?
			  rd_text("gdb -p %u -batch -ex 'thread apply all bt'", one->qp->owner.pid.v) :
			  rd_dup("# see the log of the program that owns the QP");
	switch (advice) {
	case RD_QP_DO_PROGRAM:
		return rd_text("%s\n# see what the program does\n# then rdmadiag qp-state on the remote host", program);
	case RD_QP_DO_POST:
		return rd_text(
			"%s\nrdmadiag qp-state --by pid\n# see why the program posts too few receive work requests",
			program);
	case RD_QP_DO_IDLE:
		look = look_at_peer(one, " -i 1 -c 2");
		if (one->s >= LONG_ENOUGH || !rd_qp_can_retransmit(one->qp))
			return rd_text("%s\n%s\n# if the job hangs, see what the program does, then the remote QP",
				       program, look);
		return rd_text(
			"rdmadiag qp-state %s -i %d -c 2\n%s\n%s\n# if the job hangs: first samples that are further apart than the ACK timeout\n# if it is idle then, too, see what the program does, then the remote QP",
			one->ibdev, LONG_ENOUGH, program, look);
	case RD_QP_DO_PORT:
		return fix_port(one);
	case RD_QP_DO_GONE:
	case RD_QP_DO_FAILED:
		return fix_local(one, advice);
	case RD_QP_DO_NEIGH:
	case RD_QP_DO_MTU:
	case RD_QP_DO_GID:
		return fix_path(one, advice);
	default:
		return fix_peer(one, advice);
	}
}

const char *rd_qp_fix(const struct rd_qp_one *one, enum rd_qp_advice advice)
{
	const char **fix = one->qp->dev < 0 ? NULL : &one->j->devices[one->qp->dev].fixes[advice];

	if (!fix)
		return rd_qp_views_keep(one->j->views, fill(of_device[RD_QP_DO_DEVICE], "infiniband"));
	if (!of_device[advice])
		return rd_qp_views_keep(one->j->views, fix_of_qp(one, advice));
	/* Once for thousands. */
	if (!*fix)
		*fix = rd_qp_views_keep(one->j->views, fill(of_device[advice], one->ibdev));
	return *fix;
}

/* The queue pairs of one device, which are adjacent. */
struct range {
	size_t from, to, dev;
};

static bool next_device(const struct rd_res *res, struct range *range)
{
	range->from = range->to;
	while (range->from < res->n_qps && res->qps[range->from].dev < 0)
		range->from++;
	if (range->from == res->n_qps)
		return false;
	range->dev = (size_t)res->qps[range->from].dev;
	for (range->to = range->from; range->to < res->n_qps && res->qps[range->to].dev == (int)range->dev;)
		range->to++;
	return true;
}

static void judge_device(const struct rd_qp_views *views, const bool *chosen, const struct range *range,
			 enum rd_qp_verdict_kind kind, struct rd_findings *findings)
{
	const struct rd_res *res = views->res;
	size_t first = 0, n = 0;

	for (size_t i = range->from; i < range->to; i++) {
		if ((chosen && !chosen[i]) || views->v[i].verdict->kind != kind)
			continue;
		if (!n++)
			first = i;
	}
	if (n)
		rd_finding_put(findings, &rd_qp_verdicts[kind].finding,
			       n == 1 ? rd_text("%s qpn %u", res->devs[range->dev].name, res->qps[first].lqpn.v) :
					rd_text("%s, %zu queue pairs, first: qpn %u", res->devs[range->dev].name, n,
						res->qps[first].lqpn.v),
			       rd_dup(views->v[first].verdict->why), rd_dup(views->v[first].verdict->fix));
}

#define NAMED_MAX 8

/* "; without packets: qpn 17, 18", or with. Returns how many: also those that are not `chosen`, so that none is accused alone; *any:
 * whether one is. */
static size_t list_suspects(const struct rd_qp_views *views, const bool *chosen, const struct range *range, bool moving,
			    bool *any, struct rd_buf *out)
{
	size_t n = 0;

	for (size_t i = range->from; i < range->to; i++) {
		const struct rd_qp_past *past = views->v[i].past;

		if (views->notes[range->dev].of_requester && views->res->qps[i].state.v == RD_QPS_RTR)
			continue;
		if (views->v[i].verdict->kind != RD_QPV_CANNOT_TELL || past->psn_per_second.known != RD_OK ||
		    (past->psn_per_second.v > 0) != moving)
			continue;
		*any |= !chosen || chosen[i];
		if (n++ < NAMED_MAX)
			rd_buf_printf(out, "%s%u",
				      n > 1  ? ", " :
				      moving ? "; with packets: qpn " :
					       "; without packets: qpn ",
				      views->res->qps[i].lqpn.v);
	}
	if (n > NAMED_MAX)
		rd_buf_printf(out, ", %zu more", n - NAMED_MAX);
	return n;
}

/* Whether what the device counted may be of this one, though it is not in the lists: its packets are unknown, or it failed since the
 * sample before. */
static bool may_be_meant(const struct rd_qp *qp, const struct rd_qp_past *past)
{
	if (!rd_qp_can_retransmit(qp) || qp->state.known != RD_OK)
		return false;
	return qp->state.v == RD_QPS_RTS ? past->psn_per_second.known != RD_OK : past->fresh && rd_qp_has_failed(qp);
}

/* What cannot be attributed to one queue pair. */
static void judge_note(const struct rd_qp_views *views, const bool *chosen, const struct range *range,
		       struct rd_findings *findings)
{
	const struct rd_finding retransmits = { "qps-retransmit", "device retransmits, or loses packets",
						rd_qp_verdicts[RD_QPV_SLOW].finding.why, RD_SEV_WARNING };
	_cleanup_buf_ struct rd_buf which = { 0 };
	size_t n, unknown = 0;
	bool any = false;

	if (!views->notes || !views->notes[range->dev].why)
		return;
	/* A verdict on one queue pair may explain what its device counted. */
	for (size_t i = range->from; i < range->to; i++) {
		enum rd_qp_verdict_kind kind = views->v[i].verdict->kind;

		if (kind == RD_QPV_CUT_OFF || kind == RD_QPV_RETRYING || kind == RD_QPV_NO_RECEIVES ||
		    kind == RD_QPV_SLOW)
			return;
	}
	n = list_suspects(views, chosen, range, false, &any, &which);
	n += list_suspects(views, chosen, range, true, &any, &which);
	if (!any)
		return;
	for (size_t i = range->from; i < range->to; i++)
		unknown += may_be_meant(&views->res->qps[i], views->v[i].past);
	if (unknown)
		rd_buf_printf(&which, "; %zu more, whose packets are unknown", unknown);
	n += unknown;
	rd_finding_put(findings, &retransmits,
		       rd_text(n == 1 ? "%s, a queue pair" : "%s, one of %zu queue pairs",
			       views->res->devs[range->dev].name, n),
		       rd_text("%s%s", views->notes[range->dev].why, which.data), rd_dup(views->notes[range->dev].fix));
}

void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings)
{
	struct range range;

	for (enum rd_qp_verdict_kind kind = RD_QPV_NONE; kind < RD_QPV_N; kind++) {
		range = (struct range){ 0 };
		while (rd_qp_verdicts[kind].finding.id && next_device(views->res, &range))
			judge_device(views, chosen, &range, kind, findings);
	}
	range = (struct range){ 0 };
	while (next_device(views->res, &range))
		judge_note(views, chosen, &range, findings);
}
