/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "check-run.h"

enum rd_severity check_worst(const struct rd_check_input *in, const char *id)
{
	_cleanup_free_ bool *chosen = calloc(rd_n_checks, sizeof(*chosen));
	struct rd_findings findings = { 0 };
	enum rd_severity worst = RD_SEV_SKIP;

	assert_non_null(rd_check_find(id));
	for (size_t i = 0; i < rd_n_checks; i++)
		chosen[i] = rd_checks[i] == rd_check_find(id);
	rd_checks_run(in, chosen, &findings);
	assert_true(findings.n > 0);
	for (size_t i = 0; i < findings.n; i++) {
		worst = findings.v[i].severity > worst ? findings.v[i].severity : worst;
		/* What is wrong is told in full; what could not be told has its reason. */
		if (findings.v[i].severity >= RD_SEV_WARNING)
			assert_true(findings.v[i].observed && findings.v[i].expected);
		if (findings.v[i].severity == RD_SEV_UNKNOWN || findings.v[i].severity == RD_SEV_SKIP)
			assert_non_null(findings.v[i].observed);
	}
	rd_findings_deinit(&findings);
	return worst;
}
