/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: the common result of rules, verdicts, comparisons and causes. */
#ifndef RD_MODEL_FINDING_H
#define RD_MODEL_FINDING_H

#include "base/base.h"

/* From the best to the worst. The same fact has the same severity in every command. */
enum rd_severity {
	RD_SEV_SKIP = 0, /* does not apply to this host */
	RD_SEV_OK,	 /* checked, no fault */
	RD_SEV_NOTE,	 /* worth reporting, not a fault */
	RD_SEV_UNKNOWN,	 /* cannot be determined */
	RD_SEV_WARNING,	 /* slows jobs, or will break them later */
	RD_SEV_CRITICAL, /* breaks jobs */
};
#define RD_SEVERITIES (RD_SEV_CRITICAL + 1)

/* As in documents: "ok" (also for skipped rules), "note", "unknown", "warning", "critical". */
const char *rd_severity_name(enum rd_severity severity);
/* As the result of a rule: "skip", "pass" (also with a note), "unknown", "warn", "fail". */
const char *rd_severity_result(enum rd_severity severity);

struct rd_finding {
	const char *id; /* "nic-shared"; static, as are title and why */
	const char *title, *why;
	enum rd_severity severity;
	/* Owned; NULL: none. For UNKNOWN and SKIP, `observed` is the reason. `fix`: what to do, with the names of this host. */
	char *subject, *observed, *expected, *fix;
	/* The finding that caused this one; NULL id: none. */
	struct {
		const char *id; /* static */
		char *subject;	/* owned */
	} caused_by;
	uint64_t node_guid; /* in a network: of the node; 0: none, or several */
	unsigned port;	    /* of this node; 0: all, or none */
	double harm;	    /* orders findings about a network, see rd_fabric_harm; 0: none */
	bool undecided;	    /* UNKNOWN because of a failed read: may hide a fault, so the verdict cannot be OK */
	char *muted;	    /* owned; until when and why the profile ignores it; NULL: not ignored */
};

/* Maximum bytes of each text. A list of all ports of a large host fits. */
#define RD_FINDING_TEXT 4096

struct rd_findings {
	struct rd_finding *v;
	size_t n, cap;
};
void rd_findings_deinit(struct rd_findings *findings);

/* Adds a finding; takes ownership of its texts. Longer texts are truncated, and end with their length. */
void rd_finding_add(struct rd_findings *findings, const struct rd_finding *finding);

/* Adds one of this kind, with these texts, of which it takes ownership. */
void rd_finding_put(struct rd_findings *findings, const struct rd_finding *kind, char *subject, char *observed,
		    char *fix);

/* Adds a copy. */
void rd_finding_copy(struct rd_findings *findings, const struct rd_finding *finding);

/* Makes `finding` a consequence of `cause`. */
void rd_finding_blame(struct rd_finding *finding, const struct rd_finding *cause);

/* Whether `cause` caused it. */
bool rd_finding_is_caused_by(const struct rd_finding *finding, const struct rd_finding *cause);

/* Whether it is neither a consequence nor muted. */
static inline bool rd_finding_stands(const struct rd_finding *finding)
{
	return !finding->caused_by.id && !finding->muted;
}

/* Order: independent findings, worst first (a cause ranks as its worst consequence), then consequences, then muted findings.
 * Stable. */
void rd_findings_sort(struct rd_findings *findings);

/* The worst severity of findings that are not muted; RD_SEV_SKIP if there is none. */
enum rd_severity rd_findings_worst(const struct rd_findings *findings);

/* Number of findings of this severity that are neither consequences nor muted. */
size_t rd_findings_count(const struct rd_findings *findings, enum rd_severity severity);

/* Likely causes of counter deltas; highest confidence and severity first. */

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
