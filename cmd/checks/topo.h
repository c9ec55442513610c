/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of topo-check. */
#ifndef RD_CMD_TOPO_H
#define RD_CMD_TOPO_H

#include "checks.h"
#include "cmd/repeat.h"

#define TOPO_INTERVAL 5 /* seconds, the default of --interval */

struct topo_opts {
	bool list, live, learn;
	const char *devices; /* see rd_selection_make; NULL: all */
	const char *explain, *only, *skip, *profile;
	bool severity_set;
	enum rd_severity severity; /* the least severe level that is shown and counted */
	unsigned long pid;	   /* 0: none */
	struct rd_repeat repeat;
};

/* The rules selected by --only and --skip; `ret` has space for rd_n_checks. -EINVAL with err filled for an unknown name. */
int topo_choose(const struct topo_opts *opts, bool *ret, struct rd_err *err);

/* Fills err for an option with an unknown rule, with the most similar name as hint; -EINVAL. */
int topo_no_such_rule(const char *option, const char *id, struct rd_err *err);

/* Reads, runs the chosen rules, fills the report and its status. -errno with err filled; `checks` is to be released in any
 * case. */
int topo_judge(const struct rd_ctx *ctx, const bool *chosen, struct checks *checks, struct rd_err *err);

/* --learn: writes a profile of this host to a file (NULL: standard output). Returns an exit code. */
int topo_learn(struct rd_ctx *ctx, const char *path);

/* --live. Returns an exit code. */
int topo_live(struct rd_ctx *ctx, const bool *chosen);

#endif
