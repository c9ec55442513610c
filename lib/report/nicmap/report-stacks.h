/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_STACKS_H
#define RD_REPORT_STACKS_H

#include "model/nicmap/nicmap.h"
#include "report/shared/report.h"

/* Fills nic-map's `assignment`: from cell `first` on, per stack: choices, unused ports, note. */
#define RD_STACK_CELLS 3
void rd_report_stacks_set(struct rd_row *row, size_t first, const struct rd_host *host, const struct rd_nicmap *map);

/* Section stacks as rows for a table: stack, memory, NICs, GID index, transport. */
void rd_report_stacks(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *map);

/* A list of {library, release}: the sources of the rules. */
struct rd_section *rd_report_library_rules(void);

#endif
