/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of counters: data/counters, and what a site adds. */
#ifndef RD_CMD_MEANINGS_H
#define RD_CMD_MEANINGS_H

#include "analyse/shared/meaning.h"

/* Invalid lines, and files that cannot be read, go to `errors`; -errno with `err` filled if one of the latter is missing in
 * `ret`. */
int rd_read_meanings(struct rd_meanings *ret, struct rd_errlist *errors, struct rd_err *err);

#endif
