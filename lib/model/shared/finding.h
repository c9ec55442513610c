/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one thing that rules, verdicts, comparisons and causes say: what is wrong with whom, and what to do. */
#ifndef RD_MODEL_FINDING_H
#define RD_MODEL_FINDING_H

#include "base/base.h"

/* From the best to the worst. The same fact has the same severity in every command. */
enum rd_severity {
	RD_SEV_SKIP = 0, /* there is nothing here that it could be about */
	RD_SEV_OK,	 /* looked, and all is well */
	RD_SEV_NOTE,	 /* worth telling, and no fault */
	RD_SEV_UNKNOWN,	 /* could not be told */
	RD_SEV_WARNING,	 /* slows, or will break later */
	RD_SEV_CRITICAL, /* breaks jobs */
};
#define RD_SEVERITIES (RD_SEV_CRITICAL + 1)

/* As documents have it: "ok" (also of a note and of what was skipped), "unknown", "warning", "critical". */
const char *rd_severity_name(enum rd_severity severity);
/* As a rule's result: "skip", "pass" (also with a note), "unknown", "warn", "fail". */
const char *rd_severity_result(enum rd_severity severity);

struct rd_finding {
	const char *id; /* "nic-shared"; static, as title and why are */
	const char *title, *why;
	enum rd_severity severity;
	/* Owned; NULL: nothing to say. Of UNKNOWN and SKIP, `observed` is the reason. `fix`: what to do, with real names. */
	char *subject, *observed, *expected, *fix;
	/* Another finding that this one is a consequence of; a NULL id: of none. */
	struct {
		const char *id; /* static */
		char *subject;	/* owned */
	} caused_by;
	bool undecided; /* UNKNOWN for want of a read that failed: a fault may be behind it, so that no verdict is OK */
	char *muted;	/* owned: until when and why the profile wants it ignored; NULL: it does not */
};

/* Bytes of one of its texts. A list of all ports of a large host fits. */
#define RD_FINDING_TEXT 4096

struct rd_findings {
	struct rd_finding *v;
	size_t n, cap;
};
void rd_findings_deinit(struct rd_findings *findings);

/* Adds one, longer texts cut off with their length in place of the rest; takes the owned texts over. */
void rd_finding_add(struct rd_findings *findings, const struct rd_finding *finding);

/* Adds a copy. */
void rd_finding_copy(struct rd_findings *findings, const struct rd_finding *finding);

/* Makes `finding` a consequence of `cause`. */
void rd_finding_blame(struct rd_finding *finding, const struct rd_finding *cause);

/* Whether it is a consequence of just this one. */
bool rd_finding_is_caused_by(const struct rd_finding *finding, const struct rd_finding *cause);

/* Whether it stands by itself: it is neither a consequence nor muted. */
static inline bool rd_finding_stands(const struct rd_finding *finding)
{
	return !finding->caused_by.id && !finding->muted;
}

/* Puts what stands by itself first, the worst first (a cause counts as much as the worst of its consequences), then
 * consequences, then what is muted. What is equal stays in its order. */
void rd_findings_sort(struct rd_findings *findings);

/* The worst severity of those that are not muted; RD_SEV_SKIP where there is none. */
enum rd_severity rd_findings_worst(const struct rd_findings *findings);

/* How many of this severity stand by themselves. */
size_t rd_findings_count(const struct rd_findings *findings, enum rd_severity severity);

#endif
