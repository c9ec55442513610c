/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the deltas of a host's counters amount to: statements, the surest and most severe first. */
#ifndef RD_MODEL_CAUSE_H
#define RD_MODEL_CAUSE_H

#include "model/shared/finding.h"

enum rd_confidence { RD_CONFIDENCE_LOW, RD_CONFIDENCE_MEDIUM, RD_CONFIDENCE_HIGH };
/* "low", "medium", "high" */
const char *rd_confidence_name(enum rd_confidence confidence);

/* A counter that says so. */
struct rd_evidence {
	uint32_t counter; /* index in the set */
	uint64_t delta;
	bool at_least;
};

struct rd_cause {
	const char *id;	   /* "bad-cable"; static */
	const char *title; /* static */
	const char *fix;   /* what to do; static */
	enum rd_severity severity;
	enum rd_confidence confidence;
	uint32_t port;	/* index in the set */
	char *observed; /* owned: the numbers */
	struct rd_evidence evidence[8];
	size_t n_evidence;
};

struct rd_causes {
	struct rd_cause *v;
	size_t n, cap;
	struct rd_findings findings; /* the same as findings, and what else there is to say */
};
void rd_causes_deinit(struct rd_causes *causes);

#endif
