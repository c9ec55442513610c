/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_COUNTERS_SAVED_H
#define RD_COLLECT_COUNTERS_SAVED_H

#include "base/err.h"
#include "model/counters/counter.h"

/*
 * A moment out of the JSON of `counters` (what --save writes is the same), which may come from anybody: bounded in size,
 * depth and number. Both outputs are zeroed by the caller, and to be released in any case. -EBADMSG with `err` filled for
 * what is no such document, -EFBIG, -ENOMEM. Values that are null are unknown.
 */
int rd_counters_saved(const char *name, const char *text, size_t size, struct rd_counter_set *set,
		      struct rd_counter_sample *sample, struct rd_err *err);

#endif
