/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a failed call and what the host says about its objects to the cause, with the values that show it. */
#ifndef RD_DIAGNOSE_EXPLAIN_H
#define RD_DIAGNOSE_EXPLAIN_H

#include "model/trace/failure.h"

/* The facts (enum rd_fact) that rules for this errno and request need. */
unsigned rd_explain_needs(const struct rd_failure *failure);

/*
 * Judges with the facts that were read; rules that need others are left out. *ret: the most certain cause, or none, with what was
 * looked at. The caller zeroes it before, and releases it.
 */
void rd_explain_failure(const struct rd_failure *failure, struct rd_explanation *ret);

/* The cause and what to do, or what was looked at, on one line; caller frees. NULL: nothing is known. */
char *rd_explain_line(const struct rd_explanation *explanation);

#endif
