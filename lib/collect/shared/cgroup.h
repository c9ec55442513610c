/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cgroup a process is or was in. */
#ifndef RD_COLLECT_CGROUP_H
#define RD_COLLECT_CGROUP_H

#include "source/shared/source.h"

struct rd_cgroups; /* a bounded memory of ids and their paths */

/* `src` must outlive it. -ENOMEM. */
int rd_cgroups_create(struct rd_source *src, struct rd_cgroups **ret);
void rd_cgroups_destroy(struct rd_cgroups *cgroups);

/*
 * Path below the hierarchy's mount ("/user.slice/…"; caller frees) of process `pid` (as the initial pid namespace
 * numbers it), whose cgroup in the unified hierarchy had the id `id` (0: not known). On hosts with v1 hierarchies, where
 * the unified one says nothing, the path in a v1 hierarchy that job managers use. NULL: not known, because the process
 * has gone and its cgroup with it, or its number means nothing in our pid namespace.
 */
char *rd_cgroups_path(struct rd_cgroups *cgroups, uint32_t pid, uint64_t id);

/* The other way round; `path` may have the hierarchy's mount before it. -ENOTSUP without a unified hierarchy. */
int rd_cgroups_id(struct rd_cgroups *cgroups, const char *path, uint64_t *ret, struct rd_err *err);

/* Does /proc, as we see it, number processes as the initial pid namespace does? */
bool rd_cgroups_initial_pids(const struct rd_cgroups *cgroups);

/* Picks the path out of the text of /proc/PID/cgroup: of a v1 controller that job managers use if it is not at its root,
 * else the unified hierarchy's, else systemd's. Returns its length, 0 if there is none; *ret points into `text`. */
size_t rd_cgroup_parse(const char *text, const char **ret);

#endif
