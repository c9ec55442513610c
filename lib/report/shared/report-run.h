/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every report of a run with hooks in the kernel has. */
#ifndef RD_REPORT_RUN_H
#define RD_REPORT_RUN_H

#include "model/trace/fnset.h"
#include "report/shared/report.h"

/* The map "backends": functions hooked, by how. */
struct rd_section *rd_report_backends(const size_t per_backend[RD_BACKEND_COUNT]);

/* A negative errno by name, or by number where it has none. */
void rd_row_errno(struct rd_row *row, size_t column, int err);

#endif
