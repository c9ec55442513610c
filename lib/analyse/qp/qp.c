/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp.h"

#include <sys/socket.h>

#include "base/err.h"
#include "base/text.h"
#include "model/host/host.h"

#define NEARLY_ALL 0.9

bool rd_qp_is_connected_type(const struct rd_qp *qp)
{
	return qp->type.known == RD_OK && (qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_UC ||
					   qp->type.v == RD_QPT_XRC_INI || qp->type.v == RD_QPT_XRC_TGT);
}

bool rd_qp_has_failed(const struct rd_qp *qp)
{
	return qp->state.known == RD_OK && (qp->state.v == RD_QPS_SQE || qp->state.v == RD_QPS_ERR);
}

bool rd_qp_query_failed(const struct rd_qp *qp)
{
	return qp->query_errno && qp->query_errno != EAGAIN;
}

bool rd_res_dev_hides_qps(const struct rd_res_dev *dev)
{
	return dev->driver_id.known == RD_OK ? dev->driver_id.v == RD_DRIVER_MLX5 : strncmp(dev->name, "mlx5_", 5) == 0;
}

bool rd_res_dev_is_rxe(const struct rd_res_dev *dev)
{
	return dev->driver_id.known == RD_OK && dev->driver_id.v == RD_DRIVER_RXE;
}

#define PORT_INIT 2 /* enum ib_port_state */

bool rd_qp_port_lacks_ipv4(const struct rd_res *res, const struct rd_res_port *port)
{
	const char *protocol = port->dev >= 0 ? res->devs[port->dev].protocol : NULL;

	return port->state.v == PORT_INIT && protocol && strcmp(protocol, "iw") == 0;
}

void rd_qp_address(const struct rd_sockaddr *addr, uint8_t ret[16])
{
	if (addr->family == AF_INET) {
		memset(ret, 0, 10);
		memset(ret + 10, 0xff, 2);
		memcpy(ret + 12, addr->ip, 4);
	} else {
		memcpy(ret, addr->ip, 16);
	}
}

bool rd_qp_peer(const struct rd_qp_views *views, size_t i, uint8_t ret[16])
{
	const struct rd_qp_view *view = &views->v[i];
	const struct rd_sockaddr *dst = view->link->cm_id >= 0 ? &views->res->cm_ids[view->link->cm_id].dst : NULL;
	const uint8_t *gid = rd_qp_peer_gid(view);

	if (gid)
		memcpy(ret, gid, 16);
	else if (dst && dst->family)
		rd_qp_address(dst, ret);
	else
		return false;
	return true;
}

void rd_qp_gid_ip(const uint8_t gid[16], char *ret)
{
	struct rd_gid of = { 0 };

	memcpy(of.raw, gid, sizeof(of.raw));
	rd_gid_ip(&of, ret);
}

void rd_qp_link(struct rd_qp_views *views)
{
	const struct rd_res *res = views->res;

	for (size_t i = 0; i < res->n_qps; i++)
		if (res->qps[i].context) {
			struct rd_qp_link link = *views->v[i].link;

			link.context = res->qps[i].context;
			rd_qp_views_set_link(views, i, &link);
		}
	for (size_t i = 0; i < res->n_cm_ids; i++) {
		const struct rd_cm_id *cm_id = &res->cm_ids[i];
		size_t at = cm_id->lqpn.known == RD_OK ? rd_res_find_qp(res, cm_id->dev, cm_id->lqpn.v) : res->n_qps;
		const struct rd_qp *qp = &res->qps[at];
		const char *protocol;
		struct rd_qp_link link;

		/* A connection keeps the number of its queue pair after that was destroyed: the number may then belong to another process. */
		if (at == res->n_qps || (qp->owner.pid.known == RD_OK && cm_id->owner.pid.known == RD_OK &&
					 qp->owner.pid.v != cm_id->owner.pid.v))
			continue;
		link = *views->v[at].link;
		link.cm_id = (int)i;
		/* An IP address is a GID on RoCE only; on InfiniBand it is an address of IPoIB. */
		protocol = res->devs[qp->dev].protocol;
		link.has_gid = rd_qp_is_connected_type(qp) && cm_id->dst.family &&
			       ((protocol && strcmp(protocol, "roce") == 0) || cm_id->dst.family == RD_AF_IB);
		if (link.has_gid)
			rd_qp_address(&cm_id->dst, link.gid);
		rd_qp_views_set_link(views, at, &link);
	}
}

/* Queue pairs that the kernel counts but does not list, and why. */
static void judge_missing(const struct rd_res_dev *dev, struct rd_findings *findings)
{
	const struct rd_res_gap *gap = &dev->gaps[RD_RES_QP];
	uint64_t used = dev->used[RD_RES_QP].v, listed = dev->listed[RD_RES_QP];
	bool counted = dev->used[RD_RES_QP].known == RD_OK;
	static const struct rd_finding kind = { "qps-not-listed", "the list of queue pairs is incomplete",
						"A queue pair missing from the list may be the one that hangs.",
						RD_SEV_UNKNOWN };
	char *observed, *fix;

	/* Without a count, a dump that ended early may still be complete, but only by chance. */
	if (!gap->damaged && !gap->interrupted && (counted ? listed >= used : !gap->code))
		return;
	if (gap->damaged || gap->interrupted || !counted) {
		observed = rd_text("%llu listed: the kernel's reply was %s", (unsigned long long)listed,
				   gap->damaged	    ? "damaged" :
				   gap->interrupted ? "interrupted by changes" :
						      "cut short");
		fix = rd_dup("# run the command again");
	} else if (gap->code) {
		observed = rd_text(
			"%llu of %llu listed: the kernel ended its dump early (%s), and queries by number did not find the rest",
			(unsigned long long)listed, (unsigned long long)used, rd_errno_text(gap->code));
		fix = rd_text("dmesg | grep %s\n# the device does not respond\n# rdma resource show qp fails, too",
			      dev->name);
	} else {
		observed = rd_text(
			"%llu of %llu listed: the others belong to other PID namespaces or to the kernel, or were just destroyed",
			(unsigned long long)listed, (unsigned long long)used);
		fix = rd_dup("# run rdmadiag in the PID namespace of the host");
	}
	rd_finding_put(findings, &kind, rd_dup(dev->name), observed, fix);
}

/* A failed query ends the kernel's dump; the QP may itself be one whose state only the dump reports. */
static void judge_queries(const struct rd_res *res, int dev, struct rd_findings *findings)
{
	static const struct rd_finding kind = {
		"qp-query-failed", "device does not report the state of queue pairs",
		"A driver that cannot query its queue pairs has usually lost contact with the firmware.", RD_SEV_WARNING
	};
	char *observed;
	int code = res->devs[dev].gaps[RD_RES_QP].code;
	size_t failed = 0, portless = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->dev != dev)
			continue;
		failed += rd_qp_query_failed(qp);
		portless += qp->query_errno && !rd_qp_query_failed(qp);
		if (rd_qp_query_failed(qp))
			code = qp->query_errno;
	}
	if (!failed && !portless)
		return;
	observed =
		!failed ?
			rd_text("query failed for one of %zu queue pairs that have not reached INIT: %s", portless,
				rd_errno_text(code)) :
		portless ?
			rd_text("query failed for %zu queue pairs: %s; the kernel does not report %zu more that have not reached INIT",
				failed, rd_errno_text(code), portless) :
			rd_text("query failed for %zu queue pairs: %s", failed, rd_errno_text(code));
	rd_finding_put(findings, &kind, rd_dup(res->devs[dev].name), observed,
		       rd_text("dmesg | grep %s\ndevlink health show", res->devs[dev].name));
}

static void judge_limits(const struct rd_res_dev *dev, struct rd_findings *findings)
{
	for (int kind = 0; kind < RD_RES_KINDS; kind++) {
		uint64_t max = dev->limits.max[kind].v, used = dev->used[kind].v;

		if (dev->limits.max[kind].known != RD_OK || dev->used[kind].known != RD_OK || max == 0 ||
		    (double)used < NEARLY_ALL * (double)max)
			continue;
		rd_finding_put(findings,
			       &(struct rd_finding){ "resource-exhausted", "device is nearly out of RDMA resources",
						     "The next program that creates one gets ENOMEM.",
						     used >= max ? RD_SEV_CRITICAL : RD_SEV_WARNING },
			       rd_text("%s %s", dev->name, rd_res_kind_name(kind)),
			       rd_text("%llu of %llu", (unsigned long long)used, (unsigned long long)max),
			       rd_dup("rdmadiag qp-state --summary\n# end the process that holds most of them"));
	}
}

/* Older kernels leave these out of the list; newer ones list them without an owner. */
static void judge_owners(const struct rd_res *res, struct rd_findings *findings)
{
	static const struct rd_finding kind = {
		"owner-not-visible", "owner of queue pairs not reported by the kernel",
		"Their process is in a PID namespace other than this one and its children, or has exited.",
		RD_SEV_UNKNOWN
	};
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++)
		n += !res->qps[i].owner.kernel && res->qps[i].owner.pid.known != RD_OK && !res->qps[i].query_errno;
	if (n)
		rd_finding_put(findings, &kind, rd_dup("PID namespace"),
			       rd_text("%zu of %zu queue pairs", n, res->n_qps),
			       rd_dup("# run rdmadiag in the PID namespace of the host"));
}

void rd_res_findings(const struct rd_res *res, struct rd_findings *findings)
{
	static const struct rd_finding exclusive = {
		"netns-exclusive", "devices of other network namespaces are not visible",
		"The RDMA subsystem is in exclusive mode: each network namespace sees only its own devices.",
		RD_SEV_NOTE
	};
	static const struct rd_finding kind = { "process-hidden",
						"names of processes that own RDMA resources are not readable",
						"Their job is unknown.", RD_SEV_UNKNOWN };
	size_t n = 0;

	if (res->netns_shared.known == RD_OK && !res->netns_shared.v)
		rd_finding_put(findings, &exclusive, rd_dup("network namespace"), NULL,
			       rd_dup("# in one of them: ip netns exec NAME rdmadiag qp-state"));
	for (size_t i = 0; i < res->n_devs; i++) {
		judge_missing(&res->devs[i], findings);
		judge_queries(res, (int)i, findings);
		judge_limits(&res->devs[i], findings);
	}
	judge_owners(res, findings);
	for (size_t i = 0; i < res->n_procs; i++)
		n += !res->procs[i].comm;
	if (n)
		rd_finding_put(findings, &kind, rd_dup("/proc"),
			       rd_text("%zu of %zu: exited meanwhile, or hidden from this user", n, res->n_procs),
			       rd_dup("# run as root, or mount /proc without hidepid="));
}
