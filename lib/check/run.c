/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "check/check.h"

/* Subjects of one reason, of which the first is named. */
struct doubt {
	char *subject, *reason;
	size_t n;
};

#define DOUBTS_MAX 16 /* different reasons of one rule; further ones are counted to the last */

struct rd_check_out {
	const struct rd_check *check;
	struct rd_verdicts *verdicts;
	size_t good, bad;
	bool unanswered; /* a read gave no answer */
	char *last_good; /* owned */
	const char *skip;
	struct doubt doubts[DOUBTS_MAX];
	size_t n_doubts;
};

const struct rd_check *rd_check_find(const char *id)
{
	for (size_t i = 0; i < rd_n_checks; i++)
		if (strcmp(rd_checks[i]->id, id) == 0)
			return rd_checks[i];
	return NULL;
}

static void drop(const struct rd_verdict *verdict)
{
	free(verdict->subject);
	free(verdict->observed);
	free(verdict->expected);
	free(verdict->fix);
}

static void add(struct rd_verdicts *verdicts, const struct rd_verdict *verdict)
{
	if (!verdict->subject || rd_grow(&verdicts->v, &verdicts->cap, verdicts->n + 1, sizeof(*verdicts->v)) < 0) {
		verdicts->failed = true;
		return drop(verdict);
	}
	verdicts->v[verdicts->n++] = *verdict;
}

void rd_check_good(struct rd_check_out *out, const char *subject)
{
	out->good++;
	if (out->last_good)
		return;
	out->last_good = strdup(subject);
	out->verdicts->failed |= !out->last_good;
}

void rd_check_bad(struct rd_check_out *out, enum rd_result result, const char *subject, char *observed, char *expected,
		  char *fix)
{
	const struct rd_verdict verdict = { .check = out->check,
					    .result = result,
					    .subject = strdup(subject),
					    .observed = observed,
					    .expected = expected,
					    .fix = fix };

	out->verdicts->failed |= !observed || !expected;
	if (out->check->by_absence && out->unanswered) {
		rd_check_unknown(out, subject, "reads gave no answer: what is missing may be there");
		return drop(&verdict);
	}
	out->bad++;
	add(out->verdicts, &verdict);
}

void rd_check_warn(struct rd_check_out *out, const char *subject, char *observed, char *expected)
{
	rd_check_bad(out, RD_WARN, subject, observed, expected, NULL);
}

void rd_check_fail(struct rd_check_out *out, const char *subject, char *observed, char *expected)
{
	rd_check_bad(out, RD_FAIL, subject, observed, expected, NULL);
}

void rd_check_unknown(struct rd_check_out *out, const char *subject, const char *reason)
{
	struct doubt *doubt = NULL;

	for (size_t i = 0; i < out->n_doubts && !doubt; i++)
		if (strcmp(out->doubts[i].reason, reason) == 0)
			doubt = &out->doubts[i];
	if (!doubt && out->n_doubts == DOUBTS_MAX)
		doubt = &out->doubts[DOUBTS_MAX - 1];
	if (doubt) {
		doubt->n++;
		return;
	}
	doubt = &out->doubts[out->n_doubts];
	*doubt = (struct doubt){ .subject = strdup(subject), .reason = strdup(reason), .n = 1 };
	if (doubt->subject && doubt->reason) {
		out->n_doubts++;
		return;
	}
	free(doubt->subject);
	free(doubt->reason);
	out->verdicts->failed = true;
}

void rd_check_skip(struct rd_check_out *out, const char *reason)
{
	out->skip = reason;
}

/* "mlx5_0", "mlx5_0 and 7 more" */
static char *subject_of(const char *first, size_t n)
{
	return n > 1 ? rd_text("%s and %zu more", first, n - 1) : strdup(first);
}

static void conclude(struct rd_check_out *out)
{
	struct rd_verdict verdict = { .check = out->check };

	for (size_t i = 0; i < out->n_doubts; i++) {
		verdict.result = RD_UNKNOWN;
		verdict.subject = subject_of(out->doubts[i].subject, out->doubts[i].n);
		verdict.observed = out->doubts[i].reason;
		free(out->doubts[i].subject);
		add(out->verdicts, &verdict);
	}
	verdict.observed = NULL;
	if (out->bad == 0 && out->n_doubts == 0) {
		verdict.result = out->good > 0 ? RD_PASS : RD_SKIP;
		verdict.subject = out->last_good ? subject_of(out->last_good, out->good) : strdup("host");
		if (out->good == 0)
			verdict.observed = strdup(out->skip ? out->skip : "nothing here that it is about");
		add(out->verdicts, &verdict);
	}
	free(out->last_good);
}

void rd_checks_run(const struct rd_check_input *in, const bool *chosen, struct rd_verdicts *verdicts)
{
	for (size_t i = 0; i < rd_n_checks; i++) {
		struct rd_check_out out = { .check = rd_checks[i],
					    .verdicts = verdicts,
					    .unanswered = in->stalls && in->stalls->n > 0 };

		if (chosen && !chosen[i])
			continue;
		rd_checks[i]->run(in, &out);
		conclude(&out);
	}
}
