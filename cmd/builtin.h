/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of data/, compiled into the program, so that the binary alone can be copied to a host. */
#ifndef RD_CMD_BUILTIN_H
#define RD_CMD_BUILTIN_H

#include "source/shared/source.h"

/* A copy of the table `name`, freed by the caller. False: there is no such table. */
bool rd_builtin_table(const char *name, struct rd_bytes *ret);

#endif
