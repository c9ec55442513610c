/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_MOMENT_H
#define RD_COLLECT_MOMENT_H

#include "model/trace/moment.h"

/* Converts the struct rd_rec_moment of bpf/record.h at `data` (of its size, not necessarily aligned). Values out of range are
 * unknown. */
void rd_moment_decode(const void *data, struct rd_moment *ret);

#endif
