/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by reports of runs with kernel hooks. */
#ifndef RD_REPORT_RUN_H
#define RD_REPORT_RUN_H

#include "model/trace/fnset.h"
#include "report/shared/report.h"

/* The map "backends": hooked functions by backend. */
struct rd_section *rd_report_backends(const size_t per_backend[RD_BACKEND_COUNT]);

/* The name of a negative errno, or its number, written to `digits`, if it has no name. RD_ERRNO has a place for them that lasts as long
 * as the block. */
#define RD_ERRNO_WORD 16
#define RD_ERRNO(err) rd_errno_word(err, (char[RD_ERRNO_WORD]){ 0 })
const char *rd_errno_word(int err, char *digits);

#endif
