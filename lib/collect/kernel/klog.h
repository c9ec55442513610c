/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_KLOG_H
#define RD_COLLECT_KLOG_H

#include "base/err.h"
#include "model/host/klog.h"
#include "source/shared/source.h"

/*
 * Reads the kernel log from /dev/kmsg. For a log that is not readable it sets klog->known, and adds the reason to `errors` (may be
 * NULL). `klog` is zeroed by the caller, which must release it in any case.
 */
void rd_collect_klog(struct rd_source *src, struct rd_klog *klog, struct rd_errlist *errors);

/*
 * Parses records of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): a line "level and facility, sequence number, microseconds,
 * flags;text", then lines " KEY=value". Takes ownership of `bytes`. Ignores lines that are not records.
 */
void rd_klog_parse(struct rd_bytes *bytes, struct rd_klog *klog);

#endif
