/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where hosts that should be alike differ. Pure. */
#ifndef RD_ANALYSE_COMPARE_H
#define RD_ANALYSE_COMPARE_H

#include "model/nicmap.h"

struct rd_compared {
	const char *name; /* what to call it */
	const struct rd_host *host;
	const struct rd_nicmap *map;
};

/* Fills `rails` with every accelerator's NIC on every host, and says in `findings` who differs from most of them (from the
 * first, where there is no most); what has fallen off the bus first. 0 or -ENOMEM. */
int rd_compare(const struct rd_compared *hosts, size_t n, struct rd_rails *rails, struct rd_findings *findings);

#endif
