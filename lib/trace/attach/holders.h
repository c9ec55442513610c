/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traces of this host, whoever runs them: what is attached, and how to have it taken away. */
#ifndef RD_TRACE_HOLDERS_H
#define RD_TRACE_HOLDERS_H

#include "model/trace/held.h"
#include "source/shared/source.h"

/*
 * All BPF objects of the host are walked, which the kernel lets only CAP_SYS_ADMIN do: -EPERM with `err` filled means that it
 * is not known what is attached. Of programs only those count that carry our record, whatever the names of others are.
 * Caller: rd_held_list_deinit.
 */
int rd_holders_list(struct rd_source *src, struct rd_held_list *ret, struct rd_err *err);

/* Asks the holder to switch its programs off and to let go, as the end of its command would. Returns at once; -EPERM: another
 * user's; -ESRCH: there is no such process any more, or none that can be seen. */
int rd_holders_ask(struct rd_source *src, const struct rd_held *held, struct rd_err *err);

/* --- for tests --- */

/* The processes of `src` that call themselves holders; caller frees *ret. */
int rd_holders_processes(struct rd_source *src, struct rd_holder_proc **ret, size_t *n, struct rd_err *err);

/* Whether `value`, the contents of a map called RD_HOLD_MAP, is a record of ours; then in `ret`, with texts that end. */
bool rd_hold_record_read(const void *value, size_t size, struct rd_hold_record *ret);

/* Whether kernel.bpf_stats_enabled is set; unknown where it cannot be read. */
void rd_holders_run_stats(struct rd_source *src, struct rd_held_list *ret);

#endif
