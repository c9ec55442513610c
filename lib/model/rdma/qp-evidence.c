/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-evidence.h"

#include <stdlib.h>

void rd_qp_counters_deinit(struct rd_qp_counters *counters)
{
	free(counters->v);
	*counters = (struct rd_qp_counters){ 0 };
}
