/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/diagnose.h"

#include "diagnose/fold.h"
#include "diagnose/mute.h"

int rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day, struct rd_findings *findings)
{
	int r = 0;

	rd_findings_fold(host, findings);
	if (profile)
		r = rd_findings_mute(profile, day, findings);
	if (!r)
		rd_findings_sort(findings);
	return r;
}
