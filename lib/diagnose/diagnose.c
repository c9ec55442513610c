/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/diagnose.h"

#include "diagnose/fold.h"
#include "diagnose/mute.h"

void rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day, struct rd_findings *findings)
{
	rd_findings_fold(host, findings);
	if (profile)
		rd_findings_mute(profile, day, findings);
	rd_findings_sort(findings);
}
