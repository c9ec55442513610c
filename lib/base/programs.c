/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/programs.h"

#include <string.h>

#include "base/text.h"

static const char launchers[] =
	"slurmd pbs_mom sge_execd lim sbatchd kubelet containerd dockerd crio podman raylet htcondor_star condor_startd "
	"flux-broker-0";

/* Daemons that have a connection, and files for it, per client. */
static const char servers[] = "ceph-osd ceph-mon ceph-mds ceph-mgr glusterfsd daos_engine beegfs-storage beegfs-meta "
			      "nvmf_tgt spdk_tgt";

static const char common[] =
	"systemd init sh bash sshd slurmstepd srun mpirun mpiexec prted orted python python3 torchrun opensm "
	"containerd-shim runc nvidia-smi nv-hostengine dcgmi ib_write_bw ib_read_bw ib_send_bw rping ibv_rc_pingpong "
	"ibv_ud_pingpong ucx_perftest all_reduce_perf";

bool rd_program_starts_jobs(const char *comm)
{
	return rd_is_listed(launchers, comm, strlen(comm));
}

bool rd_program_serves_storage(const char *comm)
{
	return rd_is_listed(servers, comm, strlen(comm));
}

bool rd_program_is_common(const char *comm)
{
	return rd_program_starts_jobs(comm) || rd_program_serves_storage(comm) ||
	       rd_is_listed(common, comm, strlen(comm));
}
