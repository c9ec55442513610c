/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepares the findings of rules for the operator. Pure. */
#ifndef RD_DIAGNOSE_H
#define RD_DIAGNOSE_H

#include "model/host/host.h"
#include "model/host/profile.h"
#include "model/shared/finding.h"

/* Links consequences to their causes, mutes findings that the profile (NULL: none) ignores on that day (rd_profile_day), and
 * sorts the worst first. */
void rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day,
		 struct rd_findings *findings);

#endif
