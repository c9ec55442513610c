/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the kernel functions to trace from the loaded modules, independent of the driver. */
#ifndef RD_TRACE_SELECT_H
#define RD_TRACE_SELECT_H

#include "base/err.h"
#include "model/trace/fnset.h"
#include "source/shared/source.h"

/*
 * Fills *ret with the functions of the loaded RDMA modules (ib_core and all that depend on it), and those functions of the core
 * drivers below them that are reachable from a verb. Reads module files, BTF and section addresses; if the file of a module is
 * missing or of a different build, kallsyms and available_filter_functions. Sources that are not readable, and the consequence,
 * go to `notes` (may be NULL).
 *
 * -ENODEV: no RDMA module is loaded. On success the caller frees *ret with rd_fnset_deinit.
 */
int rd_select(struct rd_source *src, struct rd_fnset *ret, struct rd_errlist *notes, struct rd_err *err);

/* The loaded RDMA modules that the set does not have, or that were loaded again since it was selected. The caller deinitialises *ret.
 * 0 or -errno with err filled. */
int rd_select_news(struct rd_source *src, const struct rd_fnset *set, struct rd_names *ret, struct rd_err *err);

#endif
