/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile is written by hand and mailed around: parsed, compared with itself, written and read again. */
#include "fuzz.h"

#include "analyse/compare/compare.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_profile profile = { 0 }, again = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_err err = { 0 };

	if (rd_profile_parse((const char *)data, size, "fuzz", &profile, &err) == 0 && profile.n < 1000) {
		rd_profile_compare(&profile, &profile, &findings);
		rd_profile_write(&profile, &out);
		for (size_t i = 0; i < profile.n_ignores; i++) {
			const struct rd_ignore *ignore = &profile.ignores[i];
			const char *subject = ignore->subject ? ignore->subject : "";

			/* A pattern matches itself; on its last day a line mutes, on the next it does not, unless another does. */
			if (!rd_profile_ignored(&profile, ignore->rule, subject, ignore->last_day) ||
			    !rd_ignore_over(ignore, ignore->last_day + 1))
				__builtin_trap();
		}
		/* What was written can be read, and is as long: nothing in a value makes another line. */
		if (out.data && !out.failed &&
		    (rd_profile_parse(out.data, out.len, "fuzz", &again, &err) < 0 || again.n != profile.n ||
		     again.n_ignores != profile.n_ignores))
			__builtin_trap();
	}
	rd_findings_deinit(&findings);
	rd_profile_deinit(&again);
	rd_profile_deinit(&profile);
}
