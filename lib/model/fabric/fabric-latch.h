/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was found at repeated sweeps, and when: a finding that is over is remembered. */
#ifndef RD_MODEL_FABRIC_LATCH_H
#define RD_MODEL_FABRIC_LATCH_H

#include "model/shared/finding.h"

/* Latches that are kept: text of some megabytes. Every port of a network can have findings. */
#define RD_LATCHES_MAX 4096

/* Sweeps in which something held. Times are of CLOCK_REALTIME, in ns. */
struct rd_latched_looks {
	uint64_t n; /* 0: none, and the times are unknown */
	uint64_t first_ns, last_ns;
};

struct rd_fabric_latch {
	/* As in struct rd_finding, of the latest sweep that found it. Texts are owned; `observed` and `fix` may be NULL. */
	const char *id, *title;
	enum rd_severity severity;
	char *subject, *observed, *fix;
	struct rd_latched_looks looks;
	size_t rank;  /* place among the findings of its latest sweep: the most harmful comes first */
	bool current; /* found by the latest sweep */
	bool cleared; /* not current, and the user has seen that */
};

struct rd_fabric_latches {
	struct rd_fabric_latch *v; /* unique by id, subject and severity, and sorted by them */
	size_t n, cap;
	uint64_t dropped;		/* latches not kept for lack of room: one that persists counts at each sweep */
	struct rd_latched_looks looks;	/* all sweeps that were judged */
	struct rd_latched_looks failed; /* those that read no port */
};

static inline void rd_latched_look(struct rd_latched_looks *looks, uint64_t now_ns)
{
	if (looks->n++ == 0)
		looks->first_ns = now_ns;
	looks->last_ns = now_ns;
}

#endif
