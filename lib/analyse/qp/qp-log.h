/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which queue pair a line of the kernel log is about. */
#ifndef RD_ANALYSE_QP_LOG_H
#define RD_ANALYSE_QP_LOG_H

#include "model/host/klog.h"
#include "model/rdma/qp-view.h"

/* What the line says of why the queue pair failed: RETRIES, RNR, or nothing of that kind. */
enum rd_qp_cause rd_qp_log_cause(const char *text);

/* The completion status that the line tells ("error status = 12"), as libibverbs numbers and names it; NULL: none. */
const char *rd_qp_log_status(const char *text);

/*
 * The last line of each queue pair's: ret[i] is of views->v[i] (n_qps entries, NULL: none). A line belongs to a queue pair
 * if it names its device and its number. Numbers are used again, so a line does not count that is older than the
 * state that the queue pair is in, where that is known; `mono_ns` is now.
 */
void rd_qp_log_join(const struct rd_klog *klog, const struct rd_qp_views *views, uint64_t mono_ns,
		    const struct rd_krecord **ret);

#endif
