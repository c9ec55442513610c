/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of counters: data/counters and the files of the site. */
#ifndef RD_CMD_MEANINGS_H
#define RD_CMD_MEANINGS_H

#include "analyse/shared/meaning.h"

/* Invalid lines and unreadable files are added to `errors`; -errno with `err` filled if a file could not be read. */
int rd_read_meanings(struct rd_meanings *ret, struct rd_errlist *errors, struct rd_err *err);

#endif
