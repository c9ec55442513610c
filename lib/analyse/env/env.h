/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that make the libraries use the compute NICs. Pure. */
#ifndef RD_ANALYSE_ENV_H
#define RD_ANALYSE_ENV_H

#include "base/err.h"
#include "model/nicmap/nicmap.h"

/* Only what can be said: no GID index where ports differ in it, no interface where no default route is known. Nothing at
 * all where rd_env_refused. */
void rd_env_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_env *ret);

/* Whether no variables can be said, because roles are not certain or nothing for computing is up; `err` (may be NULL) says
 * of which port and why. */
bool rd_env_refused(const struct rd_port_views *views, struct rd_err *err);

/* Whether the port is one that the variables select: for computing, active, known by name and number. */
bool rd_env_wants(const struct rd_port_views *views, size_t port);
/* The index of the GID to use, if all of these ports have the same one; -1 if they differ, or are not RoCE. */
int rd_env_gid_index(const struct rd_port_views *views);

#endif
