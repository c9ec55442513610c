/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environment variables that make the libraries use the compute NICs. Pure. */
#ifndef RD_ANALYSE_ENV_H
#define RD_ANALYSE_ENV_H

#include "base/err.h"
#include "model/nicmap/nicmap.h"

/* Fills what can be determined: no GID index if ports differ in it, no interface if no default route is known, nothing at all if
 * rd_env_refused. */
void rd_env_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_env *ret);

/* True if no variables can be determined, because roles are uncertain or no compute port is active; `err` (may be NULL) names the
 * port and the reason. */
bool rd_env_refused(const struct rd_port_views *views, struct rd_err *err);

/* True if the variables select this port: a compute port, active, with a known device name and port number. */
bool rd_env_wants(const struct rd_port_views *views, size_t port);
/* The GID index to use, if it is the same on all selected ports; -1 if they differ, or are not RoCE. */
int rd_env_gid_index(const struct rd_port_views *views);

#endif
