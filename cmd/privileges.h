/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command drops its privileges before it parses untrusted files (bundles, topologies, profiles, logs, lists of variables).
 * Its tables list the files that it needs (enum rd_needs); a separate process opens them (source/opener/opener.h). Commands that
 * read only this host and the files of the program keep their privileges.
 */
#ifndef RD_PRIVILEGES_H
#define RD_PRIVILEGES_H

#include "cmd.h"

/* Notes the needs of an option or an operand of the command line. `arg`: the file; may be NULL for other needs. */
void rd_privileges_note(enum rd_needs needs, const char *arg);

/* The time for reading foreign files, in milliseconds; 0: unlimited, as without this call. */
void rd_privileges_limit(unsigned ms);

/* Adds foreign files that were not read in this time to what `guard` has not read. */
void rd_privileges_join(struct rd_source *guard);

/* Before another look at this host: what was read for the last one is forgotten. */
void rd_privileges_renew(void);

/* Drops privileges if there are foreign files, before the first of them is opened. -errno with `err` filled. */
int rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err);
/* With -v: what is left of them. Comes behind the output. */
void rd_privileges_say(const struct rd_ctx *ctx);

#endif
