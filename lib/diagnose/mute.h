/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings that a profile wants ignored for a while. Pure. */
#ifndef RD_DIAGNOSE_MUTE_H
#define RD_DIAGNOSE_MUTE_H

#include "model/finding.h"
#include "model/profile.h"

/* Mutes what "ignore" lines of the profile name on that day (rd_profile_day), with what follows from it; consequences are
 * known by then. Adds a note for each line whose last day has passed. */
void rd_findings_mute(const struct rd_profile *profile, int64_t day, struct rd_findings *findings);

#endif
