/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files of shares cover together: result of analyse/shares/fabric-merge.h. */
#ifndef RD_MODEL_MERGE_H
#define RD_MODEL_MERGE_H

#include "model/fabric/share.h"

struct rd_merge {
	unsigned shares;	      /* into which the ports are divided, by most files; 0: they are not */
	unsigned missing;	      /* of these */
	bool *have;		      /* per share, from 0; owned */
	size_t ports, fresh;	      /* in the files, each once; of these read by the latest sweep of its host */
	size_t duplicates;	      /* readings of a port that another file has newer */
	RD_FIELD(uint64_t) uncovered; /* ports of missing shares; unknown: no file says how many there are in all */
	uint64_t topology;	      /* of most shares */
	uint64_t oldest_ns, newest_ns;
	size_t oldest; /* the share */
};

#endif
