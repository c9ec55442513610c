/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Likely causes of counter deltas; highest confidence and severity first. */
#ifndef RD_MODEL_CAUSE_H
#define RD_MODEL_CAUSE_H

#include "model/shared/finding.h"

enum rd_confidence { RD_CONFIDENCE_LOW, RD_CONFIDENCE_MEDIUM, RD_CONFIDENCE_HIGH };
/* "low", "medium", "high" */
const char *rd_confidence_name(enum rd_confidence confidence);

/* A counter that is evidence for a cause. */
struct rd_evidence {
	uint32_t counter; /* index in the set */
	uint64_t delta;
	bool at_least;
};

struct rd_cause {
	const char *id;	   /* "bad-cable"; static */
	const char *title; /* static */
	char *fix;	   /* owned */
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
	struct rd_findings findings; /* the causes as findings, and further findings */
};
void rd_causes_deinit(struct rd_causes *causes);

#endif
