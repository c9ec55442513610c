/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions a piece of work calls, and how often, by the kernel's own function tracer. */
#ifndef BENCH_HITS_H
#define BENCH_HITS_H

#include "model/trace/fnset.h"

/* Does `work` 20 times and returns calls per time for each selected function of the set; caller frees. */
#define HITS_TIMES 20
unsigned *hits_count(const struct rd_fnset *set, void (*work)(void *arg), void *arg);

#endif
