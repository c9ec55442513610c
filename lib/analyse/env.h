/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that make the libraries use the compute NICs. Pure. */
#ifndef RD_ANALYSE_ENV_H
#define RD_ANALYSE_ENV_H

#include "model/nicmap.h"

/* Only what can be said: no GID index where ports differ in it, no interface where no default route is known. Nothing at
 * all without an active compute NIC. 0 or -ENOMEM. */
int rd_env_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_env *ret);

/* The interface that reaches other hosts: it has the default route; its master where it is bound. NULL if none is known. */
const char *rd_env_front_end(const struct rd_host *host);

#endif
