/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a call failed, with the values that show it. */
#ifndef RD_MODEL_EXPLANATION_H
#define RD_MODEL_EXPLANATION_H

#include "base/base.h"
#include "model/shared/cause.h"

#define RD_EVIDENCE_MAX 16

/* Instead of a cause. */
#define RD_CANNOT_TELL "cannot tell"

struct rd_explanation {
	const char *id;			 /* "memlock-limit"; static; NULL: the cause cannot be determined */
	char *cause;			 /* owned: one sentence with values; NULL: as for id */
	enum rd_confidence confidence;	 /* of a cause: how sure it is that this made the call fail */
	char *evidence[RD_EVIDENCE_MAX]; /* owned: facts that show it; without a cause, what was looked at */
	size_t n_evidence;
	char *fix;     /* owned: what to do (base/fix.h); NULL: nothing is known */
	bool in_haste; /* judged without the state of the host: failures came too fast to read it for each */
};

void rd_explanation_deinit(struct rd_explanation *explanation);

/* Sets the cause; replaces one that was set before, and its evidence. */
void rd_explain(struct rd_explanation *explanation, const char *id, enum rd_confidence confidence, const char *fmt, ...)
	RD_PRINTF(4, 5);
/* Adds a fact; beyond RD_EVIDENCE_MAX and repeated ones are left out. */
void rd_explain_fact(struct rd_explanation *explanation, const char *fmt, ...) RD_PRINTF(2, 3);
void rd_explain_fix(struct rd_explanation *explanation, const char *fmt, ...) RD_PRINTF(2, 3);

/* A number of bytes for a sentence: "64 KiB", "3 bytes". `ret`: RD_BYTES_TEXT bytes; returned. */
#define RD_BYTES_TEXT 40
const char *rd_bytes_text(uint64_t bytes, char *ret);

#endif
