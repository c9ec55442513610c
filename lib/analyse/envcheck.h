/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a set of variables really selects on a host. Pure. */
#ifndef RD_ANALYSE_ENVCHECK_H
#define RD_ANALYSE_ENVCHECK_H

#include "model/nicmap.h"

/* Whether the variable is one that is looked at here. */
bool rd_envcheck_knows(const char *name);

/* Keeps a copy; the last value of a name counts. 0 or -ENOMEM. */
int rd_effects_set(struct rd_effects *effects, const char *name, const char *value);
const char *rd_effects_get(const struct rd_effects *effects, const char *name);

/* Takes "NAME=VALUE", perhaps behind "export" and with quotes, if the variable is one that is looked at here. 0 or
 * -ENOMEM. */
int rd_effects_take(const char *line, size_t size, struct rd_effects *effects);

/* Fills `selects` of each, and says in `findings` what is wrong with them. 0 or -ENOMEM. */
int rd_envcheck(const struct rd_host *host, struct rd_effects *effects, struct rd_findings *findings);

#endif
