/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running the rules, and the functions for writing rules. A rule calls one of good, warn, fail, unknown for each subject that it
 * judges. The runner adds the conclusion: "pass" if all subjects were good, one "unknown" for all subjects that are unknown
 * for the same reason, "skip" if the rule does not apply to this host.
 */
#ifndef RD_CHECK_H
#define RD_CHECK_H

#include "base/text.h"
#include "model/shared/check.h"

/* The table of rules, in the order of results. */
extern const struct rd_check *const rd_checks[];
extern const size_t rd_n_checks;

/* NULL: no such rule. */
const struct rd_check *rd_check_find(const char *id);

/* Runs the rules with `chosen[i]` set (NULL: all). */
void rd_checks_run(const struct rd_check_input *in, const bool *chosen, struct rd_findings *findings);

/* For rules: the one that runs. */
const struct rd_check *rd_check_of(const struct rd_check_out *out);

/* For rules: calls `each.judge` of the rule that runs for each object to which it applies. */
void rd_check_each(const struct rd_check_input *in, struct rd_check_out *out);

/* For rules. `subject` is copied; ownership of observed and expected (from rd_text) is taken. */
void rd_check_good(struct rd_check_out *out, const char *subject);
void rd_check_warn(struct rd_check_out *out, const char *subject, char *observed, char *expected);
void rd_check_fail(struct rd_check_out *out, const char *subject, char *observed, char *expected);
/* The same with a variable severity, and a fix for this subject (ownership is taken; NULL: the rule's). In either, IF, IBDEV and
 * ADDRESS stand for the interface, the RDMA device and the PCI address of the subject. */
void rd_check_bad(struct rd_check_out *out, enum rd_severity severity, const char *subject, char *observed,
		  char *expected, char *fix);
/* Worth reporting, but not a fault; `expected` and `fix` may be NULL. */
void rd_check_note(struct rd_check_out *out, const char *subject, char *observed, char *expected, char *fix);
/* `reason` is copied. Subjects with the same reason become one finding. */
void rd_check_unknown(struct rd_check_out *out, const char *subject, const char *reason);
/* The same, if a failed read may hide a fault: the verdict of the host is then unknown, unless it is worse. */
void rd_check_undecided(struct rd_check_out *out, const char *subject, const char *reason);
/* Why the rule does not apply; the last call counts, and only if the rule reports nothing else. Static text. */
void rd_check_skip(struct rd_check_out *out, const char *reason);
/* The same where the command line decides that (no profile), whatever could be read. */
void rd_check_not_asked(struct rd_check_out *out, const char *reason);

/* The first failed read of any of these parts (enum rd_part, or-ed); NULL: none, or the list is NULL. */
const struct rd_err *rd_check_unread(const struct rd_errlist *unread, unsigned parts);

#endif
