/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that stay open because they are read repeatedly. */
#ifndef RD_SOURCE_KEPT_H
#define RD_SOURCE_KEPT_H

#include "base/base.h"

struct rd_kept {
	int *fds; /* -1: a slot without a file */
	size_t n, cap, open;
	size_t most; /* limit of open files; 0: not known yet */
};

void rd_kept_deinit(struct rd_kept *kept);

/* Whether another file may stay open: half of the descriptors of the process are left for other uses. */
bool rd_kept_has_room(struct rd_kept *kept);

/* Takes ownership of the descriptor in the slot `*slot` (0: a new one, stored in `*slot`). */
void rd_kept_add(struct rd_kept *kept, int fd, uint32_t *slot);

/* The descriptor of a slot; -1: none. */
int rd_kept_fd(const struct rd_kept *kept, uint32_t slot);

void rd_kept_drop(struct rd_kept *kept, uint32_t slot);

#endif
