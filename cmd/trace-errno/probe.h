/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace-errno --audit --probe: whether calls that fail on purpose are seen, with which origin. */
#ifndef RD_CMD_PROBE_H
#define RD_CMD_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/trace/audit.h"

#define PROBES 14

const char *probe_name(size_t i); /* what each call does */

/* What the process that calls passes on, in order. */
struct probe_result {
	uint32_t probe;
	int32_t err; /* 0: the call did not fail; -1: it could not be tried */
};

#endif
