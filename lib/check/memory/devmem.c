/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zero-copy TCP to accelerators (devmem) and to io_uring (zcrx): Documentation/networking/devmem.rst and iou-zcrx.rst. */
#include "check/shared/port.h"
#include "check/shared/rules.h"

enum { SPLIT_ON = 2 };

/* The first missing prerequisite; NULL: ready. */
static const char *missing_feature(const struct rd_netif *netif)
{
	const struct rd_ethstate *eth = &netif->eth;

	if (netif->queues.known != RD_OK)
		return "not ready: the kernel does not report queues through netdev netlink (needs 6.8 or later)";
	if (eth->data_split.known != RD_OK)
		return "not ready: the driver does not support header split";
	if (eth->data_split.v != SPLIT_ON)
		return "not ready: header split is off (ethtool -G IF tcp-data-split on)";
	if (eth->ntuple_able.known == RD_OK && !eth->ntuple_able.v)
		return "not ready: the driver does not support flow steering";
	if (eth->ntuple.known != RD_OK || !eth->ntuple.v)
		return "not ready: flow steering is off (ethtool -K IF ntuple on)";
	return NULL;
}

static void run_devmem(const struct rd_check_input *in, struct rd_check_out *out)
{
	rd_check_skip(out, "no accelerator, or no RDMA port over Ethernet");
	for (size_t p = 0; in->host->n_gpus > 0 && p < in->host->n_ports; p++) {
		const struct rd_netif *netif = rd_check_roce_netif(in, p);
		const char *why = netif ? missing_feature(netif) : NULL;
		char subject[160];

		if (!netif)
			continue;
		rd_check_port_subject(in, p, netif, subject);
		if (!why)
			rd_check_good(out, subject);
		else if (netif->queues.n_dmabuf + netif->queues.n_io_uring > 0)
			rd_check_warn(out, subject,
				      rd_text("%u queues are bound to device memory or io_uring, but: %s",
					      netif->queues.n_dmabuf + netif->queues.n_io_uring, why),
				      rd_text("header split and flow steering on"));
		else
			/* Not used: it need not be ready. */
			rd_check_skip(out, why);
	}
}

const struct rd_check rd_check_devmem = {
	.id = "devmem-tcp",
	.title = "Queues are bound for zero-copy TCP, and their interface is not set up for it",
	.why = "payload can be placed in device memory only if headers are split off and flows are steered to the "
	       "queue",
	.fix = "ethtool -G IF tcp-data-split on hds-thresh 0\n"
	       "ethtool -K IF ntuple on\n"
	       "# keep other traffic off these queues: ethtool -X INTERFACE equal N\n"
	       "# the driver restarts its queues: no job may use the interface meanwhile\n"
	       "# it lasts until the next boot; also in the network configuration",
	.needs = "ethtool netlink (rings, features, RSS contexts), netdev netlink (queues)",
	.thorough = true,
	.reads = RD_PART_PCI | RD_PART_NET,
	.run = run_devmem,
};
