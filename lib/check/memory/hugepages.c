/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Huge pages. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/shared/rules.h"
#include "model/host/host.h"
#include "model/host/system.h"

static void run_numa(const struct rd_check_input *in, struct rd_check_out *out)
{
	uint64_t most = 0;

	for (size_t i = 0; in->system && i < in->system->n_huge; i++)
		most = in->system->huge[i].total > most ? in->system->huge[i].total : most;
	if (most == 0 || in->system->n_huge < 2) {
		rd_check_skip(out, "no huge pages are set aside, or there is one NUMA node");
		return;
	}
	for (size_t i = 0; i < in->system->n_huge; i++) {
		const struct rd_huge *huge = &in->system->huge[i];
		char subject[32];

		snprintf(subject, sizeof(subject), "node%d", huge->node);
		/* Memory itself is not always even; half is. */
		if (huge->total * 2 < most)
			rd_check_warn(out, subject, rd_text("%" PRIu64 " MiB of huge pages", huge->total >> 20),
				      rd_text("about %" PRIu64 " MiB, as elsewhere", most >> 20));
		else
			rd_check_good(out, subject);
	}
}

/* The device counts pages: with 4 KiB ones it runs out near 95 GB (ofiwg/libfabric, issue 9739). */
static void run_efa(const struct rd_check_input *in, struct rd_check_out *out)
{
	uint64_t total = 0, available = 0;
	bool any = false;

	for (size_t i = 0; i < in->host->n_ibdevs; i++)
		any |= in->host->ibdevs[i].driver && strcmp(in->host->ibdevs[i].driver, "efa") == 0;
	if (!any) {
		rd_check_skip(out, "no EFA device");
		return;
	}
	for (size_t i = 0; in->system && i < in->system->n_huge; i++) {
		total += in->system->huge[i].total;
		available += in->system->huge[i].free;
	}
	if (!in->system || in->system->n_huge == 0)
		rd_check_unknown(out, "huge pages", "sysfs tells no huge pages of NUMA nodes");
	else if (total == 0 || available == 0)
		rd_check_warn(out, "huge pages",
			      rd_text("%" PRIu64 " MiB, of which %" PRIu64 " are free", total >> 20, available >> 20),
			      rd_text("some, and free ones"));
	else
		rd_check_good(out, "huge pages");
}

const struct rd_check rd_check_hugepages_numa = {
	.id = "hugepages-numa",
	.title = "Huge pages are unevenly spread over NUMA nodes",
	.why = "processes of the node that lacks them get memory of the other socket, or none",
	.fix = "echo N >/sys/devices/system/node/nodeX/hugepages/hugepages-2048kB/nr_hugepages, best at boot",
	.needs = "/sys/devices/system/node/nodeN/hugepages",
	.quick = false,
	.whole = RD_PART_NUMA,
	.reads = RD_PART_PCI | RD_PART_RDMA,
	.run = run_numa,
};

const struct rd_check rd_check_hugepages_efa = {
	.id = "hugepages-efa",
	.title = "EFA without huge pages",
	.why = "the device counts pages: with pages of 4 KiB large registrations fail with ENOMEM near 95 GB",
	.fix = "sysctl -w vm.nr_hugepages=5128, and in /etc/sysctl.d/",
	.needs = "driver of RDMA devices, /sys/devices/system/node/nodeN/hugepages",
	.quick = false,
	.reads = RD_PART_PCI | RD_PART_RDMA | RD_PART_NUMA,
	.run = run_efa,
};
