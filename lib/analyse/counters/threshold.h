/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares counters with limits that a site sets (data/thresholds). */
#ifndef RD_ANALYSE_THRESHOLD_H
#define RD_ANALYSE_THRESHOLD_H

#include "analyse/counters/delta.h"
#include "base/err.h"
#include "base/text.h"
#include "model/shared/finding.h"

struct rd_thresholds {
	struct rd_texts texts; /* the text that the fields point into */
	struct rd_threshold *v;
	size_t n, cap;
};

/*
 * Parses `text` (`size` bytes). A line holds
 *     NAME MEASURE LIMIT SEVERITY why, to the end of the line
 * NAME is a shell pattern; MEASURE is value (the current value), delta, per_second, per_bit or per_packet (of the bits and packets
 * that the port received). Above LIMIT the counter is reported with SEVERITY, warning or critical; "-" means no limit. Empty lines
 * and lines that begin with # are ignored. A line replaces lines of tables parsed before that have the same NAME, MEASURE and
 * SEVERITY. An invalid line is an error, because a limit that is silently not checked is worse than none. -EINVAL for an invalid
 * line or if there are no limits, -EFBIG; both fill `err`.
 */
int rd_thresholds_parse(const char *name, const char *text, size_t size, struct rd_thresholds *ret, struct rd_err *err);
void rd_thresholds_deinit(struct rd_thresholds *thresholds);

/* Whether one of them requires an earlier sample to compare with. */
bool rd_thresholds_compare(const struct rd_thresholds *thresholds);

/* Adds a finding for each counter that is above a limit: the most severe one. A counter that has a limit and could not be read
 * is a finding of severity unknown. `deltas` NULL: limits that require them are skipped. */
void rd_thresholds_judge(const struct rd_thresholds *thresholds, const struct rd_counted *now,
			 const struct rd_delta *deltas, double seconds, struct rd_findings *findings);

#endif
