/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/shared/cause.h"

const char *rd_confidence_name(enum rd_confidence confidence)
{
	static const char *const names[] = {
		[RD_CONFIDENCE_LOW] = "low",
		[RD_CONFIDENCE_MEDIUM] = "medium",
		[RD_CONFIDENCE_HIGH] = "high",
	};

	return names[confidence];
}

void rd_causes_deinit(struct rd_causes *causes)
{
	for (size_t i = 0; i < causes->n; i++)
		RD_FREE(causes->v[i].observed, causes->v[i].fix);
	free(causes->v);
	rd_findings_deinit(&causes->findings);
	*causes = (struct rd_causes){ 0 };
}
