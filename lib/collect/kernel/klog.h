/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_KLOG_H
#define RD_COLLECT_KLOG_H

#include "base/err.h"
#include "model/host/klog.h"
#include "source/shared/source.h"

/*
 * Reads the kernel log from /dev/kmsg. Returns 0 or -ENOMEM. For a log that is not readable it returns 0, sets klog->known, and adds
 * the reason to `errors` (may be NULL). `klog` is zeroed by the caller, which must release it in any case.
 */
int rd_collect_klog(struct rd_source *src, struct rd_klog *klog, struct rd_errlist *errors, struct rd_err *err);

/*
 * Parses records of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): a line "level and facility, sequence number, microseconds,
 * flags;text", then lines " KEY=value". Takes ownership of `bytes`. Ignores lines that are not records.
 * 0 or -ENOMEM.
 */
int rd_klog_parse(struct rd_bytes *bytes, struct rd_klog *klog);

#endif
