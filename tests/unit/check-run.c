/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "check-run.h"

enum rd_result check_worst(const struct rd_check_input *in, const char *id)
{
	_cleanup_free_ bool *chosen = calloc(rd_n_checks, sizeof(*chosen));
	struct rd_verdicts verdicts = { 0 };
	enum rd_result worst = RD_SKIP;

	assert_non_null(rd_check_find(id));
	for (size_t i = 0; i < rd_n_checks; i++)
		chosen[i] = rd_checks[i] == rd_check_find(id);
	rd_checks_run(in, chosen, &verdicts);
	assert_false(verdicts.failed);
	assert_true(verdicts.n > 0);
	for (size_t i = 0; i < verdicts.n; i++) {
		worst = verdicts.v[i].result > worst ? verdicts.v[i].result : worst;
		/* What is wrong is told in full; what could not be told has its reason. */
		if (verdicts.v[i].result >= RD_WARN)
			assert_true(verdicts.v[i].observed && verdicts.v[i].expected);
		if (verdicts.v[i].result == RD_UNKNOWN || verdicts.v[i].result == RD_SKIP)
			assert_non_null(verdicts.v[i].observed);
	}
	rd_verdicts_deinit(&verdicts);
	return worst;
}
