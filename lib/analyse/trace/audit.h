/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the functions that trace-errno watches on two kernels. */
#ifndef RD_ANALYSE_AUDIT_H
#define RD_ANALYSE_AUDIT_H

#include "model/trace/audit.h"

/* Copies what a baseline keeps of a selected set. `complete`: see struct rd_audit_set. */
void rd_audit_take(const struct rd_fnset *set, bool complete, struct rd_audit_set *ret);

/* Whether most functions of a module of the baseline that is gone are in this module: it was renamed. */
bool rd_audit_is_renamed_module(const struct rd_audit_set *baseline, const struct rd_audit_set *now, const char *module);

/*
 * What differs in `now`. Functions are matched by name without the suffixes of the compiler, first in the same module, then in
 * others; those that are left, by what they call and return (renamed). The function of a baseline that is gone was inlined if its
 * callers have taken over its calls, its errnos or its size. *ret refers to both sets.
 */
void rd_audit_compare(const struct rd_audit_set *baseline, const struct rd_audit_set *now, struct rd_audit *ret);

/* The functions of this name, whatever suffix the compiler added to it or to them. Returns their number; caller frees *ret. */
size_t rd_audit_reasons(const struct rd_fnset *set, const char *name, struct rd_audit_reason **ret);

#endif
