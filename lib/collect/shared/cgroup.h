/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup of a process, even after it has ended. */
#ifndef RD_COLLECT_CGROUP_H
#define RD_COLLECT_CGROUP_H

#include "source/shared/source.h"

struct rd_cgroups; /* a bounded cache of ids and paths */

/* `src` must outlive it. */
struct rd_cgroups *rd_cgroups_create(struct rd_source *src);
void rd_cgroups_destroy(struct rd_cgroups *cgroups);

/*
 * Path relative to the mount of the hierarchy ("/user.slice/…"; caller frees) of process `pid` (0: not
 * visible in our pid namespace), whose cgroup in the unified hierarchy had the id `id` (0: unknown). On hosts with v1 hierarchies, where the unified
 * one is not used for jobs, the path in a v1 hierarchy that job managers use. NULL: unknown, because process and cgroup no longer
 * exist, or the pid is not valid in our pid namespace.
 */
char *rd_cgroups_path(struct rd_cgroups *cgroups, uint32_t pid, uint64_t id);

/* The id of a cgroup; `path` may be prefixed with the mount of the hierarchy. -ENOTSUP without a unified hierarchy. */
int rd_cgroups_id(struct rd_cgroups *cgroups, const char *path, uint64_t *ret, struct rd_err *err);

/* Finds the path in the text of /proc/PID/cgroup: of a v1 controller that job managers use, unless it is the root; else of the
 * unified hierarchy; else of systemd. Returns its length, 0 if there is none; *ret points into `text`. */
size_t rd_cgroup_parse(const char *text, const char **ret);

/* ---- the job of a workload manager that a cgroup belongs to */

/*
 * From a cgroup's path:
 *     slurm:42.0 slurm:42.batch slurm:42    Slurm, cgroup v1 (/slurm/uid_1000/job_42/step_0) and v2
 *                                           (/system.slice/slurmstepd.scope/job_42/step_0), also with the node's name
 *     kubernetes:<pod uid>                  Kubernetes, cgroupfs and systemd drivers, any container runtime inside
 * If Slurm runs inside a pod, the Slurm job is returned. NULL: no job, path NULL, or out of memory. Caller frees.
 */
char *rd_job_from_cgroup(const char *path);

#endif
