/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures that are expected from healthy programs. */
#ifndef RD_ANALYSE_BENIGN_H
#define RD_ANALYSE_BENIGN_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

/*
 * Why a settled event is benign (static text), or NULL if it is not. Each rule of the table in benign.c is as specific
 * as the record allows: the call, the errno, the origin, and what else distinguishes it from a real failure. An event with unknown
 * origin is never benign.
 */
const char *rd_benign_reason(const struct rd_event *event, const struct rd_fnset *set);

/* The same for a row of the kernel's counts: true only if call, errno and origin are sufficient to make all of its events
 * benign. */
bool rd_benign_count(const struct rd_count *count, const struct rd_fnset *set);

/* The rules as keys for the BPF programs: verb, errno and origin of each function of the set that a rule names. Caller frees
 * *ret. */
size_t rd_benign_list(const struct rd_fnset *set, struct rd_benign_rule **ret);

#endif
