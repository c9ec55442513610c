/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bare programs, put on the same functions by the same code as the product's. */
#ifndef BENCH_YARDSTICK_H
#define BENCH_YARDSTICK_H

#include "model/trace/fnset.h"

enum yard_kind {
	YARD_CHECK,
	YARD_RECORD,
	YARD_STACK,
};

struct yardstick;

/* Hooks set->fns[].selected. NULL: this kernel does not take such hooks. */
struct yardstick *yardstick_create(struct rd_fnset *set, enum rd_backend backend, enum yard_kind kind);

/* How many records were sent. */
size_t yardstick_records(struct yardstick *yard);

/* Takes the hooks away; returns when they are gone. */
void yardstick_destroy(struct yardstick *yard);

#endif
