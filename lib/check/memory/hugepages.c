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
		rd_check_skip(out, "no huge pages reserved, or one NUMA node");
		return;
	}
	for (size_t i = 0; i < in->system->n_huge; i++) {
		const struct rd_huge *huge = &in->system->huge[i];
		const struct rd_numa *numa = rd_host_find_numa(in->host, huge->node);
		char subject[32];

		/* Memory of an accelerator (Grace), which has no processors. */
		if (numa && numa->cpulist && !*numa->cpulist)
			continue;

		snprintf(subject, sizeof(subject), "node%d", huge->node);
		/* Nodes may differ in memory; less than half of the largest share is uneven. */
		if (huge->total * 2 < most)
			rd_check_warn(out, subject, rd_text("%" PRIu64 " MiB of huge pages", huge->total >> 20),
				      rd_text("about %" PRIu64 " MiB, as on other nodes", most >> 20));
		else
			rd_check_good(out, subject);
	}
}

/* The device limits the number of pages: with 4 KiB pages at about 95 GB (ofiwg/libfabric, issue 9739). */
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
		rd_check_unknown(out, "huge pages", "no huge page counts of NUMA nodes in sysfs");
	else if (total == 0 || available == 0)
		rd_check_warn(out, "huge pages",
			      rd_text("%" PRIu64 " MiB of huge pages, %" PRIu64 " MiB free", total >> 20,
				      available >> 20),
			      rd_text("huge pages reserved, and some of them free"));
	else
		rd_check_good(out, "huge pages");
}

const struct rd_check rd_check_hugepages_numa = {
	.id = "hugepages-numa",
	.title = "Huge pages are unevenly distributed over NUMA nodes",
	.why = "processes on a node without huge pages get memory of the other socket, or none",
	.fix = "grep . /sys/devices/system/node/node*/hugepages/hugepages-*/nr_hugepages\n"
	       "# write as many pages to the file of this node as the others have, preferably at boot",
	.needs = "/sys/devices/system/node/nodeN/hugepages",
	.thorough = true,
	.whole = RD_PART_NUMA,
	.reads = RD_PART_PCI | RD_PART_RDMA,
	.run = run_numa,
};

const struct rd_check rd_check_hugepages_efa = {
	.id = "hugepages-efa",
	.title = "EFA device without free huge pages",
	.why = "the device limits the number of pages: with 4 KiB pages, registrations fail with ENOMEM near 95 GB",
	.fix = "echo 5128 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages\n"
	       "# 10 GiB, until the next boot; permanently: hugepagesz=2M hugepages=5128 on the kernel command line\n"
	       "# a kernel with larger pages has other sizes in /sys/kernel/mm/hugepages: as many as make 10 GiB",
	.needs = "driver of RDMA devices, /sys/devices/system/node/nodeN/hugepages",
	.thorough = true,
	.reads = RD_PART_PCI | RD_PART_RDMA | RD_PART_NUMA,
	.run = run_efa,
};
