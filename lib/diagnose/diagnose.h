/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what rules say of a host to what an operator is told. Pure. */
#ifndef RD_DIAGNOSE_H
#define RD_DIAGNOSE_H

#include "model/host/host.h"
#include "model/host/profile.h"
#include "model/shared/finding.h"

/* Folds what follows from something else below it, mutes what the profile (NULL: none) ignores on that day (rd_profile_day),
 * and puts the worst first. */
void rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day,
		 struct rd_findings *findings);

#endif
