/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which modules of two kernels can be compared. Private to the comparison. */
#ifndef RD_ANALYSE_AUDIT_MODULES_H
#define RD_ANALYSE_AUDIT_MODULES_H

#include "analyse/trace/audit-match.h"

/* Whether the module is in both, with all its symbols. */
bool rd_audit_is_comparable(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module);

/* Without types, or without the file, other functions are selected: such a set cannot be compared with one that had them. */
bool rd_audit_is_unequal(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module);

/* Whether it is in both, and functions whose symbols were removed are missing from one. */
bool rd_audit_is_stripped(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module);

/*
 * Marks the functions of a side that modules that are not compared call, directly or not: those decide, too, whether verbs or the
 * data path reach them. Caller frees.
 */
bool *rd_audit_find_unsure(const struct rd_audit_side *side, const struct rd_audit_side *other);

#endif
