/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/check.h"

const char *rd_result_name(enum rd_result result)
{
	static const char *const names[] = {
		[RD_SKIP] = "skip", [RD_PASS] = "pass", [RD_UNKNOWN] = "unknown",
		[RD_WARN] = "warn", [RD_FAIL] = "fail",
	};

	return names[result];
}

void rd_verdicts_deinit(struct rd_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->n; i++) {
		free(verdicts->v[i].subject);
		free(verdicts->v[i].observed);
		free(verdicts->v[i].expected);
		free(verdicts->v[i].fix);
	}
	free(verdicts->v);
	*verdicts = (struct rd_verdicts){ 0 };
}

void rd_verdicts_sort(struct rd_verdicts *verdicts)
{
	struct rd_verdict *sorted = calloc(verdicts->n + 1, sizeof(*sorted));
	size_t n = 0;

	if (!sorted) {
		verdicts->failed = true;
		return;
	}
	for (int result = RD_FAIL; result >= RD_SKIP; result--)
		for (size_t i = 0; i < verdicts->n; i++)
			if (verdicts->v[i].result == (enum rd_result)result)
				sorted[n++] = verdicts->v[i];
	free(verdicts->v);
	verdicts->v = sorted;
	verdicts->cap = verdicts->n + 1;
}
