/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diagnose/findings/diagnose.h"

#include "base/memory.h"
#include "base/text.h"
#include "diagnose/findings/fold.h"

/* The finding that caused this one; NULL: none in the list. */
static const struct rd_finding *cause_of(const struct rd_findings *findings, const struct rd_finding *finding)
{
	for (size_t i = 0; finding->caused_by.id && i < findings->n; i++)
		if (rd_finding_is_caused_by(finding, &findings->v[i]))
			return &findings->v[i];
	return NULL;
}

static void add_expired(const struct rd_ignore *ignore, struct rd_findings *findings)
{
	const struct rd_finding finding = {
		.id = "ignore-ended",
		.severity = RD_SEV_NOTE,
		.title = "\"ignore\" line of the profile has expired",
		.why = "findings that it matches are no longer ignored",
		.subject = rd_text("profile line %u", ignore->line),
		.observed = rd_text("%s%s%s until %s %s", ignore->rule, ignore->subject ? "@" : "",
				    ignore->subject ? ignore->subject : "", ignore->until, ignore->reason),
		.fix = rd_dup("# remove the line, or set a later date"),
	};

	rd_finding_add(findings, &finding);
}

/* Mutes findings that "ignore" lines of the profile match on that day, and their consequences, which must be linked already. Adds a
 * note for each expired line. */
static void mute_all(const struct rd_profile *profile, int64_t day, struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		struct rd_finding *finding = &findings->v[i];
		const struct rd_ignore *ignore =
			finding->severity > RD_SEV_OK ?
				rd_profile_ignored(profile, finding->id, finding->subject, day) :
				NULL;

		if (ignore)
			finding->muted = rd_text("until %s: %s", ignore->until, ignore->reason);
	}
	for (size_t i = 0; i < findings->n; i++) {
		struct rd_finding *finding = &findings->v[i];
		const struct rd_finding *cause = finding->muted ? NULL : cause_of(findings, finding);

		if (cause && cause->muted)
			finding->muted = rd_dup(cause->muted);
	}
	for (size_t i = 0; i < profile->n_ignores; i++)
		if (rd_ignore_over(&profile->ignores[i], day))
			add_expired(&profile->ignores[i], findings);
}

void rd_diagnose(const struct rd_host *host, const struct rd_profile *profile, int64_t day, struct rd_findings *findings)
{
	rd_findings_fold(host, findings);
	if (profile)
		mute_all(profile, day, findings);
	rd_findings_sort(findings);
}
