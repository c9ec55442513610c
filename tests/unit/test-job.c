/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/shared/cgroup.h"

#define UID "2c48913c-b29f-11e7-9350-020968147796"
#define UID_ "2c48913c_b29f_11e7_9350_020968147796"
#define CID "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"

static void assert_job(const char *path, const char *expected)
{
	_cleanup_free_ char *job = rd_job_from_cgroup(path);

	if (expected) {
		assert_non_null(job);
		assert_string_equal(job, expected);
	} else {
		assert_null(job);
	}
}

TEST(slurm_with_cgroup_v1)
{
	assert_job("/slurm/uid_1000/job_42/step_0/task_0", "slurm:42.0");
	assert_job("/slurm/uid_1000/job_42/step_batch/task_0", "slurm:42.batch");
	assert_job("/slurm/uid_1000/job_42/step_extern", "slurm:42.extern");
	assert_job("/slurm/uid_1000/job_42", "slurm:42");
	assert_job("/slurm_node017/uid_0/job_1234567/step_12", "slurm:1234567.12");
}

TEST(slurm_with_cgroup_v2)
{
	assert_job("/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", "slurm:42.0");
	assert_job("/system.slice/slurmstepd.scope/job_42/step_extern/user/task_special", "slurm:42.extern");
	assert_job("/system.slice/slurmstepd.scope/job_42/step_interactive/slurm", "slurm:42.interactive");
	assert_job("/system.slice/node3_slurmstepd.scope/job_7/step_1/user/task_3", "slurm:7.1");
}

TEST(a_container_inside_of_a_slurm_step)
{
	assert_job("/system.slice/slurmstepd.scope/job_42/step_0/user/task_0/libpod-" CID ".scope", "slurm:42.0");
}

TEST(the_slurm_daemons_themselves_are_no_job)
{
	assert_job("/system.slice/slurmd.service", NULL);
	assert_job("/system.slice/slurmstepd.scope/system", NULL);
	assert_job("/slurm/system", NULL);
	assert_job("/user.slice/job_42/step_0", NULL);
	assert_job("/slurm/uid_1000/job_/step_0", NULL);
	assert_job("/slurm/uid_1000/job_4x/step_0", NULL);
}

TEST(kubernetes_with_cgroupfs)
{
	assert_job("/kubepods/besteffort/pod" UID "/" CID, "kubernetes:" UID);
	assert_job("/kubepods/burstable/pod" UID "/" CID, "kubernetes:" UID);
	assert_job("/kubepods/pod" UID "/" CID, "kubernetes:" UID);
	assert_job("/kubepods/pod" UID "/crio-" CID, "kubernetes:" UID);
	/* kind and k3d: the node is a container itself */
	assert_job("/docker/" CID "/kubelet/kubepods/burstable/pod" UID "/" CID, "kubernetes:" UID);
}

TEST(kubernetes_with_systemd)
{
	assert_job("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" CID
		   ".scope",
		   "kubernetes:" UID);
	assert_job("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" CID ".scope",
		   "kubernetes:" UID);
	assert_job("/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" CID ".scope", "kubernetes:" UID);
	assert_job(
		"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
		".slice/cri-containerd-" CID ".scope",
		"kubernetes:" UID);
	assert_job("/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" CID,
		   "kubernetes:" UID);
}

TEST(a_static_pod_is_named_by_a_hash)
{
	assert_job("/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" CID,
		   "kubernetes:0123456789abcdef0123456789abcdef");
}

TEST(what_only_looks_like_a_pod)
{
	assert_job("/machine.slice/libpod_pod_" CID ".slice", NULL);
	assert_job("/user.slice/pod" UID "/x", NULL);
	assert_job("/kubepods/besteffort/podcast", NULL);
	assert_job("/kubepods/besteffort/pod" UID "0/x", NULL);
	assert_job("/kubepods", NULL);
}

TEST(slurm_wins_inside_of_a_pod)
{
	assert_job("/kubepods/pod" UID "/" CID "/system.slice/slurmstepd.scope/job_42/step_0", "slurm:42.0");
}

TEST(no_job_at_all)
{
	assert_job(NULL, NULL);
	assert_job("", NULL);
	assert_job("/", NULL);
	assert_job("/user.slice/user-1000.slice/session-1.scope", NULL);
	assert_job("/docker/" CID, NULL);
}
