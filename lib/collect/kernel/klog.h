/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_KLOG_H
#define RD_COLLECT_KLOG_H

#include "base/err.h"
#include "model/host/klog.h"
#include "source/shared/source.h"

/*
 * The kernel log by way of /dev/kmsg. Where it may not be read, klog->known says so and `errors` (may be NULL) has the
 * reason: that is no failure. 0 or -ENOMEM. `klog` is zeroed by the caller, and to be released in any case.
 */
int rd_collect_klog(struct rd_source *src, struct rd_klog *klog, struct rd_errlist *errors, struct rd_err *err);

/*
 * The one parser of records as /dev/kmsg hands them out (Documentation/ABI/testing/dev-kmsg): a line "level and facility,
 * number, microseconds, flags;text", then lines " KEY=value". Takes `bytes` over. What is no record is passed over.
 * 0 or -ENOMEM.
 */
int rd_klog_parse(struct rd_bytes *bytes, struct rd_klog *klog);

#endif
