/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of a workload manager that a cgroup belongs to. */
#ifndef RD_COLLECT_JOB_H
#define RD_COLLECT_JOB_H

#include "base/base.h"

/*
 * From a cgroup's path:
 *     slurm:42.0 slurm:42.batch slurm:42    Slurm, cgroup v1 (/slurm/uid_1000/job_42/step_0) and v2
 *                                           (/system.slice/slurmstepd.scope/job_42/step_0), also with the node's name
 *     kubernetes:<pod uid>                  Kubernetes, cgroupfs and systemd drivers, any container runtime inside
 * If Slurm runs inside a pod, the Slurm job is returned. NULL: no job, path NULL, or out of memory. Caller frees.
 */
char *rd_job_from_cgroup(const char *path);

#endif
