/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/programs.h"

#include <string.h>

static const char *const launchers[] = {
	"slurmd",  "pbs_mom", "sge_execd", "lim",    "sbatchd",	      "kubelet",       "containerd",
	"dockerd", "crio",    "podman",	   "raylet", "htcondor_star", "condor_startd", "flux-broker-0",
};

/* Daemons that have a connection, and files for it, per client. */
static const char *const servers[] = {
	"ceph-osd",    "ceph-mon",	 "ceph-mds",	"ceph-mgr", "glusterfsd",
	"daos_engine", "beegfs-storage", "beegfs-meta", "nvmf_tgt", "spdk_tgt",
};

static const char *const common[] = {
	"systemd",
	"init",
	"sh",
	"bash",
	"sshd",
	"slurmstepd",
	"srun",
	"mpirun",
	"mpiexec",
	"prted",
	"orted",
	"python",
	"python3",
	"torchrun",
	"opensm",
	"containerd-shim",
	"runc",
	"nvidia-smi",
	"nv-hostengine",
	"dcgmi",
	"ib_write_bw",
	"ib_read_bw",
	"ib_send_bw",
	"rping",
	"ibv_rc_pingpong",
	"ibv_ud_pingpong",
	"ucx_perftest",
	"all_reduce_perf",
};

static bool is_one_of(const char *comm, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i], comm) == 0)
			return true;
	return false;
}

bool rd_program_starts_jobs(const char *comm)
{
	return is_one_of(comm, launchers, RD_ARRAY_SIZE(launchers));
}

bool rd_program_serves_storage(const char *comm)
{
	return is_one_of(comm, servers, RD_ARRAY_SIZE(servers));
}

bool rd_program_is_common(const char *comm)
{
	return rd_program_starts_jobs(comm) || rd_program_serves_storage(comm) ||
	       is_one_of(comm, common, RD_ARRAY_SIZE(common));
}
