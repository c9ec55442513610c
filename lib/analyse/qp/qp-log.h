/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches lines of the kernel log with queue pairs. */
#ifndef RD_ANALYSE_QP_LOG_H
#define RD_ANALYSE_QP_LOG_H

#include "model/host/klog.h"
#include "model/rdma/qp-view.h"

/* The cause of the failure according to the line: RETRIES, RNR or NONE. */
enum rd_qp_cause rd_qp_log_cause(const char *text);

/* The completion status in the line ("error status = 12"), named as in enum ibv_wc_status without IBV_WC_; NULL: none. */
const char *rd_qp_log_status(const char *text);

/*
 * The last line about each queue pair: [i] is for views->v[i] (NULL: no line). NULL: no line about any. A line belongs to a queue
 * pair if it names its device and its number. Numbers are reused, so lines older than the state of the queue pair, where its age is
 * known, or than its process are ignored; `mono_ns` is now. Sets the age of a failed one to that of its only line. Caller frees; the lines are those of `klog`.
 */
const struct rd_krecord **rd_qp_log_join(const struct rd_klog *klog, struct rd_qp_views *views, uint64_t mono_ns);

#endif
