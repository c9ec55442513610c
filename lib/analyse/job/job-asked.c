// SPDX-License-Identifier: GPL-2.0-or-later
/* Variables that decide what carries the traffic of a library. */
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "analyse/job/job.h"
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
void rd_job_ask(struct rd_job_view *view)
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
