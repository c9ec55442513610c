/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/qp/qp.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/memory.h"
#include "base/text.h"

/* enum rdma_driver_id of rdma/ib_user_ioctl_verbs.h */
#define DRIVER_MLX5 1
#define DRIVER_RXE 14

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
	return dev->driver_id.known == RD_OK ? dev->driver_id.v == DRIVER_MLX5 : strncmp(dev->name, "mlx5_", 5) == 0;
}

bool rd_res_dev_is_rxe(const struct rd_res_dev *dev)
{
	return dev->driver_id.known == RD_OK && dev->driver_id.v == DRIVER_RXE;
}

/* As 16 bytes, which of RoCE is the GID. */
static void address_of(const struct rd_sockaddr *addr, uint8_t ret[16])
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
	const struct rd_sockaddr *dst = view->link.cm_id >= 0 ? &views->res->cm_ids[view->link.cm_id].dst : NULL;
	const uint8_t *gid = rd_qp_peer_gid(view);

	if (gid)
		memcpy(ret, gid, 16);
	else if (dst && dst->family)
		address_of(dst, ret);
	else
		return false;
	return true;
}

/* An IP address is a GID on RoCE only; on InfiniBand it is an address of IPoIB. */
static bool is_gid_of(const struct rd_res *res, const struct rd_qp *qp, const struct rd_sockaddr *peer)
{
	const char *protocol = res->devs[qp->dev].protocol;
	bool roce = protocol && strcmp(protocol, "roce") == 0;

	return rd_qp_is_connected_type(qp) && peer->family && (roce || peer->family == RD_AF_IB);
}

/* A connection keeps the number of its queue pair when that has gone: then the number may be another process's. */
static bool of_one_process(const struct rd_owner *a, const struct rd_owner *b)
{
	return a->pid.known != RD_OK || b->pid.known != RD_OK || a->pid.v == b->pid.v;
}

void rd_qp_link(struct rd_qp_views *views)
{
	const struct rd_res *res = views->res;

	for (size_t i = 0; i < res->n_cm_ids; i++) {
		const struct rd_cm_id *cm_id = &res->cm_ids[i];
		size_t at = cm_id->lqpn.known == RD_OK ? rd_res_find_qp(res, cm_id->dev, cm_id->lqpn.v) : res->n_qps;
		struct rd_qp_link *link;

		if (at == res->n_qps || !of_one_process(&res->qps[at].owner, &cm_id->owner))
			continue;
		link = &views->v[at].link;
		link->cm_id = (int)i;
		if (!is_gid_of(res, &res->qps[at], &cm_id->dst))
			continue;
		address_of(&cm_id->dst, link->gid);
		link->has_gid = true;
	}
}

/* How many of those that the kernel counts are not listed, and why. */
static void judge_missing(const struct rd_res_dev *dev, struct rd_findings *findings)
{
	const struct rd_res_gap *gap = &dev->gaps[RD_RES_QP];
	uint64_t used = dev->used[RD_RES_QP].v, listed = dev->listed[RD_RES_QP];
	bool counted = dev->used[RD_RES_QP].known == RD_OK;
	struct rd_finding finding = {
		.id = "qps-not-listed",
		.severity = RD_SEV_UNKNOWN,
		.title = "the list of queue pairs is not complete",
		.why = "A queue pair that is not shown may be the one that hangs.",
	};

	/* What is broken off without a count may be whole by luck only. */
	if (!gap->damaged && !gap->interrupted && (counted ? listed >= used : !gap->code))
		return;
	if (gap->damaged || gap->interrupted || !counted) {
		finding.observed = rd_text("%llu are shown: the kernel's answer was %s", (unsigned long long)listed,
					   gap->damaged	    ? "damaged" :
					   gap->interrupted ? "interrupted by changes" :
							      "broken off");
		finding.fix = rd_dup("look again");
	} else if (gap->code) {
		finding.observed =
			rd_text("%llu of %llu: the kernel broke off the list (%s), and numbers do not find the rest",
				(unsigned long long)listed, (unsigned long long)used, rd_errno_text(gap->code));
		finding.fix = rd_dup("dmesg: the device does not answer; rdma resource show qp fails likewise");
	} else {
		finding.observed = rd_text(
			"%llu of %llu: the others belong to other PID namespaces or to the kernel, or have just gone",
			(unsigned long long)listed, (unsigned long long)used);
		finding.fix = rd_dup("look from the host's own PID namespace");
	}
	finding.subject = rd_dup(dev->name);
	rd_finding_add(findings, &finding);
}

/* One that fails ends the kernel's list; it may itself be one of those whose state a list alone shows. */
static void judge_queries(const struct rd_res *res, int dev, struct rd_findings *findings)
{
	struct rd_finding finding = {
		.id = "qp-query-failed",
		.severity = RD_SEV_WARNING,
		.title = "the device does not say what state queue pairs are in",
		.why = "A driver that cannot query its queue pairs has mostly lost its firmware.",
	};
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
	finding.subject = rd_dup(res->devs[dev].name);
	finding.observed =
		!failed	 ? rd_text("one of %zu that are not in INIT yet: %s", portless, rd_errno_text(code)) :
		portless ? rd_text("%zu of them: %s; so of %zu more, not in INIT yet, the kernel does not say it",
				   failed, rd_errno_text(code), portless) :
			   rd_text("%zu of them: %s", failed, rd_errno_text(code));
	finding.fix = rd_text("dmesg | grep %s; devlink health show", res->devs[dev].name);
	rd_finding_add(findings, &finding);
}

static void judge_limits(const struct rd_res_dev *dev, struct rd_findings *findings)
{
	for (int kind = 0; kind < RD_RES_KINDS; kind++) {
		struct rd_finding finding = {
			.id = "resource-exhausted",
			.title = "nearly all that the device allows is in use",
			.why = "The next program that asks for one gets ENOMEM.",
		};
		uint64_t max = dev->limits.max[kind].v, used = dev->used[kind].v;

		if (dev->limits.max[kind].known != RD_OK || dev->used[kind].known != RD_OK || max == 0 ||
		    (double)used < NEARLY_ALL * (double)max)
			continue;
		finding.severity = used >= max ? RD_SEV_CRITICAL : RD_SEV_WARNING;
		finding.subject = rd_text("%s %s", dev->name, rd_res_kind_name(kind));
		finding.observed = rd_text("%llu of %llu", (unsigned long long)used, (unsigned long long)max);
		finding.fix = rd_dup("rdmadiag qp-state --summary: end the process that holds most of them");
		rd_finding_add(findings, &finding);
	}
}

static void remark_hidden_procs(const struct rd_res *res, struct rd_findings *findings)
{
	struct rd_finding finding = {
		.id = "process-hidden",
		.severity = RD_SEV_UNKNOWN,
		.title = "processes that own RDMA resources have no name here",
		.why = "Their job cannot be told.",
	};
	size_t n = 0;

	for (size_t i = 0; i < res->n_procs; i++)
		n += !res->procs[i].comm;
	if (n == 0)
		return;
	finding.subject = rd_dup("/proc");
	finding.observed = rd_text("%zu of %zu: ended meanwhile, or hidden from this user", n, res->n_procs);
	finding.fix = rd_dup("run it as root, or without hidepid=");
	rd_finding_add(findings, &finding);
}

/* Older kernels leave these out of the list, newer ones leave out whose they are. */
static void judge_owners(const struct rd_res *res, struct rd_findings *findings)
{
	struct rd_finding finding = {
		.id = "owner-not-visible",
		.severity = RD_SEV_UNKNOWN,
		.title = "the kernel does not say whose queue pairs these are",
		.why = "Their process is of another PID namespace than ours or those below it, or has ended.",
	};
	size_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++)
		n += !res->qps[i].owner.kernel && res->qps[i].owner.pid.known != RD_OK && !res->qps[i].query_errno;
	if (n == 0)
		return;
	finding.subject = rd_dup("PID namespace");
	finding.observed = rd_text("%zu of %zu queue pairs", n, res->n_qps);
	finding.fix = rd_dup("look from the host's own PID namespace");
	rd_finding_add(findings, &finding);
}

static void judge_netns(const struct rd_res *res, struct rd_findings *findings)
{
	struct rd_finding finding = {
		.id = "netns-exclusive",
		.severity = RD_SEV_NOTE,
		.title = "devices of other network namespaces are not visible",
		.why = "The RDMA subsystem's mode is exclusive: each network namespace sees its own devices only.",
	};

	if (res->netns_shared.known != RD_OK || res->netns_shared.v)
		return;
	finding.subject = rd_dup("network namespace");
	finding.fix = rd_dup("ip netns exec NAME rdmadiag qp-state");
	rd_finding_add(findings, &finding);
}

void rd_res_findings(const struct rd_res *res, struct rd_findings *findings)
{
	judge_netns(res, findings);
	for (size_t i = 0; i < res->n_devs; i++) {
		judge_missing(&res->devs[i], findings);
		judge_queries(res, (int)i, findings);
		judge_limits(&res->devs[i], findings);
	}
	judge_owners(res, findings);
	remark_hidden_procs(res, findings);
}
