// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes as users of RDMA: which carrier their variables request, and what carries their traffic. */
#include <fnmatch.h>
#include <inttypes.h>
#include <strings.h>

#include "analyse/env/envcheck.h"
#include "analyse/job/job.h"
#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "base/text.h"

/*
 * The first row that matches decides. `library`: beginning of a file name that must be mapped, of a row without effect always, of others if mappings
 * were read; NULL: any.
 * `value`: a shell pattern for the whole value or, with `part`, for one of its elements, separated by commas; NULL: ucx_asks decides. Sources:
 * NCCL 2.30 (net.cc, init.cc), UCX 1.19 (ucp_context.c), libfabric 2 (fabric.c), Open MPI 5 (mca/pml, mca/btl), MVAPICH2 2.3 (ibv_param.c),
 * Intel MPI 2021 (reference), NVSHMEM 3.5, MORI (rdma.cpp), Mooncake (transfer_engine).
 */
static const struct {
	const char *name, *value, *library;
	bool part;
	enum rd_job_asked asks;
	const char *with; /* a setting that has to be there, too: a shell pattern; NULL: none */
} rows[] = {
	{ "NCCL_IB_DISABLE", "[1-9]*", "lib?ccl-net*ofi", false, RD_JOB_ASKED_NOTHING, NULL }, /* not of this plugin */
	{ "NCCL_IB_DISABLE", "[1-9]*", "lib?ccl", false, RD_JOB_ASKED_TCP, NULL },
	{ "NCCL_NET", "@(socket|*TCPX_*)", "lib?ccl", false, RD_JOB_ASKED_TCP, NULL },
	{ "NCCL_NET", "@(ib|AWS)*", "lib?ccl", false, RD_JOB_ASKED_RDMA, NULL },
	{ "NCCL_IB_HCA", "[!^]*", "lib?ccl", false, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_TLS", NULL, "libuc", false, RD_JOB_ASKED_TCP, NULL },
	{ "UCX_NET_DEVICES", "^*", NULL, false, RD_JOB_ASKED_NOTHING, NULL },
	{ "UCX_NET_DEVICES", "?*:[0-9]*", "libuc", true, RD_JOB_ASKED_RDMA, NULL },
	{ "UCX_NET_DEVICES", "@(all|mlx*)", NULL, true, RD_JOB_ASKED_NOTHING, NULL },
	{ "UCX_NET_DEVICES", "?*", "libuc", true, RD_JOB_ASKED_TCP, NULL }, /* interfaces have no port behind a colon */
	{ "UCX_TLS", NULL, "libuc", false, RD_JOB_ASKED_RDMA, NULL },
	{ "I_MPI_FABRICS", "*tcp", "libmpi", false, RD_JOB_ASKED_TCP, NULL }, /* until 2018 */
	{ "I_MPI_OFI_PROVIDER", "@(efa|mlx|verbs)*", "libmpi", false, RD_JOB_ASKED_RDMA, NULL },
	{ "I_MPI_OFI_PROVIDER", "@(tcp*|sockets)", "libmpi", false, RD_JOB_ASKED_TCP, NULL },
	{ "FI_PROVIDER", "^*", NULL, false, RD_JOB_ASKED_NOTHING, NULL },
	{ "PSM3_HAL", "sockets", "libfabric", false, RD_JOB_ASKED_TCP, "FI_PROVIDER=psm3" },
	{ "FI_PROVIDER", "@(*verbs|efa|mlx|psm)*", "libfabric", true, RD_JOB_ASKED_RDMA, NULL },
	{ "FI_PROVIDER", "@(*tcp*|sockets|net?(;*))", "libfabric", true, RD_JOB_ASKED_TCP,
	  NULL }, /* net: TCP in 1.16 and 1.17 */
	{ "OMPI_MCA_mtl_ofi_provider_include", "@(*verbs|efa|psm)*", "libmpi", true, RD_JOB_ASKED_RDMA, NULL },
	{ "OMPI_MCA_mtl_ofi_provider_include", "@(*tcp*|sockets)", "libmpi", true, RD_JOB_ASKED_TCP, NULL },
	{ "OMPI_MCA_btl", "*", NULL, false, RD_JOB_ASKED_NOTHING, "OMPI_MCA_pml=@(ucx|cm|^*ob1)*" },
	{ "OMPI_MCA_btl", "^*", NULL, false, RD_JOB_ASKED_NOTHING, NULL },
	{ "OMPI_MCA_btl", "@(openib|uct)", "libmpi", true, RD_JOB_ASKED_RDMA, NULL },
	{ "OMPI_MCA_btl", "tcp", "libmpi", true, RD_JOB_ASKED_TCP, NULL },
	{ "MV2_IBA_HCA", "?*", "libmpi", false, RD_JOB_ASKED_RDMA, NULL },
	{ "NVSHMEM_REMOTE_TRANSPORT", "@(ib*|gpunetio)", NULL, false, RD_JOB_ASKED_RDMA, NULL },
	{ "MORI_RDMA_DEVICES", "[!^]*", "libmori", false, RD_JOB_ASKED_RDMA, NULL },
	{ "UCCL_IB_HCA", "[!^]*", "lib*uccl", false, RD_JOB_ASKED_RDMA, NULL },
	{ "MC_FORCE_TCP", "*", NULL, false, RD_JOB_ASKED_TCP, NULL },
	{ "MOONCAKE_PROTOCOL", "rdma", NULL, false, RD_JOB_ASKED_RDMA, NULL },
	{ "MOONCAKE_PROTOCOL", "tcp", NULL, false, RD_JOB_ASKED_TCP, NULL },
};

bool rd_job_maps(const struct rd_job_proc *proc, const char *library)
{
	for (size_t i = 0; i < proc->libs.n; i++) {
		const char *name = strrchr(proc->libs.v[i], '/');
		_cleanup_free_ char *pattern = rd_text("%s*", library);

		if (name && fnmatch(pattern, name + 1, FNM_EXTMATCH) == 0)
			return true;
	}
	return false;
}

static bool fits(const char *value, const char *pattern, bool part)
{
	if (!part)
		return fnmatch(pattern, value, FNM_CASEFOLD | FNM_EXTMATCH) == 0;
	for (const char *at = value; at;) {
		_cleanup_free_ char *each = rd_next_part(&at, ',');

		if (each && fnmatch(pattern, each, FNM_CASEFOLD | FNM_EXTMATCH) == 0)
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

bool rd_job_has_setting(const struct rd_job_proc *proc, const char *pattern)
{
	for (size_t i = 0; i < proc->env.n; i++)
		if (fnmatch(pattern, proc->env.v[i], FNM_CASEFOLD | FNM_EXTMATCH) == 0)
			return true;
	return false;
}

/* What a value of UCX_TLS requests. */
static enum rd_job_asked ucx_asks(const char *value)
{
	bool excludes = *value == '^';

	if (!rd_env_ucx_allows_rdma(value, false))
		return fits(value + excludes, "tcp", true) != excludes ? RD_JOB_ASKED_TCP : RD_JOB_ASKED_NOTHING;
	return excludes || fits(value, "all", true) ? RD_JOB_ASKED_NOTHING : RD_JOB_ASKED_RDMA;
}

/* What uses a library for data although NCCL is mapped: another library that is mapped, or a setting. */
static const struct {
	const char *library, *mapped, *set;
} users[] = {
	{ "libfabric", "lib@(?ccl-net|aws-ofi|plugin_LIBFABRIC)", NULL },
	{ "lib*uccl", "lib?ccl-net", NULL },
	{ "libuc", "lib@(nixl|plugin_UCX)", NULL },
	{ "libuc", NULL, "NCCL_@(PLUGIN_P2P|NET)=UCX*" },
};

/* Settings of MPI, UCX and libfabric say nothing about NCCL, whose traffic is the larger one where it is mapped (nccl-tests are started with
 * btl=tcp), unless one of these carries data, too. */
static bool is_beside_nccl(const struct rd_job_proc *proc, const char *library)
{
	if (!library || strncmp(library, "lib?ccl", 7) == 0 || !rd_job_maps(proc, "lib?ccl.so"))
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(users); i++)
		if (strcmp(users[i].library, library) == 0 &&
		    (users[i].mapped ? rd_job_maps(proc, users[i].mapped) : rd_job_has_setting(proc, users[i].set)))
			return false;
	return true;
}

/* A process that uses accelerators and maps no library of any stack can have NCCL inside of its program. */
static bool has_library(const struct rd_job_proc *proc, const char *library, bool perhaps)
{
	if (rd_job_maps(proc, library))
		return true;
	return perhaps && (proc->here || !rd_job_knows(proc, "maps") ||
			   (strcmp(library, "lib?ccl") == 0 &&
			    (rd_job_count_open(proc, "nvidia") || rd_job_count_open(proc, "kfd")) &&
			    !rd_job_maps(proc, "lib@(?ccl|uc|fabric|mpi|nvshmem|mooncake)")));
}

/* A row without effect ends the rows of its variable. */
static void find_request(struct rd_job_view *view)
{
	const struct rd_job_proc *proc = view->proc;
	const char *done = "";

	for (size_t i = 0; i < RD_ARRAY_SIZE(rows) && !view->asked; i++) {
		const char *variable = find_variable(proc, rows[i].name),
			   *value = variable ? variable + strlen(rows[i].name) + 1 : NULL;

		if (!variable || strcmp(done, rows[i].name) == 0 ||
		    !(rows[i].value ? fits(value, rows[i].value, rows[i].part) : ucx_asks(value) == rows[i].asks))
			continue;
		if (rows[i].library && !has_library(proc, rows[i].library, rows[i].asks != RD_JOB_ASKED_NOTHING))
			continue;
		if ((rows[i].with && !rd_job_has_setting(proc, rows[i].with)) || is_beside_nccl(proc, rows[i].library))
			continue;
		done = rows[i].name;
		view->asked = rows[i].asks;
		view->asked_by = rows[i].asks ? variable : NULL;
	}
}

/* What a stack loads when it starts to use RDMA, or to look for it: any one of these. Sources: NCCL 2.30 (misc/ibvsymbols.cc, plugin/net.cc),
 * UCX 1.19 (ucs/sys/module.c), Open MPI 5 (mca/pml/ucx, mca/mtl/ofi). */
static const struct {
	const char *stack, *loads; /* beginnings of file names, shell patterns */
	uint32_t driver;	   /* if all devices are of this driver (enum rdma_driver_id); 0: of any */
	const char *text, *fix;
	const char *set; /* if this is set: a shell pattern; NULL: in any case */
} stacks[] = {
	{ "lib?ccl.so", "lib@(?ccl-net|aws-ofi)", 17,
	  "it has loaded no plugin of NCCL for EFA, which NCCL cannot use by itself",
	  "# install aws-ofi-nccl in its root, and add its directory to LD_LIBRARY_PATH", NULL },
	{ "lib?ccl.so", "lib@(ibverbs.so|?ccl-net|aws-ofi)", 0,
	  "NCCL has not loaded libibverbs, which it does when it starts",
	  "# NCCL_DEBUG=INFO shows why; libibverbs.so.1 has to be where ldconfig -p or LD_LIBRARY_PATH of the process finds it",
	  NULL },
	{ "libucp.so", "libuct_ib", 0, "UCX has not loaded libuct_ib, its transports over RDMA",
	  "# install UCX's libuct_ib (Red Hat: the package ucx-ib); ucx_info -d in its root lists the devices that it finds",
	  NULL },
	{ "libmpi.so", "lib@(ucp.so|fabric.so|psm|ibverbs)", 0, "OMPI_MCA_pml=ob1 leaves out UCX and libfabric",
	  "# OMPI_MCA_pml=ucx (or cm, for libfabric)", "OMPI_MCA_pml=ob1" },
	{ "libmpi.so", "lib@(ucp.so|fabric.so|psm|ibverbs)", 0,
	  "its MPI has loaded none of UCX, libfabric and libibverbs",
	  "# use an MPI that is built with UCX or libfabric: of Open MPI, ompi_info lists \"pml: ucx\" or \"mtl: ofi\"; it takes UCX by "
	  "itself only for devices mlx*, for others with OMPI_MCA_pml=ucx",
	  NULL },
};

/* The row of the stack whose traffic is the largest, if that has not loaded what it needs; -1: it has, or none is mapped. */
static int find_missing(const struct rd_job_input *in, const struct rd_job_proc *proc)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(stacks) && rd_job_knows(proc, "maps"); i++) {
		bool applies = rd_job_maps(proc, stacks[i].stack) &&
			       (!stacks[i].set || rd_job_has_setting(proc, stacks[i].set));

		for (size_t k = 0; k < in->kernel->n && stacks[i].driver; k++)
			applies &= in->kernel->v[k].driver.known == RD_OK &&
				   in->kernel->v[k].driver.v == stacks[i].driver;
		if (applies)
			return rd_job_maps(proc, stacks[i].loads) ? -1 : (int)i;
	}
	return -1;
}

/* From here on TCP carries data: a rendezvous, the exchange of addresses and health checks of large jobs take less. */
#define BULK (UINT64_C(16) << 20)

/* Libraries that create queue pairs which the kernel does not list (proc.c). */
#define HIDERS "@(libdoca_|libnccl-gin|libuct_ib_mlx5|nvshmem_transport_ibgda)"

/* What decides, counted. */
struct traffic {
	bool qps_known, hidden;
	size_t connected; /* queue pairs that carry data */
	size_t datagram;  /* of these, unconnected ones: stacks also set up connections over them */
	bool connecting;  /* there are others, not yet connected */
};

static struct rd_job_nic *nic_of(struct rd_job_view *view, const char *ibdev, uint32_t port)
{
	for (size_t i = 0; i < view->n_nics; i++)
		if (strcmp(view->nics[i].ibdev, ibdev) == 0 && view->nics[i].port == port)
			return &view->nics[i];
	*RD_ADD(view->nics, view->n_nics, view->cap_nics) = (struct rd_job_nic){ .ibdev = ibdev, .port = port };
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

bool rd_job_is_apart(const struct rd_job_input *in, const struct rd_job_proc *proc)
{
	const struct rd_res *res = in->qps ? in->qps->res : NULL;

	return proc->net_other && !(res && res->netns_shared.known == RD_OK && res->netns_shared.v);
}

static void count_qps(const struct rd_job_input *in, struct rd_job_view *view, struct traffic *traffic)
{
	const struct rd_job_proc *proc = view->proc;
	const struct rd_res *res = in->qps ? in->qps->res : NULL;

	traffic->qps_known = res && rd_job_knows(proc, "net") && !rd_job_is_apart(in, proc);
	for (size_t d = 0; res && d < res->n_devs; d++) {
		traffic->qps_known &= rd_res_is_whole(&res->devs[d], RD_RES_QP);
		traffic->hidden |= rd_res_dev_hides_qps(&res->devs[d]);
	}
	traffic->hidden &= view->contexts > 0 && (!rd_job_knows(proc, "maps") || rd_job_maps(proc, HIDERS));
	for (size_t i = 0; res && i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (qp->owner.pid.known != RD_OK || qp->owner.pid.v != proc->pid || qp->owner.kernel)
			continue;
		if (qp->state.known == RD_OK && qp->state.v >= RD_QPS_RTR && qp->state.v <= RD_QPS_SQD) {
			traffic->connected++;
			traffic->datagram += qp->type.known == RD_OK && qp->type.v == RD_QPT_UD;
			add_qp(view, in->qps, i);
		} else if (qp->state.known == RD_OK && qp->state.v < RD_QPS_RTR) {
			traffic->connecting = true;
		}
	}
}

/* Whether an address is one of its network namespace, or loopback. */
static bool is_local(const struct rd_job_proc *proc, const uint8_t ip[16])
{
	static const uint8_t mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 }, loopback[16] = { [15] = 1 };

	for (size_t i = 0; i < proc->n_addrs; i++)
		if (memcmp(proc->addrs[i].remote, ip, 16) == 0)
			return true;
	return memcmp(ip, mapped, sizeof(mapped)) == 0 || memcmp(ip, loopback, sizeof(loopback)) == 0;
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

		if (is_local(proc, proc->tcp[i].remote)) {
			sockets->local_bytes += bytes;
			continue;
		}
		sockets->connections++;
		sockets->bytes += bytes;
		if (is_qp_peer(view, proc->tcp[i].remote))
			sockets->to_qp_peers += bytes;
	}
}

/* Whether all processes of its job run on this host, by the variables that launchers set. `local`: how many of them; NULL: `all` counts hosts. */
static bool stays_here(const struct rd_job_proc *proc)
{
	static const struct {
		const char *all, *local;
	} counts[] = {
		{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE" }, /* Open MPI */
		{ "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE" },
		{ "PMI_SIZE", "MPI_LOCALNRANKS" }, /* MPICH, Intel MPI: hydra */
		{ "SLURM_STEP_NUM_NODES", NULL },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(counts); i++) {
		const char *all = find_variable(proc, counts[i].all),
			   *local = counts[i].local ? find_variable(proc, counts[i].local) : "=1";

		if (all && local)
			return strcmp(strchr(all, '='), strchr(local, '=')) == 0;
	}
	return false;
}

static bool uses_host(const struct rd_job_view *view)
{
	return view->proc->segments.n > 0 || view->sockets.local_bytes >= BULK;
}

static enum rd_job_verdict decide(const struct rd_job_view *view, const struct traffic *traffic)
{
	const struct rd_job_sockets *sockets = &view->sockets;

	if (traffic->connected && traffic->datagram == traffic->connected) {
		if (!sockets->known || sockets->bytes >= BULK || traffic->connecting)
			return RD_JOB_CANNOT_TELL;
		if (uses_host(view))
			return stays_here(view->proc) ? RD_JOB_HOST : RD_JOB_CANNOT_TELL;
	}
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
	return uses_host(view) ? RD_JOB_HOST : RD_JOB_IDLE;
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

/* Whether it did not even try RDMA: each library that uses it maps libibverbs. */
static bool has_no_verbs(const struct rd_job_view *view)
{
	return !view->proc->here && view->contexts == 0 && rd_job_knows(view->proc, "maps") &&
	       !rd_job_maps(view->proc, "libibverbs");
}

static const char *unknown_text(const struct rd_job_view *view, const struct traffic *traffic)
{
	if (!view->proc->looked)
		return "it could not be read within ten seconds, or has ended";
	if (traffic->connecting && traffic->connected)
		return "of its queue pairs only those of type UD are ready, which may only set up connections";
	if (traffic->connected && view->sockets.known && view->sockets.bytes < BULK)
		return "all its queue pairs are of type UD, which may only set up connections, and it shares memory inside the host";
	if (traffic->connected)
		return "all its queue pairs are of type UD, which may only set up connections, and it has traffic over TCP";
	if (!rd_job_knows(view->proc, "fds"))
		return "its open files may not be read by this user";
	if (traffic->hidden)
		return "it has an RDMA device open and a library that creates queue pairs which the kernel does not list (DEVX)";
	if (!traffic->qps_known && view->contexts > 0)
		return "it has an RDMA device open, and its queue pairs cannot be listed from this network namespace";
	return "its TCP connections could not be read";
}

static void add_reason(const struct rd_job_input *in, struct rd_job_view *view, const struct traffic *traffic)
{
	int missing = view->verdict == RD_JOB_TCP ? find_missing(in, view->proc) : -1;
	const char *lacks = missing >= 0       ? stacks[missing].text :
			    has_no_verbs(view) ? "the process maps no libibverbs" :
						 NULL;
	uint64_t bytes = view->sockets.bytes;
	_cleanup_free_ char *amount = bytes >> 30 ? rd_text("%.1f GiB", (double)bytes / (1 << 30)) :
						    rd_text("%" PRIu64 " MiB", bytes >> 20);
	_cleanup_free_ char *qps = qps_text(view, traffic), *usable = usable_text(view), *what = NULL;
	const struct rd_finding *obstacle = view->obstacle;

	switch (view->verdict) {
	case RD_JOB_CANNOT_TELL:
		view->reason = rd_text("%s", unknown_text(view, traffic));
		if (!traffic->qps_known && rd_job_is_apart(in, view->proc))
			view->fix = rd_text("nsenter -t %u -n rdmadiag job %u", view->proc->pid, view->proc->pid);
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
	if (view->asked == RD_JOB_ASKED_TCP && !(view->proc->here && obstacle && obstacle->severity == RD_SEV_CRITICAL))
		view->reason = rd_text("%sset by %s", what, view->asked_by);
	else if (obstacle)
		view->reason = rd_text("%s%s: %s", what, obstacle->subject, obstacle->observed);
	else if (view->able.known != RD_OK)
		view->reason = rd_text("%swhether it can use RDMA is unknown", what);
	else
		view->reason = rd_text("%s%s%s%s%s%s", what, usable, view->asked_by ? ", and is requested by " : "",
				       view->asked_by ?: "", lacks ? "; but " : "", lacks ?: "");
	if (missing >= 0 && !obstacle && view->asked != RD_JOB_ASKED_TCP)
		view->fix = rd_dup(stacks[missing].fix);
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
	rd_job_judge_ability(in, view);
	count_qps(in, view, &traffic);
	count_sockets(view);
	view->verdict = decide(view, &traffic);
	view->severity = severity_of(view);
	add_reason(in, view, &traffic);
	if (view->severity >= RD_SEV_WARNING && view->obstacle)
		view->fix = rd_dup_if(view->obstacle->fix);
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
