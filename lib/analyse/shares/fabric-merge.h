/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts together what hosts read of their shares of a fabric. */
#ifndef RD_ANALYSE_FABRIC_MERGE_H
#define RD_ANALYSE_FABRIC_MERGE_H

#include "model/fabric/share.h"

/* The ports of all files, each as it was read last; times are those since the epoch. Both results are released by the caller. */
void rd_fabric_merge(const struct rd_share_files *files, struct rd_fabric *ret, struct rd_merge *merge);
void rd_merge_deinit(struct rd_merge *merge);

/* Adds the findings of the files, each once and as its worst, and what is wrong with the shares: missing, incomplete, of another
 * topology, old. `hosts`: of the shares in their order; NULL: unknown. */
void rd_fabric_merge_judge(const struct rd_share_files *files, const struct rd_merge *merge, const char *const *hosts,
			   struct rd_findings *findings);

#endif
