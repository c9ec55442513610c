/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data/counters as it is shipped, for tests of what follows from it. */
#ifndef COUNTER_TABLE_H
#define COUNTER_TABLE_H

#include "analyse/shared/meaning.h"

/* No line of it may be invalid. rd_meanings_deinit afterwards. */
void counter_table_read(struct rd_meanings *ret);

#endif
