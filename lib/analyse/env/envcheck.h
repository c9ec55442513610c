/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a set of variables really does on a host. Pure. More than RD_EFFECTS_MAX, or longer ones than any process can have,
 * are refused: -E2BIG. */
#ifndef RD_ANALYSE_ENVCHECK_H
#define RD_ANALYSE_ENVCHECK_H

#include "model/nicmap/nicmap.h"

/* Keeps a copy; of a name that is set twice the last value counts. 0 or -E2BIG. */
int rd_effects_set(struct rd_effects *effects, const char *name, const char *value);

/* Takes "NAME=VALUE", perhaps behind "export" and with quotes, if it is of one of the libraries. 0 or -E2BIG. */
int rd_effects_take(const char *line, size_t size, struct rd_effects *effects);

/* The same of all entries of a text, which it takes over in any case; there must be room for a NUL behind it.
 * `separator`: '\n' for lines as a shell has them, '\0' for a block of environment, which knows no quotes. */
int rd_effects_own(struct rd_effects *effects, char *text, size_t size, char separator);

/* Puts them in order, each once; rd_envcheck does it, too. */
void rd_effects_sort(struct rd_effects *effects);

/* Of what is in order. NULL: it is not set. */
struct rd_effect *rd_effects_find(const struct rd_effects *effects, const char *name);
const char *rd_effects_get(const struct rd_effects *effects, const char *name);

/* Says of each what it selects and comes to, and in `findings` what is wrong with them. */
void rd_envcheck(const struct rd_port_views *views, struct rd_effects *effects, struct rd_findings *findings);

#endif
