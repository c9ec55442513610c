/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures that healthy programs cause by design. */
#ifndef RD_ANALYSE_BENIGN_H
#define RD_ANALYSE_BENIGN_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

/*
 * Why a settled event is benign (static text), or NULL if it is not. Each rule of the table in benign.c is as narrow as
 * the record allows: the call, the errno, the function it came from, and what else is needed to tell the probe from a
 * real failure. An event whose origin is not known is never benign.
 */
const char *rd_benign_reason(const struct rd_event *event, const struct rd_fnset *set);

/* The same for a row of the kernel's counts: true only if call, errno and origin alone make all of its events benign. */
bool rd_benign_count(const struct rd_count *count, const struct rd_fnset *set);

#endif
