/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the flows to one peer can be told apart by switches. */
#include <stdio.h>

#include "check/shared/rules.h"
#include "model/rdma/qp-pairs.h"
#include "model/rdma/qp.h"

static void run(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!in->res || !in->spreads) {
		rd_check_unknown(out, "queue pairs", "queue pairs were not, or could not be listed (RDMA netlink)");
		return;
	}
	for (size_t i = 0; i < in->spreads->n_collisions; i++) {
		const struct rd_collision *collision = &in->spreads->collisions[i];
		char subject[128];

		snprintf(subject, sizeof(subject), "%.40s QP %.70s", in->res->devs[collision->dev].name,
			 collision->lqpns);
		rd_check_warn(out, subject,
			      rd_text("%zu flows to one peer from UDP port %u", collision->flows, collision->udp_sport),
			      rd_text("a port for each"));
	}
	/* Whose peer is not known may well go to different ones: of these nothing is said. */
	for (size_t i = 0; i < in->spreads->n; i++)
		if (in->spreads->v[i].has_peer && in->spreads->v[i].tuples == in->spreads->v[i].flows)
			rd_check_good(out, in->res->devs[in->spreads->v[i].dev].name);
	rd_check_skip(out, "no connected RoCE queue pair whose peer is known");
}

const struct rd_check rd_check_flow_entropy = {
	.id = "roce-flow-entropy",
	.title = "Flows to one peer look alike to switches",
	.why = "flows of one five-tuple share one of the equal-cost links, however many there are",
	.fix = "let the application set flow labels or UDP source ports, or hash the destination QP in the switches; rdmadiag qp-state --entropy 4",
	.needs = "queue pairs by RDMA netlink, their peers by connections of rdma_cm or a recording",
	.quick = false,
	.reads = RD_PART_RDMA | RD_PART_QPS,
	.run = run,
};
