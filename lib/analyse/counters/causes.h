/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_CAUSES_H
#define RD_ANALYSE_CAUSES_H

#include "analyse/counters/delta.h"
#include "model/shared/cause.h"

/*
 * What deltas over `seconds` amount to. Errors of a link are judged by how many there were for each bit that was carried,
 * not by their number; counters that only follow others (flushed work requests) make no statement of their own. Causes are
 * ranked by severity, then confidence, then how much moved. Findings hold each cause, ports of `before`
 * (NULL: not known) that have gone, and what cannot be told.
 */
void rd_causes_find(const struct rd_moment *before, const struct rd_moment *now, const struct rd_delta *deltas,
		    double seconds, struct rd_causes *ret);

#endif
