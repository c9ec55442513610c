/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace-errno --audit --probe: whether calls that fail on purpose are seen, with which origin. */
#ifndef RD_CMD_PROBE_H
#define RD_CMD_PROBE_H

#include <stdint.h>

#include "base/err.h"
#include "model/trace/audit.h"

#define PROBES 14

extern const char *const probe_names[]; /* what each call does */

/* What the process that calls passes on, in order. */
struct probe_result {
	uint32_t probe;
	int32_t err; /* 0: the call did not fail; -1: it could not be tried */
};

struct rd_ctx;

/*
 * Traces the calls on a device (NULL: the first of this host). Fills ret[PROBES], which the caller deinitialises by
 * rd_audit_probe_deinit in any case. -errno with err filled if nothing could be traced, or the calls could not be made.
 */
int audit_probe(struct rd_ctx *ctx, struct rd_fnset *set, const char *device, struct rd_audit_probe *ret,
		struct rd_err *err);

#endif
