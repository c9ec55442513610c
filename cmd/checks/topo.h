/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of topo-check share. */
#ifndef RD_CMD_TOPO_H
#define RD_CMD_TOPO_H

#include "checks.h"
#include "cmd/repeat.h"

#define TOPO_INTERVAL 5 /* seconds, where none was said */

struct topo_opts {
	bool list, live, learn;
	const char *explain, *only, *skip, *profile;
	bool severity_set;
	enum rd_severity severity; /* the least that is shown and counted */
	unsigned long pid;	   /* 0: none */
	struct rd_repeat repeat;
};

/* Which rules --only and --skip leave: `ret` has room for rd_n_checks. -EINVAL with err filled for a name that is none. */
int topo_choose(const struct topo_opts *opts, bool *ret, struct rd_err *err);

/* Fills err with a name that an option has and that is no rule's, and the nearest one; -EINVAL. */
int topo_no_such_rule(const char *option, const char *id, struct rd_err *err);

/* Reads, runs the chosen rules, fills the report and its status. -errno with err filled; `checks` to be released in any
 * case. */
int topo_look(const struct rd_ctx *ctx, const bool *chosen, struct checks *checks, struct rd_err *err);

/* --learn: writes what this host is as a profile, to standard output or a file (NULL: none). An exit code. */
int topo_learn(struct rd_ctx *ctx, const char *path);

/* "topo-check: 1 failure, 2 warnings, 9 unknown, 61 passed, 14 not applicable" */
void topo_headline(const struct checks *checks, struct rd_buf *out);

/* For people: what is wrong, why, what to do; then what could not be told. With `all` also what passed. */
void topo_text(const struct rd_ctx *ctx, const struct checks *checks, struct rd_buf *out);

/* --live; an exit code. */
int topo_live(struct rd_ctx *ctx, const bool *chosen);

#endif
