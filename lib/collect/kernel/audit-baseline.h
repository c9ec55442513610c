/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The document of trace-errno --audit, which serves as a baseline. */
#ifndef RD_COLLECT_AUDIT_BASELINE_H
#define RD_COLLECT_AUDIT_BASELINE_H

#include "base/err.h"
#include "model/trace/audit.h"

#define RD_AUDIT_SCHEMA "rdmadiag/trace-errno-audit/1"

/* -EBADMSG: not such a document, or a damaged one. -EFBIG: more than RD_AUDIT_FNS_MAX functions. Members that are not known are
 * skipped. The caller deinitialises *ret. */
int rd_audit_baseline_parse(const void *data, size_t size, struct rd_audit_set *ret, struct rd_err *err);

#endif
