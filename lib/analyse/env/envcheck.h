/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of a set of environment variables on a host. Pure. More than RD_EFFECTS_MAX variables, or values longer than a
 * process can have, are rejected with -E2BIG. */
#ifndef RD_ANALYSE_ENVCHECK_H
#define RD_ANALYSE_ENVCHECK_H

#include "model/nicmap/nicmap.h"

/* Adds "NAME=VALUE", perhaps after "export" and with quotes, if the name belongs to one of the libraries. If a name is
 * set twice, the last value counts. 0 or -E2BIG. */
int rd_effects_take(const char *line, size_t size, struct rd_effects *effects);

/* The same for all entries of a text. Takes ownership of the text in any case; it must have room for a NUL after its end.
 * `separator`: '\n' for shell lines, '\0' for an environment block, which has no quotes. */
int rd_effects_own(struct rd_effects *effects, char *text, size_t size, char separator);

/* Sorts by name and removes duplicates; rd_envcheck calls it, too. */
void rd_effects_sort(struct rd_effects *effects);

/* Needs a sorted set. NULL: not set. */
struct rd_effect *rd_effects_find(const struct rd_effects *effects, const char *name);
const char *rd_effects_get(const struct rd_effects *effects, const char *name);

/* Fills in for each variable what it selects and its effect, and adds faults to `findings`. */
void rd_envcheck(const struct rd_port_views *views, struct rd_effects *effects, struct rd_findings *findings);

#endif
