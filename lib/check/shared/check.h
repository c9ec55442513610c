/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running the rules, and what a rule is written with. A rule calls one of good, warn, fail, unknown for each thing it looks
 * at. The runner adds what follows from that: "pass" where all was good, one "unknown" for all that could not be told for
 * the same reason, "skip" where the rule was about nothing on this host.
 */
#ifndef RD_CHECK_H
#define RD_CHECK_H

#include "base/text.h"
#include "model/shared/check.h"

/* The one table, in the order in which results are shown. */
extern const struct rd_check *const rd_checks[];
extern const size_t rd_n_checks;

/* NULL: there is no such rule. */
const struct rd_check *rd_check_find(const char *id);

/* Runs those for which `chosen[i]` is set (NULL: all). */
void rd_checks_run(const struct rd_check_input *in, const bool *chosen, struct rd_findings *findings);

/* For rules. `subject` is copied; observed and expected are taken over (made by rd_text). */
void rd_check_good(struct rd_check_out *out, const char *subject);
void rd_check_warn(struct rd_check_out *out, const char *subject, char *observed, char *expected);
void rd_check_fail(struct rd_check_out *out, const char *subject, char *observed, char *expected);
/* The same with a result that depends, and a fix for this very subject (taken over; NULL: the rule's). */
void rd_check_bad(struct rd_check_out *out, enum rd_severity severity, const char *subject, char *observed,
		  char *expected, char *fix);
/* Worth telling, and no fault; `expected` and `fix` may be NULL. */
void rd_check_note(struct rd_check_out *out, const char *subject, char *observed, char *expected, char *fix);
/* `reason` is copied. Where many subjects have the same reason they become one finding. */
void rd_check_unknown(struct rd_check_out *out, const char *subject, const char *reason);
/* The same, where a fault may be hidden by a read that failed: the host's verdict is unknown then, unless it is worse. */
void rd_check_undecided(struct rd_check_out *out, const char *subject, const char *reason);
/* Why the rule is about nothing here; the last one counts, and only if the rule says nothing else. Static text. */
void rd_check_skip(struct rd_check_out *out, const char *reason);
/* The same where it is so by what was asked for (no profile), whatever could be read. */
void rd_check_not_asked(struct rd_check_out *out, const char *reason);

#endif
