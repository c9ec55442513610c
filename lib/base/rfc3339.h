/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_RFC3339_H
#define RD_RFC3339_H

#include "base/base.h"

#define RD_RFC3339_SIZE 48

/* "2026-01-31T23:59:59.123456Z" of ns since the epoch. 0, or -EOVERFLOW for a time out of range, with "" in
 * `ret`. */
int rd_rfc3339(uint64_t ns, char ret[RD_RFC3339_SIZE]);

/* The reverse: ns since the epoch; 0: not such a text, or NULL. */
uint64_t rd_rfc3339_parse(const char *text);

#endif
