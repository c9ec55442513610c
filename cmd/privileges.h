/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command that is given files of others (bundles, topologies, profiles, logs, lists of variables) parses them without
 * privileges. What it needs of the outside stands in its tables (enum rd_needs); it is opened by a process of its own
 * (source/opener/opener.h). Commands that only read this host and what comes with the program are left as they are.
 */
#ifndef RD_PRIVILEGES_H
#define RD_PRIVILEGES_H

#include "cmd.h"

/* Notes what an option or an operand of the command line needs. `arg`: the file; may be NULL where it is none. */
void rd_privileges_note(enum rd_needs needs, const char *arg);

/* Gives them up if there are foreign files, before the first of those is opened. -errno with `err` filled. */
int rd_privileges_drop(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err);

#endif
