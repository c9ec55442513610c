/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether switches, and the NIC itself, can spread the flows to one peer over several links. */
#include <stdio.h>
#include <string.h>

#include "check/shared/port.h"
#include "check/shared/rules.h"
#include "model/rdma/qp-pairs.h"
#include "model/rdma/qp.h"

static void run_flows(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (!in->res || !in->spreads) {
		rd_check_unknown(out, "queue pairs", "queue pairs were not read, or could not be listed (RDMA netlink)");
		return;
	}
	for (size_t i = 0; i < in->spreads->n_collisions; i++) {
		const struct rd_collision *collision = &in->spreads->collisions[i];
		char subject[128];

		snprintf(subject, sizeof(subject), "%.40s QP %.70s", in->res->devs[collision->dev].name,
			 collision->lqpns);
		rd_check_warn(out, subject,
			      rd_text("%zu flows to one peer use UDP source port %u", collision->flows,
				      collision->udp_sport),
			      rd_text("a different source port for each flow"));
	}
	/* Flows without a known peer may have different peers: they are not judged. */
	for (size_t i = 0; i < in->spreads->n; i++)
		if (in->spreads->v[i].has_peer && in->spreads->v[i].tuples == in->spreads->v[i].flows)
			rd_check_good(out, in->res->devs[in->spreads->v[i].dev].name);
	rd_check_skip(out, "no connected RoCE queue pair with a known peer");
}

static bool is_standby(const struct rd_host *host, const struct rd_port *port)
{
	for (size_t n = 0; n < port->n_netdevs; n++) {
		const char *mode = host->netdevs[port->netdevs[n]].bond_mode;

		if (mode && strncmp(mode, "active-backup", 13) == 0)
			return true;
	}
	return false;
}

static void run_affinity(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no RoCE LAG whose mode can be read (debugfs of mlx5_core, root)");
	for (size_t p = 0; p < in->host->n_ports; p++) {
		const struct rd_port *port = &in->host->ports[p];
		const char *mode = in->host->ibdevs[port->ibdev].lag_mode;
		struct rd_port_name name = rd_check_port_name(in->host, port);

		if (mode && is_standby(in->host, port))
			rd_check_skip(out, "one link of each LAG carries traffic (active-backup)");
		else if (mode && strcmp(mode, "queue_affinity") == 0)
			rd_check_note(out, name.text,
				      rd_text("mode queue_affinity: a queue pair uses one of the links"),
				      rd_text("mode hash, or several queue pairs for each peer"), NULL);
		else if (mode && (strcmp(mode, "hash") == 0 || strcmp(mode, "multiport_eswitch") == 0))
			rd_check_good(out, name.text);
		else if (mode)
			rd_check_unknown(out, name.text, "not a mode of LAG that is known");
	}
}

const struct rd_check rd_check_flow_entropy = {
	.id = "roce-flow-entropy",
	.title = "Flows to one peer share a UDP source port (no ECMP entropy)",
	.why = "flows with the same five-tuple share one of the equal-cost links, however many links exist",
	.fix = "rdmadiag qp-state --entropy 4\n"
	       "# set flow labels or UDP source ports in the application, or hash the destination QP in the switches",
	.needs = "queue pairs from RDMA netlink; their peers from rdma_cm connections or a recording",
	.thorough = true,
	.reads = RD_PART_RDMA | RD_PART_QPS,
	.run = run_flows,
};

const struct rd_check rd_check_lag_affinity = {
	.id = "roce-lag-affinity",
	.title = "RoCE LAG assigns each queue pair to one link",
	.why = "a peer that is reached by one queue pair gets the bandwidth of one link",
	.fix = "# set NCCL_IB_QPS_PER_CONNECTION=2 or UCX_IB_NUM_PATHS=2 in the job's environment\n"
	       "# or upgrade kernel and firmware: mlx5 uses mode hash where both support it",
	.needs = "port_sel_mode of mlx5_core in debugfs (root)",
	.reads = RD_PART_RDMA,
	.run = run_affinity,
};
