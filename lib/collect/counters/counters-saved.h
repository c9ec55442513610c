/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_COUNTERS_SAVED_H
#define RD_COLLECT_COUNTERS_SAVED_H

#include "base/err.h"
#include "model/counters/counter.h"

/*
 * Reads a set and a sample from the JSON document of `counters` (also written by --save). The input is not trusted: size, depth
 * and number are limited. The caller zeroes both outputs, and releases them in any case. -EBADMSG with `err` filled for any
 * other document, -EFBIG, -ENOMEM. Values that are null are unknown.
 */
int rd_counters_saved(const char *name, const char *text, size_t size, struct rd_counter_set *set,
		      struct rd_counter_sample *sample, struct rd_err *err);

#endif
