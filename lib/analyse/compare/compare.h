/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares hosts that should be alike, and captures of one host. Pure. */
#ifndef RD_ANALYSE_COMPARE_H
#define RD_ANALYSE_COMPARE_H

#include "model/nicmap/nicmap.h"
#include "model/shared/facts.h"

/* Copies from a host, and from what `diff` knows of it, what is compared; both can be released then. `ret` is zeroed first;
 * release it. */
void rd_compared_take(const char *name, const struct rd_host *host, const struct rd_nicmap *map,
		      const struct rd_facts *facts, struct rd_compared *ret);

/* Differences. */
struct rd_comparison {
	struct rd_findings findings; /* sorted */
	bool **rails;		     /* [host][rail]: a finding of warning or worse is about this row */
	size_t n_hosts;
};
void rd_comparison_deinit(struct rd_comparison *comparison);

/*
 * Hosts are compared with those of their own kind, with accelerators and NICs at the same PCI addresses. Devices are missing
 * from a host if many more hosts have them; if both groups are large, they are two kinds, and no host is at fault. A value is
 * usual if two thirds of the hosts with a known value have it; without a usual value the difference is reported as unknown,
 * and no host as wrong. Equal findings become one, with a list of hosts. Time: n log n in hosts.
 */
void rd_compare(const struct rd_compared *hosts, size_t n, struct rd_comparison *ret);

/* Compares two sorted lists of one host, which must outlive the result. If a device was added or removed, only that is reported, not
 * its attributes. */
void rd_diff(const struct rd_facts *before, const struct rd_facts *after, struct rd_changes *ret);

#endif
