/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_DIFF_H
#define RD_DIFF_H

#include "model/shared/facts.h"

struct rd_change {
	const struct rd_fact *before, *after; /* into the two lists; NULL: absent there */
	unsigned weight;		      /* significance, 1 to 100 */
};

struct rd_changes {
	struct rd_change *v; /* highest weight first */
	size_t n, cap;
};

/* Compares two sorted lists, which must outlive the result. If a device was added or removed, only that is reported, not its
 * attributes. */
void rd_diff(const struct rd_facts *before, const struct rd_facts *after, struct rd_changes *ret);
void rd_changes_deinit(struct rd_changes *changes);

#endif
