// SPDX-License-Identifier: GPL-2.0-or-later
/* Which carrier the variables of a process request, and what carries its traffic. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "analyse/job/job.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

/*
 * The first row that matches decides. `library`: beginning of a file name that must be mapped, if mappings were read; NULL: any.
 * `value`: a shell pattern for the whole value or, with `part`, for one of its elements, separated by commas. Sources: NCCL 2.30 (net.cc, init.cc),
 * UCX 1.19 (ucp_context.c, aliases "ib", "rc", "ud", "dc"), libfabric 2 (fabric.c), Open MPI 5 (mca/pml, mca/btl), Intel MPI 2021
 * (reference), NVSHMEM 3.5, Mooncake (transfer_engine).
 */
static const struct {
	const char *name, *value, *library;
	bool part;
	enum rd_job_asked asks;
} rows[] = {
	{ "NCCL_IB_DISABLE", "[1-9]*", "lib?ccl", false, RD_JOB_ASKED_TCP },
	{ "NCCL_NET", "[Ss]ocket", "lib?ccl", false, RD_JOB_ASKED_TCP },
	{ "NCCL_NET_PLUGIN", "none", NULL, false, RD_JOB_ASKED_NOTHING },
	{ "NCCL_NET", "[Ii][Bb]", "lib?ccl", false, RD_JOB_ASKED_RDMA },
	{ "NCCL_NET", "AWS*", "lib?ccl", false, RD_JOB_ASKED_RDMA },
	{ "NCCL_IB_HCA", "?*", "lib?ccl", false, RD_JOB_ASKED_RDMA },
	{ "UCX_TLS", "^ib", "libuc", true, RD_JOB_ASKED_TCP },
	{ "UCX_TLS", "^*", "libuc", false, RD_JOB_ASKED_NOTHING },
	{ "UCX_TLS", "all", "libuc", true, RD_JOB_ASKED_NOTHING },
	{ "UCX_TLS", "rc*", "libuc", true, RD_JOB_ASKED_RDMA },
	{ "UCX_TLS", "dc*", "libuc", true, RD_JOB_ASKED_RDMA },
	{ "UCX_TLS", "ud*", "libuc", true, RD_JOB_ASKED_RDMA },
	{ "UCX_TLS", "ib", "libuc", true, RD_JOB_ASKED_RDMA },
	{ "UCX_TLS", "srd", "libuc", true, RD_JOB_ASKED_RDMA },
	{ "UCX_TLS", "tcp", "libuc", true, RD_JOB_ASKED_TCP },
	{ "UCX_NET_DEVICES", "?*:[0-9]*", "libuc", true, RD_JOB_ASKED_RDMA },
	{ "FI_PROVIDER", "^*", "libfabric", false, RD_JOB_ASKED_NOTHING },
	{ "FI_PROVIDER", "*verbs*", "libfabric", true, RD_JOB_ASKED_RDMA },
	{ "FI_PROVIDER", "efa", "libfabric", true, RD_JOB_ASKED_RDMA },
	{ "FI_PROVIDER", "*tcp*", "libfabric", true, RD_JOB_ASKED_TCP },
	{ "FI_PROVIDER", "sockets", "libfabric", true, RD_JOB_ASKED_TCP },
	{ "OMPI_MCA_btl", "^*", "libmpi", false, RD_JOB_ASKED_NOTHING },
	{ "OMPI_MCA_btl", "openib", "libmpi", true, RD_JOB_ASKED_RDMA },
	{ "OMPI_MCA_btl", "tcp", "libmpi", true, RD_JOB_ASKED_TCP },
	{ "I_MPI_OFI_PROVIDER", "verbs*", "libmpi", false, RD_JOB_ASKED_RDMA },
	{ "I_MPI_OFI_PROVIDER", "mlx", "libmpi", false, RD_JOB_ASKED_RDMA },
	{ "I_MPI_OFI_PROVIDER", "tcp*", "libmpi", false, RD_JOB_ASKED_TCP },
	{ "NVSHMEM_REMOTE_TRANSPORT", "ib*", NULL, false, RD_JOB_ASKED_RDMA },
	{ "MOONCAKE_PROTOCOL", "rdma", NULL, false, RD_JOB_ASKED_RDMA },
	{ "MOONCAKE_PROTOCOL", "tcp", NULL, false, RD_JOB_ASKED_TCP },
	{ "MC_FORCE_TCP", "1", NULL, false, RD_JOB_ASKED_TCP },
};

static bool is_mapped(const struct rd_job_proc *proc, const char *library)
{
	for (size_t i = 0; i < proc->libs.n; i++) {
		const char *name = strrchr(proc->libs.v[i], '/');
		_cleanup_free_ char *pattern = rd_text("%s*", library);

		if (name && fnmatch(pattern, name + 1, 0) == 0)
			return true;
	}
	return false;
}

static bool fits(const char *value, const char *pattern, bool part)
{
	if (!part)
		return fnmatch(pattern, value, 0) == 0;
	for (const char *at = value; at;) {
		_cleanup_free_ char *each = rd_next_part(&at, ',');

		if (each && fnmatch(pattern, each, 0) == 0)
			return true;
	}
	return false;
}

static const char *find_variable(const struct rd_job_proc *proc, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < proc->env.n; i++)
		if (strncmp(proc->env.v[i], name, n) == 0 && proc->env.v[i][n] == '=')
			return proc->env.v[i];
	return NULL;
}

/* A row without effect ends the rows of its variable. */
static void find_request(struct rd_job_view *view)
{
	const struct rd_job_proc *proc = view->proc;
	const char *done = "";

	for (size_t i = 0; i < RD_ARRAY_SIZE(rows) && !view->asked; i++) {
		const char *variable = find_variable(proc, rows[i].name);

		if (!variable || strcmp(done, rows[i].name) == 0 ||
		    !fits(variable + strlen(rows[i].name) + 1, rows[i].value, rows[i].part))
			continue;
		if (rows[i].library && !proc->here && rd_job_knows(proc, "maps") && !is_mapped(proc, rows[i].library))
			continue;
		done = rows[i].name;
		view->asked = rows[i].asks;
		view->asked_by = rows[i].asks ? variable : NULL;
	}
}

/* From here on TCP carries data: a rendezvous, the exchange of addresses and health checks of large jobs take less. */
#define BULK (UINT64_C(16) << 20)

/* Libraries that create queue pairs which the kernel does not list (proc.c). */
static const char *const hiders[] = { "libdoca_", "libnccl-gin", "libuct_ib_mlx5", "nvshmem_transport_ibgda" };

/* What decides, counted. */
struct traffic {
	bool qps_known, hidden;
	size_t connected, others; /* queue pairs: that carry data, in other states */
};

static bool is_connected(const struct rd_qp *qp)
{
	return qp->state.known == RD_OK &&
	       (qp->state.v == RD_QPS_RTS || qp->state.v == RD_QPS_SQD || qp->state.v == RD_QPS_RTR);
}

static struct rd_job_nic *nic_of(struct rd_job_view *view, const char *ibdev, uint32_t port)
{
	for (size_t i = 0; i < view->n_nics; i++)
		if (strcmp(view->nics[i].ibdev, ibdev) == 0 && view->nics[i].port == port)
			return &view->nics[i];
	RD_ADD(view->nics, view->n_nics, view->cap_nics);
	view->nics[view->n_nics - 1] = (struct rd_job_nic){ .ibdev = ibdev, .port = port };
	return &view->nics[view->n_nics - 1];
}

static bool nic_has_peer(const struct rd_job_nic *nic, const uint8_t gid[16])
{
	for (size_t i = 0; i < nic->peers; i++)
		if (memcmp(nic->gids[i], gid, 16) == 0)
			return true;
	return false;
}

static void add_qp(struct rd_job_view *view, const struct rd_qp_views *qps, size_t i)
{
	const struct rd_qp *qp = &qps->res->qps[i];
	struct rd_job_nic *nic = nic_of(view, qps->res->devs[qp->dev].name, qp->port.known == RD_OK ? qp->port.v : 1);
	uint8_t gid[16];

	nic->qps++;
	if (nic->peers < 4096 && rd_qp_peer(qps, i, gid) && !nic_has_peer(nic, gid)) {
		rd_reserve(&nic->gids, &nic->cap_gids, nic->peers + 1, sizeof(*nic->gids));
		memcpy(nic->gids[nic->peers++], gid, 16);
	}
}

static bool maps_hider(const struct rd_job_proc *proc)
{
	for (size_t i = 0; i < proc->libs.n; i++)
		for (size_t k = 0; k < RD_ARRAY_SIZE(hiders); k++)
			if (strstr(proc->libs.v[i], hiders[k]))
				return true;
	return false;
}

static void count_qps(const struct rd_job_input *in, struct rd_job_view *view, struct traffic *traffic)
{
	const struct rd_job_proc *proc = view->proc;
	const struct rd_res *res = in->qps ? in->qps->res : NULL;
	bool shared = res && res->netns_shared.known == RD_OK && res->netns_shared.v;

	/* In exclusive mode the devices of another network namespace are not listed here. */
	traffic->qps_known = res && rd_job_knows(proc, "net") && (!proc->net_other || shared);
	for (size_t d = 0; res && d < res->n_devs; d++) {
		const struct rd_res_gap *gap = &res->devs[d].gaps[RD_RES_QP];

		traffic->qps_known &= !gap->code && !gap->interrupted && !gap->damaged;
		traffic->hidden |= rd_res_dev_hides_qps(&res->devs[d]);
	}
	traffic->hidden &= view->contexts > 0 && (!rd_job_knows(proc, "maps") || maps_hider(proc));
	for (size_t i = 0; res && i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->owner.pid.known != RD_OK || qp->owner.pid.v != proc->pid || qp->owner.kernel)
			continue;
		if (!is_connected(qp)) {
			traffic->others++;
			continue;
		}
		traffic->connected++;
		add_qp(view, in->qps, i);
	}
}

static bool is_qp_peer(const struct rd_job_view *view, const uint8_t ip[16])
{
	for (size_t i = 0; i < view->n_nics; i++)
		if (nic_has_peer(&view->nics[i], ip))
			return true;
	return false;
}

static void count_sockets(struct rd_job_view *view)
{
	const struct rd_job_proc *proc = view->proc;
	struct rd_job_sockets *sockets = &view->sockets;

	sockets->known = rd_job_knows(proc, "fds") && rd_job_knows(proc, "tcp") && rd_job_knows(proc, "addr") &&
			 rd_job_knows(proc, "net");
	for (size_t i = 0; i < proc->n_tcp; i++) {
		uint64_t bytes = proc->tcp[i].bytes;

		if (rd_job_is_local(proc, proc->tcp[i].remote)) {
			sockets->local_bytes += bytes;
			continue;
		}
		sockets->connections++;
		sockets->bytes += bytes;
		if (is_qp_peer(view, proc->tcp[i].remote))
			sockets->to_qp_peers += bytes;
	}
}

static enum rd_job_verdict decide(const struct rd_job_view *view, const struct traffic *traffic)
{
	const struct rd_job_sockets *sockets = &view->sockets;

	if (traffic->connected)
		return sockets->to_qp_peers >= BULK ? RD_JOB_MIXED : RD_JOB_RDMA;
	if (view->proc->here)
		return RD_JOB_IDLE;
	/* Without an open device file there is no queue pair, listed or not. */
	if ((!traffic->qps_known && (view->contexts > 0 || !rd_job_knows(view->proc, "fds"))) || traffic->hidden ||
	    !sockets->known)
		return RD_JOB_CANNOT_TELL;
	if (sockets->bytes >= BULK)
		return RD_JOB_TCP;
	return view->proc->segments.n > 0 || sockets->local_bytes >= BULK ? RD_JOB_HOST : RD_JOB_IDLE;
}

/* "1.2 GiB", "3 MiB" */
static char *amount_text(uint64_t bytes)
{
	return bytes >> 30 ? rd_text("%.1f GiB", (double)bytes / (1 << 30)) : rd_text("%" PRIu64 " MiB", bytes >> 20);
}

static char *qps_text(const struct rd_job_view *view, const struct traffic *traffic)
{
	struct rd_buf text = { 0 };

	rd_buf_printf(&text, "%zu connected queue pair%s on", traffic->connected, traffic->connected == 1 ? "" : "s");
	for (size_t i = 0; i < view->n_nics && i < 16; i++)
		rd_buf_printf(&text, "%s %s/%u", i ? "," : "", view->nics[i].ibdev, view->nics[i].port);
	return text.data;
}

/* "RDMA can be used (mlx5_0, mlx5_1)": devices that it can use. */
static char *usable_text(const struct rd_job_view *view)
{
	struct rd_buf text = { 0 };

	rd_buf_str(&text, "RDMA can be used (");
	for (size_t i = 0, n = 0; i < view->can.n; i++)
		if (strcmp(view->can.v[i].id, "job-device") == 0 && view->can.v[i].severity == RD_SEV_OK)
			rd_buf_printf(&text, "%s%s", n++ ? ", " : "", view->can.v[i].subject);
	rd_buf_str(&text, ")");
	return text.data;
}

static const char *unknown_text(const struct rd_job_view *view, const struct traffic *traffic)
{
	if (!view->proc->looked)
		return "it could not be read within ten seconds, or has ended";
	if (!rd_job_knows(view->proc, "fds"))
		return "its open files may not be read by this user";
	if (traffic->hidden)
		return "it has an RDMA device open and a library that creates queue pairs which the kernel does not list (DEVX)";
	if (!traffic->qps_known && view->contexts > 0)
		return "it has an RDMA device open, and its queue pairs cannot be listed from this network namespace";
	return "its TCP connections could not be read";
}

static void add_reason(struct rd_job_view *view, const struct traffic *traffic)
{
	_cleanup_free_ char *amount = amount_text(view->sockets.bytes), *qps = qps_text(view, traffic),
			    *usable = usable_text(view), *what = NULL;
	const struct rd_finding *obstacle = view->obstacle;

	switch (view->verdict) {
	case RD_JOB_CANNOT_TELL:
		view->reason = rd_text("%s", unknown_text(view, traffic));
		return;
	case RD_JOB_RDMA:
	case RD_JOB_UNEVEN:
		view->reason = RD_TAKE(qps);
		return;
	case RD_JOB_MIXED:
		view->reason = rd_text("%s, and %s over TCP to the same peers", qps, amount);
		return;
	case RD_JOB_HOST:
		view->reason = rd_text("shared memory or local connections; %s to other hosts", amount);
		return;
	case RD_JOB_TCP:
		what = rd_text("%s over %" PRIu64 " TCP connection%s, no connected queue pair; ", amount,
			       view->sockets.connections, view->sockets.connections == 1 ? "" : "s");
		break;
	case RD_JOB_IDLE:
		what = rd_text("%s", view->proc->here || view->severity == RD_SEV_CRITICAL ?
					     "" :
					     "no connected queue pair, hardly any TCP traffic; ");
		break;
	}
	if (view->asked == RD_JOB_ASKED_TCP)
		view->reason = rd_text("%sset by %s", what, view->asked_by);
	else if (obstacle)
		view->reason = rd_text("%s%s: %s", what, obstacle->subject, obstacle->observed);
	else if (view->able.known != RD_OK)
		view->reason = rd_text("%swhether it can use RDMA is unknown", what);
	else
		view->reason = rd_text("%s%s%s%s", what, usable, view->asked_by ? ", and is requested by " : "",
				       view->asked_by ? view->asked_by : "");
}

static enum rd_severity severity_of(const struct rd_job_view *view)
{
	bool unable = view->obstacle && view->obstacle->severity == RD_SEV_CRITICAL;
	bool asked = view->asked == RD_JOB_ASKED_RDMA || (view->proc->here && view->asked == RD_JOB_ASKED_NOTHING);

	switch (view->verdict) {
	case RD_JOB_CANNOT_TELL:
		return RD_SEV_UNKNOWN;
	case RD_JOB_TCP:
		return view->asked == RD_JOB_ASKED_TCP ? RD_SEV_NOTE : asked ? RD_SEV_CRITICAL : RD_SEV_WARNING;
	case RD_JOB_MIXED:
	case RD_JOB_UNEVEN:
		return RD_SEV_WARNING;
	case RD_JOB_IDLE:
		if (view->asked == RD_JOB_ASKED_TCP || !asked)
			return view->asked == RD_JOB_ASKED_TCP ? RD_SEV_NOTE : RD_SEV_OK;
		return unable				  ? RD_SEV_CRITICAL :
		       view->able.known != RD_OK	  ? RD_SEV_UNKNOWN :
		       view->obstacle && view->proc->here ? RD_SEV_WARNING :
							    RD_SEV_OK;
	default:
		return RD_SEV_OK;
	}
}

void rd_job_judge(const struct rd_job_input *in, struct rd_job_view *view)
{
	struct traffic traffic = { 0 };

	view->runtime = rd_job_runtime(view->proc);
	view->contexts = rd_job_count_open(view->proc, "uverbs");
	find_request(view);
	rd_job_can(in, view);
	count_qps(in, view, &traffic);
	count_sockets(view);
	view->verdict = decide(view, &traffic);
	view->severity = severity_of(view);
	add_reason(view, &traffic);
	if (view->severity >= RD_SEV_WARNING && view->obstacle && view->obstacle->fix)
		view->fix = rd_text("%s", view->obstacle->fix);
}

void rd_job_judge_whole(const struct rd_job_input *in, struct rd_job_view *views, size_t n)
{
	size_t carriers = 0, used = 0, usable = 0;

	for (size_t d = 0; d < in->kernel->n; d++) {
		const char *ibdev = in->kernel->v[d].ibdev;
		bool carries = false, can = false;

		for (size_t i = 0; i < n && ibdev; i++) {
			for (size_t k = 0; k < views[i].n_nics; k++)
				carries |= strcmp(views[i].nics[k].ibdev, ibdev) == 0;
			for (size_t k = 0; k < views[i].can.n; k++)
				can |= views[i].can.v[k].severity == RD_SEV_OK &&
				       strcmp(views[i].can.v[k].subject, ibdev) == 0;
		}
		used += carries;
		usable += can;
	}
	for (size_t i = 0; i < n; i++)
		carriers += views[i].verdict == RD_JOB_RDMA;
	/* Each process of a job takes the NIC next to its accelerator: with as many as there are NICs, all carry. */
	for (size_t i = 0; i < n && usable >= 2 && carriers >= usable && used * 2 <= usable; i++) {
		if (views[i].verdict != RD_JOB_RDMA)
			continue;
		char *reason = rd_text("%s; together %zu processes use %zu of %zu NICs", views[i].reason, carriers,
				       used, usable);

		free(views[i].reason);
		views[i].reason = reason;
		views[i].verdict = RD_JOB_UNEVEN;
		views[i].severity = RD_SEV_WARNING;
	}
}
