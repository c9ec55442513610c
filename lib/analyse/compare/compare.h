/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares hosts that should be alike, and captures of one host. Pure. */
#ifndef RD_ANALYSE_COMPARE_H
#define RD_ANALYSE_COMPARE_H

#include "model/host/profile.h"
#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

struct rd_facts;
struct rd_changes;

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

/* The profile of a host, and differences from a profile. Pure. */

/* The profile of this host, whose roles are set (rd_nicmap_analyse). `system` may be NULL: without modules and versions. `learn`: for
 * writing a profile: without values that change by themselves (a GPU's current link speed, state and rate of a port that is not
 * active, an interface that is down), and without values that could not be read. */
void rd_profile_of(const struct rd_port_views *views, const struct rd_system *system, bool learn,
		   struct rd_profile *ret);

/*
 * Differences of the host from the profile: first missing accelerators and NICs ("profile-gpu", "profile-nic"), then values
 * ("profile-value": subject, observed, expected). Lines of the kind "rule." are not compared. All values that could not be
 * read on this host become one finding of unknown. Modules and versions are not compared if `self` was built without them.
 */
void rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret);

#endif
