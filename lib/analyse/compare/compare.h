/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where hosts that should be alike differ. Pure. */
#ifndef RD_ANALYSE_COMPARE_H
#define RD_ANALYSE_COMPARE_H

#include "model/nicmap/compared.h"
#include "model/nicmap/nicmap.h"

/* Takes of a host what is compared; the host can be released then. `ret` is zeroed before, and to be released. */
void rd_compared_take(const char *name, const struct rd_host *host, const struct rd_nicmap *map,
		      struct rd_compared *ret);

/* What differs, and why. */
struct rd_comparison {
	struct rd_findings findings; /* sorted */
	bool **rails;		     /* [host][rail]: something of warning or worse is said of this row */
	size_t n_hosts;
};
void rd_comparison_deinit(struct rd_comparison *comparison);

/*
 * Hosts are compared with those of their own kind: that have accelerators and NICs at the same PCI addresses. Who lacks
 * some of what many more hosts have has lost them; where both are many these are two kinds, and nobody is blamed. A value is
 * usual that two thirds of those have who are known; without such a one that they differ is told as unknown, and no host is
 * named as wrong. Findings that are alike are one, with a list. Time: n log n in hosts.
 */
void rd_compare(const struct rd_compared *hosts, size_t n, struct rd_comparison *ret);

#endif
