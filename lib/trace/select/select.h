/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel functions to watch: computed from what is loaded, whoever wrote it. */
#ifndef RD_TRACE_SELECT_H
#define RD_TRACE_SELECT_H

#include "base/err.h"
#include "model/trace/fnset.h"
#include "source/shared/source.h"

/*
 * Fills *ret with the functions of the loaded RDMA modules (ib_core and all that depends on it) and those functions of
 * their vendors' core drivers that a verb leads to. Reads module files, BTF and section addresses; where a module's
 * file is missing or another build's, kallsyms and available_filter_functions instead. What could not be read, and what
 * that loses, goes to `notes` (may be NULL).
 *
 * -ENODEV: no RDMA module is loaded. On success the caller frees *ret with rd_fnset_deinit.
 */
int rd_select(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err);

#endif
