/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of data/ inside the program, so that it can be copied to a host alone. */
#ifndef RD_CMD_BUILTIN_H
#define RD_CMD_BUILTIN_H

#include "source/shared/source.h"

/* A copy of the table called `name`, which the caller frees. False: there is none. */
bool rd_builtin_table(const char *name, struct rd_bytes *ret);

#endif
