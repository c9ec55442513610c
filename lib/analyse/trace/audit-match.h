/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function of one kernel is which of another. Private to the comparison. */
#ifndef RD_ANALYSE_AUDIT_MATCH_H
#define RD_ANALYSE_AUDIT_MATCH_H

#include "model/trace/audit.h"

#define RD_AUDIT_NONE UINT32_MAX

struct rd_audit_edge {
	uint32_t fn, other;
};

/* One of the two kernels. */
struct rd_audit_side {
	const struct rd_audit_set *set;
	uint32_t *by_name;	     /* indices of functions, sorted by name without suffix, module, whole name */
	uint32_t *other;	     /* per function: the same in the other kernel; RD_AUDIT_NONE: it has none */
	struct rd_audit_edge *calls; /* the functions that each calls; sorted; behind the last, .fn is RD_AUDIT_NONE */
	struct rd_audit_edge *callers; /* those that call each; likewise */
	size_t n_edges, cap_edges;
};

void rd_audit_match(const struct rd_audit_set *baseline, const struct rd_audit_set *now, struct rd_audit_side *a,
		    struct rd_audit_side *b);
void rd_audit_side_deinit(struct rd_audit_side *side);

/* The first edge of a function in one of the two lists; its edges end where another .fn begins. */
const struct rd_audit_edge *rd_audit_edges(const struct rd_audit_side *side, uint32_t fn, bool callers);

#endif
