/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits that a site sets (data/thresholds), held against counters. */
#ifndef RD_ANALYSE_THRESHOLD_H
#define RD_ANALYSE_THRESHOLD_H

#include "analyse/counters/delta.h"
#include "base/err.h"
#include "base/text.h"
#include "model/shared/finding.h"

struct rd_thresholds {
	struct rd_texts texts; /* what the lines' fields point into */
	struct rd_threshold *v;
	size_t n, cap;
};

/*
 * Parses `text` (`size` bytes). A line holds
 *     NAME MEASURE LIMIT SEVERITY why, to the end of the line
 * NAME is a pattern as of a shell; MEASURE is value (what it shows), delta, per_second, per_bit (of those that the port
 * received) or per_packet (the same); more than LIMIT is a warning or critical, as SEVERITY says, and "-" is no limit. Lines that
 * begin with # and empty ones are comments. A line takes the place of those of tables parsed before that have its NAME,
 * MEASURE and SEVERITY. A line that is no good is an error: a limit that is not held is worse than none. -EINVAL where it is
 * or where there is no limit at all, -EFBIG, both with `err` filled.
 */
int rd_thresholds_parse(const char *name, const char *text, size_t size, struct rd_thresholds *ret, struct rd_err *err);
void rd_thresholds_deinit(struct rd_thresholds *thresholds);

/* Whether one of them needs another sample to compare with. */
bool rd_thresholds_compare(const struct rd_thresholds *thresholds);

/* Adds a finding for each counter that is above a limit: the most severe one. A counter that has a limit and could not be read
 * is a finding, too: unknown. `deltas` NULL: limits that need them are left out. */
void rd_thresholds_judge(const struct rd_thresholds *thresholds, const struct rd_moment *now,
			 const struct rd_delta *deltas, double seconds, struct rd_findings *findings);

#endif
