/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_DIFF_H
#define RD_DIFF_H

#include "model/shared/facts.h"

struct rd_change {
	const struct rd_fact *before, *after; /* into the two lists; NULL: there was none, there is none */
	unsigned weight;		      /* 1 to 100: how telling it is */
};

struct rd_changes {
	struct rd_change *v; /* the most telling first */
	size_t n, cap;
};

/* What differs between two sorted lists, which must outlive the result. Of a device that came or went, that alone is
 * said. */
void rd_diff(const struct rd_facts *before, const struct rd_facts *after, struct rd_changes *ret);
void rd_changes_deinit(struct rd_changes *changes);

#endif
