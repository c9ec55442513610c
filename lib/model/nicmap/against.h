/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of a prediction with a run. */
#ifndef RD_MODEL_AGAINST_H
#define RD_MODEL_AGAINST_H

#include "model/shared/finding.h"

enum rd_verdict { RD_VERDICT_SAME, RD_VERDICT_DIFFERS, RD_VERDICT_UNKNOWN };
#define RD_VERDICTS (RD_VERDICT_UNKNOWN + 1)
const char *rd_verdict_name(enum rd_verdict verdict); /* "same", "differs", "unknown" */

struct rd_against_row {
	const char *topic;	    /* "network", "device", "gpudirect" …; static */
	char *subject;		    /* "mlx5_0/1", "GPU0"; owned */
	char *predicted, *observed; /* owned; NULL: none */
	char *reason;		    /* why they differ, or why the verdict is unknown; owned; NULL: none */
	enum rd_verdict verdict;
};

struct rd_against {
	struct rd_against_row *v;
	size_t n, cap;
	size_t n_of[RD_VERDICTS];
	struct rd_findings findings;
};
void rd_against_deinit(struct rd_against *against);

/* Takes the owned texts over. */
void rd_against_add(struct rd_against *against, const struct rd_against_row *row);

#endif
