/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_TEXT_H
#define RD_ANALYSE_TEXT_H

#include "base/base.h"

/* A new string made by printf; NULL when out of memory. Caller frees. */
char *rd_text(const char *fmt, ...) RD_PRINTF(1, 2);

#endif
