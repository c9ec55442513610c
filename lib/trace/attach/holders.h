/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attached traces of all users of this host, and how to detach them. */
#ifndef RD_TRACE_HOLDERS_H
#define RD_TRACE_HOLDERS_H

#include "model/trace/held.h"
#include "source/shared/source.h"

/*
 * Walks all BPF objects of the host, which requires CAP_SYS_ADMIN: -EPERM with `err` filled means that the attached traces are
 * unknown. Finds only programs with our record; names are not used. The caller frees with rd_held_list_deinit.
 */
int rd_holders_list(struct rd_source *src, struct rd_held_list *ret, struct rd_err *err);

/* Requests the holder to disable its programs and detach its hooks, as at the end of its command. Returns immediately. -EPERM: the
 * trace of another user; -ESRCH: the process has ended or is not visible. */
int rd_holders_detach(struct rd_source *src, const struct rd_held *held, struct rd_err *err);

/* --- for tests --- */

/* The processes of `src` with the name of a holder; caller frees *ret. */
int rd_holders_processes(struct rd_source *src, struct rd_holder_proc **ret, size_t *n, struct rd_err *err);

/* Whether `value`, the contents of a map named RD_HOLD_MAP, is a valid record; copied to `ret`, with NUL-terminated strings. */
bool rd_hold_record_read(const void *value, size_t size, struct rd_hold_record *ret);

/* Whether kernel.bpf_stats_enabled is set; unknown if it is not readable. */
void rd_holders_run_stats(struct rd_source *src, struct rd_held_list *ret);

#endif
