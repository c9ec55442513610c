/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/against.h"

#include "base/memory.h"

static void row_deinit(struct rd_against_row *row)
{
	RD_FREE(row->subject, row->predicted, row->observed, row->reason);
}

void rd_against_deinit(struct rd_against *against)
{
	for (size_t i = 0; i < against->n; i++)
		row_deinit(&against->v[i]);
	free(against->v);
	rd_findings_deinit(&against->findings);
	*against = (struct rd_against){ 0 };
}

void rd_against_add(struct rd_against *against, const struct rd_against_row *row)
{
	*RD_ADD(against->v, against->n, against->cap) = *row;
	against->n_of[row->verdict]++;
}

const char *rd_verdict_name(enum rd_verdict verdict)
{
	static const char *const names[RD_VERDICTS] = { "same", "differs", "unknown" };

	return (size_t)verdict < RD_VERDICTS ? names[verdict] : NULL;
}
