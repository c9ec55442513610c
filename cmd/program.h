/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line: global options, command, exit code. */
#ifndef RD_PROGRAM_H
#define RD_PROGRAM_H

#include "cmd.h"

/* Runs a command line; argv[0] is the name of the program. Returns the exit code. Once per process: options note the files that
 * they need, and privileges may be dropped. */
int rd_program_run(int argc, char **argv);

#endif
